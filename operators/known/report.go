package known

import "microrisk/operators/report"

// Rows tell what known tables say; none where there are none.
func (s *Summary) Rows() [][]report.Cell {
	if s == nil {
		return nil
	}
	return [][]report.Cell{
		{report.Left("  known tables"), report.Right(report.Count(int64(s.Tables))),
			report.Left(report.Plural(s.Exact, "key", "keys") + " of known people, " + report.Count(s.Narrowed) + " narrowed")},
		{report.Left("  certainly unique"), report.Right(report.Count(s.Alone)), report.Left("sample uniques, of the population by them")},
	}
}
