package graph

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// eliminated is the forest of an ordering from the definition: vertex after vertex goes, and its neighbours are joined.
func eliminated(g *Graph, order []int) (clique []Set, parent []int) {
	g = g.Clone()
	clique, parent = make([]Set, g.n), make([]int, g.n)
	place := make([]int, g.n)
	for i, v := range order {
		place[v] = i
	}
	for _, v := range order {
		around := g.adj[v]
		clique[v], parent[v] = around.With(v), -1
		for u := range around.Vertices() {
			g.Disconnect(v, u)
			g.adj[u] |= around.Without(u)
			if parent[v] < 0 || place[u] < place[parent[v]] {
				parent[v] = u
			}
		}
	}
	return clique, parent
}

// checkForest compares a forest with the one that its own ordering makes of the graph from scratch.
func checkForest(t require.TestingT, f *Forest, g *Graph) {
	order := f.Ordering()
	require.Len(t, order, g.n)
	clique, parent := eliminated(g, order)
	require.Equal(t, clique, f.clique[:f.n])
	require.Equal(t, parent, f.parent[:f.n])
	require.Equal(t, g.adj, f.given)
	require.Equal(t, NewForest(g, order), f)
	for v := range f.n {
		for u := range f.children[v].Vertices() {
			require.Equal(t, v, f.parent[u])
		}
	}
}

func TestForestOfAllGraphsOfFiveVertices(t *testing.T) {
	EachDecomposable(5, func(g *Graph) bool {
		order, _ := g.Ordering()
		f := NewForest(g, order)
		require.True(t, g.Equal(f.Graph()))
		checkForest(t, f, g)
		for v := range 5 {
			for w := range 5 {
				require.Equal(t, g.CanAdd(v, w), f.CanAdd(v, w))
				require.Equal(t, g.CanRemove(v, w), f.CanRemove(v, w))
				if v == w {
					require.False(t, f.Add(v, w))
					require.False(t, f.Remove(v, w))
					continue
				}
				checkMoves(t, f, g, v, w)
			}
		}
		return true
	})
}

// checkMoves makes and judges both moves on copies.
func checkMoves(t require.TestingT, f *Forest, g *Graph, v, w int) {
	for _, add := range []bool{true, false} {
		moved, want := *f, g.Clone()
		if add {
			require.Equal(t, g.CanAdd(v, w), f.CanAdd(v, w))
			require.Equal(t, f.CanAdd(v, w), moved.Add(v, w))
		} else {
			require.Equal(t, g.CanRemove(v, w), f.CanRemove(v, w))
			require.Equal(t, f.CanRemove(v, w), moved.Remove(v, w))
		}
		if add && g.CanAdd(v, w) {
			want.Connect(v, w)
		} else if !add && g.CanRemove(v, w) {
			want.Disconnect(v, w)
		} else {
			require.Equal(t, *f, moved)
		}
		require.True(t, want.Equal(moved.Graph()))
		checkForest(t, &moved, want)
	}
}

func TestForestOfAllGraphsOfSixVertices(t *testing.T) {
	if testing.Short() {
		t.Skip()
	}
	rng := rand.New(rand.NewPCG(1, 5))
	EachDecomposable(6, func(g *Graph) bool {
		order, _ := g.Ordering()
		f := NewForest(g, order)
		for range 5 { // another ordering of the same graph
			if v := rng.IntN(6); f.Neutral(v) {
				f.Rotate(v)
			}
		}
		for v := range 6 {
			for w := range 6 {
				add, remove := f.CanAdd(v, w), f.CanRemove(v, w)
				if g.CanAdd(v, w) != add || g.CanRemove(v, w) != remove {
					t.Fatal(g.Edges(), v, w)
				}
				moved, want := *f, *g
				if add {
					require.True(t, moved.Add(v, w))
					want.Connect(v, w)
				} else if remove {
					require.True(t, moved.Remove(v, w))
					want.Disconnect(v, w)
				}
				if (add || remove) && rng.IntN(4) == 0 {
					checkForest(t, &moved, &want)
				}
			}
		}
		return true
	})
}

// Rotations of any graph, decomposable or not, swap two neighbours of the ordering.
func TestRotate(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 12).Draw(t, "vertices")
		g := New(n)
		for range rapid.IntRange(0, 3*n).Draw(t, "edges") {
			v, w := rapid.IntRange(0, n-1).Draw(t, "v"), rapid.IntRange(0, n-1).Draw(t, "w")
			if v != w {
				g.Connect(v, w)
			}
		}
		order := rapid.Permutation(g.vertices()).Draw(t, "order")
		f := NewForest(g, order)
		checkForest(t, f, g)
		for range 10 {
			v := rapid.IntRange(0, n-1).Draw(t, "rotate")
			if f.Parent(v) < 0 {
				require.False(t, f.Neutral(v))
				continue
			}
			before, neutral := f.Graph(), f.Neutral(v)
			old := f.swapped(v)
			f.Rotate(v)
			clique, parent := eliminated(g, old)
			require.Equal(t, clique, f.clique[:n])
			require.Equal(t, parent, f.parent[:n])
			checkForest(t, f, g)
			require.Equal(t, neutral, before.Equal(f.Graph()))
			require.True(t, f.Graph().Decomposable())
		}
	})
}

func (g *Graph) vertices() []int {
	list := make([]int, g.n)
	for v := range list {
		list[v] = v
	}
	return list
}

// swapped is an ordering of the forest with v just before its parent, and then the two swapped.
func (f *Forest) swapped(v int) []int {
	w := f.parent[v]
	var order []int
	for _, u := range f.Ordering() {
		if u != v && u != w {
			order = append(order, u)
		}
		if u == w {
			order = append(order, w, v)
		}
	}
	return order
}

func TestForestMoves(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := drawDecomposable(t, 20)
		order, _ := g.Ordering()
		f := NewForest(g, order)
		for range 30 {
			v, w := rapid.IntRange(0, g.n-1).Draw(t, "v"), rapid.IntRange(0, g.n-1).Draw(t, "w")
			require.Equal(t, g.Adjacent(v, w), f.Adjacent(v, w))
			if g.CanAdd(v, w) {
				require.True(t, f.Add(v, w))
				g.Connect(v, w)
			} else if g.CanRemove(v, w) {
				require.True(t, f.Remove(v, w))
				g.Disconnect(v, w)
			} else {
				require.False(t, f.Add(v, w) || f.Remove(v, w))
			}
			checkForest(t, f, g)
			require.True(t, g.Equal(f.Graph()))
		}
	})
}

func TestForestAcceptsFillIn(t *testing.T) {
	g := FromEdges(5, [][2]int{{0, 1}, {1, 2}, {2, 3}, {3, 0}})
	f := NewForest(g, []int{0, 1, 2, 3, 4})
	filled := f.Graph()
	require.True(t, f.Adjacent(1, 3))
	require.Equal(t, 5, f.Len())
	require.Equal(t, 3, f.Root(0))
	require.Equal(t, Of(1), f.Children(2))
	require.Equal(t, Of(0, 1, 3), f.Clique(0))
	require.True(t, f.Add(2, 4))
	filled.Connect(2, 4)
	require.True(t, filled.Equal(f.Graph()))
	checkForest(t, f, filled)
	for _, order := range [][]int{{0, 1}, {0, 1, 2, 3, 3}, {0, 1, 2, 3, 5}, {0, 1, 2, 3, -1}} {
		require.Panics(t, func() { NewForest(g, order) })
	}
	require.True(t, slices.Equal(f.Ordering(), f.Ordering()))
}

// BenchmarkForestProposals is BenchmarkGraphProposals on a forest.
func BenchmarkForestProposals(b *testing.B) {
	for _, n := range []int{12, 30} {
		b.Run(fmt.Sprintf("vertices=%d", n), func(b *testing.B) {
			g := randomDecomposable(n, 20*n, rand.New(rand.NewPCG(1, 2)))
			order, _ := g.Ordering()
			f := NewForest(g, order)
			rng := rand.New(rand.NewPCG(3, 4))
			b.ReportAllocs()
			for b.Loop() {
				v, w := rng.IntN(n), rng.IntN(n)
				if f.Adjacent(v, w) {
					if f.CanRemove(v, w) && rng.IntN(8) == 0 {
						f.Remove(v, w)
					}
				} else if f.CanAdd(v, w) && rng.IntN(8) == 0 {
					f.Add(v, w)
				}
			}
		})
	}
}
