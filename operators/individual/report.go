package individual

import (
	"microrisk/operators/report"
	"microrisk/schemas"
)

// Report is a Reporting operator's.
func (c *Config) Report(_ *schemas.Spec, document any) report.Section {
	return report.Section{Place: report.Classes, Parts: []report.Part{{Apart: true, Rows: individualRows(document.(*Summary))}}}
}

func individualRows(x *Summary) [][]report.Cell {
	greatest := "-"
	if x.Greatest != nil {
		greatest = report.Figure(*x.Greatest)
	}
	rows := [][]report.Cell{
		{
			report.Left("re-identifications"),
			report.Right(report.Figure(x.Reidentified)),
			report.Limited(
				schemas.LimitReidentifications,
				"individual risk, summed: "+report.Joined(report.Percent(x.ReidentifiedPercent)+" of the records", report.OfRecords(x.Records, x.Dropped)),
			),
		},
		{report.Left("  greatest risk"), report.Right(greatest), report.Left("of a record")},
	}
	if h := x.Household; h != nil {
		rows = append(
			rows,
			[]report.Cell{
				report.Left("  by households"),
				report.Right(report.Figure(h.Reidentified)),
				report.Left(report.Percent(h.Percent) + ", of " + report.Plural(h.Households, "household", "households")),
			},
		)
	}
	return append(rows, x.Known.Rows()...)
}
