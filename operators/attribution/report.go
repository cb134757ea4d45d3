package attribution

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
		section.Parts = append(section.Parts, report.Part{Apart: true, Rows: learntRows(x, v)})
	}
	return section
}

func learntRows(x *Summary, v SensitiveSummary) [][]report.Cell {
	figure := func(p *float64) string {
		if p == nil {
			return "-"
		}
		return report.Figure(*p)
	}
	with := x.Records
	if v.Policy == schemas.MissingIgnore {
		with -= v.Missing
	}
	by := map[string]string{MatchColumn: "match: " + x.MatchFrom, MatchIndividual: "match: individual risk", MatchPopulation: "match: 1/f"}[x.Match]
	of := "of a record; "
	if x.Values == ValuesModel {
		of = "of a record, by models; "
	}
	rows := [][]report.Cell{
		{report.Left(v.Name + " learnt"), report.Right(report.Figure(v.Expected)), report.Limited(LimitExpected,
			report.Joined("records expected, "+by, report.OfRecords(x.Records, x.Dropped)))},
		{report.Left("  mean chance"), report.Right(figure(v.Mean)), report.Left(of + figure(v.Prior) + " by the shares in the file alone")},
		{report.Left("  greatest"), report.Right(figure(v.Greatest)), report.Limited(LimitGreatest, "of a record")},
	}
	for _, t := range v.Thresholds {
		rows = append(rows, []report.Cell{report.Left(fmt.Sprintf("  above %s", report.Figure(t.Above))), report.Right(report.Count(t.Records)),
			report.Left(report.PartOf(t.Records, with) + " of the records")})
	}
	if v.Missing > 0 {
		note := "records get none"
		if v.Policy == schemas.MissingCategory {
			note = "records: a value of its own"
		}
		rows = append(rows, []report.Cell{report.Left("  missing"), report.Right(report.Count(v.Missing)), report.Left(note)})
	}
	return rows
}
