// Package documents lists the specs that verbs have of their own, beside that of a run, the kinds of files of a repository of forms,
// the register of releases, policies of tables and profiles of limits.
package documents

//go:generate go run ./generate

import (
	"microrisk/pipeline/attack"
	"microrisk/pipeline/bounds"
	"microrisk/pipeline/evaluate"
	"microrisk/pipeline/keymap/repository"
	"microrisk/pipeline/limits"
	"microrisk/pipeline/link"
	"microrisk/pipeline/profiles"
	"microrisk/pipeline/protect"
	"microrisk/pipeline/tables"
	"microrisk/schemas"
)

// Verbs are those with a spec of their own, by name.
var Verbs = []schemas.Verb{
	{Name: "attack", New: func() schemas.Document { return new(attack.Spec) }},
	{Name: "bounds", New: func() schemas.Document { return new(bounds.Spec) }},
	{Name: "evaluate", New: func() schemas.Document { return new(evaluate.Spec) }},
	{Name: "link", New: func() schemas.Document { return new(link.Spec) }},
	{Name: "protect", New: func() schemas.Document { return new(protect.Spec) }},
}

// Files are the kinds of files of a repository of forms, the register of releases, policies of tables and profiles of limits.
var Files = []schemas.Verb{
	{Name: "keymap-config", New: func() schemas.Document { return new(repository.Config) }},
	{Name: "keymap-form", New: func() schemas.Document { return new(repository.Form) }},
	{Name: "keymap-group", New: func() schemas.Document { return new(repository.Group) }},
	{Name: "keymap-scenario", New: func() schemas.Document { return new(repository.Scenario) }},
	{Name: "keymap-variable", New: func() schemas.Document { return new(repository.Variable) }},
	{Name: "limits", New: func() schemas.Document { return new(limits.Profile) }},
	{Name: "profile", New: func() schemas.Document { return new(profiles.Profile) }},
	{Name: "register", New: func() schemas.Document { return new(tables.Register) }},
}
