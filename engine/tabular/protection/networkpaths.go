package protection

import (
	"container/heap"
	"context"
	"errors"
)

// ErrNoNetwork says that a table is no network.
var ErrNoNetwork = errors.New("the network method is for tables of two variables, of which one may have a hierarchy: take another method")

// Network hides, for each cell with a need, the cells along which it moves up and down as far as it needs, on closed paths through the
// table's network that cost least where hidden cells cost nothing; then what attackers do not accept is made safe, and cells that need not
// be hidden are shown. With a deadline that passes the search for cells to show ends. Errors: Optimal's, ErrNoNetwork.
func Network(ctx context.Context, t *Table, needs []Need, o Options) (*Pattern, error) {
	s, err := newSearch(ctx, t, needs, o)
	if err != nil {
		return nil, err
	}
	p := s.paths()
	if p == nil {
		return nil, ErrNoNetwork
	}
	for _, n := range s.needs {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		p.protect(n)
	}
	return s.finish(p.hidden, "network")
}

// paths are the network of a whole table, in which what is hidden costs nothing.
type paths struct {
	*network
	s      *search
	hidden []bool
	cost   []int64 // of nodes, from where the search began
	new    []int32 // cells on the way that are not hidden, which breaks ties
	settle []int32 // stamps of nodes whose costs are final
	open   front
}

// paths are nil where the table is no network.
func (s *search) paths() *paths {
	cells := make([]int32, s.System.Cells)
	for i := range cells {
		cells[i] = int32(i)
	}
	n := newNetwork(s.area(cells))
	if n == nil {
		return nil
	}
	nodes := len(n.rows) + 1
	return &paths{network: n, s: s, hidden: s.begun(), cost: make([]int64, nodes), new: make([]int32, nodes), settle: make([]int32, nodes)}
}

// protect hides cells until one moves as far as it needs, or there are no more paths.
func (p *paths) protect(n Need) {
	up := p.send(n.Cell, n.Upper)
	down := p.send(^n.Cell, n.Lower)
	if up+down >= n.Sliding {
		return
	}
	down = p.send(^n.Cell, max(n.Lower, n.Sliding-up))
	p.send(n.Cell, max(n.Upper, n.Sliding-down))
}

// send moves an arc so far, and hides the cells that move with it; it may be less.
func (p *paths) send(a int32, want int64) (moved int64) {
	p.rest()
	home, start := p.ends(a)
	for moved < want && p.room(a) > 0 && p.cheapest(start, home, a) {
		step := min(want-moved, p.room(a))
		for v := home; v != start; {
			step = min(step, p.room(p.from[v]))
			v, _ = p.ends(p.from[v])
		}
		p.network.send(a, step)
		for v := home; v != start; {
			b := p.from[v]
			p.network.send(b, step)
			p.hidden[max(b, ^b)] = true
			v, _ = p.ends(b)
		}
		moved += step
	}
	return moved
}

// cheapest finds the path with room that hides cells of the least cost, without an arc.
func (p *paths) cheapest(from, to, without int32) bool {
	p.stamp++
	p.seen[from], p.cost[from], p.new[from] = p.stamp, 0, 0
	p.open = append(p.open[:0], place{node: from})
	for len(p.open) > 0 {
		at := heap.Pop(&p.open).(place)
		if at.node == to {
			return true
		}
		if p.settle[at.node] == p.stamp {
			continue
		}
		p.settle[at.node] = p.stamp
		for _, a := range p.arcs[p.first[at.node]:p.first[at.node+1]] {
			cell := max(a, ^a)
			_, w := p.ends(a)
			if a == without || a == ^without || !p.s.free[cell] || p.settle[w] == p.stamp || p.room(a) <= 0 {
				continue
			}
			next := place{w, at.cost, at.new}
			if !p.hidden[cell] {
				next.cost, next.new = next.cost+p.s.o.Cost[cell], next.new+1
			}
			if p.seen[w] == p.stamp && !next.before(place{w, p.cost[w], p.new[w]}) {
				continue
			}
			p.seen[w], p.from[w], p.cost[w], p.new[w] = p.stamp, a, next.cost, next.new
			heap.Push(&p.open, next)
		}
	}
	return false
}

// A place is a node and what it costs to come there.
type place struct {
	node int32
	cost int64
	new  int32
}

func (p place) before(q place) bool {
	return p.cost < q.cost || p.cost == q.cost && (p.new < q.new || p.new == q.new && p.node < q.node)
}

type front []place

func (f front) Len() int           { return len(f) }
func (f front) Less(i, j int) bool { return f[i].before(f[j]) }
func (f front) Swap(i, j int)      { f[i], f[j] = f[j], f[i] }

// Push and Pop are heap.Interface's.
func (f *front) Push(x any) { *f = append(*f, x.(place)) }

// Pop removes the last place.
func (f *front) Pop() any {
	old := *f
	x := old[len(old)-1]
	*f = old[:len(old)-1]
	return x
}
