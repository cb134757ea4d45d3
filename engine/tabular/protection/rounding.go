package protection

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"microrisk/engine/program"
)

// Rounding says how a table is rounded.
type Rounding struct {
	Base   int64          // from 2
	Weight []int64        // by cell, what moving it by a unit costs, at least 0; nil for 1
	Solver program.Solver // for tables that are no networks; nil for the embedded one
}

// A Rounded table has multiples of the base that add up.
type Rounded struct {
	Values []int64
	Cost   int64   // the sum of weights times changes
	Bound  float64 // no rounding of this kind costs less
	// Optimal tells that none costs less.
	Optimal bool
	// Widened are cells that are not next to their values: multiples further away had to be taken.
	Widened []int32
	// Controlled is false where no rounding was found whose totals are next to their values: then the finest cells are rounded, and added up.
	Controlled bool
}

// maxBase keeps costs within whole numbers.
const maxBase = 1 << 40

// widest is how many multiples further than the nearest two a cell may go, where it has to.
const widest = 2

// Round replaces every value by a multiple of the base next to it, above or below, multiples by themselves, so that all equations hold, at
// the least cost (controlled rounding; Cox 1987, Salazar-González 2006). Tables that are networks are solved as flows of least cost, where
// there is always a solution; others as integer programs. Where there is none, or none is found, cells may go one multiple further, then two;
// at last, or after a deadline, the cells that are no totals are rounded to the nearest multiple, and added up. Errors: those of Check, a base
// below 2, weights that are none, a context that was cancelled, those of the solver.
func Round(ctx context.Context, t *Table, o Rounding) (*Rounded, error) {
	p, err := newPlan(t, nil)
	if err != nil {
		return nil, err
	}
	if o.Base < 2 || o.Base > maxBase {
		return nil, fmt.Errorf("the base of rounding is %d; it must be from 2 to 2^40", o.Base)
	}
	if o.Weight != nil && (len(o.Weight) != len(t.Values) || slices.Min(o.Weight) < 0) {
		return nil, errors.New("weights of rounding are one for each cell, and at least 0")
	}
	r := &rounder{plan: p, Rounding: o, quotient: make([]int64, len(t.Values)), rest: make([]int64, len(t.Values))}
	for cell, x := range t.Values {
		q, rest := x/o.Base, x%o.Base
		if rest < 0 {
			q, rest = q-1, rest+o.Base
		}
		r.quotient[cell], r.rest[cell] = q, rest
	}
	if broken := t.System.Broken(t.Values, 0); len(broken) > 0 {
		return nil, fmt.Errorf("equation %d does not hold: only tables that add up can be rounded so that they do", broken[0])
	}
	for more := range widest + 1 {
		out, err := r.within(ctx, int64(more))
		if errors.Is(err, context.DeadlineExceeded) {
			break
		}
		if err != nil || out != nil {
			return out, err
		}
	}
	return r.addedUp(), nil
}

// A rounder rounds one table.
type rounder struct {
	*plan
	Rounding
	quotient, rest []int64 // of values by the base
}

func (r *rounder) weight(cell int32) int64 {
	if r.Weight == nil {
		return 1
	}
	return r.Weight[cell]
}

// within rounds, where cells may go so many multiples further than to the nearest two; nil if that cannot be done, or was not found.
func (r *rounder) within(ctx context.Context, more int64) (*Rounded, error) {
	out := &Rounded{Values: make([]int64, len(r.Values)), Optimal: true, Controlled: true}
	move := make([]bool, len(r.Values))
	for cell, rest := range r.rest {
		move[cell] = rest > 0 || more > 0
		out.Values[cell] = r.Base * r.quotient[cell]
	}
	for _, cells := range r.System.Components(move) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		steps, bound, err := r.component(ctx, cells, more)
		if steps == nil || err != nil {
			return nil, err
		}
		cost := int64(0)
		for j, cell := range cells {
			out.Values[cell] += r.Base * steps[j]
			cost += r.weight(cell) * abs(out.Values[cell]-r.Values[cell])
			if steps[j] < 0 || steps[j] > 1 || r.rest[cell] == 0 && steps[j] != 0 {
				out.Widened = append(out.Widened, cell)
			}
		}
		out.Cost += cost
		out.Bound += bound
		out.Optimal = out.Optimal && bound > float64(cost)-1+1e-6
	}
	slices.Sort(out.Widened)
	if len(r.System.Broken(out.Values, 0)) > 0 { // a solver's rounding errors
		return nil, nil
	}
	return out, nil
}

func abs(x int64) int64 { return max(x, -x) }

// component is how many multiples each of some cells goes up, at the least cost; nil for none.
func (r *rounder) component(ctx context.Context, cells []int32, more int64) (steps []int64, bound float64, err error) {
	a := r.area(cells)
	if n := newNetwork(a); n != nil && more == 0 {
		steps, err := newUnitFlow(n, r).solve(ctx)
		if err != nil {
			return nil, 0, err
		}
		cost := int64(0)
		for j, cell := range cells {
			cost += r.weight(cell) * abs(r.Base*steps[j]-r.rest[cell])
		}
		return steps, float64(cost), nil
	}
	m := r.model(a, more)
	solver := r.Solver
	if solver == nil {
		solver = program.Embedded{}
	}
	s, err := solver.Solve(ctx, m.Model)
	switch {
	case errors.Is(err, program.ErrNumerical):
		return nil, 0, nil
	case err != nil:
		return nil, 0, err
	case s.X == nil:
		return nil, 0, nil
	}
	return m.steps(s.X), s.Bound + m.constant, nil
}

// A roundingModel is the integer program of cells: of each whether it goes up to the next multiple, and how many further up or down.
type roundingModel struct {
	*program.Model
	cells    int
	more     int64
	constant float64 // of the cost
}

func (r *rounder) model(a *area, more int64) *roundingModel {
	m := &roundingModel{Model: &program.Model{Name: "rounding"}, cells: len(a.cells), more: more}
	for _, cell := range a.cells {
		w, rest := float64(r.weight(cell)), float64(r.rest[cell])
		top := 1.0
		if r.rest[cell] == 0 {
			top = 0
		}
		m.constant += w * rest
		m.AddColumn("", 0, top, w*(float64(r.Base)-2*rest), true)
	}
	if more > 0 {
		for range 2 {
			for _, cell := range a.cells {
				m.AddColumn("", 0, float64(more), float64(r.weight(cell)*r.Base), true)
			}
		}
	}
	for _, row := range a.rows {
		var terms []program.Term
		for _, e := range row {
			terms = append(terms, program.Term{Column: int(e.column), Value: float64(e.sign)})
			if more > 0 {
				terms = append(terms, program.Term{Column: len(a.cells) + int(e.column), Value: float64(e.sign)},
					program.Term{Column: 2*len(a.cells) + int(e.column), Value: -float64(e.sign)})
			}
		}
		want := float64(r.due(row, a.cells))
		m.AddRow("", want, want, terms...)
	}
	return m
}

// due is what the steps of a row's cells must add up to.
func (r *rounder) due(row []entry, cells []int32) int64 {
	rest := int64(0)
	for _, e := range row {
		rest += e.sign * r.rest[cells[e.column]]
	}
	return rest / r.Base
}

func (m *roundingModel) steps(x []float64) []int64 {
	whole := func(j int) int64 { return int64(x[j] + .5) }
	steps := make([]int64, m.cells)
	for j := range steps {
		if steps[j] = whole(j); m.more > 0 {
			steps[j] += whole(m.cells+j) - whole(2*m.cells+j)
		}
	}
	return steps
}

// addedUp rounds the cells that are no totals, and adds them up.
func (r *rounder) addedUp() *Rounded {
	out := &Rounded{Values: make([]int64, len(r.Values))}
	split := make([][]int32, r.System.Cells)
	for e := range r.System.Equations {
		split[r.System.Equations[e].Total] = append(split[r.System.Equations[e].Total], int32(e))
	}
	done := make([]bool, r.System.Cells)
	for cell := range out.Values {
		if len(split[cell]) == 0 {
			done[cell] = true
			if out.Values[cell] = r.Base * r.quotient[cell]; 2*r.rest[cell] >= r.Base {
				out.Values[cell] += r.Base
			}
		}
	}
	for again := true; again; {
		again = false
		for cell, list := range split {
			for _, e := range list {
				if done[cell] || slices.ContainsFunc(r.System.Equations[e].Parts, func(part int32) bool { return !done[part] }) {
					continue
				}
				done[cell], again = true, true
				for _, part := range r.System.Equations[e].Parts {
					out.Values[cell] += out.Values[part]
				}
			}
		}
	}
	for cell, x := range out.Values {
		out.Cost += r.weight(int32(cell)) * abs(x-r.Values[cell])
		if abs(x-r.Values[cell]) >= r.Base {
			out.Widened = append(out.Widened, int32(cell))
		}
	}
	return out
}
