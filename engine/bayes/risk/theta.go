package risk

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat"

	"microrisk/engine/bayes"
)

// masses are draws of the probability that all sample uniques have together.
type masses struct {
	sum    []float64 // by draw
	centre []float64 // its expectation under the model of the draw
}

// drawMasses draws the pi of the sample uniques alone, in proportion to the weights of the models. The random numbers of a draw belong
// to its number.
func (p *plan) drawMasses(ctx context.Context, d *bayes.Data, o *Options, sums []modelSums) (*masses, error) {
	unique := &bayes.Data{Levels: d.Levels, Codes: make([][]uint32, len(d.Codes)), Records: d.Records}
	for i, f := range d.Counts {
		if f == 1 {
			unique.Counts = append(unique.Counts, 1)
			for v := range d.Codes {
				unique.Codes[v] = append(unique.Codes[v], d.Codes[v][i])
			}
		}
	}
	out := &masses{sum: make([]float64, o.Draws), centre: make([]float64, o.Draws)}
	start := rand.New(rand.NewPCG(o.Seed, streamTheta)).Float64()
	first := 0
	for k, n := range allot(p.law.Models, o.Draws, start) {
		if n == 0 {
			continue
		}
		s := newSampler(p, k, unique)
		from := first
		err := parallel(ctx, o, n, func(int) int64 { return 1 }, func() []float64 { return make([]float64, len(unique.Counts)) }, func(pi []float64, i int) {
			s.draw(rand.NewPCG(o.Seed^streamTheta, uint64(from+i)), pi)
			for _, x := range pi {
				out.sum[from+i] += x
			}
			out.centre[from+i] = sums[k].uniques.mean
		})
		if err != nil {
			return nil, err
		}
		first += n
	}
	return out, nil
}

// theta fills in CMUM with its interval and standard error from draws of the uniques' mass: given it, the number of people besides the
// uniques is Poisson (exact) or binomial (montecarlo). The exact estimator also takes off what the draws' mean differs by from the
// expectation that is known.
func (f *File) theta(m *masses, n1, u float64, e Estimator) {
	values := make([]float64, len(m.sum))
	for i, s := range m.sum {
		if e == Exact {
			values[i] = n1 * PoissonMatch(n1, u*s)
		} else {
			values[i] = n1 * binomialMatch(n1, math.Round(u), min(s, 1))
		}
	}
	sorted := slices.Sorted(slices.Values(values))
	f.CMUMDrawn = &Drawn{Low: stat.Quantile(.025, stat.Empirical, sorted, nil), High: stat.Quantile(.975, stat.Empirical, sorted, nil)}
	if e == Exact {
		off := make([]float64, len(values))
		for i := range off {
			off[i] = m.sum[i] - m.centre[i]
		}
		if v := stat.Variance(off, nil); v > 0 && len(off) > 2 {
			slope := stat.Covariance(values, off, nil) / v
			for i := range values {
				values[i] -= slope * off[i]
			}
		}
	}
	sum := 0.0
	for _, x := range values {
		sum += x
	}
	f.CMUM = min(max(sum/float64(len(values)), 0), 1)
	f.CMUMDrawn.SE = deviation(values) / math.Sqrt(float64(len(values)))
}
