package tabulate

import (
	"cmp"
	"fmt"
	"slices"

	"microrisk/schemas"
)

// Name of the operator, and what it is called in the summary unless the spec says otherwise.
const Name = "tabulate"

// A Config is what a spec says of the operator.
type Config struct {
	Prefix  string                // names it in the summary; "" means tabulate
	Cells   []schemas.KeyVariable // variables of the table; Missing is not looked at
	Missing string                // category (default) or drop
	Margins bool                  // all margins too, with Total for the variables left out, each before its parts
	Empty   bool                  // cells of 0 too; they are left out otherwise
	Perturb *schemas.Perturbation // nil: true counts
	Path    string                // of the file (.parquet, .arrow or .csv)
}

// Fields is the field table.
func (c *Config) Fields() schemas.Table {
	missing := schemas.ClassesMissingField(&c.Missing)
	missing.Flag = &schemas.Flag{Name: "missing", Usage: "what a missing value means: category or drop (default: category)"}
	return schemas.Table{Required: []string{"cells", "path"}, Fields: []schemas.Field{
		schemas.PrefixField(&c.Prefix, Name),
		{Name: "cells", To: &c.Cells, Single: true, Doc: "Variables of the table.",
			Flag: &schemas.Flag{
				Name:   "cells",
				Usage:  "`VARIABLES` of the table, separated by commas",
				Needed: "name the variables of the table: --cells SEX,HEALTH",
			}},
		missing,
		{Name: "margins", To: &c.Margins, Doc: "All margins too, with Total for the variables left out.",
			Flag: &schemas.Flag{Name: "margins", Usage: "all margins too"}},
		{Name: "empty", To: &c.Empty, Doc: "Cells of 0 too.", Flag: &schemas.Flag{Name: "empty", Usage: "cells of 0 too"}},
		{Name: "perturb", To: schemas.Maybe(&c.Perturb, (*schemas.Perturbation).RecordFields)},
		{Name: "path", To: &c.Path, File: true, Doc: "File that the table goes to (.parquet, .arrow or .csv).",
			Flag: &schemas.Flag{
				Name:  "out",
				Short: "o",
				Usage: "output file (default: table.parquet in the current folder)",
				Usual: []string{"table.parquet"},
			}},
	}}
}

// Check tells what the field table cannot.
func (c *Config) Check(k *schemas.Checker, path string, _ *schemas.Spec) {
	k.TableVariables(path, Name, nil, c.Cells)
	for i, v := range c.Cells {
		if slices.Contains(schemas.CountColumns, v.Name) {
			k.Add(fmt.Sprintf("%s.cells[%d]", path, i), "%s is a name of the column of counts in files of tables; rename the variable", v.Name)
		}
	}
	k.TwoPolicies(path+".missing", Name, c.Missing)
	if c.Perturb != nil {
		k.Perturbation(path+".perturb", c.Perturb)
	}
	if c.Path == "" {
		k.Add(path, "tabulate does not say where the table goes; add path: FILE")
	}
	if c.Margins && len(c.Cells) > 16 {
		k.Add(
			path+".margins",
			"a table of %d variables has %d margins; take at most 16 variables, or leave margins out",
			len(c.Cells),
			1<<min(len(c.Cells), 62),
		)
	}
}

// ColumnPrefix names the operator in the summary.
func (c *Config) ColumnPrefix() string { return cmp.Or(c.Prefix, Name) }

// Lists is a Listing's.
func (c *Config) Lists(f func(path string, list *[]schemas.KeyVariable)) { f("cells", &c.Cells) }

// Names is a Naming operator's.
func (c *Config) Names(path string, s schemas.Scope) {
	for i, v := range c.Cells {
		s.Want(fmt.Sprintf("%s.cells[%d]", path, i), c.ColumnPrefix(), v.Name)
	}
	if c.Perturb != nil {
		c.Perturb.Names(path+".perturb", c.ColumnPrefix(), s)
	}
}

// Public is a Private config's: it makes another file.
func (c *Config) Public() schemas.Config { return nil }

// A Summary is tabulate's part of the summary.
type Summary struct {
	Records   int64                     `json:"records"` // in the table
	Rows      int64                     `json:"rows"`    // of the file
	Variables []schemas.VariableSummary `json:"variables"`
	Margins   bool                      `json:"margins"`
	Scheme    string                    `json:"scheme"`
}
