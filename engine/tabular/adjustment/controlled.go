package adjustment

import (
	"context"
	"errors"
	"math"

	"microrisk/engine/program"
	"microrisk/engine/tabular/protection"
)

// A controlPart is cells that hang together, some with needs, as an integer program: of each cell what it moves up and what it moves down, of
// each with a need whether it goes up.
type controlPart struct {
	*control
	cells []int32
	needs []protection.Need // in the order of the cells
	cut   int64             // where moves that could go further end, in steps
	scale float64           // of costs
	moves []int64           // of the best table, in steps; nil for none
	cost  float64           // of it, in the program's
	bound float64
}

func (c *control) part(cells []int32) *controlPart {
	p := &controlPart{control: c, cells: cells, scale: 1, cost: program.Infinity, cut: 1}
	for _, cell := range cells {
		if need, has := c.needs[cell]; has {
			p.needs = append(p.needs, need)
			p.cut += 64 * int64(c.raised(max(need.Lower, need.Upper)))
		}
		for float64(c.weight(cell)) > 1<<20*p.scale {
			p.scale *= 2
		}
	}
	return p
}

// model is the program with the first of the needs. The columns are those of moves up, of moves down, and of directions.
func (p *controlPart) model(needs int) *program.Model {
	m := &program.Model{Name: "adjustment"}
	place := make(map[int32]int, len(p.cells))
	for j, cell := range p.cells {
		place[cell] = j
		m.AddColumn("", 0, p.steps(p.up[cell], p.cut), float64(p.weight(cell))/p.scale, true)
	}
	for _, cell := range p.cells {
		m.AddColumn("", 0, p.steps(p.down[cell], p.cut), float64(p.weight(cell))/p.scale, true)
	}
	met := make(map[int32]bool)
	for _, cell := range p.cells {
		for _, e := range p.of[cell] {
			if met[e] {
				continue
			}
			met[e] = true
			var terms []program.Term
			p.System.Equations[e].Each(func(other int32, sign int64) {
				if p.move[other] {
					terms = append(terms, program.Term{Column: place[other], Value: float64(sign)},
						program.Term{Column: len(p.cells) + place[other], Value: -float64(sign)})
				}
			})
			m.AddRow("", 0, 0, terms...)
		}
	}
	for _, need := range p.needs[:needs] {
		t := m.AddColumn("", 0, 1, 0, true)
		up, down := place[need.Cell], len(p.cells)+place[need.Cell]
		upper, lower := p.raised(need.Upper), p.raised(need.Lower)
		if m.Columns[up].High < upper {
			m.Columns[t].High = 0
		}
		if m.Columns[down].High < lower {
			m.Columns[t].Low = 1
		}
		inf := program.Infinity
		m.AddRow("", 0, inf, program.Term{Column: up, Value: 1}, program.Term{Column: t, Value: -upper})
		m.AddRow("", lower, inf, program.Term{Column: down, Value: 1}, program.Term{Column: t, Value: lower})
		m.AddRow("", -inf, 0, program.Term{Column: up, Value: 1}, program.Term{Column: t, Value: -m.Columns[up].High})
		m.AddRow("", -inf, m.Columns[down].High, program.Term{Column: down, Value: 1}, program.Term{Column: t, Value: m.Columns[down].High})
	}
	return m
}

// take keeps a solution if it is the best.
func (p *controlPart) take(s *program.Solution) {
	if s == nil || s.X == nil || s.Objective >= p.cost {
		return
	}
	p.cost, p.moves = s.Objective, make([]int64, len(p.cells))
	for j := range p.cells {
		p.moves[j] = int64(math.Round(s.X[j]) - math.Round(s.X[len(p.cells)+j]))
	}
}

// begin finds any table: with the directions that the relaxation prefers, else all up or all down. Moves without an end are cut further away
// if there is none.
func (p *controlPart) begin(ctx context.Context) error {
	for range 3 {
		m := p.model(len(p.needs))
		relaxed := *m
		relaxed.Columns = append([]program.Column(nil), m.Columns...)
		for j := range relaxed.Columns {
			relaxed.Columns[j].Integer = false
		}
		s, err := program.Embedded{}.Solve(ctx, &relaxed)
		switch {
		case errors.Is(ctx.Err(), context.Canceled):
			return ctx.Err()
		case err != nil && !errors.Is(err, program.ErrNumerical):
			return err
		case err == nil && s.Status == program.Infeasible:
			if p.least() < program.Infinity {
				p.cut *= 64
				continue
			}
			return p.explain(ctx)
		case err == nil && s.X != nil:
			p.bound = s.Objective
			return p.guess(ctx, m, s.X)
		}
		return nil
	}
	return p.explain(ctx)
}

// least is what a table costs at least that moves a cell further than where such moves were cut; infinite if none was.
func (p *controlPart) least() float64 {
	least := program.Infinity
	for _, cell := range p.cells {
		for _, units := range []int64{p.up[cell], p.down[cell]} {
			if units/p.step > p.cut {
				least = min(least, float64(p.weight(cell))/p.scale*float64(p.cut))
			}
		}
	}
	return least
}

// guess fixes directions, by the relaxation and otherwise, and keeps the best table that comes of it.
func (p *controlPart) guess(ctx context.Context, m *program.Model, x []float64) error {
	first := 2 * len(p.cells)
	for _, way := range []func(t int) bool{func(t int) bool { return x[first+t] >= 0.5 }, func(int) bool { return true }, func(int) bool { return false }} {
		fixed := *m
		fixed.Columns = append([]program.Column(nil), m.Columns...)
		for t := range p.needs {
			c := &fixed.Columns[first+t]
			if way(t) {
				c.Low = c.High
			} else {
				c.High = c.Low
			}
		}
		e := program.Embedded{Nodes: 256}
		if p.moves != nil {
			e.Cutoff, e.Bounded = p.cost, true
		}
		s, err := e.Solve(ctx, &fixed)
		if err != nil && !errors.Is(err, program.ErrNumerical) {
			return err
		}
		if err == nil {
			p.take(s)
		}
	}
	if errors.Is(ctx.Err(), context.Canceled) {
		return ctx.Err()
	}
	return nil
}

// solve finds the best table within the limits.
func (p *controlPart) solve(ctx context.Context) error {
	m := p.model(len(p.needs))
	var s *program.Solution
	var err error
	if p.Solver != nil {
		s, err = p.Solver.Solve(ctx, m)
	} else {
		e := program.Embedded{Nodes: p.Nodes}
		if p.moves != nil {
			e.Cutoff, e.Bounded = p.cost-1e-7*max(1, p.cost), true
		}
		s, err = e.Solve(ctx, m)
	}
	switch {
	case errors.Is(ctx.Err(), context.Canceled):
		return ctx.Err()
	case err != nil && p.moves == nil:
		return err
	case err != nil: // the bound is the relaxation's
	case s.Status == program.Infeasible && p.moves == nil:
		return p.explain(ctx)
	case s.Status == program.Infeasible:
		p.bound = p.cost
	default:
		p.take(s)
		p.bound = max(p.bound, min(s.Bound, p.cost))
	}
	if p.moves == nil {
		return errors.Join(errFound, ctx.Err())
	}
	p.bound = min(p.bound, p.cost, p.least()) * p.scale
	return nil
}

// explain names the first need that cannot be met together with those before it.
func (p *controlPart) explain(ctx context.Context) error {
	for n := range p.needs {
		s, err := program.Embedded{Nodes: 1 << 12}.Solve(ctx, p.model(n+1))
		if err != nil || ctx.Err() != nil {
			return errors.Join(err, ctx.Err())
		}
		if need := p.needs[n]; s.Status == program.Infeasible || n == len(p.needs)-1 {
			return &ImpossibleError{Need: need, Down: p.down[need.Cell], Up: p.up[need.Cell], Others: true}
		}
	}
	return nil
}
