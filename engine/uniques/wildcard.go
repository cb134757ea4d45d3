package uniques

import (
	"context"
	"math/bits"
)

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

// patterns groups classes by the variables that they miss under Wildcard.
func (p *problem) patterns() map[uint64][]uint32 {
	groups := map[uint64][]uint32{}
	for i := range p.n {
		groups[p.missingOf(uint32(i))] = append(groups[p.missingOf(uint32(i))], uint32(i))
	}
	return groups
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

// Bytes of an entry of a table of masked keys, and of all tables that are kept where no memory limit says less.
const (
	entryBytes = 80
	mostTables = 1 << 30
)

// compatible counts the records compatible with each class on the whole key: for every two patterns of missingness the classes of
// one are looked up among those of the other, on the variables that both have.
func (p *problem) compatible(ctx context.Context, r *Result) error {
	groups := p.patterns()
	all := uint64(1)<<p.variables - 1
	if p.variables == 64 {
		all = ^uint64(0)
	}
	for i := range p.n {
		r.Frequency[p.class(i)] = 0
	}
	var masks []mask
	for other, members := range groups {
		tables := map[uint64]map[string]int64{}
		var held int64
		for own, classes := range groups {
			if err := ctx.Err(); err != nil {
				return err
			}
			both := all &^ (own | other)
			masks = p.masks(both, masks)
			table := tables[both]
			if table == nil {
				bytes := int64(len(members)) * int64(entryBytes+8*len(masks))
				if held+bytes > p.budget.part(2, mostTables) { // those of other patterns are made again when they are wanted
					clear(tables)
					p.budget.give(held)
					held = 0
				}
				if !p.budget.take(bytes) {
					return p.budget.err(bytes)
				}
				held += bytes
				table = map[string]int64{}
				for _, j := range members {
					table[string(p.maskedKey(j, masks))] += p.table.Count(p.class(int(j)))
				}
				tables[both] = table
			}
			for _, i := range classes {
				r.Frequency[p.class(int(i))] += table[string(p.maskedKey(i, masks))]
			}
		}
		p.budget.give(held)
	}
	return nil
}

// maskedKey is the part of class i's key under some masks, as bytes.
func (p *problem) maskedKey(i uint32, masks []mask) []byte {
	b := make([]byte, 0, 64)
	for _, m := range masks {
		k := p.keys[m.word][i] & m.bits
		b = append(b, byte(k), byte(k>>8), byte(k>>16), byte(k>>24), byte(k>>32), byte(k>>40), byte(k>>48), byte(k>>56))
	}
	return b
}

// A wildcard is the scratch of an evaluator for sets with missing values that match everything.
type wildcard struct {
	incomplete []uint64 // classes that miss a variable of the set
	groups     map[uint64][]uint32
	masks      []mask
}

// evaluateWild finds the unique classes of a set among those that are complete on it: their own count is exact, then they are looked up
// among the incomplete classes, once per pattern of missingness on the set. With k above 1 compatibility is not
// transitive, so classes that are done still count.
func (e *evaluator) evaluateWild(set uint64, out []uint64) (open bool) {
	p, x := e.p, &e.wild
	if x.incomplete == nil {
		x.incomplete = make([]uint64, len(p.base))
	}
	clear(x.incomplete)
	out0 := append([]uint64(nil), e.known...) // candidates are what is clear here and complete
	counted := e.known
	if p.k > 1 {
		copy(counted, p.base)
	}
	for rest := set; rest != 0; rest &= rest - 1 {
		v := bits.TrailingZeros64(rest)
		if w := p.wild[v]; w != nil {
			for i := range w {
				x.incomplete[i] |= w[i]
			}
		}
		if w := p.ignored[v]; w != nil && p.k > 1 {
			for i := range w {
				counted[i] |= w[i]
			}
		}
	}
	x.groups = map[uint64][]uint32{}
	e.exact.reset(p, e.mask)
	var candidates []uint32
	for w := range counted {
		for live := ^counted[w]; live != 0; live &= live - 1 {
			b := bits.TrailingZeros64(live)
			i := uint32(w<<6 | b)
			if x.incomplete[w]>>b&1 == 1 {
				pattern := p.missingOf(i) & set
				x.groups[pattern] = append(x.groups[pattern], i)
				continue
			}
			e.exact.add(i, e.weightOf(i))
			if out0[w]>>b&1 == 0 && p.many[w]>>b&1 == 0 {
				candidates = append(candidates, i)
			}
		}
	}
	total := make([]uint32, len(candidates))
	for j, i := range candidates {
		total[j] = e.exact.count(i)
	}
	for pattern, members := range x.groups {
		x.masks = p.masks(set&^pattern, x.masks)
		if len(x.masks) == 0 {
			x.masks = append(x.masks, mask{})
		}
		e.exact.reset(p, x.masks)
		for _, i := range members {
			e.exact.add(i, e.weightOf(i))
		}
		for j, i := range candidates {
			if int64(total[j]) <= p.k {
				total[j] = min(total[j]+e.exact.count(i), uint32(p.k+1))
			}
		}
	}
	for j, i := range candidates {
		if int64(total[j]) <= p.k {
			out[i>>6] |= 1 << (i & 63)
		} else {
			open = true
		}
	}
	if !open {
		// A class that is incomplete on this set, or dominated by ignored values, has no minimal sample unique above it.
		return false
	}
	return true
}
