package local

import (
	"cmp"
	"context"
	"fmt"
	"slices"
)

// Class finds cuts after which every released row is identical to at least k, suppressed marks included: not the cheapest, which is hard to
// find for k of 3 or more (Meyerson & Williams 2004), but with two lower bounds on it. First, prices of records at risk tell which places
// are worth while (k up to 32); those that cost least of the prices of their records take them, and borrow from classes of more than k. Then
// some places that have keys in common are taken apart and put together again, many times, with chance from a fixed seed. Whoever is left
// joins the place that grows least; at last columns on which all of a place agree are shown again. With fixed variables, records that
// nothing can be joined with are suppressed as wholes; with Caps the weights of variables above theirs are raised until they hold. Missing
// cells are written like suppressed ones.
//
// ErrTooFew and faults of the problem are errors; a context that ends is none: the result is marked Interrupted, is safe, and records not
// reached are suppressed as wholes.
func Class(ctx context.Context, p *Problem, o Options) (*Result, error) {
	in, err := newInstance(p)
	if err != nil {
		return nil, err
	}
	atRisk := int64(0)
	for _, c := range in.atRisk() {
		atRisk += in.counts[c]
	}
	if in.K > mostAtRisk || atRisk > mostAtRisk {
		return nil, fmt.Errorf("%d records at risk at k = %d: at most %d of either", atRisk, in.K, mostAtRisk)
	}
	own, group := 0.0, 0.0
	if !o.NoBounds {
		own, group = in.bounds(ctx, newCosting(in.weights()), o)
	}
	r, interrupted := in.classCapped(ctx, o)
	r.OwnBound, r.GroupBound = own, group
	r.bounded(max(own, group))
	r.Interrupted = interrupted || ctx.Err() != nil
	return r, nil
}

// mostAtRisk is the largest number of records at risk.
const mostAtRisk = 1 << 30

// changes is how many are tried for so many records at risk: by default for each 2 to 60, fewer for larger files and k.
func (in *instance) changes(o Options, records int) int {
	least := max(records, fewest)
	switch {
	case o.Effort < 0:
		return 0
	case o.Effort > 0:
		return o.Effort * least
	}
	return min(60*least, int(max(500_000/in.K, min(2*int64(records), 1_500_000/in.K))))
}

// class is Class by weights that need not be those of the problem.
func (in *instance) class(ctx context.Context, weights []float64, o Options) (r *Result, interrupted bool) {
	m, err := newMarket(ctx, in, newCosting(counted(weights)), o)
	if err != nil { // not all places are known
		m.options = make([][]int32, len(m.risk))
		m.users = make([][]int32, len(m.places))
	}
	a := newAssignment(m)
	if err == nil && o.Effort >= 0 && in.K <= mostPriced {
		a.priced(ctx, o)
	}
	a.initial(ctx)
	interrupted = err != nil || ctx.Err() != nil
	interrupted = a.improve(ctx, o) || interrupted
	rel := newRelease(a)
	if !interrupted {
		rel.joinRest(ctx)
	}
	rel.showAgain()
	return rel.result(), interrupted
}

// counted adds to each weight so little that of two choices of the same weight the one with fewer cells is cheaper.
func counted(weights []float64) []float64 {
	most := slices.Max(weights)
	if most == 0 {
		most = 1
	}
	ws := slices.Clone(weights)
	for v := range ws {
		ws[v] += most * 1e-6
	}
	return ws
}

// A bundle is rows that are released alike.
type bundle struct {
	cut  Set
	rows map[int32]int64 // by class; those of a class of at least k that is there as it is have their own entry
	size int64
	one  int32 // class in it: all of a bundle agree where it is not cut
}

// A release is bundles and the records that are in none.
type release struct {
	*market
	bundles []*bundle
	rest    map[int32]int64 // by class
	moved   map[int32]int64 // of classes of at least k: records in bundles
}

func newRelease(a *assignment) *release {
	rel := &release{market: a.market, rest: map[int32]int64{}, moved: map[int32]int64{}}
	for i := range a.places {
		p := &a.places[i]
		if len(p.members) == 0 {
			continue
		}
		b := &bundle{cut: p.cut, rows: map[int32]int64{}}
		for _, r := range p.members {
			b.put(a.risk[a.class[r]], 1)
		}
		for _, l := range p.lent {
			b.put(l.class, l.n)
			rel.moved[l.class] += l.n
		}
		if p.home > 0 {
			b.size += p.home // they are not changed: no part of rows
		}
		rel.bundles = append(rel.bundles, b)
	}
	for r, at := range a.in {
		if at < 0 {
			rel.rest[a.risk[a.class[r]]]++
		}
	}
	return rel
}

func (b *bundle) put(c int32, n int64) {
	b.rows[c] += n
	b.size += n
	b.one = c
}

func (b *bundle) classes() []int32 {
	cs := make([]int32, 0, len(b.rows))
	for c := range b.rows {
		cs = append(cs, c)
	}
	slices.Sort(cs)
	return cs
}

// differ is the variables on which two classes differ.
func (in *instance) differ(a, b int32) (s Set) {
	x, y := in.keys[int(a)*in.words:int(a+1)*in.words], in.keys[int(b)*in.words:int(b+1)*in.words]
	for v, mask := range in.masks {
		for w, m := range mask {
			if (x[w]^y[w])&m != 0 {
				s |= 1 << v
			}
		}
	}
	return s
}

// showAgain shows columns on which all rows of a bundle agree.
func (rel *release) showAgain() {
	for _, b := range rel.bundles {
		if b.size != sum(b.rows) {
			continue
		}
		cs := b.classes()
		need := Set(0)
		for _, c := range cs {
			need |= rel.differ(cs[0], c) | rel.lack(int(c))
		}
		b.cut &= need
	}
}

func (rel *release) result() *Result {
	var parts []Part
	for _, b := range rel.bundles {
		for c, n := range b.rows {
			if cut := b.cut &^ rel.lack(int(c)); cut != 0 && n > 0 {
				parts = append(parts, Part{Class: int(c), Records: n, Cut: cut})
			}
		}
	}
	for c, n := range rel.rest {
		if n > 0 {
			parts = append(parts, Part{Class: int(c), Records: n, Whole: true})
		}
	}
	slices.SortFunc(parts, func(a, b Part) int { return cmp.Or(cmp.Compare(a.Class, b.Class), cmp.Compare(a.Cut, b.Cut)) })
	return rel.instance.result(parts)
}
