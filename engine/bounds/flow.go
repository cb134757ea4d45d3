package bounds

import (
	"context"
	"slices"
)

// A flow is a release as a circulation: the published sums fall into two families, within each of which any two are nested or
// apart. So the table is people who flow through the sums of the first family, from the largest to the smallest, through a cell, and
// through the sums of the second. It is so for two-way tables with any hierarchies, for any two margins and what lies within them.
// Then all bounds are whole numbers, and are found along residual paths.
type flow struct {
	sys        *system
	tail, head []int32 // arcs: cells first, then rows, then the one that closes the circle
	low, high  []int64
	x          []int64
	first      []int32 // arcs of node v: list[first[v]:first[v+1]], those that arrive as complements
	list       []int32
	rowArc     []int32 // arc of each row
	from       []int32 // arc by which a node was reached
	seen       []int32 // the search that reached it
	stamp      int32
	queue      []int32
	steps      int64
	limit      int64
}

// newFlow makes the circulation, false if the release has no such form.
func newFlow(s *system) (*flow, bool) {
	side, ok := s.sides()
	if !ok {
		return nil, false
	}
	f := &flow{sys: s, rowArc: make([]int32, len(s.rows)), low: make([]int64, s.size), high: make([]int64, s.size)}
	for c := range f.high {
		f.high[c] = infinite
	}
	leaf := [2][]int32{make([]int32, s.size), make([]int32, s.size)}
	for c := range s.size {
		leaf[1][c] = 1
	}
	nodes := int32(2)
	f.tail, f.head = make([]int32, s.size), make([]int32, s.size)
	order := make([]int, 0, len(s.rows))
	for i := range s.rows {
		order = append(order, i)
	}
	slices.SortStableFunc(order, func(a, b int) int { return len(s.rows[b].cells) - len(s.rows[a].cells) })
	for _, i := range order {
		w := &s.rows[i]
		if len(w.cells) == 1 {
			c := w.cells[0]
			f.rowArc[i] = c
			f.low[c], f.high[c] = max(f.low[c], w.low), min(f.high[c], w.high)
			continue
		}
		k := side[w.margin]
		parent := leaf[k][w.cells[0]]
		for _, c := range w.cells {
			leaf[k][c] = nodes
		}
		f.rowArc[i] = int32(len(f.tail))
		if k == 0 {
			f.arc(parent, nodes, w.low, w.high)
		} else {
			f.arc(nodes, parent, w.low, w.high)
		}
		nodes++
	}
	copy(f.tail, leaf[0])
	copy(f.head, leaf[1])
	f.arc(1, 0, 0, infinite)
	f.index(int(nodes))
	return f, true
}

func (f *flow) arc(tail, head int32, low, high int64) {
	f.tail, f.head = append(f.tail, tail), append(f.head, head)
	f.low, f.high = append(f.low, low), append(f.high, high)
}

func (f *flow) index(nodes int) {
	f.x, f.from, f.seen = make([]int64, len(f.tail)), make([]int32, nodes), make([]int32, nodes)
	f.first = make([]int32, nodes+1)
	for a := range f.tail {
		f.first[f.tail[a]+1]++
		f.first[f.head[a]+1]++
	}
	for v := range nodes {
		f.first[v+1] += f.first[v]
	}
	f.list = make([]int32, 2*len(f.tail))
	next := slices.Clone(f.first)
	for a := range f.tail {
		t, h := f.tail[a], f.head[a]
		f.list[next[t]] = int32(a)
		next[t]++
		f.list[next[h]] = ^int32(a)
		next[h]++
	}
}

// sides puts each margin into one of two families such that margins that cross are apart.
func (s *system) sides() ([]int, bool) {
	margins := len(s.r.Margins)
	cross := make([][]bool, margins)
	projections := make([][]int32, margins)
	for i := range cross {
		cross[i] = make([]bool, margins)
		projections[i] = s.r.projection(&s.r.Margins[i])
	}
	for i := range margins {
		for j := range i {
			c := crossing(projections[i], projections[j], len(s.r.Margins[i].Low), len(s.r.Margins[j].Low))
			cross[i][j], cross[j][i] = c, c
		}
	}
	side := make([]int, margins)
	for i := range side {
		side[i] = -1
	}
	for i := range side {
		if side[i] >= 0 {
			continue
		}
		side[i] = 0
		for queue := []int{i}; len(queue) > 0; queue = queue[1:] {
			a := queue[0]
			for b := range margins {
				if !cross[a][b] {
					continue
				}
				if side[b] < 0 {
					side[b] = 1 - side[a]
					queue = append(queue, b)
				} else if side[b] == side[a] {
					return nil, false
				}
			}
		}
	}
	return side, true
}

// crossing tells whether some cells of two margins overlap without one containing the other.
func crossing(p, q []int32, cellsP, cellsQ int) bool {
	inP, inQ := make([]int, cellsP), make([]int, cellsQ)
	both := map[[2]int32]int{}
	for c := range p {
		if p[c] >= 0 {
			inP[p[c]]++
		}
		if q[c] >= 0 {
			inQ[q[c]]++
		}
		if p[c] >= 0 && q[c] >= 0 {
			both[[2]int32{p[c], q[c]}]++
		}
	}
	for pair, n := range both {
		if n < inP[pair[0]] && n < inQ[pair[1]] {
			return true
		}
	}
	return false
}

// room is how much more can flow along an arc, or back along it if it is a complement.
func (f *flow) room(a int32) int64 {
	if a >= 0 {
		return f.high[a] - f.x[a]
	}
	return f.x[^a] - f.low[^a]
}

// ends are the nodes that an arc, or its complement, goes between.
func (f *flow) ends(a int32) (from, to int32) {
	if a >= 0 {
		return f.tail[a], f.head[a]
	}
	return f.head[^a], f.tail[^a]
}

// path finds a residual path from one node to another that leaves out one arc.
func (f *flow) path(from, to, without int32) bool {
	f.stamp++
	f.seen[from] = f.stamp
	f.queue = append(f.queue[:0], from)
	for k := 0; k < len(f.queue); k++ {
		v := f.queue[k]
		arcs := f.list[f.first[v]:f.first[v+1]]
		f.steps += int64(len(arcs))
		for _, a := range arcs {
			_, w := f.ends(a)
			if f.seen[w] == f.stamp || a == without || ^a == without || f.room(a) <= 0 {
				continue
			}
			f.seen[w], f.from[w] = f.stamp, a
			if w == to {
				return true
			}
			f.queue = append(f.queue, w)
		}
	}
	return false
}

// augment sends up to a wanted amount along an arc, or back along it if it is a complement, and home along a residual path. It tells how
// much; infinite, and sends nothing, if there is no limit.
func (f *flow) augment(a int32, want int64) int64 {
	home, start := f.ends(a)
	without := a
	if a < 0 {
		without = ^a
	}
	if !f.path(start, home, without) {
		return 0
	}
	for v := home; v != start; {
		want = min(want, f.room(f.from[v]))
		v, _ = f.ends(f.from[v])
	}
	if want > 4*MaxCount {
		return infinite
	}
	f.send(a, want)
	for v := home; v != start; {
		f.send(f.from[v], want)
		v, _ = f.ends(f.from[v])
	}
	return want
}

func (f *flow) send(a int32, amount int64) {
	if a >= 0 {
		f.x[a] += amount
	} else {
		f.x[^a] -= amount
	}
}

// feasible finds a circulation, from the present one, which is at most the upper bounds. The row is one that cannot be reached, -1
// for none.
func (f *flow) feasible(ctx context.Context) (outcome, int) {
	for i, w := range f.sys.rows {
		a := f.rowArc[i]
		if f.low[a] > f.high[a] {
			return broken, i
		}
		for f.x[a] < w.low {
			if f.steps > f.limit || ctx.Err() != nil {
				return stopped, -1
			}
			if f.augment(a, w.low-f.x[a]) == 0 {
				return broken, i
			}
		}
	}
	return settled, -1
}

// widest pushes as much as there is through a cell, or as little (up is false), and leaves it there: its sharp bound.
func (f *flow) widest(ctx context.Context, c int32, up bool) (value int64, ok bool) {
	a := c
	if !up {
		a = ^c
	}
	for f.room(a) > 0 {
		if f.steps > f.limit || ctx.Err() != nil {
			return 0, false
		}
		switch f.augment(a, f.room(a)) {
		case 0:
			return f.x[c], true
		case infinite:
			return infinite, true
		}
	}
	return f.x[c], true
}

// bounds finds the sharp bounds of all cells.
func (f *flow) bounds(ctx context.Context) (*Bounds, error) {
	b := &Bounds{Method: MethodFlow, Low: make([]int64, f.sys.size), High: make([]int64, f.sys.size)}
	sharp := make([]bool, f.sys.size)
	for c := range b.High {
		b.High[c] = infinite
	}
	for _, w := range f.sys.rows { // what is not reached within the limits keeps these
		for _, c := range w.cells {
			b.High[c] = min(b.High[c], w.high)
		}
	}
	out, i := f.feasible(ctx)
	if out == broken {
		w, a := f.sys.rows[i], f.rowArc[i]
		return nil, f.sys.r.infeasible(w.margin, w.cell, w.low, min(f.x[a], f.high[a]))
	}
	for c := range sharp {
		if out == stopped {
			break
		}
		low, ok := f.widest(ctx, int32(c), false)
		if ok {
			b.Low[c] = low
		}
		high, also := f.widest(ctx, int32(c), true)
		if also {
			b.High[c] = high
		}
		if sharp[c] = ok && also; !sharp[c] {
			out = stopped
		}
	}
	b.Steps, b.Final = f.steps, out == settled
	b.finish(sharp)
	return b, nil
}
