package protection

import (
	"cmp"
	"slices"

	"microrisk/engine/tabular"
)

// boxes is a search for a box, a proof in a table of trees: along each variable a finest node goes up with all its totals, and another one goes down with its
// totals, but those that they share; a cell moves by the product of its nodes' moves. So every equation keeps its balance, whatever the
// levels of the cell that is to move. Where there is no box, nothing is proven.
type boxes struct {
	*plan
	own      []int32 // nodes of the cell
	up, down int64   // how far it has to move
	free     func(cell int32) bool
	price    func(cell int32) int64
	looks    int // at cells, that are left

	turns [][]turn // by variable
	order []int    // of the variables: those with few turns first
	nodes []int32  // scratch, of one cell
	moves []move   // of the box at hand, the cell first
	best  []move
	cost  int64 // of the best
}

// A turn is the nodes of a variable that move in a box, without the cell's own, and what the cells are worth that move if only they do.
type turn struct {
	steps []step
	cost  int64
}

// A step is a node that goes with the cell's, or against it.
type step struct {
	node    int32
	against bool
}

// A move is a cell of a box.
type move struct {
	nodes   []int32
	cell    int32
	against bool
}

// Limits of the search for a box.
const (
	mostLooks = 200_000 // at cells
	mostTurns = 2_000   // of a variable
	mostMoves = 4_096   // cells of a box
)

// box finds the box of least price with which a cell moves as far as it needs, or two: one up, one down. The cells moving are free.
func (p *plan) box(n Need, free func(int32) bool, price func(int32) int64) (w way, found bool) {
	if !p.boxable() || n.Sliding == infinite {
		return w, false
	}
	up, down := max(n.Upper, n.Sliding), n.Lower
	if both := p.cheapest(n.Cell, up, down, free, price); both != nil {
		return way{down: down, up: up, below: both, over: both}, true
	}
	if up == 0 || down == 0 {
		return w, false
	}
	over := p.cheapest(n.Cell, up, 0, free, price)
	if over == nil {
		return w, false
	}
	below := p.cheapest(n.Cell, 0, down, free, price)
	return way{down: down, up: up, below: below, over: over}, below != nil
}

// cheapest are the cells of the cheapest box, ascending; nil if none is found.
func (p *plan) cheapest(cell int32, up, down int64, free func(int32) bool, price func(int32) int64) []int32 {
	b := &boxes{plan: p, own: p.Grid.Nodes(int(cell)), up: up, down: down, free: free, price: price, looks: mostLooks, cost: infinite}
	b.nodes = slices.Clone(b.own)
	first, cost, ok := b.look(b.own, false)
	if !ok {
		return nil
	}
	b.moves = []move{first}
	b.turns = make([][]turn, len(b.own))
	for v := range b.own {
		b.order = append(b.order, v)
		if b.turns[v] = b.turnsOf(v); len(b.turns[v]) == 0 {
			return nil
		}
	}
	slices.SortStableFunc(b.order, func(v, w int) int { return cmp.Compare(len(b.turns[v]), len(b.turns[w])) })
	b.walk(0, cost)
	if b.best == nil || !p.balanced(b.best) {
		return nil
	}
	cells := make([]int32, len(b.best))
	for i, m := range b.best {
		cells[i] = m.cell
	}
	return sorted(cells)
}

// look finds a cell that can move as far as it has to, and its price.
func (b *boxes) look(nodes []int32, against bool) (m move, cost int64, ok bool) {
	b.looks--
	c := int32(b.Grid.Find(nodes))
	if c < 0 || !b.free(c) {
		return m, 0, false
	}
	up, down := b.up, b.down
	if against {
		up, down = down, up
	}
	if b.plan.up[c] < up || b.plan.down[c] < down {
		return m, 0, false
	}
	return move{cell: c, against: against}, b.price(c), true
}

// walk puts turns of a variable into the box, and goes on to the next one.
func (b *boxes) walk(at int, cost int64) {
	if at == len(b.order) {
		b.cost = cost
		b.best = slices.Clone(b.moves)
		return
	}
	v := b.order[at]
	before := len(b.moves)
	if before == 1 {
		b.moves[0].nodes = b.own
	}
	for _, s := range b.turns[v] {
		if b.looks <= 0 || plus(cost, s.cost) >= b.cost {
			return // turns ascend by what they cost
		}
		if before*(len(s.steps)+1) > mostMoves {
			continue
		}
		if sum, ok := b.widen(v, s, before, cost); ok {
			b.walk(at+1, sum)
		}
		b.moves = b.moves[:before]
	}
}

// widen adds the cells that a turn makes of the first ones; false if one cannot move, or they are too dear.
func (b *boxes) widen(v int, s turn, before int, cost int64) (int64, bool) {
	for _, t := range s.steps {
		for _, m := range b.moves[:before] {
			copy(b.nodes, m.nodes)
			b.nodes[v] = t.node
			next, more, ok := b.look(b.nodes, m.against != t.against)
			if cost = plus(cost, more); !ok || cost >= b.cost {
				return cost, false
			}
			next.nodes = slices.Clone(b.nodes)
			b.moves = append(b.moves, next)
		}
	}
	return cost, true
}

// turnsOf are the turns of a variable whose cells can move when only this variable's nodes are others, the cheapest first.
func (b *boxes) turnsOf(v int) []turn {
	tree := b.Grid.Trees[v]
	own := int(b.own[v])
	var list, within []turn
	within = b.downward(v, own, false, within)
	upper := turn{} // of the totals that move along
	for n := own; ; {
		parent := tree.Nodes[n].Parent
		if parent < 0 {
			list = b.joined(within, []turn{{}}, upper, list)
			break
		}
		var others []turn
		for _, c := range tree.Nodes[parent].Children {
			if c != n {
				others = b.reached(v, c, true, others)
			}
		}
		list = b.joined(within, others, upper, list)
		more, ok := b.single(v, parent, false)
		if !ok {
			break
		}
		upper = both(upper, more)
		n = parent
	}
	slices.SortStableFunc(list, func(s, t turn) int {
		return cmp.Or(cmp.Compare(s.cost, t.cost), cmp.Compare(len(s.steps), len(t.steps)))
	})
	return list
}

// joined adds all that are made of one of each.
func (b *boxes) joined(within, others []turn, upper turn, list []turn) []turn {
	for _, w := range within {
		for _, o := range others {
			if len(list) >= mostTurns {
				return list
			}
			list = append(list, both(both(w, o), upper))
		}
	}
	return list
}

func both(s, t turn) turn { return turn{slices.Concat(s.steps, t.steps), plus(s.cost, t.cost)} }

// single is the turn of one node.
func (b *boxes) single(v, node int, against bool) (turn, bool) {
	copy(b.nodes, b.own)
	b.nodes[v] = int32(node)
	_, cost, ok := b.look(b.nodes, against)
	return turn{[]step{{int32(node), against}}, cost}, ok
}

// downward adds the ways from a node to a finest one within it, without the node.
func (b *boxes) downward(v, node int, against bool, list []turn) []turn {
	if b.Grid.Trees[v].Leaf(node) {
		return append(list, turn{})
	}
	for _, c := range b.Grid.Trees[v].Nodes[node].Children {
		list = b.reached(v, c, against, list)
	}
	return list
}

// reached adds the ways from a node to a finest one within it, with the node.
func (b *boxes) reached(v, node int, against bool, list []turn) []turn {
	if len(list) >= mostTurns || b.looks <= 0 {
		return list
	}
	s, ok := b.single(v, node, against)
	if !ok {
		return list
	}
	for _, d := range b.downward(v, node, against, nil) {
		list = append(list, both(s, d))
	}
	return list
}

// balanced tells whether moves keep every equation.
func (p *plan) balanced(moves []move) bool {
	sums := make(map[int32]int64)
	for _, m := range moves {
		for _, e := range p.of[m.cell] {
			if m.against != (p.System.Equations[e].Total == m.cell) {
				sums[e]--
			} else {
				sums[e]++
			}
		}
	}
	for _, sum := range sums {
		if sum != 0 {
			return false
		}
	}
	return true
}

// boxed is a box of hidden cells that the holder does not know.
func (a *auditor) boxed(holder int64, n Need) (way, bool) {
	free := func(c int32) bool { return a.hidden[c] && (holder == 0 || !a.knows(holder, c, n.Cell)) }
	return a.box(n, free, func(int32) int64 { return 1 })
}

// several is the number of equations from which on boxes come before linear programs.
const several = 500

// vast tells whether a table has so many that boxes come first.
func (p *plan) vast() bool { return p.boxable() && len(p.System.Equations) > several }

// boxable tells whether boxes keep all equations: those of several tables they need not.
func (p *plan) boxable() bool { return p.Grid != nil && p.Grid.Tables == nil }

// hideBox hides the cheapest box for a need that its attacker does not know; false if no more cells are hidden.
func (p *proofs) hideBox(n Need, holder int64) bool {
	free := func(c int32) bool { return p.free[c] && (holder == 0 || !p.knows(holder, c, n.Cell)) }
	w, ok := p.box(n, free, func(c int32) int64 {
		if p.hidden[c] {
			return 0
		}
		return 1 + int64(p.weight[c])
	})
	return ok && p.add(unique(slices.Concat(w.below, w.over)))
}

// in is the table with its grid.
func (t *Table) in(g *tabular.Grid) *Table {
	of := *t
	of.Grid = g
	return &of
}
