package risk

import "math"

const epsilon = 0x1p-53

// An unseen number F - f of people has a distribution of the family P(k+1)/P(k) = (mean - beta k) / ((k+1)(1-beta)): negative
// binomial for beta < 0 (beta = -q), Poisson for beta = 0, binomial for 0 < beta < 1 (beta = pi). Its E[1/F] is the integral over t
// of t^(f-1) times its generating function, and the ways to sum that share their formulas:
//
//	recurrence   E_f = (1 - (f-1)(1-beta) E_{f-1}) / (mean + beta f)
//	alternating  E_f = (1/f) sum over k of the product over j < k of -(mean - beta j)/(f+1+j)
//	directly     E_f = sum over k of P(k)/(f+k)
type unseen struct {
	mean, beta float64
}

const (
	allowed      = 700   // relative error, in units of epsilon, up to which the recurrence is believed
	longestChain = 64    // steps of the recurrence
	mostTerms    = 120.0 // of a direct sum
)

// recur goes up from f = 1, where the measure is known with the given relative error in units of epsilon, and bounds the error of
// each step. It tells whether the bound stayed small.
func (p unseen) recur(f, first, errors float64) (float64, bool) {
	if f > longestChain {
		return 0, false
	}
	e := first
	g := 1 - p.beta
	for k := 2.0; k <= f; k++ {
		x := (k - 1) * g * e
		d := 1 - x
		over := p.mean + p.beta*k
		errors = (x*(errors+3)+1)/math.Abs(d) + 3 + 2*(p.mean+math.Abs(p.beta)*k)/math.Abs(over)
		if !(errors < allowed) {
			return 0, false
		}
		e = d / over
	}
	return e, true
}

// alternate sums the alternating series, for terms that shrink by half at least.
func (p unseen) alternate(f float64) float64 {
	sum, term := 1.0, 1.0
	for k := 0.0; math.Abs(term) > epsilon/4; k++ {
		term *= -(p.mean - p.beta*k) / (f + 1 + k)
		sum += term
	}
	return sum / f
}

// alternates tells whether the terms of the alternating series shrink by half at least, with changing signs.
func (p unseen) alternates(f float64) bool {
	return p.mean <= (f+1)/2 && p.beta >= -0.5
}

// terms is a guess, rather too high, of the number of terms that the direct sum takes.
func (p unseen) terms() float64 {
	return p.mean + 9*math.Sqrt(p.mean*(1-p.beta)) + 38*max(0, -p.beta) + 20
}

// direct sums over the distribution, whose probability of 0 is given.
func (p unseen) direct(f, zero float64) float64 {
	sum := zero / f
	prob := zero
	scale := 1 / (1 - p.beta)
	for k := 0.0; ; k++ {
		prob *= (p.mean - p.beta*k) * scale / (k + 1)
		term := prob / (f + k + 1)
		sum += term
		if !(term > epsilon/64*sum) && k >= p.mean {
			return sum
		}
	}
}

// NegativeBinomialMatch is E[1/F] where F - f is negative binomial with generating function (1 + q(1-t))^-a: F - f is Poisson given
// pi, and u pi is gamma of shape a (above 0) and mean a q; q is at least 0, f at least 1. The relative error is below 1e-13. It is
// (1+q)^-a / f times the hypergeometric function 2F1(a, f; f+1; q/(1+q)) of Forster & Webb 2007, section 4.
func NegativeBinomialMatch(f, a, q float64) float64 {
	if f == 1 {
		_, match := unique(a, q)
		return match
	}
	if q == 0 {
		return 1 / f
	}
	p := unseen{mean: a * q, beta: -q}
	if p.alternates(f) {
		return p.alternate(f)
	}
	_, first := unique(a, q)
	if e, ok := p.recur(f, first, 4+4*max(0, 1-a)*math.Log1p(q)); ok {
		return e
	}
	if a <= f+1 && q <= 1.5 {
		return shrinking(f, a, q)
	}
	if p.terms() < mostTerms {
		return p.direct(f, math.Exp(-a*math.Log1p(q)))
	}
	return gammaIntegral(f, a, q)
}

// unique is the probability of F = 1 and E[1/F] for f = 1.
func unique(a, q float64) (alone, match float64) {
	if q == 0 {
		return 1, 1
	}
	x := math.Log1p(q)
	alone = math.Exp(-a * x)
	if y := (a - 1) * x; y > 1 || y < -1 {
		return alone, (1 - alone*(1+q)) / ((a - 1) * q)
	} else {
		return alone, x / q * decay(y)
	}
}

// decay is (1 - exp(-y))/y.
func decay(y float64) float64 {
	if y == 0 {
		return 1
	}
	return -math.Expm1(-y) / y
}

// shrinking sums 2F1(1, f+1-a; f+1; q/(1+q)) / (f(1+q)), all terms positive for a <= f+1.
func shrinking(f, a, q float64) float64 {
	z := q / (1 + q)
	sum, term := 1.0, 1.0
	for k := 0.0; term > epsilon/4*sum; k++ {
		term *= z * (f + 1 - a + k) / (f + 1 + k)
		sum += term
	}
	return sum / (f * (1 + q))
}

// gammaIntegral is (1/q) times the integral over 0..log(1+q) of exp(h(w)), h(w) = (f-1) log(1 - (e^w - 1)/q) - (a-1) w.
func gammaIntegral(f, a, q float64) float64 {
	h := func(w float64) float64 {
		return (f-1)*math.Log1p(-min(1, math.Expm1(w)/q)) - (a-1)*w
	}
	x := math.Log1p(q)
	mode := 0.0
	step := 1 / max((f-1)/q+a-1, (f-1)/q*1e-3)
	if a < 1 {
		r := (1 - a) / (f - 1)
		if m := math.Log((1 + q) * r / (1 + r)); m > 0 {
			mode = min(m, x)
			step = 0.2
		}
	}
	if mode == 0 && f <= mostPower && q > 1 && f == math.Trunc(f) {
		return powerIntegral(int(f)-1, a, q, cut(h, 0, 0, x, step))
	}
	return math.Exp(h(mode)) * integrate(h, 0, mode, x, step) / q
}

// mostPower is the largest f whose power is multiplied out.
const mostPower = 64

// powerIntegral is gammaIntegral up to width, with a power in place of a logarithm. For q > 1 the base loses nothing.
func powerIntegral(exponent int, a, q, width float64) float64 {
	sum := 0.0
	inverse := 1 / q
	for i, t := range legendre.at {
		w := width * t
		term := legendre.weight[i] * math.Exp(-(a-1)*w)
		base := 1 - (math.Exp(w)-1)*inverse
		for e := exponent; e > 0; e >>= 1 {
			if e&1 != 0 {
				term *= base
			}
			base *= base
		}
		sum += term
	}
	return sum * width * inverse
}

// PoissonMatch is E[1/F] where F - f is Poisson with the given mean, at least 0 (Smith 2011, chapter 7).
func PoissonMatch(f, mean float64) float64 {
	if f == 1 {
		return decay(mean)
	}
	if mean == 0 {
		return 1 / f
	}
	p := unseen{mean: mean}
	if p.alternates(f) {
		return p.alternate(f)
	}
	if e, ok := p.recur(f, decay(mean), 4); ok {
		return e
	}
	if p.terms() < mostTerms {
		return p.direct(f, math.Exp(-mean))
	}
	h := func(s float64) float64 { return (f-1)*math.Log1p(-s) - mean*s }
	return integrate(h, 0, 0, 1, 1/(f-1+mean))
}

// binomialMatch is E[1/F] where F - f is binomial of u trials, u at least 0, with probability pi.
func binomialMatch(f, u, pi float64) float64 {
	if pi <= 0 || u == 0 {
		return 1 / f
	}
	if pi >= 1 {
		return 1 / (f + u)
	}
	first := -math.Expm1((u+1)*math.Log1p(-pi)) / ((u + 1) * pi)
	if f == 1 {
		return first
	}
	p := unseen{mean: u * pi, beta: pi}
	if p.alternates(f) && p.mean > 0 && u == math.Trunc(u) {
		return p.alternate(f)
	}
	if e, ok := p.recur(f, first, 6); ok {
		return e
	}
	h := func(s float64) float64 { return (f-1)*math.Log1p(-s) + u*math.Log1p(-pi*s) }
	return integrate(h, 0, 0, 1, 1/(f-1+u*pi))
}

// gammaSetMatch is E of 1/C(F, f) under the negative binomial of NegativeBinomialMatch: f times the integral over s in 0..1 of
// s^(f-1) (1+qs)^-a, taken over w = log(1+qs).
func gammaSetMatch(f, a, q float64) float64 {
	if f == 1 || q == 0 {
		_, match := unique(a, q)
		if q == 0 {
			return 1
		}
		return match
	}
	h := func(w float64) float64 { return (f-1)*math.Log(math.Expm1(w)/q) - (a-1)*w }
	x := math.Log1p(q)
	mode := x
	if a > f {
		mode = min(x, math.Log1p((f-1)/(a-f)))
	}
	return f / q * math.Exp(h(mode)) * integrate(h, 0, mode, x, mode/(f-1+math.Abs(a-1)*mode))
}

// poissonSetMatch is E of 1/C(F, f) where F - f is Poisson with the given mean: the formula as printed by Smith 2011, chapter 7.
func poissonSetMatch(f, mean float64) float64 {
	if f == 1 {
		return decay(mean)
	}
	h := func(s float64) float64 { return (f-1)*math.Log(s) - mean*s }
	mode := 1.0
	if mean > f-1 {
		mode = (f - 1) / mean
	}
	return f * math.Exp(h(mode)) * integrate(h, 0, mode, 1, mode/(f-1+mean*mode))
}
