package bounds

import (
	"context"
	"math"

	"microrisk/engine/program"
)

// A programming finds bounds by linear programs, each started from the solution of the last, and where their solutions are no
// whole numbers by branch and bound. It works on the settled bounds of a state, and tightens these.
type programming struct {
	sys     *system
	state   *state
	model   *program.Model
	steps   int64
	pivots  int64
	least   []int64 // least and largest counts of the tables found
	most    []int64
	none    bool           // there is no table
	settled bool           // what has no upper bound in the state has none
	solver  program.Solver // asked where the own one stops; nil for none
}

// rowsAtMost is the largest number of rows for which a dense inverse is made.
const rowsAtMost = 3000

func newProgram(sys *system, s *state, settled bool, steps int64) *programming {
	p := &programming{
		sys:     sys,
		state:   s,
		model:   &program.Model{},
		settled: settled,
		steps:   steps,
		least:   make([]int64, sys.size),
		most:    make([]int64, sys.size),
	}
	for c := range sys.size {
		p.least[c], p.most[c] = infinite, -1
		p.model.AddColumn("", float64(s.low[c]), limit(s.high[c]), 0, true)
	}
	for _, w := range sys.rows {
		if len(w.cells) == 1 {
			continue // a bound, and in the state
		}
		r := program.Row{Low: float64(w.low), High: limit(w.high)}
		for _, c := range w.cells {
			r.Terms = append(r.Terms, program.Term{Column: int(c), Value: 1})
		}
		p.model.Rows = append(p.model.Rows, r)
	}
	// A pivot changes a part of an inverse of rows by rows: it costs as much as that many sums.
	p.steps = steps/(1+int64(len(p.model.Rows)*len(p.model.Rows))/64) + 1
	return p
}

func limit(high int64) float64 {
	if high >= infinite {
		return program.Infinity
	}
	return float64(high)
}

// note keeps a table if it really is one.
func (p *programming) note(x []float64) bool {
	table := make([]int64, len(x))
	for c, v := range x {
		r := math.Round(v)
		if math.Abs(v-r) > 1e-6 {
			return false
		}
		table[c] = int64(r)
	}
	if !p.sys.admits(table) {
		return false
	}
	for c, v := range table {
		p.least[c], p.most[c] = min(p.least[c], v), max(p.most[c], v)
	}
	return true
}

// tighten makes the bounds of the cells that are not known to be sharp so; it tells whether it came to its end.
func (p *programming) tighten(ctx context.Context, sharp []bool) bool {
	if len(p.model.Rows) > rowsAtMost {
		return false
	}
	s, err := program.NewSimplex(p.model)
	if err != nil {
		return false
	}
	final := true
	for c := range p.sys.size {
		if sharp[c] {
			continue
		}
		sharp[c] = true
		for _, up := range []bool{false, true} { // a table found first helps where there is no limit
			if sharp[c] = p.bound(ctx, s, c, up) && sharp[c]; p.none {
				return true
			}
		}
		final = final && sharp[c]
		if p.pivots >= p.steps && p.solver == nil || ctx.Err() != nil {
			return false
		}
	}
	return final
}

// bound finds one bound of a cell: it tells whether it is sharp.
func (p *programming) bound(ctx context.Context, s *program.Simplex, c int, up bool) bool {
	if up && (p.most[c] >= p.state.high[c] || p.settled && p.state.high[c] >= infinite && p.most[c] >= 0) || !up && p.least[c] <= p.state.low[c] {
		return true
	}
	s.SetMaximise(up)
	s.SetCost(c, 1)
	before := s.Pivots
	status, err := s.Solve(ctx, int(min(max(p.steps-p.pivots, 1), 1<<40)))
	p.pivots += int64(s.Pivots - before)
	switch {
	case err != nil || status == program.Stopped:
		return p.ask(ctx, c, up)
	case status == program.Infeasible:
		p.none = true
		return true
	case status == program.Unbounded:
		return p.most[c] >= 0 // no limit, if there is a table at all
	}
	p.narrow(c, up, s.Objective())
	p.note(s.Values())
	if p.reached(c, up) {
		return true
	}
	return p.branch(ctx, s, c, up)
}

func (p *programming) reached(c int, up bool) bool {
	return up && p.most[c] == p.state.high[c] || !up && p.least[c] == p.state.low[c]
}

// narrow takes over a bound that no fraction can pass.
func (p *programming) narrow(c int, up bool, x float64) {
	slack := 1e-6 * max(1, math.Abs(x)*1e-3)
	if up {
		if x < 1e17 {
			p.state.high[c] = min(p.state.high[c], max(int64(math.Floor(x+slack)), p.most[c]))
		}
		return
	}
	p.state.low[c] = max(p.state.low[c], min(int64(math.Ceil(x-slack)), p.least[c]))
}

// branch looks for whole numbers.
func (p *programming) branch(ctx context.Context, s *program.Simplex, c int, up bool) bool {
	p.model.Maximise = up
	p.model.Columns[c].Cost = 1
	defer func() { p.model.Columns[c].Cost = 0 }()
	e := program.Embedded{Start: s.Basis(), Pivots: int(min(p.steps/16+500, 1<<40))}
	out, err := e.Solve(ctx, p.model)
	if err != nil {
		return false
	}
	p.pivots += int64(out.Pivots)
	if out.X != nil {
		p.note(out.X)
	}
	if out.Status == program.Infeasible {
		p.none = true
		return true
	}
	if !math.IsInf(out.Bound, 0) {
		p.narrow(c, up, out.Bound)
	}
	if out.Status == program.Optimal && p.reached(c, up) {
		return true
	}
	return p.ask(ctx, c, up)
}

// ask asks the other solver, if there is one.
func (p *programming) ask(ctx context.Context, c int, up bool) bool {
	if p.solver == nil || ctx.Err() != nil {
		return false
	}
	p.model.Maximise = up
	p.model.Columns[c].Cost = 1
	defer func() { p.model.Columns[c].Cost = 0 }()
	out, err := p.solver.Solve(ctx, p.model)
	switch {
	case err != nil:
		return false
	case out.Status == program.Infeasible:
		p.none = true
		return true
	case out.Status == program.Unbounded:
		return p.most[c] >= 0
	case out.X != nil && !p.note(out.X):
		return false // it is no table, whatever the solver says
	case out.Status != program.Optimal:
		return false
	}
	p.narrow(c, up, out.Objective)
	return p.reached(c, up)
}
