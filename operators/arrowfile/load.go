package arrowfile

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/bits"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"microrisk/engine/budget"
)

// The columns of a record batch are loaded here and not by the library: only those that are wanted, each buffer checked against the body
// of its message and against what its column's length needs, and no more decompressed than is allowed.

// A node has the length of an array of a batch, and its nulls.
type node struct{ length, nulls int64 }

// A loader goes through the arrays of a record batch, in their order.
type loader struct {
	in       io.ReaderAt
	body     int64 // where it starts
	batch    *recordBatch
	room     int64 // bytes that may still be taken
	most     int64 // bytes that might be taken at first
	dict     func(id int64) (*dictionary, error)
	nodes    int
	buffers  int
	variadic int
	skip     bool // nothing is read
}

// tooLarge says that a record batch takes more memory than is left for one.
func tooLarge(needs, most int64) error {
	return budget.Budget{Bytes: most}.Beyond("a record batch, which may take a part of the memory allowed,", needs, "write smaller record batches")
}

// take notes that n bytes more are used.
func (l *loader) take(n int64) error {
	if n < 0 || n > l.room {
		return tooLarge(l.most-l.room+max(n, 0), l.most)
	}
	l.room -= n
	return nil
}

func (l *loader) nextNode() (node, error) {
	if l.nodes >= len(l.batch.nodes) {
		return node{}, errors.New("the batch has fewer arrays than its schema needs")
	}
	n := l.batch.nodes[l.nodes]
	l.nodes++
	if n.length < 0 || n.nulls < 0 || n.nulls > n.length {
		return node{}, fmt.Errorf("it would have %d values and %d nulls", n.length, n.nulls)
	}
	return n, nil
}

// next is the next buffer, which must have at least least bytes; an empty one is nil if least is 0.
func (l *loader) next(least int64) (*memory.Buffer, error) {
	if l.buffers >= len(l.batch.buffers) {
		return nil, errors.New("the batch has fewer buffers than its schema needs")
	}
	s := l.batch.buffers[l.buffers]
	l.buffers++
	if l.skip {
		return nil, nil
	}
	raw, size := true, s.size
	if l.batch.codec >= 0 && s.size > 0 {
		if s.size < 8 {
			return nil, errors.New("a compressed buffer is too short to say its size")
		}
		var head [8]byte
		if _, err := l.in.ReadAt(head[:], l.body+s.offset); err != nil {
			return nil, err
		}
		s.offset, s.size = s.offset+8, s.size-8
		if size = int64(binary.LittleEndian.Uint64(head[:])); size == -1 {
			size = s.size
		} else {
			raw = false
		}
	}
	if size < least {
		return nil, fmt.Errorf("a buffer has %d bytes, its values need %d", size, least)
	}
	if size == 0 {
		return nil, nil
	}
	if err := l.take(size); err != nil {
		return nil, err
	}
	b := make([]byte, size)
	if raw {
		_, err := l.in.ReadAt(b, l.body+s.offset)
		return memory.NewBufferBytes(b), err
	}
	if err := l.take(s.size); err != nil {
		return nil, err
	}
	defer func() { l.room += s.size }()
	packed := make([]byte, s.size)
	if _, err := l.in.ReadAt(packed, l.body+s.offset); err != nil {
		return nil, err
	}
	return memory.NewBufferBytes(b), decompress(l.batch.codec, b, packed)
}

// validity is the next buffer as the bitmap of an array's nulls, nil if there are none, and their number.
func (l *loader) validity(n node) (*memory.Buffer, int, error) {
	b, err := l.next(0)
	if err != nil || l.skip || n.nulls == 0 {
		return nil, 0, err
	}
	if b == nil || int64(b.Len()) < (n.length+7)/8 {
		return nil, 0, errors.New("the bitmap of its nulls is too short")
	}
	set := 0
	for i, w := range b.Bytes()[:(n.length+7)/8] {
		if rest := n.length - 8*int64(i); rest < 8 {
			w &= 1<<rest - 1
		}
		set += bits.OnesCount8(w)
	}
	return b, int(n.length) - set, nil
}

// data loads an array of a type; ids has the dictionaries of its fields. It is nil when arrays are skipped.
func (l *loader) data(t arrow.DataType, ids fieldIDs) (arrow.ArrayData, error) {
	switch t := t.(type) {
	case arrow.ExtensionType:
		d, err := l.data(t.StorageType(), ids)
		if d == nil || err != nil {
			return nil, err
		}
		if _, coded := t.StorageType().(*arrow.DictionaryType); coded {
			return nil, fmt.Errorf("columns of type %s are not read", t)
		}
		return array.NewData(t, d.Len(), d.Buffers(), d.Children(), d.NullN(), 0), nil
	case *arrow.DictionaryType:
		return l.coded(t, ids)
	}
	n, err := l.nextNode()
	if err != nil {
		return nil, err
	}
	length := int(n.length)
	switch t := t.(type) {
	case *arrow.NullType:
		if l.skip {
			return nil, nil
		}
		return array.NewData(t, length, []*memory.Buffer{nil}, nil, length, 0), nil
	case *arrow.RunEndEncodedType:
		return l.runs(t, ids, n)
	case arrow.UnionType:
		return l.union(t, ids, n)
	}
	valid, nulls, err := l.validity(n)
	if err != nil {
		return nil, err
	}
	made := func(buffers []*memory.Buffer, children []arrow.ArrayData) (arrow.ArrayData, error) {
		if l.skip {
			return nil, nil
		}
		return array.NewData(t, length, append([]*memory.Buffer{valid}, buffers...), children, nulls, 0), nil
	}
	switch t := t.(type) {
	case *arrow.StringType, *arrow.BinaryType, *arrow.LargeStringType, *arrow.LargeBinaryType:
		buffers, err := l.texts(t, n)
		if err != nil {
			return nil, err
		}
		return made(buffers, nil)
	case arrow.BinaryViewDataType:
		buffers, err := l.views(n, valid)
		if err != nil {
			return nil, err
		}
		return made(buffers, nil)
	case arrow.FixedWidthDataType:
		b, err := l.next((n.length*int64(t.BitWidth()) + 7) / 8)
		if err != nil {
			return nil, err
		}
		return made([]*memory.Buffer{orEmpty(b)}, nil)
	}
	buffers, children, err := l.nested(t, ids, n)
	if err != nil {
		return nil, err
	}
	return made(buffers, children)
}

// orEmpty is a buffer that is there: the library looks into the values even of empty arrays.
func orEmpty(b *memory.Buffer) *memory.Buffer {
	if b == nil {
		return memory.NewBufferBytes([]byte{})
	}
	return b
}

// texts loads the offsets and the bytes of texts.
func (l *loader) texts(t arrow.DataType, n node) ([]*memory.Buffer, error) {
	offsets, width, err := l.offsets(t.ID() == arrow.LARGE_STRING || t.ID() == arrow.LARGE_BINARY, n.length)
	if err != nil {
		return nil, err
	}
	bytes, err := l.next(0)
	if err != nil || l.skip {
		return nil, err
	}
	size := int64(0)
	if bytes != nil {
		size = int64(bytes.Len())
	}
	if err := checkOffsets(offsets.Bytes(), width, n.length, size); err != nil {
		return nil, err
	}
	return []*memory.Buffer{offsets, orEmpty(bytes)}, nil
}

// offsets loads length + 1 offsets, of an array without values perhaps none.
func (l *loader) offsets(large bool, length int64) (*memory.Buffer, int, error) {
	width, least := 4, (length+1)*4
	if large {
		width, least = 8, (length+1)*8
	}
	if length == 0 {
		least = 0
	}
	b, err := l.next(least)
	if err == nil && !l.skip && (b == nil || b.Len() < width) {
		b = memory.NewBufferBytes(make([]byte, width))
	}
	return b, width, err
}

// checkOffsets finds offsets that go back or beyond what they are of.
func checkOffsets(b []byte, width int, length, limit int64) error {
	last := int64(0)
	for i := range int(length) + 1 {
		var at int64
		if width == 4 {
			at = int64(int32(binary.LittleEndian.Uint32(b[4*i:])))
		} else {
			at = int64(binary.LittleEndian.Uint64(b[8*i:]))
		}
		if at < last || at > limit {
			return fmt.Errorf("value %d would be at %d to %d of %d", max(i-1, 0), last, at, limit)
		}
		last = at
	}
	return nil
}

// views loads the views of an array and what they are of.
func (l *loader) views(n node, valid *memory.Buffer) ([]*memory.Buffer, error) {
	views, err := l.next(n.length * 16)
	if err != nil {
		return nil, err
	}
	if l.variadic >= len(l.batch.variadic) {
		return nil, errors.New("the batch does not say how many buffers its texts have")
	}
	count := l.batch.variadic[l.variadic]
	l.variadic++
	if count < 0 || count > int64(len(l.batch.buffers)) {
		return nil, fmt.Errorf("it would have %d buffers of texts", count)
	}
	buffers := []*memory.Buffer{orEmpty(views)}
	for range count {
		b, err := l.next(0)
		if err != nil {
			return nil, err
		}
		buffers = append(buffers, orEmpty(b))
	}
	if l.skip {
		return nil, nil
	}
	b := buffers[0].Bytes()
	for i := range int(n.length) {
		if valid != nil && valid.Bytes()[i/8]>>(i%8)&1 == 0 {
			continue
		}
		v := b[16*i : 16*i+16]
		size := int64(int32(binary.LittleEndian.Uint32(v)))
		if size >= 0 && size <= 12 {
			continue
		}
		buffer, at := int64(int32(binary.LittleEndian.Uint32(v[8:]))), int64(int32(binary.LittleEndian.Uint32(v[12:])))
		if size < 0 || buffer < 0 || buffer >= count || at < 0 || at+size > int64(buffers[buffer+1].Len()) {
			return nil, fmt.Errorf("value %d lies outside its buffers", i)
		}
	}
	return buffers, nil
}

// coded loads a dictionary array; a value that its dictionary has as null is a null.
func (l *loader) coded(t *arrow.DictionaryType, ids fieldIDs) (arrow.ArrayData, error) {
	n, err := l.nextNode()
	if err != nil {
		return nil, err
	}
	valid, nulls, err := l.validity(n)
	if err != nil {
		return nil, err
	}
	index, err := l.next((n.length*int64(t.IndexType.(arrow.FixedWidthDataType).BitWidth()) + 7) / 8)
	if err != nil || l.skip {
		return nil, err
	}
	d, err := l.dict(ids.id)
	if err != nil {
		return nil, err
	}
	codes := array.MakeFromData(array.NewData(t.IndexType, int(n.length), []*memory.Buffer{valid, orEmpty(index)}, nil, nulls, 0))
	if !d.changed() {
		if err := checkCodes(codes, d.values.Len()); err != nil {
			return nil, err
		}
		if d.values.NullN() > 0 {
			valid, nulls = nullsOf(codes, d.values)
		}
		return array.NewDataWithDictionary(&arrow.DictionaryType{IndexType: t.IndexType, ValueType: d.values.DataType(), Ordered: t.Ordered},
			int(n.length), []*memory.Buffer{valid, orEmpty(index)}, nulls, 0, d.values.Data().(*array.Data)), nil
	}
	if err := l.take(4 * n.length); err != nil {
		return nil, err
	}
	return d.translate(codes)
}

// checkCodes finds indexes that a dictionary does not have.
func checkCodes(codes arrow.Array, size int) error {
	at := indexOf(codes)
	for i := range codes.Len() {
		if codes.IsNull(i) {
			continue
		}
		if k := at(i); k < 0 || k >= int64(size) {
			return fmt.Errorf("row %d of the batch has dictionary index %d, the dictionary has %d values", i, k, size)
		}
	}
	return nil
}

// nullsOf is the bitmap of indexes that are null or are of values that are null.
func nullsOf(codes, values arrow.Array) (*memory.Buffer, int) {
	bitmap, at, nulls := make([]byte, (codes.Len()+7)/8), indexOf(codes), 0
	for i := range codes.Len() {
		if codes.IsValid(i) && values.IsValid(int(at(i))) {
			bitmap[i/8] |= 1 << (i % 8)
		} else {
			nulls++
		}
	}
	return memory.NewBufferBytes(bitmap), nulls
}

func indexOf(codes arrow.Array) func(i int) int64 {
	switch a := codes.(type) {
	case *array.Int8:
		return func(i int) int64 { return int64(a.Value(i)) }
	case *array.Int16:
		return func(i int) int64 { return int64(a.Value(i)) }
	case *array.Int32:
		return func(i int) int64 { return int64(a.Value(i)) }
	case *array.Int64:
		return func(i int) int64 { return a.Value(i) }
	case *array.Uint8:
		return func(i int) int64 { return int64(a.Value(i)) }
	case *array.Uint16:
		return func(i int) int64 { return int64(a.Value(i)) }
	case *array.Uint32:
		return func(i int) int64 { return int64(a.Value(i)) }
	case *array.Uint64:
		return func(i int) int64 { return int64(min(a.Value(i), 1<<62)) }
	}
	return func(int) int64 { return -1 }
}
