package protection

import (
	"cmp"
	"math"
	"slices"

	"microrisk/engine/program"
)

// model is the master program with some of its rows.
func (s *search) model(integer bool, rows []int) *program.Model {
	m := &program.Model{}
	for j, c := range s.cells {
		high := 1.0
		if s.fixed[j] {
			high = 0
		}
		m.AddColumn("", 0, high, float64(s.o.Cost[c])/s.scale, integer)
	}
	for _, i := range rows {
		m.Rows = append(m.Rows, s.rows[i])
	}
	return m
}

// broken are the rows outside the master at hand that a solution breaks, the worst first, no more than some.
func (s *search) broken(z []float64) []int {
	inside := make([]bool, len(s.rows))
	for _, i := range s.active {
		inside[i] = true
	}
	type row struct {
		number int
		has    float64
	}
	var list []row
	for i := range s.rows {
		if inside[i] {
			continue
		}
		has := 0.0
		for _, t := range s.rows[i].Terms {
			has += t.Value * z[t.Column]
		}
		if has < s.rows[i].Low-violated {
			list = append(list, row{i, has})
		}
	}
	slices.SortFunc(list, func(x, y row) int { return cmp.Or(cmp.Compare(x.has, y.has), cmp.Compare(x.number, y.number)) })
	var numbers []int
	for _, r := range list[:min(len(list), portion)] {
		numbers = append(numbers, r.number)
	}
	return numbers
}

// portion is how many rows enter the master at once.
const portion = 64

// settle solves the relaxed master until no row is broken, and tells whether there is a solution. Rows that are not tight leave it when they
// are many.
func (s *search) settle() (*program.Simplex, bool, error) {
	for {
		s.rounds++
		if s.master == nil {
			x, err := program.NewSimplex(s.model(false, s.active))
			if err != nil {
				return nil, false, err
			}
			x.SetBasis(s.basis)
			s.master = x
		}
		x := s.master
		near := x.Restore(s.ctx, patience)
		more := s.broken(x.Values())
		if !near || len(more) == 0 {
			status, err := x.Solve(s.ctx, program.DefaultPivots)
			if err != nil || status == program.Stopped {
				return nil, false, s.ended(err)
			}
			if status != program.Optimal {
				return nil, false, nil
			}
			s.raise(x.Objective())
			more = s.broken(x.Values())
		}
		if len(more) == 0 {
			s.basis = x.Basis()
			return x, true, nil
		}
		s.thin()
		for _, i := range more {
			s.active = append(s.active, i)
			if s.master != nil {
				s.master.AddRow(s.rows[i])
			}
		}
		if s.master == nil {
			s.basis = s.basis.With(upTo(len(s.active)-len(more)), len(more))
		}
	}
}

// patience is how many pivots of the dual method a change of the master may take.
const patience = 2000

// thin leaves out the rows that are not tight if half of them are not.
func (s *search) thin() {
	basis := s.master.Basis()
	var kept, active []int
	for i, number := range s.active {
		if !basis.Slack(i) {
			kept = append(kept, i)
			active = append(active, number)
		}
	}
	if len(s.active) < portion || len(kept) > len(s.active)/2 {
		return
	}
	s.basis, s.active, s.master = basis.With(kept, 0), active, nil
}

// raise takes over a bound of the master.
func (s *search) raise(bound float64) {
	if math.IsInf(bound, 0) || math.IsNaN(bound) {
		return
	}
	bound *= s.scale
	s.bound = max(s.bound, int64(math.Ceil(bound-tolerance(int64(bound)))))
}

// tolerance is by how much the rounding errors of solvers may change a cost.
func tolerance(cost int64) float64 { return 1e-6 * math.Max(1, math.Abs(float64(cost))*1e-2) }

// standstill is how often attackers may ask without raising the relaxed master's bound: what more they ask for is asked of whole solutions.
const standstill = 4

// relaxed solves the master without integrality until no attacker asks for more, or what they ask for has no effect.
func (s *search) relaxed() error {
	content := make([]bool, len(s.attacks))
	reached, still := 0.0, 0
	for {
		x, ok, err := s.settle()
		if err != nil {
			return err
		}
		if !ok {
			s.bound = s.best.Cost // nothing is left that costs less
		}
		if s.bound >= s.best.Cost {
			return nil
		}
		z := x.Values()
		if s.company(z) > 0 {
			continue
		}
		added, err := s.ask(z, content)
		if err != nil {
			return err
		}
		if still++; x.Objective() > reached*(1+1e-4) {
			reached, still = x.Objective(), 0
		}
		if added == 0 || still > standstill {
			err := s.round(z)
			s.fix(x)
			return s.unless(err)
		}
	}
}

// ended is why a program stopped.
func (s *search) ended(err error) error {
	if err == nil {
		err = s.ctx.Err()
	}
	if err == nil {
		err = errNodes
	}
	return err
}

// ask lets all attackers try a solution, those that were content the last time only if no other asks for more.
func (s *search) ask(z []float64, content []bool) (int, error) {
	hidden := make([]bool, len(s.free))
	copy(hidden, s.primary)
	for j, v := range z {
		hidden[s.cells[j]] = v > 1e-7
	}
	added := 0
	before := slices.Clone(content)
	for _, again := range []bool{false, true} {
		for i, a := range s.attacks {
			if before[i] != again {
				continue
			}
			if err := s.ctx.Err(); err != nil {
				return 0, err
			}
			rows, err := s.separate(a, hidden, z)
			if err != nil {
				return 0, err
			}
			content[i] = true
			for _, row := range rows {
				if s.keep(row) {
					added++
					content[i] = false
				}
			}
		}
		if added > 0 {
			break
		}
	}
	return added, nil
}

// round makes patterns of a solution: they prefer cells that it hides.
func (s *search) round(z []float64) error {
	weight := make([]float64, s.System.Cells)
	for j, c := range s.cells {
		weight[c] = float64(s.o.Cost[c]) * (1 - min(1, z[j]))
	}
	for _, least := range []float64{0.99, 0.5} {
		hidden := append([]bool(nil), s.primary...)
		for j, c := range s.cells {
			hidden[c] = z[j] >= least
		}
		if err := s.improve(hidden, weight); err != nil {
			return err
		}
	}
	return nil
}

// fix marks the cells that no better pattern hides, as their reduced costs tell.
func (s *search) fix(x *program.Simplex) {
	_, reduced := x.Duals()
	room := float64(s.best.Cost) - x.Objective()*s.scale
	for j, d := range reduced {
		if d*s.scale > room-1+tolerance(s.best.Cost) && x.Value(j) < 1e-9 {
			s.fixed[j] = true
		}
	}
}

// integer solves the master until its solution is safe or as dear as the best pattern.
func (s *search) integer() error {
	for s.bound < s.best.Cost {
		if err := s.ctx.Err(); err != nil {
			return err
		}
		s.rounds++
		var x *program.Solution
		var err error
		if s.o.Solver != nil {
			x, err = s.o.Solver.Solve(s.ctx, s.model(true, upTo(len(s.rows))))
		} else {
			own := program.Embedded{Nodes: s.o.Nodes, Cutoff: (float64(s.best.Cost) - 0.5) / s.scale, Bounded: true, Start: s.basis}
			x, err = own.Solve(s.ctx, s.model(true, s.active))
		}
		if err != nil {
			return err
		}
		switch x.Status {
		case program.Infeasible:
			s.bound = s.best.Cost
			return nil
		case program.Optimal:
			s.raise(x.Objective)
		default:
			s.raise(x.Bound)
		}
		if x.X == nil {
			return s.ended(nil)
		}
		if s.bound >= s.best.Cost {
			return nil
		}
		rows := len(s.active) // of the basis
		if more := s.broken(x.X); s.o.Solver == nil && len(more) > 0 {
			s.active = append(s.active, more...)
			s.basis = x.Basis.With(upTo(rows), len(more))
			if x.Status == program.Optimal {
				continue
			}
		}
		before, best := len(s.rows), s.best.Cost
		s.company(x.X)
		found, err := s.try(x.X)
		if err != nil {
			return err
		}
		if len(s.rows) == before { // no attacker asks for more
			off := math.Abs(float64(found) - x.Objective*s.scale)
			if x.Status == program.Optimal && found >= s.best.Cost && off <= tolerance(found) {
				s.bound = s.best.Cost
				return nil
			}
			if s.best.Cost == best { // the same would come again
				return s.ended(nil)
			}
		}
		for i := before; i < len(s.rows); i++ {
			s.active = append(s.active, i)
		}
		s.basis = x.Basis.With(upTo(rows), len(s.active)-rows)
		if x.Status == program.Stopped && s.bound < s.best.Cost {
			return s.ended(nil)
		}
	}
	return nil
}

func upTo(n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	return list
}

// try lets all attackers try a solution of the integer master: it is a pattern, or they ask for more. It gives what the solution costs.
func (s *search) try(x []float64) (int64, error) {
	hidden := append([]bool(nil), s.primary...)
	for j, c := range s.cells {
		hidden[c] = x[j] > 0.5
	}
	failed, err := s.failures(hidden)
	if err != nil {
		return 0, err
	}
	if len(failed) == 0 {
		s.accept(hidden)
		return s.cost(hidden), nil
	}
	added := 0
	for _, f := range failed {
		n := f.Need
		if f.Holder != 0 && s.o.Insider == InsiderExact {
			n = Need{Cell: n.Cell, Sliding: 1}
		}
		for _, a := range ways(n, f.Holder) {
			rows, err := s.separate(a, hidden, nil)
			if err != nil {
				return 0, err
			}
			for _, row := range rows {
				if s.keep(row) {
					added++
				}
			}
		}
	}
	if added == 0 {
		s.exclude(hidden)
	}
	weight := make([]float64, s.System.Cells)
	for _, c := range s.cells {
		weight[c] = float64(s.o.Cost[c])
	}
	return s.cost(hidden), s.improve(hidden, weight)
}

// exclude asks for a cell besides those of a pattern that was refused: those of its parts would be too.
func (s *search) exclude(hidden []bool) {
	row := program.Row{Low: 1, High: program.Infinity}
	for j, c := range s.cells {
		if !hidden[c] {
			row.Terms = append(row.Terms, program.Term{Column: j, Value: 1})
		}
	}
	s.keep(row)
}

// company asks for what the best patterns have: a secondary cell that is the only hidden one of an equation hides nothing, so that it would be
// shown. It gives how many rows are new.
func (s *search) company(z []float64) int {
	added := 0
	for e := range s.System.Equations {
		worst, most, sum := int32(-1), 0.0, 0.0
		s.System.Equations[e].Each(func(c int32, _ int64) {
			switch at := s.column[c]; {
			case s.primary[c]:
				sum = math.Inf(1)
			case at >= 0:
				sum += z[at]
				if z[at] > most {
					worst, most = c, z[at]
				}
			}
		})
		if 2*most-sum <= violated {
			continue
		}
		row := program.Row{High: program.Infinity}
		s.System.Equations[e].Each(func(c int32, _ int64) {
			switch at := s.column[c]; {
			case c == worst:
				row.Terms = append(row.Terms, program.Term{Column: int(at), Value: -1})
			case at >= 0:
				row.Terms = append(row.Terms, program.Term{Column: int(at), Value: 1})
			}
		})
		slices.SortFunc(row.Terms, func(x, y program.Term) int { return x.Column - y.Column })
		if s.keep(row) {
			added++
		}
	}
	return added
}
