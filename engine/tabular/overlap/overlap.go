// Package overlap makes one system of several tables of the same people, whose categories may differ: cells of the same people are one
// unknown, a cell of one table that cells of another make up is their sum, and the people of a cell who are in no cell of the other table are
// a group, whose number is found by subtraction.
//
//	s, err := overlap.Join([]int{5}, []overlap.Table{five, four})
//	s.Groups[0] // the people of a cell of one less those of cells of the other
//
// Everything is by what categories stand for: sets of the finest categories of each variable. Of a variable that a table does not have, it
// takes all people, or those that its selection says.
//
// Source: Hundepool et al. 2012, chapter 4 (linked tables); differences between releases are those of any subtraction of published figures.
package overlap

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"microrisk/engine/tabular"
)

// A Table is one of several, of the same people.
type Table struct {
	Grid *tabular.Grid
	// Sets are the finest categories that each node stands for, by variable of all tables and by node of the tree; of a variable that the table
	// does not have the only one is what its people are of that variable.
	Sets [][]Set
	Of   []int // the tree of each variable of all tables; -1 for one that the table does not have
}

// A Ref is a cell of one of the tables.
type Ref struct{ Table, Cell int }

// A Group is people of a cell who are in none of some cells of another table.
type Group struct {
	Cell     int32 // its number in the system
	Of       Ref
	Less     []Ref
	Variable int // along which the group is what is left; -1 for several at once
	Rest     Set // of that variable
}

// A System is tables as one.
type System struct {
	*tabular.System
	Cells  [][]int32 // by table and cell, the number in the system
	Groups []Group   // whose numbers come after all cells
}

// pairs is how many pairs of cells are compared at most for differences along several variables at once.
const pairs = 1 << 22

// joiner makes a System.
type joiner struct {
	*System
	tables []Table
	number map[string]int32 // of cells, by what they stand for
	boxes  [][][]Set        // by table and cell
	seen   map[string]bool  // equations
}

// Join makes one system of tables. Errors: sets of other lengths than the trees have nodes.
func Join(tables []Table) (*System, error) {
	j := &joiner{System: &System{System: &tabular.System{}}, tables: tables, number: make(map[string]int32), seen: make(map[string]bool)}
	for i, t := range tables {
		if err := t.check(); err != nil {
			return nil, fmt.Errorf("table %d: %w", i+1, err)
		}
		j.add(t)
	}
	for i := range tables {
		for k := range tables {
			if i != k {
				j.compare(i, k)
			}
		}
	}
	return j.System, nil
}

func (t *Table) check() error {
	if len(t.Sets) != len(t.Of) {
		return fmt.Errorf("it has sets of %d variables, of %d", len(t.Sets), len(t.Of))
	}
	for v, tree := range t.Of {
		want := 1
		if tree >= 0 {
			want = len(t.Grid.Trees[tree].Nodes)
		}
		if len(t.Sets[v]) != want {
			return fmt.Errorf("it has %d sets of variable %d, of %d nodes", len(t.Sets[v]), v, want)
		}
	}
	return nil
}

// box is what a cell stands for.
func (t *Table) box(cell int) []Set {
	nodes := t.Grid.Nodes(cell)
	box := make([]Set, len(t.Of))
	for v, tree := range t.Of {
		node := int32(0)
		if tree >= 0 {
			node = nodes[tree]
		}
		box[v] = t.Sets[v][node]
	}
	return box
}

// keyOf is a box as a key, without variable but; -1 for none.
func keyOf(box []Set, but int) string {
	var b strings.Builder
	for v, s := range box {
		if v != but {
			b.WriteString(string(s))
		}
		b.WriteByte('|')
	}
	return b.String()
}

// add takes the cells of a table, and the sums among them.
func (j *joiner) add(t Table) {
	cells := make([]int32, t.Grid.Cells())
	boxes := make([][]Set, len(cells))
	for c := range cells {
		boxes[c] = t.box(c)
		cells[c] = j.cell(keyOf(boxes[c], -1))
	}
	j.Cells, j.boxes = append(j.Cells, cells), append(j.boxes, boxes)
	s := t.Grid.System()
	for _, e := range s.Equations {
		x := tabular.Equation{Total: cells[e.Total]}
		for _, p := range e.Parts {
			x.Parts = append(x.Parts, cells[p])
		}
		j.equation(x)
	}
}

// cell is the number of the cell that stands for something.
func (j *joiner) cell(key string) int32 {
	n, is := j.number[key]
	if !is {
		n = int32(j.System.System.Cells)
		j.number[key] = n
		j.System.System.Cells++
	}
	return n
}

// equation adds a sum, unless it is there, or says that a cell is itself.
func (j *joiner) equation(e tabular.Equation) {
	slices.Sort(e.Parts)
	if len(e.Parts) == 1 && e.Parts[0] == e.Total {
		return
	}
	key := fmt.Sprint(e)
	if !j.seen[key] {
		j.seen[key] = true
		j.Equations = append(j.Equations, e)
	}
}

// compare finds the cells of a table that are sums of another's, and what is left of others.
func (j *joiner) compare(a, b int) {
	same := make(map[string]bool, len(j.boxes[b]))
	for _, box := range j.boxes[b] {
		same[keyOf(box, -1)] = true
	}
	met := make([]bool, len(j.boxes[a])) // cells that have parts in the other along one variable
	for v := range j.tables[a].Of {
		others := make(map[string][]int)
		for c, box := range j.boxes[b] {
			key := keyOf(box, v)
			others[key] = append(others[key], c)
		}
		for c, box := range j.boxes[a] {
			if same[keyOf(box, -1)] {
				met[c] = true // the other table has it, with its own parts
				continue
			}
			met[c] = j.along(a, b, c, v, others[keyOf(box, v)]) || met[c]
		}
	}
	if len(j.boxes[a])*len(j.boxes[b]) > pairs {
		return
	}
	for c := range j.boxes[a] {
		if !met[c] {
			j.inside(a, b, c)
		}
	}
}

// along takes from a cell those of the other table that are parts of it along one variable, the largest ones; false if there are none.
func (j *joiner) along(a, b, cell, v int, others []int) bool {
	whole := j.boxes[a][cell][v]
	var parts []int
	left := whole
	for _, c := range bySize(others, func(c int) int { return j.boxes[b][c][v].Size() }) {
		if s := j.boxes[b][c][v]; s != whole && s.Size() > 0 && s.Within(left) {
			parts, left = append(parts, c), left.Less(s)
		}
	}
	if parts == nil {
		return false
	}
	left = j.occupied(b, parts[0], v, left)
	e := tabular.Equation{Total: j.Cells[a][cell]}
	for _, c := range parts {
		e.Parts = append(e.Parts, j.Cells[b][c])
	}
	if left.Size() > 0 {
		rest := slices.Clone(j.boxes[a][cell])
		rest[v] = left
		e.Parts = append(e.Parts, j.group(keyOf(rest, -1), Group{Of: Ref{a, cell}, Less: refs(b, parts), Variable: v, Rest: left}))
	}
	j.equation(e)
	return true
}

// occupied is what is left of categories without those of which a table would have cells beside one of its own, if anybody was in them.
func (j *joiner) occupied(table, cell, v int, left Set) Set {
	t := j.tables[table]
	tree := t.Of[v]
	if tree < 0 {
		return left
	}
	nodes := slices.Clone(t.Grid.Nodes(cell))
	for n := 1; n < len(t.Sets[v]); n++ {
		if nodes[tree] = int32(n); t.Sets[v][n].Within(left) && t.Grid.In(nodes) {
			left = left.Less(t.Sets[v][n])
		}
	}
	return left
}

// inside takes from a cell those of the other table that are parts of it, along whatever variables.
func (j *joiner) inside(a, b, cell int) {
	box := j.boxes[a][cell]
	var list []int
	for c, other := range j.boxes[b] {
		if within(other, box) {
			list = append(list, c)
		}
	}
	var parts []int
	for _, c := range bySize(list, func(c int) int { return volume(j.boxes[b][c]) }) {
		if !slices.ContainsFunc(parts, func(p int) bool { return meets(j.boxes[b][p], j.boxes[b][c]) }) {
			parts = append(parts, c)
		}
	}
	if parts == nil {
		return
	}
	e := tabular.Equation{Total: j.Cells[a][cell]}
	covered := 0
	for _, c := range parts {
		e.Parts = append(e.Parts, j.Cells[b][c])
		covered += volume(j.boxes[b][c])
	}
	if covered < volume(box) {
		e.Parts = append(e.Parts, j.group(fmt.Sprint("less", a, cell, b, parts), Group{Of: Ref{a, cell}, Less: refs(b, parts), Variable: -1}))
	}
	j.equation(e)
}

// group is the number of a group, which may be a cell of some table.
func (j *joiner) group(key string, g Group) int32 {
	_, is := j.number[key]
	g.Cell = j.cell(key)
	if !is {
		j.Groups = append(j.Groups, g)
	}
	return g.Cell
}

func refs(table int, cells []int) []Ref {
	list := make([]Ref, len(cells))
	for i, c := range cells {
		list[i] = Ref{table, c}
	}
	return list
}

// bySize are cells by their sizes, the largest first.
func bySize(cells []int, size func(int) int) []int {
	list := slices.Clone(cells)
	slices.SortFunc(list, func(x, y int) int { return cmp.Or(cmp.Compare(size(y), size(x)), cmp.Compare(x, y)) })
	return list
}

func within(a, b []Set) bool {
	for v := range a {
		if a[v].Size() == 0 || !a[v].Within(b[v]) {
			return false
		}
	}
	return true
}

func meets(a, b []Set) bool {
	for v := range a {
		if !a[v].Meets(b[v]) {
			return false
		}
	}
	return true
}

func volume(box []Set) int {
	n := 1
	for _, s := range box {
		n *= s.Size()
	}
	return n
}
