package baseline

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/optimize"
)

// A PitmanModel is Pitman's sampling formula with 0 <= Slope < 1 (s) and Theta > -Slope (t), as Hoshino 2001 fits it to samples.
type PitmanModel struct {
	Theta, Slope  float64 // NaN where the likelihood has no maximum, as where all records are unique
	LogLikelihood float64 // without terms that do not depend on the parameters
}

// FitPitman fits by maximum likelihood.
func FitPitman(h Histogram) (PitmanModel, error) {
	m := PitmanModel{math.NaN(), math.NaN(), math.NaN()}
	if err := h.check(); err != nil {
		return m, err
	}
	n, k := float64(h.Records()), h.Occupied()
	if k < 2 || float64(k) == n {
		return m, nil
	}
	loss := func(x []float64) float64 { return -pitmanLikelihood(h, n, k, x) }
	best := math.Inf(1)
	for _, slope := range []float64{-3, -1, 0, 1.5} {
		for _, size := range []float64{0, 3, 7} {
			start := []float64{size, slope}
			result, err := optimize.Minimize(optimize.Problem{Func: loss}, start, nil, &optimize.NelderMead{})
			if err != nil && result == nil {
				return m, fmt.Errorf("the likelihood of Pitman's model: %w", err)
			}
			if result.F < best {
				best = result.F
				t, s := pitmanParameters(result.X)
				m = PitmanModel{Theta: t, Slope: s, LogLikelihood: -result.F}
			}
		}
	}
	return m, nil
}

// pitmanParameters of free parameters: log(t + s) and logit s.
func pitmanParameters(x []float64) (t, s float64) {
	s = 1 / (1 + math.Exp(-x[1]))
	return math.Exp(x[0]) - s, s
}

func pitmanLikelihood(h Histogram, n float64, k int64, x []float64) float64 {
	_, s := pitmanParameters(x)
	if !(s < 1) || math.Abs(x[0]) > 80 || math.Abs(x[1]) > 60 {
		return math.Inf(-1)
	}
	gap := math.Exp(x[0]) // t + s
	sum := logSteps(gap, s, float64(k-1))
	// log Gamma(t+1) - log Gamma(t+n), from t + 1 = gap + (1-s).
	first := gap + 1/(1+math.Exp(x[1]))
	sum -= logRise(first, n-1)
	once, _ := math.Lgamma(1 - s)
	for _, f := range h {
		if f.F > 1 {
			y, _ := math.Lgamma(float64(f.F) - s)
			sum += float64(f.Cells) * (y - once)
		}
	}
	return sum
}

// logSteps is the sum of log(first + i s) for i < m.
func logSteps(first, s, m float64) float64 {
	if s == 0 {
		return m * math.Log(first)
	}
	if m > 4096 && first/s < 1e12 {
		return m*math.Log(s) + logRise(first/s, m)
	}
	sum := 0.0
	for i := 0.0; i < m; i++ {
		sum += math.Log(first + i*s)
	}
	return sum
}

// Measure gives PU and PUSU of a fitted model for a sample h of a population of N people; the model has no E[1/F].
func (m PitmanModel) Measure(h Histogram, population float64) (*Result, error) {
	if err := checkPopulation(h, population); err != nil {
		return nil, err
	}
	r := newResult(len(h))
	for i, f := range h {
		r.Match[i] = math.NaN()
		if f.F == 1 {
			r.Unique[i] = math.NaN()
		}
	}
	n := float64(h.Records())
	t, s := m.Theta, m.Slope
	if n == 0 || math.IsNaN(t) {
		return r, nil
	}
	r.PU = math.Exp(logStep(t+population, s-1) - logStep(t+1, s-1))
	if h.Uniques() > 0 {
		r.Unique[0] = math.Exp(logStep(t+population, s-1) - logStep(t+n, s-1))
		r.PUSU = r.Unique[0]
	}
	return r, nil
}

// logStep is log Gamma(x+d) - log Gamma(x), for |d| <= 1, x > 0, x + d > 0, without the cancellation of large x.
func logStep(x, d float64) float64 {
	if x < 30 {
		after, _ := math.Lgamma(x + d)
		before, _ := math.Lgamma(x)
		return after - before
	}
	y := x + d
	series := func(z float64) float64 { return (1./12 - (1./360-1./(1260*z*z))/(z*z)) / z }
	return (y-0.5)*math.Log1p(d/x) + d*math.Log(x) - d + series(y) - series(x)
}
