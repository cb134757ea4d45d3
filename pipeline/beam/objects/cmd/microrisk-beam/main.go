// Command microrisk-beam is the command of that name with all object stores: s3://, gs://, azblob:// and https:// are paths.
package main

import (
	"os"

	_ "microrisk/operators/objects/azblob"
	_ "microrisk/operators/objects/gs"
	_ "microrisk/operators/objects/s3"
	_ "microrisk/operators/objects/web"
	"microrisk/pipeline/beam"
)

func main() { os.Exit(beam.Main(os.Args)) }
