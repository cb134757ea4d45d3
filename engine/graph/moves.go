package graph

// CanAdd tells whether the edge between v and w is absent and a decomposable g stays decomposable with it: exactly if the common
// neighbours of v and w separate them (Giudici & Green 1999, theorem 2). It allocates nothing.
func (g *Graph) CanAdd(v, w int) bool {
	if v == w || g.adj[v].Has(w) {
		return false
	}
	return g.separates(g.adj[v]&g.adj[w], v, w)
}

// separates tells whether every path from v to w meets s.
func (g *Graph) separates(s Set, v, w int) bool {
	reached := Set(1) << v
	for frontier := reached; frontier != 0; {
		var next Set
		for u := range frontier.Vertices() {
			next |= g.adj[u]
		}
		frontier = next &^ s &^ reached
		reached |= frontier
		if reached.Has(w) {
			return false
		}
	}
	return true
}

// CanRemove tells whether the edge between v and w is present and a decomposable g stays decomposable without it: exactly if it
// lies in one maximal clique only, that is, if the common neighbours of v and w are complete (Frydenberg & Lauritzen 1989). It
// allocates nothing.
func (g *Graph) CanRemove(v, w int) bool {
	return v != w && g.adj[v].Has(w) && g.IsComplete(g.adj[v]&g.adj[w])
}

// IsComplete tells whether all vertices of s are joined to each other.
func (g *Graph) IsComplete(s Set) bool {
	for rest := s; rest != 0; {
		v := rest.Min()
		rest = rest.Without(v)
		if rest&^g.adj[v] != 0 {
			return false
		}
	}
	return true
}

// LegalAdditions lists the edges that CanAdd allows, smaller vertex first, in ascending order.
func (g *Graph) LegalAdditions() [][2]int { return g.pairs(g.CanAdd) }

// LegalDeletions lists the edges that CanRemove allows, smaller vertex first, in ascending order.
func (g *Graph) LegalDeletions() [][2]int { return g.pairs(g.CanRemove) }

func (g *Graph) pairs(allowed func(v, w int) bool) [][2]int {
	var list [][2]int
	for v := range g.n {
		for w := v + 1; w < g.n; w++ {
			if allowed(v, w) {
				list = append(list, [2]int{v, w})
			}
		}
	}
	return list
}
