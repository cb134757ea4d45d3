package protection

import (
	"cmp"
	"slices"

	"microrisk/engine/tabular"
)

// A subTable is a table without hierarchies within one that has some: a parent of every variable, with its children. Cells are those of the
// grid, by coordinate: the parent first, the first variable slowest; -1 for an empty one.
type subTable struct {
	parents []int32
	class   int // sum of the parents' levels
	shape   tabular.Shape
	cells   []int32
}

// subTables are all that a grid has, those of lower classes first (de Wolf 2002), without those of empty cells alone.
func subTables(g *tabular.Grid) []*subTable {
	var list []*subTable
	parents := make([][]int32, len(g.Trees))
	for v, t := range g.Trees {
		for n := range t.Nodes {
			if !t.Leaf(n) {
				parents[v] = append(parents[v], int32(n))
			}
		}
	}
	at := make([]int32, len(g.Trees))
	var walk func(v int)
	walk = func(v int) {
		if v < len(at) {
			for _, n := range parents[v] {
				at[v] = n
				walk(v + 1)
			}
			return
		}
		if g.Find(at) >= 0 {
			list = append(list, newSubTable(g, at))
		}
	}
	walk(0)
	slices.SortStableFunc(list, func(a, b *subTable) int { return cmp.Compare(a.class, b.class) })
	return list
}

func newSubTable(g *tabular.Grid, parents []int32) *subTable {
	s := &subTable{parents: slices.Clone(parents), shape: make(tabular.Shape, len(parents))}
	coordinates := make([][]int32, len(parents))
	for v, n := range parents {
		node := g.Trees[v].Nodes[n]
		coordinates[v] = []int32{n}
		for _, c := range node.Children {
			coordinates[v] = append(coordinates[v], int32(c))
		}
		s.class += node.Level
		s.shape[v] = len(coordinates[v])
	}
	s.cells = make([]int32, s.shape.Cells())
	codes, nodes := make([]int, len(parents)), make([]int32, len(parents))
	for i := range s.cells {
		for v, c := range tabular.Codes(s.shape, i, codes) {
			nodes[v] = coordinates[v][c]
		}
		s.cells[i] = int32(g.Find(nodes))
	}
	return s
}

// margin tells whether a coordinate has the parent of some variable.
func (s *subTable) margin(codes []int) bool { return slices.Contains(codes, 0) }
