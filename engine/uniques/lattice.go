package uniques

import "math/bits"

// Limits of a lattice: entries, and words of the bitmaps of all its sets.
const (
	latticeMost  = 1 << 12
	latticeWords = 1 << 14
)

// latticeBits are those of the number of places for the keys of a set.
const latticeBits = 14

// A lattice searches all sets of a few variables for few entries, so that all it touches stays in the cache. Sets are numbered by their
// variables, and visited in the order of their numbers: a set comes after its subsets, and before all that add only variables below its
// lowest to it, so that these can be passed over at once.
type lattice struct {
	k       int64
	n       int // entries
	keys    [latticeMost]uint64
	weight  []uint32
	known   []uint64 // scratch: entries done on a subset
	many    []uint64 // entries of more than k records, and bits beyond the last
	shared  []uint64 // scratch
	rest    []uint64 // entries that are told apart
	won     []uint64
	first   [1 << 16]uint16
	sums    []uint64
	done    []uint64 // bitmaps of all sets, one after the other
	open    []uint32 // round in which a set was found open, by set
	marked  []uint32 // round in which a set was marked, by set
	round   uint32
	found   []uint32 // entry and set of the minimal sets, as found
	visits  int64
	margins margins
}

// reset begins a round for entries with their keys and weights, on so many variables.
func (l *lattice) reset(k int64, keys []uint64, weight []uint32, variables int) {
	l.k, l.n, l.weight = k, len(keys), weight
	copy(l.keys[:], keys)
	words := (l.n + 63) / 64
	for _, b := range []*[]uint64{&l.known, &l.many, &l.shared, &l.rest, &l.won} {
		if cap(*b) < words {
			*b = make([]uint64, latticeMost/64)
		}
		*b = (*b)[:words]
	}
	if need := words << variables; cap(l.done) < need {
		l.done = make([]uint64, need)
	}
	l.done = l.done[:words<<variables]
	if sets := 1 << variables; len(l.open) < sets {
		l.open, l.marked, l.round = make([]uint32, sets), make([]uint32, sets), 0
	}
	if l.round++; l.round == 0 {
		clear(l.open)
		clear(l.marked)
		l.round = 1
	}
	l.found = l.found[:0]
	base := l.set(0)
	clear(base)
	clear(l.many)
	if l.n%64 != 0 {
		base[words-1] = ^uint64(0) << (l.n % 64)
	}
	copy(l.many, base)
	for i, w := range weight {
		if int64(w) > k {
			l.many[i>>6] |= 1 << (i & 63)
		}
	}
	l.open[0], l.marked[0] = l.round, l.round
}

// set is the bitmap of the entries that are done on a set.
func (l *lattice) set(s int) []uint64 {
	words := len(l.known)
	return l.done[s*words : (s+1)*words]
}

// mark says that an entry is done on a set by what is known already.
func (l *lattice) mark(entry int, s uint32) {
	if l.marked[s] != l.round {
		l.marked[s] = l.round
		clear(l.set(int(s)))
	}
	l.set(int(s))[entry>>6] |= 1 << (entry & 63)
}

// search finds the minimal sets of up to limit of the variables, whose parts of the keys are given.
func (l *lattice) search(parts []uint64, limit int, margins bool) {
	l.margins.width = 0
	if margins {
		l.margins.reset(l.keys[:l.n], l.many, parts)
	}
	all := 1<<len(parts) - 1
	for s := 1; s <= all; {
		low := s & -s
		if !l.visit(s, all, parts, limit) {
			s += low
			continue
		}
		l.open[s] = l.round
		s++
	}
}

// visit looks at one set, and tells whether any entry is left for larger ones.
func (l *lattice) visit(s, all int, parts []uint64, limit int) bool {
	if bits.OnesCount(uint(s)) > limit {
		return false
	}
	var m uint64
	for rest := s; rest != 0; rest &= rest - 1 {
		if l.open[s&^(rest&-rest)] != l.round {
			return false
		}
		m |= parts[bits.TrailingZeros(uint(rest))]
	}
	done := l.set(s)
	rest := s
	if l.marked[s] != l.round {
		copy(done, l.set(s&(s-1)))
		rest = s & (s - 1)
	}
	for ; rest != 0; rest &= rest - 1 {
		for w, x := range l.set(s &^ (rest & -rest)) {
			done[w] |= x
		}
	}
	live := 0
	var candidates uint64
	for w, x := range done {
		live += bits.OnesCount64(^x)
		candidates |= ^x &^ l.many[w]
	}
	if candidates == 0 {
		return false
	}
	if s == all { // keys differ on all variables
		for w, x := range done {
			l.report(w, ^x&^l.many[w], s)
		}
		return false
	}
	copy(l.known, done)
	if !l.margins.has(s) {
		l.visits += int64(live)
		l.count(m, live, done)
	} else if once := l.margins.unique(s); once != nil {
		l.visits += int64(live)
		l.look(m, once, done)
	}
	candidates = 0
	for w, x := range done {
		l.report(w, x&^l.known[w], s)
		candidates |= ^x &^ l.many[w]
	}
	return candidates != 0
}

func (l *lattice) report(w int, fresh uint64, s int) {
	for ; fresh != 0; fresh &= fresh - 1 {
		l.found = append(l.found, uint32(w<<6|bits.TrailingZeros64(fresh))<<16|uint32(s))
	}
}

// count adds the entries that at most k records share on some bits of the keys to out, those known left out of account. Every entry
// claims a place by its hash; one that meets an equal one there shares its key with it. Those that meet a different one are told apart by another hash.
func (l *lattice) count(m uint64, live int, out []uint64) {
	copy(l.rest, l.known)
	multiplier := uint64(mix)
	for live > 0 {
		width := min(max(bits.Len(uint(live))+1, 6), latticeBits)
		clear(l.first[:1<<width])
		if l.k == 1 {
			live = l.meet(m, multiplier, 64-width, out)
		} else {
			live = l.sum(m, multiplier, 64-width, out)
		}
		multiplier = multiplier*0xd6e8feb86659fd93 | 1
	}
}

// look adds the entries that have one of some keys, those known left out of account.
func (l *lattice) look(m uint64, once, out []uint64) {
	for w, k := range l.known {
		var found uint64
		for alive := ^k; alive != 0; alive &= alive - 1 {
			b := bits.TrailingZeros64(alive)
			key := l.keys[(w<<6|b)&(latticeMost-1)] & m
			found |= once[key>>6] >> (key & 63) & 1 << (b & 63)
		}
		out[w] |= found
	}
}

// meet adds those that are unique for sure, and leaves those that met a different key in rest.
func (l *lattice) meet(m, multiplier uint64, shift int, out []uint64) (left int) {
	shared := l.shared
	clear(shared)
	for w, k := range l.rest {
		var shares, differs uint64
		for alive := ^k; alive != 0; alive &= alive - 1 {
			b := bits.TrailingZeros64(alive)
			i := uint64(w<<6 | b)
			key := l.keys[i&(latticeMost-1)] & m
			place := &l.first[uint16(key*multiplier>>(shift&63))]
			f := uint64(*place)
			free := (f - 1) >> 63 // 1 where nobody has the place yet
			f = f - 1 + free + i&-free
			*place = uint16(f + 1)
			d := l.keys[f&(latticeMost-1)]&m ^ key
			d = (d | -d) >> 63 // 1 where the keys differ
			o := f ^ i
			o = (o | -o) >> 63 &^ d // 1 where another entry has the key
			shared[f>>6] |= o << (f & 63)
			shares |= o << (b & 63)
			differs |= d << (b & 63)
		}
		l.won[w] = ^k &^ shares &^ differs
		l.rest[w] = ^differs
		left += bits.OnesCount64(differs)
	}
	for w, x := range l.won {
		out[w] |= x &^ shared[w] &^ l.many[w]
	}
	return left
}

// sum is meet for a threshold above 1.
func (l *lattice) sum(m, multiplier uint64, shift int, out []uint64) (left int) {
	if len(l.sums) < l.n {
		l.sums = make([]uint64, latticeMost)
	}
	for w, k := range l.rest {
		for alive := ^k; alive != 0; alive &= alive - 1 {
			l.sums[w<<6|bits.TrailingZeros64(alive)] = 0
		}
	}
	for w, k := range l.rest {
		var differs uint64
		for alive := ^k; alive != 0; alive &= alive - 1 {
			b := bits.TrailingZeros64(alive)
			i := uint64(w<<6 | b)
			key := l.keys[i&(latticeMost-1)] & m
			place := &l.first[uint16(key*multiplier>>(shift&63))]
			f := uint64(*place)
			free := (f - 1) >> 63 // 1 where nobody has the place yet
			f = f - 1 + free + i&-free
			*place = uint16(f + 1)
			d := l.keys[f&(latticeMost-1)]&m ^ key
			d = (d | -d) >> 63
			l.sums[f] += uint64(l.weight[i]) & (d - 1)
			differs |= d << (b & 63)
		}
		l.won[w] = ^k &^ differs
		l.rest[w] = ^differs
		left += bits.OnesCount64(differs)
	}
	for w, x := range l.won {
		for ; x != 0; x &= x - 1 {
			b := bits.TrailingZeros64(x)
			key := l.keys[(w<<6|b)&(latticeMost-1)] & m
			if l.sums[l.first[uint16(key*multiplier>>(shift&63))]-1] <= uint64(l.k) {
				out[w] |= 1 << b
			}
		}
	}
	return left
}
