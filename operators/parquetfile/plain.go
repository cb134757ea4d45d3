package parquetfile

import (
	"math"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
)

// A plainColumn reads a column as arrays of its type.
type plainColumn struct {
	chunk *chunkReader
	mem   memory.Allocator
	t     arrow.DataType
	valid []byte
}

func (c *plainColumn) close() {
	c.chunk.dictionary.release()
	c.chunk.close()
}

// read makes an array of the next n rows.
func (c *plainColumn) read(n int) (arrow.Array, error) {
	if len(c.valid) < n {
		c.valid = make([]byte, n)
	}
	b := newColumnBuilder(c.mem, c.t, n)
	defer b.release()
	for b.n < n {
		if err := c.chunk.next(); err != nil {
			return nil, err
		}
		if err := c.take(b, min(n-b.n, c.chunk.page.rows-c.chunk.page.row)); err != nil {
			return nil, err
		}
	}
	if c.t.ID() == arrow.NULL {
		return array.NewNull(n), nil
	}
	data := b.finish(c.valid[:n])
	defer data.Release()
	return array.MakeFromData(data), nil
}

// take appends the next m rows of the current page.
func (c *plainColumn) take(b *columnBuilder, m int) error {
	p := &c.chunk.page
	valid := c.valid[b.n : b.n+m]
	values := m
	if p.levels == nil {
		fillOnes(valid)
	} else {
		copy(valid, p.levels[p.row:p.row+m])
		values = countOnes(valid)
	}
	from := &p.values
	at := func(k int) int { return k }
	if p.isCode {
		d := c.chunk.dictionary
		from = &d.values
		at = func(k int) int {
			code := int(p.codes[k])
			if d.remap != nil {
				code = int(d.remap[code])
			}
			return code
		}
	}
	var err error
	switch {
	case c.t.ID() == arrow.NULL:
	case b.width == 0:
		err = b.appendText(from, valid, p.value, at, c.chunk.part.source.mostText())
	case values == m && !p.isCode:
		copy(b.data.Bytes()[b.n*b.width:], from.data[p.value*b.width:(p.value+m)*b.width])
	default:
		b.appendFixed(from, valid, p.value, at)
	}
	b.n += m
	p.row += m
	p.value += values
	return err
}

// mostText is how many bytes of text a batch of a column may have: no more than an Arrow array holds.
func (s *Source) mostText() int { return int(min(s.share(), math.MaxInt32)) }

func (b *columnBuilder) appendFixed(from *vector, valid []byte, k int, at func(int) int) {
	out := b.data.Bytes()[b.n*b.width:]
	for _, v := range valid {
		if v == 0 {
			clear(out[:b.width])
		} else {
			copy(out[:b.width], from.at(at(k)))
			k++
		}
		out = out[b.width:]
	}
}

func (b *columnBuilder) appendText(from *vector, valid []byte, k int, at func(int) int, most int) error {
	for _, v := range valid {
		if v != 0 {
			value := from.at(at(k))
			k++
			if b.used+len(value) > most {
				return errTooMuchText
			}
			b.grow(b.used + len(value))
			copy(b.data.Bytes()[b.used:], value)
			b.used += len(value)
		}
		b.offsets = append(b.offsets, int32(b.used))
	}
	return nil
}
