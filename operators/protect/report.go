package protect

import (
	"fmt"

	"microrisk/operators/report"
	"microrisk/schemas"
)

// Report is a Reporting operator's.
func (c *Config) Report(_ *schemas.Spec, document any) report.Section {
	m := document.(*Summary)
	return report.Section{Place: report.End, Parts: []report.Part{{Apart: true, Rows: m.Rows()},
		{Label: "  can be published  ", Texts: []string{c.Out}}, {Label: "  must not be       ", Texts: []string{c.Inside}}}}
}

// Rows say what came of a table, for a terminal.
func (m *Summary) Rows() [][]report.Cell {
	cells := int64(m.Cells)
	rows := [][]report.Cell{
		{report.Left("records in the table"), report.Right(report.Count(m.Records))},
		{report.Left("cells that are not empty"), report.Right(report.Count(cells)), report.Left("totals among them")},
		{report.Left("  unsafe"), report.Right(report.Count(int64(m.Unsafe))), report.Left(report.PartOf(int64(m.Unsafe), cells))},
	}
	if m.Method == "rounding" {
		text := "to multiples next to them"
		if m.Widened > 0 {
			text = fmt.Sprintf("%s further than to the next multiple", report.Count(int64(m.Widened)))
		}
		rows = append(rows, []report.Cell{report.Left("  changed by rounding"), report.Right(report.Count(int64(m.Rounded))), report.Left(text)})
	} else {
		rows = append(rows, []report.Cell{report.Left("  hidden"), report.Right(report.Count(int64(m.Hidden))), report.Left(report.PartOf(int64(m.Hidden), cells))},
			[]report.Cell{report.Left("  for others"), report.Right(report.Count(int64(m.Hidden - m.Unsafe))), report.Left(m.ended())})
	}
	rows = append(rows, []report.Cell{report.Left("audit"), report.Right(m.Audit), report.Left("nobody learns more than the rules allow")})
	return append(rows, sapRows(m.SAP, m.Area != "")...)
}

// ended says how good the method's choice is.
func (m *Summary) ended() string {
	switch {
	case m.Method != "optimal":
		return m.Method
	case m.Proven:
		return "nothing cheaper is safe"
	}
	return fmt.Sprintf("at most %s cheaper is possible", report.Percent(100*m.Gap))
}
