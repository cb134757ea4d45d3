package command

import (
	"fmt"
	"slices"

	"microrisk/schemas"
)

// A gateReport knows the limits that figures were compared with, and which of them the table has shown.
type gateReport struct {
	compared []schemas.LimitSummary
	shown    map[int]bool // positions in compared
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
	return joined(limitText(g.compared[at]), note)
}

// limitText compares a figure with its limit.
func limitText(l schemas.LimitSummary) string {
	at := "limit " + figure(l.Allowed)
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
func (g *gateReport) rest() [][]cell {
	var rows [][]cell
	for i, l := range g.compared {
		if g.shown[i] {
			continue
		}
		name := "  " + l.Limit
		if l.Operator != "" {
			name += " of " + l.Operator
		}
		if rows == nil {
			rows = append(rows, []cell{left("limits")})
		}
		rows = append(rows, []cell{left(name), right(figure(l.Value)), left(limitText(l))})
	}
	return rows
}

// ofRecords says of how many records a figure is, where some were dropped for missing values.
func ofRecords(records, dropped int64) string {
	if dropped == 0 {
		return ""
	}
	return fmt.Sprintf("of %s of %s records", count(records), count(records+dropped))
}

// joined puts parts of a note together, those that are empty left out.
func joined(parts ...string) string {
	text := ""
	for _, p := range parts {
		switch {
		case p == "":
		case text == "":
			text = p
		default:
			text += "; " + p
		}
	}
	return text
}
