package program

import (
	"context"
	"math"
)

// AddRow appends a row, whose own variable becomes basic, and is its number.
func (s *Simplex) AddRow(r Row) int {
	n, i := s.columns, s.rows
	s.rows++
	own := make([]float64, s.rows) // of the inverse: what the row sees of the basic variables
	at := make(map[int32]float64, len(r.Terms))
	for _, t := range r.Terms {
		if t.Value != 0 {
			s.index[t.Column] = append(s.index[t.Column], int32(i))
			s.value[t.Column] = append(s.value[t.Column], t.Value)
			at[int32(t.Column)] = t.Value
		}
	}
	for p, j := range s.basis {
		if v := at[j]; v != 0 {
			for k, w := range s.inverse[p] {
				own[k] += v * w
			}
		}
		s.inverse[p] = append(s.inverse[p], 0)
	}
	own[i] = -1
	s.inverse = append(s.inverse, own)
	s.low, s.high = append(s.low, r.Low), append(s.high, r.High)
	s.cost, s.x = append(s.cost, 0), append(s.x, 0)
	s.at, s.basis = append(s.at, basic), append(s.basis, int32(n+i))
	s.y, s.alpha, s.weights = append(s.y, 0), append(s.alpha, 0), append(s.weights, 0)
	return i
}

// Restore makes a state feasible again by the dual method, after rows were added or bounds changed: the reduced costs stay as they have to
// be. Where they are not so, or it takes too many pivots, it is false and leaves the rest to Solve. Else the state is the best but for
// rounding errors, which Solve takes out.
func (s *Simplex) Restore(ctx context.Context, pivots int) bool {
	s.compute()
	y := s.weights
	for last := s.Pivots + pivots; s.Pivots < last; s.Pivots++ {
		if s.Pivots&63 == 0 && ctx.Err() != nil {
			return false
		}
		if s.age >= freshness {
			s.invert()
			s.compute()
		}
		p, most := -1, 0.0
		for q, j := range s.basis {
			if e := math.Abs(s.excess(j)); e > most {
				p, most = q, e
			}
		}
		if p < 0 {
			return true
		}
		if !s.exchange(p, y) {
			return false
		}
	}
	return false
}

// exchange lets the basic variable of a position leave for the bound that it breaks; false if none can enter, or the reduced costs are not as
// they have to be.
func (s *Simplex) exchange(p int, y []float64) bool {
	clear(y)
	for q, j := range s.basis {
		if c := s.cost[j]; c != 0 {
			for i, v := range s.inverse[q] {
				y[i] += c * v
			}
		}
	}
	out := s.basis[p]
	excess := s.excess(out)
	row := s.inverse[p]
	enter, best, size := int32(-1), Infinity, 0.0
	for j, at := range s.at {
		if at == basic || s.low[j] == s.high[j] {
			continue
		}
		d, a := s.cost[j], 0.0
		if j >= s.columns {
			d, a = y[j-s.columns], -row[j-s.columns]
		} else {
			for k, i := range s.index[j] {
				v := s.value[j][k]
				d -= y[i] * v
				a += row[i] * v
			}
		}
		if at == atLow && d < -1e-7 || at == atHigh && d > 1e-7 || at == atZero && math.Abs(d) > 1e-7 {
			return false
		}
		rises := (a < 0) == (excess < 0) // the leaving variable goes the right way when this one rises
		if math.Abs(a) < 1e-7 || at == atLow && !rises || at == atHigh && rises {
			continue
		}
		ratio := math.Abs(d) / math.Abs(a)
		if ratio < best-1e-9 || ratio < best+1e-9 && math.Abs(a) > size {
			enter, best, size = int32(j), min(best, ratio), math.Abs(a)
		}
	}
	if enter < 0 {
		return false
	}
	clear(s.alpha)
	s.column(enter, func(i int32, v float64) {
		for q, r := range s.inverse {
			if r[i] != 0 {
				s.alpha[q] += r[i] * v
			}
		}
	})
	step := excess / s.alpha[p]
	for q, a := range s.alpha {
		if a != 0 {
			s.x[s.basis[q]] -= step * a
		}
	}
	s.x[enter] += step
	want := atLow
	if excess > 0 {
		want = atHigh
	}
	s.settle(int(out), want)
	s.at[enter], s.basis[p] = basic, enter
	s.eliminate(p)
	s.age++
	return true
}
