package command

import (
	"fmt"
	"slices"
	"strings"

	"microrisk/operators/report"
	"microrisk/pipeline/protect"
)

// most rows of the table of what a release cost.
const mostCosts = 4

// costText tells what the release lost: cells of variables, the relations that suffered most, and the means that moved most.
func costText(c *protect.Cost) string {
	if c == nil {
		return ""
	}
	rows := [][]report.Cell{{report.Left("what it cost"), report.Right("categories"), report.Right("cells coarser"), report.Right("hidden"),
		report.Right("shares moved")}}
	more := 0
	for _, v := range c.Variables {
		switch {
		case v.Coarser == 0 && v.Hidden == 0:
			continue
		case len(rows) > mostCosts:
			more++
			continue
		}
		moved := "" // nothing is shown
		if v.Variation != nil {
			moved = report.Percent(100 * *v.Variation)
		}
		rows = append(rows, []report.Cell{report.Left(v.Variable), report.Right(report.Count(int64(v.Before)) + " > " + report.Count(int64(v.After))),
			report.Right(report.Count(v.Coarser)), report.Right(report.Count(v.Hidden)), report.Right(moved)})
	}
	if len(rows) == 1 {
		return ""
	}
	text := "\n" + table("  ", rows)
	var list []string
	if more > 0 {
		list = append(list, report.Plural(int64(more), "other variable", "other variables")+" changed too")
	}
	if len(c.Pairs) > 0 && c.Pairs[0].Lost() > 0 {
		worst := &c.Pairs[0]
		after := "none is left"
		if worst.After != nil {
			after = report.Figure(*worst.After)
		}
		list = append(list, fmt.Sprintf("of all pairs %s and %s lose most of their relation (Cramer's V %s, now %s)", report.Printable(worst.Variables[0]),
			report.Printable(worst.Variables[1]), report.Figure(*worst.Before), after))
	}
	for _, m := range greatest(c.Means) {
		if *m.Greatest == 0 {
			list = append(list, "no mean of "+report.Printable(m.Column)+" moves")
			continue
		}
		at := slices.IndexFunc(m.Groups, func(g protect.GroupMean) bool { return g.Group == m.Of })
		list = append(list, fmt.Sprintf("means of %s move by up to %s (%s %s: %s, now %s)", report.Printable(m.Column), report.Percent(100**m.Greatest),
			report.Printable(m.By), report.Printable(m.Of), report.Plural(m.Groups[at].Were, "record", "records"), report.Count(m.Groups[at].Are)))
	}
	if list == nil {
		return text
	}
	return text + wrap(strings.ToUpper(list[0][:1])+strings.Join(list, "; ")[1:]+".", 0) + "\n"
}

// greatest are the comparisons of each column's means that differ most.
func greatest(means []protect.MeanCost) (list []protect.MeanCost) {
	for _, m := range means {
		switch last := len(list) - 1; {
		case m.Greatest == nil:
		case last < 0 || list[last].Column != m.Column:
			list = append(list, m)
		case *m.Greatest > *list[last].Greatest:
			list[last] = m
		}
	}
	return list
}
