// Command microrisk is the command microrisk with all object stores: s3://, gs://, azblob:// and https:// are paths.
package main

import (
	"os"

	_ "microrisk/operators/objects/azblob"
	_ "microrisk/operators/objects/gs"
	_ "microrisk/operators/objects/s3"
	_ "microrisk/operators/objects/web"
	"microrisk/pipeline/command"
)

func main() { os.Exit(command.Main(os.Args)) }
