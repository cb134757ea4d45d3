package ldiversity

import (
	"fmt"

	"microrisk/operators/report"
	"microrisk/schemas"
)

// Report is a Reporting operator's: a table for each sensitive variable.
func (c *Config) Report(_ *schemas.Spec, document any) report.Section {
	section := report.Section{Place: report.Classes}
	x := document.(*Summary)
	for _, v := range x.Sensitive {
		section.Parts = append(section.Parts, report.Part{Apart: true, Rows: diversityRows(x, v)})
	}
	return section
}

func diversityRows(x *Summary, v SensitiveSummary) [][]report.Cell {
	rows := [][]report.Cell{{report.Left(v.Name), report.Right("records"), report.Left(fmt.Sprintf("whose class is below l = %d", x.L))},
		{
			report.Left("  distinct"),
			report.Right(report.Count(v.BelowDistinct)),
			report.Limited(Limit, report.Joined(report.PartOf(v.BelowDistinct, x.Records)+" of the records", report.OfRecords(x.Records, x.Dropped))),
		},
		{report.Left("  entropy"), report.Right(report.Count(v.BelowEntropy)), report.Left(report.PartOf(v.BelowEntropy, x.Records))},
		{
			report.Left("  recursive"),
			report.Right(report.Count(v.BelowRecursive)),
			report.Left(report.PartOf(v.BelowRecursive, x.Records) + ", c = " + report.Figure(x.C)),
		},
	}
	if v.Missing > 0 {
		note := "counts as no value"
		if v.Policy == schemas.MissingCategory {
			note = "counts as a value of its own"
		}
		rows = append(rows, []report.Cell{report.Left("  missing"), report.Right(report.Count(v.Missing)), report.Left(note)})
	}
	return rows
}
