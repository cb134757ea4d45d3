package uniques

import "math/bits"

// A wildcard is the scratch of an evaluator for sets with missing values that match everything.
type wildcard struct {
	incomplete []uint64 // classes that miss a variable of the set
	groups     map[uint64][]uint32
	masks      []mask
	fresh      []uint64 // classes that are unique among those that miss nothing
	complete   []uint64 // bits of the others, and of those known
	filter     []uint64
	word       int      // of the keys
	keys       []uint64 // a word of the candidates' keys
}

// evaluatePlain is evaluateWild where k is 1: then only what is not known yet counts, so that classes that miss nothing are
// counted as in other searches, and those unique among them are looked up among the incomplete ones.
func (e *evaluator) evaluatePlain(set uint64, out []uint64) bool {
	p, x := e.p, &e.wild
	e.missing(set)
	x.fresh, x.complete = grown(x.fresh, len(p.base)), grown(x.complete, len(p.base))
	clear(x.fresh)
	live, several := 0, false
	for w, k := range e.known {
		x.complete[w] = k | x.incomplete[w]
		live += bits.OnesCount64(^x.complete[w])
		several = several || x.incomplete[w]&^k != 0
	}
	e.known, x.complete = x.complete, e.known
	e.countKeys(live, x.fresh)
	e.known, x.complete = x.complete, e.known
	if several {
		e.refute(set)
	}
	for w, f := range x.fresh {
		out[w] |= f
	}
	return e.left(out)
}

// left tells whether any class is left for larger sets than one that has been counted: one that is incomplete on it has no minimal
// sample unique above.
func (e *evaluator) left(out []uint64) bool {
	for w, o := range out {
		if ^o&^e.wild.incomplete[w]&^e.p.many[w] != 0 {
			return true
		}
	}
	return false
}

// refute takes the classes that are compatible with an incomplete one from those that seem unique.
func (e *evaluator) refute(set uint64) {
	p, x := e.p, &e.wild
	candidates := e.rest[:0]
	x.word = -1
	for w, f := range x.fresh {
		for ; f != 0; f &= f - 1 {
			candidates = append(candidates, uint32(w<<6|bits.TrailingZeros64(f)))
		}
	}
	e.rest = candidates
	if len(candidates) == 0 {
		return
	}
	if x.groups == nil {
		x.groups = map[uint64][]uint32{}
	}
	for pattern, members := range x.groups {
		x.groups[pattern] = members[:0]
	}
	var wild [64]int
	n := 0
	for rest := set; rest != 0; rest &= rest - 1 {
		if v := bits.TrailingZeros64(rest); p.wild[v] != nil {
			wild[n] = v
			n++
		}
	}
	for w, k := range e.known {
		for alive := x.incomplete[w] &^ k; alive != 0; alive &= alive - 1 {
			b := bits.TrailingZeros64(alive)
			var pattern uint64
			for _, v := range wild[:n] {
				pattern |= p.wild[v][w] >> b & 1 << v
			}
			x.groups[pattern] = append(x.groups[pattern], uint32(w<<6|b))
		}
	}
	for pattern, members := range x.groups {
		if len(members) == 0 {
			continue
		}
		x.masks = p.masks(set&^pattern, x.masks)
		if len(x.masks) == 0 {
			x.masks = append(x.masks, mask{})
		}
		if candidates = e.lookUp(members, candidates); len(candidates) == 0 {
			return
		}
	}
}

// lookUp takes the candidates from x.fresh whose masked key one of some classes has, and returns the others. Most have none, as a filter
// by hash tells.
func (e *evaluator) lookUp(members, candidates []uint32) []uint32 {
	p, x := e.p, &e.wild
	word, m := x.masks[0].word, x.masks[0].bits // a filter by the first word alone passes too much, never too little
	keys := p.keys[word]
	if x.word != word {
		x.word, x.keys = word, x.keys[:0]
		for _, i := range candidates {
			x.keys = append(x.keys, keys[i])
		}
	}
	e.exact.reset(p, x.masks)
	width := min(bits.Len(uint(16*len(members))), filterBits)
	x.filter = grown(x.filter, 1<<filterBits/64)
	filter := x.filter[:max(1, 1<<width/64)]
	clear(filter)
	last := uint64(1)<<width - 1
	for _, i := range members {
		e.exact.add(i, 1)
		h := keys[i] & m * mix >> 32 & last
		filter[h>>6] |= 1 << (h & 63)
	}
	left := 0
	for j, key := range x.keys {
		i := candidates[j]
		h := key & m * mix >> 32 & last
		if filter[h>>6]>>(h&63)&1 != 0 && e.exact.count(i) > 0 {
			x.fresh[i>>6] &^= 1 << (i & 63)
			continue
		}
		candidates[left], x.keys[left] = i, key
		left++
	}
	x.keys = x.keys[:left]
	return candidates[:left]
}

// filterBits are those of the number of places in the filter.
const filterBits = 18

// missing marks the classes that miss a variable of a set.
func (e *evaluator) missing(set uint64) {
	x := &e.wild
	if x.incomplete == nil {
		x.incomplete = make([]uint64, len(e.p.base))
	}
	clear(x.incomplete)
	for rest := set; rest != 0; rest &= rest - 1 {
		for i, w := range e.p.wild[bits.TrailingZeros64(rest)] {
			x.incomplete[i] |= w
		}
	}
}

// evaluateWild finds the unique classes of a set among those that are complete on it: their own count is exact, then they are looked up
// among the incomplete classes, once per pattern of missingness on the set. With k above 1 compatibility is not
// transitive, so classes that are done still count.
func (e *evaluator) evaluateWild(set uint64, out []uint64) (open bool) {
	p, x := e.p, &e.wild
	e.missing(set)
	out0 := append([]uint64(nil), e.known...) // candidates are what is clear here and complete
	counted := e.known
	if p.k > 1 {
		copy(counted, p.base)
	}
	for rest := set; rest != 0; rest &= rest - 1 {
		v := bits.TrailingZeros64(rest)
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
