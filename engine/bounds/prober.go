package bounds

import (
	"context"
	"errors"
	"math"

	"microrisk/engine/program"
)

// An Answer is what a Prober found out.
type Answer int

// Answers.
const (
	No Answer = iota
	Yes
	Unknown // the limit came first
)

// A Prober answers, for a release of a known table, whether the margins leave room for more in a cell, given that there is at least
// so much in the others: again and again, for different least counts. It is not safe for concurrent use: make a Clone.
type Prober struct {
	sys   *system
	table []int64
	limit int64
	// By network flow:
	flow *flow
	low  []int64 // of cells, published
	// Otherwise by search, then by programs:
	net     *network
	root    *state
	search  *searcher
	simplex *program.Simplex
	model   *program.Model
	met     []int64
}

// NewProber prepares questions about a table that has the released margins. Each question looks at no more than limit sums, 0 for 2^16,
// or as many pivots; network flows always answer. Errors: a release that Check refuses, a table that does not have the margins.
func NewProber(ctx context.Context, r *Release, table []int64, limit int64) (*Prober, error) {
	sys, err := newSystem(ctx, r)
	if err != nil {
		return nil, err
	}
	if len(table) != sys.size || !sys.admits(table) {
		return nil, errors.New("the table does not have the released margins")
	}
	if limit <= 0 {
		limit = 1 << 16
	}
	p := &Prober{sys: sys, table: table, limit: limit, met: make([]int64, sys.size)}
	if f, ok := newFlow(sys); ok {
		p.flow, p.low = f, f.low[:sys.size:sys.size]
		p.low = append([]int64(nil), p.low...)
		p.settle()
		return p, nil
	}
	p.net = newNetwork(sys, false)
	p.root, _ = p.net.state(math.MaxInt64)
	p.root.propagate(context.Background())
	p.prepare()
	return p, nil
}

// settle makes the table the circulation.
func (p *Prober) settle() {
	f := p.flow
	copy(f.x, p.table)
	total := int64(0)
	for _, x := range p.table {
		total += x
	}
	f.x[len(f.x)-1] = total
	for i, w := range p.sys.rows {
		if len(w.cells) > 1 {
			sum := int64(0)
			for _, c := range w.cells {
				sum += p.table[c]
			}
			f.x[f.rowArc[i]] = sum
		}
	}
}

// prepare makes a state of its own for search; programs are made when they are first needed.
func (p *Prober) prepare() {
	s := newState(&p.net.equations, p.net.nodes, math.MaxInt64)
	copy(s.low, p.root.low)
	copy(s.high, p.root.high)
	s.keep = true
	p.search = newSearcher(context.Background(), p.net, s)
	p.simplex = nil
}

// Clone is another prober of the same release and table, as it was when new.
func (p *Prober) Clone() *Prober {
	q := *p
	q.met = make([]int64, len(p.met))
	if p.flow != nil {
		f := *p.flow
		f.low, f.x = append([]int64(nil), f.low...), append([]int64(nil), f.x...)
		f.from, f.seen, f.queue = make([]int32, len(f.from)), make([]int32, len(f.seen)), nil
		f.stamp = 0
		q.flow = &f
		return &q
	}
	q.prepare()
	return &q
}

// Exceeds tells whether a table with these margins has more in a cell than the known one, and in each cell at least least, which is
// at most the known table's count. For Yes it returns that table, valid until the next question.
func (p *Prober) Exceeds(ctx context.Context, cell int, least []int64) (Answer, []int64) {
	if p.flow != nil {
		return p.byFlow(int32(cell), least)
	}
	if a, table := p.bySearch(ctx, int32(cell), least); a != Unknown {
		return a, table
	}
	if ctx.Err() != nil {
		return Unknown, nil
	}
	return p.byProgram(ctx, cell, least)
}

// byFlow looks for a residual path that takes one more through the cell.
func (p *Prober) byFlow(c int32, least []int64) (Answer, []int64) {
	f := p.flow
	if f.room(c) <= 0 {
		return No, nil
	}
	for i, l := range p.low {
		f.low[i] = max(l, least[i])
	}
	home, start := f.ends(c)
	if !f.path(start, home, c) {
		return No, nil
	}
	copy(p.met, p.table)
	p.met[c]++
	for v := home; v != start; {
		switch a := f.from[v]; {
		case a >= 0 && int(a) < p.sys.size:
			p.met[a]++
		case a < 0 && int(^a) < p.sys.size:
			p.met[^a]--
		}
		v, _ = f.ends(f.from[v])
	}
	return Yes, p.met
}

func (p *Prober) bySearch(ctx context.Context, c int32, least []int64) (Answer, []int64) {
	h := p.search
	h.ctx = ctx
	h.steps = h.looked + p.limit
	defer h.back(0)
	if !h.set(c, p.table[c]+1, infinite) {
		return No, nil
	}
	for i, l := range least {
		if l > 0 && !h.set(int32(i), l, infinite) {
			return No, nil
		}
	}
	h.cap = max(h.cap, p.table[c]+1)
	switch h.find() {
	case settled:
		return Yes, h.last
	case broken:
		return No, nil
	}
	return Unknown, nil
}

func (p *Prober) byProgram(ctx context.Context, c int, least []int64) (Answer, []int64) {
	if len(p.sys.rows) > rowsAtMost {
		return Unknown, nil
	}
	if p.simplex == nil {
		p.model = newProgram(p.sys, p.root, true, 0).model
		s, err := program.NewSimplex(p.model)
		if err != nil {
			return Unknown, nil
		}
		p.simplex = s
	}
	for i, l := range least {
		p.simplex.SetBounds(i, float64(max(l, p.root.low[i])), limit(p.root.high[i]))
	}
	p.simplex.SetMaximise(true)
	p.simplex.SetCost(c, 1)
	status, err := p.simplex.Solve(ctx, int(p.limit))
	if err != nil || status != program.Optimal {
		return Unknown, nil // it is feasible: the table is
	}
	if p.simplex.Objective() < float64(p.table[c]+1)-1e-6 {
		return No, nil
	}
	if p.whole(p.simplex.Values(), c, least) {
		return Yes, p.met
	}
	m := *p.model
	m.Maximise, m.Columns = true, append([]program.Column(nil), m.Columns...)
	for i, l := range least {
		m.Columns[i].Low = max(m.Columns[i].Low, float64(l))
	}
	m.Columns[c].Cost = 1
	m.Columns[c].Low = float64(p.table[c] + 1)
	out, err := program.Embedded{Pivots: int(p.limit), Start: p.simplex.Basis()}.Solve(ctx, &m)
	switch {
	case err != nil:
		return Unknown, nil
	case out.Status == program.Infeasible:
		return No, nil
	case out.X != nil && p.whole(out.X, c, least):
		return Yes, p.met
	}
	return Unknown, nil
}

// whole keeps a solution that really is a table with more in the cell.
func (p *Prober) whole(x []float64, c int, least []int64) bool {
	for i, v := range x {
		p.met[i] = int64(math.Round(v))
		if math.Abs(v-math.Round(v)) > 1e-6 || p.met[i] < least[i] {
			return false
		}
	}
	return p.met[c] > p.table[c] && p.sys.admits(p.met)
}
