// Generate writes what is made from the field tables of all operators: the published JSON Schema of the spec.
//
//	go generate ./operators/builtin
package main

import (
	"log"
	"os"

	_ "microrisk/operators/builtin"
	"microrisk/schemas"
)

func main() {
	if err := os.WriteFile("../../schemas/spec.schema.json", schemas.SpecSchema(), 0o644); err != nil {
		log.Fatal(err)
	}
}
