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
	reached := s.With(v)
	next := g.adj[v] &^ reached
	for next != 0 {
		if next.Has(w) {
			return false
		}
		reached |= next
		var found Set
		for ; next != 0; next &= next - 1 {
			found |= g.adj[next.Min()]
		}
		next = found &^ reached
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
		if rest &= rest - 1; rest&^g.adj[v] != 0 {
			return false
		}
	}
	return true
}
