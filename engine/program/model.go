// Package program has linear and integer programs: models, a solver of our own for small and middling ones, and what it takes to
// hand large ones to other solvers: a writer of MPS files and readers of the result files of cbc and glpsol. It starts no process.
//
//	var m program.Model
//	x := m.AddColumn("x", 0, 4, 1, true)              // 0 <= x <= 4, cost 1, a whole number
//	y := m.AddColumn("y", 0, program.Infinity, 1, true)
//	m.AddRow("r", 3, program.Infinity, program.Term{x, 2}, program.Term{y, 1})
//	s, err := program.Embedded{}.Solve(ctx, &m)       // s.X, s.Objective, s.Duals of the relaxation
//
// The simplex method takes bounds on columns and ranges on rows as they are, and each row has a variable of its own, so that redundant
// rows, which every table has, do no harm. It can be started from the basis of a problem that differs in bounds and costs.
//
// Sources: Maros 2003, Computational Techniques of the Simplex Method; Bland 1977; Harris 1973; Land & Doig 1960.
package program

import (
	"context"
	"fmt"
	"math"
)

// Infinity as a bound says that there is none.
var Infinity = math.Inf(1)

// A Column is a variable.
type Column struct {
	Name      string
	Low, High float64 // bounds, -Infinity and Infinity for none
	Cost      float64
	Integer   bool
}

// A Term is a coefficient of a row.
type Term struct {
	Column int
	Value  float64
}

// A Row keeps a sum of columns within a range.
type Row struct {
	Name      string
	Low, High float64 // equal for an equation; -Infinity and Infinity for none
	Terms     []Term  // no column twice
}

// A Model is a linear program, or an integer one if any column is. Costs are minimised, or with Maximise maximised.
type Model struct {
	Name     string
	Maximise bool
	Columns  []Column
	Rows     []Row
}

// AddColumn appends a column and is its number.
func (m *Model) AddColumn(name string, low, high, cost float64, integer bool) int {
	m.Columns = append(m.Columns, Column{name, low, high, cost, integer})
	return len(m.Columns) - 1
}

// AddRow appends a row and is its number.
func (m *Model) AddRow(name string, low, high float64, terms ...Term) int {
	m.Rows = append(m.Rows, Row{name, low, high, terms})
	return len(m.Rows) - 1
}

// Check finds what is wrong with a model: figures that are no numbers or not finite, bounds that no number satisfies, columns that are
// not there or twice in a row. Bounds that cross are no error: the model is infeasible.
func (m *Model) Check() error {
	for j, c := range m.Columns {
		if math.IsNaN(c.Cost) || math.IsInf(c.Cost, 0) {
			return fmt.Errorf("column %d (%s) has the cost %v", j, c.Name, c.Cost)
		}
		if !ordered(c.Low, c.High) {
			return fmt.Errorf("column %d (%s) has the bounds %v and %v", j, c.Name, c.Low, c.High)
		}
	}
	last := make([]int, len(m.Columns))
	for i, r := range m.Rows {
		if !ordered(r.Low, r.High) {
			return fmt.Errorf("row %d (%s) has the range %v to %v", i, r.Name, r.Low, r.High)
		}
		for _, t := range r.Terms {
			switch {
			case t.Column < 0 || t.Column >= len(m.Columns):
				return fmt.Errorf("row %d (%s) has a column %d, of %d", i, r.Name, t.Column, len(m.Columns))
			case last[t.Column] == i+1:
				return fmt.Errorf("row %d (%s) has column %d twice", i, r.Name, t.Column)
			case math.IsNaN(t.Value) || math.IsInf(t.Value, 0):
				return fmt.Errorf("row %d (%s) has the coefficient %v", i, r.Name, t.Value)
			}
			last[t.Column] = i + 1
		}
	}
	return nil
}

// ordered tells whether two numbers can be a lower and an upper bound, crossed or not.
func ordered(low, high float64) bool {
	return !math.IsNaN(low) && !math.IsNaN(high) && !math.IsInf(low, 1) && !math.IsInf(high, -1)
}

// Value is the objective at x.
func (m *Model) Value(x []float64) float64 {
	sum := 0.0
	for j, c := range m.Columns {
		sum += c.Cost * x[j]
	}
	return sum
}

// Violation is the largest amount by which x breaks a bound, a range or integrality.
func (m *Model) Violation(x []float64) float64 {
	worst := 0.0
	for j, c := range m.Columns {
		worst = max(worst, c.Low-x[j], x[j]-c.High)
		if c.Integer {
			worst = max(worst, math.Abs(x[j]-math.Round(x[j])))
		}
	}
	for _, r := range m.Rows {
		sum := 0.0
		for _, t := range r.Terms {
			sum += t.Value * x[t.Column]
		}
		worst = max(worst, r.Low-sum, sum-r.High)
	}
	return worst
}

// A Status is how a solver ended.
type Status int

// Statuses.
const (
	Stopped    Status = iota // at a limit: X, if it is not nil, is feasible, and Bound is valid
	Optimal                  // X is proven to be optimal
	Infeasible               // there is no solution
	Unbounded                // there is no best solution, and X is nil
)

// String is the status in a word.
func (s Status) String() string {
	return [...]string{"stopped", "optimal", "infeasible", "unbounded"}[s]
}

// A Solution is what a solver found.
type Solution struct {
	Status    Status
	X         []float64 // value of each column, whole numbers for integer ones; nil for none
	Objective float64   // at X
	Bound     float64   // no solution is better than this
	// Duals has, for each row, what the objective gains per unit of the row's sum (of the relaxation, for an integer program), and
	// Reduced the same for each column; nil where the solver has none.
	Duals, Reduced []float64
	Basis          *Basis // of the relaxation, to start from
	Pivots, Nodes  int    // work done
}

// Gap is the distance between the objective and the bound, relative to the objective (or to 1 if that is smaller); 0 if proven, infinite
// without an X.
func (s *Solution) Gap() float64 {
	if s.X == nil {
		return Infinity
	}
	return math.Abs(s.Objective-s.Bound) / max(1, math.Abs(s.Objective))
}

// A Solver solves models. Errors are failures to solve: an infeasible model is a Status.
type Solver interface {
	Solve(ctx context.Context, m *Model) (*Solution, error)
}
