package tabular

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// drawTree is a random tree of at most so many nodes below the total.
func drawTree(t *rapid.T, name string, most int) *Tree {
	tree := NewTree(name)
	for i := range rapid.IntRange(1, most).Draw(t, name) {
		tree.Add(Of(fmt.Sprint(name, i)), rapid.IntRange(0, i).Draw(t, "parent"))
	}
	return tree
}

// A grid has the cells that are given, and for each of them one for every choice of its ancestors; sums are those of all leaves below.
func TestGridAgainstAllLeaves(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var trees []*Tree
		for v := range rapid.IntRange(0, 3).Draw(t, "trees") {
			trees = append(trees, drawTree(t, string(rune('A'+v)), 6))
		}
		leaves := map[string][]int32{}
		values := map[string]int64{}
		var cells []int32
		for range rapid.IntRange(0, 12).Draw(t, "cells") {
			var leaf []int32
			for _, tree := range trees {
				var list []int32
				for n := range tree.Nodes {
					if tree.Leaf(n) {
						list = append(list, int32(n))
					}
				}
				leaf = append(leaf, rapid.SampledFrom(list).Draw(t, "leaf"))
			}
			leaves[fmt.Sprint(leaf)] = leaf
			values[fmt.Sprint(leaf)] = rapid.Int64Range(-5, 100).Draw(t, "value")
			cells = append(cells, leaf...)
		}
		g, err := NewGrid(trees, cells)
		require.NoError(t, err)
		got := make([]int64, g.Cells())
		for id, leaf := range leaves {
			if len(trees) == 0 {
				break
			}
			at := g.Find(leaf)
			require.GreaterOrEqual(t, at, 0)
			require.True(t, g.Leaf(at))
			got[at] = values[id]
		}
		require.NoError(t, g.Sum(got))
		for cell := range g.Cells() {
			nodes := g.Nodes(cell)
			require.Equal(t, cell, g.Find(nodes))
			if cell > 0 {
				require.Negative(t, slices.Compare(g.Nodes(cell-1), nodes))
			}
			sum, below := int64(0), false
			for id, leaf := range leaves {
				if len(trees) > 0 && within(trees, leaf, nodes) {
					sum, below = sum+values[id], true
				}
			}
			require.True(t, below || cell == 0, "there is no reason for cell %v", nodes)
			require.Equal(t, sum, got[cell])
		}
		s := g.System()
		require.Empty(t, s.Broken(got, 0))
		totals := 0
		for cell := range g.Cells() {
			for v, n := range g.Nodes(cell) {
				if !trees[v].Leaf(int(n)) {
					totals++
				}
			}
		}
		require.Len(t, s.Equations, totals, "each cell is a total along each tree in which it has parts")
		of := s.Of()
		for cell, list := range of {
			require.True(t, slices.IsSorted(list))
			for _, e := range list {
				x := s.Equations[e]
				require.True(t, int(x.Total) == cell || slices.Contains(x.Parts, int32(cell)))
			}
		}
		if g.Cells() > 1 {
			at := rapid.IntRange(0, g.Cells()-1).Draw(t, "changed")
			got[at]++
			require.Equal(t, len(of[at]), len(s.Broken(got, 0)))
			require.Empty(t, s.Broken(got, 1))
		}
	})
}

// within tells whether a leaf is below nodes.
func within(trees []*Tree, leaf, nodes []int32) bool {
	for v, n := range leaf {
		for n != nodes[v] {
			if n <= 0 {
				return false
			}
			n = int32(trees[v].Nodes[n].Parent)
		}
	}
	return true
}

// Components are the classes of cells that can be walked between.
func TestComponents(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := &System{Cells: rapid.IntRange(1, 10).Draw(t, "cells")}
		for range rapid.IntRange(0, 6).Draw(t, "equations") {
			cells := rapid.SliceOfNDistinct(rapid.Int32Range(0, int32(s.Cells)-1), 1, 4, rapid.ID[int32]).Draw(t, "equation")
			s.Equations = append(s.Equations, Equation{cells[0], cells[1:]})
		}
		chosen := rapid.SliceOfN(rapid.Bool(), s.Cells, s.Cells).Draw(t, "chosen")
		reach := make([][]bool, s.Cells)
		for i := range reach {
			reach[i] = make([]bool, s.Cells)
			reach[i][i] = true
		}
		for _, e := range s.Equations {
			e.Each(func(a int32, _ int64) {
				e.Each(func(b int32, _ int64) { reach[a][b] = reach[a][b] || chosen[a] && chosen[b] })
			})
		}
		for k := range reach {
			for i := range reach {
				for j := range reach {
					reach[i][j] = reach[i][j] || reach[i][k] && reach[k][j]
				}
			}
		}
		var want [][]int32
		done := make([]bool, s.Cells)
		for i := range reach {
			if !chosen[i] || done[i] {
				continue
			}
			var list []int32
			for j := range reach {
				if reach[i][j] && chosen[j] {
					list, done[j] = append(list, int32(j)), true
				}
			}
			want = append(want, list)
		}
		require.Equal(t, want, s.Components(chosen))
	})
}

func TestTreeOf(t *testing.T) {
	v := &Variable{
		Name:       "area",
		Categories: []Category{Of("b"), Of("a"), Of("c"), Missing},
		Hierarchy:  Hierarchy{{"north", []string{"a", "b"}}, {"all but c", []string{"north"}}},
	}
	tree, err := TreeOf(v)
	require.NoError(t, err)
	var got []string
	for _, n := range tree.Nodes {
		got = append(got, fmt.Sprint(n.Level, " ", n.Code))
	}
	require.Equal(t, []string{"0 Total", "1 all but c", "2 north", "3 b", "3 a", "1 c", "1 missing"}, got)
	require.Equal(t, 3, tree.Depth())
	require.Equal(t, []int{1, 2, 4}, tree.Path(tree.Find(Of("a"))))
	require.Equal(t, -1, tree.Find(Of("z")))
	v.Hierarchy[0].Members[0] = "z"
	_, err = TreeOf(v)
	require.ErrorContains(t, err, "the variable area: the group \"north\" has \"z\"")
}

// Tables that share cells are one system: equal equations are one.
func TestUnion(t *testing.T) {
	a := &System{3, []Equation{{0, []int32{1, 2}}}}
	b := &System{4, []Equation{{0, []int32{2, 1}}, {1, []int32{3}}}}
	u := Union(4, []*System{a, b}, [][]int32{{0, 1, 2}, {0, 1, 2, 3}})
	require.Equal(t, &System{4, []Equation{{0, []int32{1, 2}}, {1, []int32{3}}}}, u)
}

func TestGridRefuses(t *testing.T) {
	var trees []*Tree
	for v := range 11 {
		tree := NewTree(fmt.Sprint(v))
		for i := range 99 {
			tree.Add(Of(fmt.Sprint(i)), 0)
		}
		trees = append(trees, tree)
	}
	_, err := NewGrid(trees, nil)
	require.ErrorContains(t, err, "too many cells")
	_, err = NewGrid(trees[:1], []int32{100})
	require.ErrorContains(t, err, "node 100 of 0 is none of its 100")
	g, err := NewGrid(trees[:1], []int32{1, 2})
	require.NoError(t, err)
	require.ErrorContains(t, g.Sum([]int64{0, 1 << 62, 1 << 62}), "[Total] is beyond")
}
