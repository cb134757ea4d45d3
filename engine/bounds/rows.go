package bounds

import "context"

// A row is one published cell: the base cells that it adds up, and its bounds.
type row struct {
	margin, cell int
	low, high    int64
	cells        []int32
}

// A system is a release as rows over base cells.
type system struct {
	r    *Release
	size int
	rows []row
}

// newSystem checks a release and lists its rows, margin by margin.
func newSystem(ctx context.Context, r *Release) (*system, error) {
	if err := r.Check(ctx); err != nil {
		return nil, err
	}
	s := &system{r: r, size: r.Cells()}
	for i := range r.Margins {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		m := &r.Margins[i]
		lists := make([][]int32, len(m.Low))
		for cell, to := range r.projection(m) {
			if to >= 0 {
				lists[to] = append(lists[to], int32(cell))
			}
		}
		for cell, list := range lists {
			s.rows = append(s.rows, row{i, cell, m.Low[cell], m.upper(cell), list})
		}
	}
	return s, nil
}

// projection is the cell of the margin that each base cell is counted in, -1 for none.
func (r *Release) projection(m *Margin) []int32 {
	shape := r.shape(m)
	// term[v][c] is what category c of variable v adds to the number of the margin's cell, -1 if it was left out.
	term := make([][]int32, len(r.Levels))
	for v, l := range r.Levels {
		term[v] = make([]int32, l)
	}
	step := int32(1)
	for k := len(shape) - 1; k >= 0; k-- {
		t := term[m.Variables[k]]
		if g := m.groups(k); g != nil {
			for c := range t {
				t[c] = -1
			}
			for to, group := range g {
				for _, c := range group {
					t[c] = int32(to) * step
				}
			}
		} else {
			for c := range t {
				t[c] = int32(c) * step
			}
		}
		step *= int32(shape[k])
	}
	out := make([]int32, r.Cells())
	at := make([]int, len(r.Levels))
	for cell := range out {
		for v, c := range at {
			if term[v][c] < 0 {
				out[cell] = -1
				break
			}
			out[cell] += term[v][c]
		}
		for v := len(at) - 1; v >= 0; v-- {
			if at[v]++; at[v] < r.Levels[v] {
				break
			}
			at[v] = 0
		}
	}
	return out
}

// admits tells whether a table satisfies all rows.
func (s *system) admits(table []int64) bool {
	for _, x := range table {
		if x < 0 {
			return false
		}
	}
	for _, w := range s.rows {
		sum := int64(0)
		for _, c := range w.cells {
			sum += table[c]
		}
		if sum < w.low || sum > w.high {
			return false
		}
	}
	return true
}

// bounded tells whether every cell is in a row with an upper bound.
func (s *system) bounded() bool {
	covered := make([]bool, s.size)
	for _, w := range s.rows {
		if w.high < infinite {
			for _, c := range w.cells {
				covered[c] = true
			}
		}
	}
	for _, ok := range covered {
		if !ok {
			return false
		}
	}
	return true
}
