package tables

import (
	"strings"

	"microrisk/operators/protect"
	"microrisk/schemas"
)

// Fields is the field table of an entry.
func (e *Entry) Fields() schemas.Table {
	flag := func(name, usage string) *schemas.Flag { return &schemas.Flag{Name: name, Usage: usage} }
	text := func(name string, to *string, doc, usage string) schemas.Field {
		f := schemas.Field{Name: name, To: to, Doc: doc}
		if usage != "" {
			f.Flag = flag(strings.ReplaceAll(name, "_", "-"), usage)
		}
		return f
	}
	file := func(name string, to *string, doc string) schemas.Field {
		return schemas.Field{Name: name, To: to, File: true, Doc: doc}
	}
	return schemas.Table{What: "a release", Required: []string{"name"}, Fields: []schemas.Field{
		text("name", &e.Name, "What the release is called.", "the `NAME` of the release"),
		text(
			"date",
			&e.Date,
			"The day of the release, such as 2026-05-01; one without is taken for older than all others.",
			"the `DAY` of the release, such as 2026-05-01 (default: today)",
		),
		text(
			"people",
			&e.People,
			"Who it is of, in words; releases of other words are not compared, and one without is compared with all.",
			"who it is of, in a few `WORDS`: releases of the same words are judged together",
		),
		file("public", &e.Public, "The published table."),
		{Name: "internal", To: &e.Internal, File: true, Doc: "Its internal folder; a table that shows all its true values needs none.",
			Flag: flag("internal", "the internal `FOLDER` of table protect (default: internal)")},
		file("records", &e.Records, "A published file of records, in place of a table."),
		{Name: "fraction", To: &e.Fraction, Range: schemas.Within(0, 1), Doc: "Share of the people that the records are of (1).",
			Flag: flag("fraction", "with --records: the share of all people that the records are of (default: 1)")},
		{Name: "method", To: &e.Method, Words: protect.Methods, Doc: "How the table was protected; its internal folder tells it too."},
		text("scheme", &e.Scheme, "The scheme of perturbation with its parameters, as --scheme takes it; its internal folder tells it too.", ""),
		{
			Name:  "base",
			To:    &e.Base,
			Range: schemas.AtLeast(2),
			Doc:   "Base of rounding, of a table of another program, whose true values are the table internal.",
		},
		{Name: "secret", To: &e.Secret, Doc: "The name of the secret by which it was perturbed, never the secret.",
			Flag: flag("secret-name", "the `NAME` of the secret by which it was perturbed, never the secret")},
		text("topic", &e.Topic, "What it is about; some topics are sensitive.", "what it is about, in a few `WORDS`; some topics are sensitive"),
		{Name: "complete", To: &e.Complete, Doc: "Those who asked for it need all cells.", Flag: flag("complete", "those who asked for it need all cells")},
		{Name: "true_values", To: &e.True, Doc: "Those who asked for it need true values where there are any.",
			Flag: flag("true-values", "those who asked for it need true values where there are any")},
		{Name: "additive", To: &e.Additive, Doc: "Those who asked for it need totals that are the sums of their parts.",
			Flag: flag("additive", "those who asked for it need totals that are the sums of their parts")},
		{Name: "keep", To: &e.Keep, Doc: "Cells that must not be hidden, such as REGION=North,SEX=Total; a variable that is not named is its total.",
			Flag: &schemas.Flag{Name: "keep", Many: true, Usage: "a `CELL` that must not be hidden, such as REGION=North,SEX=Total; may be repeated"}},
		text("for", &e.For, "Who asked for it.", "who asked for it"),
		text("purpose", &e.Purpose, "What it is wanted for.", "what it is wanted for"),
	}}
}
