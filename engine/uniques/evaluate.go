package uniques

import (
	"math/bits"
)

// An evaluator finds the classes that become unique on one set after another. Its tables are reused from set to set.
type evaluator struct {
	p     *problem
	mask  []mask
	known []uint64
	slots []uint64 // two bits a slot: met once, met more than once
	rest  []uint32 // classes that share a slot
	exact exact
	wild  wildcard
	word  wordCounter
	many  []uint64 // classes that stand for several records on the set
	open  bool     // what the last wildcard set said

	visits int64 // live classes counted, over all sets
}

func newEvaluator(p *problem) *evaluator {
	return &evaluator{p: p, known: make([]uint64, len(p.base))}
}

// evaluate fills the bitmap of set i of level l and tells whether any class is left for larger sets.
func (e *evaluator) evaluate(l, below *level, i int) (open bool) {
	p, set, out := e.p, l.sets[i], l.done[i]
	below.known(p, set, 0, e.known)
	copy(out, e.known)
	for w, k := range e.known {
		open = open || ^k&^p.many[w] != 0
	}
	if !open {
		return false
	}
	if !p.anyWild && bits.OnesCount64(set) == p.variables { // classes differ on the whole key
		for w := range out {
			out[w] |= ^p.many[w]
		}
		return false
	}
	e.count(set, out)
	if p.anyWild {
		return e.open
	}
	for w, k := range out {
		if ^k&^p.many[w] != 0 {
			return true
		}
	}
	return false
}

// count adds the classes that are unique on a set to out, those known already left out of account.
func (e *evaluator) count(set uint64, out []uint64) {
	p := e.p
	e.many = p.many
	if c := p.cover(set); c != nil && !c.narrow(e) {
		return
	}
	live := 0
	for _, k := range e.known {
		live += bits.OnesCount64(^k)
	}
	e.visits += int64(live)
	e.mask = p.masks(set, e.mask)
	if len(e.mask) == 0 {
		e.mask = append(e.mask, mask{})
	}
	switch {
	case p.anyWild:
		e.open = e.evaluateWild(set, out)
	case p.k > 1:
		e.rest = appendClear(e.rest[:0], e.known)
		e.resolve(out)
	case len(e.mask) > 1 || !e.countWord(live, out):
		e.filterWide(live, out)
	}
}

// appendClear appends the numbers of the bits that are 0.
func appendClear(dst []uint32, bitmap []uint64) []uint32 {
	for w, k := range bitmap {
		for live := ^k; live != 0; live &= live - 1 {
			dst = append(dst, uint32(w<<6|bits.TrailingZeros64(live)))
		}
	}
	return dst
}

// slotsFor clears enough two-bit slots for n classes and returns the shift that takes a hash to a slot.
func (e *evaluator) slotsFor(n int) (shift int) {
	width := max(6, bits.Len(uint(8*n-1)))
	size := 1 << width / 32
	if cap(e.slots) < size {
		e.slots = make([]uint64, size)
	}
	e.slots = e.slots[:size]
	clear(e.slots)
	return 64 - width
}

// hashOf class i on the masks of the set.
func (e *evaluator) hashOf(i uint32) uint64 {
	var h uint64
	for _, m := range e.mask {
		h = spread(h ^ e.p.keys[m.word][i]&m.bits)
	}
	return h
}

// filterWide finds the unique classes among those not known, for sets in several words of the key. Every class goes to a slot by
// hash; one that has its slot for itself is unique for certain, the others are compared exactly.
func (e *evaluator) filterWide(live int, out []uint64) {
	shift := e.slotsFor(live)
	e.rest = appendClear(e.rest[:0], e.known)
	for _, i := range e.rest {
		s := e.hashOf(i) >> shift
		bit := uint64(1) << (s & 31 * 2)
		word := &e.slots[s>>5]
		*word |= bit | (*word&bit)<<1 | bit<<1*(e.many[i>>6]>>(i&63)&1)
	}
	n := 0
	for _, i := range e.rest {
		s := e.hashOf(i) >> shift
		if e.slots[s>>5]>>(s&31*2)&2 == 0 {
			out[i>>6] |= 1 << (i & 63)
		} else {
			e.rest[n] = i
			n++
		}
	}
	e.rest = e.rest[:n]
	e.resolve(out)
}

// resolve counts the classes of e.rest exactly and adds those with at most k records to out.
func (e *evaluator) resolve(out []uint64) {
	if len(e.rest) == 0 {
		return
	}
	p := e.p
	e.exact.reset(p, e.mask)
	for _, i := range e.rest {
		e.exact.add(i, e.weightOf(i))
	}
	if p.k == 1 {
		for _, s := range e.exact.slots {
			if s.count == 1 {
				out[s.first>>6] |= 1 << (s.first & 63)
			}
		}
		return
	}
	for _, i := range e.rest {
		if int64(e.exact.count(i)) <= p.k {
			out[i>>6] |= 1 << (i & 63)
		}
	}
}

// weightOf class i: its records, at most k+1.
func (e *evaluator) weightOf(i uint32) uint32 {
	if e.p.weight != nil {
		return e.p.weight[i]
	}
	return 1 + uint32(e.many[i>>6]>>(i&63)&1)
}
