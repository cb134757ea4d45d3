package protection

import (
	"context"
	"fmt"
	"math"

	"microrisk/engine/program"
)

// An effort is what linear programs may take, and took.
type effort struct {
	ctx    context.Context
	pivots int
}

// A linear is an area as a linear program over two columns a cell: what it moves up, and what it moves down.
type linear struct {
	*area
	s      *program.Simplex
	scale  float64
	duals  []float64
	effort *effort
	err    error
}

// most is the largest figure that linear programs see: larger ones are scaled.
const most = 1 << 20

// newLinear makes the program, where no cell has moved yet.
func newLinear(a *area, e *effort) *linear {
	l := &linear{area: a, scale: 1, effort: e}
	for j := range a.cells {
		for _, d := range []int64{a.down[j], a.up[j]} {
			for d != infinite && float64(d) > most*l.scale {
				l.scale *= 2
			}
		}
	}
	m := &program.Model{Maximise: true}
	for j := range a.cells {
		m.AddColumn("", 0, l.scaled(a.up[j]), 0, false)
		m.AddColumn("", 0, l.scaled(a.down[j]), 0, false)
	}
	for _, row := range a.rows {
		terms := make([]program.Term, 0, 2*len(row))
		for _, e := range row {
			terms = append(terms, program.Term{Column: int(2 * e.column), Value: float64(e.sign)},
				program.Term{Column: int(2*e.column + 1), Value: -float64(e.sign)})
		}
		m.AddRow("", 0, 0, terms...)
	}
	l.s, l.err = program.NewSimplex(m)
	return l
}

func (l *linear) scaled(d int64) float64 {
	if d == infinite {
		return program.Infinity
	}
	return float64(d) / l.scale
}

// reach is an attacker's: what can be shown with whole numbers, or by fractions of them, else the program's optimum less what its rounding
// errors could be.
func (l *linear) reach(column int32, up bool, want int64) (int64, []int32, error) {
	if l.err != nil {
		return 0, nil, l.err
	}
	at, end := int(2*column), l.up[column]
	if !up {
		at, end = at+1, l.down[column]
	}
	l.s.SetBounds(at, 0, l.scaled(min(want, end)))
	other := at ^ 1 // moving to and fro is not moving
	l.s.SetBounds(other, 0, 0)
	l.s.SetCost(at, 1)
	before := l.s.Pivots
	status, err := l.s.Solve(l.effort.ctx, program.DefaultPivots)
	l.effort.pivots += l.s.Pivots - before
	l.duals, _ = l.s.Duals()
	moved, columns := l.read(column)
	l.s.SetCost(at, 0)
	l.s.SetBounds(at, 0, l.scaled(end))
	l.s.SetBounds(other, 0, l.scaled(l.down[column]))
	if !up {
		l.s.SetBounds(other, 0, l.scaled(l.up[column]))
	}
	switch {
	case l.effort.ctx.Err() != nil:
		return 0, nil, l.effort.ctx.Err()
	case err != nil:
		return 0, nil, fmt.Errorf("the interval of cell %d: %w", l.cells[column], err)
	case status == program.Unbounded:
		return infinite, nil, nil
	case status != program.Optimal:
		return 0, nil, fmt.Errorf("the interval of cell %d: the linear program ended as %s", l.cells[column], status)
	}
	return moved, columns, nil
}

// read is how far a column has moved, and which columns have.
func (l *linear) read(column int32) (int64, []int32) {
	x, largest := make([]float64, len(l.cells)), 0.0
	var columns []int32
	for j := range x {
		x[j] = (l.s.Value(2*j) - l.s.Value(2*j+1)) * l.scale
		largest = max(largest, math.Abs(x[j]))
		if math.Abs(x[j]) > 1e-6*l.scale {
			columns = append(columns, int32(j))
		}
	}
	whole := make([]int64, len(x))
	for _, q := range []int64{1, 2, 3, 4, 5, 6, 8, 12} {
		if l.proven(x, q, whole) {
			v := whole[column]
			return max(v, -v) / q, moving(whole)
		}
	}
	return int64(max(0, math.Abs(x[column])-1e-6*(1+largest))), columns
}

// proven tells whether q times a solution, made whole, is a solution.
func (l *linear) proven(x []float64, q int64, whole []int64) bool {
	for j, v := range x {
		v = math.Round(v * float64(q))
		if math.Abs(v) > MaxValue {
			return false
		}
		whole[j] = int64(v)
		if d := l.up[j]; d < infinite/q && whole[j] > d*q {
			return false
		}
		if d := l.down[j]; d < infinite/q && -whole[j] > d*q {
			return false
		}
	}
	for _, row := range l.rows {
		sum := int64(0)
		for _, e := range row {
			sum += e.sign * whole[e.column]
		}
		if sum != 0 {
			return false
		}
	}
	return true
}

func moving(whole []int64) []int32 {
	var columns []int32
	for j, v := range whole {
		if v != 0 {
			columns = append(columns, int32(j))
		}
	}
	return columns
}

// potentials are an attacker's.
func (l *linear) potentials() []float64 { return l.duals }
