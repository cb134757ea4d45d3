package schemas

import (
	_ "embed"
	"slices"
)

//go:embed spec.schema.json
var specSchema []byte

//go:embed summary.schema.json
var summarySchema []byte

// SpecSchema is the JSON Schema (draft 2020-12) of the spec, for editors and for programs that write specs. It finds less than
// [Decode] does: nothing that compares two values, such as the order of cut points.
func SpecSchema() []byte { return slices.Clone(specSchema) }

// SummarySchema is the JSON Schema (draft 2020-12) of the summary document.
func SummarySchema() []byte { return slices.Clone(summarySchema) }
