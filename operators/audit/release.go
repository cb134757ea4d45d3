package audit

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"microrisk/engine/tabular/protection"
	"microrisk/operators/protect"
)

// given is what is published of the table.
func (a *Audit) given() *protect.Given {
	return &protect.Given{Values: a.values, Hidden: a.hidden, Low: a.low, High: a.high}
}

// bounds are what the table by itself, and what records told of it, leave to a cell before its sums are looked at; both are the value where it
// is published as it is.
func (a *Audit) bounds() (low, high []int64, err error) {
	if low, high, err = a.way.Limits(a.Table, a.given(), cmp.Or(a.Beforehand, "nothing")); err != nil || a.told == nil {
		return low, high, err
	}
	for cell, v := range a.Table.Values {
		if low[cell] = max(low[cell], a.least[cell]); a.told[cell] {
			low[cell], high[cell] = v, v
		}
	}
	return low, high, nil
}

// beforehand is what everybody knows of the cells without the table: where values are changed, also an empty one may have got a value.
func (a *Audit) beforehand() *protection.Table {
	if a.way.Changes() && a.way.Method != "abs" {
		return a.Table.KnownFrom(0)
	}
	return a.Table.Known(cmp.Or(a.Beforehand, "nothing"))
}

// width is the one that a cell needs whose value was changed.
func (a *Audit) width() int64 {
	if a.Sliding != nil {
		return int64(*a.Sliding)
	}
	return 1
}

// Untold is in the place of a figure that records do not tell.
const Untold = math.MinInt64

// Learn takes over what records tell of cells, counts or sums: those of all people, or of some of them. The error is of one that cannot be.
func (a *Audit) Learn(counts []int64, whole bool) error {
	if a.told == nil {
		a.told, a.least = make([]bool, len(counts)), make([]int64, len(counts))
	}
	negative := slices.ContainsFunc(a.Table.Values, func(v int64) bool { return v < 0 })
	for cell, n := range counts {
		v := a.Table.Values[cell]
		switch {
		case n == Untold:
		case whole && n != v, n > v && !negative:
			of := "there are " + a.Table.Text(n) + " records"
			if a.Response != "" {
				of = a.Response + " of the records is " + a.Table.Text(n)
			}
			return fmt.Errorf("%s has %s, and %s", a.Cell(cell), a.Table.Text(v), of)
		case negative && !whole: // others may have anything
		case whole:
			a.told[cell] = true
		default:
			a.least[cell] = max(a.least[cell], n)
		}
	}
	return nil
}

// Hides tells whether a cell is not published.
func (a *Audit) Hides(cell int) bool { return a.hidden[cell] }

// Unbalanced is how many published totals are not the sums of their published parts.
func (a *Audit) Unbalanced() int {
	n := 0
	for _, e := range a.Table.Grid.System().Equations {
		hidden := false
		e.Each(func(cell int32, _ int64) { hidden = hidden || a.hidden[cell] })
		if !hidden && e.Imbalance(a.values) != 0 {
			n++
		}
	}
	return n
}
