// Package protect finds the least change of key variables after which a file may be released, from file to file; package engine/recoding has the
// mathematics.
//
//	out, err := protect.Run(ctx, protect.Spec{Spec: spec, Target: protect.Target{K: 3}, Release: "release.yaml", Out: "release.parquet"}, session.Options{})
package protect

import (
	"slices"

	"microrisk/schemas"

	"microrisk/operators/protectrecords"
)

// A Spec asks for a recoding of a key.
type Spec struct {
	// Spec has the source, the key, the sampling where a target needs it, and operators that choose and recode.
	Spec *schemas.Spec
	protectrecords.Ask
	Drop    []string // columns that the release does not have
	Means   []string // columns whose means by groups are compared
	Release string   // file of the spec that makes the release, "" for none
	Out     string   // the release, "" for none
	JSON    string   // the document, "" for none
}

// Fields is the field table. It makes the spec of the source if there is none.
func (s *Spec) Fields() schemas.Table {
	if s.Spec == nil {
		s.Spec = &schemas.Spec{}
	}
	t := schemas.Table{
		What: "the spec",
		Doc: "What microrisk protect is asked: the least change of the key after which a file of records is safe to release. Tables are protected by the " +
			"operator of the same name.",
		Required: []string{"source", "key", "safe"},
	}
	t.Fields = slices.Concat(s.Spec.Part("source", "sampling", "key", "operators", "allow_empty"), s.Ask.Fields(), []schemas.Field{
		{Name: "drop", To: &s.Drop, Doc: "Columns that the release leaves out: identifiers, and those that tell what was made coarser or hidden.",
			Flag: &schemas.Flag{Name: "drop", Usage: "`COLUMNS` that the release leaves out: identifiers, and those that tell what was made coarser or hidden"}},
		{Name: "means", To: &s.Means, Doc: "Numeric columns of which means by each key variable are compared, of the file and of the release; with out.",
			Flag: &schemas.Flag{Name: "means", Usage: "numeric `COLUMNS` of which means by each key variable are compared, before and after; with --out"}},
		{Name: "release", To: &s.Release, File: true, Doc: "The spec that makes the release, as run takes it.",
			Flag: &schemas.Flag{Name: "release", Usage: "write the spec that makes the release, as run takes it, to `FILE.yaml`"}},
		{Name: "out", To: &s.Out, File: true, Doc: "The release itself, which is judged again.",
			Flag: &schemas.Flag{Name: "out", Short: "o", Usage: "write the release to `FILE`, and judge it again"}},
		{Name: "json", To: &s.JSON, File: true, Doc: "All figures as JSON.",
			Flag: &schemas.Flag{Name: "json", Usage: "write all figures to `FILE.json`"}},
	})
	return t
}

// Check tells what the field tables cannot.
func (s *Spec) Check(c *schemas.Checker) {
	if s.Spec.Key == nil {
		c.Add("key", "a protection needs key variables")
		return
	}
	c.Rows(s.Spec)
	s.Ask.Check(c, "", s.Spec.Key, s.Spec.Sampling)
	if len(s.Means) > 0 && s.Out == "" {
		c.Add("means", "are compared with those of the release; write it (out), or leave them out")
	}
}
