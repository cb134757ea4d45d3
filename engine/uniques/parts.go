package uniques

import "math/bits"

// Sets of too many combinations are counted by hash. The masked keys are first spread over parts small enough for the second-level
// cache, as entries that hold both what the part does not tell of the key and the class; each part is then
// counted in an open-addressing table. The hash is a multiplication by an odd number modulo a power of two, so it loses nothing; entries that
// have no room for all of it are told apart by their keys.
const (
	partClasses = 2048 // live classes a part, about
	partsMost   = 10   // bits of the largest number of parts
)

// A splitter tells how entries are made up: the upper bits of what the part leaves of the hash, class + 1, and whether it is known to
// be shared.
type splitter struct {
	mask     uint64
	low      uint8  // lowest bit of the mask
	all      uint64 // ones, as many as the hash has bits
	part     uint8  // shift of the hash to its part
	rest     uint64 // ones for what the part leaves
	drop     uint8  // lower bits left out for want of room
	ids      uint8  // bits of the class and the mark
	restBits int    // bits kept
	exact    bool   // whether entries hold the whole key
}

// split chooses the parts for some live classes.
func (e *evaluator) split(live int) {
	c := &e.word
	m := e.mask[0].bits
	low := bits.TrailingZeros64(m | 1<<63)
	width := max(bits.Len64(m)-low, 1)
	if len(e.mask) > 1 {
		width = 64
	}
	parts := max(min(bits.Len(uint(live/partClasses)), partsMost, width), width-63)
	rest := width - parts
	ids := bits.Len(uint(e.p.n)) + 1
	kept := min(rest, 64-ids)
	c.splitter = splitter{mask: m, low: uint8(low), all: ^uint64(0) >> (64 - width), part: uint8(rest),
		rest: ^uint64(0) >> (64 - width) >> parts, drop: uint8(rest - kept), ids: uint8(ids), restBits: kept, exact: kept == rest && len(e.mask) == 1}
	c.starts = append(c.starts[:0], make([]int, 1<<parts+1)...)
	if cap(c.entries) < live {
		c.entries = make([]uint64, max(live, e.p.n))
	}
	c.entries = c.entries[:live]
}

func (s *splitter) hash(k uint64) uint64 {
	return (k & s.mask) >> (s.low & 63) * mix & s.all
}

func (s *splitter) entry(h uint64, class int, many uint64) uint64 {
	return h&s.rest>>(s.drop&63)<<(s.ids&63) | uint64(class+1)<<1 | many
}

// class of an entry.
func (s *splitter) class(x uint64) uint32 { return uint32(x&(1<<s.ids-1)>>1 - 1) }

// countParts finds the unique classes among those not known.
func (e *evaluator) countParts(live int, out []uint64) {
	e.split(live)
	e.scatter(live)
	from := 0
	for _, to := range e.word.starts[:len(e.word.starts)-1] { // each start has moved to its end
		e.countPart(e.word.entries[from:to], out)
		from = to
	}
}

// represent writes a representative of each masked key among the live classes to c.
func (e *evaluator) represent(live int, c *cover) {
	e.split(live)
	e.scatter(live)
	from := 0
	for _, to := range e.word.starts[:len(e.word.starts)-1] {
		e.representPart(e.word.entries[from:to], c)
		from = to
	}
}

// scatter writes the entries of the live classes to their parts.
func (e *evaluator) scatter(live int) {
	if len(e.mask) > 1 {
		e.scatterWide()
		return
	}
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
			entries[*to] = s.entry(h, w<<6|b, many>>b&1)
			*to++
		}
	}
}

// scatterWide is scatter for sets in several words of the key.
func (e *evaluator) scatterWide() {
	c := &e.word
	e.rest = appendClear(e.rest[:0], e.known)
	c.hashes = c.hashes[:0]
	for _, i := range e.rest {
		h := e.hashOf(i)
		c.hashes = append(c.hashes, h)
		c.starts[h>>(c.part&63)+1]++
	}
	for i := 1; i < len(c.starts); i++ {
		c.starts[i] += c.starts[i-1]
	}
	for j, i := range e.rest {
		h := c.hashes[j]
		to := &c.starts[h>>(c.part&63)]
		c.entries[*to] = c.entry(h, int(i), e.many[i>>6]>>(i&63)&1)
		*to++
	}
}

// hashOf class i on the masks of the set.
func (e *evaluator) hashOf(i uint32) uint64 {
	var h uint64
	for _, m := range e.mask {
		h = spread(h ^ e.p.keys[m.word][i]&m.bits)
	}
	return h
}

// same tells whether the classes of two entries have the same masked key, where the entries do not say it.
func (e *evaluator) same(s, t uint64) bool {
	i, j := e.word.class(s), e.word.class(t)
	for _, m := range e.mask {
		keys := e.p.keys[m.word]
		if (keys[i]^keys[j])&m.bits != 0 {
			return false
		}
	}
	return true
}

// fill is a table with an entry for each masked key of a part, marked where several classes have it. Who has read it clears it.
func (e *evaluator) fill(entries []uint64) []uint64 {
	if len(entries) == 0 {
		return nil
	}
	c := &e.word
	width := min(bits.Len(uint(2*len(entries)-1)), c.restBits)
	if len(c.table) < 1<<width {
		c.table = make([]uint64, 1<<width)
	}
	table, shift := c.table[:1<<width], int(c.ids)+c.restBits-width
	last := uint64(len(table) - 1)
	for _, x := range entries {
		at := x >> (shift & 63) & last
		for {
			t := table[at]
			if (t^x)>>(c.ids&63) == 0 && t != 0 && (c.exact || e.same(t, x)) {
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
	return table
}

// countPart adds the classes of a part whose entry has its key for itself to out.
func (e *evaluator) countPart(entries, out []uint64) {
	table := e.fill(entries)
	for i, t := range table {
		if t != 0 {
			table[i] = 0
			if t&1 == 0 {
				id := e.word.class(t)
				out[id>>6] |= 1 << (id & 63)
			}
		}
	}
}

// representPart is represent for one part.
func (e *evaluator) representPart(entries []uint64, out *cover) {
	table := e.fill(entries)
	for i, t := range table {
		if t != 0 {
			table[i] = 0
			id := e.word.class(t)
			out.without[id>>6] &^= 1 << (id & 63)
			out.many[id>>6] |= (t & 1) << (id & 63)
		}
	}
}
