package kanonymity

import (
	"fmt"

	"microrisk/operators/report"
	"microrisk/schemas"
)

// Report is a Reporting operator's.
func (c *Config) Report(_ *schemas.Spec, document any) report.Section {
	return report.Section{Place: report.Classes, Parts: []report.Part{{Apart: true, Rows: anonymityRows(document.(*Summary))}}}
}

func anonymityRows(x *Summary) [][]report.Cell {
	smallest := "-"
	if x.Smallest != nil {
		smallest = report.Count(*x.Smallest)
	}
	rows := [][]report.Cell{
		{report.Left("smallest class"), report.Right(smallest), report.Left("records with the same key")},
		{
			report.Left(fmt.Sprintf("below %d-anonymity", x.K)),
			report.Right(report.Count(x.Violations)),
			report.Limited(Limit, report.Joined(report.Percent(x.ViolationPercent)+" of the records", report.OfRecords(x.Records, x.Dropped))),
		},
	}
	for _, z := range x.CombinationsSizes {
		rows = append(
			rows,
			[]report.Cell{
				report.Left("  " + report.Plural(int64(z.Size), "variable", "variables")),
				report.Right(report.Count(z.Records)),
				report.Left("records: so few need be known"),
			},
		)
	}
	return rows
}
