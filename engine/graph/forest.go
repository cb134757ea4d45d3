package graph

// A Forest is a dynamic junction forest (Smith 2011, chapter 6): a decomposable graph as the cliques of an elimination ordering. Each
// vertex v has the clique of itself and its neighbours that are eliminated later, fill-in included; the parent of v is the first of
// these. So there is a rooted tree for each connected component, an edge of a tree is one of the graph, the vertices of a clique
// are on one path to the root, and the cliques that contain an edge are a rooted part of a tree. All orderings that eliminate
// children before their parents have the same forest.
//
// The forest changes by rotations, which swap a vertex with its parent in the ordering. A neutral rotation leaves the graph as it
// is; Add and Remove make neutral rotations until one clique is all that has to change.
type Forest struct {
	n        int
	given    [MaxVertices]Set // neighbours without fill-in
	clique   [MaxVertices]Set
	parent   [MaxVertices]int // -1 for roots
	children [MaxVertices]Set
}

// NewForest is the forest of a graph and an elimination ordering of its vertices; where the ordering is not a perfect one of g, the
// forest has g with its fill-in. It panics if order does not have each vertex once.
func NewForest(g *Graph, order []int) *Forest {
	f := &Forest{n: g.n, given: g.adj}
	var done, roots Set
	for _, v := range order {
		if v < 0 || v >= g.n || done.Has(v) {
			panic("graph: not an ordering of the vertices")
		}
		done = done.With(v)
		c := g.adj[v] &^ done
		for u := range roots.Vertices() {
			if f.clique[u].Has(v) {
				f.parent[u] = v
				f.children[v] = f.children[v].With(u)
				c |= f.clique[u] &^ done
			}
		}
		roots = (roots &^ f.children[v]).With(v)
		f.clique[v] = c.With(v)
		f.parent[v] = -1
	}
	if len(order) != g.n {
		panic("graph: not an ordering of the vertices")
	}
	return f
}

// Len is the number of vertices.
func (f *Forest) Len() int { return f.n }

// Clique is v and its neighbours that are eliminated after it.
func (f *Forest) Clique(v int) Set { return f.clique[v] }

// Parent is the first of the neighbours of v that are eliminated after it, -1 if there is none.
func (f *Forest) Parent(v int) int { return f.parent[v] }

// Children are the vertices whose parent is v.
func (f *Forest) Children(v int) Set { return f.children[v] }

// Root is the vertex of v's connected component that is eliminated last.
func (f *Forest) Root(v int) int {
	for f.parent[v] >= 0 {
		v = f.parent[v]
	}
	return v
}

// Adjacent tells whether there is an edge between v and w, fill-in included.
func (f *Forest) Adjacent(v, w int) bool {
	return v != w && (f.clique[v].Has(w) || f.clique[w].Has(v))
}

// Graph is the decomposable graph of the forest, fill-in included.
func (f *Forest) Graph() *Graph {
	g := New(f.n)
	for v := range f.n {
		for w := range f.clique[v].Without(v).Vertices() {
			g.Connect(v, w)
		}
	}
	return g
}

// Ordering is an elimination ordering of the forest.
func (f *Forest) Ordering() []int {
	order := make([]int, 0, f.n)
	for v := range f.n {
		if f.parent[v] < 0 {
			order = f.below(v, order)
		}
	}
	return order
}

func (f *Forest) below(v int, order []int) []int {
	for u := range f.children[v].Vertices() {
		order = f.below(u, order)
	}
	return append(order, v)
}

// Rotate swaps v with its parent w in the ordering: w becomes the child. Between them, these are the vertices eliminated later that
// are neighbours, by then, of v alone, U(v), of w alone, U(w), and of both:
//
//	before: clique(v) = {v, w} + U(v) + U(v,w)         clique(w) = {w} + U(v) + U(w) + U(v,w)
//	after:  clique(w) = {w, v} + U(w) + U(v,w)         clique(v) = {v} + U(v) + U(w) + U(v,w)
//
// In the first line w has fill-in to U(v), in the second v has to U(w). Children of v whose clique has w go to w. It panics if v
// is a root.
func (f *Forest) Rotate(v int) {
	w := f.parent[v]
	c := f.without(v, w).With(v).With(w)
	f.clique[v] = f.clique[w].Without(w).With(v)
	f.clique[w] = c
	f.hang(v, w)
}

// without are the neighbours of w, by the time of its elimination, if its child v were eliminated after it; v may be among them.
func (f *Forest) without(v, w int) Set {
	c := f.given[w]
	for u := range f.children[w].Without(v).Vertices() {
		c |= f.clique[u]
	}
	for u := range f.children[v].Vertices() {
		if f.clique[u].Has(w) {
			c |= f.clique[u]
		}
	}
	return c & f.clique[w]
}

// Neutral tells whether v has a parent that Rotate can swap it with and leave the graph, fill-in included, as it is: no edge is
// added, which takes a clique of v that is one larger than that of its parent, and no fill-in is lost.
func (f *Forest) Neutral(v int) bool {
	w := f.parent[v]
	return w >= 0 && f.clique[v] == f.clique[w].With(v) && f.without(v, w).With(w) == f.clique[w]
}

// rotate is Rotate where it is neutral and there is no fill-in: clique(v) = {v} + clique(w).
func (f *Forest) rotate(v int) {
	w := f.parent[v]
	f.clique[v], f.clique[w] = f.clique[w].Without(w).With(v), f.clique[v]
	f.hang(v, w)
}

// hang puts v into the place of its parent w, and w under v, their cliques being changed.
func (f *Forest) hang(v, w int) {
	p := f.parent[w]
	if p >= 0 {
		f.children[p] = f.children[p].Without(w).With(v)
	}
	f.parent[v], f.parent[w] = p, v
	var moved Set
	for rest := f.children[v]; rest != 0; rest &= rest - 1 {
		if u := rest.Min(); f.clique[u].Has(w) {
			moved = moved.With(u)
			f.parent[u] = w
		}
	}
	f.children[w] = f.children[w].Without(v) | moved
	f.children[v] = (f.children[v] &^ moved).With(w)
}
