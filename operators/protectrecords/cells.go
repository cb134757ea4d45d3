package protectrecords

import (
	"context"
	"errors"
	"slices"

	"microrisk/engine/recoding"
	"microrisk/engine/recoding/local"
)

// A cutter suppresses cells of recoded files.
type cutter struct {
	p    *Search
	ctx  context.Context
	loss recoding.Cells
	rule recoding.Rule
}

// cutter is that of the target; its loss is one that cells have.
func (p *Search) cutter(ctx context.Context, rule recoding.Rule) *cutter {
	loss, _ := p.loss.(recoding.Cells)
	return &cutter{p: p, ctx: ctx, loss: loss, rule: rule}
}

// A cut release has the classes of a node, of its variables that are not left out, and what is suppressed of them.
type cut struct {
	variables []int // of the key
	groups    [][]uint32
	problem   *local.Problem
	result    *local.Result
}

// problem is that of a node.
func (c *cutter) problem(n recoding.Node) (*cut, error) {
	l := c.p.Lattice
	o, err := l.Outcome(n, nil)
	if err != nil {
		return nil, err
	}
	out := &cut{problem: &local.Problem{K: c.p.Target.K}}
	for v, level := range n {
		h := c.p.Levels[v]
		if _, left := h.Recode(int(level)); left {
			continue
		}
		out.variables = append(out.variables, v)
		config := c.p.Hierarchies.Of(h.Variable)
		x := &l.Variables[v]
		out.problem.Weights = append(out.problem.Weights, x.Weight*(1-c.loss.Variable(l, v, level)))
		out.problem.Fixed = append(out.problem.Fixed, config != nil && config.Fixed)
		most := int64(local.Unlimited)
		if config != nil && config.Cells != nil {
			most = int64(*config.Cells)
		}
		out.problem.Caps = append(out.problem.Caps, most)
		missing := int64(local.NoCode)
		for g := range h.Levels[level].Names {
			if h.Missing(int(level), uint32(g)) {
				missing = int64(g)
			}
		}
		out.problem.Missing = append(out.problem.Missing, missing)
	}
	out.problem.Codes = make([][]uint32, len(out.variables))
	err = l.Each(o, func(groups []uint32, f int64) {
		for k, v := range out.variables {
			out.problem.Codes[k] = append(out.problem.Codes[k], groups[v])
		}
		out.groups = append(out.groups, append([]uint32(nil), groups...))
		out.problem.Counts = append(out.problem.Counts, f)
	})
	return out, err
}

// solve suppresses cells by the meaning of safe that was asked for; quick is with the least effort, and without bounds.
func (c *cutter) solve(x *cut, quick bool) error {
	o := local.Options{Workers: c.p.Workers, NoBounds: quick}
	if quick {
		o.Effort = -1
	}
	var err error
	switch {
	case c.p.Fit == FitOwn:
		x.result, err = local.Own(c.ctx, x.problem, o)
	case c.p.Fit == FitWildcard:
		x.problem.Missing = nil // as a category
		if !slices.ContainsFunc(x.problem.Caps, func(n int64) bool { return n != local.Unlimited }) {
			x.problem.Caps = nil
		}
		x.result, err = local.Wildcard(c.ctx, x.problem, len(x.variables), o)
	default:
		x.result, err = local.Class(c.ctx, x.problem, o)
	}
	return err
}

// kept are the records of each group whose cell is shown, by variable.
func (c *cutter) kept(n recoding.Node, x *cut) [][]int64 {
	l := c.p.Lattice
	kept := make([][]int64, len(n))
	for v, level := range n {
		kept[v] = l.Sums(v, level)
	}
	for _, part := range x.result.Parts {
		for k, v := range x.variables {
			if part.Whole || part.Cut.Has(k) {
				kept[v][x.groups[part.Class][v]] -= part.Records
			}
		}
	}
	return kept
}

// allowed tells whether no more cells are suppressed than may be.
func (c *cutter) allowed(x *cut) bool {
	cells := x.result.Cells + x.result.Suppressed*int64(len(x.variables))
	return float64(cells) <= *c.p.Share*float64(c.p.Lattice.Records)*float64(len(c.p.Levels))
}

// least is recoding.Options.Least: what is lost by recoding, and by hiding the cells of records that are not safe, one or two of each at least. Cells
// that are missing may be joined by others at no cost to them; where hidden cells count as any value, few may do for all.
func (c *cutter) least(o *recoding.Outcome) (float64, error) {
	l := c.p.Lattice
	bound := c.loss.Bound(l, o.Node)[0]
	if c.p.Fit == FitWildcard {
		return bound, nil
	}
	p := recoding.Prices{Of: make([][]float64, len(o.Node)), Fixed: make([]bool, len(o.Node))}
	total := 0.0
	for v, level := range o.Node {
		x, h := &l.Variables[v], c.p.Levels[v]
		total += x.Weight
		if _, left := h.Recode(int(level)); left {
			continue
		}
		config := c.p.Hierarchies.Of(h.Variable)
		p.Fixed[v] = config != nil && config.Fixed
		p.Of[v] = c.loss.Kept(l, v, level)
		for g := range p.Of[v] {
			if p.Of[v][g] *= x.Weight; h.Missing(int(level), uint32(g)) {
				p.Of[v][g] = 0
			}
		}
	}
	hidden, err := l.LeastHidden(o.Node, c.p.Target.K, p)
	if total > 0 {
		bound += hidden / total / float64(l.Records)
	}
	return bound, err
}

// judge is recoding.Options.Judge.
func (c *cutter) judge(o *recoding.Outcome, _ []float64) ([]float64, bool, error) {
	l := c.p.Lattice
	bound := c.loss.Bound(l, o.Node)[0]
	x, err := c.problem(o.Node)
	if err != nil {
		return nil, false, err
	}
	if len(x.variables) == 0 {
		return c.loss.Bound(l, o.Node), o.Suppressed == 0, nil // all are of one class
	}
	if err := c.solve(x, true); errors.Is(err, local.ErrTooFew) {
		return []float64{bound}, false, nil
	} else if err != nil {
		return nil, false, err
	}
	if x.result.Interrupted || !c.allowed(x) {
		return []float64{bound}, false, nil
	}
	if c.p.Fit == FitWildcard && slices.Contains(x.problem.Fixed, true) { // rows that nothing can be joined with are left as they are
		counted, err := local.Recount(c.ctx, x.problem, x.result.Parts)
		if err != nil || counted.Wildcard > 0 {
			return []float64{bound}, false, err
		}
	}
	return c.loss.Suppressed(l, o.Node, c.kept(o.Node, x)), true, nil
}

// finish suppresses cells of a release with more effort, and counts anew what is safe then.
func (c *cutter) finish(r *Release) (*cut, error) {
	x, err := c.problem(r.Node)
	if err != nil || len(x.variables) == 0 {
		return x, err
	}
	if err := c.solve(x, false); err != nil {
		return nil, err
	}
	if !c.allowed(x) || c.loss.Suppressed(c.p.Lattice, r.Node, c.kept(r.Node, x))[0] > r.Loss { // what costs less may have more cells
		if err := c.solve(x, true); err != nil {
			return nil, err
		}
	}
	r.Suppressed = x.result.Suppressed
	r.Cells = map[string]int64{}
	for k, v := range x.variables {
		if n := x.result.CellsOf[k]; n > 0 {
			r.Cells[c.p.Levels[v].Variable] = n
		}
	}
	r.Loss = c.loss.Suppressed(c.p.Lattice, r.Node, c.kept(r.Node, x))[0]
	r.Changed = x.result.Changed
	if x.result.Bound > 0 {
		bound := x.result.Gap()
		r.CellsGap = &bound
	}
	counted, err := local.Recount(c.ctx, x.problem, x.result.Parts)
	if err != nil {
		return nil, err
	}
	r.Recounted = &Recounted{Rows: counted.Released, NotClass: counted.Class, NotOwn: counted.Own, NotWildcard: counted.Wildcard, Persons: counted.Persons,
		Alone: counted.Alone}
	return x, nil
}

// table is what the operator suppress reads.
func (c *cutter) table(best *Release, x *cut) *Hidden {
	t := c.p.newHidden(best)
	taken := map[int]int64{}
	for _, part := range x.result.Parts {
		taken[part.Class] += part.Records
	}
	for _, part := range x.result.Parts {
		hide := make([]bool, len(c.p.Levels))
		for k, v := range x.variables {
			hide[v] = part.Whole || part.Cut.Has(k)
		}
		records := int64(-1)
		if many := x.problem.Counts[part.Class]; taken[part.Class] < many || part.Records < many {
			records = part.Records
		}
		t.add(c.p, best, x.groups[part.Class], records, hide)
	}
	if len(t.records) == 0 {
		return nil
	}
	return t
}
