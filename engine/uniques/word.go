package uniques

import "math/bits"

// A wordCounter counts masked keys of one word when k is 1. Small keys index a table of two-bit counts; larger ones are spread
// over partitions by hash, so that each is counted in a table that stays in the cache.
type wordCounter struct {
	runs    []bitRun
	places  []uint32 // small keys, in the order of the classes
	entries []entry
	starts  []int
	slots   []uint64 // hash of a key, 0 when free
	owner   []uint32 // the class that has it, or several
}

// A bitRun moves a run of key bits to its place in a small key.
type bitRun struct {
	mask  uint64
	shift uint8
}

type entry struct {
	hash  uint64
	class uint32
}

const several = ^uint32(0)

const (
	mix       = 0x9e3779b97f4a7c15
	unspread  = 32
	partition = 1 << 11 // classes of a partition, on average
)

// spread mixes a masked key without loss, as a product with an odd number and the folds around it can be undone. The top bits are the best.
func spread(k uint64) uint64 {
	k ^= k >> unspread
	k *= mix
	k ^= k >> unspread
	return k * 0xd6e8feb86659fd93
}

// countWord finds the unique classes among those not known.
func (e *evaluator) countWord(live int, set uint64, out []uint64) {
	width := e.smallKey(e.mask[0].bits)
	if width <= 25 && 1<<width <= max(1<<14, 64*live) {
		e.countSmall(live, width, out)
		return
	}
	e.countSpread(live, out)
}

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
	p, c := e.p, &e.word
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
		many := p.many[w] &^ k
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

// countSpread spreads the classes over partitions by the top bits of their hash and counts each partition in a small table.
func (e *evaluator) countSpread(live int, out []uint64) {
	p, c := e.p, &e.word
	partBits := min(bits.Len(uint(live/partition)), 10)
	shift := 64 - partBits
	keys, m := p.keys[e.mask[0].word], e.mask[0].bits
	if cap(c.entries) < live {
		c.entries = make([]entry, len(p.base)*64)
	}
	entries := c.entries[:live]
	if c.starts == nil {
		c.starts = make([]int, 1<<10+1)
	}
	starts := c.starts[:1<<partBits+1]
	clear(starts)
	for w, k := range e.known {
		base := keys[w<<6:]
		for live := ^k; live != 0; live &= live - 1 {
			starts[spread(base[bits.TrailingZeros64(live)]&m)>>shift]++
		}
	}
	sum := 0
	for i, n := range starts {
		starts[i] = sum
		sum += n
	}
	for w, k := range e.known {
		base := keys[w<<6:]
		for live := ^k; live != 0; live &= live - 1 {
			b := bits.TrailingZeros64(live)
			h := spread(base[b] & m)
			at := starts[h>>shift]
			starts[h>>shift] = at + 1
			entries[at] = entry{h, uint32(w<<6 | b)}
		}
	}
	from := 0
	for _, to := range starts[:1<<partBits] {
		c.countPartition(p, entries[from:to], partBits, out)
		from = to
	}
}

// countPartition marks the classes of a partition whose hash occurs once.
func (c *wordCounter) countPartition(p *problem, entries []entry, partBits int, out []uint64) {
	size := min(4096, 2<<bits.Len(uint(len(entries))))
	c.resize(size)
	slots, owner := c.slots[:size], c.owner[:size]
	limit := size / 2
	shift := 64 - bits.Len(uint(size-1))
	zero := several // the class of hash 0, which the table cannot hold
	zeros := 0
	for _, e := range entries {
		if e.hash == 0 {
			zeros += 1 + int(p.many[e.class>>6]>>(e.class&63)&1)
			zero = e.class
			continue
		}
		at := e.hash << partBits >> shift
		for {
			h := slots[at&uint64(len(slots)-1)]
			if h == e.hash {
				owner[at&uint64(len(owner)-1)] = several
				break
			}
			if h == 0 {
				slots[at&uint64(len(slots)-1)] = e.hash
				owner[at&uint64(len(owner)-1)] = e.class | -uint32(p.many[e.class>>6]>>(e.class&63)&1)
				limit--
				break
			}
			at++
		}
		if limit == 0 {
			slots, owner = c.grow(slots, owner, partBits)
			size = len(slots)
			limit = size / 4
			shift = 64 - bits.Len(uint(size-1))
		}
	}
	if zeros == 1 {
		out[zero>>6] |= 1 << (zero & 63)
	}
	for at, h := range slots {
		if i := owner[at]; h != 0 && i != several {
			out[i>>6] |= 1 << (i & 63)
		}
	}
}

// resize clears the first n slots.
func (c *wordCounter) resize(n int) {
	if len(c.slots) < n {
		c.slots = make([]uint64, n)
		c.owner = make([]uint32, n)
	}
	clear(c.slots[:n])
}

func (c *wordCounter) grow(slots []uint64, owner []uint32, partBits int) ([]uint64, []uint32) {
	oldSlots, oldOwner := append([]uint64(nil), slots...), append([]uint32(nil), owner...)
	n := 2 * len(slots)
	c.resize(n)
	slots, owner = c.slots[:n], c.owner[:n]
	shift := 64 - bits.Len(uint(n-1))
	for i, h := range oldSlots {
		if h == 0 {
			continue
		}
		at := h << partBits >> shift
		for slots[at&uint64(n-1)] != 0 {
			at++
		}
		slots[at&uint64(n-1)], owner[at&uint64(n-1)] = h, oldOwner[i]
	}
	return slots, owner
}
