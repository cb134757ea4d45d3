package protection

import "slices"

// path finds a shortest path with room from one node to another that leaves out a column.
func (n *network) path(from, to, without int32) bool {
	n.stamp++
	n.seen[from] = n.stamp
	if from == to {
		return true
	}
	n.gain()
	n.queue = append(n.queue[:0], from)
	for k := 0; k < len(n.queue); k++ {
		v := n.queue[k]
		arcs := n.rooms(v)
		if n.gains[v] == n.stamp {
			arcs = append(slices.Clip(arcs), n.gained...)
		}
		for _, a := range arcs {
			u, w := n.ends(a)
			if u != v || n.seen[w] == n.stamp || a == without || ^a == without || n.room(a) <= 0 {
				continue
			}
			n.seen[w], n.from[w] = n.stamp, a
			if w == to {
				return true
			}
			n.queue = append(n.queue, w)
		}
	}
	return false
}

// straight sends what goes along single other arcs, which are the shortest ways: of a variable with many categories that may be all of them.
func (n *network) straight(a int32, want int64) (moved int64) {
	home, start := n.ends(a)
	if start == home {
		return 0
	}
	list := n.rooms(start)
	if n.eager && len(n.rows) > 1 {
		list = n.between(start, home)
	}
	for _, b := range list {
		if moved >= want || n.room(a) <= 0 {
			break
		}
		if _, to := n.ends(b); to != home || b == a || b == ^a || n.avoids(b) {
			continue
		}
		step := min(want-moved, n.room(a), n.room(b))
		if step <= 0 {
			continue
		}
		if step == infinite {
			n.send(a, 1) // a unit shows which columns move
			n.send(b, 1)
			return infinite
		}
		n.send(a, step)
		n.send(b, step)
		moved += step
	}
	return moved
}

// rest makes all columns stay where they were.
func (n *network) rest() {
	for _, j := range n.touched {
		n.moved[j] = 0
	}
	n.touched = n.touched[:0]
}

// reach is an attacker's: a largest flow, from the truth.
func (n *network) reach(column int32, up bool, want int64) (int64, []int32, error) {
	n.rest()
	a := column
	if !up {
		a = ^column
	}
	home, start := n.ends(a)
	moved := n.straight(a, want)
	find := n.path
	if n.eager {
		find = n.soonest
	}
	for moved < want && n.room(a) > 0 && find(start, home, column) {
		step := min(want-moved, n.room(a))
		for v := home; v != start; {
			step = min(step, n.room(n.from[v]))
			v, _ = n.ends(n.from[v])
		}
		if step == infinite {
			moved = infinite
			step = 1 // a unit shows which columns move
		}
		n.send(a, step)
		for v := home; v != start; {
			n.send(n.from[v], step)
			v, _ = n.ends(n.from[v])
		}
		if moved == infinite {
			break
		}
		moved += step
	}
	slices.Sort(n.touched)
	n.touched = slices.Compact(n.touched)
	var columns []int32
	for _, j := range n.touched {
		if n.moved[j] != 0 {
			columns = append(columns, j)
		}
	}
	return moved, columns, nil
}

// avoids tells whether an arc's column stays where it is.
func (n *network) avoids(a int32) bool { return n.avoid != nil && n.avoid(max(a, ^a)) }

// between are the arcs from a node to another one, whatever room they have.
func (n *network) between(from, to int32) []int32 {
	if n.joint == nil {
		n.joint = make(map[[2]int32][]int32, 2*len(n.cells))
		for _, a := range n.arcs {
			u, w := n.ends(a)
			n.joint[[2]int32{u, w}] = append(n.joint[[2]int32{u, w}], a)
		}
	}
	return n.joint[[2]int32{from, to}]
}

// degree is how many arcs a node has.
func (n *network) degree(v int32) int32 { return n.first[v+1] - n.first[v] }

// soonest finds a path as path does, but a short one rather than the shortest, and from the end with fewer arcs: where a variable has very many
// categories, nodes of others have as many arcs, and not all are gone through.
func (n *network) soonest(from, to, without int32) bool {
	n.stamp++
	if from == to {
		return true
	}
	back := n.degree(from) > n.degree(to)
	begin, end := from, to
	if back {
		begin, end = to, from
	}
	usable := func(a int32) bool {
		if back { // it is sent along against its direction
			a = ^a
		}
		return a != without && ^a != without && !n.avoids(a) && n.room(a) > 0
	}
	before := make(map[int32]int32) // arcs by which nodes were met
	var moved []int32               // what has moved has room to move back
	for _, j := range n.touched {
		moved = append(moved, j, ^j)
	}
	n.queue = append(n.queue[:0], begin)
	n.seen[begin] = n.stamp
	for k := 0; k < len(n.queue); k++ {
		v := n.queue[k]
		if n.spread(moved, v, end, usable, before) || n.spread(n.around(v, back), v, end, usable, before) {
			n.trace(before, begin, end, back)
			return true
		}
	}
	return false
}

// spread goes from a node along arcs to nodes that were not met, and tells whether the end is one of them, or a step further.
func (n *network) spread(arcs []int32, v, end int32, usable func(int32) bool, before map[int32]int32) bool {
	for _, a := range arcs {
		u, w := n.ends(a)
		if u != v || n.seen[w] == n.stamp || !usable(a) {
			continue
		}
		if n.seen[w], before[w] = n.stamp, a; w == end {
			return true
		}
		n.queue = append(n.queue, w)
		list := n.between(w, end)
		if at := slices.IndexFunc(list, usable); at >= 0 {
			before[end] = list[at]
			return true
		}
	}
	return false
}

// around are the arcs of a node that may have room, sent along or, for back, against them.
func (n *network) around(v int32, back bool) []int32 {
	list := n.rooms(v)
	if back {
		if n.behind == nil {
			n.behind = make([][]int32, len(n.rows)+1)
		}
		if n.behind[v] == nil {
			n.behind[v] = []int32{}
			for _, a := range n.arcs[n.first[v]:n.first[v+1]] {
				if n.limit(^a) > 0 {
					n.behind[v] = append(n.behind[v], a)
				}
			}
		}
		list = n.behind[v]
	}
	return list
}

// trace puts a path into from, by the nodes that its arcs come to.
func (n *network) trace(before map[int32]int32, begin, end int32, back bool) {
	for v := end; v != begin; {
		a := before[v]
		u, _ := n.ends(a)
		if back {
			n.from[u] = ^a
		} else {
			n.from[v] = a
		}
		v = u
	}
}
