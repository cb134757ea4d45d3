package search

import (
	"context"
	"fmt"

	"microrisk/engine/bayes"
	"microrisk/engine/budget"
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
		o, reason = choose(scores, o)
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

// mostWork is the number of proposals times occupied cells that Auto lets chains take beyond directVariables, where most scores are
// asked for once: about a minute of two processors.
const mostWork = 2 * budget.Minute

// choose fills in the method of Auto, and says why. Neither the number of workers nor the time of day enters.
func choose(scores *bayes.Scores, o Options) (Options, string) {
	ok, reason := exactAffordable(scores, o)
	if ok {
		o.Method = Exact
		return o, reason
	}
	o.Method = MC3
	if o.Rungs == 0 {
		o.Rungs = defaultRungs
	}
	k, cells := scores.Data().Variables(), scores.Data().Cells()
	proposals := mostWork / max(1, cells)
	if k <= directVariables || proposals >= (*o.Burn+o.Iterations)*o.Chains*o.Rungs {
		return o, reason
	}
	o.Rungs = min(o.Rungs, 4)
	each := max(2500, proposals/(o.Chains*o.Rungs))
	if each >= *o.Burn+o.Iterations {
		return o, reason
	}
	o.Burn, o.Iterations = new(each/5), each-each/5
	o.Thin = min(o.Thin, max(1, o.Iterations/1000))
	return o, fmt.Sprintf("%s; %d iterations, since each takes long", reason, o.Iterations)
}
