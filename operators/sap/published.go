package sap

import (
	"fmt"
	"slices"
	"strings"

	"microrisk/operators"
	"microrisk/schemas"
)

// foreignRows looks for rows of published counts that no table asks for: of categories, or of tables, that the data does not have.
// What is counted in one of them is an error, as the tables would not be those released. Margins of other kinds do no harm.
func (f *fit) foreignRows(env operators.Env) error {
	b, p := f.bound, f.bound.Published
	categories := make([]map[string]bool, len(f.table.Variables))
	for v, variable := range f.table.Variables {
		categories[v] = map[string]bool{operators.TotalCode: true}
		for _, c := range variable.Categories {
			categories[v][c] = true
		}
		if v < b.by || f.layout.missing[v-b.by] || b.Config.Missing == schemas.MissingDrop {
			categories[v][operators.MissingText] = true // records without a value are in no table, or a category
		}
	}
	areas, names := map[string]bool{}, newIdentity(f)
	for a := range len(f.first) - 1 {
		names.name(a, -1)
		areas[strings.Join(names.texts[:b.by], "\x00")] = true
	}
	first, why, empty, many := "", "", 0, int64(0)
	for key, n := range p.All() {
		reason := f.foreign(strings.Split(key, "\x00"), categories, areas)
		switch {
		case reason == "":
		case n == 0:
			empty++
		case first == "" || key < first:
			first, why, many = key, reason, n
		}
	}
	if first != "" {
		return fmt.Errorf("%s has a count of %d in the row %s, and %s: declare levels in the spec, or see whether it is the file of these tables",
			p.Name, many, operators.WordsOf(strings.Split(first, "\x00")), why)
	}
	if empty > 0 {
		env.Warn(fmt.Sprintf("%s: %d rows of 0 of %s are of categories or tables that the data does not have: they are not counted as cells; declare levels if they should be", b.prefix, empty, p.Name))
	}
	return nil
}

// foreign tells why no table asks for a row, "" if one does or it is a margin.
func (f *fit) foreign(texts []string, categories []map[string]bool, areas map[string]bool) string {
	if len(texts) != len(categories) {
		return "" // a category with a zero byte
	}
	for v, text := range texts {
		if !categories[v][text] {
			return fmt.Sprintf("no record has the category %s of %s", strings.ReplaceAll(text, operators.MissingText, "missing"), f.table.Variables[v].Name)
		}
	}
	by := texts[:f.bound.by]
	if slices.Contains(by, operators.TotalCode) || slices.Contains(by, operators.MissingText) || areas[strings.Join(by, "\x00")] {
		return ""
	}
	return "there is no table " + operators.WordsOf(by) + " in the data"
}
