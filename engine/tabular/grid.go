package tabular

import (
	"fmt"
	"math"
	"slices"
)

// A Grid is the cells of a table with structure: a node of each of its trees for every cell. A cell that is not there is empty; whenever a
// cell is there, all its totals are. Cells are numbered in the order of their nodes, the first tree slowest, so that a total stands before
// its parts.
//
// Tables are the sets of trees, by bits, of tables that are published together and have the same people; a cell is in one of them, and has
// the total of all other trees. nil is one table of all trees.
type Grid struct {
	Trees  []*Tree
	Tables []uint32

	nodes []int32 // of cells, one after another
	index map[int64]int32
	step  []int64 // of trees in the index
}

// NewGrid has the cells that are given by their nodes, one cell after another and some perhaps several times, and all their totals.
// Errors: cells that cannot be numbered, as there could be more than 2^62, or a node that is none.
func NewGrid(trees []*Tree, cells []int32) (*Grid, error) {
	return NewGridWithin(trees, cells, math.MaxInt)
}

// A SizeError says that a grid would have more cells than it may.
type SizeError struct{ Most int }

func (e *SizeError) Error() string { return fmt.Sprintf("a table of more than %d cells", e.Most) }

// NewGridWithin is NewGrid of no more than so many cells, else a *SizeError.
func NewGridWithin(trees []*Tree, cells []int32, most int) (*Grid, error) {
	g := &Grid{Trees: trees, index: make(map[int64]int32), step: make([]int64, len(trees))}
	all := int64(1)
	for v := len(trees) - 1; v >= 0; v-- {
		g.step[v] = all
		n := int64(len(trees[v].Nodes))
		if all > math.MaxInt64/2/n {
			return nil, fmt.Errorf("a table of %d variables with so many categories has too many cells to be numbered: take fewer or coarser variables", len(trees))
		}
		all *= n
	}
	d := len(trees)
	var places []int64
	add := func(cell []int32) {
		if place := g.place(cell); g.index[place] == 0 {
			g.index[place] = 1
			places = append(places, place)
		}
	}
	total := make([]int32, d)
	add(total)
	for at := 0; at < len(cells); at += max(d, 1) {
		cell := cells[at : at+d]
		for v, n := range cell {
			if n < 0 || int(n) >= len(trees[v].Nodes) {
				return nil, fmt.Errorf("node %d of %s is none of its %d", n, trees[v].Name, len(trees[v].Nodes))
			}
		}
		if g.index[g.place(cell)] != 0 {
			continue // it is there, and so are all its totals
		}
		if g.above(cell, 0, slices.Clone(cell), add); len(places) > most {
			return nil, &SizeError{most}
		}
	}
	slices.Sort(places)
	g.nodes = make([]int32, 0, len(places)*d)
	for i, place := range places {
		g.index[place] = int32(i)
		for v := range d {
			g.nodes = append(g.nodes, int32(place/g.step[v]%int64(len(trees[v].Nodes))))
		}
	}
	return g, nil
}

// above calls add for a cell and all its totals, from variable v on.
func (g *Grid) above(cell []int32, v int, to []int32, add func([]int32)) {
	if v == len(cell) {
		add(to)
		return
	}
	for n := int(cell[v]); n >= 0; n = g.Trees[v].Nodes[n].Parent {
		to[v] = int32(n)
		g.above(cell, v+1, to, add)
	}
	to[v] = cell[v]
}

func (g *Grid) place(cell []int32) int64 {
	place := int64(0)
	for v, n := range cell {
		place += int64(n) * g.step[v]
	}
	return place
}

// Cells is the number of cells.
func (g *Grid) Cells() int { return len(g.index) }

// Nodes are those of a cell; they are not to be changed.
func (g *Grid) Nodes(cell int) []int32 {
	d := len(g.Trees)
	return g.nodes[cell*d : (cell+1)*d : (cell+1)*d]
}

// Find is the number of a cell by its nodes, -1 for one that is empty.
func (g *Grid) Find(nodes []int32) int {
	if cell, ok := g.index[g.place(nodes)]; ok {
		return int(cell)
	}
	return -1
}

// Codes are the categories of a cell.
func (g *Grid) Codes(cell int) []Category {
	list := make([]Category, len(g.Trees))
	for v, n := range g.Nodes(cell) {
		list[v] = g.Trees[v].Nodes[n].Code
	}
	return list
}

// Leaf tells whether a cell is the sum of no others.
func (g *Grid) Leaf(cell int) bool {
	nodes := g.Nodes(cell)
	for v := range nodes {
		if g.Split(nodes, v) {
			return false
		}
	}
	return true
}

// Split tells whether a cell, by its nodes, is the sum of others along a tree.
func (g *Grid) Split(nodes []int32, v int) bool {
	return !g.Trees[v].Leaf(int(nodes[v])) && (nodes[v] != 0 || g.has(among(nodes)|1<<v))
}

// has tells whether a table has all these trees.
func (g *Grid) has(trees uint32) bool {
	return g.Tables == nil || slices.ContainsFunc(g.Tables, func(t uint32) bool { return trees&^t == 0 })
}

// among are the trees of which a cell has no total, by bits.
func among(nodes []int32) uint32 {
	trees := uint32(0)
	for v, n := range nodes {
		if n != 0 {
			trees |= 1 << v
		}
	}
	return trees
}

// In tells whether a cell, by its nodes, is one of the tables'.
func (g *Grid) In(nodes []int32) bool { return g.has(among(nodes)) }

// Margin tells whether a cell is a total over some variable, at any level.
func (g *Grid) Margin(cell int) bool { return !g.Leaf(cell) }

// System has the equations of all totals, the ones of the first tree first, each along one tree. Parts that are empty are left out.
func (g *Grid) System() *System {
	s := &System{Cells: g.Cells()}
	nodes := make([]int32, len(g.Trees))
	for v, t := range g.Trees {
		for cell := range g.Cells() {
			copy(nodes, g.Nodes(cell))
			if !g.Split(nodes, v) {
				continue
			}
			e := Equation{Total: int32(cell)}
			for _, c := range t.Nodes[nodes[v]].Children {
				nodes[v] = int32(c)
				if part := g.Find(nodes); part >= 0 {
					e.Parts = append(e.Parts, int32(part))
				}
			}
			s.Equations = append(s.Equations, e)
		}
	}
	return s
}

// Sum gives all cells the sums of the values of those without parts, which are given; the values of others are overwritten. The error names
// a cell whose sum is no int64.
func (g *Grid) Sum(values []int64) error {
	s := g.System()
	splits := s.Splits()
	for cell := s.Cells - 1; cell >= 0; cell-- { // parts stand after their totals
		if splits[cell] == nil {
			continue
		}
		sum := int64(0)
		for _, part := range s.Equations[splits[cell][0]].Parts {
			x := values[part]
			if sum+x < sum != (x < 0) {
				return fmt.Errorf("the sum of the cell %s is beyond whole numbers of 64 bits", Words(g.Codes(cell)))
			}
			sum += x
		}
		values[cell] = sum
	}
	return nil
}
