package bounds

import (
	"context"
	"errors"
	"slices"

	"microrisk/engine/graph"
)

// A part is a set of variables of a release with the margins within it. It is irreducible, or falls into two parts at a separator that
// both have.
type part struct {
	r            *Release
	variables    graph.Set
	known        []piece // margins of separators within it
	inner, outer *part   // nil if irreducible
	separator    Margin
	exact        bool // all separators' counts are known
}

// A piece is a margin summed up over a separator.
type piece struct {
	origin int // the margin
	set    graph.Set
	Margin
}

// split divides a part as long as it can. A set of variables separates if it lies within a margin that has these as they are.
func (r *Release) split(w graph.Set, known []piece) *part {
	p := &part{r: r, variables: w, known: known, exact: true}
	if len(r.Levels) > graph.MaxVertices {
		return p
	}
	sets := make([]graph.Set, len(r.Margins))
	for i, m := range r.Margins {
		sets[i] = graph.Of(m.Variables...)
	}
	g := interactions(len(r.Levels), sets)
	for i, set := range sets {
		for left := w &^ set; left != 0; {
			inner := component(g, left)
			left &^= inner
			separator := graph.Set(0)
			for v := range inner.Vertices() {
				separator |= g.Neighbours(v) & set & w
			}
			if w == inner|separator || !r.addsUp(i, separator) {
				continue
			}
			margin := r.summed(i, separator)
			p.separator, p.exact = margin, margin.exact()
			all := append(slices.Clone(known), piece{i, separator, margin})
			p.inner, p.outer = r.split(inner|separator, all), r.split(w&^inner, all)
			p.exact = p.exact && p.inner.exact && p.outer.exact
			return p
		}
	}
	return p
}

// component is the part of a set that can be reached within it from its first vertex.
func component(g *graph.Graph, within graph.Set) graph.Set {
	reached := graph.Of(within.Min())
	for {
		more := reached
		for v := range reached.Vertices() {
			more |= g.Neighbours(v) & within
		}
		if more == reached {
			return reached
		}
		reached = more
	}
}

// addsUp tells whether the margin can be summed up over all but some variables, whose categories are as they are.
func (r *Release) addsUp(index int, keep graph.Set) bool {
	m := &r.Margins[index]
	for k, v := range m.Variables {
		if keep.Has(v) && m.groups(k) != nil {
			return false
		}
	}
	return r.covers(m)
}

func (r *Release) summed(index int, keep graph.Set) Margin {
	m := Margin{Name: r.title(index)}
	for v := range keep.Vertices() {
		m.Variables = append(m.Variables, v)
	}
	m.Low, m.High = r.sums(&r.Margins[index], m.Variables)
	for i, h := range m.High {
		if h >= infinite {
			m.High[i] = NoLimit
		}
	}
	return m
}

// release is a part as a release of its own; origin has the margins of the whole that its margins come from.
func (p *part) release() (sub *Release, origin []int) {
	sub = &Release{}
	number := make([]int, len(p.r.Levels))
	for v := range p.variables.Vertices() {
		number[v] = len(sub.Levels)
		sub.Levels, sub.Names = append(sub.Levels, p.r.Levels[v]), append(sub.Names, p.r.variable(v))
	}
	add := func(i int, m Margin) {
		m.Name = p.r.title(i)
		m.Variables = slices.Clone(m.Variables)
		for k, v := range m.Variables {
			m.Variables[k] = number[v]
		}
		sub.Margins, origin = append(sub.Margins, m), append(origin, i)
	}
	for i, m := range p.r.Margins {
		if p.variables.Contains(graph.Of(m.Variables...)) {
			add(i, m)
		}
	}
	for _, k := range p.known {
		if p.variables.Contains(k.set) {
			add(k.origin, k.Margin)
		}
	}
	return sub, origin
}

// bounds are those of the part's own table, its variables ascending.
func (p *part) bounds(ctx context.Context, o Options) (*Bounds, error) {
	if p.inner == nil {
		sub, origin := p.release()
		b, err := Of(ctx, sub, o)
		var none *InfeasibleError
		if errors.As(err, &none) && none.Margin >= 0 {
			return nil, p.located(none, origin)
		}
		return b, err
	}
	a, err := p.inner.bounds(ctx, o)
	if err != nil {
		return nil, err
	}
	b, err := p.outer.bounds(ctx, o)
	if err != nil {
		return nil, err
	}
	return p.combine(a, b), nil
}

// located names the margin of the whole release, and a cell of it.
func (p *part) located(e *InfeasibleError, origin []int) *InfeasibleError {
	variables := slices.Collect(p.variables.Vertices())
	out := &InfeasibleError{Margin: origin[e.Margin], Cell: e.Cell, text: e.text}
	for _, v := range e.Variables {
		out.Variables = append(out.Variables, variables[v])
	}
	return out
}

// combine bounds the table of two parts: a cell has no more than either of its parts, and at least what they have together beyond their
// separator.
func (p *part) combine(a, b *Bounds) *Bounds {
	frame := &Release{}
	number := make([]int, len(p.r.Levels))
	for v := range p.variables.Vertices() {
		number[v] = len(frame.Levels)
		frame.Levels = append(frame.Levels, p.r.Levels[v])
	}
	of := func(set graph.Set) []int32 {
		m := Margin{}
		for v := range set.Vertices() {
			m.Variables = append(m.Variables, number[v])
		}
		return frame.projection(&m)
	}
	inA, inB, inS := of(p.inner.variables), of(p.outer.variables), of(p.inner.variables&p.outer.variables)
	out := &Bounds{Low: make([]int64, len(inA)), High: make([]int64, len(inA)), Steps: a.Steps + b.Steps,
		Sharp: a.Sharp && b.Sharp, Final: a.Final && b.Final, Recodings: a.Recodings && b.Recodings, Method: MethodIrreducible}
	for c := range inA {
		out.High[c] = min(a.High[inA[c]], b.High[inB[c]])
		if s := p.separator.High[inS[c]]; s != NoLimit {
			out.Low[c] = max(0, a.Low[inA[c]]+b.Low[inB[c]]-s)
		}
	}
	if !out.Sharp {
		out.Incomplete = len(inA)
	}
	return out
}
