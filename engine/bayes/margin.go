package bayes

import (
	"math/bits"
	"slices"
	"sync"

	"microrisk/engine/graph"
)

// A margin has the occupied cells of a marginal table, in no particular order.
type margin struct {
	set    graph.Set
	codes  [][]uint32 // codes[v][i] of cell i, by variable, nil for variables not in set; nil where only the counts are known
	counts []int64
}

func newCells(d *Data) *margin {
	return &margin{set: graph.First(d.Variables()), codes: d.Codes, counts: d.Counts}
}

// bytes is the memory that a margin holds.
func (m *margin) bytes() int64 {
	return int64(len(m.counts))*int64(8+4*m.set.Len()) + int64(24*len(m.codes)) + 64
}

// over is the margin of m over c, a part of its variables. It has codes only if it has at most keep cells.
func (m *margin) over(c graph.Set, levels []int, keep int) *margin {
	out := &margin{set: c}
	k := packs.Get().(*pack)
	defer packs.Put(k)
	k.reset(len(m.counts))
	for v := range c.Vertices() {
		k.append(m.codes[v], uint64(levels[v]))
	}
	k.flush()
	if k.width <= 4*uint64(len(m.counts))+1024 {
		m.dense(out, k, levels, keep)
	} else {
		m.hashed(out, k, keep)
	}
	return out
}

// dense sums the counts in an array with a place for every key.
func (m *margin) dense(out *margin, k *pack, levels []int, keep int) {
	k.sums = slices.Grow(k.sums[:0], int(k.width))[:k.width]
	clear(k.sums)
	for i, key := range k.keys {
		k.sums[key] += m.counts[i]
	}
	occupied := 0
	for _, n := range k.sums {
		if n != 0 {
			occupied++
		}
	}
	out.counts = make([]int64, 0, occupied)
	for _, n := range k.sums {
		if n != 0 {
			out.counts = append(out.counts, n)
		}
	}
	if occupied > keep || k.folded {
		return
	}
	out.codes = make([][]uint32, len(levels))
	rest := uint64(1)
	for set := out.set; set != 0; {
		v := 63 - bits.LeadingZeros64(uint64(set))
		set = set.Without(v)
		codes := make([]uint32, 0, occupied)
		for key, n := range k.sums {
			if n != 0 {
				codes = append(codes, uint32(uint64(key)/rest%uint64(levels[v])))
			}
		}
		out.codes[v] = codes
		rest *= uint64(levels[v])
	}
}

// hashed sums the counts in a hash table.
func (m *margin) hashed(out *margin, k *pack, keep int) {
	k.number()
	out.counts = make([]int64, len(k.rows))
	for i, id := range k.keys {
		out.counts[id] += m.counts[i]
	}
	if len(k.rows) > keep {
		return
	}
	out.codes = make([][]uint32, len(m.codes))
	for v := range out.set.Vertices() {
		codes := make([]uint32, len(k.rows))
		for j, i := range k.rows {
			codes[j] = m.codes[v][i]
		}
		out.codes[v] = codes
	}
}

// A pack makes one number of several codes of each cell. Where the numbers would pass 64 bits, those so far are replaced by the
// order in which they occur.
type pack struct {
	keys    []uint64
	width   uint64 // keys are below it
	folded  bool   // keys no longer are the codes in mixed radix
	pending [][]uint32
	radix   []uint64
	sums    []int64
	slots   []slot
	spare   []slot  // the table that was in use before
	rows    []int32 // first row of each number, after number
}

type slot struct {
	key uint64
	id  uint32 // one more than the number of the key, 0 where the slot is empty
}

var packs = sync.Pool{New: func() any { return new(pack) }}

func (k *pack) reset(n int) {
	k.keys = slices.Grow(k.keys[:0], n)[:n]
	clear(k.keys)
	k.width, k.folded = 1, false
	k.pending, k.radix, k.rows = k.pending[:0], k.radix[:0], k.rows[:0]
}

func (k *pack) append(codes []uint32, levels uint64) {
	if hi, lo := bits.Mul64(k.width, levels); hi != 0 || lo>>63 != 0 {
		k.flush()
		k.number()
		k.width, k.folded = uint64(len(k.rows)), true
	}
	k.width *= levels
	k.pending, k.radix = append(k.pending, codes), append(k.radix, levels)
}

// flush works the pending codes in, block by block so that the keys stay in the cache.
func (k *pack) flush() {
	const block = 2048
	for from := 0; from < len(k.keys); from += block {
		keys := k.keys[from:min(from+block, len(k.keys))]
		for j, codes := range k.pending {
			r := k.radix[j]
			codes = codes[from:][:len(keys)]
			for i := range keys {
				keys[i] = keys[i]*r + uint64(codes[i])
			}
		}
	}
	clear(k.pending)
	k.pending, k.radix = k.pending[:0], k.radix[:0]
}

// number replaces each key by its number in the order of first occurrence.
func (k *pack) number() {
	k.rows = k.rows[:0]
	size := 1 << 10
	k.resize(size)
	shift := 64 - 10
	for i, key := range k.keys {
		at := int(key * 0x9e3779b97f4a7c15 >> shift)
		for k.slots[at].id != 0 && k.slots[at].key != key {
			at = (at + 1) & (size - 1)
		}
		if k.slots[at].id != 0 {
			k.keys[i] = uint64(k.slots[at].id - 1)
			continue
		}
		k.rows = append(k.rows, int32(i))
		k.slots[at] = slot{key: key, id: uint32(len(k.rows))}
		k.keys[i] = uint64(len(k.rows) - 1)
		if 2*len(k.rows) > size {
			size, shift = size<<2, shift-2
			for 2*len(k.rows) > i && size < 2*len(k.keys) { // most are new: make room for all
				size, shift = size<<1, shift-1
			}
			k.rehash(size, shift)
		}
	}
}

// resize makes the table empty and of the given size; what it was goes to spare.
func (k *pack) resize(size int) {
	k.slots, k.spare = k.spare, k.slots
	if cap(k.slots) < size {
		k.slots = make([]slot, size)
		return
	}
	k.slots = k.slots[:size]
	clear(k.slots)
}

func (k *pack) rehash(size, shift int) {
	k.resize(size)
	for _, s := range k.spare {
		if s.id == 0 {
			continue
		}
		at := int(s.key * 0x9e3779b97f4a7c15 >> shift)
		for k.slots[at].id != 0 {
			at = (at + 1) & (size - 1)
		}
		k.slots[at] = s
	}
}

// DefaultMemory is the memory, in bytes, for margins that Scores keep to make smaller ones from: 128 MiB.
const DefaultMemory = 128 << 20

// A cache has margins from which smaller ones can be made.
type cache struct {
	sync.RWMutex
	limit, held int64
	margins     []*margin // by their number of cells, ascending
}

// cacheEntries is the largest number of margins kept: each new score looks through them.
const cacheEntries = 2048

// smallest is the kept margin with the fewest cells that contains c, else all.
func (h *cache) smallest(c graph.Set, all *margin) *margin {
	h.RLock()
	defer h.RUnlock()
	for _, m := range h.margins {
		if m.set.Contains(c) {
			return m
		}
	}
	return all
}

// worth is the largest number of cells with which a margin made from another is worth keeping: half of what it was made from.
func (h *cache) worth(from *margin) int {
	h.RLock()
	defer h.RUnlock()
	return int(min(int64(len(from.counts)/2), h.limit/8))
}

// keep adds a margin; where the limit is passed the largest are dropped.
func (h *cache) keep(m *margin) {
	h.Lock()
	defer h.Unlock()
	at, _ := slices.BinarySearchFunc(h.margins, len(m.counts), func(o *margin, n int) int { return len(o.counts) - n })
	for i := at; i < len(h.margins) && len(h.margins[i].counts) == len(m.counts); i++ {
		if h.margins[i].set == m.set {
			return
		}
	}
	h.margins = slices.Insert(h.margins, at, m)
	h.held += m.bytes()
	h.shrink()
}

func (h *cache) shrink() {
	for n := len(h.margins); n > 0 && (h.held > h.limit || n > cacheEntries); n-- {
		h.held -= h.margins[n-1].bytes()
		h.margins[n-1] = nil
		h.margins = h.margins[:n-1]
	}
}
