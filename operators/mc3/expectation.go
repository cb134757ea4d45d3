package mc3

import (
	"context"

	"microrisk/engine/attack"
	"microrisk/engine/bayes"
	"microrisk/engine/bayes/risk"
)

// An Expecting is a Fitted that may have a model of the population: what it expects of the classes of the sample. Models of domains, whose
// classes are not those of the key, give nil.
type Expecting interface {
	Expectation() *Expectation
}

// An Expectation is what a fitted model expects of each class of a sample that is not dropped.
type Expectation struct {
	Data  *bayes.Data // the classes: those of the operator's first table, in its order, without those dropped
	Law   *risk.Law
	Cells *risk.Cells // by class of Data
	File  *risk.File

	options risk.Options
}

// Expectation is an Expecting's.
func (f *fitted) Expectation() *Expectation { return f.expectation }

// People is N, the size of the population.
func (e *Expectation) People() float64 { return float64(e.Data.Records) + e.options.Unsampled }

// Attack is what is expected of attacks on the classes.
func (e *Expectation) Attack(ctx context.Context) (*attack.Estimate, error) {
	// 1/(1+F) is the 1/F of a class with one record more, as F - f is the same.
	one := *e.Data
	one.Counts = make([]int64, len(e.Data.Counts))
	for i, f := range e.Data.Counts {
		one.Counts[i] = f + 1
	}
	quiet := e.options
	quiet.Progress = nil
	after, err := e.Law.Cells(ctx, &one, quiet)
	if err != nil {
		return nil, err
	}
	return &attack.Estimate{People: e.People(), Sample: e.Data.Counts, Match: e.Cells.CorrectMatch, After: after.CorrectMatch,
		Expected: e.Cells.ExpectedFrequency,
		Together: func(ctx context.Context, order, at []int) ([]attack.Sum, error) {
			together, err := e.Law.Together(ctx, e.Data, order, at, quiet)
			sums := make([]attack.Sum, len(together))
			for k, t := range together {
				sums[k] = attack.Sum(t)
			}
			return sums, err
		}}, nil
}
