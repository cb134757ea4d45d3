package parquetfile

import (
	"encoding/binary"
	"math/bits"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
)

// memoSize is the number of values up to which the dictionary made of plain pages is kept from one batch to the next.
const memoSize = 1 << 16

// A codedColumn reads a column as dictionary arrays with int32 indexes.
//
// A batch of dictionary-encoded pages has the chunk's own dictionary. As soon as it has a plain page (the whole chunk is
// plain, or its writer gave the dictionary up in mid-chunk), its values are numbered in a dictionary made here.
type codedColumn struct {
	chunk *chunkReader
	mem   memory.Allocator
	t     *arrow.DictionaryType

	codes []int32 // of the batch being filled
	valid []byte  // a byte a row
	n     int
	nulls bool

	memo     *memo
	memoData arrow.ArrayData // of the first memoRows values of memo
	memoRows int
	memoOf   []int32 // number in memo, by number in the chunk's dictionary; -1 for none yet
	isMemo   bool    // the batch is numbered by memo
}

func (c *codedColumn) close() {
	c.chunk.dictionary.release()
	c.dropMemoData()
	c.chunk.close()
}

func (c *codedColumn) dropMemoData() {
	if c.memoData != nil {
		c.memoData.Release()
		c.memoData = nil
	}
}

// read makes an array of the next n rows.
func (c *codedColumn) read(n int) (arrow.Array, error) {
	buffer := memory.NewResizableBuffer(codeBuffers)
	defer buffer.Release()
	buffer.Resize(4 * n)
	c.codes = arrow.Int32Traits.CastFromBytes(buffer.Bytes())
	if len(c.valid) < n {
		c.valid = make([]byte, n)
	}
	c.n, c.nulls, c.isMemo = 0, false, false
	if c.memo != nil && c.memo.values.n > memoSize {
		c.resetMemo()
	}
	for c.n < n {
		if err := c.chunk.next(); err != nil {
			return nil, err
		}
		if err := c.take(min(n-c.n, c.chunk.page.rows-c.chunk.page.row)); err != nil {
			return nil, err
		}
	}
	buffers := []*memory.Buffer{nil, buffer}
	nulls := 0
	if c.nulls {
		buffers[0], nulls = packBits(c.mem, c.valid[:n])
		defer buffers[0].Release()
	}
	dictionary, err := c.dictionaryData()
	if err != nil {
		return nil, err
	}
	data := array.NewDataWithDictionary(c.t, n, buffers, nulls, 0, dictionary.(*array.Data))
	defer data.Release()
	return array.NewDictionaryData(data), nil
}

// take appends the next m rows of the current page to the batch.
func (c *codedColumn) take(m int) error {
	p := &c.chunk.page
	out, valid := c.codes[c.n:c.n+m], c.valid[c.n:c.n+m]
	values := m
	if p.levels == nil {
		fillOnes(valid)
	} else {
		c.nulls = true
		levels := p.levels[p.row : p.row+m]
		copy(valid, levels)
		values = countOnes(levels)
	}
	if p.isCode {
		codes := p.codes[p.value : p.value+values]
		spread(out, valid, codes)
		if err := c.renumber(out, valid); err != nil {
			return err
		}
	} else if values > 0 {
		if err := c.number(out, valid); err != nil {
			return err
		}
	} else {
		clear(out)
	}
	p.row += m
	p.value += values
	c.n += m
	return nil
}

// spread places the codes at the rows that have a value, and 0 at the others. Most stretches of eight rows have no null.
func spread(out []int32, valid []byte, codes []int32) {
	if len(codes) == len(out) {
		copy(out, codes)
		return
	}
	i, k := 0, 0
	for ; i+8 <= len(valid) && k+8 <= len(codes); i += 8 {
		word := binary.LittleEndian.Uint64(valid[i:])
		if word == eightOnes {
			*(*[8]int32)(out[i:]) = *(*[8]int32)(codes[k:])
			k += 8
			continue
		}
		for j := range 8 {
			v := int32(word >> (8 * j) & 1)
			out[i+j] = codes[k] & -v
			if k += int(v); k == len(codes) {
				clear(out[i+j+1:])
				return
			}
		}
	}
	for ; i < len(valid); i++ {
		out[i] = 0
		if valid[i] != 0 {
			out[i] = codes[k]
			k++
		}
	}
}

const eightOnes = 0x0101010101010101

// renumber turns indexes of the chunk's dictionary page into those of the batch's dictionary.
func (c *codedColumn) renumber(out []int32, valid []byte) error {
	d := c.chunk.dictionary
	if d.remap != nil {
		for i, v := range valid {
			if v != 0 {
				out[i] = d.remap[out[i]]
			}
		}
	}
	if !c.isMemo {
		return nil
	}
	if c.memoOf == nil {
		c.memoOf = make([]int32, d.values.n)
		for i := range c.memoOf {
			c.memoOf[i] = -1
		}
	}
	for i, v := range valid {
		if v == 0 {
			continue
		}
		k := out[i]
		if c.memoOf[k] < 0 {
			code, err := c.memo.code(d.values.at(int(k)))
			if err != nil {
				return err
			}
			c.memoOf[k] = code
		}
		out[i] = c.memoOf[k]
	}
	return nil
}

// number looks up the values of a plain page.
func (c *codedColumn) number(out []int32, valid []byte) error {
	if !c.isMemo {
		if c.memo == nil {
			c.memo = newMemo(c.chunk.conversion.width, 1024)
		}
		c.isMemo = true
		if c.n > 0 && c.chunk.dictionary != nil {
			d := c.chunk.dictionary
			remap := d.remap
			d.remap = nil // these rows have been through it
			err := c.renumber(c.codes[:c.n], c.valid[:c.n])
			d.remap = remap
			if err != nil {
				return err
			}
		}
	}
	p := &c.chunk.page
	k := p.value
	for i, v := range valid {
		if v == 0 {
			out[i] = 0
			continue
		}
		code, err := c.memo.code(p.values.at(k))
		if err != nil {
			return err
		}
		out[i] = code
		k++
	}
	return nil
}

func (c *codedColumn) resetMemo() {
	c.memo.reset()
	c.memoOf = nil
	c.dropMemoData()
}

// dictionaryData is the dictionary of the batch, shared with the batches before as long as it is the same.
func (c *codedColumn) dictionaryData() (arrow.ArrayData, error) {
	if !c.isMemo && c.chunk.dictionary != nil {
		return c.chunk.dictionary.arrayData(c.mem, c.t.ValueType), nil
	}
	if c.memo == nil {
		c.memo = newMemo(c.chunk.conversion.width, 16)
	}
	if c.memoData == nil || c.memoRows != c.memo.values.n {
		c.dropMemoData()
		c.memoData = c.memo.values.arrayData(c.mem, c.t.ValueType)
		c.memoRows = c.memo.values.n
	}
	return c.memoData, nil
}

func fillOnes(b []byte) {
	for ; len(b) >= 8; b = b[8:] {
		binary.LittleEndian.PutUint64(b, eightOnes)
	}
	for i := range b {
		b[i] = 1
	}
}

// countOnes counts the bytes that are 1; there are no others but 0.
func countOnes(b []byte) int {
	n := 0
	for ; len(b) >= 8; b = b[8:] {
		n += bits.OnesCount64(binary.LittleEndian.Uint64(b))
	}
	for _, x := range b {
		n += int(x)
	}
	return n
}
