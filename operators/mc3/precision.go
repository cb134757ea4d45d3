package mc3

import (
	"context"
	"math"
	"slices"

	"microrisk/engine/bayes"
	"microrisk/engine/bayes/risk"
)

// choose puts the law first whose prior precision foretells best, if that was asked for; what is foretold is told of all where there are several.
func (b *bound) choose(ctx context.Context, laws []*fittedLaw, d *bayes.Data, o risk.Options) ([]*fittedLaw, error) {
	if len(laws) < 2 {
		return laws, nil
	}
	quiet := o
	quiet.Progress = nil
	for _, l := range laws {
		l.evidence = evidence(l.law.Models)
		means, err := l.law.LeftOut(ctx, d, false, quiet)
		if err != nil {
			return nil, err
		}
		l.predictive = 0
		for i, m := range means {
			l.predictive += float64(d.Counts[i]) * math.Log(m)
		}
	}
	if !b.Config.Auto {
		return laws, nil
	}
	best := slices.MaxFunc(laws, func(x, y *fittedLaw) int {
		if x.predictive < y.predictive {
			return -1
		}
		return 1
	})
	list := []*fittedLaw{best}
	for _, l := range laws {
		if l != best {
			list = append(list, l)
		}
	}
	return list, nil
}

// evidence is the logarithm of the sum of the models' marginal likelihoods.
func evidence(models []bayes.Model) float64 {
	top := math.Inf(-1)
	for _, m := range models {
		top = max(top, m.LogLikelihood)
	}
	sum := 0.0
	for _, m := range models {
		sum += math.Exp(m.LogLikelihood - top)
	}
	return top + math.Log(sum)
}
