package redesign

import (
	"container/heap"
	"context"
	"errors"
	"slices"
)

// Options of a search.
type Options struct {
	Best  int // redesigns that are wanted; 0: one
	Nodes int // designs that are judged at most, and a few more; 0: any number
}

// A Safe redesign leaves nothing unsafe.
type Safe struct {
	Design Design
	Cost   Cost
	Cells  int // of the redesigned table
}

// A Result is what came of a search.
type Result struct {
	Best   []Safe // the cheapest first, none coarser than another
	Proven int    // how many of the first of Best are the cheapest, in this order; the others are the best so far
	Whole  bool   // there are no others than these, or none at all
	Bound  int64  // what a safe redesign that is not proven loses at least
	Nodes  int    // designs that were judged
	Fewest *Left  // with no safe one: the fewest unsafe cells that were met
}

// Left is a design that leaves something unsafe.
type Left struct {
	Design Design
	Unsafe int
}

// A state is a design to be looked at.
type state struct {
	design Design
	cost   Cost
	key    [4]int64 // no safe design that is as coarse loses less
	place  string
	judged *Verdict
}

type queue []*state

func (q queue) Len() int { return len(q) }
func (q queue) Less(i, j int) bool {
	if c := slices.Compare(q[i].key[:], q[j].key[:]); c != 0 {
		return c < 0
	}
	return q[i].place < q[j].place
}
func (q queue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *queue) Push(x any)   { *q = append(*q, x.(*state)) }
func (q *queue) Pop() any {
	old := *q
	x := old[len(old)-1]
	*q = old[:len(old)-1]
	return x
}

// searching is a search that goes on.
type searching struct {
	*Problem
	o      Options
	result *Result
	met    map[string]bool
	queue  queue
}

// errEnough ends a search at its limit.
var errEnough = errors.New("enough")

// Search finds the cheapest redesigns with which nothing is unsafe. Designs are looked at in the order of what they lose; of one that leaves
// something unsafe those follow that merge an unsafe cell with another, as each safe one does that is coarser. So the first safe ones are
// the cheapest, whatever the rule is; if it is monotone, and nothing helps, that is known at once. A context that ends, or Nodes, end the
// search with the best so far.
func (p *Problem) Search(ctx context.Context, o Options) (*Result, error) {
	p.Ready()
	o.Best = max(o.Best, 1)
	s := &searching{Problem: p, o: o, result: &Result{}, met: make(map[string]bool)}
	err := s.search(ctx)
	switch {
	case errors.Is(err, errEnough) || errors.Is(err, context.DeadlineExceeded) && ctx.Err() != nil:
		if len(s.queue) > 0 {
			s.result.Bound = s.queue[0].key[0]
		}
		if err := s.descend(ctx); err != nil {
			return nil, err
		}
	case err != nil:
		return nil, err
	default:
		s.result.Whole = len(s.queue) == 0
	}
	return s.result, nil
}

func (s *searching) search(ctx context.Context) error {
	if s.Monotone && s.Local {
		d := s.coarsest()
		v, err := s.judge(ctx, d)
		if err != nil {
			return err
		}
		if len(v.Unsafe) > 0 {
			s.fewest(d, v)
			return nil
		}
	}
	s.push(s.Same(), [4]int64{})
	for len(s.queue) > 0 && len(s.result.Best) < s.o.Best {
		x := s.queue[0]
		if x.judged == nil {
			v, err := s.judge(ctx, x.design)
			if err != nil {
				return err // it stays in the queue: its cost is the bound
			}
			s.fewest(x.design, v)
			x.judged = &v
			if key := s.bound(x); slices.Compare(key[:], x.key[:]) > 0 {
				x.key = key
				heap.Fix(&s.queue, 0)
				continue
			}
		}
		heap.Pop(&s.queue)
		if len(x.judged.Unsafe) == 0 {
			s.safe(x.design, x.cost, x.judged.Cells)
			s.result.Proven = len(s.result.Best)
			continue
		}
		for _, m := range s.branch(x.design, x.judged.Unsafe) {
			if next, ok := s.Apply(x.design, m); ok {
				s.push(next, x.key)
			}
		}
	}
	return nil
}

// push puts a design into the queue, unless it was there, or is coarser than a safe one.
func (s *searching) push(d Design, least [4]int64) {
	place := d.place()
	if s.met[place] || slices.ContainsFunc(s.result.Best, func(b Safe) bool { return s.Coarser(d, b.Design) }) {
		return
	}
	s.met[place] = true
	x := &state{design: d, cost: s.Cost(d), place: place}
	if x.key = s.key(x.cost); slices.Compare(x.key[:], least[:]) < 0 {
		x.key = least
	}
	heap.Push(&s.queue, x)
}

// safe takes a redesign among the best, unless it is coarser than one of them.
func (s *searching) safe(d Design, c Cost, cells int) {
	if !slices.ContainsFunc(s.result.Best, func(b Safe) bool { return s.Coarser(d, b.Design) }) {
		s.result.Best = append(s.result.Best, Safe{d, c, cells})
	}
}

func (s *searching) judge(ctx context.Context, d Design) (Verdict, error) {
	if err := ctx.Err(); err != nil {
		return Verdict{}, err
	}
	if s.o.Nodes > 0 && s.result.Nodes >= s.o.Nodes {
		return Verdict{}, errEnough
	}
	s.result.Nodes++
	return s.Judge(d)
}

func (s *searching) fewest(d Design, v Verdict) {
	if n := len(v.Unsafe); n > 0 && (s.result.Fewest == nil || n < s.result.Fewest.Unsafe) {
		s.result.Fewest = &Left{d, n}
	}
}

// branch are moves of which every safe design that is coarser has one: those of an unsafe cell that has the fewest. Where a cell is unsafe
// because of others, they are all moves.
func (s *searching) branch(d Design, unsafe [][]int32) []Move {
	var fewest []Move
	if !s.Local {
		for v := range d {
			fewest = append(fewest, s.Moves(d, v, -1)...)
		}
		return fewest
	}
	for i, cell := range unsafe {
		var list []Move
		for v, node := range cell {
			list = append(list, s.Moves(d, v, node)...)
		}
		if i == 0 || len(list) < len(fewest) {
			fewest = list
		}
	}
	return fewest
}

// bound is a cost that no safe design that is as coarse is below. Each unsafe cell must become one with others in a variable where it can. Of
// cells that share no category with each other half as many categories are lost at least, since two that become one are one less; and cells
// that can change in one variable alone lose all of their categories' rows.
func (s *searching) bound(x *state) [4]int64 {
	if !s.Local || len(x.judged.Unsafe) == 0 {
		return x.key
	}
	type place struct {
		v    int
		node int32
	}
	used := make(map[place]bool)
	apart := 0
	alone := make(map[place]bool)
	for _, cell := range x.judged.Unsafe {
		var own []place
		for v, node := range cell {
			if node == 0 || len(s.Moves(x.design, v, node)) == 0 {
				continue
			}
			if s.kinds[v].nested {
				node = 0 // a code of a hierarchy may change with any other
			}
			own = append(own, place{v, node})
		}
		if len(own) == 1 && own[0].node > 0 {
			alone[own[0]] = true
		}
		if !slices.ContainsFunc(own, func(p place) bool { return used[p] }) {
			apart++
			for _, p := range own {
				used[p] = true
			}
		}
	}
	more := x.cost
	more.Categories += (apart + 1) / 2
	for v := range x.design {
		d := slices.Clone(x.design)
		collapsed := make([][]bool, len(d))
		for w := range d {
			collapsed[w] = s.collapsed(d, w)
		}
		any := false
		for node, to := range d[v] {
			if alone[place{v, to}] {
				collapsed[v][node], any = true, true
			}
		}
		if !any {
			continue
		}
		var c Cost
		for _, cell := range s.leaves {
			if s.lost(cell, collapsed) {
				c.add(s.Problem, cell)
			}
		}
		more.Cells, more.Contributors, more.Value = max(more.Cells, c.Cells), max(more.Contributors, c.Contributors), max(more.Value, c.Value)
	}
	return s.key(more)
}
