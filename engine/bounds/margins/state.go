package margins

import "microrisk/engine/graph"

// A state is a decomposable graph over some of the variables.
type state struct {
	present graph.Set
	adj     [MostVariables]graph.Set
}

func (g *state) connect(v, w int) {
	g.adj[v], g.adj[w] = g.adj[v].With(w), g.adj[w].With(v)
}

func (g *state) complete(s graph.Set) bool {
	for rest := s; rest != 0; {
		v := rest.Min()
		if rest &= rest - 1; rest&^g.adj[v] != 0 {
			return false
		}
	}
	return true
}

// canAdd tells whether the graph stays decomposable with an edge between two vertices that have none, and gives their neighbours in common,
// which then separate them, and are complete.
func (g *state) canAdd(v, w int) (common graph.Set, ok bool) {
	common = g.adj[v] & g.adj[w]
	reached := common.With(v)
	for next := g.adj[v] &^ reached; next != 0; {
		if next.Has(w) {
			return 0, false
		}
		reached |= next
		found := graph.Set(0)
		for ; next != 0; next &= next - 1 {
			found |= g.adj[next.Min()]
		}
		next = found &^ reached
	}
	return common, true
}

// An order eliminates the vertices one by one, each with its neighbours that are left, which are complete.
type order struct {
	size   int
	vertex [MostVariables]int
	with   [MostVariables]graph.Set // the vertex and these neighbours
}

func (g *state) elimination() (e order) {
	for left := g.present; left != 0; {
		found := -1
		for rest := left; rest != 0; rest &= rest - 1 {
			if v := rest.Min(); g.complete(g.adj[v] & left) {
				found = v
				break
			}
		}
		e.vertex[e.size], e.with[e.size] = found, (g.adj[found] & left).With(found)
		e.size++
		left = left.Without(found)
	}
	return e
}

// cliques are the maximal ones; of no vertex the empty one.
func (e *order) cliques() []graph.Set {
	if e.size == 0 {
		return []graph.Set{0}
	}
	var list []graph.Set
	for k := range e.size {
		if e.maximal(k) {
			list = append(list, e.with[k])
		}
	}
	return list
}

// maximal tells whether what a vertex is eliminated with is within nothing that another one is.
func (e *order) maximal(k int) bool {
	for j := range k {
		if e.with[j].Contains(e.with[k]) {
			return false
		}
	}
	return true
}

// wide tells whether the bounds of all small cells are wide enough, where each margin is safe by itself: lower bounds can be above 0 only
// where all variables are in margins.
func (p *problem) wide(g *state) bool {
	if g.present != graph.First(len(p.active)) {
		return true
	}
	if p.loose && len(p.active) > 0 {
		return true
	}
	e := g.elimination()
	for k := range e.size {
		if len(p.tight[e.with[k]]) == 0 || !e.maximal(k) {
			continue
		}
		for _, j := range p.tight[e.with[k]] {
			if !p.wideAt(&e, j) {
				return false
			}
		}
	}
	return e.size > 0 || p.small == 0 // a table of one cell is known from its total
}

// wideAt has the bounds of a cell: the least of the cliques' counts, and the sum of these less the separators'.
func (p *problem) wideAt(e *order, j int32) bool {
	high := p.people
	low := p.people
	for k := range e.size {
		x := p.count[e.with[k]][j]
		high = min(high, x)
		low += x - p.count[e.with[k].Without(e.vertex[k])][j]
	}
	return high-max(0, low) >= p.rule.Width
}

// eachMove goes through the safe graphs with one variable or one edge more; it stops when yield says false.
func (p *problem) eachMove(g *state, yield func(next *state) bool) {
	n := len(p.active)
	for v := range n {
		if !g.present.Has(v) {
			if !p.safe[graph.Of(v)] {
				continue
			}
			next := *g
			next.present = g.present.With(v)
			if p.wide(&next) && !yield(&next) {
				return
			}
			continue
		}
		for rest := g.present &^ graph.First(v+1) &^ g.adj[v]; rest != 0; rest &= rest - 1 {
			w := rest.Min()
			if !p.safe[graph.Of(v, w)] {
				continue
			}
			common, ok := g.canAdd(v, w)
			if !ok || !p.safe[common.With(v).With(w)] {
				continue
			}
			next := *g
			next.connect(v, w)
			if p.wide(&next) && !yield(&next) {
				return
			}
		}
	}
}
