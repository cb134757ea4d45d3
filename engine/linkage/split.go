package linkage

import (
	"context"
	"errors"
	"slices"

	"microrisk/engine/program"
)

// A split has the cells of each sample and table by class of the overlap.
type split struct {
	problem *Problem
	rows    []map[key][]int // by sample, then table
}

func newSplit(p *Problem) *split {
	s := &split{problem: p}
	take := func(c *Counts) {
		rows := map[key][]int{}
		for i, k := range c.keys(p.Overlap) {
			rows[k] = append(rows[k], i)
		}
		s.rows = append(s.rows, rows)
	}
	for i := range p.Samples {
		take(&p.Samples[i])
	}
	for i := range p.Tables {
		take(&p.Tables[i].Counts)
	}
	return s
}

// of is the problem within a class: its cells only.
func (s *split) of(class key) *Problem {
	p := s.problem
	part := func(c *Counts, rows []int) Counts {
		out := Counts{}
		for j, v := range c.Variables {
			if slices.Contains(p.Overlap, v) {
				continue
			}
			out.Variables = append(out.Variables, v)
			codes := make([]uint32, len(rows))
			for i, r := range rows {
				codes[i] = c.Codes[j][r]
			}
			out.Codes = append(out.Codes, codes)
		}
		for _, r := range rows {
			out.Count = append(out.Count, c.Count[r])
		}
		return out
	}
	q := &Problem{People: p.People, Levels: p.Levels, Open: p.Open}
	for i := range p.Samples {
		q.Samples = append(q.Samples, part(&p.Samples[i], s.rows[i][class]))
	}
	for i, t := range p.Tables {
		t.Counts = part(&p.Tables[i].Counts, s.rows[len(p.Samples)+i][class])
		q.Tables = append(q.Tables, t)
	}
	return q
}

// spanOf is the least and the most people in a class, given what samples and tables have of it.
func (p *Problem) spanOf(ctx context.Context, layout *cells, part *Problem) (span, error) {
	s := span{0, unlimited}
	simple := true // sums of the cells of one table, and sizes, need no program
	for i := range part.Samples {
		s.low = max(s.low, part.Samples[i].records())
		// A sample with a variable of the tables puts its records into some of their cells.
		simple = simple && !slices.ContainsFunc(part.Samples[i].Variables, func(v int) bool { return slices.Contains(layout.variables, v) })
	}
	for i := range part.Tables {
		t := &part.Tables[i]
		low, high := t.records(), int64(unlimited)
		if !t.Sample {
			low, high = t.total(p)
		}
		s.low, s.high = max(s.low, low), min(s.high, high)
		simple = simple && (i == 0 || len(t.Variables) == 0)
	}
	if s.low > s.high {
		return s, errors.New("the tables and samples contradict each other")
	}
	if simple {
		return s, nil
	}
	return solve(ctx, part.model(layout), layout.sums(nil)[""], new(*program.Basis))
}

// total bounds the sum of all cells of a table.
func (t *Table) total(p *Problem) (low, high int64) {
	size := int64(1)
	for _, v := range t.Variables {
		size *= int64(p.Levels[v])
	}
	for _, n := range t.Count {
		l, h, _ := t.Kernel.Bounds(n)
		low, high = add(low, l), add(high, h)
	}
	l, h, _ := t.Kernel.Bounds(0)
	for range size - int64(len(t.Count)) {
		low, high = add(low, l), add(high, h)
	}
	if h > 0 && slices.ContainsFunc(t.Variables, p.open) {
		high = unlimited
	}
	return low, high
}
