package evaluate

import (
	"math"
	"sort"
)

// A regression is a logistic regression of the truth on the logit of the rank, with weights around a place.
type regression struct {
	t        []float64 // of each tie, ascending
	records  []float64
	positive []float64
	ends     []int // where each stretch of ties ends; nil if there are few ties

	ties, stretches observations
	// What the fit must reproduce: the weight of the true records, and the sum of their weighted distances from the place.
	trueWeight, trueMoment float64
}

// Observations are what a line is fitted to: records at the same distance x from the place are one, with the sum of their weights. Ties
// next to each other that are put together, at their mean distance, make fewer of them.
type observations struct {
	weight, x []float64
	variance  []float64 // of x in what has been put together; nil for none
}

func newObservations(n int) observations {
	return observations{weight: make([]float64, n), x: make([]float64, n)}
}

// A fit on stretches is worth its time if each has some ties.
const (
	mostStretches = 1024
	fewTies       = 4 * mostStretches
)

func newRegression(ties []tie) *regression {
	r := &regression{t: make([]float64, len(ties)), records: make([]float64, len(ties)), positive: make([]float64, len(ties)),
		ties: newObservations(len(ties))}
	n, _ := count(ties)
	below := int64(0)
	for i, t := range ties {
		midrank := float64(below) + float64(t.records+1)/2
		r.t[i] = logit(midrank, float64(n+1)-midrank)
		r.records[i], r.positive[i] = float64(t.records), float64(t.positive)
		below += t.records
	}
	if len(ties) < fewTies {
		return r
	}
	low, high := r.t[0], r.t[len(ties)-1]
	stretch := func(i int) int { return int((r.t[i] - low) / (high - low) * mostStretches) }
	for i := range ties {
		if i+1 == len(ties) || stretch(i+1) != stretch(i) {
			r.ends = append(r.ends, i+1)
		}
	}
	r.stretches = newObservations(len(r.ends))
	r.stretches.variance = make([]float64, len(r.ends))
	return r
}

// logit of a share, from the share and the rest in any unit.
func logit(share, rest float64) float64 { return math.Log(share / rest) }

// logistic is the inverse of logit.
func logistic(z float64) float64 { return 1 / (1 + math.Exp(-z)) }

// separated tells whether the likelihood has no maximum: the true records are all on one side of the false ones, or level with the
// nearest of them. That does not depend on the weights.
func (r *regression) separated() bool {
	type span struct{ low, high int }
	positive, negative := span{-1, -1}, span{-1, -1}
	widen := func(s *span, i int) {
		if s.low < 0 {
			s.low = i
		}
		s.high = i
	}
	for i := range r.t {
		if r.positive[i] > 0 {
			widen(&positive, i)
		}
		if r.positive[i] < r.records[i] {
			widen(&negative, i)
		}
	}
	return positive.low < 0 || negative.low < 0 || positive.low >= negative.high || negative.low >= positive.high
}

// weigh gives records normal weights around a place, scaled so that the largest is 1, and tells whether the true records and the
// false ones have enough of it. A width that is infinite gives all the same weight.
func (r *regression) weigh(place, width float64) bool {
	scale := 1 / (2 * width * width)
	at := sort.SearchFloat64s(r.t, place)
	nearest := math.Inf(1)
	for _, t := range r.t[max(at-1, 0):min(at+1, len(r.t))] {
		nearest = min(nearest, math.Abs(t-place))
	}
	r.trueWeight, r.trueMoment = 0, 0
	falseWeight := 0.0
	for i, t := range r.t {
		x := t - place
		w := math.Exp((nearest*nearest - x*x) * scale)
		all, some := w*r.records[i], w*r.positive[i]
		r.ties.weight[i], r.ties.x[i] = all, x
		r.trueWeight += some
		r.trueMoment += some * x
		falseWeight += all - some
	}
	first := 0
	for k, end := range r.ends {
		var weight, moment, square float64
		middle := r.ties.x[first]
		for i := first; i < end; i++ {
			w, d := r.ties.weight[i], r.ties.x[i]-middle
			weight += w
			moment += w * d
			square += w * d * d
		}
		if weight > 0 {
			moment /= weight
			square /= weight
		}
		r.stretches.weight[k], r.stretches.x[k], r.stretches.variance[k] = weight, middle+moment, square-moment*moment
		first = end
	}
	return r.trueWeight >= leastWeight && falseWeight >= leastWeight
}

// A line is what is fitted: the logit at distance x from the place is intercept + slope x.
type line struct{ intercept, slope float64 }

func (l line) at(x float64) float64 { return l.intercept + l.slope*x }

// plus is the line after a part of a step.
func (l line) plus(part float64, step line) line {
	return line{l.intercept + part*step.intercept, l.slope + part*step.slope}
}

// Newton's method ends when no fitted logit moves by more.
const (
	nearEnough  = 1e-6 // convergence is quadratic: what is left is of the order of the square
	roughEnough = 1e-7
	wholeStep   = 0.01 // a step that moves no fitted logit by more is never cut
	boldStep    = 1    // one that moves some by more may be too long, or much too short if cut to what is always safe
	mostSteps   = 100
)

// solve is the regression line, from a guess of it; ok is false if there is no finite one.
func (r *regression) solve(guess line) (fit line, ok bool) {
	if r.ends != nil {
		// The few stretches bring the guess near: one step over all records, or two, are then left.
		if rough, ok := r.newton(r.stretches, guess, roughEnough); ok {
			guess = rough
		}
	}
	return r.newton(r.ties, guess, nearEnough)
}

// newton maximises the likelihood.
func (r *regression) newton(s observations, l line, enough float64) (line, bool) {
	low, high := s.x[0], s.x[len(s.x)-1]
	for range mostSteps {
		step := r.step(s, l)
		change := max(math.Abs(step.at(low)), math.Abs(step.at(high)))
		if math.IsNaN(change) || math.IsInf(change, 0) {
			return line{}, false
		}
		part := 1.0
		if change > wholeStep {
			part = r.part(s, l, step, change)
		}
		l = l.plus(part, step)
		if change <= enough {
			return l, true
		}
	}
	return line{}, false
}

// step is that of Newton's method.
func (r *regression) step(s observations, l line) line {
	var p, px, v, vx, vxx float64 // sums of weight times the fitted chance p and times p(1-p), and their moments
	weight := s.weight[:len(s.x)]
	for i, x := range s.x {
		chance := logistic(l.at(x))
		wp := weight[i] * chance
		wv := wp * (1 - chance)
		p += wp
		px += wp * x
		v += wv
		vx += wv * x
		vxx += wv * x * x
	}
	if s.variance != nil {
		moreP, morePX := s.within(l)
		p, px = p+moreP, px+morePX
	}
	g0, g1 := r.trueWeight-p, r.trueMoment-px
	mean := vx / v
	slope := (g1 - mean*g0) / (vxx - mean*vx)
	return line{(g0 - vx*slope) / v, slope}
}

// within is what the sums of the chance, and of the chance times x, lack because records that were put together are not at their mean:
// to second order, the chance's second derivative counts half of the variance.
func (s observations) within(l line) (p, px float64) {
	for i, x := range s.x {
		chance := logistic(l.at(x))
		first := s.weight[i] * chance * (1 - chance) * l.slope * s.variance[i]
		second := first * (1 - 2*chance) * l.slope / 2
		p += second
		px += second*x + first
	}
	return p, px
}

// part is how much of a step is taken, when the whole of it changes some logit by change. log(1 + change) / change of it raises the
// likelihood from any start (Sun & Tran-Dinh 2019: the logistic likelihood is generalised self-concordant). That is little when
// records far away have long been fitted; so more is tried first.
func (r *regression) part(s observations, l, step line, change float64) float64 {
	safe := math.Log1p(change) / change
	if change <= boldStep {
		return safe
	}
	start := r.loss(s, l)
	for part := 1.0; part > safe; part /= 2 {
		if r.loss(s, l.plus(part, step)) < start {
			return part
		}
	}
	return safe
}

// loss is minus the logarithm of the likelihood.
func (r *regression) loss(s observations, l line) float64 {
	loss := -l.intercept*r.trueWeight - l.slope*r.trueMoment
	for i, x := range s.x {
		z := l.at(x)
		loss += s.weight[i] * (max(z, 0) + math.Log1p(math.Exp(-math.Abs(z))))
	}
	return loss
}
