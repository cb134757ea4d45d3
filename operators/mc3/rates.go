package mc3

import (
	"context"

	"github.com/apache/arrow/go/v17/arrow"

	"microrisk/engine/bayes"
	"microrisk/engine/bayes/risk"
	"microrisk/engine/contingency"
	"microrisk/operators"
	"microrisk/schemas"
)

// Rates are what models say of the probabilities of the cells of several samples of one population, fitted to all of their records together.
type Rates struct {
	Data   *bayes.Data // the cells: the classes of the table that are not dropped
	Means  []float64   // probability of each cell, as what others make of it tells: without its own records
	Kept   []float64   // the same, without one of its records alone
	Models int

	law     *risk.Law
	options risk.Options
}

// Rates fits models to a table of a key in memory, whose missing values are all of one policy each. The settings of measures are not looked at.
func (c Config) Rates(ctx context.Context, t *contingency.Table, key schemas.Key, env operators.Env) (*Rates, error) {
	var fields []arrow.Field
	for _, v := range t.Variables {
		fields = append(fields, arrow.Field{Name: v.Name, Type: arrow.BinaryTypes.String, Nullable: true})
	}
	b, err := Operator{Config: c, Key: key, Sampling: &schemas.Sampling{Fraction: 1}}.bind(arrow.NewSchema(fields, nil), true)
	if err != nil {
		return nil, err
	}
	if err := b.fits(t, env); err != nil {
		return nil, err
	}
	d, err := bayes.NewData(t, b.drop)
	if err != nil {
		return nil, err
	}
	o := b.riskOptions(env, 0)
	laws, err := b.search(ctx, d, env)
	if err != nil {
		return nil, err
	}
	if laws, err = b.choose(ctx, laws, d, o); err != nil {
		return nil, err
	}
	r := &Rates{Data: d, Models: len(laws[0].law.Models), law: laws[0].law, options: o}
	if r.Means, err = r.law.LeftOut(ctx, d, true, o); err != nil {
		return nil, err
	}
	r.Kept, err = r.law.LeftOut(ctx, d, false, o)
	return r, err
}

// Variance is the posterior variance of a sum over the cells, to first order: slopes are what it changes by for each unit that the logarithm
// of the probability of each cell is more.
func (r *Rates) Variance(ctx context.Context, slopes []float64) (float64, error) {
	quiet := r.options
	quiet.Progress = nil
	v, err := r.law.Variances(ctx, r.Data, [][]float64{slopes}, quiet)
	if err != nil {
		return 0, err
	}
	return v[0], nil
}
