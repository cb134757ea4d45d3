package operators

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"

	"microrisk/engine/contingency"
	"microrisk/engine/tabular"
	"microrisk/schemas"
)

// Published has the counts that were really published: one for each combination of some variables, of which some may be totals. One that
// is not there is of an empty cell.
type Published struct {
	Name string // of the file, for messages
	*tabular.Figures
}

// CountColumns are names of the column that has the counts of a published table.
var CountColumns = schemas.CountColumns

// ReadPublished reads published counts from a source: the columns variables, as text, and a column of whole numbers named published,
// value or count. A null variable is a missing value; Total is a margin; a combination that is not there is empty. Errors: a column
// that is not there, several columns of counts, a count that is null, negative or no whole number, a combination that is there twice.
func ReadPublished(ctx context.Context, name string, source Source, variables []string) (*Published, error) {
	p := &Published{name, tabular.NewFigures(len(variables))}
	schema := source.Schema()
	column, err := CountColumn(name, schema, variables)
	switch {
	case err != nil:
		return nil, err
	case column == "":
		return nil, NoCounts(name)
	}
	var others []string // that are neither counts nor variables
	for _, f := range schema.Fields() {
		if f.Name != column && !slices.Contains(variables, f.Name) {
			others = append(others, f.Name)
		}
	}
	at := make([]int, len(variables)+1)
	for i, v := range append(variables[:len(variables):len(variables)], column) {
		if _, err := LookUp(name, schema, v); err != nil {
			return nil, err
		}
		at[i] = schema.FieldIndices(v)[0]
	}
	err = EachCell(
		ctx,
		source,
		at[:len(variables)],
		func(text string) bool { return text == tabular.TotalCode },
		func(cell []tabular.Category, r arrow.Record, row int) error {
			counts := r.Column(at[len(variables)])
			n, ok := Integer(counts, row)
			if !ok || n < 0 {
				return fmt.Errorf("%s: the count of %s is %s; it must be a whole number of at least 0", name, tabular.Words(cell), Shown(counts, row))
			}
			switch {
			case p.Add(cell, tabular.Exact(n)):
				return nil
			case len(others) > 0:
				return fmt.Errorf("%s has %s twice, as it has columns besides the variables of the tables and the counts: %s; leave them out of the file",
					name, tabular.Words(cell), strings.Join(others, ", "))
			}
			return fmt.Errorf("%s has %s twice", name, tabular.Words(cell))
		},
	)
	if err != nil {
		return nil, err
	}
	return p, nil
}

// EachCell reads a file of tables: take gets the categories that each row has in some columns, which are good until it returns, and the
// row, for what was published of the cell. A null is a missing value; total tells the texts that stand for a total.
func EachCell(
	ctx context.Context,
	source Source,
	columns []int,
	total func(text string) bool,
	take func(cell []tabular.Category, r arrow.Record, row int) error,
) error {
	cell := make([]tabular.Category, len(columns))
	return EachRow(ctx, source, func(r arrow.Record, row int) error {
		for i, at := range columns {
			cell[i] = tabular.Missing
			if c := r.Column(at); !c.IsNull(row) {
				if cell[i] = tabular.Of(Text(c, row)); total(cell[i].Label) {
					cell[i] = tabular.Total
				}
			}
		}
		return take(cell, r, row)
	})
}

// EachRow reads all rows of a source in their order.
func EachRow(ctx context.Context, source Source, take func(r arrow.Record, row int) error) error {
	chain, err := NewChain(source.Schema())
	if err != nil {
		return err
	}
	_, err = chain.Run(ctx, source, &Emit{To: func(_ int, r arrow.Record) error {
		for row := range int(r.NumRows()) {
			if err := take(r, row); err != nil {
				return err
			}
		}
		return nil
	}}, Options{Workers: 1})
	return err
}

// CountColumn is the column of counts of a published table: the one of CountColumns that is no variable; "" for none. Several are an
// error.
func CountColumn(name string, schema *arrow.Schema, variables []string) (string, error) {
	column := ""
	for _, c := range CountColumns {
		switch {
		case !schema.HasField(c) || slices.Contains(variables, c):
		case column != "":
			return "", fmt.Errorf("%s has the columns %s and %s: which has the counts? Leave one out, or rename a variable", name, column, c)
		default:
			column = c
		}
	}
	return column, nil
}

// NoTotals refuses categories that name totals in files of tables: their cells could not be told from margins.
func NoTotals(t *contingency.Table) error {
	for _, v := range t.Variables {
		if slices.Contains(v.Categories, tabular.TotalCode) {
			return fmt.Errorf("%s has the category %q, which names totals in files of tables: recode it", v.Name, tabular.TotalCode)
		}
	}
	return nil
}

// NoCounts is the error of a published table without a column of counts.
func NoCounts(name string) error {
	return fmt.Errorf("%s has no column of counts; name it published, value or count", name)
}
