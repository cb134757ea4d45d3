package protect

import (
	"fmt"
	"slices"
	"strings"

	"microrisk/operators/report"
	"microrisk/pipeline/page"
)

// mostPairsShown is how many pairs of variables a page tells of.
const mostPairsShown = 10

// lost is what the release that was written lost.
func (o *Outcome) lost() []page.Block {
	c := o.Cost
	if c == nil {
		return nil
	}
	var blocks []page.Block
	t := &page.Table{
		Caption: "Values of each key variable, and how far the shares of its categories move among the values that are still shown",
		Head:    []page.Cell{page.Left("variable"), page.Right("made coarser"), page.Right("hidden"), page.Right("shares moved")},
	}
	for _, v := range c.Variables {
		if v.Coarser == 0 && v.Hidden == 0 {
			continue
		}
		moved := "-"
		if v.Variation != nil {
			moved = report.Percent(100 * *v.Variation)
		}
		t.Rows = append(
			t.Rows,
			[]page.Cell{page.Left(report.Printable(v.Variable)), page.Right(report.Count(v.Coarser)), page.Right(report.Count(v.Hidden)), page.Right(moved)},
		)
	}
	if t.Rows != nil {
		blocks = append(blocks, page.Block{Table: t})
	}
	pairs := &page.Table{Caption: "Pairs of key variables whose relation suffers most (Cramer's V: 0 is none, 1 is the closest)",
		Head: []page.Cell{page.Left("pair"), page.Right("before"), page.Right("after")}}
	for _, x := range c.Pairs[:min(len(c.Pairs), mostPairsShown)] {
		if x.Lost() > 0 {
			pairs.Rows = append(pairs.Rows, []page.Cell{page.Left(report.Printable(x.Variables[0]) + " and " + report.Printable(x.Variables[1])),
				page.Right(orDash(x.Before)), page.Right(orDash(x.After))})
		}
	}
	if pairs.Rows != nil {
		blocks = append(blocks, page.Block{Table: pairs})
	}
	means := &page.Table{Caption: "Means that move", Head: []page.Cell{page.Left("mean of"), page.Left("by"), page.Right("moves by up to"), page.Left("in")}}
	for _, x := range c.Means {
		if x.Greatest != nil && *x.Greatest > 0 {
			means.Rows = append(means.Rows, []page.Cell{page.Left(report.Printable(x.Column)), page.Left(report.Printable(x.By)),
				page.Right(report.Percent(100 * *x.Greatest)), page.Left(report.Printable(x.Of))})
		}
	}
	if means.Rows != nil {
		blocks = append(blocks, page.Block{Table: means})
	}
	if blocks == nil {
		return []page.Block{page.Text("Nothing that was looked at is lost.")}
	}
	return blocks
}

// implied are columns that give back what was made coarser or hidden.
func (o *Outcome) implied() []page.Block {
	var blocks []page.Block
	if len(o.Implied) > 0 {
		t := &page.Table{Caption: "Columns of the release that tell what was made coarser or hidden",
			Head: []page.Cell{page.Left("column"), page.Left("tells of"), page.Right("records whose value it tells"), page.Right("by guessing")}}
		for _, x := range o.Implied {
			of := report.Printable(x.Variable)
			if x.What == ImpliedHidden {
				of += ", hidden"
			}
			t.Rows = append(
				t.Rows,
				[]page.Cell{
					page.Left(report.Printable(x.Column)),
					page.Left(of),
					page.Right(report.Percent(100 * x.Share)),
					page.Right(report.Percent(100 * x.Without)),
				},
			)
		}
		blocks = append(
			blocks,
			page.Text("These columns give back what the changes take away: leave them out (--drop), or make them coarser too."),
			page.Block{Table: t},
		)
	}
	if len(o.Unlooked) > 0 {
		blocks = append(blocks, page.Text("Whether they do was not looked at for: %s.", report.Printable(strings.Join(o.Unlooked, ", "))))
	}
	return blocks
}

// giveBack names the columns that tell what was made coarser, for the verdict.
func (o *Outcome) giveBack() []page.Block {
	var names []string
	for _, x := range o.Implied {
		if name := report.Printable(x.Column); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if names == nil {
		return nil
	}
	return []page.Block{
		page.Text(
			"%s",
			fmt.Sprintf("But other columns tell what was made coarser or hidden, and the target does not look at them: %s.", strings.Join(names, ", ")),
		),
	}
}
