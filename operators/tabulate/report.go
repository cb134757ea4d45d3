package tabulate

import (
	"microrisk/operators/report"
	"microrisk/schemas"
)

// Report is a Reporting operator's.
func (c *Config) Report(_ *schemas.Spec, document any) report.Section {
	m := document.(*Summary)
	return report.Section{Place: report.End, Parts: []report.Part{{Apart: true, Rows: tabulatedRows(m)},
		{Label: "  scheme      ", Texts: []string{m.Scheme}}, {Label: "  written to  ", Texts: []string{c.Path}}}}
}

// tabulatedRows say what a table has.
func tabulatedRows(m *Summary) [][]report.Cell {
	with := "without margins"
	if m.Margins {
		with = "with all margins"
	}
	return [][]report.Cell{
		{report.Left("records in the table"), report.Right(report.Count(m.Records))},
		{report.Left("rows of the table"), report.Right(report.Count(m.Rows)), report.Left(with)},
	}
}
