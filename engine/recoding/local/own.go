package local

import (
	"context"
	"math"
)

// Own finds, for each class of fewer than k records, the cheapest set of variables to cut so that at least k original records agree with it
// on what is shown: exactly, by one table a set in ascending weight (ties: fewer cells, then key order). All records of a class are cut
// alike. Where only fixed variables are left to cut, the records are suppressed as wholes; so they are where Caps leave no other way, and
// then Bound comes from multipliers and the gap may be above 0. A record's missing cells are not shown; originals that lack a shown value
// do not count. ErrTooFew and faults of the problem are errors; a context that ends is none: the result is marked Interrupted.
func Own(ctx context.Context, p *Problem, o Options) (*Result, error) {
	in, err := newInstance(p)
	if err != nil {
		return nil, err
	}
	if in.capped() {
		return in.ownCapped(ctx, o)
	}
	cuts, err := in.own(ctx, newCosting(in.weights()), o)
	return in.ownResult(cuts, err != nil), nil
}

func (p *Problem) weights() []float64 {
	ws := make([]float64, len(p.Codes))
	for v := range ws {
		ws[v] = p.weight(v)
	}
	return ws
}

// none is the cut of a class that none is found for.
const none = ^Set(0)

// atRisk are the classes of fewer than k records. Those of one that misses values need not be suppressed where they are k together with
// others that have the values: that is for the searches to find.
func (in *instance) atRisk() (open []int32) {
	for c, n := range in.counts {
		if n < in.K {
			open = append(open, int32(c))
		}
	}
	return open
}

// own has the cut of each class at risk, 0 of others.
func (in *instance) own(ctx context.Context, costs *costing, o Options) ([]Set, error) {
	cuts, open := make([]Set, in.n), in.atRisk()
	for _, c := range open {
		cuts[c] = none
	}
	if len(open) == 0 {
		return cuts, nil
	}
	var total []int64
	err := in.sweep(ctx, in.usable(costs), o, func(g *grouping) bool {
		total = in.totals(g, total)
		left := open[:0]
		for _, c := range open {
			lack := in.lack(int(c))
			if id := g.of[c]; id >= 0 && total[id] >= in.K && (g.cut&^lack)&in.never == 0 {
				cuts[c] = g.cut &^ lack
			} else {
				left = append(left, c)
			}
		}
		open = left
		return len(open) > 0
	})
	return cuts, err
}

// usable are the sets that some class may have cut, in order. The weight of what is cut of a class that misses some of the set is less by
// the same amount for all sets, so that the order holds for it too.
func (in *instance) usable(costs *costing) (sets []Set) {
	anywhere := Set(0)
	for _, s := range in.lacks {
		anywhere |= s
	}
	for _, s := range costs.order {
		if s&in.never&^anywhere == 0 {
			sets = append(sets, s)
		}
	}
	return sets
}

// totals has the records of each group that show all of it.
func (in *instance) totals(g *grouping, into []int64) []int64 {
	if cap(into) < in.n {
		into = make([]int64, in.n)
	}
	into = into[:g.groups]
	clear(into)
	for c, id := range g.of {
		if id >= 0 {
			into[id] += in.counts[c]
		}
	}
	return into
}

func (in *instance) ownResult(cuts []Set, interrupted bool) *Result {
	parts := make([]Part, 0, len(cuts))
	for c, s := range cuts {
		if s == none {
			parts = append(parts, Part{Class: c, Records: in.counts[c], Whole: true})
		} else if s != 0 {
			parts = append(parts, Part{Class: c, Records: in.counts[c], Cut: s})
		}
	}
	r := in.result(parts)
	r.OwnBound, r.Interrupted = r.Cost, interrupted
	r.Bound = r.Cost
	if interrupted {
		r.OwnBound, r.Bound = 0, 0
	}
	return r
}

// mostSets is how many sets of variables bounds are found from.
const mostSets = 1 << 14

// bounds has the own bound and the group bound for groups that are identical: each record at risk pays, of the sets under which at least k
// agree with it, min w(S) max(1, k / records at risk that agree with it). Records that only fixed variables would help pay nothing. Where
// not all sets are looked at, or the context ends, records pay the weight of the last one, which those that follow are not below.
func (in *instance) bounds(ctx context.Context, costs *costing, o Options) (own, group float64) {
	open := in.atRisk()
	best, least := make([]float64, in.n), make([]float64, in.n)
	for _, c := range open {
		best[c], least[c] = math.Inf(1), math.Inf(1)
	}
	sets := in.usable(costs)
	all := len(sets) <= mostSets
	var total, risky []int64
	reached := 0.0
	err := in.sweep(ctx, sets[:min(len(sets), mostSets)], o, func(g *grouping) bool {
		total, risky = in.totals(g, total), in.risky(g, risky)
		reached = costs.of[g.cut]
		left := open[:0]
		for _, c := range open {
			lack := in.lack(int(c))
			mine := max(0, reached-costs.of[lack])
			if mine >= best[c] {
				continue
			}
			left = append(left, c)
			id := g.of[c]
			if id < 0 || total[id] < in.K || (g.cut&^lack)&in.never != 0 {
				continue
			}
			least[c] = min(least[c], mine)
			price := mine
			if in.lacks == nil { // cells that are missing cost others nothing
				price *= max(1, float64(in.K)/float64(risky[id]))
			}
			best[c] = min(best[c], price)
		}
		open = left
		return len(open) > 0
	})
	if (!all || err != nil) && in.never == 0 {
		for _, c := range open {
			mine := max(0, reached-costs.of[in.lack(int(c))])
			best[c], least[c] = min(best[c], mine), min(least[c], mine)
		}
	}
	for c, b := range best {
		if !math.IsInf(b, 1) {
			own += least[c] * float64(in.counts[c])
			group += b * float64(in.counts[c])
		}
	}
	return own, group
}

// risky has the records at risk of each group.
func (in *instance) risky(g *grouping, into []int64) []int64 {
	if cap(into) < in.n {
		into = make([]int64, in.n)
	}
	into = into[:g.groups]
	clear(into)
	for c, id := range g.of {
		if id >= 0 && in.counts[c] < in.K {
			into[id] += in.counts[c]
		}
	}
	return into
}
