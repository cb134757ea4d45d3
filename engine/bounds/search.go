package bounds

import "context"

// A searcher looks for tables by branching over a network's bounds. At its root the bounds are settled.
type searcher struct {
	*state
	net   *network
	ctx   context.Context
	total int64   // steps for everything
	cap   int64   // counts above it never help to reach a lower bound
	least []int64 // least and largest counts of the tables found
	most  []int64
	last  []int64 // the last table found
}

func newSearcher(ctx context.Context, net *network, s *state) *searcher {
	h := &searcher{state: s, net: net, ctx: ctx, total: s.steps, least: make([]int64, net.sys.size), most: make([]int64, net.sys.size)}
	for i := range h.least {
		h.least[i], h.most[i] = infinite, -1
	}
	sums := make([]int64, len(net.sys.r.Margins))
	for _, w := range net.sys.rows {
		sums[w.margin] += w.low
		h.cap = max(h.cap, sums[w.margin])
	}
	return h
}

// met takes note of a table.
func (h *searcher) met(table []int64) {
	h.last = append(h.last[:0], table...)
	for i, x := range table {
		h.least[i], h.most[i] = min(h.least[i], x), max(h.most[i], x)
	}
}

// pick is the open cell with the fewest values, -1 if all are fixed; with inOrder the first one.
func (h *searcher) pick(inOrder bool) int32 {
	best, fewest := int32(-1), infinite+1
	for c := range h.net.sys.size {
		if d := h.high[c] - h.low[c]; d > 0 && d < fewest {
			if best, fewest = int32(c), d; inOrder || d == 1 {
				break
			}
		}
	}
	return best
}

// explore goes through all tables within the bounds, which are settled, until yield says false. The outcome is settled when it has been
// through all of them or was told to stop, else stopped.
func (h *searcher) explore(inOrder bool, yield func(table []int64) bool) (more bool, out outcome) {
	c := h.pick(inOrder)
	if c < 0 {
		return yield(h.low[:h.net.sys.size]), settled
	}
	middle := h.low[c] + (h.high[c]-h.low[c])/2
	for _, half := range [2][2]int64{{h.low[c], middle}, {middle + 1, h.high[c]}} {
		mark := len(h.trail)
		ok := h.set(c, half[0], half[1])
		out := broken
		if ok {
			out, _ = h.propagate(h.ctx)
		}
		more := true
		if out == settled {
			more, out = h.explore(inOrder, yield)
		}
		h.back(mark)
		if out == stopped {
			return false, stopped
		}
		if !more {
			return false, settled
		}
	}
	return true, settled
}

// reach looks for a table with cell c within low and high: settled if there is one (which is noted), broken if there is none.
func (h *searcher) reach(c int32, low, high, limit int64) outcome {
	h.keep = true
	h.steps = min(h.total, h.looked+limit)
	defer func() { h.back(0); h.keep = false; h.steps = h.total }()
	if !h.set(c, low, high) {
		return broken
	}
	return h.find()
}

// find looks for any table within the bounds.
func (h *searcher) find() outcome {
	for i := range h.net.sys.size {
		if h.high[i] >= infinite && !h.set(int32(i), 0, max(h.low[i], h.cap)) {
			return broken
		}
	}
	if out, _ := h.propagate(h.ctx); out != settled {
		return out
	}
	found := false
	_, out := h.explore(false, func(table []int64) bool {
		found = true
		h.met(table)
		return false
	})
	switch {
	case found:
		return settled
	case out == stopped:
		return stopped
	}
	return broken
}

// tighten makes both bounds of a cell sharp; it tells whether it could. The node is one whose bounds cross, -1 for none.
func (h *searcher) tighten(c int32, limit int64) (sharp bool, crossed int32) {
	for _, up := range []bool{true, false} {
		width := int64(1)
		for {
			low, high := h.low[c], h.high[c]
			if up && (h.most[c] >= high || high >= infinite) || !up && h.least[c] <= low {
				break
			}
			if up {
				low = max(low, high-width+1, h.most[c]+1)
			} else {
				high = min(high, low+width-1, h.least[c]-1)
			}
			switch h.reach(c, low, high, limit) {
			case stopped:
				return false, -1
			case settled:
				width = 1
				continue
			}
			ok := up && h.set(c, 0, low-1) || !up && h.set(c, high+1, infinite)
			if !ok {
				return true, c
			}
			if out, x := h.propagate(h.ctx); out == broken {
				return true, x
			} else if out == stopped {
				return false, -1
			}
			width *= 2
		}
	}
	return true, -1
}
