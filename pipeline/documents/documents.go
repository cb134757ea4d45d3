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

// Verbs are those with a spec of their own, by name.
var Verbs = []schemas.Verb{
	{Name: "attack", New: func() schemas.Document { return new(attack.Spec) }},
	{Name: "bounds", New: func() schemas.Document { return new(bounds.Spec) }},
	{Name: "evaluate", New: func() schemas.Document { return new(evaluate.Spec) }},
	{Name: "link", New: func() schemas.Document { return new(link.Spec) }},
}
