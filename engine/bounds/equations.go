package bounds

import "context"

// equations are sums: a parent node is the sum of its children. Nodes 0 to cells-1 are the base cells.
type equations struct {
	parent []int32
	start  []int32 // children of equation e: child[start[e]:start[e+1]]
	child  []int32
	first  []int32 // equations of node x: use[first[x]:first[x+1]]
	use    []int32
}

// add appends an equation.
func (q *equations) add(parent int32, children ...int32) {
	if q.start == nil {
		q.start = append(q.start, 0)
	}
	q.parent = append(q.parent, parent)
	q.child = append(q.child, children...)
	q.start = append(q.start, int32(len(q.child)))
}

// index lists the equations of each of n nodes.
func (q *equations) index(n int) {
	q.first = make([]int32, n+1)
	each := func(do func(node, e int32)) {
		for e, p := range q.parent {
			do(p, int32(e))
			for _, c := range q.child[q.start[e]:q.start[e+1]] {
				do(c, int32(e))
			}
		}
	}
	each(func(node, _ int32) { q.first[node+1]++ })
	for x := range n {
		q.first[x+1] += q.first[x]
	}
	q.use = make([]int32, q.first[n])
	next := append([]int32(nil), q.first[:n]...)
	each(func(node, e int32) {
		q.use[next[node]] = e
		next[node]++
	})
}

// A change is a node's bounds before they were tightened.
type change struct {
	node      int32
	low, high int64
}

// A state has the bounds of all nodes, and can go back.
type state struct {
	*equations
	low, high []int64
	queue     []int32 // equations to look at again, from head on
	head      int
	queued    []bool
	trail     []change
	keep      bool  // record changes
	steps     int64 // equations that may still be looked at
	looked    int64
}

func newState(q *equations, nodes int, steps int64) *state {
	s := &state{equations: q, low: make([]int64, nodes), high: make([]int64, nodes), queued: make([]bool, len(q.parent)), steps: steps}
	for x := range s.high {
		s.high[x] = infinite
	}
	return s
}

// everything queues all equations.
func (s *state) everything() {
	for e := len(s.parent) - 1; e >= 0; e-- {
		if !s.queued[e] {
			s.queued[e] = true
			s.queue = append(s.queue, int32(e))
		}
	}
}

// set narrows a node's bounds and queues its equations; false if they cross.
func (s *state) set(x int32, low, high int64) bool {
	l, h := max(low, s.low[x]), min(high, s.high[x])
	if l == s.low[x] && h == s.high[x] {
		return true
	}
	if s.keep {
		s.trail = append(s.trail, change{x, s.low[x], s.high[x]})
	}
	s.low[x], s.high[x] = l, h // even if they cross: who asks wants to see how
	for _, e := range s.use[s.first[x]:s.first[x+1]] {
		if !s.queued[e] {
			s.queued[e] = true
			s.queue = append(s.queue, e)
		}
	}
	return l <= h
}

// An outcome is how propagation ended.
type outcome int

const (
	settled outcome = iota // nothing moves any more
	broken                 // the bounds of a node cross
	stopped                // out of steps or time: bounds are valid, not final
)

// propagate tightens bounds until nothing moves. The node is the one whose bounds cross, when broken.
func (s *state) propagate(ctx context.Context) (outcome, int32) {
	for s.head < len(s.queue) {
		if s.looked++; s.looked > s.steps || s.looked&1023 == 0 && ctx.Err() != nil {
			return stopped, -1
		}
		e := s.queue[s.head]
		if s.head++; s.head > 4096 && 2*s.head > len(s.queue) {
			s.queue, s.head = s.queue[:copy(s.queue, s.queue[s.head:])], 0
		}
		s.queued[e] = false
		if x := s.look(e); x >= 0 {
			s.forget()
			return broken, x
		}
	}
	s.forget()
	return settled, -1
}

// look tightens one equation, and returns the node whose bounds cross, else -1.
func (s *state) look(e int32) int32 {
	children := s.child[s.start[e]:s.start[e+1]]
	low, high := int64(0), int64(0)
	open := 0 // children without an upper bound
	for _, c := range children {
		low = min(infinite, low+s.low[c])
		if h := s.high[c]; h >= infinite {
			open++
		} else {
			high = min(infinite, high+h)
		}
	}
	p := s.parent[e]
	above := high
	if open > 0 {
		above = infinite
	}
	if !s.set(p, low, above) {
		return p
	}
	most, least := s.high[p], s.low[p]
	if most >= infinite && least == 0 || low == most && high == most && open == 0 {
		return -1
	}
	for _, c := range children {
		l, h := int64(0), infinite
		if most < infinite {
			h = most - (low - s.low[c])
		}
		switch {
		case high >= infinite:
		case open == 0:
			l = least - (high - s.high[c])
		case open == 1 && s.high[c] >= infinite:
			l = least - high
		}
		if (l > s.low[c] || h < s.high[c]) && !s.set(c, l, h) {
			return c
		}
	}
	return -1
}

// forget empties the queue.
func (s *state) forget() {
	for _, e := range s.queue[s.head:] {
		s.queued[e] = false
	}
	s.queue, s.head = s.queue[:0], 0
}

// back undoes all changes since the trail had the given length.
func (s *state) back(to int) {
	s.forget()
	for len(s.trail) > to {
		c := s.trail[len(s.trail)-1]
		s.trail = s.trail[:len(s.trail)-1]
		s.low[c.node], s.high[c.node] = c.low, c.high
	}
}
