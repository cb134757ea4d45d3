package schemas

import (
	"fmt"
	"slices"

	"github.com/goccy/go-yaml/ast"
)

// TabulatePrefix names tabulate in the summary unless the spec says otherwise.
const TabulatePrefix = "tabulate"

// A Tabulate writes a contingency table to a file of its own, as it is or perturbed: one row a cell. It adds no columns.
type Tabulate struct {
	Prefix  string        // names it in the summary; "" means tabulate
	Cells   []KeyVariable // variables of the table; Missing is not looked at
	Missing string        // category (default) or drop
	Margins bool          // all margins too, with Total for the variables left out, each before its parts
	Empty   bool          // cells of 0 too; they are left out otherwise
	Perturb *Perturbation // nil: true counts
	Path    string        // of the file (.parquet, .arrow or .csv)
}

// ColumnPrefix names the operator in the summary.
func (t *Tabulate) ColumnPrefix() string {
	if t.Prefix != "" {
		return t.Prefix
	}
	return TabulatePrefix
}

// A TabulateSummary is tabulate's part of the summary.
type TabulateSummary struct {
	Records   int64             `json:"records"` // in the table
	Rows      int64             `json:"rows"`    // of the file
	Variables []VariableSummary `json:"variables"`
	Margins   bool              `json:"margins"`
	Scheme    string            `json:"scheme"`
}

func tabulateFields(t *Tabulate) []field {
	return []field{
		{"prefix", text("prefix", &t.Prefix)},
		{"cells", variableList("cells", &t.Cells)},
		{"missing", text("missing", &t.Missing)},
		{"margins", boolean("margins", &t.Margins)},
		{"empty", boolean("empty", &t.Empty)},
		{"perturb", func(d *decoder, n ast.Node, path string) {
			t.Perturb = &Perturbation{}
			d.mapping(n, path, "perturb", perturbationFields(t.Perturb))
		}},
		{"path", text("path", &t.Path)},
	}
}

func tabulateYAML(t *Tabulate) ordered {
	o := fieldsOf("prefix", t.Prefix, "cells", variablesYAML(t.Cells), "missing", t.Missing, "margins", t.Margins, "empty", t.Empty)
	if t.Perturb != nil {
		o.add("perturb", perturbationYAML(t.Perturb))
	}
	return append(o, fieldsOf("path", t.Path)...)
}

func (v *validator) tabulate(path string, t *Tabulate) {
	if t.Prefix != "" && !prefixes.MatchString(t.Prefix) {
		v.add(path+".prefix", "prefix %q is no name; it must be letters, digits and underscores, and not begin with a digit", t.Prefix)
	}
	v.tableVariables(path, "tabulate", nil, t.Cells)
	for i, k := range t.Cells {
		if slices.Contains(CountColumns, k.Name) {
			v.add(fmt.Sprintf("%s.cells[%d]", path, i), "%s is a name of the column of counts in files of tables; rename the variable", k.Name)
		}
	}
	v.twoPolicies(path+".missing", "tabulate", t.Missing)
	if t.Perturb != nil {
		v.perturbation(path+".perturb", t.Perturb)
	}
	if t.Path == "" {
		v.add(path, "tabulate does not say where the table goes; add path: FILE")
	} else {
		v.path(path+".path", t.Path)
	}
	if t.Margins && len(t.Cells) > 16 {
		v.add(path+".margins", "a table of %d variables has %d margins; take at most 16 variables, or leave margins out", len(t.Cells), 1<<min(len(t.Cells), 62))
	}
}
