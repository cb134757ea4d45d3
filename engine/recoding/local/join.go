package local

import (
	"context"
	"math"
	"slices"
)

// mostPairs is how many pairs of a class that is left and a bundle are looked at, one by one.
const mostPairs = 5_000_000

// joinRest lets each record that is in no bundle join the one that grows least: a bundle, records of a class of at least k, or others that
// are in none.
func (rel *release) joinRest(ctx context.Context) {
	rest := rel.waiting()
	if len(rest)*len(rel.bundles) > mostPairs {
		rel.joinMany(ctx)
		rest = rel.waiting()
	}
	for _, c := range rest {
		if ctx.Err() != nil {
			return
		}
		rel.joinBundle(c)
	}
	rel.gatherRest(rest)
}

// allowed says whether a cut may be made of rows of class c.
func (rel *release) allowed(c int32, cut Set) bool { return (cut&^rel.lack(int(c)))&rel.never == 0 }

func (rel *release) weightIn(c int32, cut Set) float64 { return rel.costs.of[cut&^rel.lack(int(c))] }

// joinBundle puts the records of class c that are in no bundle where they cost least; where nothing is allowed they stay.
func (rel *release) joinBundle(c int32) {
	var to *bundle
	var cut Set
	least, giver, given := math.Inf(1), int32(-1), int64(0)
	n := float64(rel.rest[c])
	for _, b := range rel.bundles {
		wider, cost, ok := rel.widened(b, c)
		if ok && cost+n*rel.weightIn(c, wider) < least {
			least, to, cut = cost+n*rel.weightIn(c, wider), b, wider
		}
	}
	for d, have := range rel.counts {
		if have < rel.K || rel.lack(d) != 0 && rel.lack(d)&^rel.lack(int(c)) != 0 {
			continue
		}
		d := int32(d)
		wider := rel.differ(c, d) | rel.lack(int(c)) | rel.lack(int(d))
		left, need := have-rel.moved[d], max(0, rel.K-rel.rest[c])
		if wider == rel.lack(int(d)) {
			need = 0
		}
		if left < need || left-need < rel.K && left > need {
			need = left
		}
		cost := float64(need)*rel.weightIn(d, wider) + n*rel.weightIn(c, wider)
		if left > 0 && need+rel.rest[c] >= rel.K && rel.allowed(c, wider) && rel.allowed(d, wider) && cost < least {
			least, to, giver, given, cut = cost, nil, d, need, wider
		}
	}
	switch {
	case giver >= 0:
		b := &bundle{cut: cut, rows: map[int32]int64{}}
		b.put(c, rel.rest[c])
		b.put(giver, given)
		rel.moved[giver] += given
		rel.bundles = append(rel.bundles, b)
	case to != nil:
		to.cut = cut
		to.put(c, rel.rest[c])
	default:
		return
	}
	rel.rest[c] = 0
}

// widened is the cut of a bundle that class c joins, and what it costs more.
func (rel *release) widened(b *bundle, c int32) (cut Set, cost float64, ok bool) {
	cut = b.cut | rel.lack(int(c)) | rel.differ(c, b.one)
	if rel.lacks == nil { // all are cut alike
		return cut, float64(b.size) * (rel.costs.of[cut] - rel.costs.of[b.cut]), cut&rel.never == 0
	}
	if cut != b.cut && b.size != sum(b.rows) {
		return 0, 0, false // rows that are there as they are
	}
	if !rel.allowed(c, cut) {
		return 0, 0, false
	}
	for _, d := range b.classes() {
		if !rel.allowed(d, cut) {
			return 0, 0, false
		}
		cost += float64(b.rows[d]) * (rel.weightIn(d, cut) - rel.weightIn(d, b.cut))
	}
	return cut, cost, true
}

func sum(rows map[int32]int64) (n int64) {
	for _, m := range rows {
		n += m
	}
	return n
}

// gatherRest makes bundles of what is left: of each record, with those that agree with it on what is fixed.
func (rel *release) gatherRest(rest []int32) {
	for i, c := range rest {
		if rel.rest[c] == 0 {
			continue
		}
		b := &bundle{cut: rel.lack(int(c)), rows: map[int32]int64{}}
		for _, d := range rest[i:] {
			cut := b.cut | rel.differ(c, d) | rel.lack(int(d))
			if rel.rest[d] == 0 || b.size >= rel.K || !rel.allowed(c, cut) || !rel.allowed(d, cut) {
				continue
			}
			fits := true
			for e := range b.rows {
				fits = fits && rel.allowed(e, cut)
			}
			if fits {
				b.cut = cut
				b.put(d, rel.rest[d])
			}
		}
		if b.size >= rel.K {
			for d := range b.rows {
				rel.rest[d] = 0
			}
			rel.bundles = append(rel.bundles, b)
		}
	}
}

// waiting are the classes with records in no bundle.
func (rel *release) waiting() []int32 {
	rest := make([]int32, 0, len(rel.rest))
	for c, n := range rel.rest {
		if n > 0 {
			rest = append(rest, c)
		}
	}
	slices.Sort(rest)
	return rest
}

// joinMany puts records that are in no bundle, in ascending weight of what is cut, in bundles that have it cut, or in new ones where they
// are k.
func (rel *release) joinMany(ctx context.Context) {
	by := make(map[Set][]*bundle)
	for _, b := range rel.bundles {
		by[b.cut] = append(by[b.cut], b)
	}
	rest := rel.waiting()
	sets := rel.usable(rel.costs)
	var waits []int64
	to := make([]*bundle, rel.n)
	_ = rel.sweep(ctx, sets[:min(len(sets), enoughSets)], Options{Workers: 1}, func(g *grouping) bool {
		clear(to[:g.groups])
		for _, b := range by[g.cut] {
			to[g.of[b.one]] = b
		}
		waits = append(waits[:0], make([]int64, g.groups)...)
		may := func(c int32) bool { return g.of[c] >= 0 && rel.allowed(c, g.cut) }
		for _, c := range rest {
			if may(c) {
				waits[g.of[c]] += rel.rest[c]
			}
		}
		left := rest[:0]
		for _, c := range rest {
			if !may(c) || to[g.of[c]] == nil && waits[g.of[c]] < rel.K {
				left = append(left, c)
				continue
			}
			b := to[g.of[c]]
			if b == nil {
				b = &bundle{cut: g.cut, rows: map[int32]int64{}}
				to[g.of[c]] = b
				rel.bundles = append(rel.bundles, b)
			}
			b.put(c, rel.rest[c])
			rel.rest[c] = 0
		}
		rest = left
		return len(rest) > 0
	})
}
