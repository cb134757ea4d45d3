package protection

import (
	"context"
	"math"
	"slices"

	"microrisk/engine/tabular"
)

// A Verdict is what an audit says of a cell.
type Verdict uint8

// Verdicts, from good to bad.
const (
	Pass  Verdict = iota // the attacker's interval is as wide as needed, which is proven
	Under                // it is not
	Exact                // the value can be found
)

// String is the word for files.
func (v Verdict) String() string { return [...]string{"pass", "under", "exact"}[v] }

// A Finding is what an audit found out of a need. The interval is the one of the attacker who comes closest: Holder is who that is, 0 for
// anybody outside. It lies inside the true one, and is equal to it in networks of up to 4,000 cells, and in
// sums of any size; elsewhere it may be no wider than is needed.
type Finding struct {
	Need    Need
	Verdict Verdict
	Holder  int64
	Interval
}

// A Report is an audit of a pattern: findings in the order of the needs, and the size of what was looked at.
type Report struct {
	Findings            []Finding
	Components, Largest int // of the hidden cells, and the number of cells of the largest
	Pivots              int // of linear programs
}

// Failed are the findings that do not pass.
func (r *Report) Failed() []Finding {
	var list []Finding
	for _, f := range r.Findings {
		if f.Verdict != Pass {
			list = append(list, f)
		}
	}
	return list
}

// Audit tries all attackers on a pattern: hidden cells, by cell number. A cell with a need that is not hidden is known exactly. Errors: what
// Check refuses, a context that ended, program.ErrNumerical. Nothing that fails is reported to pass.
func Audit(ctx context.Context, t *Table, hidden []bool, needs []Need, insider Insider) (*Report, error) {
	p, err := newPlan(t, needs)
	if err != nil {
		return nil, err
	}
	if err := p.checkHidden(hidden); err != nil {
		return nil, err
	}
	r := &Report{}
	for _, c := range t.System.Components(hidden) {
		r.Components++
		r.Largest = max(r.Largest, len(c))
	}
	a := p.auditor(ctx, hidden, insider)
	a.plain = true
	tell, told := ctx.Value(telling{}).(func(done, all int))
	for i, n := range needs {
		f, _, err := a.prove(n)
		if err != nil {
			return nil, err
		}
		if r.Findings = append(r.Findings, f); told {
			tell(i+1, len(needs))
		}
	}
	r.Pivots = a.effort.pivots
	return r, nil
}

// Telling is a context in which Audit tells how many needs it has tried, after each.
func Telling(ctx context.Context, tell func(done, all int)) context.Context {
	return context.WithValue(ctx, telling{}, tell)
}

type telling struct{}

// Intervals are those of hidden cells for somebody outside, in the order of the cells. In networks they are exact, elsewhere their ends are
// whole numbers within the true ones. Errors are Audit's.
func Intervals(ctx context.Context, t *Table, hidden []bool, cells []int32) ([]Interval, error) {
	p, err := newPlan(t, nil)
	if err != nil {
		return nil, err
	}
	if err := p.checkHidden(hidden); err != nil {
		return nil, err
	}
	a := p.auditor(ctx, hidden, InsiderOff)
	a.plain = true
	list := make([]Interval, len(cells))
	for i, cell := range cells {
		if err := t.checkNeeds([]Need{{Cell: cell}}); err != nil {
			return nil, err
		}
		list[i] = p.interval(cell, way{})
		if !hidden[cell] {
			continue
		}
		w, err := a.attack(0, Need{Cell: cell, Lower: infinite, Upper: infinite, Sliding: infinite})
		if err != nil {
			return nil, err
		}
		list[i] = p.interval(cell, w)
	}
	return list, nil
}

// A way is how far an attacker's view of a cell reaches down and up, and which cells have to move for that.
type way struct {
	down, up    int64
	below, over []int32
}

// enough tells whether it is as far as needed.
func (w way) enough(n Need) bool {
	return w.down >= n.Lower && w.up >= n.Upper && (w.down >= n.Sliding || w.up >= n.Sliding || w.down+w.up >= n.Sliding)
}

// interval is the one of a cell that is seen so far.
func (p *plan) interval(cell int32, w way) Interval {
	i := Interval{NoLow, tabular.NoLimit}
	if w.down != infinite {
		i.Low = p.Values[cell] - w.down
	}
	if w.up != infinite {
		i.High = p.Values[cell] + w.up
	}
	return i
}

// An auditor tries attackers on a pattern. After a change of the pattern it has to forget.
type auditor struct {
	*plan
	hidden  []bool
	insider Insider
	brief   bool // go no further than needed
	plain   bool // nobody asks which cells move
	short   bool // go no further than needed in networks
	rows    int  // most rows of a linear program; 0: boxes alone will do
	widest  int  // cells of a network of several equations whose intervals are found to their ends
	effort  *effort
	home    []*component // by cell, nil where it is not known
}

// A component is hidden cells that hang together, and what tries them all.
type component struct {
	cells []int32
	*engine
}

func (p *plan) auditor(ctx context.Context, hidden []bool, insider Insider) *auditor {
	return &auditor{plan: p, hidden: hidden, insider: insider, rows: dense, widest: wideNetwork, effort: &effort{ctx: ctx}, home: make([]*component, p.System.Cells)}
}

// forget forgets all that hangs together with cells.
func (a *auditor) forget(cells []int32) {
	for _, c := range cells {
		if a.home[c] != nil {
			for _, d := range a.home[c].cells {
				a.home[d] = nil
			}
		}
	}
}

// prove finds out what comes of a need, and which cells have to stay hidden for what was found.
func (a *auditor) prove(need Need) (Finding, []int32, error) {
	n := a.capped(need)
	f := Finding{Need: need, Verdict: Exact, Interval: a.interval(n.Cell, way{})}
	if !a.hidden[n.Cell] {
		return f, nil, nil
	}
	w, err := a.attack(0, n)
	if err != nil {
		return f, nil, err
	}
	f.judge(a.plan, n, w, 0)
	evidence := append(slices.Clone(w.below), w.over...)
	if f.Verdict != Pass || a.insider == InsiderOff || a.Sole == nil {
		return f, unique(evidence), nil
	}
	if a.insider == InsiderExact {
		n = Need{Cell: n.Cell, Sliding: 1}
	}
	if a.plain && evidence == nil { // who could be in the way is asked of no more than is needed
		if w, err = a.shortly(n); err != nil {
			return f, nil, err
		}
		evidence = append(slices.Clone(w.below), w.over...)
	}
	found := []way{w}
	rivals := a.holders(n.Cell, evidence)
	if len(rivals) > 1 { // what is enough without the cells of any is enough for each
		v, err := a.attack(everybody, n)
		if err != nil {
			return f, nil, err
		}
		found = append(found, v)
	}
	for _, h := range rivals {
		at := slices.IndexFunc(found, func(v way) bool { return a.untouched(v, n, h) })
		if at < 0 {
			v, err := a.attack(h, n)
			if err != nil {
				return f, nil, err
			}
			if f.judge(a.plan, n, v, h); f.Verdict != Pass {
				return f, nil, nil
			}
			at, found = len(found), append(found, v)
		}
		evidence = append(append(evidence, found[at].below...), found[at].over...)
	}
	return f, unique(evidence), nil
}

// shortly is somebody outside's view, as far as it is needed, with the cells that have to move for that.
func (a *auditor) shortly(n Need) (way, error) {
	a.plain, a.short = false, true
	defer func() { a.plain, a.short = true, false }()
	return a.attack(0, n)
}

func unique(cells []int32) []int32 { return slices.Compact(sorted(cells)) }

// judge takes over what an attacker sees.
func (f *Finding) judge(p *plan, n Need, w way, holder int64) {
	verdict := Under
	switch {
	case w.enough(n):
		verdict = Pass
	case w.down == 0 && w.up == 0:
		verdict = Exact
	}
	if holder == 0 || verdict != Pass {
		f.Verdict, f.Holder, f.Interval = verdict, holder, p.interval(n.Cell, w)
	}
}

// holders are the one contributors of some cells that are not the cell's, in order.
func (p *plan) holders(cell int32, cells []int32) []int64 {
	var list []int64
	for _, c := range cells {
		if h := p.sole(c); h != 0 && h != p.sole(cell) {
			list = append(list, h)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// everybody stands for all holders but a cell's own: none is as well informed as all together.
const everybody = math.MinInt64

// knows tells whether a holder knows a cell, when another one is attacked.
func (p *plan) knows(holder int64, cell, other int32) bool {
	h := p.sole(cell)
	return h != 0 && (h == holder || holder == everybody && h != p.sole(other))
}
