package adjustment

import (
	"math"
	"slices"

	"microrisk/engine/program"
	"microrisk/engine/tabular/protection"
)

// model is the master: the ends of intervals, below and above, at the least cost, with all that attackers asked for so far.
func (w *widening) model(integer bool) *program.Model {
	m := &program.Model{Name: "intervals", Rows: w.rows}
	n := len(w.cells)
	for column := range 2 * n {
		cell, room := w.cells[column%n], w.down[column%n]
		if column >= n {
			room = w.up[column%n]
		}
		m.AddColumn("", 0, room, float64(w.o.Cost[cell])/w.scale, integer)
	}
	for _, need := range w.needs {
		k := int(w.place[need.Cell])
		m.Columns[k].Low = min(float64(need.Lower)/w.step, m.Columns[k].High)
		m.Columns[n+k].Low = min(float64(need.Upper)/w.step, m.Columns[n+k].High)
	}
	return m
}

// relaxed solves the master without integrality until no attacker asks for more.
func (w *widening) relaxed() error {
	if w.attacker == nil {
		if err := w.newAttacker(); err != nil {
			return err
		}
		for _, need := range w.needs {
			list := tries(need, 0)
			w.attacks = append(w.attacks, list...)
			for _, a := range list {
				w.equationRows(a)
			}
		}
	}
	in := 0 // rows that the master has
	for {
		if err := w.ctx.Err(); err != nil {
			return err
		}
		if len(w.rows) > 2*mostRows {
			return errLimit
		}
		w.rounds++
		if w.master == nil {
			var err error
			if w.master, err = program.NewSimplex(w.model(false)); err != nil {
				return err
			}
		} else {
			for _, row := range w.rows[in:] {
				w.master.AddRow(row)
			}
			w.master.Restore(w.ctx, 2000)
		}
		in = len(w.rows)
		status, err := w.master.Solve(w.ctx, program.DefaultPivots)
		switch {
		case err != nil:
			return err
		case w.ctx.Err() != nil:
			return w.ctx.Err()
		case status != program.Optimal:
			return program.ErrNumerical
		}
		w.bound = max(w.bound, w.master.Objective()*w.scale)
		added, err := w.ask(w.ctx, w.attacks, w.master.Values())
		if err != nil || added == 0 {
			return err
		}
	}
}

// whole are ends in units, rounded outwards, and so many units wider.
func (w *widening) whole(ends []float64, wider int64) (low, high []int64) {
	low, high = slices.Clone(w.Values), slices.Clone(w.Values)
	n := len(w.cells)
	for j, cell := range w.cells {
		down, up := w.room(cell)
		out := func(x float64, room int64) int64 {
			if x <= short {
				return 0
			}
			return min(int64(math.Ceil(x-short)*w.step)+wider, room)
		}
		low[cell] -= out(ends[j], down)
		high[cell] += out(ends[n+j], up)
	}
	return low, high
}

// listen adds the tries of attackers who found something, where they are not there: holders who know cells.
func (w *widening) listen(failed []protection.Finding) []try {
	var list []try
	for _, f := range failed {
		if f.Holder == 0 {
			continue
		}
		need := f.Need
		if w.o.Insider == protection.InsiderExact {
			need = protection.Need{Cell: need.Cell, Sliding: 1}
		}
		for _, a := range tries(need, f.Holder) {
			if !slices.Contains(w.attacks, a) {
				w.attacks = append(w.attacks, a)
				list = append(list, a)
			}
		}
	}
	return list
}

// most is how often intervals that an audit refuses are made wider by a unit.
const most = 8

// rounded makes whole units of the master's solution until an audit passes them.
func (w *widening) rounded() error {
	for wider := int64(0); wider < most; {
		low, high := w.whole(w.master.Values(), wider)
		failed, err := w.consider(low, high)
		if err != nil || len(failed) == 0 {
			return err
		}
		if len(w.listen(failed)) == 0 {
			wider++
			continue
		}
		w.master = nil
		if err := w.relaxed(); err != nil {
			return err
		}
	}
	return nil
}

// integer solves the master in whole units until an audit passes its solution, if that could cost less than the best so far.
func (w *widening) integer() error {
	for w.best == nil || w.bound <= float64(w.best.Loss)-1+1e-6 {
		if err := w.ctx.Err(); err != nil {
			return err
		}
		w.rounds++
		m := w.model(true)
		solver := w.o.Solver
		if solver == nil {
			e := program.Embedded{Nodes: w.o.Nodes}
			if w.best != nil {
				e.Cutoff, e.Bounded = (float64(w.best.Loss)-0.5)/w.scale, true
			}
			solver = e
		}
		s, err := solver.Solve(w.ctx, m)
		switch {
		case err != nil:
			return err
		case s.Status == program.Infeasible && w.best != nil:
			w.bound = float64(w.best.Loss)
			return nil
		case s.Status == program.Optimal:
			w.bound = max(w.bound, s.Objective*w.scale)
		case !math.IsInf(s.Bound, 0):
			w.bound = max(w.bound, s.Bound*w.scale)
		}
		if s.X == nil {
			return errLimit
		}
		low, high := w.whole(s.X, 0)
		failed, err := w.consider(low, high)
		if err != nil {
			return err
		}
		if len(failed) == 0 {
			if s.Status != program.Optimal {
				return errLimit
			}
			continue
		}
		w.listen(failed)
		added, err := w.ask(w.ctx, w.attacks, s.X)
		if err != nil {
			return err
		}
		if added == 0 || len(w.rows) > 2*mostRows {
			return errLimit
		}
	}
	return nil
}
