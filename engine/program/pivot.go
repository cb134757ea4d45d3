package program

import "math"

// step moves a variable from its bound until another, or itself, reaches one; false if there is no end.
func (s *Simplex) step(j int32, up bool) bool {
	clear(s.alpha)
	s.column(j, func(i int32, v float64) {
		for p, row := range s.inverse {
			if row[i] != 0 {
				s.alpha[p] += row[i] * v
			}
		}
	})
	direction := 1.0
	if !up {
		direction = -1
	}
	p, t := s.leave(direction)
	own := s.high[j] - s.low[j]
	if p < 0 && math.IsInf(own, 1) {
		return false
	}
	if own <= t {
		t = own
		p = -1
	}
	if t < 1e-12 {
		s.degenerate++
	} else {
		s.degenerate = 0
	}
	for q, a := range s.alpha {
		if a != 0 {
			s.x[s.basis[q]] -= direction * t * a
		}
	}
	if p < 0 {
		if s.at[j] == atLow {
			s.settle(int(j), atHigh)
		} else {
			s.settle(int(j), atLow)
		}
		return true
	}
	s.x[j] += direction * t
	out := s.basis[p]
	want := atLow
	if s.x[out] > s.low[out] && math.Abs(s.x[out]-s.high[out]) < math.Abs(s.x[out]-s.low[out]) {
		want = atHigh
	}
	s.settle(int(out), want)
	s.at[j], s.basis[p] = basic, j
	s.eliminate(int(p))
	s.age++
	return true
}

// room is how far the basic variable of a position can move before it reaches a bound that stops it, when it changes at the given rate: one
// outside its bounds is stopped when it comes within.
func (s *Simplex) room(p int, rate float64) float64 {
	j := s.basis[p]
	e, bound := s.excess(j), 0.0
	switch {
	case rate < 0 && e < 0 || rate > 0 && e > 0:
		return Infinity
	case rate < 0 && e > 0 || rate > 0 && e == 0:
		bound = s.high[j]
	default:
		bound = s.low[j]
	}
	if math.IsInf(bound, 0) {
		return Infinity
	}
	return max(0, (bound-s.x[j])/rate)
}

// leave chooses the position whose variable leaves the basis, -1 for none, and the length of the step: of those that stop it
// within the tolerance the one with the largest pivot (Harris), or under Bland's rule the first variable.
func (s *Simplex) leave(direction float64) (best int, t float64) {
	best, t = -1, Infinity
	limit := Infinity
	for p, a := range s.alpha {
		if math.Abs(a) > pivotal {
			limit = min(limit, s.room(p, -direction*a)+feasible/math.Abs(a))
		}
	}
	if math.IsInf(limit, 1) {
		return -1, t
	}
	largest := 0.0
	for p, a := range s.alpha {
		if math.Abs(a) <= pivotal {
			continue
		}
		r := s.room(p, -direction*a)
		if r > limit {
			continue
		}
		better := math.Abs(a) > largest
		if s.degenerate > patience {
			better = best < 0 || s.basis[p] < s.basis[best]
		}
		if better {
			best, t, largest = p, r, math.Abs(a)
		}
	}
	return best, t
}

// eliminate brings the inverse up to date after the column in alpha has entered at position p.
func (s *Simplex) eliminate(p int) {
	row := s.inverse[p]
	s.nonzero = s.nonzero[:0]
	inverse := 1 / s.alpha[p]
	for i := range row {
		if row[i] != 0 {
			if row[i] *= inverse; math.Abs(row[i]) < 1e-14 {
				row[i] = 0
				continue
			}
			s.nonzero = append(s.nonzero, int32(i))
		}
	}
	for q, a := range s.alpha {
		if q == p || a == 0 {
			continue
		}
		other := s.inverse[q]
		for _, i := range s.nonzero {
			other[i] -= a * row[i]
		}
	}
}

// invert makes the inverse anew, column by column. Columns that turn out to depend on others give way to rows' own variables.
func (s *Simplex) invert() {
	wanted := append([]int32(nil), s.basis...)
	for p, row := range s.inverse {
		clear(row)
		row[p] = -1
		s.basis[p] = int32(s.columns + p)
	}
	own := make([]bool, s.rows) // rows whose own variable is basic: they keep their position
	for _, j := range wanted {
		if int(j) >= s.columns {
			own[int(j)-s.columns] = true
		}
	}
	for _, j := range wanted {
		if int(j) >= s.columns {
			continue
		}
		clear(s.alpha)
		s.column(j, func(i int32, v float64) {
			for q, row := range s.inverse {
				if row[i] != 0 {
					s.alpha[q] += row[i] * v
				}
			}
		})
		best := -1
		for q, a := range s.alpha {
			if !own[q] && int(s.basis[q]) >= s.columns && math.Abs(a) > 1e-8 && (best < 0 || math.Abs(a) > math.Abs(s.alpha[best])) {
				best = q
			}
		}
		if best < 0 {
			s.settle(int(j), atLow)
			continue
		}
		s.basis[best] = j
		s.eliminate(best)
	}
	for _, j := range s.basis {
		s.at[j] = basic
	}
	s.age = 0
}

// Feasible tells whether the present state satisfies all bounds and ranges.
func (s *Simplex) Feasible() bool {
	for _, j := range s.basis {
		if s.excess(j) != 0 {
			return false
		}
	}
	return true
}

// Values are the values of the columns.
func (s *Simplex) Values() []float64 { return append([]float64(nil), s.x[:s.columns]...) }

// Value is the value of a column.
func (s *Simplex) Value(column int) float64 { return s.x[column] }

// Objective is the objective at the present state.
func (s *Simplex) Objective() float64 {
	sum := 0.0
	for j := range s.columns {
		sum += s.cost[j] * s.x[j]
	}
	return s.sign * sum
}

// Duals are what the objective gains per unit of each row's sum and of each column, at the present state; where that is infeasible, what
// the sum of infeasibilities gains: then the rows' duals prove it.
func (s *Simplex) Duals() (rows, columns []float64) {
	infeasible := s.price()
	rows, columns = make([]float64, s.rows), make([]float64, s.columns)
	sign := s.sign
	if infeasible {
		sign = 1
	}
	for i, y := range s.y {
		rows[i] = sign * y
	}
	for j := range columns {
		columns[j] = sign * s.reduced(j, infeasible)
	}
	return rows, columns
}
