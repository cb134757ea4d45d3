package parquetfile

import (
	"bytes"
	"encoding/binary"
	"hash/maphash"
	"math/bits"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/memory"
)

// A chunkDictionary is the dictionary of a column chunk with distinct values: writers may store one twice, and different bytes
// can be the same value of the type.
type chunkDictionary struct {
	values vector  // distinct
	remap  []int32 // from the chunk's indexes, nil when they stay as they are
	data   arrow.ArrayData
}

func newChunkDictionary(c *conversion, d *leafPage) (*chunkDictionary, error) {
	n := d.n
	out := &chunkDictionary{}
	var all vector
	if err := c.convert(&all, n, d.data, d.offsets); err != nil {
		return nil, err
	}
	if ascending(&all) {
		out.values = all
		return out, nil
	}
	m := newMemo(c.width, min(n, memoSize))
	remap := make([]int32, n)
	for i := range n {
		code, err := m.code(all.at(i))
		if err != nil {
			return nil, err
		}
		remap[i] = code
	}
	out.values = all
	if m.values.n < n {
		out.values, out.remap = m.values, remap
	}
	return out, nil
}

// ascending tells whether the bytes of each value are larger than those before, so that all are distinct.
func ascending(v *vector) bool {
	for i := 1; i < v.n; i++ {
		if bytes.Compare(v.at(i-1), v.at(i)) >= 0 {
			return false
		}
	}
	return true
}

// arrayData is the dictionary as Arrow has it, made once.
func (d *chunkDictionary) arrayData(mem memory.Allocator, t arrow.DataType) arrow.ArrayData {
	if d.data == nil {
		d.data = d.values.arrayData(mem, t)
	}
	return d.data
}

func (d *chunkDictionary) release() {
	if d != nil && d.data != nil {
		d.data.Release()
		d.data = nil
	}
}

// A memo numbers distinct values in the order of their arrival.
type memo struct {
	values vector
	slots  []int32 // open addressing: number of a value + 1
	hashes []uint64
	seed   maphash.Seed
}

func newMemo(width, expected int) *memo {
	m := &memo{seed: maphash.MakeSeed(), slots: make([]int32, 1<<bits.Len(uint(max(2*expected, 16))))}
	m.values.width = width
	m.values.reset()
	return m
}

func (m *memo) reset() {
	m.values.reset()
	m.hashes = m.hashes[:0]
	clear(m.slots)
}

// code is the number of a value, which is added if it is new.
func (m *memo) code(value []byte) (int32, error) {
	h := m.hash(value)
	mask := uint64(len(m.slots) - 1)
	for i := h & mask; ; i = (i + 1) & mask {
		k := m.slots[i]
		if k == 0 {
			if err := m.values.add(value); err != nil {
				return 0, err
			}
			m.hashes = append(m.hashes, h)
			m.slots[i] = int32(m.values.n)
			if 2*m.values.n > len(m.slots) {
				m.grow()
			}
			return int32(m.values.n - 1), nil
		}
		if m.hashes[k-1] == h && bytes.Equal(m.values.at(int(k-1)), value) {
			return k - 1, nil
		}
	}
}

func (m *memo) hash(value []byte) uint64 {
	switch len(value) {
	case 4:
		return mix(uint64(binary.LittleEndian.Uint32(value)))
	case 8:
		return mix(binary.LittleEndian.Uint64(value))
	}
	return maphash.Bytes(m.seed, value)
}

func mix(x uint64) uint64 {
	hi, lo := bits.Mul64(x^0x9e3779b97f4a7c15, 0xd6e8feb86659fd93)
	return hi ^ lo
}

func (m *memo) grow() {
	m.slots = make([]int32, 2*len(m.slots))
	mask := uint64(len(m.slots) - 1)
	for k, h := range m.hashes {
		i := h & mask
		for m.slots[i] != 0 {
			i = (i + 1) & mask
		}
		m.slots[i] = int32(k + 1)
	}
}
