package bounds

import (
	"context"
	"microrisk/engine/graph"

	"microrisk/engine/tabular"
)

// Frechet computes bounds by closed formulas (Dobra & Fienberg 2000) where the margins, with categories as they are, are the cliques
// of a decomposable graph of the variables that they have; ok is false for other releases, and for those that Check refuses, or where the context ends. Of
// exact margins, those within others may be there too, and bounds are sharp; of margins known within bounds they are valid.
//
// The upper bound of a cell is the least upper bound among the margins' cells that contain it; the lower bound is the sum of their
// lower bounds less the upper bounds of the separators, at least 0. Where variables are in no margin, lower bounds are 0.
func Frechet(ctx context.Context, r *Release) (low, high []int64, ok bool) {
	if r.Check(ctx) != nil {
		return nil, nil, false
	}
	return frechet(r)
}

func frechet(r *Release) (low, high []int64, ok bool) {
	cliques, g, ok := r.cliques()
	if !ok {
		return nil, nil, false
	}
	size := r.Cells()
	low, high = make([]int64, size), make([]int64, size)
	for c := range high {
		high[c] = infinite
	}
	for _, i := range cliques { // sums: in any order
		m := &r.Margins[i]
		for c, to := range r.projection(m) {
			low[c] += m.Low[to]
			high[c] = min(high[c], m.upper(int(to)))
		}
	}
	skip, free := r.unused(cliques)
	for _, s := range g.Separators() {
		if s == 0 && skip > 0 {
			skip--
			continue
		}
		upper, of := r.separator(s, cliques)
		for c, to := range of {
			low[c] = max(-infinite, low[c]-upper[to])
		}
	}
	for c := range low {
		if low[c] = max(0, low[c]); free {
			low[c] = 0
		}
		if high[c] >= infinite {
			high[c] = NoLimit
		}
	}
	return low, high, true
}

// cliques are the margins by their variables, and their graph, if the release has the form that the formulas take.
func (r *Release) cliques() (map[graph.Set]int, *graph.Graph, bool) {
	if len(r.Levels) > graph.MaxVertices {
		return nil, nil, false
	}
	exact := true
	sets := make([]graph.Set, len(r.Margins))
	for i := range r.Margins {
		m := &r.Margins[i]
		if m.grouped() {
			return nil, nil, false
		}
		exact = exact && m.exact()
		sets[i] = graph.Of(m.Variables...)
	}
	cliques := map[graph.Set]int{}
	for i, s := range sets {
		within := false
		for j, t := range sets {
			within = within || t.Contains(s) && (s != t || j < i)
		}
		switch {
		case !within:
			cliques[s] = i
		case !exact:
			return nil, nil, false
		}
	}
	g := interactions(len(r.Levels), sets)
	if !g.Decomposable() {
		return nil, nil, false
	}
	found := 0
	for _, s := range g.Cliques() {
		if _, there := cliques[s]; there {
			found++
		}
	}
	_, total := cliques[0] // the grand total alone: no clique of any graph with vertices
	return cliques, g, found == len(cliques) || total
}

// interactions is the graph that joins the variables of each set.
func interactions(variables int, sets []graph.Set) *graph.Graph {
	g := graph.New(variables)
	for _, s := range sets {
		for v := range s.Vertices() {
			for w := range s.Vertices() {
				if v < w {
					g.Connect(v, w)
				}
			}
		}
	}
	return g
}

// unused counts the empty separators that come from variables in no margin, each a component of its own, and tells whether any of
// these variables has several categories.
func (r *Release) unused(cliques map[graph.Set]int) (separators int, free bool) {
	used := graph.Set(0)
	for s := range cliques {
		used |= s
	}
	for v, l := range r.Levels {
		if !used.Has(v) {
			separators++
			free = free || l > 1
		}
	}
	if used == 0 {
		separators-- // the grand total alone: one of them is the first component
	}
	return separators, free
}

// separator has the least upper bounds of a separator's cells by the cliques that contain it, and the one that each base cell is in.
func (r *Release) separator(s graph.Set, cliques map[graph.Set]int) (upper []int64, of []int32) {
	part := Margin{}
	for v := range s.Vertices() {
		part.Variables = append(part.Variables, v)
	}
	of = r.projection(&part)
	size := 1
	for _, l := range r.shape(&part) {
		size *= l
	}
	upper = make([]int64, size)
	for i := range upper {
		upper[i] = infinite
	}
	for set, i := range cliques {
		if !set.Contains(s) {
			continue
		}
		m := &r.Margins[i]
		_, high := r.sums(m, part.Variables)
		for j, h := range high {
			upper[j] = min(upper[j], h)
		}
	}
	return upper, of
}

// sums adds up a margin over all but some of its variables, whose categories are as they are.
func (r *Release) sums(m *Margin, keep []int) (low, high []int64) {
	shape := r.shape(m)
	kept := tabular.Shape(r.Levels).Of(keep)
	size := kept.Cells()
	step := make([]int, len(r.Levels))
	for k, s := range kept.Steps() {
		step[keep[k]] = s
	}
	low, high = make([]int64, size), make([]int64, size)
	for cell := range m.Low {
		to := 0
		for k, at := range coordinates(cell, shape) {
			to += at * step[m.Variables[k]]
		}
		low[to] += m.Low[cell]
		high[to] = min(infinite, high[to]+m.upper(cell))
	}
	return low, high
}
