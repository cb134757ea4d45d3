package cdata

import (
	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/bitutil"
	"github.com/apache/arrow/go/v17/arrow/memory"
)

// wholeStructs is a record in which no struct begins within its fields: the library exports the fields of such a struct from its first row on, and the
// offset once more. The caller releases it.
func wholeStructs(r arrow.Record) arrow.Record {
	columns := make([]arrow.Array, r.NumCols())
	for i, c := range r.Columns() {
		data, changed := whole(c.Data())
		if !changed {
			c.Retain()
			columns[i] = c
			continue
		}
		columns[i] = array.MakeFromData(data)
		data.Release()
	}
	out := array.NewRecord(r.Schema(), columns, r.NumRows())
	for _, c := range columns {
		c.Release()
	}
	return out
}

// whole is an array without structs that begin within their fields; changed tells whether it is another one, which the caller releases.
func whole(d arrow.ArrayData) (_ arrow.ArrayData, changed bool) {
	if len(d.Children()) == 0 {
		return d, false
	}
	within := d.DataType().ID() == arrow.STRUCT && d.Offset() > 0
	children := make([]arrow.ArrayData, len(d.Children()))
	var made []arrow.ArrayData
	for i, c := range d.Children() {
		if within {
			c = array.NewSliceData(c, int64(d.Offset()), int64(d.Offset()+d.Len()))
			made = append(made, c)
		}
		child, other := whole(c)
		if children[i] = child; other {
			made = append(made, child)
		}
	}
	defer func() {
		for _, m := range made {
			m.Release()
		}
	}()
	switch {
	case len(made) == 0:
		return d, false
	case !within:
		return array.NewData(d.DataType(), d.Len(), d.Buffers(), children, d.NullN(), d.Offset()), true
	}
	valid := d.Buffers()[0]
	if valid != nil {
		bits := make([]byte, bitutil.BytesForBits(int64(d.Len())))
		bitutil.CopyBitmap(valid.Bytes(), d.Offset(), d.Len(), bits, 0)
		valid = memory.NewBufferBytes(bits)
	}
	return array.NewData(d.DataType(), d.Len(), []*memory.Buffer{valid}, children, d.NullN(), 0), true
}
