package protection

import (
	"cmp"
	"slices"

	"microrisk/engine/program"
)

// improve makes a pattern safe, with cells of little weight, then shows those that need not be hidden, and keeps it if it is the best.
func (s *search) improve(hidden []bool, weight []float64) error {
	if err := s.repair(hidden, weight); err != nil {
		return err
	}
	if err := s.clean(hidden); err != nil {
		return err
	}
	s.accept(hidden)
	return nil
}

// repair hides cells until every attacker accepts a pattern: for each that does not, those along which his cell moves as far as it has
// to at the least weight per unit. The pattern with all cells is known to be safe.
func (s *search) repair(hidden []bool, weight []float64) error {
	a := s.auditor(s.ctx, hidden, s.o.Insider)
	a.brief = true
	for _, n := range s.needs {
		for try := 0; ; try++ {
			f, _, err := a.prove(n)
			if err != nil {
				return err
			}
			if f.Verdict == Pass {
				break
			}
			if try > 8+len(s.needs) {
				copy(hidden, s.free)
			} else if err := s.route(f, hidden, weight); err != nil {
				return err
			}
			a.forget()
		}
	}
	return nil
}

// route hides the cells that a finding asks for.
func (s *search) route(f Finding, hidden []bool, weight []float64) error {
	n := f.Need
	if f.Holder != 0 && s.o.Insider == InsiderExact {
		n = Need{Cell: n.Cell, Sliding: 1}
	}
	changed := false
	for _, w := range ways(n, f.Holder) {
		moving, err := s.cheapest(w, hidden, weight)
		if err != nil {
			return err
		}
		for _, c := range moving {
			changed = changed || !hidden[c]
			hidden[c] = true
		}
	}
	if !changed {
		copy(hidden, s.free)
	}
	return nil
}

// cheapest are the cells that move when an attack moves its cell at least weight, among those around it or else among all.
func (s *search) cheapest(a attack, hidden []bool, weight []float64) ([]int32, error) {
	for _, steps := range []int{2, 4, -1} {
		cells, whole := s.region(a.need.Cell, s.free, a.holder, steps)
		area := s.area(cells)
		l := newLinear(area, &effort{ctx: s.ctx})
		if l.err != nil {
			return nil, l.err
		}
		l.s.SetMaximise(false)
		for j, c := range cells {
			if !hidden[c] {
				l.s.SetCost(2*j, weight[c]+1e-3)
				l.s.SetCost(2*j+1, weight[c]+1e-3)
			}
		}
		k := int(area.column(a.need.Cell))
		l.s.SetBounds(2*k+1, 0, 0)
		far := a.amount()
		if a.side == below {
			l.s.SetBounds(2*k+1, l.scaled(far), l.scaled(far))
			l.s.SetBounds(2*k, 0, 0)
		} else {
			if a.side == width {
				far = min(far, s.up[a.need.Cell])
			}
			l.s.SetBounds(2*k, l.scaled(far), l.scaled(far))
		}
		status, err := l.s.Solve(s.ctx, program.DefaultPivots)
		if err := s.ctx.Err(); err != nil {
			return nil, err
		}
		if err == nil && status == program.Optimal {
			_, columns := l.read(int32(k))
			moving := make([]int32, len(columns))
			for i, j := range columns {
				moving[i] = cells[j]
			}
			return moving, nil
		}
		if whole {
			break
		}
	}
	return nil, nil
}

// clean shows secondary cells again, the dearest first, as long as every attacker accepts that.
func (s *search) clean(hidden []bool) error {
	a := s.auditor(s.ctx, hidden, s.o.Insider)
	a.brief = true
	evidence := make([][]int32, len(s.needs))
	for i, n := range s.needs {
		_, cells, err := a.prove(n)
		if err != nil {
			return err
		}
		evidence[i] = cells
	}
	order := slices.Clone(s.cells)
	slices.SortStableFunc(order, func(x, y int32) int { return cmp.Compare(s.o.Cost[y], s.o.Cost[x]) })
	for _, c := range order {
		if !hidden[c] {
			continue
		}
		hidden[c] = false
		a.forget()
		fresh := make(map[int][]int32)
		for i, n := range s.needs {
			if _, uses := slices.BinarySearch(evidence[i], c); !uses {
				continue
			}
			f, cells, err := a.prove(n)
			if err != nil {
				return err
			}
			if f.Verdict != Pass {
				hidden[c] = true
				break
			}
			fresh[i] = cells
		}
		if hidden[c] {
			continue
		}
		for i, cells := range fresh {
			evidence[i] = cells
		}
	}
	return nil
}
