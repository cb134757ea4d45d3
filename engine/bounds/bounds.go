// Package bounds finds what published margins of a table of counts give away about its cells: the least and the largest count
// that each cell can have, given everything that was released, exact or perturbed, of all categories or of merged ones.
//
//	a, b := []int64{4, 5}, []int64{3, 2, 4}
//	r := &bounds.Release{Levels: []int{2, 3}, Margins: []bounds.Margin{
//		{Name: "A", Variables: []int{0}, Low: a, High: a},
//		{Name: "B", Variables: []int{1}, Low: b, High: b},
//	}}
//	found, err := bounds.Of(ctx, r, bounds.Options{}) // found.Low, found.High, found.Sharp, found.Method
//
// The methods, from the cheapest on: Frechet, closed formulas where the margins are the cliques of a decomposable graph; Shuttle,
// the generalised shuttle algorithm, valid whenever it is stopped; Sharp, the tightest bounds in whole numbers, by network flows,
// search, or linear and integer programs. Of picks the best that can be afforded.
//
// Sources: Dobra & Fienberg 2000, 2008; Dobra 2002; Buzzigoli & Giusti 1999; Smith 2011, chapter 2.
package bounds

import (
	"cmp"
	"fmt"
	"math"
	"strings"

	"microrisk/engine/tabular"
)

// NoLimit as an upper bound says that there is none.
const NoLimit = math.MaxInt64

// MaxCells is the largest number of cells that a base table can have.
const MaxCells = 1 << 24

// MaxCount is the largest count, and the largest sum of the counts of a margin.
const MaxCount = 1 << 53

// infinite stands for NoLimit inside: two of them can be added.
const infinite = int64(1) << 60

// A Margin is a table that was published: sums of cells of the base table, each known within bounds.
type Margin struct {
	Name      string
	Variables []int // variables of the base table, none twice; empty for the grand total
	// Groups has, for each variable of the margin, the categories merged into each published category; nil, for one variable or
	// for all, leaves them as they are. No category is in two groups; categories in none were not published.
	Groups    [][][]int
	Low, High []int64 // least and largest count of each cell, row-major, the first variable slowest; High may be NoLimit
}

// A Release is all that was published of one base table, whose cells are numbered row-major, the first variable slowest.
type Release struct {
	Levels  []int    // number of categories of each variable of the base table
	Names   []string // names of the variables, for messages; nil for none
	Margins []Margin
}

// Cells is the number of cells of the base table.
func (r *Release) Cells() int {
	n := 1
	for _, l := range r.Levels {
		n *= l
	}
	return n
}

// shape is the number of published categories of each variable of the margin.
func (r *Release) shape(m *Margin) []int {
	shape := make([]int, len(m.Variables))
	for k, v := range m.Variables {
		shape[k] = r.Levels[v]
		if g := m.groups(k); g != nil {
			shape[k] = len(g)
		}
	}
	return shape
}

// groups are the groups of the k-th variable of the margin, nil if its categories are as they are.
func (m *Margin) groups(k int) [][]int {
	if m.Groups == nil {
		return nil
	}
	return m.Groups[k]
}

// grouped tells whether the margin merges or leaves out categories of any variable.
func (m *Margin) grouped() bool {
	for k := range m.Groups {
		if m.Groups[k] != nil {
			return true
		}
	}
	return false
}

// exact tells whether all counts are known.
func (m *Margin) exact() bool {
	for i := range m.Low {
		if m.Low[i] != m.High[i] {
			return false
		}
	}
	return true
}

// upper is the largest count of a cell, infinite for none.
func (m *Margin) upper(cell int) int64 { return min(m.High[cell], infinite) }

// coordinates splits a cell of a row-major table.
func coordinates(cell int, shape []int) []int {
	return tabular.Codes(shape, cell, make([]int, len(shape)))
}

func (r *Release) variable(v int) string {
	if v < len(r.Names) {
		return r.Names[v]
	}
	return fmt.Sprintf("variable %d", v)
}

// title names a margin in messages.
func (r *Release) title(margin int) string {
	if name := r.Margins[margin].Name; name != "" {
		return name
	}
	return fmt.Sprint(margin)
}

// place names a cell of a margin in messages.
func (r *Release) place(margin, cell int) string { return r.named(r.infeasible(margin, cell, 0, 0)) }

// named names the place of an error.
func (r *Release) named(e *InfeasibleError) string {
	var words []string
	for k, v := range e.Variables {
		words = append(words, fmt.Sprintf("%s = %d", r.variable(v), e.Cell[k]))
	}
	return cmp.Or(strings.Join(words, ", "), "the total")
}

// An InfeasibleError says that no table of counts has the released margins.
type InfeasibleError struct {
	Margin int // the margin whose constraint breaks, in the order of the release; -1 if it takes several to see it
	// Where: some variables of the margin, and a category of each; none for the grand total.
	Variables, Cell []int
	text            string
}

// Error says which margin and cell break, and how.
func (e *InfeasibleError) Error() string { return e.text }

// infeasible makes the error for a cell of a margin that would have to be at least low and at most high.
func (r *Release) infeasible(margin, cell int, low, high int64) *InfeasibleError {
	m := &r.Margins[margin]
	e := &InfeasibleError{Margin: margin, Variables: m.Variables, Cell: coordinates(cell, r.shape(m))}
	e.text = fmt.Sprintf(
		"no table has these margins: margin %s, %s: by the others it would be at least %d and at most %d",
		r.title(margin),
		r.named(e),
		low,
		high,
	)
	return e
}
