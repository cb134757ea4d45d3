package mc3

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"microrisk/engine/attack"
	"microrisk/engine/bayes"
	"microrisk/engine/bayes/effects"
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

	Halves *Halves // nil unless the law was tried on half of the sample

	options risk.Options
	people  []float64         // that cells should have, where the measures of cells are not the law's own
	effects *effects.Measures // and those that they are
	known   bool              // cells are narrowed by known tables
}

// Expectation is an Expecting's.
func (f *fitted) Expectation() *Expectation { return f.expectation }

// People is N, the size of the population.
func (e *Expectation) People() float64 { return float64(e.Data.Records) + e.options.Unsampled }

// Attack is what is expected of attacks on the classes.
func (e *Expectation) Attack(ctx context.Context) (*attack.Estimate, error) {
	if e.known {
		return nil, errors.New("attacks do not look at known tables: leave known_tables out of the model")
	}
	if e.people != nil {
		return e.attackWithEffects(), nil
	}
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

// attackWithEffects is Attack where cells have effects of their own, or are anchored. What several classes have together is negative binomial by
// the sums of the means and variances of F - f.
func (e *Expectation) attackWithEffects() *attack.Estimate {
	out := &attack.Estimate{People: e.People(), Sample: e.Data.Counts, Match: e.Cells.CorrectMatch, Expected: e.Cells.ExpectedFrequency}
	for i, f := range e.Data.Counts {
		out.After = append(out.After, e.effects.After(f, e.people[i]))
	}
	out.Together = func(ctx context.Context, order, at []int) ([]attack.Sum, error) {
		if len(at) > 0 && (at[0] < 1 || at[len(at)-1] > len(order) || !slices.IsSorted(at)) {
			return nil, fmt.Errorf("numbers of cells must ascend from 1 to %d", len(order))
		}
		var sums []attack.Sum
		records, mean, variance, done := 0.0, 0.0, 0.0, 0
		for _, m := range at {
			for _, i := range order[done:m] {
				f := e.Data.Counts[i]
				_, v := e.effects.Variances(f, e.people[i])
				records, mean, variance = records+float64(f), mean+e.Cells.ExpectedFrequency[i]-float64(f), variance+v
			}
			done = m
			sums = append(sums, attack.Sum{Match: matchOf(records, mean, variance), After: matchOf(records+1, mean, variance)})
		}
		return sums, ctx.Err()
	}
	return out
}

// matchOf is E[1/F] where F - f has a mean and a variance, which is at least as large.
func matchOf(f, mean, variance float64) float64 {
	if q := variance/mean - 1; q > 1e-12 {
		return risk.NegativeBinomialMatch(f, mean/q, q)
	}
	return risk.PoissonMatch(f, mean)
}
