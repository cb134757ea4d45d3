package operators

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"

	"microrisk/schemas"
)

// TotalCode is the category of a margin in a file of tables.
const TotalCode = "Total"

// Published has the counts that were really published: one for each combination of some variables, of which some may be totals.
type Published struct {
	counts map[string]int64
	name   string
}

// CountColumns are names of the column that has the counts of a published table.
var CountColumns = schemas.CountColumns

// ReadPublished reads published counts from a source: the columns variables, as text, and a column of whole numbers named published,
// value or count. A null variable is a missing value; Total is a margin; a combination that is not there is empty. Errors: a column
// that is not there, several columns of counts, a count that is null, negative or no whole number, a combination that is there twice.
func ReadPublished(ctx context.Context, name string, source Source, variables []string) (*Published, error) {
	p := &Published{counts: map[string]int64{}, name: name}
	schema := source.Schema()
	column, others, err := countColumn(name, schema, variables)
	if err != nil {
		return nil, err
	}
	at := make([]int, len(variables)+1)
	for i, v := range append(variables[:len(variables):len(variables)], column) {
		if _, err := lookUp(name, schema, v); err != nil {
			return nil, err
		}
		at[i] = schema.FieldIndices(v)[0]
	}
	chain, err := NewChain(schema)
	if err != nil {
		return nil, err
	}
	texts := make([]string, len(variables))
	_, err = chain.Run(ctx, source, &Emit{To: func(_ int, r arrow.Record) error {
		for row := range int(r.NumRows()) {
			for i := range variables {
				texts[i] = missingText
				if c := r.Column(at[i]); !c.IsNull(row) {
					texts[i] = Text(c, row)
				}
			}
			counts := r.Column(at[len(variables)])
			n, ok := Integer(counts, row)
			if !ok || n < 0 {
				return fmt.Errorf("%s: the count of %s is %s; it must be a whole number of at least 0", name, wordsOf(texts), show(counts, row))
			}
			key := strings.Join(texts, "\x00")
			if _, twice := p.counts[key]; twice && len(others) > 0 {
				return fmt.Errorf("%s has %s twice, as it has columns besides the variables of the tables and the counts: %s; leave them out of the file",
					name, wordsOf(texts), strings.Join(others, ", "))
			} else if twice {
				return fmt.Errorf("%s has %s twice", name, wordsOf(texts))
			}
			p.counts[key] = n
		}
		return nil
	}}, Options{Workers: 1})
	if err != nil {
		return nil, err
	}
	return p, nil
}

// countColumn is the column of counts of a published table, and the columns that are neither that nor variables.
func countColumn(name string, schema *arrow.Schema, variables []string) (column string, others []string, err error) {
	for _, f := range schema.Fields() {
		switch {
		case slices.Contains(variables, f.Name):
		case !slices.Contains(CountColumns, f.Name):
			others = append(others, f.Name)
		case column != "":
			return "", nil, fmt.Errorf("%s has the columns %s and %s, both of which are names of counts; leave one of them out", name, column, f.Name)
		default:
			column = f.Name
		}
	}
	if column == "" {
		return "", nil, fmt.Errorf("%s has no column of counts: name it published, value or count", name)
	}
	return column, others, nil
}

// missingText stands for a missing value in keys of published counts.
const missingText = "\x01"

// wordsOf names a row by its categories.
func wordsOf(texts []string) string {
	return "[" + strings.ReplaceAll(strings.Join(texts, ", "), missingText, "missing") + "]"
}

// count is the published count of a combination; one that is not in the file is empty.
func (p *Published) count(texts []string) (count int64, there bool) {
	count, there = p.counts[strings.Join(texts, "\x00")]
	return count, there
}

// foreignRows looks for rows of published counts that no table asks for: of categories, or of tables, that the data does not have.
// What is counted in one of them is an error, as the tables would not be those released. Margins of other kinds do no harm.
func (f *sapFit) foreignRows(env Env) error {
	b, p := f.bound, f.bound.Published
	categories := make([]map[string]bool, len(f.table.Variables))
	for v, variable := range f.table.Variables {
		categories[v] = map[string]bool{TotalCode: true}
		for _, c := range variable.Categories {
			categories[v][c] = true
		}
		if v < b.by || f.layout.missing[v-b.by] || b.Config.Missing == schemas.MissingDrop {
			categories[v][missingText] = true // records without a value are in no table, or a category
		}
	}
	areas, names := map[string]bool{}, newIdentity(f)
	for a := range len(f.first) - 1 {
		names.name(a, -1)
		areas[strings.Join(names.texts[:b.by], "\x00")] = true
	}
	first, why, empty := "", "", 0
	for key, n := range p.counts {
		reason := f.foreign(strings.Split(key, "\x00"), categories, areas)
		switch {
		case reason == "":
		case n == 0:
			empty++
		case first == "" || key < first:
			first, why = key, reason
		}
	}
	if first != "" {
		return fmt.Errorf("%s has a count of %d in the row %s, and %s: declare levels in the spec, or see whether it is the file of these tables",
			p.name, p.counts[first], wordsOf(strings.Split(first, "\x00")), why)
	}
	if empty > 0 {
		env.Warn(fmt.Sprintf("%s: %d rows of 0 of %s are of categories or tables that the data does not have: they are not counted as cells; declare levels if they should be", b.prefix, empty, p.name))
	}
	return nil
}

// foreign tells why no table asks for a row, "" if one does or it is a margin.
func (f *sapFit) foreign(texts []string, categories []map[string]bool, areas map[string]bool) string {
	if len(texts) != len(categories) {
		return "" // a category with a zero byte
	}
	for v, text := range texts {
		if !categories[v][text] {
			return fmt.Sprintf("no record has the category %s of %s", strings.ReplaceAll(text, missingText, "missing"), f.table.Variables[v].Name)
		}
	}
	by := texts[:f.bound.by]
	if slices.Contains(by, TotalCode) || slices.Contains(by, missingText) || areas[strings.Join(by, "\x00")] {
		return ""
	}
	return "there is no table " + wordsOf(by) + " in the data"
}
