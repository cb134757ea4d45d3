package graph

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// chordal is the slow way to tell: take away a vertex whose neighbours are complete as long as there is one.
func chordal(g *Graph) bool {
	left := First(g.n)
	for left != 0 {
		found := false
		for v := range left.Vertices() {
			if g.IsComplete(g.adj[v] & left) {
				left, found = left.Without(v), true
				break
			}
		}
		if !found {
			return false
		}
	}
	return true
}

// maximal are all maximal cliques of any graph, ascending, by trying all sets.
func maximal(g *Graph) []Set {
	var list []Set
	for c := Set(1); c <= First(g.n); c++ {
		common := First(g.n) &^ c
		for v := range c.Vertices() {
			common &= g.adj[v]
		}
		if common == 0 && g.IsComplete(c) {
			list = append(list, c)
		}
	}
	return list
}

// eachGraph goes through all graphs of n vertices.
func eachGraph(n int, visit func(*Graph)) {
	var pairs [][2]int
	for v := range n {
		for w := range v {
			pairs = append(pairs, [2]int{w, v})
		}
	}
	for code := range 1 << len(pairs) {
		g := New(n)
		for i, e := range pairs {
			if code>>i&1 != 0 {
				g.Connect(e[0], e[1])
			}
		}
		visit(g)
	}
}

func TestEachDecomposable(t *testing.T) {
	for n, want := range []int{1, 1, 2, 8, 61, 822, 18154, 617675} {
		if n == 7 && testing.Short() {
			break
		}
		count := 0
		seen := map[string]bool{}
		EachDecomposable(n, func(g *Graph) bool {
			count++
			if n < 7 {
				require.True(t, chordal(g))
				seen[g.Key()] = true
			}
			return true
		})
		require.Equal(t, want, count, n)
		if n < 7 {
			require.Len(t, seen, want)
		}
	}
	count := 0
	EachDecomposable(5, func(*Graph) bool { count++; return count < 10 })
	require.Equal(t, 10, count)
	require.Panics(t, func() { EachDecomposable(8, func(*Graph) bool { return true }) })
}

func TestAgainstAllGraphsOfFiveVertices(t *testing.T) {
	eachGraph(5, func(g *Graph) {
		decomposable := chordal(g)
		require.Equal(t, decomposable, g.Decomposable())
		if !decomposable {
			return
		}
		checkStructure(t, g)
		for v := range 5 {
			require.False(t, g.CanAdd(v, v))
			require.False(t, g.CanRemove(v, v))
			for w := range v {
				h := g.Clone()
				h.Connect(v, w)
				require.Equal(t, !g.Adjacent(v, w) && chordal(h), g.CanAdd(v, w))
				require.Equal(t, g.CanAdd(v, w), g.CanAdd(w, v))
				h = g.Clone()
				h.Disconnect(v, w)
				require.Equal(t, g.Adjacent(v, w) && chordal(h), g.CanRemove(v, w))
			}
		}
	})
}

// checkStructure compares cliques, separators, ordering and junction tree of a decomposable graph with their definitions.
func checkStructure(t require.TestingT, g *Graph) {
	cliques := g.Cliques()
	if g.n <= 10 {
		require.Equal(t, maximal(g), cliques)
	}
	order, ok := g.Ordering()
	require.True(t, ok)
	require.Len(t, order, g.n)
	left := First(g.n)
	for _, v := range order {
		left = left.Without(v)
		require.True(t, g.IsComplete(g.adj[v]&left))
	}
	tree := g.JunctionTree()
	require.True(t, junction(tree.Cliques, tree.Parent))
	sorted := slices.Clone(tree.Cliques)
	slices.Sort(sorted)
	require.Equal(t, cliques, sorted)
	separators := []Set{}
	for c, p := range tree.Parent {
		if c == 0 {
			require.Equal(t, -1, p)
			require.Zero(t, tree.Separators[0])
			continue
		}
		require.True(t, p >= 0 && p < c)
		require.Equal(t, tree.Cliques[c]&tree.Cliques[p], tree.Separators[c])
		separators = append(separators, tree.Separators[c])
	}
	slices.Sort(separators)
	require.Equal(t, separators, g.Separators())
	require.Equal(t, tree, g.JunctionTree())
}

// junction tells whether a tree given by parents, -1 for roots, has the junction property: for each vertex exactly one clique that
// contains it has a parent that does not or has none.
func junction(cliques []Set, parent []int) bool {
	for v := range MaxVertices {
		tops, in := 0, 0
		for c, clique := range cliques {
			if clique.Has(v) {
				in++
				if parent[c] < 0 || !cliques[parent[c]].Has(v) {
					tops++
				}
			}
		}
		if in > 0 && tops != 1 {
			return false
		}
	}
	return true
}

// countTrees tries all labelled trees over the cliques, as their Prüfer sequences.
func countTrees(cliques []Set) int {
	k := len(cliques)
	if k <= 2 {
		return 1
	}
	total := 1
	for range k - 2 {
		total *= k
	}
	number := 0
	for code := range total {
		degree := make([]int, k)
		sequence := make([]int, k-2)
		for i := range sequence {
			sequence[i] = code % k
			code /= k
			degree[sequence[i]]++
		}
		parent := make([]int, k)
		done := make([]bool, k)
		for _, p := range sequence {
			leaf := 0
			for degree[leaf] > 0 || done[leaf] {
				leaf++
			}
			parent[leaf], done[leaf] = p, true
			degree[p]--
		}
		last := -1
		for c := range k {
			if !done[c] && last < 0 {
				last = c
			} else if !done[c] {
				parent[last] = c
				parent[c] = -1
			}
		}
		if junction(cliques, parent) {
			number++
		}
	}
	return number
}

func TestJunctionTrees(t *testing.T) {
	EachDecomposable(5, func(g *Graph) bool {
		require.InDelta(t, countTrees(g.Cliques()), g.JunctionTrees(), 0)
		return true
	})
	rapid.Check(t, func(t *rapid.T) {
		g := drawDecomposable(t, 8)
		if c := g.Cliques(); len(c) <= 6 {
			require.InDelta(t, countTrees(c), g.JunctionTrees(), 0)
		}
	})
	require.InDelta(t, 1e5*1e5, New(12).JunctionTrees()/(6.1917364224), 1e-3)
	require.InEpsilon(t, math.Ldexp(1, 62*6), New(64).JunctionTrees(), 1e-12)
	require.InDelta(t, 1, New(0).JunctionTrees(), 0)
	require.InDelta(t, 1, Complete(64).JunctionTrees(), 0)
}

// drawDecomposable is a random decomposable graph of 1 to most vertices.
func drawDecomposable(t *rapid.T, most int) *Graph {
	n := rapid.IntRange(1, most).Draw(t, "vertices")
	g := New(n)
	for range rapid.IntRange(0, 3*n).Draw(t, "edges") {
		v, w := rapid.IntRange(0, n-1).Draw(t, "v"), rapid.IntRange(0, n-1).Draw(t, "w")
		if g.CanAdd(v, w) {
			g.Connect(v, w)
		} else if g.CanRemove(v, w) && rapid.Bool().Draw(t, "remove") {
			g.Disconnect(v, w)
		}
	}
	return g
}

// legal lists the pairs that are allowed, smaller vertex first, in ascending order.
func (g *Graph) legal(allowed func(v, w int) bool) [][2]int {
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

func TestLargeGraphs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := drawDecomposable(t, 64)
		require.True(t, g.Decomposable())
		checkStructure(t, g)
		for _, e := range g.legal(g.CanAdd) {
			g.Connect(e[0], e[1])
			require.True(t, g.Decomposable())
			g.Disconnect(e[0], e[1])
		}
		for _, e := range g.legal(g.CanRemove) {
			g.Disconnect(e[0], e[1])
			require.True(t, g.Decomposable())
			g.Connect(e[0], e[1])
		}
	})
}

func TestGraph(t *testing.T) {
	g := FromEdges(4, [][2]int{{2, 0}, {3, 2}})
	require.Equal(t, [][2]int{{0, 2}, {2, 3}}, g.Edges())
	require.Equal(t, 2, g.Size())
	require.Equal(t, 4, g.Len())
	require.Equal(t, Of(0, 3), g.Neighbours(2))
	require.True(t, g.Equal(g.Clone()))
	require.False(t, g.Equal(New(4)))
	require.Equal(t, 6, Complete(4).Size())
	require.Panics(t, func() { New(65) })
	require.Panics(t, func() { New(-1) })
	require.Equal(t, 64, First(64).Len())
	require.Equal(t, 64, Set(0).Min())
	keys := map[string]bool{}
	eachGraph(4, func(g *Graph) { keys[g.Key()] = true })
	require.Len(t, keys, 64)
	for range First(9).Vertices() {
		break
	}
}

func TestMovesCases(t *testing.T) {
	folders, err := filepath.Glob("testdata/moves/*")
	require.NoError(t, err)
	require.Len(t, folders, 5)
	for _, folder := range folders {
		t.Run(filepath.Base(folder), func(t *testing.T) {
			var in struct {
				Vertices []string
				Edges    [][2]string
			}
			var want struct {
				Decomposable   bool
				Cliques        [][]string `json:"maximal_cliques"`
				Separators     [][]string
				Additions      [][]string `json:"legal_additions"`
				Deletions      [][]string `json:"legal_deletions"`
				JunctionTrees  *float64   `json:"junction_trees"`
				ConnectedParts int        `json:"connected_components"`
			}
			load(t, filepath.Join(folder, "params.json"), &in)
			load(t, filepath.Join(folder, "expected.json"), &want)
			set := func(names []string) Set {
				var s Set
				for _, name := range names {
					s = s.With(slices.Index(in.Vertices, name))
				}
				return s
			}
			sets := func(lists [][]string) []Set {
				out := []Set{}
				for _, names := range lists {
					out = append(out, set(names))
				}
				slices.Sort(out)
				return out
			}
			pairs := func(edges [][2]int) []Set {
				out := []Set{}
				for _, e := range edges {
					out = append(out, Of(e[0], e[1]))
				}
				slices.Sort(out)
				return out
			}
			g := New(len(in.Vertices))
			for _, e := range in.Edges {
				g.Connect(slices.Index(in.Vertices, e[0]), slices.Index(in.Vertices, e[1]))
			}
			require.Equal(t, want.Decomposable, g.Decomposable())
			require.Equal(t, sets(want.Cliques), maximal(g))
			if !want.Decomposable {
				return
			}
			require.Equal(t, sets(want.Cliques), g.Cliques())
			require.Equal(t, sets(want.Separators), append([]Set{}, g.Separators()...))
			require.Equal(t, sets(want.Additions), pairs(g.legal(g.CanAdd)))
			require.Equal(t, sets(want.Deletions), pairs(g.legal(g.CanRemove)))
			if want.JunctionTrees != nil {
				require.InDelta(t, *want.JunctionTrees, g.JunctionTrees(), 0)
			}
			empty := 0
			for _, s := range g.Separators() {
				if s == 0 {
					empty++
				}
			}
			require.Equal(t, want.ConnectedParts, empty+1)
		})
	}
}

func load(t *testing.T, path string, into any) {
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(data, into))
}
