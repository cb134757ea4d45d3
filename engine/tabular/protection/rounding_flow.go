package protection

import (
	"container/heap"
	"context"
	"math"
)

// A unitFlow is the rounding of an area that is a network: every cell that goes up to the next multiple sends one from its tail to its head,
// and every equation has a number that must arrive. It starts with the cheapest choice for each cell by itself, and sends what is too much
// in one equation to where it lacks, along the cheapest ways.
type unitFlow struct {
	*network
	up     []bool
	cost   []int64 // of going up
	excess []int64 // that has arrived at a node and should not have
	price  []int64 // of nodes: no arc with room costs less than the difference of its ends'
	length []int64
	by     []int32
}

func newUnitFlow(n *network, r *rounder) *unitFlow {
	nodes := len(n.rows) + 1
	f := &unitFlow{network: n, up: make([]bool, len(n.cells)), cost: make([]int64, len(n.cells)), excess: make([]int64, nodes),
		price: make([]int64, nodes), length: make([]int64, nodes), by: make([]int32, nodes)}
	for i, row := range n.rows {
		due := n.flip[i] * r.due(row, n.cells)
		f.excess[i] -= due
		f.excess[nodes-1] += due
	}
	for j, cell := range n.cells {
		f.cost[j] = r.weight(cell) * (r.Base - 2*r.rest[cell])
		if f.cost[j] < 0 {
			f.turn(int32(j))
		}
	}
	return f
}

// turn changes the choice for a cell.
func (f *unitFlow) turn(j int32) {
	d := int64(1)
	if f.up[j] {
		d = -1
	}
	f.up[j] = !f.up[j]
	f.excess[f.tail[j]] -= d
	f.excess[f.head[j]] += d
}

// solve is 1 for the cells that go up. There always is a solution: the values themselves are one in fractions.
// The error is that of a context that ended.
func (f *unitFlow) solve(ctx context.Context) ([]int64, error) {
	for v := range f.excess {
		for f.excess[v] > 0 {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			f.cheapest(int32(v))
		}
	}
	steps := make([]int64, len(f.up))
	for j, up := range f.up {
		if up {
			steps[j] = 1
		}
	}
	return steps, nil
}

// cheapest sends one from a node to one that lacks, along the cheapest way there is (Dijkstra 1959, with prices as Edmonds & Karp 1972).
func (f *unitFlow) cheapest(from int32) {
	for v := range f.length {
		f.length[v] = math.MaxInt64
	}
	f.length[from] = 0
	var found []int32 // nodes whose length is known
	to := int32(-1)
	f.stamp++
	for queue := (farthest{{from, 0}}); len(queue) > 0; {
		at := heap.Pop(&queue).(reached)
		if f.seen[at.node] == f.stamp {
			continue
		}
		f.seen[at.node] = f.stamp
		found = append(found, at.node)
		if f.excess[at.node] < 0 {
			to = at.node
			break
		}
		for _, a := range f.arcs[f.first[at.node]:f.first[at.node+1]] {
			j := a
			cost := int64(0)
			if a < 0 {
				j = ^a
			}
			if f.up[j] != (a < 0) || f.tail[j] == f.head[j] {
				continue
			}
			if cost = f.cost[j]; a < 0 {
				cost = -cost
			}
			_, next := f.ends(a)
			if l := at.length + cost + f.price[at.node] - f.price[next]; l < f.length[next] {
				f.length[next], f.by[next] = l, a
				heap.Push(&queue, reached{next, l})
			}
		}
	}
	if to < 0 {
		panic("protection: a rounding has no flow") // the true values are one
	}
	for _, v := range found {
		f.price[v] += f.length[v] - f.length[to]
	}
	for v := to; v != from; {
		a := f.by[v]
		v, _ = f.ends(a)
		if a < 0 {
			a = ^a
		}
		f.turn(a)
	}
}

// A reached node, and how far it is.
type reached struct {
	node   int32
	length int64
}

type farthest []reached

func (q farthest) Len() int { return len(q) }
func (q farthest) Less(i, j int) bool {
	return q[i].length < q[j].length || q[i].length == q[j].length && q[i].node < q[j].node
}
func (q farthest) Swap(i, j int) { q[i], q[j] = q[j], q[i] }

// Push and Pop are heap.Interface's.
func (q *farthest) Push(x any) { *q = append(*q, x.(reached)) }

// Pop removes the last one.
func (q *farthest) Pop() any {
	old := *q
	x := old[len(old)-1]
	*q = old[:len(old)-1]
	return x
}
