package runpage

import (
	"fmt"
	"math"
	"strconv"

	"microrisk/operators"
	"microrisk/operators/mc3"
	"microrisk/operators/report"
	"microrisk/pipeline/page"
	"microrisk/schemas"
)

// mostBands is how many bands of scores a table has; the lowest ones are put together.
const mostBands = 10

// distribution has a table of bands for each measure that scores records.
func (m *maker) distribution() []page.Block {
	if m.Spec.Source.Table != "" { // rows are no records
		return nil
	}
	var blocks []page.Block
	for _, r := range m.Rankings {
		if r.Spread == nil || r.Operator == "kanonymity" { // yes or no
			continue
		}
		if t := m.spread(r); t != nil {
			blocks = append(blocks, page.Block{Table: t})
		}
	}
	if blocks == nil {
		return nil
	}
	text := "How many records have which risk."
	if !m.public {
		text += " A few records far from the others can be treated one by one; where many are in the upper bands, variables must become coarser."
	}
	return append([]page.Block{page.Text(text)}, blocks...)
}

// spread is the table of a ranking; nil where there is nothing to tell.
func (m *maker) spread(r operators.Ranking) *page.Table {
	bands := joined(r.Spread)
	total := r.Spread.Records()
	if len(bands) < 2 || m.small(m.Summary.Rows-total) {
		return nil
	}
	counts := make([]int64, len(bands))
	for i, b := range bands {
		counts[i] = b.Records
	}
	groups := m.bands(counts)
	if len(groups) < 2 {
		return nil
	}
	t := &page.Table{Caption: "Records by " + r.Column + " (" + m.meaning(r) + ")",
		Head: []page.Cell{page.Left(r.Column), page.Right("records"), page.Right("share"), page.Left("")}}
	for _, g := range groups {
		n := int64(0)
		for _, b := range bands[g[0] : g[1]+1] {
			n += b.Records
		}
		if n == 0 && g[0] == 0 { // no record is without risk
			continue
		}
		t.Rows = append(t.Rows, []page.Cell{page.Left(bandText(bands[g[0]], bands[g[1]])), page.Right(report.Count(n)), page.Right(report.PartOf(n, total)),
			page.Bar(float64(n) / float64(total))})
	}
	if len(t.Rows) < 2 {
		return nil
	}
	return t
}

// meaning is what a column says of a record.
func (m *maker) meaning(r operators.Ranking) string {
	for _, o := range m.measured() {
		if o.prefix != r.Operator {
			continue
		}
		switch o.name {
		case "suda":
			return "SUDA score: in how many ways, and by how few variables, a record is singled out; it ranks, and is no probability"
		case mc3.Name:
			return "the chance that a person who fits the key is the one whom the record is of"
		case "individual":
			return "the chance that a record is found, from its weight"
		}
	}
	return "the more, the riskier"
}

// joined are the bands from 0 to the highest one with records, the lowest put together where there are many.
func joined(s operators.Spread) []operators.Band {
	last := 0
	for i, b := range s {
		if b.Records > 0 {
			last = i
		}
	}
	list := []operators.Band{s[0]}
	if last == 0 {
		return list
	}
	first := 1
	for first < last && (s[first].Records == 0 || last-first >= mostBands) {
		first++
	}
	low := operators.Band{Most: s[first].Most}
	for _, b := range s[1 : first+1] {
		low.Records += b.Records
	}
	if list = append(list, low); first < last {
		list = append(list, s[first+1:last+1]...)
	}
	return list
}

// bandText names the bands from one to another.
func bandText(from, to operators.Band) string {
	switch {
	case to.Most == 0:
		return "0"
	case from.Above == 0 && from.Most == 0:
		return "0 to " + edge(to.Most)
	case from.Above == 0:
		return "above 0, at most " + edge(to.Most)
	case math.IsInf(to.Most, 1):
		return "above " + edge(from.Above)
	}
	return "above " + edge(from.Above) + ", at most " + edge(to.Most)
}

// edge is the end of a band.
func edge(x float64) string {
	if x < 1 {
		return strconv.FormatFloat(x, 'f', -1, 64)
	}
	return report.Figure(x)
}

// sizes has the minimal sample uniques by their number of variables.
func (m *maker) sizes() []page.Block {
	x := m.scored()
	if x == nil || x.MSUs == 0 || m.hidden["msus"] || m.hidden[schemas.LimitSampleUniques] {
		return nil
	}
	t := &page.Table{Caption: "Minimal sample uniques by the number of their variables",
		Head: []page.Cell{page.Left("variables"), page.Right("sets"), page.Right("share"), page.Left("")}}
	for _, g := range m.bands(x.MSUsBySize) {
		n := int64(0)
		for _, c := range x.MSUsBySize[g[0] : g[1]+1] {
			n += c
		}
		name := report.Count(int64(g[0] + 1))
		if g[1] > g[0] {
			name += fmt.Sprintf(" to %d", g[1]+1)
		}
		t.Rows = append(t.Rows, []page.Cell{page.Left(name), page.Right(report.Count(n)), page.Right(report.PartOf(n, x.MSUs)),
			page.Bar(float64(n) / float64(x.MSUs))})
	}
	text := "A minimal sample unique is a set of variables that singles a record out, and no part of it does. The fewer variables, the less " +
		"somebody must know, and the likelier the record is unique in the population too."
	if x.Threshold > 1 {
		text = fmt.Sprintf(
			"A set of variables is risky here where at most %d records agree on it, and minimal where no part of it is. The fewer variables, the less "+
				"somebody must know.",
			x.Threshold,
		)
	}
	blocks := []page.Block{page.Text("%s", text), {Table: t}}
	if !x.Complete {
		blocks = append(blocks, page.Note("The search went up to %s; larger sets are not counted.", report.Plural(int64(x.MaxSize), "variable", "variables")))
	}
	return blocks
}
