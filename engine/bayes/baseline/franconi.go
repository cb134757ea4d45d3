package baseline

import (
	"context"
	"fmt"
	"math"
	"runtime"

	"golang.org/x/sync/errgroup"

	"microrisk/engine/bayes/risk"
)

// BenedettiFranconi takes F - f as negative binomial of f successes with probability p, the sampling fraction, above 0 and at most 1
// (Benedetti & Franconi 1998): E[1/F] of f = 1 is p/(1-p) log(1/p), P(F = 1 given f = 1) is p. PU is NaN: the model has no empty
// cells. Match and Unique are by frequency.
func BenedettiFranconi(h Histogram, fraction float64) (*Result, error) {
	if err := checkFraction(fraction); err != nil {
		return nil, err
	}
	if err := h.check(); err != nil {
		return nil, err
	}
	r := newResult(len(h))
	for i, f := range h {
		r.Match[i], r.Unique[i] = franconi(f.F, fraction)
	}
	r.byFrequency(h)
	return r, nil
}

// BenedettiFranconiWeighted takes p = f / (sum of the design weights of the class) for each class, at most 1. Match and Unique are
// by class, on some goroutines (workers; 0: GOMAXPROCS). Weights must be finite and above 0. A context that ends is an error.
func BenedettiFranconiWeighted(ctx context.Context, counts []int64, weights []float64, workers int) (*Result, error) {
	if len(counts) != len(weights) {
		return nil, fmt.Errorf("%d sums of weights for %d classes", len(weights), len(counts))
	}
	r := newResult(len(counts))
	for i, f := range counts {
		if w := weights[i]; f < 1 || !(w > 0) || math.IsInf(w, 1) {
			return nil, fmt.Errorf("class %d has %d records of weight %v, want at least 1 and a weight above 0", i, f, w)
		}
	}
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(workers)
	for from := 0; from < len(counts); from += 1 << 14 {
		g.Go(func() error {
			for i := from; i < min(from+1<<14, len(counts)); i++ {
				r.Match[i], r.Unique[i] = franconi(counts[i], min(1, float64(counts[i])/weights[i]))
			}
			return ctx.Err()
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	r.average(counts)
	return r, nil
}

func franconi(f int64, p float64) (match, unique float64) {
	match = risk.NegativeBinomialMatch(float64(f), float64(f), (1-p)/p)
	if f == 1 {
		unique = p
	}
	return match, unique
}

// Approximate is the closed formula that programs take for E[1/F] under Benedetti & Franconi's model: exact for f = 1 and 2, and
// p/(f-1+p) above, which is 1/f for p = 1. (Capobianchi, Polettini & Lucarelli 2001.)
func Approximate(f int64, p float64) float64 {
	q := 1 - p
	switch {
	case q <= 0:
		return 1 / float64(f)
	case f > 2 || q < 1e-3:
		// The formulas of 1 and 2 cancel for p near 1, where the negative binomial's does not.
		if f <= 2 {
			match, _ := franconi(f, p)
			return match
		}
		return p / (float64(f) - q)
	case f == 1:
		return p / q * -math.Log(p)
	}
	r := p / q
	return r + r*r*math.Log(p)
}

// Household is the risk that at least one of the members of a household is recognised, given the risk of each.
func Household(members []float64) float64 {
	none := 1.0
	for _, r := range members {
		none *= 1 - r
	}
	return 1 - none
}
