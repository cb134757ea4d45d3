package risk

import (
	"context"
	"math"

	"microrisk/engine/bayes"
)

// A Cut is what is known of the F of a cell that lies within bounds: its law without them, cut off outside and scaled up.
type Cut struct {
	Log                float64 // log of the probability of the bounds by the law without them
	Alone, Match, Size float64 // P(F = 1), E[1/F], E[F], within the bounds
}

// NoLimit as an upper bound says that there is none.
const NoLimit = math.MaxInt64

// A Mixture adds cuts of several laws up to that of their average.
type Mixture struct {
	top, mass          float64
	alone, match, size float64
}

// Add takes a law of a weight, given as its logarithm.
func (m *Mixture) Add(logWeight float64, c Cut) {
	log := logWeight + c.Log
	if math.IsInf(log, -1) || math.IsNaN(log) {
		return
	}
	switch {
	case m.mass == 0:
		m.top = log
	case log > m.top:
		by := math.Exp(m.top - log)
		m.top, m.mass, m.alone, m.match, m.size = log, m.mass*by, m.alone*by, m.match*by, m.size*by
	}
	w := math.Exp(log - m.top)
	m.mass += w
	m.alone += w * c.Alone
	m.match += w * c.Match
	m.size += w * c.Size
}

// Log is the logarithm of the sum of what was added.
func (m *Mixture) Log() float64 { return m.top + math.Log(m.mass) }

// Cut is that of the average; weights need not sum to 1, and Log is of their sum. It is 0 where nothing was added.
func (m *Mixture) Cut() Cut {
	if m.mass == 0 {
		return Cut{Log: math.Inf(-1)}
	}
	return Cut{m.Log(), m.alone / m.mass, m.match / m.mass, m.size / m.mass}
}

// negligible is the logarithm of a probability beyond a bound that changes nothing.
const negligible = -34

// PoissonWithin is the cut of F where F - f is Poisson of the given mean, at least 0; low is at least f, at most high.
func PoissonWithin(f int64, mean float64, low, high int64) Cut {
	if !(mean > 0) {
		return still(f, low)
	}
	if x := float64(high-f) + 1; low == f && (high == NoLimit || x > mean && x-mean-x*math.Log(x/mean) < negligible) {
		alone := 0.0
		if f == 1 {
			alone = math.Exp(-mean)
		}
		return Cut{0, alone, PoissonMatch(float64(f), mean), float64(f) + mean}
	}
	at := nearest(math.Floor(mean), f, low, high)
	factorial, _ := math.Lgamma(at + 1)
	return unseen{mean: mean}.within(f, low, high, at, at*math.Log(mean)-mean-factorial)
}

// NegativeBinomialWithin is the cut of F where F - f is negative binomial as in NegativeBinomialMatch.
func NegativeBinomialWithin(f int64, a, q float64, low, high int64) Cut {
	mean := a * q
	if !(mean > 0) {
		return still(f, low)
	}
	if low == f && (high == NoLimit || beyond(a, q, float64(high-f)+1) < negligible) {
		c := Cut{Match: NegativeBinomialMatch(float64(f), a, q), Size: float64(f) + mean}
		if f == 1 {
			c.Alone, _ = unique(a, q)
		}
		return c
	}
	at := nearest(math.Floor(mean-q), f, low, high) // the mode
	factorial, _ := math.Lgamma(at + 1)
	log := rising(a, at) - factorial - a*math.Log1p(q) - at*math.Log1p(1/q)
	return unseen{mean: mean, beta: -q}.within(f, low, high, at, log)
}

// still is the cut of an F that is f.
func still(f, low int64) Cut {
	c := Cut{Match: 1 / float64(f), Size: float64(f)}
	if f == 1 {
		c.Alone = 1
	}
	if low > f {
		c = Cut{math.Inf(-1), 0, 1 / float64(low), float64(low)}
	}
	return c
}

// beyond bounds the logarithm of P(F - f >= x) of a negative binomial number (Chernoff).
func beyond(a, q, x float64) float64 {
	if x <= a*q {
		return 0
	}
	return a*math.Log1p((x-a*q)/(a*(1+q))) - x*math.Log(x*(1+q)/(q*(a+x)))
}

// rising is the logarithm of Gamma(a+k)/Gamma(a).
func rising(a, k float64) float64 {
	if a < 100 {
		more, _ := math.Lgamma(a + k)
		less, _ := math.Lgamma(a)
		return more - less
	}
	return (a-0.5)*math.Log1p(k/a) + k*math.Log(a+k) - k + (1/(a+k)-1/a)/12 // Stirling's
}

// nearest is the number from low - f to high - f that is nearest to one.
func nearest(x float64, f, low, high int64) float64 {
	x = max(x, float64(low-f))
	if high != NoLimit {
		x = min(x, float64(high-f))
	}
	return x
}

// within sums the distribution from low - f to high - f, beginning at a number of which the logarithm of the probability is given.
func (p unseen) within(f, low, high int64, at, log float64) Cut {
	least, most, scale := float64(low-f), math.Inf(1), 1/(1-p.beta)
	if high != NoLimit {
		most = float64(high - f)
	}
	size := float64(f)
	var mass, match, more float64
	take := func(k, term float64) bool {
		mass += term
		match += term / (size + k)
		more += term * k
		return term < epsilon/1024*mass
	}
	take(at, 1)
	for k, term := at, 1.0; k < most; k++ {
		ratio := (p.mean - p.beta*k) * scale / (k + 1)
		term *= ratio
		if take(k+1, term) && ratio < 1 {
			break
		}
	}
	for k, term := at, 1.0; k > least; k-- {
		term *= k / ((p.mean - p.beta*(k-1)) * scale)
		if take(k-1, term) {
			break
		}
	}
	c := Cut{Log: log + math.Log(mass), Match: match / mass, Size: size + more/mass}
	if f == 1 && low == 1 {
		c.Alone = 1 / mass
		if at > 0 { // of 0, which the sum began above
			c.Alone = math.Exp(p.logZero() - c.Log)
		}
	}
	return c
}

// logZero is the logarithm of the probability of 0.
func (p unseen) logZero() float64 {
	if p.beta == 0 {
		return -p.mean
	}
	return p.mean / p.beta * math.Log1p(-p.beta)
}

// Within measures the cells of a sample again whose F is known to lie from low to high, at least its records and at most NoLimit: by the
// law that Cells takes, of the estimators gamma and poisson, cut off outside the bounds. Each model's weight is then in proportion to the
// probability that it gives the bounds. c is what Cells gave, and gets the measures; outside has for each cell how probable it was
// without the bounds that F is outside of them.
func (l *Law) Within(ctx context.Context, d *bayes.Data, c *Cells, low, high []int64, o Options) (outside []float64, err error) {
	if err := l.ready(d, &o); err != nil {
		return nil, err
	}
	outside = make([]float64, d.Cells())
	if l.single() || o.Unsampled == 0 {
		for i, f := range d.Counts {
			all := float64(f) + o.Unsampled
			c.set(i, certainly(min(max(all, float64(low[i])), float64(high[i]))))
		}
		return outside, ctx.Err()
	}
	p := newPlan(l, o.Estimator == Poisson, &o)
	u := o.Unsampled
	return outside, p.eachBlock(ctx, d, &o, func(b *block, _, lo int) {
		cells := make([]Mixture, b.size)
		for k, m := range l.Models {
			mean, spread := b.moments(k)
			log := math.Log(m.Weight)
			for j, pi := range mean {
				i := lo + j
				f := d.Counts[i]
				switch {
				case low[i] == f && high[i] == NoLimit:
				case o.Estimator == Poisson:
					cells[j].Add(log, PoissonWithin(f, u*pi, low[i], high[i]))
				default:
					cells[j].Add(log, NegativeBinomialWithin(f, 1/spread[j], u*pi*spread[j], low[i], high[i]))
				}
			}
		}
		for j := range cells {
			i := lo + j
			switch {
			case low[i] == d.Counts[i] && high[i] == NoLimit:
			case cells[j].mass == 0: // no model has anybody there
				c.set(i, certainly(float64(low[i])))
				outside[i] = 1
			default:
				cut := cells[j].Cut()
				c.set(i, cut.Bound(low[i], high[i]))
				outside[i] = max(0, -math.Expm1(cut.Log))
			}
		}
	})
}

// certainly is the cut of an F that is known.
func certainly(size float64) Cut {
	c := Cut{Match: 1 / size, Size: size}
	if size == 1 {
		c.Alone = 1
	}
	return c
}

// Bound takes off what rounding may have put on.
func (c Cut) Bound(low, high int64) Cut {
	if low == high {
		log := c.Log
		c = certainly(float64(low))
		c.Log = log
		return c
	}
	c.Alone = min(max(c.Alone, 0), 1)
	c.Match = min(max(c.Match, 1/float64(high)), 1/float64(low))
	c.Size = min(max(c.Size, float64(low)), float64(high))
	if low > 1 {
		c.Alone = 0
	}
	return c
}

func (c *Cells) set(i int, cut Cut) {
	c.PopulationUnique[i], c.CorrectMatch[i], c.ExpectedFrequency[i] = cut.Alone, cut.Match, cut.Size
}
