package uniques

import "math/bits"

// A keyCounter counts masked keys when k is 1. Small keys index a table of two-bit counts; larger ones are spread
// over partitions by hash, so that each is counted in a table that stays in the cache.
type keyCounter struct {
	runs   []bitRun
	places []uint32 // small keys, in the order of the classes
	splitter
	starts  []int
	entries []uint64
	hashes  []uint64 // of keys of several words
	table   []uint64 // all 0 between uses
}

// A bitRun moves a run of key bits to its place in a small key.
type bitRun struct {
	mask  uint64
	shift uint8
}

// countKeys finds the unique classes among those not known.
func (e *evaluator) countKeys(live int, out []uint64) {
	if len(e.mask) == 1 {
		width := e.smallKey(e.mask[0].bits)
		if width <= smallMost && 1<<width <= max(1<<14, smallPer*live) {
			e.countSmall(live, width, out)
			return
		}
	}
	e.countParts(live, out)
}

// spread mixes a masked key without loss, as a product with an odd number and the folds around it can be undone. The top bits are the best.
func spread(k uint64) uint64 {
	k ^= k >> 32
	k *= mix
	k ^= k >> 32
	return k * 0xd6e8feb86659fd93
}

const mix = 0x9e3779b97f4a7c15

// Limits of small keys: bits, and possible keys for each class, as a table must not cost more to clear than to use.
const (
	smallMost = 25
	smallPer  = 64
)

// smallKey finds the runs of bits of a mask and returns their total width.
func (e *evaluator) smallKey(m uint64) (width int) {
	c := &e.word
	c.runs = c.runs[:0]
	for m != 0 {
		low := bits.TrailingZeros64(m)
		length := bits.TrailingZeros64(^(m >> low))
		run := (uint64(1)<<length - 1) << low
		c.runs = append(c.runs, bitRun{run, uint8(low - width)})
		m &^= run
		width += length
	}
	return width
}

// gather writes the small keys of the live classes of some words of the bitmap to dst and returns their number.
func gather(dst []uint32, known, keys []uint64, from int, runs []bitRun) int {
	n := 0
	switch len(runs) {
	case 1:
		m, s := runs[0].mask, runs[0].shift&63
		for w, k := range known {
			base := keys[(from+w)<<6:]
			for live := ^k; live != 0; live &= live - 1 {
				x := base[bits.TrailingZeros64(live)]
				dst[n] = uint32(x & m >> s)
				n++
			}
		}
	case 2:
		m0, s0, m1, s1 := runs[0].mask, runs[0].shift&63, runs[1].mask, runs[1].shift&63
		for w, k := range known {
			base := keys[(from+w)<<6:]
			for live := ^k; live != 0; live &= live - 1 {
				x := base[bits.TrailingZeros64(live)]
				dst[n] = uint32(x&m0>>s0 | x&m1>>s1)
				n++
			}
		}
	default:
		m0, s0, m1, s1, m2, s2 := runs[0].mask, runs[0].shift&63, runs[1].mask, runs[1].shift&63, runs[2].mask, runs[2].shift&63
		more := runs[3:]
		for w, k := range known {
			base := keys[(from+w)<<6:]
			for live := ^k; live != 0; live &= live - 1 {
				x := base[bits.TrailingZeros64(live)]
				y := x&m0>>s0 | x&m1>>s1 | x&m2>>s2
				for i := range more {
					y |= x & more[i].mask >> (more[i].shift & 63)
				}
				dst[n] = uint32(y)
				n++
			}
		}
	}
	return n
}

// countSmall counts in a table with two bits for every possible key: met once, met more than once.
func (e *evaluator) countSmall(live, width int, out []uint64) {
	p, c, several := e.p, &e.word, e.many
	if len(c.runs) == 0 {
		c.runs = append(c.runs, bitRun{})
	}
	size := max(1, 1<<width/32)
	if cap(e.slots) < size {
		e.slots = make([]uint64, size)
	}
	table := e.slots[:size]
	clear(table)
	if cap(c.places) < live {
		c.places = make([]uint32, len(p.base)*64)
	}
	places := c.places[:live]
	gather(places, e.known, p.keys[e.mask[0].word], 0, c.runs)
	n := 0
	for w, k := range e.known {
		many := several[w] &^ k
		count := bits.OnesCount64(^k)
		if many == 0 {
			for _, x := range places[n : n+count] {
				word := &table[x>>5]
				bit := uint64(1) << (x & 31 * 2)
				*word |= bit | *word&bit<<1
			}
			n += count
			continue
		}
		for live := ^k; live != 0; live &= live - 1 {
			x := places[n]
			n++
			word := &table[x>>5]
			bit := uint64(1) << (x & 31 * 2)
			*word |= bit | *word&bit<<1 | bit<<1*(many>>bits.TrailingZeros64(live)&1)
		}
	}
	n = 0
	for w, k := range e.known {
		var unique uint64
		for live := ^k; live != 0; live &= live - 1 {
			x := places[n]
			n++
			unique |= live & -live & (table[x>>5]>>(x&31*2+1)&1 - 1)
		}
		out[w] |= unique
	}
}
