package attribution

import (
	"context"
	"errors"
	"slices"
)

// A releaseLaw has the figures of a release for each n asked for, in that order.
type releaseLaw struct {
	sap       []float64
	cells     map[int][]float64 // of open cells
	low, high []float64         // nil if exact
	bandLow   []float64
	bandHigh  []float64
	samples   int
	exact     bool
	smallest  int64
}

// tightProblem is about the tight cells alone.
func (a *analysis) tightProblem() *problem {
	p := &problem{n: a.n, relevant: a.relevant, rest: a.n}
	for _, c := range a.relevant {
		p.rest -= c
		p.empty = p.empty || c == 0
	}
	return p
}

// closedForms is the law where no cell is open.
func (a *analysis) closedForms(ctx context.Context, o ReleaseOptions) (*releaseLaw, error) {
	p, clock := a.tightProblem(), newClock(ctx)
	law := &releaseLaw{exact: true, smallest: NotFound}
	var err error
	if law.sap, err = p.some(clock, a.held); err != nil || o.Threshold == 0 {
		return law, err
	}
	n, ok, err := p.smallest(clock, o.Threshold, mostForSmallest)
	switch {
	case errors.Is(err, ErrTooMuch):
		return law, nil
	case ok:
		law.smallest = n
	default:
		law.smallest = Never
	}
	return law, err
}

// result puts the figures together.
func (a *analysis) result(law *releaseLaw) *ReleaseResult {
	out := &ReleaseResult{Exact: law.exact, Sharp: a.sharp, Samples: law.samples, Questions: a.questions, Smallest: law.smallest,
		SAP: law.sap, Low: law.low, High: law.high, BandLow: law.bandLow, BandHigh: law.bandHigh}
	for k, n := range a.held {
		cells := make([]float64, len(a.everything))
		for _, i := range a.tight {
			cells[i] = AllKnown(a.everything[i], n, a.n)
		}
		for i, p := range law.cells {
			cells[i] = p[k]
		}
		expected := 0.0
		for _, p := range cells {
			expected += p
		}
		out.Expected, out.Cells = append(out.Expected, expected), append(out.Cells, cells)
	}
	if law.exact {
		out.Low, out.High, out.BandLow, out.BandHigh = out.SAP, out.SAP, out.SAP, out.SAP
	}
	return out
}

// enumerate is the exact law, nil if it takes more than most vectors.
func (a *analysis) enumerate(ctx context.Context, o ReleaseOptions) (*releaseLaw, error) {
	if a.n <= exactPeople {
		return enumerated[uint64](ctx, a, o)
	}
	return enumerated[float64](ctx, a, o)
}

// A figure counts samples of people.
type figure interface{ uint64 | float64 }

func enumerated[T figure](ctx context.Context, a *analysis, o ReleaseOptions) (*releaseLaw, error) {
	e := &enumeration[T]{ctx: ctx, analysis: a, left: o.Most, rows: pascal[T](a.n)}
	candidates := append(append([]int(nil), a.open...), a.tight...)
	law := &releaseLaw{exact: true, cells: map[int][]float64{}, smallest: NotFound}
	sap, ok := e.law(func(s []int64) bool {
		for _, i := range candidates {
			if a.recovered(ctx, i, s) {
				return true
			}
		}
		return false
	})
	if !ok {
		return nil, ctx.Err()
	}
	law.sap = a.asked(sap)
	if o.Threshold > 0 { // with open cells all people known recover a zero
		law.smallest = int64(slices.IndexFunc(sap, func(x float64) bool { return x >= o.Threshold }))
	}
	for _, i := range a.open {
		cell, ok := e.law(func(s []int64) bool { return a.recovered(ctx, i, s) })
		if !ok {
			return nil, ctx.Err()
		}
		law.cells[i] = a.asked(cell)
	}
	return law, nil
}

// asked picks what is asked for from a law of all n.
func (a *analysis) asked(law []float64) []float64 {
	out := make([]float64, len(a.held))
	for k, n := range a.held {
		out[k] = law[n]
	}
	return out
}

// pascal has the binomial coefficients of 0 to n.
func pascal[T figure](n int64) [][]T {
	rows := make([][]T, n+1)
	for k := range rows {
		rows[k] = make([]T, k+1)
		rows[k][0], rows[k][k] = 1, 1
		for j := 1; j < k; j++ {
			rows[k][j] = rows[k-1][j-1] + rows[k-1][j]
		}
	}
	return rows
}

// An enumeration goes through vectors of known people, cell by cell.
type enumeration[T figure] struct {
	*analysis
	ctx      context.Context
	left     int64
	rows     [][]T
	test     func(s []int64) bool
	low      []int64 // the present cells, and nobody in the rest
	high     []int64 // the present cells, and everybody in the rest
	yes, not []T     // samples that pass the test, by size, and those that do not
}

// law is the probability of an event that more knowledge never undoes, for each n; false if it takes too many vectors.
func (e *enumeration[T]) law(test func(s []int64) bool) ([]float64, bool) {
	e.test = test
	e.low, e.high = make([]int64, len(e.everything)), append([]int64(nil), e.everything...)
	e.yes, e.not = make([]T, e.n+1), make([]T, e.n+1)
	switch {
	case test(e.low):
		e.add(e.yes, 1, 0, e.n)
	case !test(e.high):
		e.add(e.not, 1, 0, e.n)
	default:
		if !e.descend(0, 1, 0, e.n) {
			return nil, false
		}
	}
	out := make([]float64, e.n+1)
	for n := range out {
		out[n] = float64(e.yes[n]) / float64(e.yes[n]+e.not[n])
	}
	return out, true
}

// add counts all samples of the rest, of a number of people, with so many ways to know k before it.
func (e *enumeration[T]) add(to []T, ways T, k, rest int64) {
	for j, w := range e.rows[rest] {
		to[k+int64(j)] += ways * w
	}
}

// descend goes through the numbers known in cell d. The low vector fails the test, the high one passes it.
func (e *enumeration[T]) descend(d int, ways T, k, rest int64) bool {
	c := e.everything[d]
	rest -= c
	defer func() { e.low[d], e.high[d] = 0, c }()
	passed := false // from some number on, even the low vector passes
	for s := range c + 1 {
		w := ways * e.rows[c][s]
		if passed {
			e.add(e.yes, w, k+s, rest)
			continue
		}
		if e.left--; e.left < 0 || e.left&255 == 0 && e.ctx.Err() != nil {
			return false
		}
		e.low[d], e.high[d] = s, s
		switch {
		case s > 0 && e.test(e.low):
			passed = true
			e.add(e.yes, w, k+s, rest)
		case s < c && !e.test(e.high):
			e.add(e.not, w, k+s, rest)
		case d+1 == len(e.everything):
			e.add(e.yes, w, k+s, rest) // both are the same vector, which passes as the high one
		default:
			if !e.descend(d+1, w, k+s, rest) {
				return false
			}
		}
	}
	return true
}
