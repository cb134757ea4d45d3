package sap

import (
	"fmt"
	"slices"

	"microrisk/engine/tabular"
	"microrisk/operators"
	"microrisk/schemas"
)

// foreignRows looks for rows of published counts that no table asks for: of categories, or of tables, that the data does not have.
// What is counted in one of them is an error, as the tables would not be those released. Margins of other kinds do no harm.
func (f *fit) foreignRows(env operators.Env) error {
	b, p := f.bound, f.bound.Published
	known := make([]map[tabular.Category]bool, len(f.table.Variables))
	for v, variable := range f.table.Variables {
		known[v] = map[tabular.Category]bool{tabular.Total: true}
		for _, c := range variable.Categories {
			known[v][tabular.Of(c)] = true
		}
		if v < b.by || f.layout.missing[v-b.by] || b.Config.Missing == schemas.MissingDrop {
			known[v][tabular.Missing] = true // records without a value are in no table, or a category
		}
	}
	areas, names := tabular.NewFigures(b.by), newIdentity(f)
	for a := range len(f.first) - 1 {
		names.name(a, -1)
		areas.Add(names.named[:b.by], tabular.Exact(0))
	}
	cell, empty := make([]tabular.Category, len(known)), 0
	for _, i := range p.Sorted() {
		reason := f.foreign(p.Cell(i, cell), known, areas)
		n := p.Figure(i).Low
		switch {
		case reason == "":
		case n == 0:
			empty++
		default:
			return schemas.Contradiction(
				"published",
				"",
				"%s has a count of %d in the row %s, and %s: declare levels in the spec, or see whether it is the file of these tables",
				p.Name,
				n,
				tabular.Words(cell),
				reason,
			)
		}
	}
	if empty > 0 {
		env.Warn(
			"%s: %d rows of 0 of %s are of categories or tables that the data does not have: they are not counted as cells; declare levels if they should be",
			b.prefix,
			empty,
			p.Name,
		)
	}
	return nil
}

// foreign tells why no table asks for a row, "" if one does or it is a margin.
func (f *fit) foreign(cell []tabular.Category, known []map[tabular.Category]bool, areas *tabular.Figures) string {
	for v, c := range cell {
		if !known[v][c] {
			return fmt.Sprintf("no record has the category %s of %s", c, f.table.Variables[v].Name)
		}
	}
	by := cell[:f.bound.by]
	if _, there := areas.Find(by); there || slices.Contains(by, tabular.Total) || slices.Contains(by, tabular.Missing) {
		return ""
	}
	return "there is no table " + tabular.Words(by) + " in the data"
}
