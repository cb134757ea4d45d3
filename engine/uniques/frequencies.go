package uniques

import (
	"context"
	"math/bits"

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

// frequencies fills the frequency of every class and the numbers of sample uniques and pairs.
func (p *problem) frequencies(ctx context.Context, r *Result) error {
	for i := range p.n {
		id := p.class(i)
		r.Frequency[id] = p.table.Count(id)
	}
	if p.anyWild {
		if err := p.compatible(ctx, r); err != nil {
			return err
		}
	}
	var doubles int64
	for i := range p.n {
		id := p.class(i)
		switch r.Frequency[id] {
		case 1:
			r.Uniques++
		case 2:
			doubles += p.table.Count(id)
		}
	}
	r.Doubles = float64(doubles) / 2
	return nil
}

// missingOf is the set of variables that class i misses under Wildcard.
func (p *problem) missingOf(i uint32) uint64 {
	var set uint64
	for v, w := range p.wild {
		if w != nil && w[i>>6]>>(i&63)&1 == 1 {
			set |= 1 << v
		}
	}
	return set
}

// outnumber leaves out of the search whatever matches more than k records on its whole key, and with it what is equal to that on a set: both match
// the same records there.
func (p *problem) outnumber(r *Result) {
	for i := range p.n {
		if r.Frequency[p.class(i)] <= p.k {
			continue
		}
		p.many[i>>6] |= 1 << (i & 63)
		if p.weight != nil {
			p.weight[i] = uint32(p.k + 1)
		}
	}
}

// pairBytes are those of a place in a table of a pair of patterns, of which there are at least two a class.
const pairBytes = 64

// compatible counts the records compatible with each class on the whole key: for every two patterns of missingness the classes of the
// larger group are looked up among those of the smaller, on the variables that both have.
func (p *problem) compatible(ctx context.Context, r *Result) error {
	all := ^uint64(0) >> (64 - p.variables)
	var t pairTable
	for at := range p.gaps {
		small := &p.gaps[at]
		bytes := pairBytes * int64(len(small.classes))
		if at+1 < len(p.gaps) && !p.budget.take(bytes) {
			return p.budget.err(bytes)
		}
		for large := at + 1; large < len(p.gaps); large++ { // classes of one pattern differ in what they have
			if err := ctx.Err(); err != nil {
				return err
			}
			t.join(p, r, p.masks(all&^(small.set|p.gaps[large].set), nil), small, &p.gaps[large])
		}
		if at+1 < len(p.gaps) {
			p.budget.give(bytes)
		}
	}
	return nil
}

// A pairTable has the distinct masked keys of a group of classes, with the records that have them in that group and in another.
type pairTable struct {
	exact
	slots []pairSlot
	sieve sieve
	keys  []uint64 // a word of them, where they have several
}

type pairSlot struct {
	key          uint64
	first        uint32
	used         bool
	small, large int64
}

// join adds the records of each of two groups to the frequencies of the other's classes that have the same masked key.
func (t *pairTable) join(p *problem, r *Result, masks []mask, small, large *gap) {
	t.p, t.mask = p, masks
	if len(masks) == 0 {
		t.mask = []mask{{}}
	}
	t.slots = grown(t.slots, 1<<bits.Len(uint(2*len(small.classes))))
	clear(t.slots)
	t.sieve.reset(len(small.classes))
	m := t.mask[0] // a sieve of the first word alone passes too much, never too little
	for _, i := range small.classes {
		s := t.place(i)
		if !s.used {
			s.key, _ = t.keyOf(i)
			s.first, s.used = i, true
		}
		s.small += p.table.Count(p.class(int(i)))
		t.sieve.add(p.keys[m.word][i] & m.bits)
	}
	t.keys = large.word(p, m.word, t.keys)
	any := false
	for _, j := range t.sieve.pass(t.keys, m.bits) {
		i := large.classes[j]
		if s := t.place(i); s.used {
			id := p.class(int(i))
			s.large += p.table.Count(id)
			r.Frequency[id] += s.small
			any = true
		}
	}
	if !any {
		return
	}
	for _, i := range small.classes {
		r.Frequency[p.class(int(i))] += t.place(i).large
	}
}

// place is that of class i's masked key, or a free one.
func (t *pairTable) place(i uint32) *pairSlot {
	key, hash := t.keyOf(i)
	last := uint64(len(t.slots) - 1)
	for at := hash >> 20 & last; ; at = (at + 1) & last {
		s := &t.slots[at]
		if !s.used || s.key == key && (len(t.mask) == 1 || t.same(i, s.first)) {
			return s
		}
	}
}
