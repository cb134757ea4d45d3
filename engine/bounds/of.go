package bounds

import (
	"context"

	"microrisk/engine/graph"
)

// Of computes bounds by the best method that the limits afford, and says which, and whether bounds are sharp: closed formulas for
// exact decomposable releases; else the release is split at separators into irreducible parts, each is bounded by Sharp, and by Shuttle
// where that does not end, and the parts are combined. Splitting at a separator whose counts are known exactly keeps bounds sharp;
// at others bounds are valid, so that small releases are then bounded as a whole.
//
// Errors: a release that Check refuses; *InfeasibleError where the margins are found to contradict each other; a context that ends.
func Of(ctx context.Context, r *Release, o Options) (*Bounds, error) {
	sys, err := newSystem(ctx, r)
	if err != nil {
		return nil, err
	}
	if low, high, ok := frechet(r); ok && r.exact() {
		return &Bounds{Low: low, High: high, Sharp: true, Final: true, Method: MethodFrechet}, nil
	}
	p := r.split(graph.First(len(r.Levels)), nil)
	if p.inner == nil || !p.exact && sys.size <= wholeCells {
		return best(ctx, sys, o)
	}
	b, err := p.bounds(ctx, o)
	if err != nil {
		return nil, err
	}
	b.Method = MethodIrreducible
	if !p.exact {
		b.Sharp, b.Final, b.Incomplete = false, false, sys.size
	}
	return b, nil
}

// wholeCells is the largest table that is bounded as a whole although it falls into parts.
const wholeCells = 1 << 14

func (r *Release) exact() bool {
	for i := range r.Margins {
		if !r.Margins[i].exact() {
			return false
		}
	}
	return true
}

// best bounds an irreducible release.
func best(ctx context.Context, sys *system, o Options) (*Bounds, error) {
	b, err := sharpest(ctx, sys, o)
	if err != nil || b.Sharp {
		return b, err
	}
	s, err := shuttle(ctx, newNetwork(sys, true), o)
	if err != nil {
		return nil, err
	}
	for c := range b.Low {
		b.Low[c], b.High[c] = max(b.Low[c], s.Low[c]), min(b.High[c], s.High[c])
	}
	b.Steps += s.Steps
	return b, nil
}
