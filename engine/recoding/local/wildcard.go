package local

import (
	"container/heap"
	"context"
	"errors"
	"fmt"
)

// Wildcard cuts at most most cells of a record so that at least k released rows are compatible with each, as sdcMicro counts (alpha = 1).
// It is for comparison alone: its best is worth nothing, as (k-1) blank records "protect" a whole file. Greedily, a record is cut whose
// blank cells serve most rows that lack compatible ones, by weight. Rows that cannot be served are left, and [Recount] counts them. Caps
// and codes of missing values are not for it, and errors, as are ErrTooFew and faults of the problem; a context that ends is none: the
// result is marked Interrupted.
func Wildcard(ctx context.Context, p *Problem, most int, o Options) (*Result, error) {
	in, err := newInstance(p)
	switch {
	case err != nil:
		return nil, err
	case in.capped():
		return nil, errors.New("caps do not go with wildcards: leave them out, or ask for identical rows")
	case in.lacks != nil:
		return nil, errors.New("wildcards take a missing value as a category: leave out which code is missing")
	case most < 1 || most > len(p.Codes):
		return nil, fmt.Errorf("at most %d cells of a record: from 1 to %d", most, len(p.Codes))
	}
	b := &blanks{instance: in, costs: newCosting(counted(in.weights()))}
	if err = b.prepare(ctx, most, o); err == nil {
		if err = b.serve(ctx); err == nil {
			err = b.pair(ctx, o)
		}
	}
	r := in.result(b.parts)
	r.Interrupted = err != nil
	return r, nil
}

// A circle is the classes that agree where some variables are cut. A record of one that has these cut is compatible with all.
type circle struct {
	cut     Set
	weight  float64
	members []int32
	waits   int64 // rows of its classes that lack compatible ones
	at      int   // in the heap; -1: out
}

// blanks is a search for records to cut. What it counts is on the safe side: that two records that are cut may be compatible is left out.
type blanks struct {
	*instance
	costs   *costing
	lacking []int64 // by class: compatible rows that each of its uncut rows lacks
	left    []int64 // by class: uncut rows
	of      [][]int32
	circles []circle
	queue   []int32 // a heap by the rows that wait for a unit of weight
	parts   []Part
}

func (b *blanks) prepare(ctx context.Context, most int, o Options) error {
	b.lacking, b.left = make([]int64, b.n), make([]int64, b.n)
	for c, n := range b.counts {
		b.left[c], b.lacking[c] = n, max(0, b.K-n)
	}
	b.of = make([][]int32, b.n)
	var sets []Set
	for _, s := range b.costs.order {
		if n := s.size(); n > 0 && n <= most && s&b.never == 0 {
			sets = append(sets, s)
		}
	}
	var total, waits []int64
	named := make([]int32, b.n)
	err := b.sweep(ctx, sets, o, func(g *grouping) bool {
		total = b.totals(g, total)
		waits = append(waits[:0], make([]int64, g.groups)...)
		for c, id := range g.of {
			if b.lacking[c] > 0 {
				waits[id] += b.left[c]
			}
		}
		for id := range g.groups {
			named[id] = -1
			if total[id] >= b.K && waits[id] > 0 {
				named[id] = int32(len(b.circles))
				b.circles = append(b.circles, circle{cut: g.cut, weight: b.costs.of[g.cut], waits: waits[id]})
			}
		}
		for c, id := range g.of {
			if x := named[id]; x >= 0 {
				b.circles[x].members = append(b.circles[x].members, int32(c))
				b.of[c] = append(b.of[c], x)
			}
		}
		return true
	})
	for i := range b.circles {
		b.circles[i].at = i
		b.queue = append(b.queue, int32(i))
	}
	heap.Init(b)
	return err
}

func (b *blanks) serve(ctx context.Context) error {
	for turn := 0; len(b.queue) > 0; turn++ {
		if turn%256 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		at := b.queue[0]
		x := &b.circles[at]
		c := b.giver(x)
		if x.waits == 0 || c < 0 {
			heap.Pop(b)
			continue
		}
		b.blank(x, c)
	}
	return nil
}

// giver is the class of which a record is cut: that which gains most; -1: none gains.
func (b *blanks) giver(x *circle) (giver int32) {
	giver, most := -1, int64(0)
	for _, c := range x.members {
		if b.left[c] == 0 {
			continue
		}
		gain := x.waits
		if b.lacking[c] > 0 {
			gain += b.lacking[c] - b.left[c]
		}
		if gain > most {
			giver, most = c, gain
		}
	}
	return giver
}

// blank cuts a record of a class: it is compatible with all of the circle, and they with it.
func (b *blanks) blank(x *circle, giver int32) {
	b.parts = append(b.parts, Part{Class: int(giver), Records: 1, Cut: x.cut})
	b.left[giver]--
	if b.lacking[giver] > 0 {
		b.changed(giver, 1)
	}
	for _, c := range x.members {
		if c == giver || b.lacking[c] == 0 {
			continue
		}
		if b.lacking[c]--; b.lacking[c] == 0 {
			b.changed(c, b.left[c])
		}
	}
}

// changed tells circles that so many rows of a class wait no longer.
func (b *blanks) changed(c int32, rows int64) {
	for _, at := range b.of[c] {
		x := &b.circles[at]
		x.waits -= rows
		if x.at >= 0 {
			heap.Fix(b, x.at)
		}
	}
}

// Len, Less, Swap, Push and Pop make a heap of the circles.
func (b *blanks) Len() int { return len(b.queue) }

func (b *blanks) Less(i, j int) bool {
	x, y := &b.circles[b.queue[i]], &b.circles[b.queue[j]]
	if p, q := float64(x.waits)*y.weight, float64(y.waits)*x.weight; p != q {
		return p > q
	}
	return b.queue[i] < b.queue[j]
}

func (b *blanks) Swap(i, j int) {
	b.queue[i], b.queue[j] = b.queue[j], b.queue[i]
	b.circles[b.queue[i]].at, b.circles[b.queue[j]].at = i, j
}

func (b *blanks) Push(any) {}

func (b *blanks) Pop() any {
	last := len(b.queue) - 1
	b.circles[b.queue[last]].at = -1
	b.queue = b.queue[:last]
	return nil
}
