package command

import (
	"fmt"
	"slices"
	"strings"

	"microrisk/operators"
	"microrisk/operators/sap"
	"microrisk/schemas"
)

// attributions are the summaries of the spec's sap operators.
func attributions(spec *schemas.Spec, s *schemas.Summary) []*sap.Summary {
	var list []*sap.Summary
	for _, o := range spec.Operators {
		c, ok := o.Config.(*sap.Config)
		if !ok {
			continue
		}
		if m, ok := s.Operators[c.ColumnPrefix()].(*sap.Summary); ok {
			list = append(list, m)
		}
	}
	return list
}

// ofTables tells whether a ranking is of records by their tables: then the tables are named instead.
func ofTables(spec *schemas.Spec, r operators.Ranking) bool {
	return slices.ContainsFunc(spec.Operators, func(o schemas.Operator) bool {
		c, ok := o.Config.(*sap.Config)
		return ok && c.ColumnPrefix() == r.Operator
	})
}

// attributionText says what was released, and what it gives away.
func attributionText(m *sap.Summary) string {
	text := table("  ", attributionRows(m)) + line("    scheme  ", m.Scheme)
	if m.BaseTable != "same" {
		text += line("    tables  ", map[string]string{"none": "not published themselves", "exact": "published as they are"}[m.BaseTable])
	}
	for i, margin := range m.Margins {
		if i == mostMargins {
			text += line("            ", "and "+plural(int64(len(m.Margins)-i), "more margin", "more margins"))
			break
		}
		text += line("    margin  ", strings.Join(margin.Variables, " x ")+": "+margin.Scheme)
	}
	if m.Total != "none" {
		text += line("    totals  ", map[string]string{"same": "published alike", "exact": "published as they are"}[m.Total])
	}
	text += table("  ", distributionRows(m)) + smallestText(m)
	if len(m.By) > 0 && len(m.Riskiest) > 0 {
		text += "\n" + table("  ", riskiestRows(m))
	}
	return text
}

// mostMargins is how many margins are named.
const mostMargins = 6

// line is a line of text that fits on the screen; its label stays whole.
func line(label, text string) string {
	return label + shorten(printable(text), screen-len(label)) + "\n"
}

// attributionRows say what was released.
func attributionRows(m *sap.Summary) [][]cell {
	by := "one table of all"
	if len(m.By) > 0 {
		by = "by " + strings.Join(m.By, ", ")
	}
	var names []string
	for _, v := range m.Variables {
		names = append(names, v.Name)
	}
	rows := [][]cell{
		{left("released tables"), right(count(m.Tables)), left(shorten(printable(by), 40))},
		{left("  cells of each"), right(count(m.Cells)), left(shorten(printable(strings.Join(names, " x ")), 40))},
		{left("  people"), right(count(m.Records))},
	}
	if m.EmptyTables > 0 {
		rows = append(rows, []cell{left("  tables of nobody"), right(count(m.EmptyTables))})
	}
	return rows
}

// distributionRows have a row a number of people known.
func distributionRows(m *sap.Summary) [][]cell {
	rows := [][]cell{{left("  known"), right("mean SAP"), right("greatest"), right("tables at 0"), right("to 0.1"), right("to 0.5"), right("below 1"), right("at 1")}}
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

// smallestText is a line on the smallest numbers of people known for which SAP comes to the threshold.
func smallestText(m *sap.Summary) string {
	found, never := int64(0), int64(0)
	for _, s := range m.SmallestKnown {
		if s.Known == nil {
			never = s.Tables
		} else {
			found += s.Tables
		}
	}
	var parts []string
	if found > 0 {
		least, middle, most, before := int64(-1), int64(-1), int64(0), int64(0)
		for _, s := range m.SmallestKnown {
			if s.Known == nil {
				continue
			}
			if least < 0 {
				least = *s.Known
			}
			if before += s.Tables; middle < 0 && 2*before >= found {
				middle = *s.Known
			}
			most = *s.Known
		}
		if least == most {
			parts = append(parts, plural(least, "person", "people"))
		} else {
			parts = append(parts, fmt.Sprintf("%s to %s people, median %s", count(least), count(most), count(middle)))
		}
	}
	if never > 0 {
		parts = append(parts, "never for "+plural(never, "table", "tables"))
	}
	if m.NotFound > 0 {
		parts = append(parts, "not found for "+plural(m.NotFound, "table", "tables"))
	}
	if len(parts) == 0 {
		return ""
	}
	label, whole := fmt.Sprintf("    SAP of %s takes  ", figure(m.Threshold)), strings.Join(parts, "; ")
	if len(label)+len(whole) <= screen {
		return line(label, whole)
	}
	return line(label, parts[0]) + line(strings.Repeat(" ", len(label)), strings.Join(parts[1:], "; "))
}

// mostKnown is how many numbers of people known the list of tables has.
const mostKnown = 4

// riskiestRows are the riskiest tables by name.
func riskiestRows(m *sap.Summary) [][]cell {
	from := max(0, len(m.Known)-mostKnown)
	rows := [][]cell{{left("riskiest tables"), right("people")}}
	for _, n := range m.Known[from:] {
		rows[0] = append(rows[0], right(fmt.Sprintf("SAP(%d)", n)))
	}
	for _, t := range m.Riskiest {
		row := []cell{left("  " + printable(strings.Join(t.By, ", "))), right(count(t.People))}
		for _, p := range t.SAP[from:] {
			row = append(row, right(figure(p)))
		}
		rows = append(rows, row)
	}
	return rows
}
