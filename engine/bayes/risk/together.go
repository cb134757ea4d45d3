package risk

import (
	"context"
	"fmt"
	"slices"

	"microrisk/engine/bayes"
)

// Together is E[1/sum of F] over several cells of a sample at once, as Law.Together gives it.
type Together struct {
	Match float64 // E[1/sum of F]
	After float64 // E[1/(1 + sum of F)]
}

// Together measures cells taken together: the first at[k] of order, which are numbers of cells of d, for each k; at ascends. The sum of
// F - f is negative binomial by the summed mean and variance of pi over the cells, taken as independent (Forster & Webb 2007, section
// 4), whatever the estimator, unless that is poisson. With several models the measure is averaged.
func (l *Law) Together(ctx context.Context, d *bayes.Data, order, at []int, o Options) ([]Together, error) {
	if err := l.ready(d, &o); err != nil {
		return nil, err
	}
	if len(at) > 0 && (at[0] < 1 || at[len(at)-1] > len(order) || !slices.IsSorted(at)) {
		return nil, fmt.Errorf("numbers of cells must ascend from 1 to %d", len(order))
	}
	out := make([]Together, len(at))
	if l.single() || o.Unsampled == 0 {
		records := 0.0
		done := 0
		for k, m := range at {
			for _, i := range order[done:m] {
				records += float64(d.Counts[i])
			}
			done = m
			out[k] = Together{1 / (records + o.Unsampled), 1 / (1 + records + o.Unsampled)}
		}
		return out, ctx.Err()
	}
	models := len(l.Models)
	mean, spread := make([]float64, models*d.Cells()), make([]float64, models*d.Cells())
	quiet := o
	quiet.Progress = nil
	err := newPlan(l, o.Estimator == Poisson, &o).eachBlock(ctx, d, &quiet, func(b *block, _, lo int) {
		for k := range models {
			m, s := b.moments(k)
			copy(mean[k*d.Cells()+lo:], m)
			if o.Estimator != Poisson {
				copy(spread[k*d.Cells()+lo:], s)
			}
		}
	})
	if err != nil {
		return nil, err
	}
	for k, model := range l.Models {
		var sum gathered
		records := 0.0
		done := 0
		for j, m := range at {
			for _, i := range order[done:m] {
				records += float64(d.Counts[i])
				sum.add(mean[k*d.Cells()+i], spread[k*d.Cells()+i])
			}
			done = m
			out[j].Match += model.Weight * sum.match(records, o.Unsampled)
			out[j].After += model.Weight * sum.match(records+1, o.Unsampled)
		}
	}
	return out, nil
}
