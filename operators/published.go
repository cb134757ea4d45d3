package operators

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"

	"microrisk/schemas"
)

// TotalCode is the category of a margin in a file of tables.
const TotalCode = "Total"

// Published has the counts that were really published: one for each combination of some variables, of which some may be totals.
type Published struct {
	Name   string // of the file, for messages
	counts map[string]int64
}

// CountColumns are names of the column that has the counts of a published table.
var CountColumns = schemas.CountColumns

// ReadPublished reads published counts from a source: the columns variables, as text, and a column of whole numbers named published,
// value or count. A null variable is a missing value; Total is a margin; a combination that is not there is empty. Errors: a column
// that is not there, several columns of counts, a count that is null, negative or no whole number, a combination that is there twice.
func ReadPublished(ctx context.Context, name string, source Source, variables []string) (*Published, error) {
	p := &Published{counts: map[string]int64{}, Name: name}
	schema := source.Schema()
	column, others, err := countColumn(name, schema, variables)
	if err != nil {
		return nil, err
	}
	at := make([]int, len(variables)+1)
	for i, v := range append(variables[:len(variables):len(variables)], column) {
		if _, err := LookUp(name, schema, v); err != nil {
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
				texts[i] = MissingText
				if c := r.Column(at[i]); !c.IsNull(row) {
					texts[i] = Text(c, row)
				}
			}
			counts := r.Column(at[len(variables)])
			n, ok := Integer(counts, row)
			if !ok || n < 0 {
				return fmt.Errorf("%s: the count of %s is %s; it must be a whole number of at least 0", name, WordsOf(texts), show(counts, row))
			}
			key := strings.Join(texts, "\x00")
			if _, twice := p.counts[key]; twice && len(others) > 0 {
				return fmt.Errorf("%s has %s twice, as it has columns besides the variables of the tables and the counts: %s; leave them out of the file",
					name, WordsOf(texts), strings.Join(others, ", "))
			} else if twice {
				return fmt.Errorf("%s has %s twice", name, WordsOf(texts))
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

// MissingText stands for a missing value in keys of published counts.
const MissingText = "\x01"

// WordsOf names a row by its categories.
func WordsOf(texts []string) string {
	return "[" + strings.ReplaceAll(strings.Join(texts, ", "), MissingText, "missing") + "]"
}

// All are the counts by their combinations: the texts of the variables, joined by zero bytes.
func (p *Published) All() iter.Seq2[string, int64] { return maps.All(p.counts) }

// Count is the published count of a combination; one that is not in the file is empty.
func (p *Published) Count(texts []string) (count int64, there bool) {
	count, there = p.counts[strings.Join(texts, "\x00")]
	return count, there
}
