package parquetfile

import (
	"fmt"
	"math/bits"
	"unsafe"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/parquet-go/parquet-go/compress"

	"microrisk/operators"
)

// Columns of numbers, which nearly all added ones are, are encoded here and not by the library, which builds a value of its own for
// each cell. Their values are mostly few: what is kept of a row is the place of its value among the distinct ones.

const (
	// numberPageRows is where a page of numbers ends.
	numberPageRows = 1 << 15
	// decisionRows is how many rows are held before it is decided whether the chunk has a dictionary.
	decisionRows = 4 * numberPageRows
)

type number interface{ float64 | int64 | int32 }

// A numberColumn makes chunks of one column.
type numberColumn interface {
	// add appends the rows of a batch from first to before last that keep tells, nil for all.
	add(a arrow.Array, first, last int, keep *operators.Bitmap) error
	// finish appends the chunk to data, the file so far, and starts the next; it tells the chunk's entry in the footer.
	finish(data []byte) ([]byte, thriftValue, error)
}

// newNumberColumn is nil for a type that the library encodes.
func newNumberColumn(t arrow.DataType, codec compress.Codec) numberColumn {
	switch t.ID() {
	case arrow.FLOAT64:
		return newNumbers[float64](codec)
	case arrow.INT64:
		return newNumbers[int64](codec)
	case arrow.INT32:
		return newNumbers[int32](codec)
	}
	return nil
}

// What a chunk does with its values.
type chunkMode int

const (
	undecided chunkMode = iota // rows are held
	placed                     // pages have places in the dictionary
	plainly                    // pages have values
)

// numbers is a numberColumn of a type.
type numbers[T number] struct {
	mode   chunkMode
	values []T     // distinct ones in the order in which they come: the dictionary
	slots  []int32 // a hash table of places in values, -1 where it is free
	shift  int     // 64 - log2 of its size

	present []byte   // of the rows that wait: 1 for a value, 0 for null
	places  []uint32 // of their values that have a place
	plain   []T      // of their values once the dictionary is given up

	pages chunkPages[T]
	width int // bytes of a value
	err   error
}

func newNumbers[T number](codec compress.Codec) *numbers[T] {
	n := &numbers[T]{width: int(unsafe.Sizeof(*new(T))), pages: chunkPages[T]{codec: codec}}
	n.present, n.places = make([]byte, 0, numberPageRows), make([]uint32, 0, numberPageRows)
	n.begin()
	return n
}

// begin starts a chunk.
func (n *numbers[T]) begin() {
	n.mode, n.values = undecided, n.values[:0]
	n.resize(10)
	n.pages.begin()
}

// resize makes the hash table anew, of 2^log slots.
func (n *numbers[T]) resize(log int) {
	n.slots, n.shift = make([]int32, 1<<log), 64-log
	for i := range n.slots {
		n.slots[i] = -1
	}
	for i, v := range n.values {
		n.slots[n.slot(v)] = int32(i)
	}
}

// bitsOf tells values apart: NaNs by their bits, and the zeros.
func bitsOf[T number](v T) uint64 {
	if unsafe.Sizeof(v) == 4 {
		return uint64(*(*uint32)(unsafe.Pointer(&v)))
	}
	return *(*uint64)(unsafe.Pointer(&v))
}

// slotOf is where the search for a value begins.
func slotOf(b uint64, shift int) int { return int((b ^ b>>32) * 0x9e3779b97f4a7c15 >> shift) }

// slot is where a value is in the hash table, or could be put.
func (n *numbers[T]) slot(v T) int {
	b := bitsOf(v)
	at := slotOf(b, n.shift)
	for {
		k := n.slots[at]
		if k < 0 || bitsOf(n.values[k]) == b {
			return at
		}
		at = (at + 1) & (len(n.slots) - 1)
	}
}

func (n *numbers[T]) add(a arrow.Array, first, last int, keep *operators.Bitmap) error {
	if d, ok := a.(*array.Dictionary); ok {
		return n.addCoded(d, first, last, keep)
	}
	values := valuesOf[T](a)
	valid, offset := a.NullBitmapBytes(), a.Data().Offset()
	if a.NullN() == 0 {
		valid = nil
	}
	for r := first; r < last; n.flushFull() {
		if keep == nil && n.mode != plainly {
			r += n.putAll(values[r:min(last, r+n.limit()-len(n.present))], valid, offset+r)
			continue
		}
		if keep == nil || keep.Get(r) {
			n.addOne(values[r:r+1], valid == nil || valid[(r+offset)>>3]>>((r+offset)&7)&1 != 0)
		}
		r++
	}
	return n.err
}

// addCoded is add for a dictionary, as operators may give one.
func (n *numbers[T]) addCoded(d *array.Dictionary, first, last int, keep *operators.Bitmap) error {
	values := valuesOf[T](d.Dictionary())
	for r := first; r < last; r++ {
		if keep != nil && !keep.Get(r) {
			continue
		}
		if d.IsNull(r) {
			n.addOne(nil, false)
		} else if k := d.GetValueIndex(r); k < 0 || k >= len(values) {
			return fmt.Errorf("dictionary index %d is beyond the dictionary of %d values", k, len(values))
		} else {
			n.addOne(values[k:k+1], d.Dictionary().IsValid(k))
		}
		n.flushFull()
	}
	return n.err
}

// addOne takes a row with a value, or without.
func (n *numbers[T]) addOne(value []T, valid bool) {
	if !valid {
		n.present = append(n.present, 0)
		return
	}
	n.present = append(n.present, 1)
	n.put(value[0])
}

// limit is the number of rows that may wait.
func (n *numbers[T]) limit() int {
	if n.mode == undecided {
		return decisionRows
	}
	return numberPageRows
}

func (n *numbers[T]) flushFull() {
	if len(n.present) >= n.limit() {
		n.flush()
	}
}

// putAll takes rows up to the first value that is new, and tells how many; bit first of valid is that of the first row, nil for all.
func (n *numbers[T]) putAll(values []T, valid []byte, first int) int {
	slots, distinct, shift := n.slots, n.values, n.shift
	present, places := n.present, n.places
	mask := len(slots) - 1
	var before uint64 // the bits of the value before, which is often the next one too
	place := int32(-1)
	for i, v := range values {
		if valid != nil && valid[(first+i)>>3]>>((first+i)&7)&1 == 0 {
			present = append(present, 0)
			continue
		}
		present = append(present, 1)
		b := bitsOf(v)
		if b != before || place < 0 {
			at := slotOf(b, shift)
			for place = slots[at]; place >= 0 && bitsOf(distinct[place]) != b; place = slots[at] {
				at = (at + 1) & mask
			}
			if place < 0 {
				n.present, n.places = present, places
				n.put(v)
				return i + 1
			}
			before = b
		}
		places = append(places, uint32(place))
	}
	n.present, n.places = present, places
	return len(values)
}

func valuesOf[T number](a arrow.Array) []T {
	switch a := a.(type) {
	case *array.Float64:
		return any(a.Float64Values()).([]T)
	case *array.Int64:
		return any(a.Int64Values()).([]T)
	}
	return any(a.(*array.Int32).Int32Values()).([]T)
}

// put takes the value of the last row that waits.
func (n *numbers[T]) put(v T) {
	if n.mode == plainly {
		n.plain = append(n.plain, v)
		return
	}
	at := n.slot(v)
	k := n.slots[at]
	if k < 0 {
		if (len(n.values)+1)*n.width > dictionaryBytes {
			n.present = n.present[:len(n.present)-1]
			n.flush() // what has a place
			n.mode = plainly
			n.present, n.plain = append(n.present, 1), append(n.plain, v)
			return
		}
		k = int32(len(n.values))
		n.values = append(n.values, v)
		n.slots[at] = k
		if 2*len(n.values) > len(n.slots) {
			n.resize(64 - n.shift + 2)
		}
	}
	n.places = append(n.places, uint32(k))
}

// flush makes pages of the rows that wait.
func (n *numbers[T]) flush() {
	if n.mode == undecided && len(n.present) > 0 {
		n.mode = placed
		if len(n.values)*n.width+len(n.places)*placeBits(len(n.values))/8 >= len(n.places)*n.width {
			n.mode = plainly
			for _, k := range n.places {
				n.plain = append(n.plain, n.values[k])
			}
			n.places, n.values = n.places[:0], n.values[:0]
		}
	}
	places, plain := n.places, n.plain
	for from := 0; from < len(n.present); from += numberPageRows {
		present := n.present[from:min(from+numberPageRows, len(n.present))]
		count := 0
		for _, p := range present {
			count += int(p)
		}
		if n.mode == plainly {
			n.page(present, count, boundsOf(plain[:count]), encodingPlain, bytesOf(plain[:count]))
			plain = plain[count:]
			continue
		}
		width := placeBits(len(n.values))
		body := appendRuns([]byte{byte(width)}, places[:count], width, 32)
		n.page(present, count, boundsAt(n.values, places[:count]), encodingDictionary, body)
		places = places[count:]
	}
	n.present, n.places, n.plain = n.present[:0], n.places[:0], n.plain[:0]
}

// page keeps the first thing that goes wrong, for finish.
func (n *numbers[T]) page(present []byte, count int, b bounds[T], encoding int64, values []byte) {
	if n.err == nil {
		n.err = n.pages.add(present, count, b, encoding, values)
	}
}

// placeBits is the width of places in a dictionary of n values. Up to a byte, places that do not straddle bytes compress better.
func placeBits(n int) int {
	w := max(bits.Len(uint(n-1)), 1)
	switch {
	case w == 3:
		return 4
	case w > 4 && w < 8:
		return 8
	}
	return w
}

func (n *numbers[T]) finish(data []byte) ([]byte, thriftValue, error) {
	n.flush()
	if n.err != nil {
		return data, thriftValue{}, n.err
	}
	data, chunk, err := n.pages.finish(data, n.values)
	n.begin()
	return data, chunk, err
}

func bytesOf[T number](values []T) []byte { return arrow.GetBytes(values) }
