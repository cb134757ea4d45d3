package protection

import (
	"cmp"
	"math"
	"slices"

	"microrisk/engine/tabular"
)

// A subTable is a table without hierarchies within one that has some, or several: a parent of every variable, of those that the table is over
// with its children. Cells are those of the grid, by coordinate of these: the parent first, the first variable slowest; -1 for an empty one.
type subTable struct {
	parents []int32
	class   int           // sum of the parents' levels
	shape   tabular.Shape // of the variables that the table is over
	cells   []int32
}

// subTables are all that a grid has, those of lower classes first (de Wolf 2002), without those of empty cells alone.
func subTables(g *tabular.Grid) []*subTable {
	var list []*subTable
	tables := g.Tables
	if tables == nil {
		tables = []uint32{math.MaxUint32}
	}
	for _, t := range tables {
		list = append(list, subTablesOf(g, t)...)
	}
	slices.SortStableFunc(list, func(a, b *subTable) int { return cmp.Compare(a.class, b.class) })
	return list
}

// subTablesOf are those of a table of some trees: of the others it has the total alone.
func subTablesOf(g *tabular.Grid, trees uint32) []*subTable {
	var list []*subTable
	parents := make([][]int32, len(g.Trees))
	for v, t := range g.Trees {
		for n := range t.Nodes {
			if !t.Leaf(n) && (n == 0 || trees>>v&1 == 1) {
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
			list = append(list, newSubTable(g, at, trees))
		}
	}
	walk(0)
	return list
}

func newSubTable(g *tabular.Grid, parents []int32, trees uint32) *subTable {
	s := &subTable{parents: slices.Clone(parents)}
	var variables []int
	var coordinates [][]int32
	for v, n := range parents {
		node := g.Trees[v].Nodes[n]
		s.class += node.Level
		if trees>>v&1 == 0 {
			continue
		}
		list := []int32{n}
		for _, c := range node.Children {
			list = append(list, int32(c))
		}
		variables, coordinates, s.shape = append(variables, v), append(coordinates, list), append(s.shape, len(list))
	}
	s.cells = make([]int32, s.shape.Cells())
	codes, nodes := make([]int, len(variables)), slices.Clone(parents)
	for i := range s.cells {
		for k, c := range tabular.Codes(s.shape, i, codes) {
			nodes[variables[k]] = coordinates[k][c]
		}
		s.cells[i] = int32(g.Find(nodes))
	}
	return s
}

// margin tells whether a coordinate has the parent of some variable.
func (s *subTable) margin(codes []int) bool { return slices.Contains(codes, 0) }
