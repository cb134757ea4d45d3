package attribution

import (
	"context"
	"fmt"
	"math"
	"slices"

	"microrisk/engine/contingency"
	"microrisk/operators"
	"microrisk/schemas"
)

// divide tells of domains: what is learnt of the records of each that have a value. Shares and priors are those of the whole file.
func (f *fitted) divide(ctx context.Context, tables []*contingency.Table, env operators.Env) (err error) {
	var figures []operators.DomainFigure
	for i, s := range f.bound.Config.Sensitive {
		x := f.learnt[i]
		of := func(values []float64) func(class int) float64 {
			return func(class int) float64 {
				if !x.has[class] {
					return math.NaN()
				}
				return values[class]
			}
		}
		add := func(name string, d operators.DomainFigure) {
			d.Name, d.Table = schemas.Column(name, s.Name), f.bound.tables[i]
			figures = append(figures, d)
		}
		add("expected_attributions", operators.DomainFigure{Told: "learnt of " + s.Name, Sum: of(x.learnt)})
		add("mean", operators.DomainFigure{Told: "mean", Mean: of(x.learnt)})
		add("mean_prior", operators.DomainFigure{Mean: of(x.prior)})
		add("mean_gain", operators.DomainFigure{Mean: of(x.gain)})
		add("greatest", operators.DomainFigure{Greatest: of(x.learnt)})
		for _, above := range slices.Compact(slices.Sorted(slices.Values(f.bound.Config.Thresholds))) {
			add(fmt.Sprintf("above_%g", above), operators.DomainFigure{Sum: func(class int) float64 {
				if x.has[class] && x.learnt[class] > above {
					return 1
				}
				return 0
			}})
		}
	}
	f.Domains, err = f.bound.Divide(ctx, tables, env, &f.summary.MeasuredKey, func(class int) int64 {
		if math.IsNaN(f.match[class]) {
			return 0
		}
		return f.kept.Count(class)
	}, figures...)
	return err
}
