package operators

import (
	"slices"
	"unsafe"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/memory"
)

// gather gives each row the value of its class; at, if it is given, says which of the values a class has. Class and place -1 are null.
func gather[T classValue](mem memory.Allocator, class []int64, at []int32, a arrow.Array, values []T) arrow.Array {
	out, buffer := room[T](mem, len(class))
	if at != nil {
		places := make([]int64, len(class))
		for r, c := range class {
			if places[r] = -1; c >= 0 {
				places[r] = int64(at[c])
			}
		}
		class = places
	}
	none := 0
	for r, c := range class {
		if c >= 0 {
			out[r] = values[c]
		} else {
			none++
		}
	}
	if none == 0 && a.NullN() == 0 {
		return numbers(nil, buffer, len(class), 0, arrow.GetDataType[T]())
	}
	valid, nulls := validity(mem, class, a, out)
	return numbers(valid, buffer, len(class), nulls, arrow.GetDataType[T]())
}

// Int64sByRow gives each row its value, null for class -1.
func Int64sByRow(mem memory.Allocator, class, values []int64) arrow.Array {
	out, buffer := room[int64](mem, len(class))
	copy(out, values)
	if !slices.ContainsFunc(class, func(c int64) bool { return c < 0 }) {
		return numbers(nil, buffer, len(class), 0, arrow.PrimitiveTypes.Int64)
	}
	valid, nulls := validity(mem, class, nil, out)
	return numbers(valid, buffer, len(class), nulls, arrow.PrimitiveTypes.Int64)
}

// room is a buffer for n values.
func room[T classValue](mem memory.Allocator, n int) ([]T, *memory.Buffer) {
	b := memory.NewResizableBuffer(mem)
	b.Resize(n * int(unsafe.Sizeof(*new(T))))
	return arrow.GetData[T](b.Bytes()), b
}

// validity has a bit for each row whose class is not -1 and has a value in a, nil for one that has all; it tells the number of the other
// rows, whose place in out becomes 0: nothing is written of what is null.
func validity[T classValue](mem memory.Allocator, class []int64, a arrow.Array, out []T) (*memory.Buffer, int) {
	var has []byte
	var offset int64
	if a != nil && a.NullN() > 0 {
		has, offset = a.NullBitmapBytes(), int64(a.Data().Offset())
	}
	b := memory.NewResizableBuffer(mem)
	b.Resize((len(class) + 7) / 8)
	bits := b.Bytes()
	clear(bits)
	nulls := 0
	for r, c := range class {
		if c < 0 || has != nil && has[(c+offset)>>3]>>((c+offset)&7)&1 == 0 {
			out[r] = 0
			nulls++
		} else {
			bits[r>>3] |= 1 << (r & 7)
		}
	}
	return b, nulls
}
