package uniques

import (
	"math/bits"
)

// An evaluator finds the classes that become unique on one set after another. Its tables are reused from set to set.
type evaluator struct {
	p     *problem
	mask  []mask
	known []uint64
	slots []uint64 // two bits a small key: met once, met more than once
	rest  []uint32 // classes to be counted
	exact exact
	wild  wildcard
	word  keyCounter
	many  []uint64 // classes that stand for several records on the set
	open  bool     // what the last wildcard set said

	visits int64 // live classes counted, over all sets
}

func newEvaluator(p *problem) *evaluator {
	return &evaluator{p: p, known: make([]uint64, len(p.base))}
}

// evaluate fills the bitmap of set i of level l and tells whether any class is left for larger sets.
func (e *evaluator) evaluate(l, below *level, i int) (open bool) {
	p, set, out := e.p, l.set(i), l.done(i)
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
		if p.anyWild {
			e.missing(set)
			e.open = e.left(out)
		}
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
	default:
		e.countKeys(live, out)
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
