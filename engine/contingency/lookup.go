package contingency

import (
	"errors"
	"math"
	"sync"
	"sync/atomic"
)

// An index finds the class of a packed key: by position when the keys fill a small range, otherwise in an open-addressing
// table of class numbers. It is built at the first lookup.
type index struct {
	direct []uint32 // class + 1 by key
	slots  []uint32 // class + 1 by hash, when classes fit 32 bits
	wide   []uint64 // the same, when they do not
	mask   uint64
	bytes  atomic.Int64
}

// directMost is the size of the key, in bits, up to which classes are found by position.
const directMost = 22

// direct tells whether classes of a layout are found by position.
func direct(classes int64, l *layout) bool {
	return l.words == 1 && l.low <= directMost && 1<<l.low <= 64*(classes+64)
}

// indexBytes is the memory that the index of a table takes.
func indexBytes(classes int64, l *layout) int64 {
	n, most, width := int64(16), 2*classes, int64(4)
	if direct(classes, l) {
		return 4 << l.low
	}
	if classes >= math.MaxUint32 {
		most, width = classes/2*3, 8
	}
	for n < most {
		n *= 2
	}
	return n * width
}

func (t *Table) buildIndex() {
	x := &t.index
	l := &t.layout
	switch {
	case direct(int64(t.classes), l):
		x.direct = make([]uint32, 1<<l.low)
		for i, k := range t.keys {
			x.direct[k] = uint32(i + 1)
		}
	case t.classes < math.MaxUint32:
		x.slots, x.mask = slotsOf[uint32](t, 2*t.classes)
	default:
		x.wide, x.mask = slotsOf[uint64](t, t.classes/2*3)
	}
	x.bytes.Store(4*int64(len(x.direct)+len(x.slots)) + 8*int64(len(x.wide)))
}

// slotsOf are at least so many slots, a power of two: class i, as i+1, is at the hash of its key or in the first free slot after it.
func slotsOf[S uint32 | uint64](t *Table, least int) (slots []S, mask uint64) {
	n := 16
	for n < least {
		n *= 2
	}
	slots, mask = make([]S, n), uint64(n-1)
	for i := range t.classes {
		s := hashKey(t.key(i)) & mask
		for slots[s] != 0 {
			s = (s + 1) & mask
		}
		slots[s] = S(i + 1)
	}
	return slots, mask
}

// key is the packed key of class i.
func (t *Table) key(i int) []uint64 {
	return t.keys[i*t.layout.words : (i+1)*t.layout.words]
}

var errLookup = errors.New("contingency: single rows are not looked up in a table on disk, blocks of them are")

var packers = sync.Pool{New: func() any { return new(packer) }}

// Lookup writes the class of each of rows rows to class, -1 for a key that is not in the table. cols has one Column a
// variable, of final codes. It may be called from several goroutines at once. Of a table on disk it is an error: rows are looked up there by
// the [Block].
func (t *Table) Lookup(rows int, cols []Column, class []int64) error {
	if t.disk != nil {
		return errLookup
	}
	if err := check(rows, len(t.Variables), cols); err != nil {
		return err
	}
	if len(class) < rows {
		return errShort
	}
	t.once.Do(t.buildIndex)
	p := packers.Get().(*packer)
	defer packers.Put(p)
	p.prepare(&t.layout, rows, cols, true)
	for from := 0; from < rows; from += chunkRows {
		n := min(chunkRows, rows-from)
		if err := p.pack(&t.layout, cols, from, n); err != nil {
			return err
		}
		t.find(p, class[from:from+n])
		if p.any {
			for r := range n {
				if p.outside[r] {
					class[from+r] = -1
				}
			}
		}
	}
	return nil
}

// find looks the packed keys of a chunk up.
func (t *Table) find(p *packer, class []int64) {
	x := &t.index
	first := p.words[0][:len(class)]
	switch {
	case x.direct != nil:
		for r, k := range first {
			class[r] = int64(x.direct[k]) - 1
		}
	case x.slots != nil && t.layout.words == 1:
		p.findOne(t, first, class)
	default:
		var room [maxVariables]uint64
		key := room[:t.layout.words]
		for r := range class {
			for w := range key {
				key[w] = p.words[w][r]
			}
			class[r] = t.findKey(key)
		}
	}
}

// findOne finds keys of one word. Slots are read ahead for the whole chunk, so that waiting for memory overlaps.
func (p *packer) findOne(t *Table, keys []uint64, class []int64) {
	x := &t.index
	if p.hashes == nil {
		p.hashes, p.candidates = make([]uint64, chunkRows), make([]uint32, chunkRows)
	}
	hashes, candidates := p.hashes[:len(keys)], p.candidates[:len(keys)]
	for r, k := range keys {
		h := hash1(k)
		hashes[r] = h
		candidates[r] = x.slots[h&x.mask]
	}
	for r, k := range keys {
		i := candidates[r]
		for s := hashes[r]; i != 0 && t.keys[i-1] != k; {
			s++
			i = x.slots[s&x.mask]
		}
		class[r] = int64(i) - 1
	}
}

// findKey is the class of a key, or -1.
func (t *Table) findKey(key []uint64) int64 {
	x := &t.index
	s := hashKey(key) & x.mask
	for {
		var i uint64
		if x.slots != nil {
			i = uint64(x.slots[s])
		} else {
			i = x.wide[s]
		}
		if i == 0 {
			return -1
		}
		if equal(t.key(int(i-1)), key) {
			return int64(i - 1)
		}
		s = (s + 1) & x.mask
	}
}
