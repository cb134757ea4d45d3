package pipeline_test

import (
	"fmt"
	"math"
	"math/big"
)

// An mc3Law is the posterior of a graph's cell probabilities, or an estimate of them.
type mc3Law struct {
	*mc3Graph
	t         *mc3Table
	alpha     float64
	estimator string
	memo      map[string]mc3Risk
}

const mc3Bits = 160

func exactly(x float64) *big.Float { return new(big.Float).SetPrec(mc3Bits).SetFloat64(x) }

func toFloat(x *big.Float) float64 { f, _ := x.Float64(); return f }

// weightOf is a posterior parameter, unrounded.
func (l *mc3Law) weightOf(set uint, cell []int) *big.Float {
	a := exactly(l.alpha)
	for v, size := range l.t.sizes {
		if set>>v&1 == 1 {
			a.Quo(a, exactly(float64(size)))
		}
	}
	return a.Add(a, exactly(float64(l.t.count(set, cell))))
}

// joint is E[pi_x pi_y]: the distributions of a variable given different parents are independent, given the same parents it is that of
// a Dirichlet.
func (l *mc3Law) joint(x, y []int) *big.Float {
	one, product := exactly(1), exactly(1)
	for _, p := range l.factors {
		ax, bx := l.weightOf(p.family, x), l.weightOf(p.parents, x)
		ay, by := l.weightOf(p.family, y), l.weightOf(p.parents, y)
		if restricted(p.parents, x) == restricted(p.parents, y) {
			by.Add(by, one)
			if restricted(p.family, x) == restricted(p.family, y) {
				ay.Add(ay, one)
			}
		}
		product.Mul(product, ax.Mul(ax, ay))
		product.Quo(product, bx.Mul(bx, by))
	}
	return product
}

func (l *mc3Law) mean(x []int) *big.Float {
	product := exactly(1)
	for _, p := range l.factors {
		product.Mul(product, l.weightOf(p.family, x))
		product.Quo(product, l.weightOf(p.parents, x))
	}
	return product
}

// likeliest is the maximum-likelihood probability of a cell.
func (l *mc3Law) likeliest(x []int) float64 {
	p := 1.0
	for _, q := range l.factors {
		n := l.t.count(q.family, x)
		if n == 0 {
			return 0
		}
		p *= float64(n) / float64(l.t.count(q.parents, x))
	}
	return p
}

// moments are those of the sum of some cells' probabilities. The variance of poisson's estimates is 0.
func (l *mc3Law) moments(cells [][]int) (mean, variance float64) {
	m, second := exactly(0), exactly(0)
	for _, x := range cells {
		if l.estimator == "poisson" {
			mean += l.likeliest(x)
			continue
		}
		m.Add(m, l.mean(x))
		for _, y := range cells {
			second.Add(second, l.joint(x, y))
		}
	}
	if l.estimator == "poisson" {
		return mean, 0
	}
	mean = toFloat(m)
	variance = toFloat(second.Sub(second, m.Mul(m, m)))
	if variance < 1e-40 { // the whole table is one cell
		variance = 0
	}
	return mean, variance
}

// An mc3Risk is what is known of the F - f people outside the sample who fit.
type mc3Risk struct {
	match     float64 // E[1/F]
	set       float64 // E[1/C(F,f)]
	none, one float64 // P(F-f = 0), P(F-f = 1)
	mean      float64 // E[F-f]
}

// risk of merged cells that hold f records.
func (l *mc3Law) risk(f int, cells [][]int) mc3Risk {
	key := fmt.Sprint(f, cells)
	r, ok := l.memo[key]
	if !ok {
		mean, variance := l.moments(cells)
		switch {
		case len(cells) == len(l.t.cells()): // all of the population is here
			r = l.everybody(f)
		case len(cells) == 1 && (l.estimator == "exact" || l.estimator == "montecarlo"):
			r = l.series(f, cells[0], l.estimator == "montecarlo")
		default:
			r = l.mixed(f, mean, variance)
		}
		l.memo[key] = r
	}
	return r
}

// everybody is the risk where the table has one cell: F = N.
func (l *mc3Law) everybody(f int) mc3Risk {
	u := l.t.u
	r := mc3Risk{match: 1 / (float64(f) + u), set: 1, mean: u}
	if u == 0 {
		r.none = 1
	}
	for k := range f {
		r.set *= float64(k+1) / (u + float64(k+1))
	}
	return r
}

// mixed sums over the number of people outside the sample: Poisson without variance, else negative binomial.
func (l *mc3Law) mixed(f int, mean, variance float64) mc3Risk {
	u := l.t.u
	lam := u * mean
	r := mc3Risk{mean: lam}
	ratio := func(k int) float64 { return lam / float64(k+1) } // of the probabilities of k+1 and k
	tail := 1.0
	r.none = math.Exp(-lam)
	if l.estimator != "poisson" {
		a, q := mean*mean/variance, u*variance/mean
		ratio = func(k int) float64 { return (a + float64(k)) / float64(k+1) * q / (1 + q) }
		tail = 1 + q
		r.none = math.Exp(-a * math.Log1p(q))
	}
	r.one = r.none * ratio(0)
	// The first probability may be too small to be told from 0: the sums are scaled.
	if math.IsNaN(r.none) {
		return mc3Risk{match: math.NaN(), set: math.NaN(), none: math.NaN(), one: math.NaN(), mean: math.NaN()}
	}
	p, total, match, set, choose := 1.0, 0.0, 0.0, 0.0, 1.0
	for k := 0; ; k++ {
		total += p
		match += p / float64(f+k)
		set += p / choose
		next := ratio(k)
		if p *= next; next < 1 && p*tail < 1e-18*total {
			break
		}
		choose *= float64(f+k+1) / float64(k+1)
		if total > 1e200 {
			p, total, match, set = p*1e-200, total*1e-200, match*1e-200, set*1e-200
		}
	}
	r.match, r.set = match/total, set/total
	return r
}

// series expands in powers of a cell's probability pi, whose moments are known: with h(x) = exp(-u x), or (1-x)^u for montecarlo,
// P(F-f = 0) = E[h(pi)], P(F-f = 1) = -E[pi h'(pi)], E[1/F] = integral of t^(f-1) E[h(pi (1-t))] over t from 0 to 1.
func (l *mc3Law) series(f int, cell []int, finite bool) mc3Risk {
	u := l.t.u
	if finite {
		u = math.Round(u)
	}
	bits := uint(mc3Bits + 2*u)
	number := func(x float64) *big.Float { return new(big.Float).SetPrec(bits).SetFloat64(x) }
	type pair struct{ a, b *big.Float }
	var betas []pair
	for _, p := range l.factors {
		x, y := number(l.alpha), number(l.alpha)
		for v, size := range l.t.sizes {
			if p.family>>v&1 == 1 {
				x.Quo(x, number(float64(size)))
			}
			if p.parents>>v&1 == 1 {
				y.Quo(y, number(float64(size)))
			}
		}
		betas = append(betas, pair{x.Add(x, number(float64(l.t.count(p.family, cell)))), y.Add(y, number(float64(l.t.count(p.parents, cell))))})
	}
	one := number(1)
	none, single, match := number(0), number(0), number(0)
	term, inner := number(1), number(1) // (-u)^k E[pi^k] / k!, and the same times k! (f-1)! / (f+k)!
	f = max(f, 1)                       // an empty cell has no match
	inner.Quo(inner, number(float64(f)))
	mean := 0.0
	for k := 0; ; k++ {
		none.Add(none, term)
		single.Sub(single, new(big.Float).Mul(term, number(float64(k))))
		match.Add(match, inner)
		step := number(-u)
		if finite {
			step = number(float64(k) - u)
		}
		for _, b := range betas {
			step.Mul(step, b.a)
			step.Quo(step, b.b)
			b.a.Add(b.a, one)
			b.b.Add(b.b, one)
		}
		if k == 0 {
			mean = -toFloat(step)
		}
		term.Mul(term, step)
		term.Quo(term, number(float64(k+1)))
		inner.Mul(inner, step)
		inner.Quo(inner, number(float64(f+k+1)))
		if float64(k) > u+1 && (term.Sign() == 0 || term.MantExp(nil) < -100) {
			break
		}
	}
	return mc3Risk{match: toFloat(match), none: toFloat(none), one: toFloat(single), mean: mean}
}

// theta is the chance that a match with one of these groups of cells is correct: their moments are added as if independent.
func (l *mc3Law) theta(groups [][][]int) float64 {
	if len(groups) == 0 {
		return math.NaN()
	}
	var mean, variance float64
	for _, cells := range groups {
		m, v := l.moments(cells)
		mean, variance = mean+m, variance+v
	}
	n1 := len(groups)
	if n1 == 1 && len(groups[0]) == len(l.t.cells()) {
		return l.everybody(1).match
	}
	return float64(n1) * l.mixed(n1, mean, variance).match
}
