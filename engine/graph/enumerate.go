package graph

// EachDecomposable goes through all decomposable graphs of n labelled vertices, each once and always in the same order: 1, 1, 2, 8,
// 61, 822, 18154 and 617675 for 0 to 7 vertices, more than which it refuses with a panic. It stops when yield says false. The graph
// changes between calls: keep a Clone.
//
// They grow by one vertex at a time: an induced subgraph of a decomposable graph is decomposable, and a further vertex with the
// neighbours A leaves it so exactly if the neighbours within A of each connected part of the rest are complete.
func EachDecomposable(n int, yield func(*Graph) bool) {
	if n < 0 || n > 7 {
		panic("graph: only the decomposable graphs of 0 to 7 vertices can be listed")
	}
	g := New(n)
	g.grow(0, yield)
}

// grow joins vertex v to those before it in all allowed ways and goes on.
func (g *Graph) grow(v int, yield func(*Graph) bool) bool {
	if v == g.n {
		return yield(g)
	}
	for a := Set(0); a <= First(v); a++ {
		if !g.takes(a, First(v)) {
			continue
		}
		for rest := a; rest != 0; rest &= rest - 1 {
			g.Connect(v, rest.Min())
		}
		more := g.grow(v+1, yield)
		for rest := a; rest != 0; rest &= rest - 1 {
			g.Disconnect(v, rest.Min())
		}
		if !more {
			return false
		}
	}
	return true
}

// takes tells whether the decomposable graph on the vertices all stays one with another vertex that has the neighbours a.
func (g *Graph) takes(a, all Set) bool {
	for rest := all &^ a; rest != 0; {
		var part, around Set
		for frontier := rest & -rest; frontier != 0; {
			part |= frontier
			for ; frontier != 0; frontier &= frontier - 1 {
				around |= g.adj[frontier.Min()]
			}
			frontier = around & all &^ a &^ part
		}
		if !g.IsComplete(around & a) {
			return false
		}
		rest &^= part
	}
	return true
}
