package protect

import (
	"fmt"
	"slices"

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
	rows = append(rows, m.made(cells)...)
	rows = append(rows, []report.Cell{report.Left("audit"), report.Right(m.Audit), report.Left("nobody learns more than the rules allow")})
	return append(rows, sapRows(m.SAP, m.Area != "")...)
}

// ended says how good the method's choice is.
func (m *Summary) ended() string {
	switch {
	case m.Cells > 0 && m.Hidden == 0 && m.Rounded == 0: // nothing was sought
		return ""
	case m.Proven && (m.Method == "adjustment" || m.Method == "partial"):
		return "nothing cheaper is possible"
	case m.Stopped && m.Method != "optimal" && m.Hidden > 0 && !slices.Contains(methodsThatImprove[2:], m.Method):
		return m.Method + ", ended by its limit"
	case m.Method != "optimal" && m.Method != "adjustment" && m.Method != "partial":
		return m.Method
	case m.Proven:
		return "nothing cheaper is safe"
	}
	return m.possible()
}

func percent(share float64) string { return report.Percent(100 * share) }

// made says what became of the cells.
func (m *Summary) made(cells int64) [][]report.Cell {
	row := func(label string, n int, remark string) []report.Cell {
		return []report.Cell{report.Left(label), report.Right(report.Count(int64(n))), report.Left(remark)}
	}
	switch m.Method {
	case "rounding":
		text := "to multiples next to them"
		if m.Widened > 0 {
			text = fmt.Sprintf("%s further than to the next multiple", report.Count(int64(m.Widened)))
		}
		return [][]report.Cell{row("  changed by rounding", m.Rounded, text)}
	case "perturbation":
		return [][]report.Cell{row("  changed", m.Rounded, m.Scheme), {report.Left("totals off their parts"), report.Right(m.Imbalance), report.Left("at most")}}
	case "adjustment":
		return [][]report.Cell{row("  changed", m.Rounded, m.ended())}
	case "multiplicative":
		return [][]report.Cell{row("  changed", m.Rounded, "by noise of margins")}
	case "abs":
		return [][]report.Cell{row("  hidden", m.Hidden, report.PartOf(int64(m.Hidden), cells)), row("  changed by rounding", m.Rounded, "to multiples of 100")}
	case "partial":
		return [][]report.Cell{row("  with intervals", m.Hidden, report.PartOf(int64(m.Hidden), cells)), row("  for others", m.Hidden-m.Unsafe, m.ended())}
	}
	remark := report.PartOf(int64(m.Hidden), cells)
	if m.Intervals {
		remark += ", with intervals"
	}
	return [][]report.Cell{row("  hidden", m.Hidden, remark), row("  for others", m.Hidden-m.Unsafe, m.ended())}
}
