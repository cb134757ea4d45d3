package protection

import (
	"fmt"
	"slices"
)

// untouched tells whether a way is enough without the holder's cells moving.
func (a *auditor) untouched(w way, n Need, holder int64) bool {
	his := func(c int32) bool { return a.sole(c) == holder }
	if slices.ContainsFunc(w.below, his) || w.below == nil {
		w.down = 0
	}
	if slices.ContainsFunc(w.over, his) || w.over == nil {
		w.up = 0
	}
	return w.enough(n)
}

// Sizes of linear programs.
const (
	dense = 2000 // most rows of one that is tried: it takes 8 bytes for each pair of them
	small = 100  // cells of a component that is tried as a whole when the next ones are not enough
)

// attack finds how far a holder's view of a cell reaches, 0 for anybody outside: by flows where that is a network; else with the cells
// around it moving, a box of them, or more and more, which is a proof where it is enough.
func (a *auditor) attack(holder int64, n Need) (w way, err error) {
	if !a.brief {
		c := a.component(n.Cell)
		a.engine(c)
		switch w, is := c.attacker.(*network); {
		case is && a.wide(c.engine):
			if w.eager = true; holder != 0 {
				w.avoid = func(column int32) bool { return a.knows(holder, c.cells[column], n.Cell) }
				defer func() { w.avoid = nil }()
			}
			return a.look(c.engine, n)
		case is && holder == 0:
			return a.look(c.engine, n)
		}
	}
	if a.vast() {
		if w, found := a.boxed(holder, n); found || a.rows == 0 {
			return w, a.effort.ctx.Err()
		}
	}
	c := a.home[n.Cell]
	for _, steps := range []int{2, 3, 4, 5, 6, 8, 12, 16, 32} {
		if steps > 2 {
			c = a.component(n.Cell)
		}
		if n.Sliding == infinite || steps > 2 && len(c.cells) <= small {
			break
		}
		near, whole := a.region(n.Cell, a.hidden, holder, steps)
		if whole || c != nil && 2*len(near) > len(c.cells) {
			break
		}
		area := a.area(near)
		if len(area.rows) > a.rows {
			w, _ = a.pair(holder, n)
			return w, nil
		}
		e := &engine{area: area}
		e.connect()
		if e.attacker == nil {
			e.attacker = newLinear(area, a.effort).afresh()
		}
		if w, err = a.look(e, n); err != nil || w.enough(n) {
			return w, err
		}
	}
	c = a.component(n.Cell)
	a.engine(c)
	if c.attacker == nil {
		if len(c.area.rows) > a.rows {
			w, _ = a.pair(holder, n)
			return w, nil
		}
		c.attacker = newLinear(c.area, a.effort).afresh()
	}
	if holder != 0 {
		defer c.fix(func(cell int32) bool { return a.knows(holder, cell, n.Cell) })()
	}
	return a.look(c.engine, n)
}

// component are the cells that hang together with a hidden one.
func (a *auditor) component(cell int32) *component {
	if a.home[cell] == nil {
		c := &component{}
		c.cells, _ = a.region(cell, a.hidden, 0, -1)
		for _, d := range c.cells {
			a.home[d] = c
		}
	}
	return a.home[cell]
}

// engine gives a component an area, and an attacker if it is a network.
func (a *auditor) engine(c *component) {
	if c.engine != nil {
		return
	}
	c.engine = &engine{area: a.area(c.cells)}
	c.connect()
}

// An engine is an attacker of an area.
type engine struct {
	*area
	attacker
}

// connect gives an engine its network, if it is one.
func (e *engine) connect() {
	if w := newNetwork(e.area); w != nil {
		e.attacker = w
	}
}

// fix holds some cells where they are until what it gives back is called.
func (e *engine) fix(which func(cell int32) bool) (free func()) {
	type bound struct {
		column   int32
		down, up int64
	}
	var fixed []bound
	for j, c := range e.cells {
		if which(c) {
			fixed = append(fixed, bound{int32(j), e.down[j], e.up[j]})
			e.down[j], e.up[j] = 0, 0
			e.changed(int32(j))
		}
	}
	return func() {
		for _, b := range fixed {
			e.down[b.column], e.up[b.column] = b.down, b.up
			e.changed(b.column)
		}
	}
}

func isNetwork(a attacker) bool {
	_, is := a.(*network)
	return is
}

// wideNetwork is the most cells of a network of several equations whose intervals are found to their ends: those of one equation always are.
const wideNetwork = 4_000

// wide tells whether an area is so large that its intervals are found as far as they are needed.
func (a *auditor) wide(e *engine) bool { return len(e.rows) > 1 && len(e.cells) > a.widest }

// look asks an attacker for both ends of an interval.
func (a *auditor) look(e *engine, n Need) (w way, err error) {
	if err := a.effort.ctx.Err(); err != nil {
		return w, err
	}
	column := e.column(n.Cell)
	up, down := int64(infinite), int64(infinite)
	if a.brief || a.short || (!isNetwork(e.attacker) || a.wide(e)) && n.Sliding != infinite {
		up = max(n.Upper, n.Sliding)
	}
	if w.up, w.over, err = a.name(e, column, true, up); err != nil {
		return w, err
	}
	if up != infinite {
		if down = max(n.Lower, n.Sliding-w.up); down <= 0 {
			return w, nil
		}
	}
	w.down, w.below, err = a.name(e, column, false, down)
	return w, err
}

// name is reach, with cells in the place of columns: all of them where it is not known which move.
func (a *auditor) name(e *engine, column int32, up bool, want int64) (int64, []int32, error) {
	if n, is := e.attacker.(*network); is && a.plain && n.avoid == nil {
		arc := column
		if !up {
			arc = ^column
		}
		if moved, ok := n.far(arc, want); ok {
			return moved, nil, nil
		}
	}
	moved, columns, err := e.reach(column, up, want)
	if moved == infinite && columns == nil {
		return moved, e.cells, err
	}
	cells := make([]int32, len(columns))
	for i, c := range columns {
		cells[i] = e.cells[c]
	}
	return moved, cells, err
}

// checkHidden finds a pattern that is none.
func (p *plan) checkHidden(hidden []bool) error {
	if len(hidden) != p.System.Cells {
		return fmt.Errorf("a pattern of %d cells, where the table has %d", len(hidden), p.System.Cells)
	}
	return nil
}
