package cdata

/*
#include "stream.h"
*/
import "C"

import (
	"fmt"
	"unsafe"

	"github.com/apache/arrow/go/v17/arrow"
)

// mostRows is beyond what an array in memory has.
const mostRows = 1 << 47

// sound tells whether an array has the parts that its type asks for. The library would free memory of the host where they are not there; that a buffer
// is as long as it must be nobody can see.
func sound(c *C.struct_ArrowArray, t arrow.DataType) error {
	if c.length < 0 || c.offset < 0 || c.length > mostRows || c.offset > mostRows || c.null_count < -1 || c.null_count > c.length {
		return fmt.Errorf("%d values from %d on, %d of them null", c.length, c.offset, c.null_count)
	}
	if e, is := t.(arrow.ExtensionType); is {
		return sound(c, e.StorageType())
	}
	if err := buffersOf(c, t); err != nil {
		return err
	}
	return partsOf(c, t)
}

// A layout is how many buffers a type has, the validity bitmap among them, and how many besides it must be there.
type layout struct {
	few, many int
	bitmap    bool
	must      int
}

func layoutOf(t arrow.DataType) layout {
	switch t.ID() {
	case arrow.NULL, arrow.RUN_END_ENCODED:
		return layout{0, 1, false, 0}
	case arrow.STRUCT, arrow.FIXED_SIZE_LIST:
		return layout{1, 1, true, 0}
	case arrow.STRING, arrow.BINARY, arrow.LARGE_STRING, arrow.LARGE_BINARY: // whether there must be characters offsets tell
		return layout{3, 3, true, 1}
	case arrow.LIST_VIEW, arrow.LARGE_LIST_VIEW:
		return layout{3, 3, true, 2}
	case arrow.STRING_VIEW, arrow.BINARY_VIEW:
		return layout{3, 1 << 30, true, 1}
	case arrow.DENSE_UNION:
		return layout{2, 3, false, 2}
	case arrow.SPARSE_UNION:
		return layout{1, 2, false, 1}
	}
	return layout{2, 2, true, 1}
}

// buffersOf tells whether the buffers are there, and the ends of offsets.
func buffersOf(c *C.struct_ArrowArray, t arrow.DataType) error {
	l, n, width := layoutOf(t), int(c.n_buffers), offsetWidth(t)
	if n < l.few || n > l.many || n > 0 && c.buffers == nil {
		return fmt.Errorf("%d buffers, where %s has %d", n, t, l.few)
	}
	buffers := unsafe.Slice(c.buffers, n)
	if c.null_count > 0 && l.few > 0 && (!l.bitmap || buffers[0] == nil) {
		return fmt.Errorf("%d values are null, and nothing tells which", c.null_count)
	}
	first := 0
	if l.bitmap || n > l.few { // unions had a bitmap once
		first = 1
	}
	for i := first; i < first+l.must; i++ {
		if buffers[i] == nil && (width > 0 || c.length+c.offset > 0) {
			return fmt.Errorf("a buffer of %s is missing", t)
		}
	}
	if width == 0 {
		return nil
	}
	if from, to := offsets(c, width); from < 0 || to < from || l.few == 3 && to > 0 && buffers[2] == nil {
		return fmt.Errorf("offsets from %d to %d are none of %s", from, to, t)
	}
	return nil
}

// offsetWidth is that of offsets in bytes; 0: the type has none.
func offsetWidth(t arrow.DataType) int {
	switch t.ID() {
	case arrow.STRING, arrow.BINARY, arrow.LIST, arrow.MAP:
		return 4
	case arrow.LARGE_STRING, arrow.LARGE_BINARY, arrow.LARGE_LIST:
		return 8
	}
	return 0
}

// offsets are the first and the last of an array.
func offsets(c *C.struct_ArrowArray, width int) (first, last int64) {
	buffer := unsafe.Slice(c.buffers, int(c.n_buffers))[1]
	at := func(i C.int64_t) int64 {
		p := unsafe.Add(buffer, int(i)*width)
		if width == 4 {
			return int64(*(*int32)(p))
		}
		return *(*int64)(p)
	}
	return at(c.offset), at(c.offset + c.length)
}

// partsOf tells whether what an array consists of is there, and long enough.
func partsOf(c *C.struct_ArrowArray, t arrow.DataType) error {
	var names []string
	var types []arrow.DataType
	needed := int64(0) // values of each
	switch t := t.(type) {
	case *arrow.DictionaryType:
		if c.dictionary == nil {
			return fmt.Errorf("the values of a dictionary are missing")
		}
		if err := sound(c.dictionary, t.ValueType); err != nil {
			return fmt.Errorf("its dictionary: %w", err)
		}
	case *arrow.FixedSizeListType:
		names, types, needed = []string{"its items"}, []arrow.DataType{t.Elem()}, (int64(c.offset)+int64(c.length))*int64(t.Len())
	case arrow.ListLikeType:
		names, types = []string{"its items"}, []arrow.DataType{t.Elem()}
		if width := offsetWidth(t.(arrow.DataType)); width > 0 {
			_, needed = offsets(c, width)
		}
	case *arrow.RunEndEncodedType:
		names, types = []string{"its ends", "its values"}, []arrow.DataType{t.RunEnds(), t.Encoded()}
	case arrow.NestedType: // structs and unions
		for _, f := range t.Fields() {
			names, types = append(names, fmt.Sprintf("%q", f.Name)), append(types, f.Type)
		}
		if t.ID() != arrow.DENSE_UNION {
			needed = int64(c.offset) + int64(c.length)
		}
	}
	if int(c.n_children) != len(types) || len(types) > 0 && c.children == nil {
		return fmt.Errorf("%d parts, where %s has %d", c.n_children, t, len(types))
	}
	for i, part := range unsafe.Slice(c.children, len(types)) {
		if part == nil {
			return fmt.Errorf("%s: it is missing", names[i])
		}
		if err := sound(part, types[i]); err != nil {
			return fmt.Errorf("%s: %w", names[i], err)
		}
		if int64(part.length) < needed {
			return fmt.Errorf("%s: %d values, where there must be %d", names[i], part.length, needed)
		}
	}
	return nil
}

// measured tells whether all widths of types are ones.
func measured(t arrow.DataType) error {
	switch t := t.(type) {
	case *arrow.FixedSizeBinaryType:
		if t.ByteWidth < 0 {
			return fmt.Errorf("values of %d bytes", t.ByteWidth)
		}
	case *arrow.DictionaryType:
		return measured(t.ValueType)
	case *arrow.RunEndEncodedType:
		return measured(t.Encoded())
	case arrow.NestedType:
		if l, is := t.(*arrow.FixedSizeListType); is && l.Len() < 0 {
			return fmt.Errorf("lists of %d values", l.Len())
		}
		for _, f := range t.Fields() {
			if err := measured(f.Type); err != nil {
				return fmt.Errorf("%q: %w", f.Name, err)
			}
		}
	}
	return nil
}
