package protection

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"microrisk/engine/program"
)

// finish makes a pattern safe, shows again what need not be hidden, and is what every attacker accepted.
func (s *search) finish(hidden []bool, method string) (*Pattern, error) {
	weight := make([]float64, len(hidden))
	for c, cost := range s.o.Cost {
		weight[c] = float64(cost)
	}
	p := s.proofs(hidden, weight)
	p.boxes = s.vast()
	if err := p.mend(); err != nil {
		return nil, err
	}
	err := p.clean()
	if err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return nil, err
	}
	s.accept(hidden)
	s.best.Solver, s.best.Stopped = method, err != nil
	return s.best, nil
}

// improve makes a pattern safe, with cells of little weight, then shows those that need not be hidden, and keeps it if it is the best: also
// where the time passes before all are shown.
func (s *search) improve(hidden []bool, weight []float64) error {
	p := s.proofs(hidden, weight)
	if err := p.mend(); err != nil {
		return err
	}
	err := p.clean()
	if err == nil || errors.Is(err, context.DeadlineExceeded) {
		s.accept(hidden)
	}
	return err
}

// proofs are, for each need, cells that have to stay hidden for it: while they are, and whatever else is hidden, every attacker accepts.
type proofs struct {
	*search
	hidden []bool
	weight []float64 // of cells to be hidden
	a      *auditor
	cells  [][]int32 // by need, ascending
	needs  [][]int32 // by cell, the needs that have it or had it
	failed []int     // by need, how often there was no other proof
	boxes  bool      // hide and show cells by boxes before linear programs
}

func (s *search) proofs(hidden []bool, weight []float64) *proofs {
	p := &proofs{search: s, hidden: hidden, weight: weight, a: s.auditor(s.ctx, hidden, s.o.Insider), cells: make([][]int32, len(s.needs)),
		needs: make([][]int32, len(hidden)), failed: make([]int, len(s.needs))}
	p.a.brief = true
	return p
}

func (p *proofs) set(i int32, cells []int32) {
	for _, c := range cells {
		if _, had := slices.BinarySearch(p.cells[i], c); !had {
			p.needs[c] = append(p.needs[c], i)
		}
	}
	p.cells[i] = cells
}

// mend hides cells until there is a proof for each need.
func (p *proofs) mend() error {
	for i, n := range p.search.needs {
		for try := 0; ; try++ {
			f, cells, err := p.a.prove(n)
			if err != nil {
				return err
			}
			if f.Verdict == Pass {
				p.set(int32(i), cells)
				break
			}
			more := false
			if try < 8 {
				if more, err = p.hide(f); err != nil {
					return err
				}
			}
			if !more {
				if err := p.hideAll(int32(i)); err != nil {
					return err
				}
				break
			}
		}
	}
	return nil
}

// hide hides the cheapest cells with which a finding's attacker sees as little as he should; false if no more cells are hidden.
func (p *proofs) hide(f Finding) (more bool, err error) {
	n := f.Need
	if f.Holder != 0 && p.o.Insider == InsiderExact {
		n = Need{Cell: n.Cell, Sliding: 1}
	}
	if p.boxes && p.hideBox(n, f.Holder) {
		return true, nil
	}
	for _, w := range ways(n, f.Holder) {
		cells, err := p.least(w)
		if err != nil {
			return false, err
		}
		more = p.add(cells) || more
	}
	return more, nil
}

// hideAll hides the cells that prove a need when all are hidden that may be; the error is that even they do not.
func (p *proofs) hideAll(i int32) error {
	all := p.auditor(p.ctx, p.free, p.o.Insider)
	all.brief = true
	f, cells, err := all.prove(p.search.needs[i])
	if err != nil {
		return err
	}
	if f.Verdict != Pass {
		return p.explain(f)
	}
	p.add(cells)
	p.set(i, cells)
	return nil
}

// add hides cells, and tells whether some were not hidden.
func (p *proofs) add(cells []int32) (more bool) {
	var fresh []int32
	for _, c := range cells {
		if !p.hidden[c] {
			p.hidden[c] = true
			fresh = append(fresh, c)
		}
	}
	p.forgetAround(fresh)
	return len(fresh) > 0
}

// forgetAround forgets what hangs together with cells that are hidden now.
func (p *proofs) forgetAround(cells []int32) {
	for _, c := range cells {
		for _, e := range p.of[c] {
			p.System.Equations[e].Each(func(c int32, _ int64) {
				if p.a.home[c] != nil {
					p.a.forget([]int32{c})
				}
			})
		}
	}
}

// least are the cells that move when an attack moves its cell at the least weight of cells that are not hidden yet, among those around it.
func (p *proofs) least(a attack) ([]int32, error) {
	for _, steps := range []int{2, 3, 4, 5, 6, 8, -1} {
		cells, whole := p.region(a.need.Cell, p.free, a.holder, steps)
		area := p.area(cells)
		if len(area.rows) > dense {
			break
		}
		l := newLinear(area, &effort{ctx: p.ctx})
		if l.err != nil {
			return nil, l.err
		}
		l.s.SetMaximise(false)
		largest := 1.0 // so that no cost is larger than 1: the simplex method wants that
		for _, c := range cells {
			if !p.hidden[c] {
				largest = max(largest, p.weight[c])
			}
		}
		for j, c := range cells {
			if !p.hidden[c] {
				l.s.SetCost(2*j, p.weight[c]/largest+1e-6)
				l.s.SetCost(2*j+1, p.weight[c]/largest+1e-6)
			}
		}
		k := int(area.column(a.need.Cell))
		far := l.scaled(a.amount())
		at := 2 * k
		if a.side == below || a.side == width && l.up[k] < a.amount() && l.up[k] < l.down[k] {
			at++
		}
		if a.side == width {
			far = min(far, l.scaled([]int64{l.up[k], l.down[k]}[at-2*k]))
		}
		l.s.SetBounds(at^1, 0, 0)
		l.s.SetBounds(at, far, far)
		status, err := program.Optimal, error(nil)
		if !l.s.Restore(p.ctx, routing) { // nothing moves to begin with, and no cost is negative
			status, err = l.s.Solve(p.ctx, routing)
		}
		if err := p.ctx.Err(); err != nil {
			return nil, err
		}
		if err == nil && (status == program.Optimal || status == program.Stopped && l.s.Feasible()) {
			_, columns := l.read(int32(k))
			for i, j := range columns {
				columns[i] = cells[j]
			}
			return columns, nil
		}
		if whole {
			break
		}
	}
	return nil, nil
}

// routing is how many pivots a way to hide a cell may take: one that is not quite the cheapest will do.
const routing = 4000

// persistence is how many pivots the proof takes at most that a cell may be shown: it stays hidden otherwise.
const persistence = 300

// lesser is how many rows these programs have at most where there are boxes.
const lesser = 200

// clean shows secondary cells again, the dearest first, as long as every attacker accepts that.
func (p *proofs) clean() error {
	p.a.effort.most = persistence
	defer func() { p.a.effort.most = 0 }()
	order := slices.Clone(p.search.cells)
	slices.SortStableFunc(order, func(x, y int32) int { return cmp.Compare(p.o.Cost[y], p.o.Cost[x]) })
	if p.boxes { // with the proofs that are found soonest first
		defer func() { p.a.rows = dense }()
		p.a.rows = 0
		if err := p.showEach(order); err != nil {
			return err
		}
		p.a.rows = lesser
	}
	return p.showEach(order)
}

// showEach shows cells in order, as long as every attacker accepts that.
func (p *proofs) showEach(order []int32) error {
	for _, c := range order {
		if !p.hidden[c] {
			continue
		}
		if err := p.show(c); err != nil {
			return err
		}
	}
	return nil
}

// show shows a cell and the cells that are known then, unless some need is not met any more.
func (p *proofs) show(c int32) error {
	before := p.a.home[c]
	shown, ok := p.known(c)
	fresh := make(map[int32][]int32)
	var err error
	if ok {
		p.a.forget(shown)
		ok, err = p.check(shown, fresh)
	}
	if !ok || err != nil {
		for _, c := range shown {
			p.hidden[c] = true
		}
		switch {
		case before != nil: // all is as it was
			for _, c := range before.cells {
				p.a.home[c] = before
			}
		default:
			p.forgetAround(shown)
		}
		return err
	}
	for i, cells := range fresh {
		p.set(i, cells)
	}
	return nil
}

// known shows a cell and those that are alone in an equation then; false if a cell with a need is.
func (p *proofs) known(c int32) (shown []int32, ok bool) {
	shown = []int32{c}
	p.hidden[c] = false
	for k := 0; k < len(shown); k++ {
		for _, e := range p.of[shown[k]] {
			count, last := 0, int32(-1)
			p.System.Equations[e].Each(func(c int32, _ int64) {
				if p.hidden[c] {
					count, last = count+1, c
				}
			})
			switch {
			case count != 1:
			case p.primary[last]:
				return shown, false
			default:
				p.hidden[last] = false
				shown = append(shown, last)
			}
		}
	}
	return shown, true
}

// check finds new proofs of the needs that have cells that are shown now; false if there is none. Needs that often had none come first.
func (p *proofs) check(shown []int32, fresh map[int32][]int32) (bool, error) {
	var list []int32
	for _, c := range shown {
		for _, i := range p.needs[c] {
			if _, has := slices.BinarySearch(p.cells[i], c); has {
				list = append(list, i)
			}
		}
	}
	list = unique(list)
	slices.SortStableFunc(list, func(i, j int32) int { return cmp.Compare(p.failed[j], p.failed[i]) })
	for _, i := range list {
		f, cells, err := p.a.prove(p.search.needs[i])
		if err != nil {
			return false, err
		}
		if f.Verdict != Pass {
			p.failed[i]++
			return false, nil
		}
		fresh[i] = cells
	}
	return true, nil
}
