package uniques

import "math/bits"

// A wildcard is the scratch of an evaluator for sets with missing values that match everything.
type wildcard struct {
	incomplete []uint64 // classes that miss a variable of the set
	masks      []mask
	fresh      []uint64 // classes that are unique among those that miss nothing
	complete   []uint64 // bits of the others, and of those known
	parts      []part
	groups     []group
	sieve      sieve
	screen     sieve    // of the candidates
	members    []member // of a group
	gathered   []uint64
	word       int      // of the keys
	keys       []uint64 // a word of the candidates' keys
	total      []total  // of the candidates, where k is above 1
	refuted    []uint32 // candidates that match too many, where k is above 1
	gone       []uint64 // a word of their keys
}

// A total is the records of a candidate and those that it matches, itself included, as far as they have been met.
type total struct{ own, all uint32 }

// evaluateWild finds the unique classes of a set where missing values match everything: candidates are those that miss nothing. They are
// counted as in other searches, and those unique among them are looked up among the incomplete ones, once per pattern of
// missingness on the set. What is known already counts nowhere: a class that is complete and unique on a subset shares its values there with
// unique ones only, all of them known.
func (e *evaluator) evaluateWild(set uint64, out []uint64) bool {
	p, x := e.p, &e.wild
	e.missing(set)
	x.fresh, x.complete = grown(x.fresh, len(p.base)), grown(x.complete, len(p.base))
	clear(x.fresh)
	live := 0
	for w, k := range e.known {
		x.complete[w] = k | x.incomplete[w]
		live += bits.OnesCount64(^x.complete[w])
	}
	e.known, x.complete = x.complete, e.known
	if p.k > 1 {
		e.rest = appendClear(e.rest[:0], e.known)
		e.resolve(x.fresh)
	} else {
		e.countKeys(live, x.fresh)
	}
	e.known, x.complete = x.complete, e.known
	e.refute(set)
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

// refute takes the classes that match more than k records, those of incomplete classes among them, from those of x.fresh.
func (e *evaluator) refute(set uint64) {
	p, x := e.p, &e.wild
	if !e.divide(set) {
		return
	}
	candidates := e.rest[:0]
	x.word, x.total, x.refuted = -1, x.total[:0], x.refuted[:0]
	x.gone = x.gone[:0]
	for w, f := range x.fresh {
		for ; f != 0; f &= f - 1 {
			candidates = append(candidates, uint32(w<<6|bits.TrailingZeros64(f)))
		}
	}
	e.rest = candidates
	if p.k > 1 {
		for _, i := range candidates {
			x.total = append(x.total, total{p.weight[i], p.weight[i]})
		}
	}
	for _, g := range x.groups {
		if len(candidates) == 0 {
			return
		}
		x.masks = p.masks(set&^g.missing, x.masks)
		if len(x.masks) == 0 {
			x.masks = append(x.masks, mask{})
		}
		candidates = e.lookUp(g, candidates)
	}
	if p.k > 1 {
		e.recount(set, candidates)
	}
}

// A member is an incomplete class that candidates may match: the first word of its masked key, and its records.
type member struct {
	key           uint64
	class, weight uint32
}

// load fills the sieve and e.exact with the classes of a group that are not known, and tells whether there are any. Where
// candidates are few it leaves out what a sieve of these keeps back.
func (e *evaluator) load(g group) bool {
	p, x := e.p, &e.wild
	word, m := x.masks[0].word, x.masks[0].bits // a sieve of the first word alone passes too much, never too little
	few := len(x.keys) < fewer*g.size
	if few {
		x.screen.reset(len(x.keys))
		for _, key := range x.keys {
			x.screen.add(key & m)
		}
	}
	x.members = x.members[:0]
	for _, part := range x.parts[g.from:g.to] {
		gap := &p.gaps[part.gap]
		x.gathered = gap.word(p, word, x.gathered)
		if few {
			for _, j := range x.screen.pass(x.gathered, m) {
				e.member(gap, int(j), m)
			}
			continue
		}
		for j := range x.gathered {
			e.member(gap, j, m)
		}
	}
	e.exact.resetFor(p, x.masks, len(x.members))
	x.sieve.reset(len(x.members))
	for _, r := range x.members {
		x.sieve.add(r.key)
		if p.words == 1 {
			e.exact.put(e.exact.place(r.class, r.key, r.key*mix), r.key, r.class, r.weight)
		} else {
			e.exact.add(r.class, r.weight)
		}
	}
	return len(x.members) > 0
}

// fewer is by how much candidates may outnumber a group and still be few.
const fewer = 1

// member appends class number j of a gap to x.members if it is not known.
func (e *evaluator) member(gap *gap, j int, mask uint64) {
	x := &e.wild
	if i := gap.classes[j]; e.known[i>>6]>>(i&63)&1 == 0 {
		x.members = append(x.members, member{x.gathered[j] & mask, i, gap.records(j)})
	}
}

// lookUp takes the candidates that match too many records with those of a group from x.fresh, and returns the others. Most match
// none of the group, as a sieve tells.
func (e *evaluator) lookUp(g group, candidates []uint32) []uint32 {
	p, x := e.p, &e.wild
	word, m := x.masks[0].word, x.masks[0].bits
	if x.word != word {
		x.word, x.keys = word, x.keys[:0]
		keys := p.keys[word]
		for _, i := range candidates {
			x.keys = append(x.keys, keys[i])
		}
	}
	if !e.load(g) {
		return candidates
	}
	keys := x.keys
	hits, left := x.sieve.pass(keys, m), len(keys)
	for n := len(hits) - 1; n >= 0; n-- { // from the end, so that the last one takes the place of one that goes
		j := hits[n]
		i := candidates[j]
		if !e.matches(i, int(j), keys[j]) {
			continue
		}
		x.fresh[i>>6] &^= 1 << (i & 63)
		left--
		if p.k > 1 {
			x.refuted, x.gone = append(x.refuted, i), append(x.gone, keys[j])
			x.total[j] = x.total[left]
		}
		candidates[j], keys[j] = candidates[left], keys[left]
	}
	x.keys = keys[:left]
	return candidates[:left]
}

// matches counts the records of the group in e.exact that candidate number j, class i, matches, and tells whether these are too many. key is its
// key where that has one word.
func (e *evaluator) matches(i uint32, j int, key uint64) bool {
	p, x := e.p, &e.wild
	at, _ := e.slot(i, key)
	count := e.exact.slots[at].count
	if p.k > 1 {
		x.total[j].all += count
		return int64(x.total[j].all) > p.k
	}
	return count > 0
}

// recount takes the candidates from x.fresh that match too many records with their equals: these are candidates too, as
// what holds for a class on a set holds for all that are equal on it.
func (e *evaluator) recount(set uint64, candidates []uint32) {
	p, x := e.p, &e.wild
	x.masks = p.masks(set, x.masks)
	if len(x.masks) == 0 {
		x.masks = append(x.masks, mask{})
	}
	unsure := 0 // candidates that match an incomplete class and may still be unique
	for j := range candidates {
		if x.total[j].all > x.total[j].own {
			candidates[unsure], x.total[unsure], x.keys[unsure] = candidates[j], x.total[j], x.keys[j]
			unsure++
		}
	}
	if unsure == 0 {
		return
	}
	candidates, keys, m := candidates[:unsure], x.keys[:unsure], x.masks[0].bits
	if word := p.keys[x.masks[0].word]; p.words > 1 {
		for j, i := range candidates {
			keys[j] = word[i]
		}
		for j, i := range x.refuted {
			x.gone[j] = word[i]
		}
	}
	e.exact.resetFor(p, x.masks, unsure)
	x.sieve.reset(unsure)
	for j, i := range candidates {
		at, key := e.slot(i, keys[j])
		e.exact.put(at, key, i, x.total[j].own)
		x.sieve.add(keys[j] & m)
	}
	for _, j := range x.sieve.pass(x.gone, m) {
		i := x.refuted[j]
		if at, key := e.slot(i, x.gone[j]); e.exact.slots[at].count > 0 {
			e.exact.put(at, key, i, p.weight[i])
		}
	}
	for j, i := range candidates {
		at, _ := e.slot(i, keys[j])
		if t := x.total[j]; int64(e.exact.slots[at].count+t.all-t.own) > p.k {
			x.fresh[i>>6] &^= 1 << (i & 63)
		}
	}
}

// slot is the place in e.exact of class i; key is its key where that has one word.
func (e *evaluator) slot(i uint32, key uint64) (at, masked uint64) {
	if e.p.words > 1 {
		return e.exact.find(i)
	}
	key &= e.exact.mask[0].bits
	return e.exact.place(i, key, key*mix), key
}
