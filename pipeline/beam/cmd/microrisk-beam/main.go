// Command microrisk-beam is the command microrisk on a cluster, by Apache Beam: its commands run and assess, with the flags of Beam's SDK.
package main

import (
	"os"

	"microrisk/pipeline/beam"
)

func main() { os.Exit(beam.Main(os.Args)) }
