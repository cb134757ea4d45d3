package contingency

import "math/bits"

// parts is the number of partitions of a hashed table: each grows by itself, so that growing never copies the whole.
const (
	partBits = 6
	parts    = 1 << partBits
)

// A hashed table maps packed keys to a count and sums: open addressing with linear probing, partitioned by the top bits of
// the hash. A slot holds the words of the key, then the count (0 means that the slot is free), then two words a sum.
type hashed struct {
	words  int
	stride int // words of a slot
	part   [parts]partition

	fetched uint64 // what was read ahead, so that reading is not optimised away
}

type partition struct {
	slots []uint64
	mask  uint64 // slots - 1
	used  uint64
	limit uint64 // grows when used passes it
}

func newHashed(words, values int) hashed {
	return hashed{words: words, stride: words + values}
}

func (h *hashed) capacity() (words int64) {
	for p := range h.part {
		words += int64(cap(h.part[p].slots))
	}
	return words
}

const mix = 0x9e3779b97f4a7c15

// hash1 folds the 128-bit product, so that every bit of the key moves both ends of the hash.
func hash1(k uint64) uint64 {
	hi, lo := bits.Mul64(k^0xa0761d6478bd642f, mix)
	return hi ^ lo
}

func hashKey(key []uint64) uint64 {
	h := hash1(key[0])
	for _, k := range key[1:] {
		h = hash1(h ^ k)
	}
	return h
}

// ahead is the number of keys whose slots are fetched together before they are counted: loads that wait for memory then wait
// at the same time, not one after the other behind branches that depend on them.
const ahead = 128

// count1 adds one record for each of a run of one-word keys in a table without sums.
func (h *hashed) count1(keys []uint64) {
	if h.stride != 2 {
		for i := range keys {
			h.at(keys[i : i+1])[0]++
		}
		return
	}
	var hashes [ahead]uint64
	for len(keys) > 0 {
		n := min(ahead, len(keys))
		for i, k := range keys[:n] {
			x := hash1(k)
			hashes[i&(ahead-1)] = x
			p := &h.part[x>>(64-partBits)]
			if len(p.slots) > 0 {
				h.fetched += p.slots[2*(x&p.mask)]
			}
		}
		h.count1Hashed(keys[:n], hashes[:n])
		keys = keys[n:]
	}
}

func (h *hashed) count1Hashed(keys, hashes []uint64) {
	for i, k := range keys {
		x := hashes[i]
		p := &h.part[x>>(64-partBits)]
		if p.used >= p.limit {
			h.grow(p)
		}
		slots := p.slots
		s := x & p.mask
		for {
			slot := slots[2*s : 2*s+2 : 2*s+2]
			if slot[0] == k && slot[1] != 0 {
				slot[1]++
				break
			}
			if slot[1] == 0 {
				slot[0], slot[1] = k, 1
				p.used++
				break
			}
			s = (s + 1) & p.mask
		}
	}
}

// at finds or makes the slot of a key and returns its count and sums. A new slot has count 0, which the caller must raise
// before the next call.
func (h *hashed) at(key []uint64) []uint64 {
	x := hashKey(key)
	p := &h.part[x>>(64-partBits)]
	if p.used >= p.limit {
		h.grow(p)
	}
	s := int(x & p.mask)
	for {
		slot := p.slots[s*h.stride : (s+1)*h.stride]
		if slot[h.words] == 0 {
			copy(slot, key)
			p.used++
			return slot[h.words:]
		}
		if equal(slot[:h.words], key) {
			return slot[h.words:]
		}
		s = (s + 1) & int(p.mask)
	}
}

func equal(a, b []uint64) bool {
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

func (h *hashed) grow(p *partition) {
	old := p.slots
	n := max(16, 2*len(old)/h.stride)
	p.slots = make([]uint64, n*h.stride)
	p.mask = uint64(n - 1)
	p.limit = uint64(n) * 3 / 4
	for at := 0; at < len(old); at += h.stride {
		slot := old[at : at+h.stride]
		if slot[h.words] == 0 {
			continue
		}
		s := int(hashKey(slot[:h.words]) & p.mask)
		for p.slots[s*h.stride+h.words] != 0 {
			s = (s + 1) & int(p.mask)
		}
		copy(p.slots[s*h.stride:], slot)
	}
}

// each calls f for every key with its count and sums, in no particular order.
func (h *hashed) each(f func(key, value []uint64)) {
	for p := range h.part {
		slots := h.part[p].slots
		for at := 0; at < len(slots); at += h.stride {
			if slots[at+h.words] != 0 {
				f(slots[at:at+h.words], slots[at+h.words:at+h.stride])
			}
		}
	}
}

// compact moves the used slots of partition p to its front and returns them.
func (h *hashed) compact(p int) []uint64 {
	slots := h.part[p].slots
	n := 0
	for at := 0; at < len(slots); at += h.stride {
		if slots[at+h.words] != 0 {
			copy(slots[n:n+h.stride], slots[at:at+h.stride])
			n += h.stride
		}
	}
	return slots[:n]
}
