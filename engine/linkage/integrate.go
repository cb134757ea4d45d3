package linkage

import (
	"math"

	"gonum.org/v1/gonum/integrate/quad"
)

// mostSummed is how many values of F are summed one by one; where there are more, F is large, and what is summed so smooth that it is
// integrated.
const mostSummed = 1 << 16

// firstSummed is how many of the smallest values are summed nevertheless: there one step more is a large one.
const firstSummed = 1 << 14

// nodes of the Gauss-Legendre rule on [-1, 1].
var nodeX, nodeW = func() (x, w []float64) {
	x, w = make([]float64, 16), make([]float64, 16)
	quad.Legendre{}.FixedLocations(x, w, -1, 1)
	return x, w
}()

// integrated is the posterior of samples alone over many values: the first are summed, the others integrated from half below to half
// above, in panels that are short beside F and beside all values. It has the probabilities of the first few one by one.
func (p *Problem) integrated(low, high int64, samples []fact) *posterior {
	post := &posterior{low: low}
	var total, mean, match float64
	shift, log := 0.0, 0.0 // what is added is exp(log - shift)
	add := func(weight, f float64) {
		if log > shift {
			scale := math.Exp(shift - log)
			total, mean, match, shift = total*scale, mean*scale, match*scale, log
		}
		x := weight * math.Exp(log-shift)
		total += x
		mean += x * f
		match += x / f
	}
	f := low
	var first []float64
	for ; f < low+firstSummed; f++ {
		add(1, float64(f))
		if len(first) < p.Listed {
			first = append(first, log)
		}
		log += p.step(f, samples)
	}
	// log is that of f. The integral begins half a step below.
	from, to := float64(f)-.5, float64(high)+.5
	log -= p.slope(from+.25, samples) / 2
	widest := (to - from) / 256
	for from < to {
		width := min(from/64, widest, to-from)
		start := log
		for i, x := range nodeX {
			at := from + width*(1+x)/2
			log = start + p.rise(from, at, samples)
			add(nodeW[i]*width/2, at)
		}
		log = start + p.rise(from, from+width, samples)
		from += width
	}
	post.mean, post.correct = mean/total, match/total
	for _, l := range first {
		post.p = append(post.p, math.Exp(l-shift)/total)
	}
	return post
}

// rise is how much the logarithm of the probability of the samples changes between two numbers of people.
func (p *Problem) rise(from, to float64, samples []fact) float64 {
	sum := 0.0
	half := (to - from) / 2
	for i, x := range nodeX {
		sum += nodeW[i] * p.slope(from+half*(1+x), samples)
	}
	return sum * half
}

// slope is the derivative of the logarithm of the probability of the samples, C(F, f) C(N-F, n-f): differences of digamma functions.
func (p *Problem) slope(f float64, samples []fact) float64 {
	rest := float64(p.People) - f
	sum := 0.0
	for _, s := range samples {
		count, others := float64(s.count), float64(s.records-s.count)
		sum += digammas(f, count) - digammas(rest, others)
	}
	return sum
}

// digammas is psi(x+1) - psi(x-k+1), k at least 0 and at most x.
func digammas(x, k float64) float64 {
	a, b := x+.5, x-k+.5
	correct := func(y float64) float64 { return 1/(24*y*y) - 7/(960*y*y*y*y) }
	if b < 8 { // the series is for larger numbers
		sum := 0.0
		for b < 8 {
			sum += 1 / (b + .5)
			b++
		}
		return sum + math.Log(a/b) + correct(a) - correct(b)
	}
	return -math.Log1p(-k/a) + correct(a) - correct(b)
}
