package protection

import (
	"cmp"
	"context"
	"slices"

	"microrisk/engine/tabular"
)

// Hypercube hides, for each cell with a need and for each hidden total of a sub-table, the corners of the cheapest hypercube with which the
// cell can move as far as it needs, sub-table by sub-table, again until nothing changes; then what attackers do not accept is made safe, and
// cells that need not be hidden are shown. It is quick and hides more than Optimal. With a deadline that passes the search for cells to show
// ends. In a vast table the hypercubes are boxes, each a proof by itself. The grid is the table's. Errors: Optimal's.
func Hypercube(ctx context.Context, g *tabular.Grid, t *Table, needs []Need, o Options) (*Pattern, error) {
	s, err := newSearch(ctx, t.in(g), needs, o)
	if err != nil {
		return nil, err
	}
	h := s.hypercuber()
	if s.vast() {
		return s.finish(h.hidden, "hypercube")
	}
	if err := h.run(ctx, subTables(g)); err != nil {
		return nil, err
	}
	return s.finish(h.hidden, "hypercube")
}

// hypercuber has the cells hidden that have needs, and those of the start.
func (s *search) hypercuber() *hypercuber {
	h := &hypercuber{plan: s.plan, cost: s.o.Cost, never: make([]bool, len(s.free)), hidden: s.begun(), needs: s.byCell(), insider: s.o.Insider}
	for c, free := range s.free {
		h.never[c] = !free
	}
	return h
}

// begun is the pattern of the cells that have needs, and those of the start.
func (s *search) begun() []bool {
	hidden := slices.Clone(s.primary)
	for c, free := range s.free {
		hidden[c] = hidden[c] || free && s.o.Start != nil && s.o.Start[c]
	}
	return hidden
}

func (s *search) byCell() map[int32]Need {
	m := make(map[int32]Need, len(s.needs))
	for _, n := range s.needs {
		m[n.Cell] = n
	}
	return m
}

// run passes over sub-tables until nothing changes.
func (h *hypercuber) run(ctx context.Context, tables []*subTable) error {
	done := make([]int, len(tables)) // 1 and how many cells were hidden when a pass ended: cells are never shown
	for changed := true; changed; {
		changed = false
		for i, s := range tables {
			if err := ctx.Err(); err != nil {
				return err
			}
			if s.count(h.hidden)+1 != done[i] {
				more, err := h.pass(ctx, s)
				if err != nil {
					return err
				}
				changed = more || changed
				done[i] = s.count(h.hidden) + 1
			}
		}
	}
	return nil
}

// count is how many cells are hidden.
func (s *subTable) count(hidden []bool) int {
	n := 0
	for _, c := range s.cells {
		if c >= 0 && hidden[c] {
			n++
		}
	}
	return n
}

// A hypercuber hides the corners of hypercubes (Repsilber 1994; Giessing & Repsilber 2002).
type hypercuber struct {
	*plan
	cost    []int64
	never   []bool // cells that are never hidden
	hidden  []bool
	needs   map[int32]Need
	reuse   int64 // what a corner that is hidden costs
	insider Insider
}

// A hypercube is the corners that are hidden with a cell, and how far it can move with them.
type hypercube struct {
	corners    []int32 // the cell first
	cost       int64
	above, low int64 // how far up and down it can move; infinite for no end
}

// inheritedRange is the per cent of its value that a hidden total of a sub-table is protected by.
const inheritedRange = 30

// inherited is the need of a hidden total of a sub-table.
func (p *plan) inherited(cell int32) Need {
	level := max(1, (abs(p.Values[cell])*inheritedRange+99)/100)
	return p.capped(Need{Cell: cell, Lower: level, Upper: level})
}

// need is that of a cell in a sub-table; false for one that needs nothing there.
func (h *hypercuber) need(cell int32, margin bool) (Need, bool) {
	if n, primary := h.needs[cell]; primary {
		return n, true
	}
	return h.inherited(cell), margin && h.hidden[cell]
}

// pass goes through a sub-table, and tells whether more is hidden. The error is that of a context that ended.
func (h *hypercuber) pass(ctx context.Context, s *subTable) (changed bool, err error) {
	type task struct {
		at   int
		need Need
	}
	var tasks []task
	codes := make([]int, len(s.shape))
	for i, cell := range s.cells {
		if cell < 0 {
			continue
		}
		if n, needs := h.need(cell, s.margin(tabular.Codes(s.shape, i, codes))); needs {
			tasks = append(tasks, task{i, n})
		}
	}
	slices.SortStableFunc(tasks, func(a, b task) int { return cmp.Compare(h.Values[s.cells[b.at]], h.Values[s.cells[a.at]]) })
	for _, t := range tasks {
		if err := ctx.Err(); err != nil {
			return changed, err
		}
		changed = h.protect(s, t.at, t.need) || changed
	}
	return changed, nil
}

// protect hides the corners of the cheapest hypercube that is wide enough for a cell, or else of the widest one. Where others know corners,
// there are further hypercubes without theirs, or one without any of these if that is cheaper.
func (h *hypercuber) protect(s *subTable, at int, need Need) (changed bool) {
	cell := s.cells[at]
	chosen := []*hypercube{h.cheapest(s, at, need, func(int64) bool { return false })}
	if chosen[0] == nil {
		return false
	}
	if rivals := h.rivals(cell, chosen[0].corners); len(rivals) > 0 {
		cost := chosen[0].cost
		lesser := need
		if h.insider == InsiderExact {
			lesser = Need{Cell: cell, Sliding: 1}
		}
		for _, r := range rivals {
			if c := h.cheapest(s, at, lesser, func(holder int64) bool { return holder == r }); c != nil {
				chosen = append(chosen, c)
				cost += c.cost
			}
		}
		alone := h.cheapest(s, at, need, func(holder int64) bool { return holder != 0 && holder != h.sole(cell) })
		if alone != nil && alone.enough(need) && alone.cost <= cost {
			chosen = []*hypercube{alone}
		}
	}
	for _, c := range chosen {
		for _, cell := range c.corners {
			changed = changed || !h.hidden[cell]
			h.hidden[cell] = true
		}
	}
	return changed
}

// rivals are the one contributors of corners who must not know a cell, in order.
func (h *hypercuber) rivals(cell int32, corners []int32) []int64 {
	if _, primary := h.needs[cell]; !primary || h.insider == InsiderOff {
		return nil
	}
	return h.holders(cell, corners)
}

// cheapest is the best hypercube of a cell without other corners whose holders are to be avoided, nil if there is none.
func (h *hypercuber) cheapest(s *subTable, at int, need Need, avoid func(holder int64) bool) *hypercube {
	var best *hypercube
	h.candidates(s, at, func(c *hypercube) {
		if best != nil && !h.better(c, best, need) || slices.ContainsFunc(c.corners[1:], func(c int32) bool { return avoid(h.sole(c)) }) {
			return
		}
		best = &hypercube{slices.Clone(c.corners), c.cost, c.above, c.low}
	})
	return best
}

func (h *hypercuber) better(a, b *hypercube, need Need) bool {
	wideA, wideB := a.enough(need), b.enough(need)
	switch {
	case wideA != wideB:
		return wideA
	case wideA:
		return a.cost < b.cost
	}
	narrowA, narrowB := min(a.above, a.low), min(b.above, b.low)
	return narrowA > narrowB || narrowA == narrowB && a.cost < b.cost
}

// enough is Repsilber's test: the cell can move as far as it needs, while all other hidden cells stay.
func (c *hypercube) enough(n Need) bool {
	return c.above >= n.Upper && c.low >= n.Lower && (c.above == infinite || c.low >= n.Sliding-c.above || c.low == infinite)
}

// candidates calls take for each hypercube of a cell: one other coordinate of each variable, where no corner is empty, 0 or never hidden,
// unless it is hidden. What is taken is good until take returns.
func (h *hypercuber) candidates(s *subTable, at int, take func(*hypercube)) {
	own := tabular.Codes(s.shape, at, make([]int, len(s.shape)))
	steps := s.shape.Steps()
	shift := make([]int, len(own)) // of the cell's number, to the other coordinate
	odd := make([]bool, len(own))  // the value moves against the cell's, when only this coordinate is another
	c := &hypercube{}
	var walk func(v int)
	walk = func(v int) {
		if v == len(own) {
			if h.corners(s, at, shift, odd, c) {
				take(c)
			}
			return
		}
		for other := range s.shape[v] {
			if other == own[v] {
				continue
			}
			shift[v] = (other - own[v]) * steps[v]
			odd[v] = other != 0 && own[v] != 0 // between two parts one goes up as the other goes down; a total goes with its part
			walk(v + 1)
		}
	}
	walk(0)
}

// corners fills a hypercube in; false for one that cannot be.
func (h *hypercuber) corners(s *subTable, at int, shift []int, odd []bool, c *hypercube) bool {
	c.corners, c.cost, c.above, c.low = c.corners[:0], 0, infinite, infinite
	for set := range 1 << len(shift) {
		i, against := at, false
		for v := range shift {
			if set>>v&1 == 1 {
				i += shift[v]
				against = against != odd[v]
			}
		}
		cell := s.cells[i]
		switch {
		case cell < 0:
			return false
		case h.hidden[cell]:
			if set > 0 {
				c.cost += h.reuse
			}
		case h.never[cell] || h.Values[cell] == 0:
			return false
		default:
			c.cost += h.cost[cell]
		}
		c.corners = append(c.corners, cell)
		up, down := h.up[cell], h.down[cell]
		if against {
			up, down = down, up
		}
		c.above, c.low = min(c.above, up), min(c.low, down)
	}
	return true
}
