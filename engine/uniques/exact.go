package uniques

import (
	"math/bits"
	"slices"
)

// An exact table counts the records of masked keys, up to k+1, by open addressing. It starts small, so that it stays in the
// cache when there are few distinct keys.
type exact struct {
	p     *problem
	mask  []mask
	slots []slot
	bits  uint64 // slots - 1
	shift uint8  // of a hash to its slot
	used  int
	most  uint32 // k+1
	room  []slot
}

// A slot is free when count is 0. key is the masked key of the first class met, or its hash when the masks lie in several words.
type slot struct {
	key          uint64
	count, first uint32
}

const exactStart = 1 << 10

func (x *exact) reset(p *problem, m []mask) { x.resetFor(p, m, exactStart/4) }

// resetFor is reset where there are at most so many keys.
func (x *exact) resetFor(p *problem, m []mask, keys int) {
	x.p, x.mask, x.most = p, m, uint32(p.k+1)
	x.used = 0
	x.resize(2 << bits.Len(uint(keys)))
}

func (x *exact) resize(n int) {
	if cap(x.room) < n {
		x.room = make([]slot, n)
	}
	x.slots = x.room[:n]
	clear(x.slots)
	x.bits, x.shift = uint64(n-1), uint8(bits.LeadingZeros64(uint64(n-1)))
}

func (x *exact) keyOf(i uint32) (key, hash uint64) {
	if len(x.mask) == 1 {
		key = x.p.keys[x.mask[0].word][i] & x.mask[0].bits
		return key, spread(key)
	}
	var h uint64
	for _, m := range x.mask {
		h = spread(h ^ x.p.keys[m.word][i]&m.bits)
	}
	return h, h
}

// find is the place of class i's masked key, or of the free slot where it belongs.
func (x *exact) find(i uint32) (at, key uint64) {
	key, hash := x.keyOf(i)
	return x.place(i, key, hash), key
}

// place is find for a class whose masked key and its hash are known.
func (x *exact) place(i uint32, key, hash uint64) (at uint64) {
	at = hash >> (x.shift & 63)
	for {
		s := &x.slots[at]
		if s.count == 0 || s.key == key && (len(x.mask) == 1 || x.same(i, s.first)) {
			return at
		}
		at = (at + 1) & x.bits
	}
}

func (x *exact) same(i, j uint32) bool {
	for _, m := range x.mask {
		keys := x.p.keys[m.word]
		if (keys[i]^keys[j])&m.bits != 0 {
			return false
		}
	}
	return true
}

func (x *exact) add(i, weight uint32) {
	at, key := x.find(i)
	x.put(at, key, i, weight)
}

// put is add at a place.
func (x *exact) put(at, key uint64, i, weight uint32) {
	s := &x.slots[at]
	if s.count != 0 {
		s.count = min(s.count+weight, x.most)
		return
	}
	*s = slot{key, weight, i}
	x.used++
	if 2*x.used > len(x.slots) {
		x.grow()
	}
}

func (x *exact) grow() {
	old := x.slots
	n := 4 * len(old)
	if cap(x.room) >= n { // the new table lies over the old one
		old = slices.Clone(old)
	}
	x.resize(n)
	for _, s := range old {
		if s.count != 0 {
			at, _ := x.find(s.first)
			x.slots[at] = s
		}
	}
}

// count is the number of records that share class i's masked key, at most k+1.
func (x *exact) count(i uint32) uint32 {
	at, _ := x.find(i)
	return x.slots[at].count
}
