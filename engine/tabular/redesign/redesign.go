// Package redesign finds coarser categories with which a table has no cell that discloses: categories that are neighbours become one, any two
// do, or those below a code of a hierarchy are no longer told apart. It previews what every single merge leaves unsafe and loses, and finds
// the cheapest redesigns that leave nothing unsafe.
//
//	p := &redesign.Problem{Grid: grid, Cells: cells, Variables: variables, Judge: redesign.Cells(grid, cells, 0, unsafe), Local: true, Monotone: true}
//	found, err := p.Search(ctx, redesign.Options{Best: 3})
//	// found.Best[0].Design.Groups(v) are the categories that become one
//
// Redesign comes before all other methods, as what is published stays true and complete (Miller 2005, 3.1; Hundepool et al. 2012, 4.3.1). The
// loss is that of Miller 2005, 4.1: the weight of the cells of collapsed rows and columns.
package redesign

import (
	"slices"

	"microrisk/engine/tabular"
	"microrisk/engine/tabular/detection"
)

// A Variable says which categories may become one. Of a tree with several levels those below a code can, which then has no parts; of others,
// Groups if there are some, else neighbours in Order if there is one, else any two.
type Variable struct {
	Tree   *tabular.Tree
	Order  []int32   // nodes of the categories in their order; nil: they have none
	Groups [][]int32 // nodes of categories that may become one, each of one group at most; nil: they are not given
	Pinned []bool    // nodes that must stay as they are; nil: none
}

// A Problem is a table, and what may become of it.
type Problem struct {
	Grid      *tabular.Grid
	Cells     []detection.Cell // of the grid
	Values    []int64          // of the grid; nil: the records
	Variables []Variable       // of the grid's trees
	Judge     Judge
	Local     bool // whether a cell discloses depends on those in it alone
	Monotone  bool // a cell that is made of cells that do not disclose does not either, as with a minimum frequency
	Loss      Loss

	kinds  []kind
	same   Design
	leaves []int // cells that are the sum of no others
}

// A Loss is what counts when redesigns are compared.
type Loss uint8

// Losses. Where two redesigns lose the same, categories, cells and contributors decide, in this order.
const (
	Categories   Loss = iota // categories that are gone
	CellsLost                // finest cells in collapsed rows and columns (M1, unity)
	Contributors             // those in these cells (M1, frequency)
	Value                    // of these cells (M1, variable)
)

// A Judge finds the unsafe cells of a redesigned table.
type Judge func(d Design) (Verdict, error)

// A Verdict is what a judge finds.
type Verdict struct {
	Cells  int       // that are not empty, totals among them
	Unsafe [][]int32 // unsafe ones, by their nodes in the design
}

// A Design says for every variable which node stands for each: itself, the first of the categories that become one, or the one below which
// nothing is told apart.
type Design [][]int32

// A Cost is what a redesign loses.
type Cost struct {
	Categories   int   // that are gone
	Cells        int   // finest cells in collapsed rows and columns
	Contributors int64 // to these cells
	Value        int64 // of these cells
}

// kind is how categories of a variable become one.
type kind struct {
	nested   bool // those below a code
	present  []bool
	children [][]int32 // that are present
	place    []int     // in the order, by node; -1 for others
	group    []int     // by node, -1 for none
	mergers  []int32   // categories that may become one with others, in a fixed order
}

// Ready prepares a problem; it must be called first.
func (p *Problem) Ready() {
	p.kinds = make([]kind, len(p.Variables))
	p.leaves, p.same = nil, p.Same()
	for v := range p.Variables {
		p.kinds[v] = p.kindOf(v)
	}
	for cell := range p.Grid.Cells() {
		if p.Grid.Leaf(cell) && p.Cells[cell].Records > 0 {
			p.leaves = append(p.leaves, cell)
		}
	}
}

func (p *Problem) kindOf(v int) kind {
	x := &p.Variables[v]
	n := len(x.Tree.Nodes)
	k := kind{nested: x.Tree.Depth() > 1, present: make([]bool, n), children: make([][]int32, n), place: make([]int, n), group: make([]int, n)}
	for cell := range p.Grid.Cells() {
		if p.Cells[cell].Records > 0 {
			k.present[p.Grid.Nodes(cell)[v]] = true
		}
	}
	for node := range n {
		k.place[node], k.group[node] = -1, -1
		if parent := x.Tree.Nodes[node].Parent; parent >= 0 && k.present[node] {
			k.children[parent] = append(k.children[parent], int32(node))
		}
	}
	place := 0
	for _, node := range x.Order {
		if k.present[node] {
			k.place[node] = place
			place++
		}
	}
	for g, list := range x.Groups {
		for _, node := range list {
			k.group[node] = g
		}
	}
	order := x.Order
	if order == nil {
		for node := range n {
			order = append(order, int32(node))
		}
	}
	for _, node := range order {
		if node > 0 && k.present[node] && x.Tree.Leaf(int(node)) && !p.pinned(v, node) && x.Tree.Nodes[node].Code.Kind == tabular.Value {
			k.mergers = append(k.mergers, node)
		}
	}
	return k
}

func (p *Problem) pinned(v int, node int32) bool {
	return p.Variables[v].Pinned != nil && p.Variables[v].Pinned[node]
}

// Same is the table as it is.
func (p *Problem) Same() Design {
	d := make(Design, len(p.Variables))
	for v := range p.Variables {
		d[v] = make([]int32, len(p.Variables[v].Tree.Nodes))
		for node := range d[v] {
			d[v][node] = int32(node)
		}
	}
	return d
}

// Groups are the categories of a variable that become one: nodes without parts, in the order of the first of each.
func (p *Problem) Groups(d Design, v int) [][]int32 {
	at := make(map[int32]int)
	var list [][]int32
	order := p.Variables[v].Order
	if order == nil {
		for node := range d[v] {
			order = append(order, int32(node))
		}
	}
	for _, node := range order {
		if node == 0 || !p.kinds[v].present[node] || !p.Variables[v].Tree.Leaf(int(node)) {
			continue
		}
		to := d[v][node]
		if _, met := at[to]; !met {
			at[to] = len(list)
			list = append(list, nil)
		}
		list[at[to]] = append(list[at[to]], node)
	}
	return slices.DeleteFunc(list, func(g []int32) bool { return len(g) < 2 && d[v][g[0]] == g[0] })
}

// Left is how many finest categories a variable has.
func (p *Problem) Left(d Design, v int) int {
	met := make(map[int32]bool)
	for node, to := range d[v] {
		if node > 0 && p.kinds[v].present[node] && p.Variables[v].Tree.Leaf(node) {
			met[to] = true
		}
	}
	return len(met)
}

// Cost is what a design loses.
func (p *Problem) Cost(d Design) Cost {
	var c Cost
	collapsed := make([][]bool, len(d))
	for v := range d {
		collapsed[v] = p.collapsed(d, v)
		before, after := p.Left(p.same, v), p.Left(d, v)
		c.Categories += before - after
	}
	for _, cell := range p.leaves {
		if p.lost(cell, collapsed) {
			c.add(p, cell)
		}
	}
	return c
}

// WithTotals are the losses of a design among all cells, totals too.
func (p *Problem) WithTotals(d Design) Cost {
	c := Cost{Categories: p.Cost(d).Categories}
	collapsed := make([][]bool, len(d))
	for v := range d {
		collapsed[v] = p.collapsed(d, v)
	}
	for cell := range p.Grid.Cells() {
		if p.Cells[cell].Records > 0 && p.lost(cell, collapsed) {
			c.add(p, cell)
		}
	}
	return c
}

func (c *Cost) add(p *Problem, cell int) {
	c.Cells++
	c.Contributors += p.Cells[cell].Contributors
	c.Value += p.value(cell)
}

// collapsed are the nodes of a variable that are not told apart any more.
func (p *Problem) collapsed(d Design, v int) []bool {
	list := make([]bool, len(d[v]))
	size := make([]int, len(d[v]))
	for node, to := range d[v] {
		if node > 0 && p.kinds[v].present[node] {
			size[to]++
		}
	}
	for node, to := range d[v] {
		list[node] = to != int32(node) || !p.kinds[v].nested && size[to] > 1
	}
	return list
}

func (p *Problem) lost(cell int, collapsed [][]bool) bool {
	for v, node := range p.Grid.Nodes(cell) {
		if collapsed[v][node] {
			return true
		}
	}
	return false
}

func (p *Problem) value(cell int) int64 {
	if p.Values == nil {
		return p.Cells[cell].Records
	}
	return max(p.Values[cell], -p.Values[cell])
}

// key is a cost as it is compared: the loss first.
func (p *Problem) key(c Cost) [4]int64 {
	own := [...]int64{int64(c.Categories), int64(c.Cells), c.Contributors, c.Value}
	return [4]int64{own[p.Loss], own[0], own[1], own[2]}
}
