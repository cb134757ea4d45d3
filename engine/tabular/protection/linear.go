package protection

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"

	"microrisk/engine/program"
)

// An effort is what linear programs may take, and took.
type effort struct {
	ctx    context.Context
	pivots int
	most   int // of one program, after which what it has reached has to do; 0 for no limit of this kind
}

// A linear is an area as a linear program over two columns a cell: what it moves up, and what it moves down.
type linear struct {
	*area
	s      *program.Simplex
	scale  float64
	duals  []float64
	first  *program.Basis // where nothing has moved
	start  *program.Basis // nil to go on from the last search
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
	if l.s, l.err = program.NewSimplex(m); l.err == nil {
		l.first = l.s.Basis()
	}
	return l
}

// afresh makes each search begin where nothing has moved: less moves than when it goes on from the last.
func (l *linear) afresh() *linear {
	l.start = l.first
	return l
}

func (l *linear) scaled(d int64) float64 {
	if d == infinite {
		return program.Infinity
	}
	return float64(d) / l.scale
}

// reach is an attacker's: what can be shown with whole numbers, or by fractions of them, else the program's optimum less what its rounding
// errors could be. If that is just not enough, it goes further than wanted.
func (l *linear) reach(column int32, up bool, want int64) (moved int64, columns []int32, err error) {
	if l.err != nil {
		return 0, nil, l.err
	}
	at, end := int(2*column), l.up[column]
	if !up {
		at, end = at+1, l.down[column]
	}
	defer l.changed(column)
	if l.start != nil {
		l.s.SetBasis(l.start)
	}
	for _, limit := range []int64{want, plus(want, plus(want, 1))} {
		limit = min(limit, end)
		l.fit(limit)
		l.s.SetBounds(at^1, 0, 0) // moving to and fro is not moving
		l.s.SetBounds(at, 0, l.scaled(limit))
		l.s.SetCost(at, 1)
		status, err := l.solve()
		l.duals, _ = l.s.Duals()
		l.s.SetCost(at, 0)
		switch {
		case l.effort.ctx.Err() != nil:
			return 0, nil, l.effort.ctx.Err()
		case err != nil:
			return 0, nil, fmt.Errorf("the interval of cell %d: %w", l.cells[column], err)
		case status == program.Unbounded:
			return infinite, nil, nil
		case status == program.Stopped && l.effort.most > 0 && !l.s.Feasible():
			return 0, nil, nil
		case status != program.Optimal && l.effort.most == 0:
			return 0, nil, fmt.Errorf("the interval of cell %d: the linear program ended as %s", l.cells[column], status)
		}
		moved, columns = l.read(column)
		if moved >= limit || limit == end || l.s.Value(at) < l.scaled(limit)*(1-1e-7) {
			break
		}
	}
	return moved, columns, nil
}

// solve solves the program. Not to move is always a solution: where rounding errors of the last searches hide that, it begins there.
func (l *linear) solve() (program.Status, error) {
	before := l.s.Pivots
	defer func() { l.effort.pivots += l.s.Pivots - before }()
	status, err := l.s.Solve(l.effort.ctx, cmp.Or(l.effort.most, program.DefaultPivots))
	if status == program.Infeasible || errors.Is(err, program.ErrNumerical) {
		l.s.SetBasis(l.first)
		status, err = l.s.Solve(l.effort.ctx, cmp.Or(l.effort.most, program.DefaultPivots))
	}
	return status, err
}

// fit scales the program so that it sees no larger figure than most if a cell moves so far.
func (l *linear) fit(limit int64) {
	before := l.scale
	for limit != infinite && float64(limit) > most*l.scale {
		l.scale *= 2
	}
	for j := 0; l.scale != before && j < len(l.cells); j++ {
		l.changed(int32(j))
	}
}

// denominator is a small number that makes numbers whole, or nearly so; 0 if there is none.
func denominator(x []float64) int64 {
	const most, near = 1 << 16, 1e-4
	q := 1.0
	for _, v := range x {
		m := 1.0
		for ; math.Abs(v*q*m-math.Round(v*q*m)) > near; m++ {
			if q*m >= most {
				return 0
			}
		}
		q *= m
	}
	return int64(q)
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
	if q := denominator(x); q > 0 && l.proven(x, q, whole) {
		v := whole[column]
		return max(v, -v) / q, moving(whole)
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

// changed is an attacker's.
func (l *linear) changed(column int32) {
	if l.err == nil {
		l.s.SetBounds(int(2*column), 0, l.scaled(l.up[column]))
		l.s.SetBounds(int(2*column+1), 0, l.scaled(l.down[column]))
	}
}

// potentials are an attacker's.
func (l *linear) potentials() []float64 { return l.duals }
