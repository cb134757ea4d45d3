package attribution

import "context"

// A releaseLaw has the figures of a release for each n, at least up to the largest asked for.
type releaseLaw struct {
	sap       []float64
	cells     map[int][]float64 // of open cells
	low, high []float64         // nil if exact
	bandLow   []float64
	bandHigh  []float64
	samples   int
	exact     bool
}

// full is the probability that some tight cell is full, for each n.
func (a *analysis) full() []float64 {
	p := problem{n: a.n, relevant: a.relevant, rest: a.n}
	for _, c := range a.relevant {
		p.rest -= c
	}
	known := make([]int64, a.most+1)
	for n := range known {
		known[n] = int64(n)
	}
	sap, err := p.some(known)
	if err != nil { // n is never negative
		panic(err)
	}
	return sap
}

// result picks the figures asked for.
func (a *analysis) result(law *releaseLaw, known []int64) *ReleaseResult {
	out := &ReleaseResult{Exact: law.exact, Sharp: a.sharp, Samples: law.samples, Questions: a.questions}
	for _, n := range known {
		n = min(n, a.n)
		cells := make([]float64, len(a.everything))
		for _, i := range a.tight {
			cells[i] = AllKnown(a.everything[i], n, a.n)
		}
		for i, p := range law.cells {
			cells[i] = p[n]
		}
		expected := 0.0
		for _, p := range cells {
			expected += p
		}
		out.SAP, out.Expected, out.Cells = append(out.SAP, law.sap[n]), append(out.Expected, expected), append(out.Cells, cells)
		if law.exact {
			continue
		}
		out.Low, out.High = append(out.Low, law.low[n]), append(out.High, law.high[n])
		out.BandLow, out.BandHigh = append(out.BandLow, law.bandLow[n]), append(out.BandHigh, law.bandHigh[n])
	}
	if law.exact {
		out.Low, out.High, out.BandLow, out.BandHigh = out.SAP, out.SAP, out.SAP, out.SAP
	}
	return out
}

// enumerate is the exact law, nil if it takes more than most vectors.
func (a *analysis) enumerate(ctx context.Context, most int64) (*releaseLaw, error) {
	if a.n <= exactPeople {
		return enumerated[uint64](ctx, a, most)
	}
	return enumerated[float64](ctx, a, most)
}

// A figure counts samples of people.
type figure interface{ uint64 | float64 }

func enumerated[T figure](ctx context.Context, a *analysis, most int64) (*releaseLaw, error) {
	e := &enumeration[T]{ctx: ctx, analysis: a, left: most, rows: pascal[T](a.n)}
	candidates := append(append([]int(nil), a.open...), a.tight...)
	law := &releaseLaw{exact: true, cells: map[int][]float64{}}
	var ok bool
	if law.sap, ok = e.law(func(s []int64) bool {
		for _, i := range candidates {
			if a.recovered(ctx, i, s) {
				return true
			}
		}
		return false
	}); !ok {
		return nil, ctx.Err()
	}
	for _, i := range a.open {
		if law.cells[i], ok = e.law(func(s []int64) bool { return a.recovered(ctx, i, s) }); !ok {
			return nil, ctx.Err()
		}
	}
	return law, nil
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
