package graph

import "slices"

// maxCardinality visits the vertices by maximum cardinality search: each time one with the most visited neighbours, the smallest
// of those. before[i] are the neighbours of order[i] that were visited before it.
func (g *Graph) maxCardinality() (order []int, before []Set) {
	var visited Set
	for range g.n {
		best, most := -1, -1
		for v := range (First(g.n) &^ visited).Vertices() {
			if n := (g.adj[v] & visited).Len(); n > most {
				best, most = v, n
			}
		}
		order = append(order, best)
		before = append(before, g.adj[best]&visited)
		visited = visited.With(best)
	}
	return order, before
}

// Ordering is a perfect elimination ordering: when the vertices are eliminated in turn, the neighbours that are left are complete.
// ok is false, and the order is not perfect, when the graph is not decomposable (Tarjan & Yannakakis 1984).
func (g *Graph) Ordering() (order []int, ok bool) {
	order, before := g.maxCardinality()
	ok = true
	for _, b := range before {
		ok = ok && g.IsComplete(b)
	}
	slices.Reverse(order)
	return order, ok
}

// Decomposable tells whether every cycle of four or more vertices has a chord.
func (g *Graph) Decomposable() bool {
	_, ok := g.Ordering()
	return ok
}

// A Tree is a junction tree: the cliques that contain any two of its cliques' common vertices form a connected part of it. It is
// rooted, parents come before children. Components of the graph are joined by empty separators.
type Tree struct {
	Cliques    []Set // maximal cliques
	Parent     []int // by clique, -1 for the first, which is the root
	Separators []Set // what a clique has in common with its parent; empty for the root
}

// JunctionTree is a junction tree of a decomposable graph, always the same for the same graph (Blair & Peyton 1993). A graph
// without vertices has a tree without cliques.
func (g *Graph) JunctionTree() Tree {
	var t Tree
	order, before := g.maxCardinality()
	home := make([]int, g.n) // the clique that a vertex came into first
	for i, v := range order {
		b := before[i]
		last := len(t.Cliques) - 1
		if last >= 0 && b == t.Cliques[last] {
			t.Cliques[last] = b.With(v)
			home[v] = last
			continue
		}
		parent := -1
		if last >= 0 {
			parent = 0
		}
		for j := i - 1; j >= 0; j-- { // the vertex of b that was visited last
			if b.Has(order[j]) {
				parent = home[order[j]]
				break
			}
		}
		home[v] = len(t.Cliques)
		t.Cliques = append(t.Cliques, b.With(v))
		t.Parent = append(t.Parent, parent)
		t.Separators = append(t.Separators, b)
	}
	return t
}

// Cliques are the maximal cliques of a decomposable graph, ascending.
func (g *Graph) Cliques() []Set {
	c := g.JunctionTree().Cliques
	slices.Sort(c)
	return c
}

// Separators are the separators of any junction tree of a decomposable graph, ascending: one less than there are cliques, with
// their multiplicities, empty ones between components included.
func (g *Graph) Separators() []Set {
	s := g.JunctionTree().Separators
	if len(s) > 0 {
		s = s[1:]
	}
	slices.Sort(s)
	return s
}
