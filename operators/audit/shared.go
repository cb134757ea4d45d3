package audit

import "slices"

// Same tells whether two of the tables have the same cells.
func (t *Together) Same(i, j int) bool {
	return slices.Equal(unknowns(t.system.Cells[i]), unknowns(t.system.Cells[j]))
}

func unknowns(cells []int32) []int32 {
	list := slices.Clone(cells)
	slices.Sort(list)
	return slices.Compact(list)
}

// Shared is how many cells two of the tables have in common, and how many of these they publish in other ways: hidden or not, by another
// value, or in another interval.
func (t *Together) Shared(i, j int) (cells, differ int) {
	a, b := t.Releases[i], t.Releases[j]
	place := make(map[int32]int, len(t.system.Cells[j]))
	for cell, n := range t.system.Cells[j] {
		place[n] = cell
	}
	for cell, n := range t.system.Cells[i] {
		other, both := place[n]
		if !both {
			continue
		}
		if cells++; a.shown(cell) != b.shown(other) {
			differ++
		}
	}
	return cells, differ
}

// shown is what is published of a cell.
func (a *Audit) shown(cell int) Interval {
	switch {
	case !a.hidden[cell]:
		return Interval{a.values[cell], a.values[cell]}
	case a.low != nil:
		return Interval{a.low[cell], a.high[cell]}
	}
	return NoInterval
}
