package contingency

import (
	"errors"
	"fmt"
	"math/bits"
)

// maxVariables is the largest number of key variables of a table.
const maxVariables = 64

// A field is the place of one variable in a packed key.
type field struct {
	word  int   // which 64-bit word
	shift uint8 // position of the lowest bit in it
	bits  uint8 // width, 0 to 32
}

// mask is the largest code that the field can hold.
func (f field) mask() uint64 { return 1<<f.bits - 1 }

// A layout places the variables of a key in words: the first variable in the most significant bits of the first word, no
// field across two words. Comparing keys word by word is then comparing them code by code.
type layout struct {
	fields []field
	words  int // at least 1, so that the key of no variables has a place too
	low    int // bits used in the last word; with one word, the size of a dense table is 1<<low
}

// newLayout places fields of the given widths, in order.
func newLayout(widths []uint8) layout {
	l := layout{fields: make([]field, len(widths)), words: 1}
	used := 0
	first := 0
	align := func(end int) { // moves the fields of a finished word down to bit 0
		at := 0
		for v := end - 1; v >= first; v-- {
			l.fields[v].shift = uint8(at)
			at += int(widths[v])
		}
		first = end
	}
	for v, w := range widths {
		if used+int(w) > 64 {
			align(v)
			l.words++
			used = 0
		}
		l.fields[v] = field{word: l.words - 1, bits: w}
		used += int(w)
	}
	align(len(widths))
	l.low = used
	return l
}

// width is the number of bits that codes 0 to largest need.
func width(largest uint32) uint8 { return uint8(bits.Len32(largest)) }

// layoutOf is the layout of final codes.
func layoutOf(variables []Variable) (layout, error) {
	if len(variables) > maxVariables {
		return layout{}, fmt.Errorf("contingency: %d key variables, at most %d are possible", len(variables), maxVariables)
	}
	widths := make([]uint8, len(variables))
	for v := range variables {
		if int64(len(variables[v].Categories)) > 1<<32-1 {
			return layout{}, fmt.Errorf(
				"contingency: variable %q has %d categories, at most 2^32-1 are possible",
				variables[v].Name,
				len(variables[v].Categories),
			)
		}
		widths[v] = width(variables[v].Missing())
	}
	return newLayout(widths), nil
}

// code takes variable v's code out of a key.
func (l *layout) code(key []uint64, v int) uint32 {
	f := l.fields[v]
	return uint32(key[f.word] >> f.shift & f.mask())
}

var errShort = errors.New("contingency: a column has fewer rows than the batch")

// A packer turns columns of a batch into packed keys, chunk by chunk. Its tables are reused from batch to batch.
type packer struct {
	shifted [maxVariables][]uint64
	guarded [maxVariables]bool // columns that may have codes outside their field
	words   [][]uint64         // words[w][r]: word w of the key of row r of the chunk
	outside []bool             // rows of the chunk with a code that its field cannot hold
	any     bool               // whether outside has been written for this chunk

	hashes     []uint64 // scratch of a lookup
	candidates []uint32
}

// chunkRows is the number of rows packed at a time: keys stay in the first-level cache until they are counted.
const chunkRows = 1024

// check finds columns that are too short before any row is counted.
func check(rows, variables int, cols []Column) error {
	if rows < 0 {
		return fmt.Errorf("contingency: a batch of %d rows", rows)
	}
	if len(cols) != variables {
		return fmt.Errorf("contingency: a batch of %d columns for %d key variables", len(cols), variables)
	}
	for v := range cols {
		c := &cols[v]
		if len(c.Index) < rows || c.Valid != nil && (c.Offset < 0 || len(c.Valid)*8-c.Offset < rows) {
			return fmt.Errorf("%w: variable %d", errShort, v)
		}
	}
	return nil
}

// prepare makes the pre-shifted tables of a batch. With guard, columns whose codes may not fit their fields are marked.
func (p *packer) prepare(l *layout, rows int, cols []Column, guard bool) {
	for len(p.words) < l.words {
		p.words = append(p.words, make([]uint64, chunkRows))
	}
	for v := range cols {
		codes := cols[v].Codes
		if !worthTable(codes, rows) {
			p.shifted[v] = p.shifted[v][:0]
			p.guarded[v] = guard
			continue
		}
		p.guarded[v] = guard && uint64(largest(&cols[v], rows)) > l.fields[v].mask()
		s := p.shifted[v]
		if cap(s) < len(codes) {
			s = make([]uint64, len(codes))
		}
		s = s[:len(codes)]
		f := l.fields[v]
		for i, c := range codes {
			s[i] = uint64(c) << f.shift
		}
		p.shifted[v] = s
	}
}

// worthTable tells whether a batch has enough rows to go through all codes of a column.
func worthTable(codes []uint32, rows int) bool { return len(codes) <= 2*rows }

// pack writes the keys of rows from to from+n of the batch to p.words. Rows with a code outside the field of a guarded column are
// marked in p.outside (their keys mean nothing).
func (p *packer) pack(l *layout, cols []Column, from, n int) error {
	for w := range l.words {
		clear(p.words[w][:n])
	}
	p.any = false
	for v := range cols {
		c := &cols[v]
		f := l.fields[v]
		key := p.words[f.word][:n]
		index := c.Index[from : from+n]
		var bad int
		switch {
		case p.guarded[v]:
			bad = p.packGuarded(c, f, key, index, from)
		case c.Valid != nil:
			bad = packNullable(c, f, key, index, from)
		case len(p.shifted[v]) == 0:
			bad = packPlain(c.Codes, f, key, index)
		default:
			bad = packShifted(p.shifted[v], key, index)
		}
		if bad >= 0 {
			return fmt.Errorf("contingency: row %d of the batch: index %d of variable %d is beyond its %d codes", from+bad, index[bad], v, len(c.Codes))
		}
	}
	return nil
}

// largest is the largest code that the rows of a column can have. Indexes out of range are left for pack to report.
func largest(c *Column, rows int) uint32 {
	var m uint32
	if c.Valid != nil {
		m = c.Null
	}
	if worthTable(c.Codes, rows) {
		for _, code := range c.Codes {
			m = max(m, code)
		}
		return m
	}
	for _, i := range c.Index[:rows] {
		if uint(uint32(i)) < uint(len(c.Codes)) {
			m = max(m, c.Codes[i])
		}
	}
	return m
}

// packShifted is the hot loop of counting. It returns the first row whose index is out of range, or -1.
func packShifted(shifted, key []uint64, index []int32) int {
	index = index[:len(key)]
	for r := range key {
		i := uint(uint32(index[r]))
		if i >= uint(len(shifted)) {
			return r
		}
		key[r] |= shifted[i]
	}
	return -1
}

func packPlain(codes []uint32, f field, key []uint64, index []int32) int {
	index = index[:len(key)]
	for r := range key {
		i := uint(uint32(index[r]))
		if i >= uint(len(codes)) {
			return r
		}
		key[r] |= uint64(codes[i]) << f.shift
	}
	return -1
}

func packNullable(c *Column, f field, key []uint64, index []int32, from int) int {
	null := uint64(c.Null) << f.shift
	for r := range key {
		bit := c.Offset + from + r
		if c.Valid[bit>>3]>>(bit&7)&1 == 0 {
			key[r] |= null
			continue
		}
		i := uint(uint32(index[r]))
		if i >= uint(len(c.Codes)) {
			return r
		}
		key[r] |= uint64(c.Codes[i]) << f.shift
	}
	return -1
}

func (p *packer) packGuarded(c *Column, f field, key []uint64, index []int32, from int) int {
	if !p.any {
		p.any = true
		if p.outside == nil {
			p.outside = make([]bool, chunkRows)
		}
		clear(p.outside)
	}
	for r := range key {
		code := uint64(c.Null)
		bit := c.Offset + from + r
		if c.Valid == nil || c.Valid[bit>>3]>>(bit&7)&1 != 0 {
			i := uint(uint32(index[r]))
			if i >= uint(len(c.Codes)) {
				return r
			}
			code = uint64(c.Codes[i])
		}
		if code > f.mask() {
			p.outside[r] = true
			continue
		}
		key[r] |= code << f.shift
	}
	return -1
}
