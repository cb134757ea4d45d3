package mc3

import (
	"context"
	"math"

	"microrisk/engine/bayes/baseline"
	"microrisk/engine/graph"
)

// weighed tells whether Benedetti-Franconi's estimate takes the weights of each class.
func (b *bound) weighed() bool { return b.Config.Baselines && b.Sampling.Weight != "" }

// baselines measures the sample by simpler models, for comparison.
func (s *summarizer) baselines(ctx context.Context, m *Summary) error {
	if s.data.Records == 0 || s.sample.Fraction == 0 {
		return nil
	}
	h := baseline.Count(s.data.Counts)
	population := float64(s.data.Records) + s.options.Unsampled
	cells := math.Exp(s.data.LogCells(graph.First(s.data.Variables())))
	add := func(name string, r *baseline.Result, err error) {
		row := Baseline{Name: name}
		switch {
		case err != nil:
			row.Note = err.Error()
		case r != nil:
			row.PU, row.PUSU, row.CMSU = figure(r.PU), figure(r.PUSU), figure(r.CMSU)
		}
		m.Baselines = append(m.Baselines, row)
	}
	m.Baselines = append(m.Baselines, Baseline{Name: "dis", CMUM: m.DIS})
	if s.bound.weighed() {
		weights := make([]float64, s.data.Cells())
		for i := range weights {
			weights[i] = s.weights.Sum(s.data.ClassOf(i), 0)
		}
		r, err := baseline.BenedettiFranconiWeighted(ctx, s.data.Counts, weights, s.env.Workers)
		add("benedetti-franconi", r, err)
	} else {
		r, err := baseline.BenedettiFranconi(h, s.sample.Fraction)
		add("benedetti-franconi", r, err)
	}
	for _, fit := range []struct {
		name string
		of   func(baseline.Histogram, float64) (baseline.PoissonGamma, error)
	}{{"bethlehem-moments", baseline.BethlehemMoments}, {"bethlehem-likelihood", baseline.BethlehemLikelihood}} {
		g, err := fit.of(h, cells)
		var r *baseline.Result
		if err == nil {
			r, err = g.Measure(h, population)
		}
		add(fit.name, r, err)
	}
	p, err := baseline.FitPitman(h)
	var r *baseline.Result
	if err == nil {
		r, err = p.Measure(h, population)
	}
	add("pitman", r, err)
	r, err = baseline.Independence(ctx, s.data, s.sample.Fraction)
	add("elamir-skinner-independence", r, err)
	if ctx.Err() == nil {
		r, err = baseline.TwoWay(ctx, s.data, s.sample.Fraction)
		add("elamir-skinner-two-way", r, err)
	}
	return ctx.Err()
}
