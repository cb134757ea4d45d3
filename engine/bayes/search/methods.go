package search

import (
	"context"
	"fmt"

	"microrisk/engine/bayes"
)

func run(ctx context.Context, scores *bayes.Scores, o Options) (*Result, error) {
	o, err := o.filled(scores)
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	reason := ""
	if o.Method == Auto {
		o.Method, reason = choose(scores, o)
		if o.Rungs == 0 {
			o.Rungs = 12
		}
	}
	r, err := o.find(ctx, scores)
	if err != nil {
		return nil, err
	}
	r.Reason = reason
	return r, nil
}

func (o Options) find(ctx context.Context, scores *bayes.Scores) (*Result, error) {
	p := newSpace(scores, o.Penalty)
	switch o.Method {
	case Exact:
		return exact(ctx, scores, o)
	case MC3:
		return runMC3(ctx, p, o)
	case Anneal:
		return runAnneal(ctx, p, o)
	case Occam:
		return runOccam(ctx, p, o)
	case Fixed:
		return p.singleGraph(o.Graph.Clone(), Result{Method: Fixed, Diagnostics: noDiagnostics()}), nil
	}
	return nil, fmt.Errorf("unknown search %q", o.Method)
}

// choose is the method of Auto and why.
func choose(scores *bayes.Scores, o Options) (Method, string) {
	ok, reason := exactAffordable(scores, o)
	if ok {
		return Exact, reason
	}
	return MC3, reason
}
