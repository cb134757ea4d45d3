// Package loss has what a table loses when it is protected: by the measure of its own method (M1), which compares variants of that method
// alone, and by what a log-linear model finds in it before and after (M2), which compares methods.
//
//	t := &loss.Table{Grid: grid, True: counts, Published: rounded}
//	t.Changed(counts)                 // M1 of rounding and noise, weighted by frequency: of the interior, and of all cells
//	a, err := t.Analyse(ctx, fitting.Independence(2), fitting.Options{})
//	a.Protected[0].Loss               // M2, in percent
//
// The interior are the cells of the finest categories. Source: Miller 2005, chapter 4, with the treatments of hidden cells that it leaves
// open.
package loss

import (
	"fmt"
	"math"

	"microrisk/engine/tabular"
)

// A Table is what was published of a true one. Slices are by cell of the grid; a cell that is not in the grid is 0 in both.
type Table struct {
	Grid      *tabular.Grid
	True      []float64
	Published []float64 // whatever stands for hidden cells is not looked at
	Hidden    []bool    // nil for none
}

// Check finds what is wrong with a table: slices of other lengths, numbers that are none.
func (t *Table) Check() error {
	n := t.Grid.Cells()
	if len(t.True) != n || len(t.Published) != n || t.Hidden != nil && len(t.Hidden) != n {
		return fmt.Errorf("there are %d true values, %d published ones and %d marks of hidden cells, of a grid of %d cells",
			len(t.True), len(t.Published), len(t.Hidden), n)
	}
	for cell, x := range t.True {
		if bad(x) || !t.hidden(cell) && bad(t.Published[cell]) {
			return fmt.Errorf("the cell %s has the values %v and %v", tabular.Words(t.Grid.Codes(cell)), x, t.Published[cell])
		}
	}
	return nil
}

func bad(x float64) bool { return math.IsNaN(x) || math.IsInf(x, 0) }

func (t *Table) hidden(cell int) bool { return t.Hidden != nil && t.Hidden[cell] }

// A Sum is over the interior, and over all cells, margins among them.
type Sum struct{ Interior, All float64 }

func (s *Sum) add(g *tabular.Grid, cell int, x float64) {
	s.All += x
	if g.Leaf(cell) {
		s.Interior += x
	}
}

// weight is that of a cell; weights are 1 if they are nil.
func weight(weights []float64, cell int) float64 {
	if weights == nil {
		return 1
	}
	return weights[cell]
}

// Suppressed is M1 of suppression: the weights of the hidden cells. Weights are nil for 1 each, the contributors of cells, their values, or
// any others.
func (t *Table) Suppressed(weights []float64) Sum {
	var s Sum
	for cell := range t.True {
		if t.hidden(cell) {
			s.add(t.Grid, cell, weight(weights, cell))
		}
	}
	return s
}

// Changed is M1 of rounding and noise: the weighted sum of absolute changes of the cells that are shown.
func (t *Table) Changed(weights []float64) Sum {
	var s Sum
	t.eachChange(func(cell int, change float64) { s.add(t.Grid, cell, weight(weights, cell)*change) })
	return s
}

func (t *Table) eachChange(yield func(cell int, change float64)) {
	for cell, x := range t.True {
		if !t.hidden(cell) {
			yield(cell, math.Abs(t.Published[cell]-x))
		}
	}
}

// Changes are the absolute changes of the cells that are shown.
type Changes struct {
	Cells         Sum // how many
	Largest, Mean Sum
}

// Changes finds the largest and the mean absolute change; 0 without a cell that is shown.
func (t *Table) Changes() Changes {
	var c Changes
	t.eachChange(func(cell int, change float64) {
		c.Cells.add(t.Grid, cell, 1)
		c.Largest.All = max(c.Largest.All, change)
		if t.Grid.Leaf(cell) {
			c.Largest.Interior = max(c.Largest.Interior, change)
		}
	})
	s := t.Changed(nil)
	c.Mean = Sum{s.Interior / max(1, c.Cells.Interior), s.All / max(1, c.Cells.All)}
	return c
}

// Balance is how well the published cells add up, over the equations without a hidden cell.
type Balance struct {
	Equations int
	Broken    int     // those off by more than a millionth of a millionth of their total, and of one
	Largest   float64 // how far the worst is off
}

// Balance looks at all totals of the grid.
func (t *Table) Balance() Balance {
	var b Balance
	s := t.Grid.System()
	for i := range s.Equations {
		off, seen := 0.0, true
		s.Equations[i].Each(func(cell int32, sign int64) {
			seen = seen && !t.hidden(int(cell))
			off += float64(sign) * t.Published[cell]
		})
		if !seen {
			continue
		}
		off = math.Abs(off)
		b.Equations++
		if off > 1e-12*max(1, math.Abs(t.Published[s.Equations[i].Total])) {
			b.Broken++
		}
		b.Largest = max(b.Largest, off)
	}
	return b
}

// Gone tells of each category of each tree whether it is in the one of the same place after a redesign no more.
func Gone(before, after []*tabular.Tree) [][]bool {
	gone := make([][]bool, len(before))
	for v, t := range before {
		left := after[v].Places()
		gone[v] = make([]bool, len(t.Nodes))
		for i, n := range t.Nodes {
			gone[v][i] = len(left[n.Code]) == 0
		}
	}
	return gone
}

// Collapsed is M1 of redesign: the weights of the cells of a grid, before it, that have a category which is gone.
func Collapsed(g *tabular.Grid, gone [][]bool, weights []float64) Sum {
	var s Sum
	for cell := range g.Cells() {
		for v, node := range g.Nodes(cell) {
			if gone[v][node] {
				s.add(g, cell, weight(weights, cell))
				break
			}
		}
	}
	return s
}

// Mean is that of several designs of tables: of the mean of each, weighted by the number of its tables. NaN without tables.
func Mean(means []float64, tables []int) float64 {
	sum, n := 0.0, 0
	for k, m := range means {
		if tables[k] > 0 {
			sum += m * float64(tables[k])
			n += tables[k]
		}
	}
	return sum / float64(n)
}
