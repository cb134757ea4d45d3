package protection

import "slices"

// A network is an area each of whose cells goes from one equation to another, when some equations' signs are changed: moving cells is sending
// flows around. Its answers are exact.
type network struct {
	*area
	tail, head []int32 // nodes of columns: rows, and one for what is outside
	flip       []int64 // signs of rows
	first      []int32 // arcs of node v are arcs[first[v]:first[v+1]]
	arcs       []int32 // columns that leave, complements of columns that arrive
	moved      []int64
	touched    []int32   // columns that have moved, perhaps back and several times
	open       [][]int32 // arcs of each node that have room where nothing has moved, or had it once; nil where they are not known
	listed     []bool    // arcs that are in open, by column and the complement's
	gained     []int32   // arcs that have room only as something has moved
	gains      []int32   // stamps of their nodes
	from       []int32   // arc by which a node was reached
	seen       []int32
	stamp      int32
	queue      []int32
	both       *[2]across // of the two nodes; nil where it is not known
	// avoid are columns that stay where they are; nil for none. Who is eager begins at the end with fewer arcs: potentials are not asked for.
	avoid  func(column int32) bool
	eager  bool
	joint  map[[2]int32][]int32 // arcs from a node to another one; nil until they are asked for
	behind [][]int32            // open, for arcs that are gone along against their direction
}

// across is what all arcs from a node to the other one can send together.
type across struct {
	sum     float64 // of those with an end; exact as long as it is believed
	endless int     // arcs without an end
}

// newNetwork is nil for an area that is no network: one with a cell in three equations, or whose equations' signs do not agree.
func newNetwork(a *area) *network {
	n := &network{area: a, flip: make([]int64, len(a.rows)), tail: make([]int32, len(a.cells)), head: make([]int32, len(a.cells)),
		moved: make([]int64, len(a.cells)), listed: make([]bool, 2*len(a.cells))}
	type end struct {
		row  int32
		sign int64
	}
	ends := make([][2]end, len(a.cells))
	count := make([]int8, len(a.cells))
	for i, row := range a.rows {
		for _, e := range row {
			if count[e.column] == 2 {
				return nil
			}
			ends[e.column][count[e.column]] = end{int32(i), e.sign}
			count[e.column]++
		}
	}
	for i := range a.rows {
		if n.flip[i] != 0 {
			continue
		}
		n.flip[i] = 1
		for queue := []int32{int32(i)}; len(queue) > 0; queue = queue[1:] {
			at := queue[0]
			for _, e := range a.rows[at] {
				if count[e.column] < 2 {
					continue
				}
				x, y := ends[e.column][0], ends[e.column][1]
				if x.row != at {
					x, y = y, x
				}
				switch want := -n.flip[at] * x.sign * y.sign; n.flip[y.row] {
				case 0:
					n.flip[y.row] = want
					queue = append(queue, y.row)
				case -want:
					return nil
				}
			}
		}
	}
	outside := int32(len(a.rows))
	for j := range a.cells {
		n.tail[j], n.head[j] = outside, outside
		for _, e := range ends[j][:count[j]] {
			if n.flip[e.row]*e.sign > 0 {
				n.head[j] = e.row
			} else {
				n.tail[j] = e.row
			}
		}
	}
	n.index()
	return n
}

func (n *network) index() {
	nodes := len(n.rows) + 1
	n.from, n.seen, n.first = make([]int32, nodes), make([]int32, nodes), make([]int32, nodes+1)
	n.open, n.gains = make([][]int32, nodes), make([]int32, nodes)
	for j := range n.cells {
		n.first[n.tail[j]+1]++
		n.first[n.head[j]+1]++
	}
	for v := range nodes {
		n.first[v+1] += n.first[v]
	}
	n.arcs = make([]int32, 2*len(n.cells))
	next := append([]int32(nil), n.first...)
	for j := range n.cells {
		t, h := n.tail[j], n.head[j]
		n.arcs[next[t]] = int32(j)
		next[t]++
		n.arcs[next[h]] = ^int32(j)
		next[h]++
	}
}

// room is how much more can be sent along an arc, or back along it if it is a complement.
func (n *network) room(a int32) int64 {
	if a >= 0 {
		if n.up[a] == infinite {
			return infinite
		}
		return n.up[a] - n.moved[a]
	}
	if n.down[^a] == infinite {
		return infinite
	}
	return n.down[^a] + n.moved[^a]
}

// ends are the nodes that an arc, or its complement, goes between.
func (n *network) ends(a int32) (from, to int32) {
	if a >= 0 {
		return n.tail[a], n.head[a]
	}
	return n.head[^a], n.tail[^a]
}

// rooms are the arcs of a node that can have room where nothing has moved. Whoever asks for many cells does not go through all others for each.
func (n *network) rooms(v int32) []int32 {
	if n.open[v] == nil {
		n.open[v] = []int32{}
		for _, a := range n.arcs[n.first[v]:n.first[v+1]] {
			if n.limit(a) > 0 {
				n.open[v] = append(n.open[v], a)
				n.listed[number(a)] = true
			}
		}
	}
	return n.open[v]
}

// number is that of an arc among all arcs and complements.
func number(a int32) int {
	if a >= 0 {
		return 2 * int(a)
	}
	return 2*int(^a) + 1
}

// limit is how much can be sent along an arc where nothing has moved.
func (n *network) limit(a int32) int64 {
	if a >= 0 {
		return n.up[a]
	}
	return n.down[^a]
}

// gain finds the arcs that have room only because something has moved, and their nodes.
func (n *network) gain() {
	slices.Sort(n.touched)
	n.touched, n.gained = slices.Compact(n.touched), n.gained[:0]
	for _, j := range n.touched {
		a := j
		if n.moved[j] > 0 {
			a = ^j
		}
		if n.moved[j] != 0 && n.limit(a) == 0 {
			n.gained = append(n.gained, a)
			from, _ := n.ends(a)
			n.gains[from] = n.stamp
		}
	}
}

// far is how far reach comes in a network of two nodes, where that is the sum of all other arcs; false if it has more nodes.
func (n *network) far(a int32, want int64) (moved int64, ok bool) {
	home, start := n.ends(a)
	if len(n.rows) != 1 {
		return 0, false
	}
	if n.both == nil {
		n.both = &[2]across{}
		for j := range n.cells {
			for _, b := range []int32{int32(j), ^int32(j)} {
				if from, to := n.ends(b); from != to {
					n.both[from].add(n.limit(b), 1)
				}
			}
		}
	}
	moved = min(want, n.limit(a))
	if start == home {
		return moved, true
	}
	others := n.both[start]
	others.add(n.limit(^a), -1)
	switch {
	case others.endless > 0:
		return moved, true
	case n.both[start].sum > MaxValue: // it might be rounded
		return 0, false
	}
	return min(moved, int64(others.sum)), true
}

func (x *across) add(room int64, sign int) {
	if room == infinite {
		x.endless += sign
	} else {
		x.sum += float64(sign) * float64(room)
	}
}

// changed is an attacker's.
func (n *network) changed(column int32) {
	n.both, n.behind = nil, nil
	for _, a := range []int32{column, ^column} {
		if v, _ := n.ends(a); n.limit(a) > 0 && !n.listed[number(a)] {
			n.open[v] = nil
		}
	}
}

func (n *network) send(a int32, amount int64) {
	n.touched = append(n.touched, max(a, ^a))
	if a >= 0 {
		n.moved[a] += amount
	} else {
		n.moved[^a] -= amount
	}
}

// potentials are an attacker's: 1 or -1 on one side of the least cut, by which no more can come.
func (n *network) potentials() []float64 {
	g := make([]float64, len(n.rows))
	inside := n.seen[len(n.rows)] == n.stamp // the outside has been reached: the other side has the rows
	for i := range g {
		switch reached := n.seen[i] == n.stamp; {
		case reached && !inside:
			g[i] = float64(n.flip[i])
		case !reached && inside:
			g[i] = -float64(n.flip[i])
		}
	}
	return g
}
