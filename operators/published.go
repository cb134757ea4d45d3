package operators

import (
	"context"
	"fmt"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"
)

// TotalCode is the category of a margin in a file of tables.
const TotalCode = "Total"

// Published has the counts that were really published: one for each combination of some variables, of which some may be totals.
type Published struct {
	counts map[string]int64
	name   string
}

// CountColumns are names of the column that has the counts of a published table: the first of these that there is.
var CountColumns = []string{"published", "value", "count"}

// ReadPublished reads published counts from a source: the columns variables, as text, and a column of whole numbers named published,
// value or count. A null variable is a missing value; Total is a margin; a combination that is not there is empty. Errors: a column that is not there, a count that is null,
// negative or no whole number, a combination that is there twice.
func ReadPublished(ctx context.Context, name string, source Source, variables []string) (*Published, error) {
	p := &Published{counts: map[string]int64{}, name: name}
	schema := source.Schema()
	column := ""
	for _, c := range CountColumns {
		if column == "" && schema.HasField(c) {
			column = c
		}
	}
	if column == "" {
		return nil, fmt.Errorf("%s has no column of counts: name it published, value or count", name)
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
			n, ok := Integer(r.Column(at[len(variables)]), row)
			if !ok || n < 0 {
				return fmt.Errorf("%s: the count of %s is no whole number of at least 0", name, p.words(texts))
			}
			key := strings.Join(texts, "\x00")
			if _, twice := p.counts[key]; twice {
				return fmt.Errorf("%s has %s twice", name, p.words(texts))
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

// missingText stands for a missing value in keys of published counts.
const missingText = "\x01"

func (p *Published) words(texts []string) string {
	return "[" + strings.ReplaceAll(strings.Join(texts, ", "), missingText, "missing") + "]"
}

// count is the published count of a combination; one that is not in the file is empty.
func (p *Published) count(texts []string) int64 { return p.counts[strings.Join(texts, "\x00")] }
