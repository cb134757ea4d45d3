// Package documents lists the specs that verbs have of their own, beside that of a run.
package documents

//go:generate go run ./generate

import (
	"microrisk/pipeline/attack"
	"microrisk/pipeline/bounds"
	"microrisk/pipeline/evaluate"
	"microrisk/pipeline/link"
	"microrisk/schemas"
)

// A Verb has a spec of its own.
type Verb struct {
	Name string
	New  func() schemas.Document // with nothing said
}

// Verbs are all of them, by name.
var Verbs = []Verb{
	{"attack", func() schemas.Document { return new(attack.Spec) }},
	{"bounds", func() schemas.Document { return new(bounds.Spec) }},
	{"evaluate", func() schemas.Document { return new(evaluate.Spec) }},
	{"link", func() schemas.Document { return new(link.Spec) }},
}

// File is the name of the published JSON Schema.
func (v Verb) File() string { return v.Name + ".schema.json" }

// Schema is the JSON Schema of the spec.
func (v Verb) Schema() []byte { return schemas.DocumentSchema("microrisk "+v.Name, v.New()) }
