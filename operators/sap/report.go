package sap

import (
	"fmt"
	"strings"

	"microrisk/operators/report"
	"microrisk/schemas"
)

// Report is a Reporting operator's: what was released, and what it gives away.
func (s *Config) Report(_ *schemas.Spec, document any) report.Section {
	m := document.(*Summary)
	parts := []report.Part{{Apart: true, Rows: releasedRows(m)}}
	line := func(label, text string) { parts = append(parts, report.Part{Label: label, Texts: []string{text}}) }
	line("    scheme  ", m.Scheme)
	if m.BaseTable != "same" {
		line("    tables  ", map[string]string{"none": "not published themselves", "exact": "published as they are"}[m.BaseTable])
	}
	for i, margin := range m.Margins {
		if i == mostMargins {
			line("            ", "and "+report.Plural(int64(len(m.Margins)-i), "more margin", "more margins"))
			break
		}
		line("    margin  ", strings.Join(margin.Variables, " x ")+": "+margin.Scheme)
	}
	if m.Total != "none" {
		line("    totals  ", map[string]string{"same": "published alike", "exact": "published as they are"}[m.Total])
	}
	parts = append(parts, report.Part{Rows: distributionRows(m)})
	if texts := smallestTexts(m); texts != nil {
		parts = append(parts, report.Part{Label: fmt.Sprintf("    SAP of %s takes  ", report.Figure(m.Threshold)), Texts: texts})
	}
	if len(m.By) > 0 && len(m.Riskiest) > 0 {
		parts = append(parts, report.Part{Apart: true, Rows: riskiestRows(m)})
	}
	return report.Section{Place: report.Tables, Parts: parts}
}

// mostMargins is how many margins are named.
const mostMargins = 6

// releasedRows say what was released.
func releasedRows(m *Summary) [][]report.Cell {
	by := "one table of all"
	if len(m.By) > 0 {
		by = "by " + strings.Join(m.By, ", ")
	}
	var names []string
	for _, v := range m.Variables {
		names = append(names, v.Name)
	}
	rows := [][]report.Cell{
		{report.Left("released tables"), report.Right(report.Count(m.Tables)), report.Left(report.Shorten(report.Printable(by), 40))},
		{report.Left("  cells of each"), report.Right(report.Count(m.Cells)), report.Left(report.Shorten(report.Printable(strings.Join(names, " x ")), 40))},
		{report.Left("  people"), report.Right(report.Count(m.Records))},
	}
	if m.EmptyTables > 0 {
		rows = append(rows, []report.Cell{report.Left("  tables of nobody"), report.Right(report.Count(m.EmptyTables))})
	}
	return rows
}

// distributionRows have a row a number of people known.
func distributionRows(m *Summary) [][]report.Cell {
	rows := [][]report.Cell{
		{
			report.Left("  known"),
			report.Right("mean SAP"),
			report.Right("greatest"),
			report.Right("tables at 0"),
			report.Right("to 0.1"),
			report.Right("to 0.5"),
			report.Right("below 1"),
			report.Right("at 1"),
		},
	}
	for _, d := range m.Distribution {
		low, middle, high := d.Bands[0], int64(0), int64(0)
		for b, n := range d.Bands[1:] {
			if b < 4 {
				middle += n
			} else {
				high += n
			}
		}
		rows = append(
			rows,
			[]report.Cell{
				report.Left(fmt.Sprintf("    %d", d.Known)),
				report.Right(report.Figure(d.Mean)),
				report.Right(report.Figure(d.Greatest)),
				report.Right(report.Count(d.Zero)),
				report.Right(report.Count(low)),
				report.Right(report.Count(middle)),
				report.Right(report.Count(high)),
				report.Right(report.Count(d.One)),
			},
		)
	}
	return rows
}

// smallestTexts tell of the smallest numbers of people known for which SAP comes to the threshold.
func smallestTexts(m *Summary) []string {
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
			parts = append(parts, report.Plural(least, "person", "people"))
		} else {
			parts = append(parts, fmt.Sprintf("%s to %s people, median %s", report.Count(least), report.Count(most), report.Count(middle)))
		}
	}
	if never > 0 {
		parts = append(parts, "never for "+report.Plural(never, "table", "tables"))
	}
	if m.NotFound > 0 {
		parts = append(parts, "not found for "+report.Plural(m.NotFound, "table", "tables"))
	}
	return parts
}

// mostKnown is how many numbers of people known the list of tables has.
const mostKnown = 4

// riskiestRows are the riskiest tables by name.
func riskiestRows(m *Summary) [][]report.Cell {
	from := max(0, len(m.Known)-mostKnown)
	rows := [][]report.Cell{{report.Left("riskiest tables"), report.Right("people")}}
	for _, n := range m.Known[from:] {
		rows[0] = append(rows[0], report.Right(fmt.Sprintf("SAP(%d)", n)))
	}
	for _, t := range m.Riskiest {
		row := []report.Cell{report.Left("  " + report.Printable(strings.Join(t.By, ", "))), report.Right(report.Count(t.People))}
		for _, p := range t.SAP[from:] {
			row = append(row, report.Right(report.Figure(p)))
		}
		rows = append(rows, row)
	}
	return rows
}
