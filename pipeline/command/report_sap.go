package command

import (
	"fmt"
	"strings"

	"microrisk/schemas"
)

// attributions are the summaries of the spec's sap operators.
func attributions(spec *schemas.Spec, s *schemas.Summary) []*schemas.SAPSummary {
	var list []*schemas.SAPSummary
	for _, o := range spec.Operators {
		if o.SAP == nil {
			continue
		}
		if m, ok := s.Operators[o.SAP.ColumnPrefix()].(*schemas.SAPSummary); ok {
			list = append(list, m)
		}
	}
	return list
}

// attributionRows say what was released.
func attributionRows(m *schemas.SAPSummary) [][]cell {
	by := "one table of all"
	if len(m.By) > 0 {
		by = "by " + strings.Join(m.By, ", ")
	}
	var names []string
	for _, v := range m.Variables {
		names = append(names, v.Name)
	}
	rows := [][]cell{
		{left("released tables"), right(count(m.Tables)), left(shorten(printable(by), 50))},
		{left("  cells of each"), right(count(m.Cells)), left(shorten(printable(strings.Join(names, " x ")), 50))},
		{left("  people"), right(count(m.Records)), left(shorten(m.Scheme, 50))},
	}
	if m.EmptyTables > 0 {
		rows = append(rows, []cell{left("  tables of nobody"), right(count(m.EmptyTables))})
	}
	return rows
}

// distributionRows have a row a number of people known.
func distributionRows(m *schemas.SAPSummary) [][]cell {
	rows := [][]cell{{left("  people known"), right("mean SAP"), right("greatest"), right("tables at 0"), right("to 0.1"), right("to 0.5"), right("below 1"), right("at 1")}}
	for _, d := range m.Distribution {
		low, middle, high := d.Bands[0], int64(0), int64(0)
		for b, n := range d.Bands[1:] {
			if b < 4 {
				middle += n
			} else {
				high += n
			}
		}
		rows = append(rows, []cell{left(fmt.Sprintf("    %d", d.Known)), right(figure(d.Mean)), right(figure(d.Greatest)), right(count(d.Zero)), right(count(low)), right(count(middle)),
			right(count(high)), right(count(d.One))})
	}
	return rows
}
