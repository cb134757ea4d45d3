package protectrecords

import (
	"fmt"

	"microrisk/operators/report"
	"microrisk/schemas"
)

// A Summary is the operator's part of the summary: what the search found, the best release first, which was made.
type Summary struct{ Outcome }

var _ schemas.Judged = (*Summary)(nil)

// Counted is a Judged's.
func (s *Summary) Counted() int64 { return s.Records }

// LeftOut is a Judged's.
func (s *Summary) LeftOut() int64 { return 0 }

// Figures is a Judged's.
func (s *Summary) Figures() map[string]float64 { return map[string]float64{Limit: s.Best[0].Loss} }

// Report is a Reporting operator's.
func (c *Config) Report(_ *schemas.Spec, document any) report.Section {
	s := document.(*Summary)
	best := &s.Best[0]
	rows := [][]report.Cell{{report.Left("records made safe"), report.Right(report.Count(s.Records)), report.Left("for " + s.Target)}}
	for _, l := range best.Levels {
		if l.Level > 0 {
			rows = append(rows, []report.Cell{report.Left("  " + report.Printable(l.Variable)), report.Right(report.Count(int64(l.Categories))),
				report.Left(fmt.Sprintf("categories of %s, %s", report.Count(int64(l.Before)), l.Words))})
		}
	}
	if best.Suppressed > 0 {
		rows = append(rows, []report.Cell{report.Left("  hidden altogether"), report.Right(report.Count(best.Suppressed)), report.Left("records")})
	}
	for _, l := range best.Levels {
		if n := best.Cells[l.Variable]; n > 0 {
			rows = append(rows, []report.Cell{report.Left("  hidden of " + report.Printable(l.Variable)), report.Right(report.Count(n)),
				report.Left(report.PartOf(n, s.Records))})
		}
	}
	proven := "nothing loses less"
	if !s.Proven {
		proven = "not proven to be the least"
	}
	rows = append(rows, []report.Cell{report.Left("loss (" + s.Loss + ")"), report.Right(fmt.Sprintf("%.4g", best.Loss)), report.Left(proven)})
	return report.Section{Place: report.Classes, Parts: []report.Part{{Apart: true, Rows: rows}}}
}

// Public is a PrivateDocument's: the release tells nothing of the file that it was made of.
func (s *Summary) Public() any { return nil }
