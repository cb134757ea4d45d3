package graph

// CanAdd tells whether the edge between v and w is absent and the graph stays decomposable with it: if they are in different
// components, or their cliques can be made neighbours. Let a be the last clique with v on the path of the tree to the cliques with
// w, b the first with w; then it takes a separator on the path between them that has no more than they have in common.
func (f *Forest) CanAdd(v, w int) bool {
	if v == w || f.Adjacent(v, w) {
		return false
	}
	_, _, ok := f.branch(v, w)
	return ok
}

// branch finds a vertex, one of v and w, and the top of a part of its tree that does not have the other, so that what joins this
// part to the rest is all that v and w have in common.
func (f *Forest) branch(v, w int) (vertex, top int, ok bool) {
	var above Set
	last := v
	for u := v; u >= 0; u = f.parent[u] {
		above, last = above.With(u), u
	}
	if above.Has(w) {
		top, ok = f.cut(v, w)
		return v, top, ok
	}
	meet := w
	for meet >= 0 && !above.Has(meet) {
		meet = f.parent[meet]
	}
	switch meet {
	case -1:
		return v, last, true
	case v:
		top, ok = f.cut(w, v)
		return w, top, ok
	}
	common := f.clique[v] & f.clique[w]
	for _, u := range [2]int{v, w} {
		for x := u; x != meet; x = f.parent[x] {
			if f.clique[x].Without(x) == common {
				return u, x, true
			}
		}
	}
	return 0, 0, false
}

// cut is branch for a w above v.
func (f *Forest) cut(v, w int) (top int, ok bool) {
	b := v
	for !f.clique[b].Has(w) {
		b = f.parent[b]
	}
	common := f.clique[v] & f.clique[b]
	for x := v; x != b; x = f.parent[x] {
		if f.clique[x].Without(x) == common {
			return x, true
		}
	}
	return 0, false
}

// Add adds the edge between v and w if CanAdd allows it, and tells whether it did. Fill-in becomes part of the graph.
//
// Where the clique of v can be brought to the top of its part of the tree, it has v and what is common to v and w; then w is put
// into it, and it hangs under the first of these.
func (f *Forest) Add(v, w int) bool {
	if v == w || f.Adjacent(v, w) {
		return false
	}
	u, top, ok := f.branch(v, w)
	if !ok {
		return false
	}
	f.accept()
	f.raise(u, top)
	w = v + w - u
	p := f.parent[u]
	f.clique[u] = f.clique[u].With(w)
	if p < 0 || f.clique[w].Has(p) {
		f.reparent(u, w)
	}
	f.given[u], f.given[w] = f.given[u].With(w), f.given[w].With(u)
	return true
}

// reparent hangs the tree of v under p, or makes it one of its own if p is -1.
func (f *Forest) reparent(v, p int) {
	if old := f.parent[v]; old >= 0 {
		f.children[old] = f.children[old].Without(v)
	}
	f.parent[v] = p
	if p >= 0 {
		f.children[p] = f.children[p].With(v)
	}
}

// accept makes fill-in part of the graph.
func (f *Forest) accept() {
	for v := range f.n {
		if later := f.clique[v].Without(v); later&^f.given[v] != 0 {
			f.given[v] |= later
			for ; later != 0; later &= later - 1 {
				f.given[later.Min()] = f.given[later.Min()].With(v)
			}
		}
	}
}

// raise brings v to the place of top, above it, by neutral rotations. The cliques between must have all of top's but top itself.
//
// Going down from top, chain has vertices that are all joined to each other, from the lowest to the highest. Before the next one is
// put below them, those that it is not joined to are brought below the others, where they leave the path to v.
func (f *Forest) raise(v, top int) {
	var path [MaxVertices]int
	n := 0
	for u := v; u != top; u = f.parent[u] {
		path[n] = u
		n++
	}
	var chain [MaxVertices]int // in reverse: the highest first
	chain[0] = top
	size := 1
	for n--; n >= 0; n-- {
		a := path[n]
		kept := 0
		for i := range size {
			t := chain[i]
			if !f.clique[a].Has(t) {
				continue
			}
			for range i - kept {
				f.rotate(t)
			}
			copy(chain[kept+1:i+1], chain[kept:i])
			chain[kept] = t
			kept++
		}
		chain[kept] = a
		size = kept + 1
	}
	for range size - 1 {
		f.rotate(v)
	}
}

// CanRemove tells whether the edge between v and w is present and the graph stays decomposable without it: if just one maximal
// clique has it. The cliques with an edge are the part of a tree below one, and each must be the one above with one vertex more.
func (f *Forest) CanRemove(v, w int) bool {
	if !f.Adjacent(v, w) {
		return false
	}
	if f.clique[w].Has(v) {
		v, w = w, v
	}
	edge := Of(v, w)
	for at := v; ; {
		next := -1
		for rest := f.children[at]; rest != 0; rest &= rest - 1 {
			u := rest.Min()
			if !f.clique[u].Contains(edge) {
				continue
			}
			if next >= 0 || f.clique[u] != f.clique[at].With(u) {
				return false
			}
			next = u
		}
		if next < 0 {
			return true
		}
		at = next
	}
}

// Remove removes the edge between v and w if CanRemove allows it, and tells whether it did. Fill-in becomes part of the graph.
//
// The clique of the one eliminated first is made maximal by neutral rotations; then the other is taken out of it, and it hangs
// under the first of what is left.
func (f *Forest) Remove(v, w int) bool {
	if !f.CanRemove(v, w) {
		return false
	}
	f.accept()
	if f.clique[w].Has(v) {
		v, w = w, v
	}
	for u := f.childWith(v, w); u >= 0; u = f.childWith(v, w) {
		f.rotate(u)
	}
	f.clique[v] = f.clique[v].Without(w)
	p := f.parent[v]
	if p == w {
		for p >= 0 && !f.clique[v].Has(p) {
			p = f.parent[p]
		}
		f.reparent(v, p)
	}
	f.given[v], f.given[w] = f.given[v].Without(w), f.given[w].Without(v)
	return true
}

// childWith is the first child of v whose clique has w, -1 if none has.
func (f *Forest) childWith(v, w int) int {
	for rest := f.children[v]; rest != 0; rest &= rest - 1 {
		if u := rest.Min(); f.clique[u].Has(w) {
			return u
		}
	}
	return -1
}
