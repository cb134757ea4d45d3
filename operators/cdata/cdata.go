// Package cdata takes record batches from another language in the same process, and gives them back, without a copy: by Arrow's C stream
// interface, as pyarrow, Polars, DuckDB, nanoarrow and others speak it. It needs cgo.
//
//	source, err := cdata.Import(stream)   // struct ArrowArrayStream *
//	report, err := chain.Run(ctx, source, collected, operators.Options{})
//	cdata.Export(collected.Schema(), collected.Records(), out)
package cdata

/*
#include "stream.h"
*/
import "C"

import (
	"errors"
	"fmt"
	"syscall"
	"unsafe"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/cdata"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"microrisk/operators"
)

// Import takes all batches of a stream (struct ArrowArrayStream *), which it takes over: it is released when Import returns, whatever comes of it, and
// the memory of each batch when the source is. Columns of views of text become plain ones. A stream that was read before is an error.
func Import(stream unsafe.Pointer) (_ *operators.Records, err error) {
	s := (*C.struct_ArrowArrayStream)(stream)
	if s == nil || s.release == nil {
		return nil, errors.New("the stream of record batches is not there any more: it was read before, or released")
	}
	defer C.microrisk_stream_release(s)
	schema, err := schemaOf(s)
	if err != nil {
		return nil, err
	}
	plain, views := withoutViews(schema)
	read := &batches{stream: s, schema: schema, plain: plain, views: views}
	return operators.NewRecords(operators.ReadBatches(read))
}

// schemaOf is that of a stream.
func schemaOf(s *C.struct_ArrowArrayStream) (*arrow.Schema, error) {
	c := (*C.struct_ArrowSchema)(C.calloc(1, C.sizeof_struct_ArrowSchema))
	defer C.free(unsafe.Pointer(c))
	if code := C.microrisk_stream_schema(s, c); code != 0 {
		return nil, failed(s, "the schema of the record batches", code)
	}
	defer C.microrisk_schema_release(c)
	if c.format == nil || C.GoString(c.format) != "+s" {
		return nil, errors.New("the stream has no record batches: its schema is not that of a struct of columns")
	}
	var schema *arrow.Schema
	err := trying(func() (err error) {
		schema, err = cdata.ImportCArrowSchema(cdata.SchemaFromPtr(uintptr(unsafe.Pointer(c))))
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("the schema of the record batches cannot be taken: %w", err)
	}
	if err := measured(arrow.StructOf(schema.Fields()...)); err != nil {
		return nil, fmt.Errorf("the schema of the record batches cannot be taken: %w", err)
	}
	return schema, nil
}

// trying makes a panic, by which the library may answer what is not as it should be, an error.
func trying(do func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("a format or memory that is not as Arrow has it: %v", p)
		}
	}()
	return do()
}

// failed says what the stream says of an error.
func failed(s *C.struct_ArrowArrayStream, what string, code C.int) error {
	text := ""
	if said := C.microrisk_stream_error(s); said != nil {
		text = ": " + C.GoString(said)
	}
	return fmt.Errorf("%s cannot be read: %w%s", what, syscall.Errno(code), text)
}

// batches are those of a stream.
type batches struct {
	stream *C.struct_ArrowArrayStream
	schema *arrow.Schema
	plain  *arrow.Schema
	views  []int // columns of views
	number int
}

// Schema is a Batches'.
func (b *batches) Schema() *arrow.Schema { return b.plain }

// Close is a Batches'.
func (b *batches) Close() {}

// Next is a Batches'. Batches without rows are passed over: hosts leave out buffers of them.
func (b *batches) Next() (arrow.Record, error) {
	for {
		r, empty, err := b.next()
		if err != nil || !empty {
			return r, err
		}
	}
}

// next is the next batch; empty: it has no rows, and is nil.
func (b *batches) next() (_ arrow.Record, empty bool, _ error) {
	c := (*C.struct_ArrowArray)(C.calloc(1, C.sizeof_struct_ArrowArray))
	defer C.free(unsafe.Pointer(c))
	what := fmt.Sprintf("record batch %d", b.number)
	if code := C.microrisk_stream_next(b.stream, c); code != 0 {
		return nil, false, failed(b.stream, what, code)
	}
	if c.release == nil {
		return nil, false, nil
	}
	defer C.microrisk_array_release(c) // what is taken over is not in it any more
	b.number++
	if c.length == 0 {
		return nil, true, nil
	}
	t := arrow.StructOf(b.schema.Fields()...)
	if err := sound(c, t); err != nil {
		return nil, false, fmt.Errorf("%s is not as Arrow has it: %w", what, err)
	}
	var a arrow.Array
	err := trying(func() (err error) {
		a, err = cdata.ImportCArrayWithType(cdata.ArrayFromPtr(uintptr(unsafe.Pointer(c))), t)
		return err
	})
	if err != nil {
		return nil, false, fmt.Errorf("%s cannot be taken: %w", what, err)
	}
	defer a.Release()
	rows := a.(*array.Struct)
	if rows.NullN() > 0 {
		return nil, false, fmt.Errorf("%s has rows that are null altogether, which a table has not", what)
	}
	columns := make([]arrow.Array, rows.NumField())
	for i := range columns {
		columns[i] = rows.Field(i)
	}
	for _, i := range b.views {
		columns[i] = ofViews(columns[i])
		defer columns[i].Release()
	}
	return array.NewRecord(b.plain, columns, int64(rows.Len())), false, nil
}

// withoutViews is a schema whose views of text are plain columns.
func withoutViews(s *arrow.Schema) (*arrow.Schema, []int) {
	fields := s.Fields()
	var views []int
	for i, f := range fields {
		switch f.Type.ID() {
		case arrow.STRING_VIEW:
			fields[i].Type, views = arrow.BinaryTypes.String, append(views, i)
		case arrow.BINARY_VIEW:
			fields[i].Type, views = arrow.BinaryTypes.Binary, append(views, i)
		}
	}
	metadata := s.Metadata()
	return arrow.NewSchema(fields, &metadata), views
}

// ofViews is a plain column of one of views.
func ofViews(a arrow.Array) arrow.Array {
	if v, ok := a.(*array.StringView); ok {
		b := array.NewStringBuilder(memory.DefaultAllocator)
		defer b.Release()
		b.Reserve(v.Len())
		for i := range v.Len() {
			if v.IsNull(i) {
				b.AppendNull()
			} else {
				b.Append(v.Value(i))
			}
		}
		return b.NewArray()
	}
	v := a.(*array.BinaryView)
	b := array.NewBinaryBuilder(memory.DefaultAllocator, arrow.BinaryTypes.Binary)
	defer b.Release()
	b.Reserve(v.Len())
	for i := range v.Len() {
		if v.IsNull(i) {
			b.AppendNull()
		} else {
			b.Append(v.Value(i))
		}
	}
	return b.NewArray()
}

// Export makes a stream (struct ArrowArrayStream *, of which nothing is read) of records, which it retains until the stream and its batches are
// released.
func Export(schema *arrow.Schema, records []arrow.Record, out unsafe.Pointer) error {
	*(*C.struct_ArrowArrayStream)(out) = C.struct_ArrowArrayStream{}
	list := make([]arrow.Record, len(records))
	for i, r := range records {
		list[i] = wholeStructs(r)
		defer list[i].Release()
	}
	reader, err := array.NewRecordReader(schema, list)
	if err != nil {
		return err
	}
	defer reader.Release() // the stream retains it
	cdata.ExportRecordReader(reader, (*cdata.CArrowArrayStream)(out))
	return nil
}

// Release releases a stream (struct ArrowArrayStream *) that nobody reads.
func Release(stream unsafe.Pointer) {
	if s := (*C.struct_ArrowArrayStream)(stream); s != nil && s.release != nil {
		C.microrisk_stream_release(s)
	}
}
