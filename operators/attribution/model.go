package attribution

import (
	"context"
	"math"

	"microrisk/engine/contingency"
	"microrisk/operators"
	"microrisk/schemas"
	"microrisk/schemas/advice"
)

// fromClass is the advice to do without models.
var fromClass = advice.Advice{Spec: "values: class", Flags: "--attribution-values class"}

// values is what tells of values besides the classes: what is said, or models for a sample.
func (f *fitted) values() string {
	switch s := f.summary; {
	case s.Records == 0:
		return ValuesClass
	case f.bound.Config.Values != "":
		return f.bound.Config.Values
	case f.bound.weighed() || s.Fraction == nil || *s.Fraction == 1:
		return ValuesClass
	}
	return ValuesModel
}

// smoothing is what is said, or fits what the chances come from.
func (f *fitted) smoothing() float64 {
	switch s := f.summary; {
	case f.bound.Config.Smoothing != nil:
		return *f.bound.Config.Smoothing
	case s.Match == MatchPopulation:
		return 0
	case s.Values == ValuesModel:
		return ModelSmoothing
	}
	return DefaultSmoothing
}

// model fits models to the key and a sensitive variable, and gives the chance of the value of each class of their table as other keys tell:
// how much its own other records say is for the smoothing to tell. Nil where no models are wanted.
func (f *fitted) model(ctx context.Context, with *contingency.Table, policy string, env operators.Env) (given []float64, models int, err error) {
	b := f.bound
	if f.summary.Values != ValuesModel {
		return nil, 0, nil
	}
	key := schemas.Key{}
	for v, variable := range b.Counted.Variables {
		key.Variables = append(key.Variables, schemas.KeyVariable{Name: variable.Name, Missing: b.Counted.PolicyOf(v)})
	}
	last := schemas.KeyVariable{Name: with.Variables[len(key.Variables)].Name, Missing: schemas.MissingDrop}
	if policy == schemas.MissingCategory {
		last.Missing = policy
	}
	key.Variables = append(key.Variables, last)
	c := b.Config.Model
	c.Prefix, c.Replace = b.Prefix, true
	r, err := c.Rates(ctx, with, key, env)
	if err != nil {
		if ctx.Err() != nil {
			return nil, 0, err
		}
		return nil, 0, advice.Errorf("no models of the key and %q: %w; %s does without", last.Name, err, fromClass)
	}
	cells, err := r.Given(ctx)
	if err != nil {
		return nil, 0, err
	}
	given = make([]float64, with.Classes())
	for i := range given {
		given[i] = math.NaN()
	}
	for i, p := range cells {
		given[r.Data.ClassOf(i)] = p
	}
	return given, r.Models, nil
}
