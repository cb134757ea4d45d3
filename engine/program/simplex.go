package program

import (
	"context"
	"errors"
	"fmt"
	"math"
)

// Tolerances, for problems whose figures are of the order of 1, as tables with unit coefficients are.
const (
	feasible   = 1e-9  // a basic variable outside its bounds by less (relative to the bound) is within
	rounding   = 1e-14 // so is one by less relative to the largest variable, of which sums that must be 0 have the rounding errors
	attractive = 1e-9  // a reduced cost below it is 0
	pivotal    = 1e-9  // a pivot below it is 0
	patience   = 40    // degenerate pivots before Bland's rule
	freshness  = 128   // pivots between inversions
)

// ErrNumerical says that rounding errors made a problem unsolvable.
var ErrNumerical = errors.New("the simplex method failed: the problem's figures differ too much in size")

// A place is where a variable is.
type place int8

const (
	atLow place = iota
	atHigh
	atZero // has no bounds
	basic
)

// A Basis is a state of the simplex method to start from: it fits any problem with the same numbers of columns and rows.
type Basis struct {
	places []place
	basic  []int32
}

// A Simplex solves a linear program by the bounded-variable revised simplex method, again and again after changes of costs and bounds,
// each time from where the last one ended. Integrality is ignored. Memory is 8 bytes per pair of rows.
type Simplex struct {
	columns, rows int
	sign          float64 // -1 if maximising
	index         [][]int32
	value         [][]float64
	low, high     []float64 // of columns, then of rows
	cost          []float64
	x             []float64
	at            []place
	basis         []int32     // variable of each basic position
	inverse       [][]float64 // of the basis, by position
	age           int         // pivots since it was made anew
	y             []float64
	alpha         []float64
	weights       []float64
	nonzero       []int32
	degenerate    int
	noise         float64 // of sums, when they were computed last
	// Pivots counts all work done.
	Pivots int
}

// mostRows is how many rows a model may have: the inverse of a basis takes 8 bytes for each pair of them.
const mostRows = 1 << 15

// ErrTooLarge says that a model has more rows than the embedded solver takes.
var ErrTooLarge = errors.New("the problem is too large for the embedded solver")

// NewSimplex takes over a model, which is checked, with its rows' own variables as the basis.
func NewSimplex(m *Model) (*Simplex, error) {
	if err := m.Check(); err != nil {
		return nil, err
	}
	n, k := len(m.Columns), len(m.Rows)
	if k > mostRows {
		return nil, fmt.Errorf("%w: it has %d equations, and takes %d; take another solver, coarser variables or another method", ErrTooLarge, k, mostRows)
	}
	s := &Simplex{columns: n, rows: k, sign: 1, index: make([][]int32, n), value: make([][]float64, n),
		low: make([]float64, n+k), high: make([]float64, n+k), cost: make([]float64, n+k), x: make([]float64, n+k), at: make([]place, n+k),
		basis: make([]int32, k), y: make([]float64, k), alpha: make([]float64, k), weights: make([]float64, k)}
	if m.Maximise {
		s.sign = -1
	}
	for j, c := range m.Columns {
		s.low[j], s.high[j], s.cost[j] = c.Low, c.High, s.sign*c.Cost
		s.settle(j, atLow)
	}
	s.inverse = make([][]float64, k)
	block := make([]float64, k*k)
	for i, r := range m.Rows {
		s.inverse[i] = block[i*k : (i+1)*k : (i+1)*k]
		s.low[n+i], s.high[n+i] = r.Low, r.High
		s.at[n+i], s.basis[i] = basic, int32(n+i)
		for _, t := range r.Terms {
			if t.Value != 0 {
				s.index[t.Column] = append(s.index[t.Column], int32(i))
				s.value[t.Column] = append(s.value[t.Column], t.Value)
			}
		}
	}
	s.invert()
	return s, nil
}

// settle puts a variable that is not basic at the wanted bound, or at another if it has no such one.
func (s *Simplex) settle(j int, want place) {
	low, high := !math.IsInf(s.low[j], -1), !math.IsInf(s.high[j], 1)
	switch {
	case low && (want != atHigh || !high):
		s.at[j], s.x[j] = atLow, s.low[j]
	case high:
		s.at[j], s.x[j] = atHigh, s.high[j]
	default:
		s.at[j], s.x[j] = atZero, 0
	}
}

// SetCost changes the cost of a column.
func (s *Simplex) SetCost(column int, cost float64) { s.cost[column] = s.sign * cost }

// SetMaximise changes the direction; all costs become 0.
func (s *Simplex) SetMaximise(maximise bool) {
	s.sign = 1
	if maximise {
		s.sign = -1
	}
	clear(s.cost)
}

// SetBounds changes the bounds of a column.
func (s *Simplex) SetBounds(column int, low, high float64) { s.setBounds(column, low, high) }

func (s *Simplex) setBounds(j int, low, high float64) {
	if s.low[j] == low && s.high[j] == high {
		return
	}
	s.low[j], s.high[j] = low, high
	if s.at[j] != basic {
		s.settle(j, s.at[j])
	}
}

// Basis is the present basis.
func (s *Simplex) Basis() *Basis {
	return &Basis{append([]place(nil), s.at...), append([]int32(nil), s.basis...)}
}

// SetBasis starts from a basis, if it fits.
func (s *Simplex) SetBasis(b *Basis) {
	if b == nil || len(b.places) != len(s.at) || len(b.basic) != len(s.basis) {
		return
	}
	copy(s.at, b.places)
	copy(s.basis, b.basic)
	for j, at := range s.at {
		if at != basic {
			s.settle(j, at)
		}
	}
	s.invert()
}

// column calls do for the entries of a variable's column.
func (s *Simplex) column(j int32, do func(i int32, v float64)) {
	if int(j) >= s.columns {
		do(j-int32(s.columns), -1)
		return
	}
	for k, i := range s.index[j] {
		do(i, s.value[j][k])
	}
}

// compute finds the values of basic variables from the others: rows are sums less their own variables, 0.
func (s *Simplex) compute() {
	rhs := s.weights
	clear(rhs)
	largest := 0.0
	for j, at := range s.at {
		if at != basic && s.x[j] != 0 {
			s.column(int32(j), func(i int32, v float64) { rhs[i] -= v * s.x[j] })
			largest = max(largest, math.Abs(s.x[j]))
		}
	}
	for p, row := range s.inverse {
		sum := 0.0
		for i, v := range row {
			sum += v * rhs[i]
		}
		s.x[s.basis[p]] = sum
		largest = max(largest, math.Abs(sum))
	}
	s.noise = rounding * largest
}

// excess is by how much a basic variable is outside its bounds: negative below, positive above.
func (s *Simplex) excess(j int32) float64 {
	switch x := s.x[j]; {
	case x < s.low[j]-feasible*(1+math.Abs(s.low[j]))-s.noise:
		return x - s.low[j]
	case x > s.high[j]+feasible*(1+math.Abs(s.high[j]))+s.noise:
		return x - s.high[j]
	}
	return 0
}

// price finds the prices of rows, and tells whether they are those of infeasibility.
func (s *Simplex) price() (infeasible bool) {
	clear(s.y)
	for _, j := range s.basis {
		if s.excess(j) != 0 {
			infeasible = true
			break
		}
	}
	for p, j := range s.basis {
		c := s.cost[j]
		if infeasible {
			switch e := s.excess(j); {
			case e < 0:
				c = -1
			case e > 0:
				c = 1
			default:
				c = 0
			}
		}
		if c != 0 {
			for i, v := range s.inverse[p] {
				s.y[i] += c * v
			}
		}
	}
	return infeasible
}

// reduced is the reduced cost of a variable at the present prices.
func (s *Simplex) reduced(j int, infeasible bool) float64 {
	if j >= s.columns {
		return s.y[j-s.columns] // rows' own variables cost nothing
	}
	d := s.cost[j]
	if infeasible {
		d = 0
	}
	for k, i := range s.index[j] {
		d -= s.y[i] * s.value[j][k]
	}
	return d
}

// enter chooses a variable to enter the basis, -1 if there is none, and its direction.
func (s *Simplex) enter(infeasible bool) (best int32, up bool) {
	best, most := -1, attractive
	for j, at := range s.at {
		if at == basic || s.low[j] == s.high[j] {
			continue
		}
		d := s.reduced(j, infeasible)
		if at == atLow && d > 0 || at == atHigh && d < 0 || math.Abs(d) <= most {
			continue
		}
		best, up, most = int32(j), d < 0, math.Abs(d)
		if s.degenerate > patience {
			break
		}
	}
	return best, up
}

// Solve finds the best solution from the present state, in at most the given number of pivots. For Stopped the state is feasible if
// Feasible says so.
func (s *Simplex) Solve(ctx context.Context, pivots int) (Status, error) {
	for j := range s.at {
		if s.low[j] > s.high[j] {
			return Infeasible, nil
		}
	}
	s.compute()
	s.degenerate = 0
	sure := s.age == 0
	for last := s.Pivots + pivots; ; s.Pivots++ {
		if s.Pivots >= last || s.Pivots&63 == 0 && ctx.Err() != nil {
			return Stopped, nil
		}
		if s.age >= freshness {
			s.invert()
			s.compute()
		}
		infeasible := s.price()
		j, up := s.enter(infeasible)
		if j < 0 {
			if !sure && s.age > 0 { // look again without rounding errors
				s.invert()
				s.compute()
				sure = true
				continue
			}
			if infeasible {
				return Infeasible, nil
			}
			return Optimal, nil
		}
		sure = false
		if !s.step(j, up) {
			if !infeasible {
				return Unbounded, nil
			}
			if s.age == 0 {
				return Stopped, ErrNumerical
			}
			s.invert()
			s.compute()
		}
	}
}

// Slack tells whether a row is not tight: its own variable is basic.
func (b *Basis) Slack(row int) bool { return b.places[len(b.places)-len(b.basic)+row] == basic }

// With is the basis for a problem that has some of the rows, in their order, and so many others after them: the own variables of those are
// basic, and the rows left out have to be slack. That of nil is nil.
func (b *Basis) With(kept []int, others int) *Basis {
	if b == nil {
		return nil
	}
	columns := len(b.places) - len(b.basic)
	n := &Basis{append([]place(nil), b.places[:columns]...), nil}
	number := make([]int, len(b.basic)) // of rows, and 1
	for i, row := range kept {
		n.places = append(n.places, b.places[columns+row])
		number[row] = i + 1
	}
	for _, j := range b.basic {
		switch {
		case int(j) < columns:
			n.basic = append(n.basic, j)
		case number[int(j)-columns] > 0:
			n.basic = append(n.basic, int32(columns+number[int(j)-columns]-1))
		}
	}
	for range others {
		n.basic = append(n.basic, int32(len(n.places)))
		n.places = append(n.places, basic)
	}
	return n
}
