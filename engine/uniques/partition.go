package uniques

import "math/bits"

// Sets of too many combinations are counted by hash. The masked keys are first spread over parts small enough for the second-level
// cache, as entries that hold both what the part does not tell of the key and the class; each part is then
// counted in an open-addressing table. The hash is a multiplication by an odd number modulo a power of two, so it loses nothing.
const (
	partClasses = 2048 // live classes a part, about
	partsMost   = 10   // bits of the largest number of parts
)

// A splitter tells how entries are made up: rest of the hash, class + 1, and whether it is known to be shared.
type splitter struct {
	mask      uint64
	low       uint8  // lowest bit of the mask
	all       uint64 // ones, as many as the hash has bits
	part      uint8  // shift of the hash to its part
	rest      uint64 // ones for the rest
	restShift uint8
	restBits  int
}

// split chooses the parts; false when entries do not fit a word.
func (e *evaluator) split(live int) bool {
	m := e.mask[0].bits
	low := bits.TrailingZeros64(m)
	width := bits.Len64(m) - low
	parts := min(bits.Len(uint(live/partClasses)), partsMost, width)
	rest := width - parts
	ids := bits.Len(uint(e.p.n)) + 1
	if rest+ids > 64 {
		return false
	}
	e.splitter = splitter{mask: m, low: uint8(low), all: ^uint64(0) >> (64 - width), part: uint8(rest),
		rest: 1<<rest - 1, restShift: uint8(ids), restBits: rest}
	e.starts = append(e.starts[:0], make([]int, 1<<parts+1)...)
	if cap(e.entries) < live {
		e.entries = make([]uint64, max(live, e.p.n))
	}
	e.entries = e.entries[:live]
	return true
}

func (s *splitter) hash(k uint64) uint64 {
	return (k & s.mask) >> (s.low & 63) * mix & s.all
}

// countParts finds the unique classes among those not known.
func (e *evaluator) countParts(out []uint64) {
	keys := e.p.keys[e.mask[0].word]
	s := e.splitter
	starts := e.starts
	for w, k := range e.known {
		for alive := ^k; alive != 0; alive &= alive - 1 {
			starts[s.hash(keys[w<<6|bits.TrailingZeros64(alive)])>>(s.part&63)+1]++
		}
	}
	for i := 1; i < len(starts); i++ {
		starts[i] += starts[i-1]
	}
	entries := e.entries
	for w, k := range e.known {
		many := e.p.many[w]
		for alive := ^k; alive != 0; alive &= alive - 1 {
			b := bits.TrailingZeros64(alive)
			h := s.hash(keys[w<<6|b])
			to := &starts[h>>(s.part&63)]
			entries[*to] = h&s.rest<<(s.restShift&63) | uint64(w<<6|b+1)<<1 | many>>b&1
			*to++
		}
	}
	from := 0
	for _, to := range starts[:len(starts)-1] { // each start has moved to its end
		e.countPart(entries[from:to], out)
		from = to
	}
}

// countPart counts one part.
func (e *evaluator) countPart(entries []uint64, out []uint64) {
	if len(entries) == 0 {
		return
	}
	s := &e.splitter
	width := min(bits.Len(uint(2*len(entries)-1)), s.restBits)
	size := 1 << width
	if cap(e.table) < size {
		e.table = make([]uint64, size)
	}
	table := e.table[:size]
	last := uint64(size - 1)
	shift := int(s.restShift) + s.restBits - width
	for _, x := range entries {
		at := x >> (shift & 63) & last
		for {
			t := table[at]
			if t == 0 {
				table[at] = x
				break
			}
			if (t^x)>>(s.restShift&63) == 0 {
				if t&1 == 0 {
					table[at] = t | 1
				}
				break
			}
			at = (at + 1) & last
		}
	}
	ids := uint64(1)<<s.restShift - 1
	for i, t := range table {
		if t != 0 && t&1 == 0 {
			id := t&ids>>1 - 1
			out[id>>6] |= 1 << (id & 63)
		}
		table[i] = 0
	}
}
