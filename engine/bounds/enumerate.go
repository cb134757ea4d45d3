package bounds

import (
	"context"
	"errors"
	"math"
)

// ErrNoLimit says that cells have no upper bound, so that there are tables without end.
var ErrNoLimit = errors.New("some cells have no upper bound: there is no end of tables")

// Enumerate goes through the tables of counts that have the released margins, each once, in ascending order by their first cells,
// until there are no more, yield says false, or most were met (0 for no such limit). It tells how many were met and whether these
// are all. The table is only valid within yield.
//
// Errors: a release that Check refuses; ErrNoLimit; *InfeasibleError if there is no table; a context that ends.
func Enumerate(ctx context.Context, r *Release, most int64, yield func(table []int64) bool) (n int64, all bool, err error) {
	sys, err := newSystem(ctx, r)
	if err != nil {
		return 0, false, err
	}
	if !sys.bounded() {
		return 0, false, ErrNoLimit
	}
	net := newNetwork(sys, false)
	s, row := net.state(math.MaxInt64)
	if row >= 0 {
		x := net.rowNode[row]
		return 0, true, net.failure(x, s.low[x], s.high[x])
	}
	if out, x := s.propagate(ctx); out == broken {
		return 0, true, net.failure(x, s.low[x], s.high[x])
	} else if out == stopped {
		return 0, false, ctx.Err()
	}
	h := newSearcher(ctx, net, s)
	h.keep = true
	all = true
	_, out := h.explore(true, func(table []int64) bool {
		if most > 0 && n == most || !yield(table) {
			all = false
			return false
		}
		n++
		return true
	})
	switch {
	case out == stopped:
		return n, false, ctx.Err()
	case all && n == 0:
		return 0, true, noTable()
	}
	return n, all, nil
}

// noTable is the error where only search found that there is no table.
func noTable() *InfeasibleError {
	return &InfeasibleError{Margin: -1, text: "no table has these margins: no single one of their cells breaks, but search comes to no end that fits them all"}
}
