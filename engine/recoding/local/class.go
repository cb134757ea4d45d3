package local

import (
	"cmp"
	"context"
	"slices"
)

// initial fills an assignment, in ascending weight of places: those that serve most records first, each taking all that are left. Places of
// fewer than k borrow where that is no dearer than the next weight.
func (a *assignment) initial(ctx context.Context) {
	starts := a.levels()
	for l := 0; l+1 < len(starts) && a.placed < len(a.in) && ctx.Err() == nil; l++ {
		level := make([]int32, 0, starts[l+1]-starts[l])
		waiting := make([]int64, starts[l+1]-starts[l])
		for p := starts[l]; p < starts[l+1]; p++ {
			if n := a.waiting(p); n > 0 {
				level = append(level, p)
				waiting[p-starts[l]] = n
			}
		}
		slices.SortStableFunc(level, func(x, y int32) int { return cmp.Compare(waiting[y-starts[l]], waiting[x-starts[l]]) })
		for _, at := range level {
			if p := &a.places[at]; a.waiting(at)+p.rows() >= a.K {
				a.enter(at)
			}
		}
		next := 0.0
		if l+2 < len(starts) {
			next = a.places[starts[l+1]].weight
		}
		for _, at := range level {
			n, p := a.waiting(at), &a.places[at]
			if n == 0 || l+2 < len(starts) && p.weight*float64(a.K) > next*float64(n) {
				continue
			}
			if _, ok := a.lendable(p, a.K-p.rows()-n); ok {
				a.enter(at)
			}
		}
	}
}

// waiting is the number of records that could enter a place.
func (a *assignment) waiting(at int32) (n int64) {
	for _, i := range a.users[at] {
		for r := a.first[i]; r < a.first[i+1]; r++ {
			if a.in[r] < 0 {
				n++
			}
		}
	}
	return n
}

// enter puts all records that wait for a place there.
func (a *assignment) enter(at int32) {
	for _, i := range a.users[at] {
		for r := a.first[i]; r < a.first[i+1]; r++ {
			if a.in[r] < 0 {
				a.add(r, at)
			}
		}
	}
	a.settle(at)
}
