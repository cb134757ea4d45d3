// Package protection hides cells of tables, and finds out what can still be learned of hidden cells.
//
//	t := &protection.Table{System: grid.System(), Values: values}
//	needs := []protection.Need{{Cell: 7, Lower: 1, Upper: 1}}              // in units of the values
//	p, err := protection.Optimal(ctx, t, needs, protection.Options{Cost: values})
//	report, err := protection.Audit(ctx, t, p.Hidden, needs, protection.InsiderExact)
//
// Everything is by cell number of the system; values are whole numbers of some unit, up to 2^53 of them. The attacker knows the published
// cells, the equations, and bounds of every cell beforehand. What he knows of a hidden cell is the interval between its least and its
// largest value among all real tables that agree with that. All intervals found here lie inside his, with ends that were proven with whole
// numbers: what passes is safe.
//
// Sources: Fischetti & Salazar-González 2001, Solving the cell suppression problem on tabular data with linear constraints; Castro 2007 and
// Cox 1995 on networks; Repsilber 1994 and Giessing & Repsilber 2002 on the hypercube; de Wolf 2002 on modular suppression.
package protection

import (
	"fmt"
	"math"

	"microrisk/engine/tabular"
)

// MaxValue is the largest value, and the largest finite bound, that a cell may have.
const MaxValue = 1 << 53

// NoLow is the least value of a cell of which no least one is known.
const NoLow = math.MinInt64

// A Table is what its protector knows of it. Slices are by cell number.
type Table struct {
	System *tabular.System
	Values []int64 // true values, in units
	// Low and High are what everybody knows of each cell beforehand: nil for 0, and for no end. NoLow stands for no end of Low, and
	// tabular.NoLimit for none of High.
	Low, High []int64
	// Sole is who the one contributor of a cell is, 0 for a cell with none or several; nil if nobody is.
	Sole []int64
	// Grid is what the system is of, nil if that is not known: proofs are found sooner with it.
	Grid *tabular.Grid
}

// A Need is what the attacker must not know of a hidden cell that discloses: its interval has to reach down to its value less Lower (or the
// bound known beforehand, if that is nearer) and up to its value and Upper, and to be Sliding wide, at least 1. All are in units.
type Need struct {
	Cell                  int32
	Lower, Upper, Sliding int64
}

// An Insider says what the one contributor of a hidden cell, who knows his own, must not know of the cells of others that have needs.
type Insider uint8

// Insiders.
const (
	InsiderExact Insider = iota // the value
	InsiderFull                 // as little as everybody else
	InsiderOff                  // there are none
)

// An Interval is what is known of a cell; Low is NoLow and High is tabular.NoLimit where there is no end.
type Interval struct{ Low, High int64 }

// Check finds what is wrong with a table: slices of other lengths than it has cells, values or bounds beyond MaxValue, bounds that the
// values break, equations with cells that are not there.
func (t *Table) Check() error {
	n := t.System.Cells
	for _, list := range []struct {
		name   string
		length int
		needed bool
	}{{"values", len(t.Values), true}, {"lower bounds", len(t.Low), t.Low != nil}, {"upper bounds", len(t.High), t.High != nil},
		{"sole contributors", len(t.Sole), t.Sole != nil}} {
		if list.needed && list.length != n {
			return fmt.Errorf("there are %d %s, of %d cells", list.length, list.name, n)
		}
	}
	if t.Grid != nil && t.Grid.Cells() != n {
		return fmt.Errorf("there is a grid of %d cells, of a table of %d", t.Grid.Cells(), n)
	}
	for cell, x := range t.Values {
		low, high := t.bounds(int32(cell))
		switch {
		case x < -MaxValue || x > MaxValue || low < -MaxValue && low != NoLow || high > MaxValue && high != tabular.NoLimit:
			return fmt.Errorf("cell %d has the value %d and the bounds %d and %d, where 2^53 is the largest", cell, x, low, high)
		case x < low || x > high:
			return fmt.Errorf("cell %d has the value %d, outside what is known beforehand, %d to %d", cell, x, low, high)
		}
	}
	for i := range t.System.Equations {
		bad := int32(-1)
		t.System.Equations[i].Each(func(cell int32, _ int64) {
			if cell < 0 || int(cell) >= n {
				bad = cell
			}
		})
		if bad != -1 {
			return fmt.Errorf("equation %d has a cell %d, of %d", i, bad, n)
		}
	}
	return nil
}

// bounds are those known beforehand of a cell.
func (t *Table) bounds(cell int32) (low, high int64) {
	high = tabular.NoLimit
	if t.Low != nil {
		low = t.Low[cell]
	}
	if t.High != nil {
		high = t.High[cell]
	}
	return low, high
}

// sole is the one contributor of a cell, 0 for none.
func (t *Table) sole(cell int32) int64 {
	if t.Sole == nil {
		return 0
	}
	return t.Sole[cell]
}

// checkNeeds finds needs of cells that are not there, or twice, or that no interval can have.
func (t *Table) checkNeeds(needs []Need) error {
	met := make(map[int32]bool, len(needs))
	for _, n := range needs {
		switch {
		case n.Cell < 0 || int(n.Cell) >= t.System.Cells:
			return fmt.Errorf("cell %d has a need, where there are %d cells", n.Cell, t.System.Cells)
		case met[n.Cell]:
			return fmt.Errorf("cell %d has two needs", n.Cell)
		case min(n.Lower, n.Upper, n.Sliding) < 0 || max(n.Lower, n.Upper, n.Sliding) > MaxValue:
			return fmt.Errorf("cell %d needs %d below, %d above, and a width of %d: each is 0 to 2^53", n.Cell, n.Lower, n.Upper, n.Sliding)
		}
		met[n.Cell] = true
	}
	return nil
}

// A plan is a table with what is worked out once: how far cells can move from their values, and which equations say something.
type plan struct {
	*Table
	of       [][]int32 // equations of each cell, without those that follow from others
	up, down []int64   // infinite for no end
	place    []int32   // by cell, 1 and its place in the area at hand; 0 in between
	met      []int32   // by equation, the search that came by
	metCell  []int32
	stamp    int32

	totals, parts [][]int32 // by cell: those it is a part of, and its parts along all splits; nil until they are asked for
}

// infinite is a distance without an end.
const infinite = math.MaxInt64

// newPlan checks a table and needs.
func newPlan(t *Table, needs []Need) (*plan, error) {
	if err := t.Check(); err != nil {
		return nil, err
	}
	if err := t.checkNeeds(needs); err != nil {
		return nil, err
	}
	n := t.System.Cells
	p := &plan{Table: t, of: t.System.Of(), up: make([]int64, n), down: make([]int64, n), place: make([]int32, n),
		met: make([]int32, len(t.System.Equations)), metCell: make([]int32, n)}
	for cell, x := range t.Values {
		low, high := t.bounds(int32(cell))
		p.down[cell], p.up[cell] = infinite, infinite
		if low != NoLow {
			p.down[cell] = x - low
		}
		if high != tabular.NoLimit {
			p.up[cell] = high - x
		}
	}
	follows := implied(t.System)
	for cell, list := range p.of {
		kept := list[:0]
		for _, e := range list {
			if !follows[e] {
				kept = append(kept, e)
			}
		}
		p.of[cell] = kept
	}
	return p, nil
}

// capped is a need that a cell can have at all.
func (p *plan) capped(n Need) Need {
	n.Lower = min(n.Lower, p.down[n.Cell])
	n.Sliding = max(n.Sliding, 1)
	return n
}
