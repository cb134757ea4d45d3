package contingency

import (
	"encoding/binary"
	"sync"
	"sync/atomic"
)

// A disk is where the classes of a table in a store lie: keys, counts and sums in a file each, in the order of classes.
type disk struct {
	keys   *column // layout.words words a class
	counts *column // 4 bytes a class, or 8
	sums   *column // two words a sum
	fences []uint64
	err    atomic.Pointer[error]

	once sync.Once
	used [][]bool // observed codes by variable
}

// fenceClasses is the number of classes from one fence to the next. Fences are keys kept in memory, to find where a key would be.
const fenceClasses = 1024

// Classes are read in pages of pageClasses, of which the last pageSlots used ones are kept.
const (
	pageClasses = 4096
	pageSlots   = 8
)

// A column is a file with so many bytes for each class. Its pages never change, so that readers need no lock.
type column struct {
	file    *tempFile
	width   int
	classes int
	pages   [pageSlots]atomic.Pointer[page]
}

type page struct {
	number int
	data   []byte
}

// from is what the page of class i holds from it on, at least that class.
func (c *column) from(i int) ([]byte, error) {
	number := i / pageClasses
	slot := &c.pages[number%pageSlots]
	p := slot.Load()
	if p == nil || p.number != number {
		n := min(pageClasses, c.classes-number*pageClasses)
		p = &page{number, make([]byte, n*c.width)}
		if err := c.read(p.data, number*pageClasses); err != nil {
			return nil, err
		}
		slot.Store(p)
	}
	return p.data[(i-number*pageClasses)*c.width:], nil
}

// read reads classes from first on.
func (c *column) read(p []byte, first int) error {
	return c.file.read(p, int64(first)*int64(c.width))
}

func (c *column) held() (bytes int64) {
	for i := range c.pages {
		if p := c.pages[i].Load(); p != nil {
			bytes += int64(len(p.data))
		}
	}
	return bytes
}

// fail keeps the first error.
func (d *disk) fail(err error) { d.err.CompareAndSwap(nil, &err) }

func (d *disk) count(i int) int64 {
	p, err := d.counts.from(i)
	if err != nil {
		d.fail(err)
		return 0
	}
	if d.counts.width == 4 {
		return int64(binary.NativeEndian.Uint32(p))
	}
	return int64(binary.NativeEndian.Uint64(p))
}

// codes writes the codes in field f of classes from on to dst.
func (d *disk) codes(f field, from int, dst []uint32) {
	for len(dst) > 0 {
		p, err := d.keys.from(from)
		if err != nil {
			d.fail(err)
			clear(dst)
			return
		}
		n := min(len(dst), len(p)/d.keys.width)
		p = p[8*f.word:]
		for i := range n {
			dst[i] = uint32(binary.NativeEndian.Uint64(p[i*d.keys.width:]) >> f.shift & f.mask())
		}
		from += n
		dst = dst[n:]
	}
}

func (d *disk) sum(i, s int) fixed {
	p, err := d.sums.from(i)
	if err != nil {
		d.fail(err)
		return fixed{}
	}
	return fixed{binary.NativeEndian.Uint64(p[16*s:]), binary.NativeEndian.Uint64(p[16*s+8:])}
}

func (d *disk) held() int64 {
	n := 8*int64(cap(d.fences)) + d.keys.held() + d.counts.held()
	if d.sums != nil {
		n += d.sums.held()
	}
	return n
}

// OnDisk tells whether the classes lie in a store.
func (t *Table) OnDisk() bool { return t.disk != nil }

// Err is the first error met while reading a table on disk by a method that does not return errors. Those methods give 0 for what
// cannot be read, so Err must be asked before what they gave is used.
func (t *Table) Err() error {
	if t.disk != nil {
		if err := t.disk.err.Load(); err != nil {
			return *err
		}
	}
	return nil
}
