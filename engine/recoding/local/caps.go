package local

import (
	"context"
	"math"
	"slices"
)

func (in *instance) capped() bool {
	return slices.ContainsFunc(in.Caps, func(c int64) bool { return c != Unlimited })
}

// steps of the multipliers of caps.
const steps = 200

// ownCapped chooses for each class among all its minimal cuts. With a multiplier mu >= 0 a variable, the sum over classes of the cheapest
// by w + mu, less sum mu cap, is a lower bound (Held & Karp 1971); the choice that it makes is brought within the caps class by class.
func (in *instance) ownCapped(ctx context.Context, o Options) (*Result, error) {
	costs := newCosting(in.weights())
	choices, err := in.choices(ctx, costs, o)
	open := in.atRisk()
	mu := make([]float64, len(in.Codes))
	least, own := 0.0, 0.0
	var best *Result
	for step := range steps {
		cut, bound := in.chosen(open, choices, costs, mu)
		used := make([]float64, len(mu))
		for i, c := range open {
			for v := range mu {
				if cut[i] != none && cut[i].Has(v) {
					used[v] += float64(in.counts[c])
				}
			}
		}
		if step == 0 {
			own = bound
		}
		least = max(least, bound)
		r := in.within(open, choices, costs, mu)
		if best == nil || r.Suppressed < best.Suppressed || r.Suppressed == best.Suppressed && r.Cost < best.Cost {
			best = r
		}
		if best.Suppressed == 0 && best.Cost <= least*(1+1e-12) || !in.climb(mu, used, max(best.Cost-bound, best.Cost/1000), step) || ctx.Err() != nil {
			break
		}
	}
	best.Interrupted = err != nil || ctx.Err() != nil
	if err == nil {
		best.OwnBound = own
		best.bounded(least)
	}
	return best, nil
}

// climb raises multipliers of variables above their caps and lowers others, in steps that become shorter (Polyak 1969); false: there is
// nothing to change.
func (in *instance) climb(mu, used []float64, distance float64, step int) bool {
	slope := make([]float64, len(mu))
	norm := 0.0
	for v, limit := range in.Caps {
		if limit == Unlimited {
			continue
		}
		slope[v] = used[v] - float64(limit)
		if slope[v] > 0 || mu[v] > 0 {
			norm += slope[v] * slope[v]
		}
	}
	if norm == 0 {
		return false
	}
	length := 1.5 * math.Pow(.98, float64(step)) * max(distance, 1e-9) / norm
	for v := range mu {
		mu[v] = max(0, mu[v]+length*slope[v])
	}
	return true
}

// choices has the minimal cuts of each class at risk, in the order of their weights.
func (in *instance) choices(ctx context.Context, costs *costing, o Options) ([][]Set, error) {
	found, open := make([][]Set, in.n), in.atRisk()
	var total []int64
	err := in.sweep(ctx, in.usable(costs), o, func(g *grouping) bool {
		total = in.totals(g, total)
		for _, c := range open {
			cut, id := g.cut&^in.lack(int(c)), g.of[c]
			if id >= 0 && total[id] >= in.K && cut&in.never == 0 && !slices.ContainsFunc(found[c], func(s Set) bool { return s&^cut == 0 }) {
				found[c] = append(found[c], cut)
			}
		}
		return true
	})
	return found, err
}

func (in *instance) chosen(open []int32, choices [][]Set, costs *costing, mu []float64) (cuts []Set, bound float64) {
	cuts = make([]Set, len(open))
	extra := newSums(mu)
	for i, c := range open {
		price := math.Inf(1)
		cuts[i] = none
		for _, s := range choices[c] {
			if w := costs.of[s] + extra[s]; w < price {
				price, cuts[i] = w, s
			}
		}
		if cuts[i] != none {
			bound += price * float64(in.counts[c])
		}
	}
	for v, m := range mu {
		if m > 0 {
			bound -= m * float64(in.Caps[v])
		}
	}
	return cuts, bound
}

func newSums(of []float64) []float64 {
	sums := make([]float64, 1<<len(of))
	for v, m := range of {
		for s := range 1 << v {
			sums[1<<v|s] = sums[s] + m
		}
	}
	return sums
}

// within gives each class the cheapest cut that the caps leave room for, those first that have the most to lose by their second choice.
func (in *instance) within(open []int32, choices [][]Set, costs *costing, mu []float64) *Result {
	extra := newSums(mu)
	price := func(s Set) float64 { return costs.of[s] + extra[s] }
	type class struct {
		c    int32
		lose float64
	}
	order := make([]class, len(open))
	for i, c := range open {
		first, second := math.Inf(1), math.Inf(1)
		for _, s := range choices[c] {
			if w := price(s); w < first {
				first, second = w, first
			} else {
				second = min(second, w)
			}
		}
		order[i] = class{c, second - first}
		if math.IsInf(first, 1) {
			order[i].lose = 0
		}
	}
	slices.SortStableFunc(order, func(a, b class) int {
		switch {
		case a.lose > b.lose:
			return -1
		case a.lose < b.lose:
			return 1
		}
		return 0
	})
	left, cuts := slices.Clone(in.Caps), make([]Set, in.n)
	for _, x := range order {
		cuts[x.c] = none
		least := math.Inf(1)
		for _, s := range choices[x.c] {
			if w := price(s); w < least && room(left, s, in.counts[x.c]) {
				least, cuts[x.c] = w, s
			}
		}
		if cuts[x.c] != none {
			take(left, cuts[x.c], in.counts[x.c])
		}
	}
	return in.ownResult(cuts, false)
}

func room(left []int64, s Set, n int64) bool {
	for v, l := range left {
		if s.Has(v) && l != Unlimited && l < n {
			return false
		}
	}
	return true
}

func take(left []int64, s Set, n int64) {
	for v, l := range left {
		if s.Has(v) && l != Unlimited {
			left[v] -= n
		}
	}
}

// rounds of searches under caps.
const rounds = 10

// classCapped raises the weights of variables above their caps, and lets them fall where all hold. Where they never do, the variables above
// theirs are fixed, one after the other.
func (in *instance) classCapped(ctx context.Context, o Options) (best *Result, interrupted bool) {
	if !in.capped() {
		return in.class(ctx, in.weights(), o)
	}
	given := in.never
	defer func() { in.never = given }()
	for v, limit := range in.Caps {
		if limit == 0 {
			in.never |= 1 << v
		}
	}
	weights, unit := in.weights(), slices.Max(counted(in.weights()))
	for round := 0; ; round++ {
		r, ended := in.class(ctx, weights, o)
		over := in.over(r)
		if over == 0 && (best == nil || r.Suppressed < best.Suppressed || r.Suppressed == best.Suppressed && r.Cost < best.Cost) {
			best = r
		}
		switch {
		case over == 0 && (round == 0 || round >= rounds || ended), ended && best != nil:
			return best, ended
		case over == 0:
			for v := range weights {
				weights[v] = (weights[v] + in.weight(v)) / 2
			}
		case round >= rounds && best != nil:
			return best, false
		case round >= rounds || ended:
			in.never |= over & -over
		}
		for v := range weights {
			if over.Has(v) {
				weights[v] += unit * min(1, float64(r.CellsOf[v]-in.Caps[v])/float64(in.Caps[v]))
			}
		}
	}
}

// over is the variables of which more cells are cut than their caps are.
func (in *instance) over(r *Result) (s Set) {
	for v, limit := range in.Caps {
		if limit != Unlimited && r.CellsOf[v] > limit {
			s |= 1 << v
		}
	}
	return s
}
