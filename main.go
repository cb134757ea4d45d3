// Command microrisk tells how risky each record of a microdata file is to release.
package main

import (
	"os"

	"microrisk/pipeline/command"
)

func main() { os.Exit(command.Main(os.Args)) }
