package parquetfile

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"math"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
)

// A vector is a run of values without nulls, laid out as Arrow does but for booleans, which take a byte each.
type vector struct {
	n       int
	width   int // bytes of a value, 0 when they vary
	data    []byte
	offsets []int32 // n+1 places in data, for width 0
}

func (v *vector) at(i int) []byte {
	if v.width == 0 {
		return v.data[v.offsets[i]:v.offsets[i+1]]
	}
	return v.data[i*v.width : (i+1)*v.width]
}

func (v *vector) reset() {
	v.n, v.data, v.offsets = 0, v.data[:0], v.offsets[:0]
	if v.width == 0 {
		v.offsets = append(v.offsets, 0)
	}
}

// add appends a value. Its error is that of text beyond what an Arrow array can hold.
func (v *vector) add(value []byte) error {
	v.n++
	v.data = append(v.data, value...)
	if v.width == 0 {
		if len(v.data) > math.MaxInt32 {
			return errTooMuchText
		}
		v.offsets = append(v.offsets, int32(len(v.data)))
	}
	return nil
}

var errTooMuchText = errors.New("a batch of rows has more text than memory (--memory) or an Arrow array (2 GiB) can hold")

// arrayData copies the vector into an Arrow array of type t without nulls.
func (v *vector) arrayData(mem memory.Allocator, t arrow.DataType) arrow.ArrayData {
	b := newColumnBuilder(mem, t, v.n)
	defer b.release()
	if v.width == 0 {
		b.offsets = append(b.offsets[:0], v.offsets...)
		b.grow(len(v.data))
	}
	copy(b.data.Bytes(), v.data)
	b.n, b.used = v.n, len(v.data)
	return b.finish(nil)
}

// A conversion makes Arrow values of a leaf's pages.
type conversion struct {
	physical int
	fixed    int // bytes of FIXED_LEN_BYTE_ARRAY
	unsigned bool
	to       arrow.DataType
	width    int // of to
}

func newConversion(c *column, to arrow.DataType) conversion {
	return conversion{physical: c.physical, fixed: c.fixed, unsigned: c.unsigned, to: to, width: vectorWidth(to)}
}

func vectorWidth(t arrow.DataType) int {
	if t.ID() == arrow.BOOL {
		return 1
	}
	if f, ok := t.(arrow.FixedWidthDataType); ok {
		return f.BitWidth() / 8
	}
	return 0
}

// physicalWidth is the number of bytes of a value in a page.
func (c *conversion) physicalWidth() int {
	switch c.physical {
	case physicalInt32, physicalFloat:
		return 4
	case physicalInt64, physicalDouble:
		return 8
	case physicalInt96:
		return 12
	case physicalFixed:
		return c.fixed
	}
	return 0
}

// bytes is what a value takes that does not stay where it is in its page.
func (c *conversion) bytes() int64 {
	switch {
	case c.physical == physicalFixed && c.to.ID() == arrow.STRING:
		return uuidText + 4
	case c.width == c.physicalWidth():
		return 0
	}
	return int64(c.width)
}

// convert makes the n values that data (and offsets, for BYTE_ARRAY) hold, booleans in a byte each, into v. The vector may alias
// data.
func (c *conversion) convert(v *vector, n int, data []byte, offsets []uint32) error {
	v.n, v.width = n, c.width
	switch c.physical {
	case physicalBytes:
		return c.convertBytes(v, data, offsets)
	case physicalInt96:
		return c.convertInt96(v, data)
	case physicalFixed:
		switch c.to.ID() {
		case arrow.DECIMAL128, arrow.DECIMAL256:
			return c.convertDecimals(v, func(i int) []byte { return data[i*c.fixed : (i+1)*c.fixed] })
		case arrow.STRING:
			return c.convertUUIDs(v, data)
		case arrow.INTERVAL_MONTH_DAY_NANO:
			return c.convertIntervals(v, data)
		}
	case physicalInt32, physicalInt64:
		if c.width != c.physicalWidth() {
			return c.convertIntegers(v, data)
		}
	}
	v.data = data[:n*c.width]
	return nil
}

func (c *conversion) convertBytes(v *vector, data []byte, offsets []uint32) error {
	if _, isDecimal := c.to.(arrow.DecimalType); isDecimal {
		return c.convertDecimals(v, func(i int) []byte { return data[offsets[i]:offsets[i+1]] })
	}
	v.data, v.offsets = data, v.offsets[:0]
	if v.n == 0 {
		v.offsets = append(v.offsets, 0)
		return nil
	}
	if offsets[v.n] > math.MaxInt32 {
		return errTooMuchText
	}
	for _, o := range offsets[:v.n+1] {
		v.offsets = append(v.offsets, int32(o))
	}
	return nil
}

// convertDecimals turns big-endian two's complement into Arrow's little-endian one.
func (c *conversion) convertDecimals(v *vector, at func(i int) []byte) error {
	v.data = resized(v.data, v.n*c.width)
	for i := range v.n {
		be, le := at(i), v.data[i*c.width:(i+1)*c.width]
		fill := byte(0)
		if len(be) > 0 && be[0]&0x80 != 0 {
			fill = 0xff
		}
		for len(be) > c.width {
			if be[0] != fill {
				return fmt.Errorf("a decimal is larger than its precision")
			}
			be = be[1:]
		}
		for j := range le {
			if k := len(be) - 1 - j; k >= 0 {
				le[j] = be[k]
			} else {
				le[j] = fill
			}
		}
	}
	return nil
}

// resized is a slice of n elements, of whatever values, in the memory of b if that is enough.
func resized[T any](b []T, n int) []T {
	if cap(b) < n {
		return make([]T, n)
	}
	return b[:n]
}

// convertIntegers widens or narrows INT32 and INT64 values.
func (c *conversion) convertIntegers(v *vector, data []byte) error {
	v.data = resized(v.data, v.n*c.width)
	signed := arrow.IsSignedInteger(c.to.ID())
	for i := range v.n {
		var x int64
		switch {
		case c.physical == physicalInt64:
			x = int64(binary.LittleEndian.Uint64(data[8*i:]))
		case c.unsigned:
			x = int64(binary.LittleEndian.Uint32(data[4*i:]))
		default:
			x = int64(int32(binary.LittleEndian.Uint32(data[4*i:])))
		}
		out := v.data[i*c.width:]
		switch c.width {
		case 1:
			if signed && x != int64(int8(x)) || !signed && x != int64(uint8(x)) {
				return fmt.Errorf("value %d is beyond type %s", x, c.to)
			}
			out[0] = byte(x)
		case 2:
			if signed && x != int64(int16(x)) || !signed && x != int64(uint16(x)) {
				return fmt.Errorf("value %d is beyond type %s", x, c.to)
			}
			binary.LittleEndian.PutUint16(out, uint16(x))
		case 4: // a narrower type of 32 bits, unified
			binary.LittleEndian.PutUint32(out, uint32(x))
		case 8:
			binary.LittleEndian.PutUint64(out, uint64(x))
		default: // decimals
			for j := range out[:c.width] {
				out[j] = byte(x >> min(8*j, 63))
			}
		}
	}
	return nil
}

// convertUUIDs writes UUIDs as text: 8-4-4-4-12 hexadecimal digits.
func (c *conversion) convertUUIDs(v *vector, data []byte) error {
	const width = uuidText
	if v.n > math.MaxInt32/width {
		return errTooMuchText
	}
	v.data, v.offsets = resized(v.data, v.n*width), append(v.offsets[:0], 0)
	for i := range v.n {
		id, out := data[16*i:16*i+16], v.data[width*i:width*i+width]
		for k, group := range [5][2]int{{0, 4}, {4, 6}, {6, 8}, {8, 10}, {10, 16}} {
			at := 2*group[0] + k
			if k > 0 {
				out[at-1] = '-'
			}
			hex.Encode(out[at:], id[group[0]:group[1]])
		}
		v.offsets = append(v.offsets, int32(width*(i+1)))
	}
	return nil
}

// uuidText is the length of a UUID as text.
const uuidText = 36

// convertIntervals turns months, days and milliseconds, 32 bits each and unsigned, into Arrow's intervals.
func (c *conversion) convertIntervals(v *vector, data []byte) error {
	v.data = resized(v.data, v.n*16)
	for i := range v.n {
		in, out := data[12*i:], v.data[16*i:]
		for k := range 2 {
			x := binary.LittleEndian.Uint32(in[4*k:])
			if x > math.MaxInt32 {
				return fmt.Errorf("an interval has %d %s", x, [2]string{"months", "days"}[k])
			}
			binary.LittleEndian.PutUint32(out[4*k:], x)
		}
		binary.LittleEndian.PutUint64(out[8:], 1e6*uint64(binary.LittleEndian.Uint32(in[8:])))
	}
	return nil
}

// A columnBuilder gathers a batch of one column, of a type whose values are not dictionary-encoded. Its buffers are taken from
// the allocator and handed on without a copy.
type columnBuilder struct {
	mem     memory.Allocator
	t       arrow.DataType
	width   int // 0: text
	n       int // rows so far
	data    *memory.Buffer
	used    int // bytes of text
	offsets []int32
}

func newColumnBuilder(mem memory.Allocator, t arrow.DataType, rows int) *columnBuilder {
	b := &columnBuilder{mem: mem, t: t, width: vectorWidth(t), data: memory.NewResizableBuffer(mem)}
	b.data.Resize(rows * b.width)
	if b.width == 0 {
		b.offsets = append(make([]int32, 0, rows+1), 0)
	}
	return b
}

func (b *columnBuilder) release() {
	if b.data != nil {
		b.data.Release()
		b.data = nil
	}
}

func (b *columnBuilder) grow(n int) {
	if n > b.data.Len() {
		b.data.Resize(max(n, 2*b.data.Len()))
	}
}

// finish makes the array, with a byte a row that tells values from nulls, nil when all are values. The builder is used up.
func (b *columnBuilder) finish(valid []byte) arrow.ArrayData {
	buffers := []*memory.Buffer{nil}
	nulls := 0
	if valid != nil {
		if buffers[0], nulls = packBits(b.mem, valid); nulls == 0 {
			buffers[0].Release()
			buffers[0] = nil
		}
	}
	switch {
	case b.t.ID() == arrow.BOOL:
		bits, _ := packBits(b.mem, b.data.Bytes()[:b.n])
		buffers = append(buffers, bits)
	case b.width == 0:
		o := memory.NewResizableBuffer(b.mem)
		o.Resize(4 * len(b.offsets))
		copy(arrow.Int32Traits.CastFromBytes(o.Bytes()), b.offsets)
		b.data.Resize(b.used)
		buffers = append(buffers, o, b.data)
	default:
		b.data.Resize(b.n * b.width)
		buffers = append(buffers, b.data)
	}
	data := array.NewData(b.t, b.n, buffers, nil, nulls, 0)
	for _, x := range buffers {
		if x != nil && x != b.data {
			x.Release()
		}
	}
	b.release()
	return data
}

// packBits makes a bitmap of bytes that are 0 or 1, and counts the zeros.
func packBits(mem memory.Allocator, bytes []byte) (*memory.Buffer, int) {
	n := len(bytes)
	out := memory.NewResizableBuffer(mem)
	out.Resize((n + 7) / 8)
	bits := out.Bytes()
	ones := 0
	i := 0
	for ; i+8 <= n; i += 8 {
		b := byte(binary.LittleEndian.Uint64(bytes[i:]) * 0x0102040810204080 >> 56)
		bits[i>>3] = b
		ones += onesOf[b]
	}
	if i < n {
		bits[i>>3] = 0
		for ; i < n; i++ {
			bits[i>>3] |= bytes[i] << (i & 7)
			ones += int(bytes[i])
		}
	}
	return out, n - ones
}

var onesOf = func() (t [256]int) {
	for i := range t {
		t[i] = i&1 + t[i/2]
	}
	return t
}()
