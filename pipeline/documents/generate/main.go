// Generate writes what is made from the field tables of all operators: the published JSON Schemas of the spec, of the
// summary, of the specs of verbs and of the files that people keep, and the reference of all options in schemas/README.md.
//
//	go generate ./pipeline/documents
package main

import (
	"log"
	"os"
	"slices"

	_ "microrisk/operators/builtin"
	"microrisk/pipeline/documents"
	"microrisk/schemas"
)

func main() {
	write("spec.schema.json", schemas.SpecSchema())
	write("summary.schema.json", schemas.SummarySchema())
	for _, v := range slices.Concat(documents.Verbs, documents.Files) {
		write(v.File(), v.Schema())
	}
	readme, err := os.ReadFile("../../schemas/README.md")
	if err != nil {
		log.Fatal(err)
	}
	write("README.md", schemas.WithReference(readme, documents.Verbs, documents.Files))
}

func write(name string, text []byte) {
	if err := os.WriteFile("../../schemas/"+name, text, 0o644); err != nil {
		log.Fatal(err)
	}
}
