package bounds

import (
	"fmt"
	"math/bits"
	"slices"
	"strings"
)

// Most nodes and equations of a network of recoded tables.
const (
	mostNodes     = 1 << 18
	mostEquations = 1 << 21
)

// A family has the sets of categories of one variable that are looked at, and how they fall into smaller ones.
type family struct {
	sets   [][]int
	find   map[string]int
	splits []split
}

type split struct {
	parent   int
	children []int
}

func key(set []int) string { return fmt.Sprint(set) }

func (f *family) add(set []int) int {
	if f.find == nil {
		f.find = map[string]int{}
	}
	k := key(set)
	if i, ok := f.find[k]; ok {
		return i
	}
	f.find[k] = len(f.sets)
	f.sets = append(f.sets, set)
	return len(f.sets) - 1
}

func everyCategory(levels int) []int {
	all := make([]int, levels)
	for c := range all {
		all[c] = c
	}
	return all
}

// allSets is the family of all sets of categories, split in two in all ways.
func allSets(levels int) family {
	var f family
	number := make([]int, 1<<levels)
	for _, c := range everyCategory(levels) {
		number[1<<c] = f.add([]int{c})
	}
	for mask := 1; mask < 1<<levels; mask++ {
		var set []int
		for c := range levels {
			if mask>>c&1 == 1 {
				set = append(set, c)
			}
		}
		number[mask] = f.add(set)
	}
	for mask := 1; mask < 1<<levels; mask++ {
		lowest := mask & -mask
		for part := (mask - 1) & mask; part > 0; part = (part - 1) & mask {
			if part&lowest != 0 {
				f.splits = append(f.splits, split{number[mask], []int{number[part], number[mask&^part]}})
			}
		}
	}
	return f
}

// neededSets is the family of single categories, published groups and all together.
func neededSets(levels int, groupings [][][]int) family {
	var f family
	for c := range levels {
		f.add([]int{c})
	}
	all := everyCategory(levels)
	f.add(all)
	for _, groups := range groupings {
		for _, g := range groups {
			g = slices.Clone(g)
			slices.Sort(g)
			f.add(g)
		}
	}
	for p, set := range f.sets {
		if len(set) > 1 {
			f.splits = append(f.splits, split{p, set}) // single categories have their own numbers
			for _, groups := range groupings {
				f.splitByGroups(p, groups)
			}
		}
	}
	return f
}

// splitByGroups splits a set into the groups within it, if they are several and make it up.
func (f *family) splitByGroups(p int, groups [][]int) {
	var children []int
	n := 0
	for _, g := range groups {
		within := true
		for _, c := range g {
			_, ok := slices.BinarySearch(f.sets[p], c)
			within = within && ok
		}
		if within {
			n += len(g)
			g = slices.Clone(g)
			slices.Sort(g)
			children = append(children, f.find[key(g)])
		}
	}
	if n == len(f.sets[p]) && len(children) > 1 && len(children) < n {
		f.splits = append(f.splits, split{p, children})
	}
}

// A network has the cells of recoded tables as nodes, base cells first, and the sums between them.
type network struct {
	sys      *system
	families []family // nil for a network of base cells and published ones only
	node     []int32  // node of each combination of sets, row-major
	sets     []int32  // the other way round
	nodes    int
	equations
	rowNode []int32 // node of each row of the system
	all     bool    // all recodings are there
}

// newNetwork makes the network of all recodings if these are few enough and wanted, else the one of the recodings that are needed, else the
// one of base cells and rows.
func newNetwork(s *system, all bool) *network {
	n := &network{sys: s}
	if all && fewRecodings(s.r.Levels) {
		n.all = true
		for _, l := range s.r.Levels {
			n.families = append(n.families, allSets(l))
		}
		n.multiply()
		return n
	}
	groupings := make([][][][]int, len(s.r.Levels))
	for i := range s.r.Margins {
		m := &s.r.Margins[i]
		for k, v := range m.Variables {
			if g := m.groups(k); g != nil {
				groupings[v] = append(groupings[v], g)
			}
		}
	}
	nodes := 1
	for v, l := range s.r.Levels {
		f := neededSets(l, groupings[v])
		n.families = append(n.families, f)
		if nodes *= len(f.sets); nodes > mostNodes {
			n.families = nil
			n.plain()
			return n
		}
	}
	n.multiply()
	return n
}

func fewRecodings(levels []int) bool {
	nodes, splits := 1.0, 0.0 // splits for one set of all other variables
	for _, l := range levels {
		if l > 12 {
			return false
		}
		nodes *= float64(int(1)<<l - 1)
	}
	for _, l := range levels {
		three := 1
		for range l {
			three *= 3
		}
		splits += nodes / float64(int(1)<<l-1) * float64((three-(1<<(l+1))+1)/2)
	}
	return nodes <= mostNodes && splits <= mostEquations
}

// multiply makes nodes of all combinations of sets, and equations of all splits of one variable.
func (n *network) multiply() {
	shape := make([]int, len(n.families))
	n.nodes = 1
	for v, f := range n.families {
		shape[v] = len(f.sets)
		n.nodes *= len(f.sets)
	}
	n.node, n.sets = make([]int32, n.nodes), make([]int32, n.nodes)
	next := int32(n.sys.size)
	for i := range n.node {
		base, cell := true, 0
		for v, at := range coordinates(i, shape) {
			base = base && at < n.sys.r.Levels[v] // single categories come first in a family
			cell = cell*n.sys.r.Levels[v] + at
		}
		x := int32(cell)
		if !base {
			x = next
			next++
		}
		n.node[i], n.sets[x] = x, int32(i)
	}
	stride := 1
	for v := len(shape) - 1; v >= 0; v-- {
		for i := range n.node {
			if i/stride%shape[v] == 0 {
				n.splitting(i, stride, n.families[v].splits)
			}
		}
		stride *= shape[v]
	}
	n.equations.index(n.nodes)
	n.locate()
}

func (n *network) splitting(i, stride int, splits []split) {
	children := make([]int32, 0, 8)
	for _, s := range splits {
		children = children[:0]
		for _, c := range s.children {
			children = append(children, n.node[i+c*stride])
		}
		n.add(n.node[i+s.parent*stride], children...)
	}
}

// locate finds the nodes of the published cells.
func (n *network) locate() {
	for _, w := range n.sys.rows {
		m := &n.sys.r.Margins[w.margin]
		shape := n.sys.r.shape(m)
		at := coordinates(w.cell, shape)
		i := 0
		for v, f := range n.families {
			set := everyCategory(n.sys.r.Levels[v])
			if k := slices.Index(m.Variables, v); k >= 0 {
				set = []int{at[k]}
				if g := m.groups(k); g != nil {
					set = slices.Clone(g[at[k]])
					slices.Sort(set)
				}
			}
			i = i*len(f.sets) + f.find[key(set)]
		}
		n.rowNode = append(n.rowNode, n.node[i])
	}
}

// plain has a node for each row that adds up several base cells.
func (n *network) plain() {
	n.nodes = n.sys.size
	for _, w := range n.sys.rows {
		if len(w.cells) == 1 {
			n.rowNode = append(n.rowNode, w.cells[0])
			continue
		}
		n.rowNode = append(n.rowNode, int32(n.nodes))
		n.add(int32(n.nodes), w.cells...)
		n.nodes++
	}
	if n.start == nil {
		n.start = []int32{0}
	}
	n.equations.index(n.nodes)
}

// state has the bounds of the published cells, all equations queued. The row is one whose bounds cross, -1 for none.
func (n *network) state(steps int64) (s *state, row int) {
	s = newState(&n.equations, n.nodes, steps)
	for i, w := range n.sys.rows {
		if !s.set(n.rowNode[i], w.low, w.high) {
			return s, i
		}
	}
	s.everything()
	return s, -1
}

// failure names the published cell by which a node's bounds cross: itself, or the smallest one that contains it, or else any that
// has part of it.
func (n *network) failure(x int32, low, high int64) *InfeasibleError {
	r := n.sys.r
	if i := slices.Index(n.rowNode, x); i >= 0 {
		w := n.sys.rows[i]
		return r.infeasible(w.margin, w.cell, low, high)
	}
	cells, best, rank := n.cells(x), 0, 1<<62
	for i, w := range n.sys.rows {
		common := 0
		for _, c := range cells {
			if _, ok := slices.BinarySearch(w.cells, c); ok {
				common++
			}
		}
		size := len(w.cells)
		if common < len(cells) {
			size += 1 << (30 - min(20, bits.Len(uint(common)))) // those that have more of it come first
		}
		if common > 0 && size < rank {
			best, rank = i, size
		}
	}
	w := n.sys.rows[best]
	e := r.infeasible(w.margin, w.cell, low, high)
	e.text = fmt.Sprintf("no table has these margins: margin %s, %s: its part with %s would be at least %d and at most %d",
		r.title(w.margin), r.place(w.margin, w.cell), n.describe(x), low, high)
	return e
}

// cells are the base cells of a node, ascending.
func (n *network) cells(x int32) []int32 {
	if int(x) < n.sys.size {
		return []int32{x}
	}
	if n.families == nil {
		return n.sys.rows[slices.Index(n.rowNode, x)].cells
	}
	list := []int32{0}
	for v, set := range n.setsOf(x) {
		var longer []int32
		for _, cell := range list {
			for _, c := range set {
				longer = append(longer, cell*int32(n.sys.r.Levels[v])+int32(c))
			}
		}
		list = longer
	}
	slices.Sort(list)
	return list
}

func (n *network) setsOf(x int32) [][]int {
	shape := make([]int, len(n.families))
	for v, f := range n.families {
		shape[v] = len(f.sets)
	}
	sets := make([][]int, len(shape))
	for v, at := range coordinates(int(n.sets[x]), shape) {
		sets[v] = n.families[v].sets[at]
	}
	return sets
}

func (n *network) describe(x int32) string {
	var parts []string
	if n.families == nil {
		for v, at := range coordinates(int(x), n.sys.r.Levels) {
			parts = append(parts, fmt.Sprintf("%s = %d", n.sys.r.variable(v), at))
		}
		return strings.Join(parts, ", ")
	}
	for v, set := range n.setsOf(x) {
		if len(set) == n.sys.r.Levels[v] && len(set) > 1 {
			continue
		}
		var names []string
		for _, c := range set {
			names = append(names, fmt.Sprint(c))
		}
		parts = append(parts, fmt.Sprintf("%s = %s", n.sys.r.variable(v), strings.Join(names, " or ")))
	}
	return strings.Join(parts, ", ")
}
