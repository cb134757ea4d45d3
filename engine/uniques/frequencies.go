package uniques

import (
	"context"

	"microrisk/engine/contingency"
)

// Frequencies fills in Records, Uniques, Doubles and Frequency of a Result, without a search. policies has one policy a variable,
// nil for Category.
func Frequencies(ctx context.Context, t *contingency.Table, policies []Policy) (*Result, error) {
	o := Options{Policies: policies}
	if err := o.normalise(t); err != nil {
		return nil, err
	}
	p, err := newProblem(t, &o)
	if err != nil {
		return nil, err
	}
	r := newResult(t, p, &o)
	return r, p.frequencies(ctx, r)
}
