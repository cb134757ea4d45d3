package effects

import (
	"math"
	"sync"
	"sync/atomic"

	"microrisk/engine/bayes/risk"
)

// Measures are those of cells under one sigma. They are safe for concurrent use.
type Measures struct {
	sigma, fraction float64
	values          tables[values]
	variances       tables[[2]float64]
	after           tables[float64]
}

// New has the measures under a sigma of at least 0 at a sampling fraction above 0 and at most 1.
func New(sigma, fraction float64) *Measures { return &Measures{sigma: sigma, fraction: fraction} }

// Measures of cells are tabulated over the logarithm of the people that the cell should have, in steps of which a cubic through four
// points is good to 1e-8.
const (
	perUnit = 32
	first   = -60 * perUnit // of the table: exp(-60) people
	last    = 40 * perUnit
)

// values are P(F = 1), E[1/F], and the logarithm of E[F] - f.
type values [3]float64

// tables have something of cells by their records and the point of the table. Each is made when it is first asked for; it does not matter by whom.
type tables[T any] struct {
	few  [64]atomic.Pointer[table[T]]
	more sync.Map // of cells of more records
}

type table[T any] [last - first + 1]atomic.Pointer[T]

// of is the table of cells of f records.
func (t *tables[T]) of(f int64) *table[T] {
	if f >= int64(len(t.few)) {
		list, ok := t.more.Load(f)
		if !ok {
			list, _ = t.more.LoadOrStore(f, new(table[T]))
		}
		return list.(*table[T])
	}
	at := &t.few[f]
	if list := at.Load(); list != nil {
		return list
	}
	at.CompareAndSwap(nil, new(table[T]))
	return at.Load()
}

// at is what a point has, made where it is not there yet.
func (t *table[T]) at(point int, make func() T) *T {
	at := &t[point-first]
	if v := at.Load(); v != nil {
		return v
	}
	v := make()
	at.Store(&v)
	return &v
}

// Of are the measures of a cell that has f records, at least 1, and should have so many people by the model: P(F = 1), E[1/F], and E[F].
func (m *Measures) Of(f int64, people float64) (alone, match, expected float64) {
	v, _ := m.at(f, people)
	alone, match = min(max(v[0], 0), 1), min(max(v[1], 0), 1/float64(f))
	if f > 1 {
		alone = 0
	}
	return alone, match, float64(f) + math.Exp(v[2])
}

// Slopes are what P(F = 1), E[1/F] and E[F] of a cell change by, for each unit that the logarithm of the people
// whom it should have is more.
func (m *Measures) Slopes(f int64, people float64) (alone, match, expected float64) {
	v, slope := m.at(f, people)
	if f == 1 {
		alone = slope[0]
	}
	return alone, slope[1], math.Exp(v[2]) * slope[2]
}

// Variances are those of 1/F and of F of a cell of f records, at least 1, that should have about so many people: within 2 %.
func (m *Measures) Variances(f int64, people float64) (match, size float64) {
	point := int(math.Round(math.Log(people) * perUnit))
	if point < first || point > last {
		v := m.spread(float64(f), people)
		return v[0], v[1]
	}
	v := m.variances.of(f).at(point, func() [2]float64 { return m.spread(float64(f), math.Exp(float64(point)/perUnit)) })
	return v[0], v[1]
}

// spread are the variances of 1/F and F.
func (m *Measures) spread(f, people float64) [2]float64 {
	l := m.law(f, people)
	var sum, mean, square, more, moreSquare float64
	l.eachNode(func(effect, weight float64) {
		unsampled := (1 - m.fraction) * people * effect
		a, b := risk.PoissonMatches(f, unsampled)
		sum += weight
		mean += weight * a
		square += weight * b
		more += weight * unsampled
		moreSquare += weight * unsampled * unsampled
	})
	mean, more = mean/sum, more/sum
	return [2]float64{max(0, square/sum-mean*mean), max(0, moreSquare/sum-more*more) + more}
}

// at are the values, and their slopes over the logarithm of people.
func (m *Measures) at(f int64, people float64) (v, slope values) {
	point, w, by, ok := cubic(people)
	if !ok {
		const step = 1e-3
		at, more := m.exact(float64(f), people), m.exact(float64(f), people*math.Exp(step))
		for k := range slope {
			slope[k] = (more[k] - at[k]) / step
		}
		return at, slope
	}
	t := m.values.of(f)
	for i := range w {
		p := t.at(point+i, func() values { return m.exact(float64(f), math.Exp(float64(point+i)/perUnit)) })
		for k := range v {
			v[k] += w[i] * p[k]
			slope[k] += by[i] * p[k]
		}
	}
	return v, slope
}

// After is E[1/(F + 1)] of a cell of f records, at least 1, that should have so many people.
func (m *Measures) After(f int64, people float64) float64 {
	exact := func(people float64) float64 {
		var sum, match float64
		l := m.law(float64(f), people)
		l.eachNode(func(effect, weight float64) {
			sum += weight
			match += weight * risk.PoissonMatch(float64(f+1), (1-m.fraction)*people*effect)
		})
		return match / sum
	}
	point, w, _, ok := cubic(people)
	if !ok {
		return exact(people)
	}
	t, v := m.after.of(f), 0.0
	for i := range w {
		v += w[i] * *t.at(point+i, func() float64 { return exact(math.Exp(float64(point+i) / perUnit)) })
	}
	return min(max(v, 0), 1/float64(f+1))
}

// cubic are the weights of the four points of the table about so many people, the first of which it gives, of values and of slopes; !ok: there are
// none.
func cubic(people float64) (point int, of, slope [4]float64, ok bool) {
	x := math.Log(people) * perUnit
	cell := math.Floor(x)
	if !(cell-1 >= first && cell+2 <= last) {
		return 0, of, slope, false
	}
	u := x - cell
	return int(cell) - 1, [4]float64{-u * (u - 1) * (u - 2) / 6, (u + 1) * (u - 1) * (u - 2) / 2, -(u + 1) * u * (u - 2) / 2, (u + 1) * u * (u - 1) / 6},
		[4]float64{-(3*u*u - 6*u + 2) / 6 * perUnit, (3*u*u - 4*u - 1) / 2 * perUnit, -(3*u*u - 2*u - 2) / 2 * perUnit, (3*u*u - 1) / 6 * perUnit}, true
}

// law is that of the effect of a cell of f records.
func (m *Measures) law(f, people float64) law {
	return law{f: f, sigma: m.sigma, rate: m.fraction * people * math.Exp(-m.sigma*m.sigma/2)}
}

// exact are the values of a cell that has f records and should have so many people.
func (m *Measures) exact(f, people float64) values {
	if people == 0 {
		people = 1e-300
	}
	l := m.law(f, people)
	var sum, alone, match, more float64
	l.eachNode(func(effect, weight float64) {
		unsampled := (1 - m.fraction) * people * effect
		sum += weight
		if f == 1 {
			alone += weight * math.Exp(-unsampled)
		}
		match += weight * risk.PoissonMatch(f, unsampled)
		more += weight * unsampled
	})
	return values{alone / sum, match / sum, math.Log(more / sum)}
}
