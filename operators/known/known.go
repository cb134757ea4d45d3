// Package known has what is already published of a population: tables over key variables, exact, rounded, perturbed, or with cells hidden. They
// bound how many people of the population have the key of a record, which measures of models of the population take into account.
package known

import (
	"errors"
	"strings"

	"microrisk/operators"
	"microrisk/schemas"
)

// A Table is what a spec says of a published table.
type Table struct {
	Path       []string // its files
	Count      string   // the column of counts; "" for one of schemas.CountColumns
	Absent     string   // what a combination has that no row has, one of Absents; "" means zero
	Suppressed []string // texts of counts that were not published, besides null; <N is a count below N
	Totals     []string // texts that stand for all categories of a variable; nil: Total
	Scheme     schemas.Perturbation
}

// Absents are the words for combinations that no row has.
var Absents = []string{AbsentZero, AbsentHidden}

const (
	AbsentZero   = "zero"
	AbsentHidden = "hidden"
)

// FieldName is the name of the field of known tables.
const FieldName = "known_tables"

// Field is that of known tables.
func Field(to *[]Table) schemas.Field {
	return schemas.Field{Name: FieldName, To: schemas.Mappings(to, (*Table).fields, check),
		Doc: "Tables that are published of the population: they bound how many people have the key of a record.",
		Flag: &schemas.Flag{Name: "known-table", Many: true, Set: func(texts []string) error { return say(to, texts) },
			Usage: "published `TABLE` of the population over some of the key variables, exact, or FILE=SCHEME:base=3 for one that was perturbed; may be repeated"}}
}

func (t *Table) fields() schemas.Table {
	f := t.Scheme.Fields().Without("secret") // nobody needs to know it for bounds
	f.What, f.Doc, f.Required = "a known table", "A published table, and how its counts were made.", []string{"path"}
	f.Fields = append([]schemas.Field{
		{Name: "path", To: &t.Path, Single: true, File: true, Schema: `"minItems": 1`,
			Doc: "Files of the table: columns of key variables, and one of counts, or lower and upper; Total stands for all categories of a variable."},
		{Name: "count", To: &t.Count, Doc: "Column of counts; without it published, value or count."},
		{Name: "absent", To: &t.Absent, Words: Absents, Schema: `"default": "zero"`,
			Doc: "zero: a combination that no row has was published as 0. hidden: nothing is known of it."},
		{Name: "suppressed", To: &t.Suppressed, Repeat: true, Schema: `"uniqueItems": false`,
			Doc: "Texts of counts that were not published, besides null; <N is a count below N."},
		{
			Name:   "totals",
			To:     &t.Totals,
			Repeat: true,
			Schema: `"uniqueItems": false`,
			Doc:    "Texts that stand for all categories of a variable; Total without it.",
		},
	}, f.Fields...)
	return f
}

// check names the table whose scheme is wrong.
func check(c *schemas.Checker, path string, t *Table) {
	if len(t.Path) == 0 {
		c.Add(path+".path", "a known table has no file; name it (path)")
	}
	var wrong *schemas.SpecError
	if errors.As(t.Scheme.Check(), &wrong) {
		for _, x := range wrong.Problems {
			c.Add(path+"."+strings.TrimPrefix(x.Path, "."), "%s: %v", t.name(), x.Message)
		}
	}
	own := *t
	own.Scheme = schemas.Perturbation{}
	c.Table(path, own.fields().Only("path", "count", "absent", "suppressed", "totals"))
}

// name of the table in messages.
func (t *Table) name() string { return strings.Join(t.Path, " and ") }

// say reads FILE, or FILE=SCHEME and NAME=VALUE behind colons.
func say(to *[]Table, texts []string) error {
	*to = nil
	for _, text := range texts {
		t := Table{Path: []string{text}}
		if path, scheme, err := schemas.SchemeBehind("FILE", text); err == nil {
			t = Table{Path: []string{path}, Scheme: *scheme}
		} else if at := strings.Index(text, "="); at > 0 && strings.Contains(text[at:], ":") {
			return err
		}
		*to = append(*to, t)
	}
	return nil
}

// Files are the side files of known tables.
func Files(list []Table) []operators.SideFile {
	var files []operators.SideFile
	for _, t := range list {
		for _, path := range t.Path {
			files = append(files, operators.SideFile{Path: path, What: "the known table", Kind: operators.Opened, Open: readerOf(path)})
		}
	}
	return files
}
