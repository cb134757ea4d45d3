package uniques

import "math/bits"

// Sets whose codes fit few bits are counted by position: each combination has two bits of a table, met once and met more than once.
// That is exact, and needs neither hashing nor comparing. Most classes still alive share their values on a set, so the second
// bit is usually on already and nothing is written.
const (
	denseMost  = 25  // bits of the largest table of combinations
	densePer   = 512 // combinations a class: clearing a table must not cost more than counting
	denseRuns  = 8   // runs of neighbouring variables that positions are put together from
	denseSmall = 14  // bits of a table that is always worth it
)

// A run is a group of neighbouring variables of a set: its bits of the key, moved down by shift, are its part of the position.
type run struct {
	shift uint8
	mask  uint64
}

// runs splits the mask of a set into runs, so that positions are at most 1<<width; false when there are too many.
func (e *evaluator) runs(m uint64) (width int, ok bool) {
	e.run = [denseRuns]run{}
	n := 0
	for m != 0 {
		low := bits.TrailingZeros64(m)
		length := bits.TrailingZeros64(^(m >> low))
		if n == denseRuns {
			return 0, false
		}
		part := uint64(1)<<length - 1
		e.run[n] = run{uint8(low - width), part << width}
		n++
		width += length
		m &^= part << low
	}
	e.count = n
	return width, true
}

// position of a key, for up to two runs; the unused ones have mask 0.
func (r *run) of(k uint64) uint64 { return k >> (r.shift & 63) & r.mask }

// dense tells whether a set is counted by position, and prepares the table.
func (e *evaluator) dense(live int) bool {
	width, ok := e.runs(e.mask[0].bits)
	if !ok || width > denseMost || width > denseSmall && 1<<width > densePer*live {
		return false
	}
	size := max(1, 1<<width/32)
	if cap(e.slots) < size {
		e.slots = make([]uint64, size)
	}
	e.slots = e.slots[:size]
	clear(e.slots)
	if len(e.at) < live {
		e.at = make([]uint32, max(live, len(e.known)*64))
	}
	return true
}

// countDense finds the unique classes among those not known.
func (e *evaluator) countDense(out []uint64) {
	n := e.positions()
	e.mark(n)
	e.unmarked(out)
}

// positions writes the position of every live class to e.at.
func (e *evaluator) positions() int {
	keys := e.p.keys[e.mask[0].word]
	n := 0
	at := e.at
	r0, r1, r2, r3 := e.run[0], e.run[1], e.run[2], e.run[3]
	switch {
	case e.count <= 2:
		for w, k := range e.known {
			for alive := ^k; alive != 0; alive &= alive - 1 {
				key := keys[w<<6|bits.TrailingZeros64(alive)]
				at[n] = uint32(r0.of(key) | r1.of(key))
				n++
			}
		}
	case e.count <= 4:
		for w, k := range e.known {
			for alive := ^k; alive != 0; alive &= alive - 1 {
				key := keys[w<<6|bits.TrailingZeros64(alive)]
				at[n] = uint32(r0.of(key) | r1.of(key) | r2.of(key) | r3.of(key))
				n++
			}
		}
	default:
		r4, r5, r6, r7 := e.run[4], e.run[5], e.run[6], e.run[7]
		for w, k := range e.known {
			for alive := ^k; alive != 0; alive &= alive - 1 {
				key := keys[w<<6|bits.TrailingZeros64(alive)]
				at[n] = uint32(r0.of(key) | r1.of(key) | r2.of(key) | r3.of(key) | r4.of(key) | r5.of(key) | r6.of(key) | r7.of(key))
				n++
			}
		}
	}
	return n
}

// mark counts the positions of live classes; those of several records count as met more than once.
func (e *evaluator) mark(n int) {
	slots := e.slots
	last := uint32(len(slots) - 1)
	for _, a := range e.at[:n] {
		word := &slots[a>>5&last]
		bit := uint64(1) << (a & 31 * 2)
		if x := *word; x&(bit<<1) == 0 {
			*word = x | bit | x&bit<<1
		}
	}
	if e.p.severals == nil {
		return
	}
	keys := e.p.keys[e.mask[0].word]
	for w, k := range e.known {
		for alive := ^k & e.p.severals[w]; alive != 0; alive &= alive - 1 {
			key := keys[w<<6|bits.TrailingZeros64(alive)]
			var a uint64
			for i := range e.count {
				a |= e.run[i].of(key)
			}
			slots[a>>5] |= 2 << (a & 31 * 2)
		}
	}
}

// unmarked adds the live classes that are alone at their position to out.
func (e *evaluator) unmarked(out []uint64) {
	slots := e.slots
	last := uint32(len(slots) - 1)
	n := 0
	for w, k := range e.known {
		var unique uint64
		at := e.at[n:]
		i := 0
		for alive := ^k; alive != 0; alive &= alive - 1 {
			a := at[i]
			i++
			shared := slots[a>>5&last] >> (a & 31 * 2) >> 1 & 1
			unique |= (1 ^ shared) << bits.TrailingZeros64(alive)
		}
		n += i
		out[w] |= unique
	}
}
