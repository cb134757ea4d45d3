package command

import (
	"slices"

	"microrisk/operators/report"
	"microrisk/schemas"
)

// A gateReport knows the limits that figures were compared with, and which of them the table has shown.
type gateReport struct {
	compared []schemas.LimitSummary
	shown    map[int]bool // positions in compared
}

// told is a table with the limits of its figures in words. prefix is that of the operator whose figures they are; those of the key have none.
func (g *gateReport) told(prefix string, rows [][]report.Cell) [][]report.Cell {
	for _, row := range rows {
		for i, c := range row {
			if c.Limit == "" {
				continue
			}
			operator := prefix
			if slices.Contains(schemas.KeyFigures(), c.Limit) {
				operator = ""
			}
			row[i] = report.Left(g.limit(c.Limit, operator, c.Text))
		}
	}
	return rows
}

func gateOf(s *schemas.Summary) *gateReport { return &gateReport{s.Limits, map[int]bool{}} }

// limit is what a figure was compared with, in words that stand before its note. operator is the prefix of the one whose figure it is, "" for
// the key's.
func (g *gateReport) limit(name, operator, note string) string {
	at := slices.IndexFunc(g.compared, func(l schemas.LimitSummary) bool { return l.Limit == name && l.Operator == operator })
	if at < 0 && operator == "" { // of an operator with a key of its own
		at = slices.IndexFunc(g.compared, func(l schemas.LimitSummary) bool { return l.Limit == name })
	}
	if at < 0 {
		return note
	}
	g.shown[at] = true
	return report.Joined(limitText(g.compared[at]), note)
}

// limitText compares a figure with its limit.
func limitText(l schemas.LimitSummary) string {
	at := "limit " + report.Figure(l.Allowed)
	switch {
	case !l.Breached:
		return at
	case l.Records == 0:
		return at + " BREACHED, of no records"
	case l.Value <= l.Allowed:
		return at + " BREACHED, of a part of the records"
	}
	return at + " BREACHED"
}

// rest are the comparisons whose figures no other table has.
func (g *gateReport) rest() [][]report.Cell {
	var rows [][]report.Cell
	for i, l := range g.compared {
		if g.shown[i] {
			continue
		}
		name := "  " + l.Limit
		if l.Operator != "" {
			name += " of " + l.Operator
		}
		if rows == nil {
			rows = append(rows, []report.Cell{report.Left("limits")})
		}
		rows = append(rows, []report.Cell{report.Left(name), report.Right(report.Figure(l.Value)), report.Left(limitText(l))})
	}
	return rows
}
