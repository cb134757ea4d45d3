package protection

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"time"

	"microrisk/engine/tabular"
)

// Limits of the sub-tables of Modular.
const (
	smallCells  = 200  // that may be hidden, up to which sub-tables are for the embedded solver
	nodes       = 1000 // of its integer programs, where options have no limit: most sub-tables need far fewer to be solved to the end
	nodesBeyond = 100  // of those of larger sub-tables
	returns     = 4    // passes over all sub-tables
)

// Modular solves the sub-tables of a table with hierarchies one by one by Optimal, from the top down, where hidden totals are cells with
// needs and others stay as they are, unless there is no solution: then totals are hidden too, and the sub-tables that have them are solved
// again. What attackers do not accept in the whole table is made safe, and cells that need not be hidden are shown. When 3 of 5 parts of the
// time until a deadline have passed, hypercubes do for what is left. The grid is the table's. Errors: Optimal's.
func Modular(ctx context.Context, g *tabular.Grid, t *Table, needs []Need, o Options) (*Pattern, error) {
	s, err := newSearch(ctx, t.in(g), needs, o)
	if err != nil {
		return nil, err
	}
	soon, cancel := ctx, func() {}
	if end, has := ctx.Deadline(); has {
		soon, cancel = context.WithDeadline(ctx, time.Now().Add(time.Until(end)*3/5))
	}
	defer cancel()
	tables := subTables(g)
	m := &modules{search: s, g: g, hidden: s.begun(), own: make([]bool, len(s.free)), needs: s.byCell(), solved: make([]int, len(tables))}
	for pass := 0; pass < returns && err == nil; pass++ {
		changed := false
		for i, j := 0, 0; i < len(tables) && err == nil; i = j {
			for j = i; j < len(tables) && tables[j].class == tables[i].class; {
				j++
			}
			var more bool
			more, err = m.class(soon, tables, i, j)
			changed = changed || more
		}
		if !changed {
			break
		}
	}
	if ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded) {
		m.stopped = true
		h := s.hypercuber()
		h.hidden = m.hidden
		err = h.run(ctx, tables)
	}
	if err != nil {
		return nil, err
	}
	p, err := s.finish(m.hidden, "modular")
	if err == nil {
		p.Stopped = p.Stopped || m.stopped
	}
	return p, err
}

// modules are the state of Modular.
type modules struct {
	*search
	g      *tabular.Grid
	hidden []bool
	own    []bool // hidden by the sub-table where the cell is no inherited total: it may be shown again there
	needs  map[int32]Need
	solved []int // by sub-table, 1 and how many needs it had

	stopped bool // a limit ended a search
}

// class solves the sub-tables i to j, which are of one class, and tells whether some had needs that they did not have before.
func (m *modules) class(ctx context.Context, tables []*subTable, i, j int) (changed bool, err error) {
	type result struct {
		hidden  []int32
		stopped bool
		err     error
	}
	results := make([]result, j-i)
	next := make(chan int)
	var all sync.WaitGroup
	for range min(j-i, runtime.GOMAXPROCS(0)) {
		all.Go(func() {
			for k := range next {
				r := &results[k]
				r.hidden, r.stopped, r.err = m.solve(ctx, tables[i+k])
			}
		})
	}
	for k := range results {
		if n := m.count(tables[i+k]) + 1; n > 1 && n != m.solved[i+k] {
			m.solved[i+k], changed = n, true
			next <- k
		}
	}
	close(next)
	all.Wait()
	for k, r := range results {
		if r.err != nil {
			return changed, r.err
		}
		m.stopped = m.stopped || r.stopped
		for _, c := range r.hidden {
			home := m.home(tables[i+k], c)
			m.own[c] = home && (m.own[c] || !m.hidden[c])
			m.hidden[c] = true
		}
	}
	return changed, nil
}

// home tells whether a cell of a sub-table is no total that it inherits.
func (m *modules) home(s *subTable, cell int32) bool {
	for v, n := range m.g.Nodes(int(cell)) {
		if n == s.parents[v] && n != 0 {
			return false
		}
	}
	return true
}

// need is what a cell of a sub-table needs there, false for nothing.
func (m *modules) need(s *subTable, cell int32) (Need, bool) {
	if n, primary := m.needs[cell]; primary {
		return n, true
	}
	return m.inherited(cell), m.hidden[cell] && !(m.own[cell] && m.home(s, cell))
}

func (m *modules) count(s *subTable) int {
	n := 0
	for _, c := range s.cells {
		if c < 0 {
			continue
		}
		if _, needs := m.need(s, c); needs {
			n++
		}
	}
	return n
}

// solve finds the cells that a sub-table has hidden, and tells whether a limit of its search that was asked for ended it.
func (m *modules) solve(ctx context.Context, s *subTable) (hidden []int32, stopped bool, err error) {
	t, cells := m.table(s)
	o := Options{Cost: make([]int64, len(cells)), Protected: make([]bool, len(cells)), Insider: m.o.Insider, Start: make([]bool, len(cells))}
	var needs []Need
	free := 0
	for i, c := range cells {
		n, has := m.need(s, c)
		o.Start[i] = m.hidden[c]
		if !m.hidden[c] {
			o.Cost[i] = m.o.Cost[c]
		}
		o.Protected[i] = !m.free[c] || !m.hidden[c] && !m.home(s, c)
		if has {
			n.Cell = int32(i)
			needs = append(needs, n)
		} else if !o.Protected[i] {
			free++
		}
	}
	o.Nodes, o.Most = m.o.Nodes, m.o.Most
	switch {
	case free > smallCells && m.o.Solver != nil:
		o.Solver = m.o.Solver
	case o.Nodes == 0 && free > smallCells:
		o.Nodes = nodesBeyond
	case o.Nodes == 0:
		o.Nodes = nodes
	}
	p, err := m.optimal(ctx, t, cells, needs, o)
	if err != nil {
		return nil, false, err
	}
	for i, h := range p.Hidden {
		if h {
			hidden = append(hidden, cells[i])
		}
	}
	return hidden, p.late || p.Stopped && m.o.Nodes > 0, nil
}

// optimal frees totals where there is no solution, then asks less: all attackers are tried in the whole table anyway.
func (m *modules) optimal(ctx context.Context, t *Table, cells []int32, needs []Need, o Options) (*Pattern, error) {
	freed := false
	for {
		p, err := Optimal(ctx, t, needs, o)
		var none *InfeasibleError
		if !errors.As(err, &none) {
			return p, err
		}
		if !freed {
			freed = true
			for i, c := range cells {
				o.Protected[i] = !m.free[c]
			}
			continue
		}
		for i, n := range needs {
			if n.Cell == none.Cell {
				o.Protected[n.Cell] = true
				needs = append(needs[:i:i], needs[i+1:]...)
				break
			}
		}
	}
}

// table is a sub-table as one of its own, and its cells by their numbers there.
func (m *modules) table(s *subTable) (*Table, []int32) {
	t := &Table{System: &tabular.System{}}
	var cells []int32
	number := make([]int32, len(s.cells))
	for i, c := range s.cells {
		number[i] = -1
		if c >= 0 {
			number[i] = int32(len(cells))
			cells = append(cells, c)
			t.Values = append(t.Values, m.Values[c])
			if m.Low != nil {
				t.Low = append(t.Low, m.Low[c])
			}
			if m.High != nil {
				t.High = append(t.High, m.High[c])
			}
			if m.Sole != nil {
				t.Sole = append(t.Sole, m.Sole[c])
			}
		}
	}
	t.System.Cells = len(cells)
	codes, steps := make([]int, len(s.shape)), s.shape.Steps()
	for v := range s.shape {
		for i := range s.cells {
			if number[i] < 0 || tabular.Codes(s.shape, i, codes)[v] != 0 {
				continue
			}
			e := tabular.Equation{Total: number[i]}
			for k := 1; k < s.shape[v]; k++ {
				if part := number[i+k*steps[v]]; part >= 0 {
					e.Parts = append(e.Parts, part)
				}
			}
			t.System.Equations = append(t.System.Equations, e)
		}
	}
	return t, cells
}
