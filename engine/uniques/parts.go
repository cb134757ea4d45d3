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
	mask     uint64
	low      uint8  // lowest bit of the mask
	all      uint64 // ones, as many as the hash has bits
	part     uint8  // shift of the hash to its part
	rest     uint64 // ones for the rest
	ids      uint8  // bits of the class and the mark
	restBits int
}

// split chooses the parts; false when entries do not fit a word.
func (e *evaluator) split(live int) bool {
	c := &e.word
	m := e.mask[0].bits
	low := min(bits.TrailingZeros64(m), bits.Len64(m))
	width := max(bits.Len64(m)-low, 1)
	parts := min(bits.Len(uint(live/partClasses)), partsMost, width)
	rest := width - parts
	ids := bits.Len(uint(e.p.n)) + 1
	if rest+ids > 64 {
		return false
	}
	c.splitter = splitter{mask: m, low: uint8(low), all: ^uint64(0) >> (64 - width), part: uint8(rest),
		rest: 1<<rest - 1, ids: uint8(ids), restBits: rest}
	c.starts = append(c.starts[:0], make([]int, 1<<parts+1)...)
	if cap(c.entries) < live {
		c.entries = make([]uint64, max(live, e.p.n))
	}
	c.entries = c.entries[:live]
	return true
}

func (s *splitter) hash(k uint64) uint64 {
	return (k & s.mask) >> (s.low & 63) * mix & s.all
}

// countParts finds the unique classes among those not known; false when entries do not fit a word.
func (e *evaluator) countParts(live int, out []uint64) bool {
	if !e.split(live) {
		return false
	}
	e.scatter(live)
	from := 0
	for _, to := range e.word.starts[:len(e.word.starts)-1] { // each start has moved to its end
		e.countPart(e.word.entries[from:to], out)
		from = to
	}
	return true
}

// scatter writes the entries of the live classes to their parts.
func (e *evaluator) scatter(live int) {
	keys := e.p.keys[e.mask[0].word]
	s, starts, entries := e.word.splitter, e.word.starts, e.word.entries
	if len(starts) > 2 {
		for w, k := range e.known {
			base := keys[w<<6:]
			for alive := ^k; alive != 0; alive &= alive - 1 {
				starts[s.hash(base[bits.TrailingZeros64(alive)])>>(s.part&63)+1]++
			}
		}
		for i := 1; i < len(starts); i++ {
			starts[i] += starts[i-1]
		}
	} else {
		starts[1] = live
	}
	for w, k := range e.known {
		many := e.many[w]
		base := keys[w<<6:]
		for alive := ^k; alive != 0; alive &= alive - 1 {
			b := bits.TrailingZeros64(alive)
			h := s.hash(base[b])
			to := &starts[h>>(s.part&63)]
			entries[*to] = h&s.rest<<(s.ids&63) | uint64(w<<6|b+1)<<1 | many>>b&1
			*to++
		}
	}
}

// tableFor is a cleared table for some entries and the shift of an entry to its place.
func (c *wordCounter) tableFor(entries int) (table []uint64, shift int) {
	width := min(bits.Len(uint(2*entries-1)), c.restBits)
	if len(c.table) < 1<<width {
		c.table = make([]uint64, 1<<width)
	}
	return c.table[:1<<width], int(c.ids) + c.restBits - width
}

// countPart adds the classes of a part whose entry has its key for itself to out.
func (e *evaluator) countPart(entries, out []uint64) {
	if len(entries) == 0 {
		return
	}
	c := &e.word
	table, shift := c.tableFor(len(entries))
	last := uint64(len(table) - 1)
	for _, x := range entries {
		at := x >> (shift & 63) & last
		for {
			t := table[at]
			if (t^x)>>(c.ids&63) == 0 && t != 0 {
				if t&1 == 0 {
					table[at] = t | 1
				}
				break
			}
			if t == 0 {
				table[at] = x
				break
			}
			at = (at + 1) & last
		}
	}
	ids := uint64(1)<<c.ids - 1
	for i, t := range table {
		if t != 0 {
			table[i] = 0
			if t&1 == 0 {
				id := t&ids>>1 - 1
				out[id>>6] |= 1 << (id & 63)
			}
		}
	}
}

// represent writes a representative of each masked key among the live classes to c.
func (e *evaluator) represent(live int, c *cover) {
	if !e.split(live) {
		e.representWide(c)
		return
	}
	e.scatter(live)
	from := 0
	for _, to := range e.word.starts[:len(e.word.starts)-1] {
		e.representPart(e.word.entries[from:to], c)
		from = to
	}
}

func (e *evaluator) representPart(entries []uint64, out *cover) {
	if len(entries) == 0 {
		return
	}
	c := &e.word
	table, shift := c.tableFor(len(entries))
	last := uint64(len(table) - 1)
	for _, x := range entries {
		at := x >> (shift & 63) & last
		for {
			t := table[at]
			if (t^x)>>(c.ids&63) == 0 && t != 0 {
				table[at] = t | 1
				break
			}
			if t == 0 {
				table[at] = x
				break
			}
			at = (at + 1) & last
		}
	}
	ids := uint64(1)<<c.ids - 1
	for i, t := range table {
		if t != 0 {
			table[i] = 0
			id := t&ids>>1 - 1
			out.without[id>>6] &^= 1 << (id & 63)
			out.many[id>>6] |= t & 1 << (id & 63)
		}
	}
}

// representWide is represent for entries that do not fit a word.
func (e *evaluator) representWide(c *cover) {
	e.exact.reset(e.p, e.mask)
	e.rest = appendClear(e.rest[:0], e.known)
	for _, i := range e.rest {
		e.exact.add(i, e.weightOf(i))
	}
	for _, s := range e.exact.slots {
		if s.count > 0 {
			c.without[s.first>>6] &^= 1 << (s.first & 63)
			if s.count > 1 {
				c.many[s.first>>6] |= 1 << (s.first & 63)
			}
		}
	}
}
