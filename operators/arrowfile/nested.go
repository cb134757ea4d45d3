package arrowfile

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
)

// nested loads the buffers and children of a nested array, after the bitmap of its nulls.
func (l *loader) nested(t arrow.DataType, ids fieldIDs, n node) (buffers []*memory.Buffer, children []arrow.ArrayData, err error) {
	child := func(k int, field arrow.DataType, least int64) (arrow.ArrayData, error) {
		d, err := l.data(field, ids.child(k))
		if err == nil && d != nil && int64(d.Len()) < least {
			err = fmt.Errorf("it needs %d values within, there are %d", least, d.Len())
		}
		return d, err
	}
	switch t := t.(type) {
	case *arrow.StructType:
		for k, f := range t.Fields() {
			d, err := child(k, f.Type, n.length)
			if err != nil {
				return nil, nil, err
			}
			children = append(children, d)
		}
		return nil, children, nil
	case *arrow.FixedSizeListType:
		if n.length > 0 && int64(t.Len()) > (1<<62)/n.length {
			return nil, nil, errors.New("its lists are too long")
		}
		d, err := child(0, t.Elem(), n.length*int64(t.Len()))
		return nil, []arrow.ArrayData{d}, err
	case *arrow.ListType, *arrow.LargeListType, *arrow.MapType:
		offsets, width, err := l.offsets(t.ID() == arrow.LARGE_LIST, n.length)
		if err != nil {
			return nil, nil, err
		}
		d, err := child(0, elem(t), 0)
		if err == nil && d != nil {
			err = checkOffsets(offsets.Bytes(), width, n.length, int64(d.Len()))
		}
		return []*memory.Buffer{offsets}, []arrow.ArrayData{d}, err
	case *arrow.ListViewType, *arrow.LargeListViewType:
		width := int64(4)
		if t.ID() == arrow.LARGE_LIST_VIEW {
			width = 8
		}
		offsets, err := l.next(n.length * width)
		if err != nil {
			return nil, nil, err
		}
		sizes, err := l.next(n.length * width)
		if err != nil {
			return nil, nil, err
		}
		d, err := child(0, elem(t), 0)
		if err == nil && d != nil {
			err = checkViews(orEmpty(offsets).Bytes(), orEmpty(sizes).Bytes(), int(width), n.length, int64(d.Len()))
		}
		return []*memory.Buffer{orEmpty(offsets), orEmpty(sizes)}, []arrow.ArrayData{d}, err
	}
	return nil, nil, fmt.Errorf("columns of type %s are not read", t)
}

// elem is the type of the values in a list.
func elem(t arrow.DataType) arrow.DataType {
	if m, ok := t.(*arrow.MapType); ok {
		return m.Elem() // a struct of key and item
	}
	return t.(arrow.ListLikeType).Elem()
}

// checkViews finds lists that lie outside of their values.
func checkViews(offsets, sizes []byte, width int, length, limit int64) error {
	at := func(b []byte, i int) int64 {
		if width == 4 {
			return int64(int32(binary.LittleEndian.Uint32(b[4*i:])))
		}
		return int64(binary.LittleEndian.Uint64(b[8*i:]))
	}
	for i := range int(length) {
		if o, s := at(offsets, i), at(sizes, i); o < 0 || s < 0 || o > limit || s > limit-o {
			return fmt.Errorf("list %d would have %d values from %d on of %d", i, s, o, limit)
		}
	}
	return nil
}

// runs loads a run-end-encoded array.
func (l *loader) runs(t *arrow.RunEndEncodedType, ids fieldIDs, n node) (arrow.ArrayData, error) {
	ends, err := l.data(t.RunEnds(), ids.child(0))
	if err != nil {
		return nil, err
	}
	values, err := l.data(t.Encoded(), ids.child(1))
	if err != nil || l.skip {
		return nil, err
	}
	if ends.Len() != values.Len() || ends.NullN() > 0 {
		return nil, fmt.Errorf("it has %d runs and %d values", ends.Len(), values.Len())
	}
	a, last := array.MakeFromData(ends), int64(0)
	at := indexOf(a)
	for i := range a.Len() {
		end := at(i)
		if end <= last {
			return nil, fmt.Errorf("run %d ends at %d, the one before it at %d", i, end, last)
		}
		last = end
	}
	if last < n.length {
		return nil, fmt.Errorf("its runs end at %d of %d values", last, n.length)
	}
	return array.NewData(t, int(n.length), []*memory.Buffer{nil}, []arrow.ArrayData{ends, values}, 0, 0), nil
}

// union loads a union array.
func (l *loader) union(t arrow.UnionType, ids fieldIDs, n node) (arrow.ArrayData, error) {
	if l.batch.old {
		if _, err := l.next(0); err != nil { // a bitmap of nulls, which unions had once
			return nil, err
		}
		if n.nulls > 0 {
			return nil, errors.New("unions of metadata version 4 with nulls are not read")
		}
	}
	kinds, err := l.next(n.length)
	if err != nil {
		return nil, err
	}
	buffers := []*memory.Buffer{nil, orEmpty(kinds)}
	dense := t.Mode() == arrow.DenseMode
	if dense {
		offsets, err := l.next(4 * n.length)
		if err != nil {
			return nil, err
		}
		buffers = append(buffers, orEmpty(offsets))
	}
	var children []arrow.ArrayData
	for k, f := range t.Fields() {
		d, err := l.data(f.Type, ids.child(k))
		if err != nil {
			return nil, err
		}
		if d != nil && !dense && int64(d.Len()) < n.length {
			return nil, fmt.Errorf("it needs %d values within, there are %d", n.length, d.Len())
		}
		children = append(children, d)
	}
	if l.skip {
		return nil, nil
	}
	for i := range int(n.length) {
		k := slices.Index(t.TypeCodes(), int8(buffers[1].Bytes()[i]))
		if k < 0 {
			return nil, fmt.Errorf("value %d is of the unknown kind %d", i, int8(buffers[1].Bytes()[i]))
		}
		if dense {
			if at := int32(binary.LittleEndian.Uint32(buffers[2].Bytes()[4*i:])); at < 0 || int(at) >= children[k].Len() {
				return nil, fmt.Errorf("value %d lies outside of its values", i)
			}
		}
	}
	return array.NewData(t, int(n.length), buffers, children, 0, 0), nil
}
