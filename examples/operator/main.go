// Operator shows how an operator from another module gets into microrisk: the program below is the whole command line with one operator
// more, which a spec names, a limit judges and the report tells of.
//
//	go run ./examples/operator run examples/operator/rare.yaml
package main

import (
	"os"

	"microrisk/operators"
	"microrisk/pipeline/command"
	"microrisk/schemas"
)

func init() {
	operators.Register(schemas.Kind{
		Name: name, Doc: "Tells how common each record's key is, and counts the records with a rare one.", Alone: true,
		New:    func() schemas.Config { return &Config{} },
		Limits: []schemas.Figure{{Name: limit, Doc: "Records whose key is rare."}},
	})
}

func main() { os.Exit(command.Main(os.Args)) }
