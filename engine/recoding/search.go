package recoding

import (
	"container/heap"
	"context"
	"fmt"
	"math"
	"slices"
	"time"
)

// A searcher looks for the best releases.
type searcher struct {
	l        *Lattice
	o        Options
	found    *Found
	levels   [][]uint8 // that are looked at, by variable
	weight   []uint64  // of a level's place in a node's number
	queue    queue
	met, not []Node // nodes that are safe, with none finer; and those that are not, with none coarser
	tags     bool
	sharp    sharp // nil where the loss is not, or what is suppressed makes no difference
	judged   int   // nodes
	hidings  []hiding
	hidden   int                 // those that others took the place of
	seen     map[uint64]*Release // of nodes whose table was made; nil: it is not safe
	deadline time.Time
	ctx      context.Context
}

// Interrupted is why a search stopped whose context ended.
const Interrupted = "it was interrupted"

// mostNodes is how many nodes can be numbered.
const mostNodes = 1 << 62

// mostQueued is how many nodes may wait at once.
const mostQueued = 1 << 26

// Search finds the recodings that are safe at the least loss. The bounds on losses are looked at in ascending order; where the rule says so, nodes
// above a safe one are taken to be safe, and those below one that is not, not. It is exact unless it is stopped.
func (l *Lattice) Search(ctx context.Context, o Options) (*Found, error) {
	s := &searcher{l: l, o: o, ctx: ctx, seen: map[uint64]*Release{}, found: &Found{Nodes: l.Nodes()}}
	s.tags = o.Judge == nil && o.Rule.Rising && (o.Suppressed == 0 || o.Rule.Sheltered)
	if o.Judge != nil {
		s.o.Suppressed = l.Records
	}
	s.found.Pruned = s.tags
	if s.tags && o.Suppressed > 0 && !o.Loss.Blind() {
		s.sharp, _ = o.Loss.(sharp)
	}
	if f := o.Rule.figures; f != nil && s.tags {
		for _, x := range f.list {
			s.tag(x.node, o.Rule.within(x.of))
		}
	}
	if o.Time > 0 {
		s.deadline = time.Now().Add(o.Time)
	}
	place := uint64(1)
	for v := range l.Variables {
		s.levels = append(s.levels, l.allowed(v))
		s.weight = append(s.weight, place)
		place *= uint64(len(s.levels[v]))
	}
	if s.found.Nodes > mostNodes {
		return nil, fmt.Errorf("there are %.3g recodings, which are too many to be told apart: take fewer variables or levels", s.found.Nodes)
	}
	return s.found, s.run()
}

// number of a node, by the places of its levels.
func (s *searcher) number(n Node) uint64 {
	number := uint64(0)
	for v, level := range n {
		number += s.weight[v] * uint64(slices.Index(s.levels[v], level))
	}
	return number
}

func (s *searcher) node(number uint64) Node {
	n := make(Node, len(s.levels))
	for v := range n {
		n[v] = s.levels[v][number/s.weight[v]%uint64(len(s.levels[v]))]
	}
	return n
}

// raised is the node with a variable one level up, nil for none.
func (s *searcher) raised(n Node, v int) Node {
	at := slices.Index(s.levels[v], n[v])
	if at+1 == len(s.levels[v]) {
		return nil
	}
	up := slices.Clone(n)
	up[v] = s.levels[v][at+1]
	return up
}

// few is up to how many nodes a lattice has that is searched without looking for a good release first.
const few = 5000

func (s *searcher) run() error {
	bottom := s.l.Bottom()
	if s.found.Nodes > few && s.o.Least == nil {
		if err := s.descend(); err != nil {
			return err
		}
	}
	s.wait(bottom, s.o.Loss.Bound(s.l, bottom)[0], false)
	for len(s.queue) > 0 {
		next := s.queue[0]
		if s.enough(next.bound) || s.stopped() {
			break
		}
		heap.Pop(&s.queue)
		n := s.node(next.number)
		if s.o.Least != nil && !next.looked {
			if err := s.look(n, next.bound); err != nil {
				return err
			}
			continue
		}
		above, err := s.visit(n)
		if err != nil {
			return err
		}
		if s.found.Stopped != "" { // it is not done with
			heap.Push(&s.queue, next)
			break
		}
		if above && !next.looked {
			s.push(n)
		}
	}
	return s.finish()
}

// wait puts a node into the queue, unless it would not get its turn.
func (s *searcher) wait(n Node, bound float64, looked bool) {
	if !s.enough(bound) {
		heap.Push(&s.queue, queued{bound, int32(n.Height()), looked, s.number(n)})
	}
}

// look finds what a node may lose least, and lets it wait for its turn by that; the first one is judged at once, so that there is a best.
func (s *searcher) look(n Node, bound float64) error {
	s.push(n)
	if _, checked := s.seen[s.number(n)]; checked {
		return nil
	}
	o, err := s.l.Outcome(n, s.o.Rule.Safe)
	if err != nil {
		return err
	}
	s.found.Checked++
	s.tell()
	least, err := s.o.Least(o)
	if err != nil {
		return err
	}
	if len(s.found.Best) == 0 {
		_, err := s.judge(n, o)
		return err
	}
	s.wait(n, max(bound, least), true)
	return nil
}

// push lets the nodes above wait, each once: those with a variable raised after which none is.
func (s *searcher) push(n Node) {
	for v := len(n) - 1; v >= 0; v-- {
		if up := s.raised(n, v); up != nil {
			s.wait(up, s.o.Loss.Bound(s.l, up)[0], false)
		}
		if n[v] != s.levels[v][0] {
			return
		}
	}
}

// worst is the loss that others must be below to count.
func (s *searcher) worst() []float64 {
	if len(s.found.Best) > 0 {
		best := s.found.Best[0]
		// Nothing is an alternative to the finest recoding; where it takes long to judge, those that may lose less count, and so many others.
		if best.Node.Finer(s.l.Bottom()) || s.o.Least != nil && s.judged > s.o.Alternatives {
			return best.Loss
		}
	}
	if len(s.found.Best) <= s.o.Alternatives {
		return nil
	}
	return s.found.Best[s.o.Alternatives].Loss
}

func (s *searcher) enough(bound float64) bool {
	w := s.worst()
	return w != nil && compare([]float64{bound}, w[:1]) > 0
}

// stopped tells whether time, tables, or room are used up.
func (s *searcher) stopped() bool {
	switch {
	case s.ctx.Err() != nil:
		s.found.Stopped = Interrupted
	case !s.deadline.IsZero() && time.Now().After(s.deadline):
		s.found.Stopped = "the time is over"
	case s.o.Checks > 0 && s.found.Checked >= s.o.Checks:
		s.found.Stopped = "all checks are made"
	case len(s.queue) > mostQueued:
		s.found.Stopped = "too many recodings wait"
	default:
		return false
	}
	return true
}

// chain goes up from a node of which nothing is known, by the cheapest steps, and finds the first one on the way that is safe.
func (s *searcher) chain(n Node) error {
	path := []Node{n}
	for {
		var next Node
		least := math.Inf(1)
		at := path[len(path)-1]
		for v := range at {
			up := s.raised(at, v)
			if up == nil {
				continue
			}
			if _, known := s.tagged(up); known {
				continue
			}
			if b := s.bound(up); b < least && !s.enough(b) {
				next, least = up, b
			}
		}
		if next == nil {
			break
		}
		path = append(path, next)
	}
	low, high := 0, len(path)-1 // the first safe one is among these, or there is none
	for low <= high {
		middle := (low + high) / 2
		if s.stopped() {
			return nil
		}
		r, err := s.check(path[middle])
		if err != nil {
			return err
		}
		if r != nil {
			high = middle - 1
		} else {
			low = middle + 1
		}
	}
	return nil
}

// tell tells how far the search is.
func (s *searcher) tell() {
	if s.o.Progress != nil {
		bound, best := math.NaN(), math.NaN()
		if len(s.queue) > 0 {
			bound = s.queue[0].bound
		}
		if len(s.found.Best) > 0 {
			best = s.found.Best[0].Loss[0]
		}
		s.o.Progress(s.found.Checked, best, bound)
	}
}

// descend looks for a good release from the top down: the step down that gains most is taken while the release is safe.
func (s *searcher) descend() error {
	at := s.l.Top()
	r, err := s.check(at)
	if err != nil || r == nil {
		return err
	}
	for !s.stopped() {
		var best Node
		gain := 0.0
		here := s.o.Loss.Bound(s.l, at)[0]
		for v := range at {
			i := slices.Index(s.levels[v], at[v])
			if i == 0 {
				continue
			}
			down := slices.Clone(at)
			down[v] = s.levels[v][i-1]
			by := here - s.o.Loss.Bound(s.l, down)[0]
			if best != nil && by <= gain {
				continue
			}
			r, err := s.check(down)
			if err != nil {
				return err
			}
			if r != nil {
				best, gain = down, by
			}
		}
		if best == nil {
			return nil
		}
		at = best
	}
	return nil
}

// finish says what the search ended with.
func (s *searcher) finish() error {
	f := s.found
	f.Proven = f.Stopped == ""
	switch {
	case len(s.queue) > 0:
		f.Bound = []float64{s.queue[0].bound}
		if len(f.Best) > 0 && f.Best[0].Loss[0] < f.Bound[0] {
			f.Bound[0] = f.Best[0].Loss[0]
			f.Proven = true
		}
	case len(f.Best) > 0:
		f.Bound = f.Best[0].Loss
	}
	if most := s.o.Alternatives + 1; len(f.Best) > most {
		f.Best = f.Best[:most]
	}
	for i := range f.Best { // outcomes of releases that needed no table
		o, err := s.l.Outcome(f.Best[i].Node, s.o.Rule.Safe)
		if err != nil {
			return err
		}
		f.Best[i].Outcome = o
	}
	if len(f.Best) == 0 {
		o, err := s.l.Outcome(s.l.Top(), s.o.Rule.Safe)
		if err != nil {
			return err
		}
		f.Nearest = o
	}
	if err := s.ctx.Err(); err != nil && len(f.Best) == 0 {
		return err
	}
	return nil
}
