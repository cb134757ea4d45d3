package parquetfile

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strconv"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"

	"microrisk/operators"
)

const (
	// pieceRows are handed to the library at a time, whatever the batches are: its pages end between pieces, so that the bytes
	// do not depend on the batch size.
	pieceRows = 4096
	// maxGroupRows is where a row group ends when the input has none.
	maxGroupRows = 1 << 18
	// dictionaryBytes is the size at which a column gives its dictionary up.
	dictionaryBytes = 1 << 20
)

// An encoder makes column chunks of Arrow arrays: the library writes them to a small file in memory, which is taken apart again.
type encoder struct {
	columns  []*encodedColumn
	writer   *parquet.GenericWriter[any]
	writers  []*parquet.ColumnWriter
	buffer   bytes.Buffer
	staged   int        // rows in the columns' staged values
	rows     int64      // in the current row group
	maxGroup int64      // rows of a row group, 0 for no limit
	full     []*encoded // row groups that reached it
	schema   *parquet.Schema
	codec    compress.Codec
}

// An encodedColumn is a column that is made here.
type encodedColumn struct {
	field    arrow.Field
	format   columnFormat
	values   []parquet.Value // staged
	position int
}

// encoded is what an encoder made: a small file.
type encoded struct {
	data   []byte
	footer *footer
}

func newEncoder(fields []arrow.Field, formats []columnFormat, codec compress.Codec, maxGroup int64) *encoder {
	e := &encoder{maxGroup: maxGroup}
	group := parquet.Group{}
	for i, f := range fields {
		group[fmt.Sprintf("c%06d", i)] = formats[i].node // the library sorts columns by name
		e.columns = append(e.columns, &encodedColumn{field: f, format: formats[i], position: i})
	}
	e.schema, e.codec = parquet.NewSchema("schema", group), codec
	e.open()
	return e
}

// open starts a small file.
func (e *encoder) open() {
	e.buffer = bytes.Buffer{}
	e.writer = parquet.NewGenericWriter[any](&e.buffer, e.schema, parquet.Compression(e.codec),
		parquet.DictionaryMaxBytes(dictionaryBytes), parquet.CreatedBy("microrisk", "1", "0"))
	e.writers = e.writer.ColumnWriters()
}

// write appends the rows of a batch that keep tells, nil for all; arrays has one array a column.
func (e *encoder) write(arrays []arrow.Array, rows int, keep *operators.Bitmap) error {
	readers, err := e.readers(arrays, rows)
	if err != nil {
		return err
	}
	for from := 0; from < rows; {
		to := min(rows, from+pieceRows-e.staged)
		n := to - from
		if keep != nil {
			n = 0
			for i := from; i < to; i++ {
				if keep.Get(i) {
					n++
				}
			}
		}
		for k, c := range e.columns {
			if err := c.stage(readers[k], from, to, keep); err != nil {
				return err
			}
		}
		e.staged += n
		if e.staged == pieceRows {
			if err := e.flush(); err != nil {
				return err
			}
		}
		from = to
	}
	for _, c := range e.columns { // what waits must not point into the arrays
		for i := range c.values {
			if k := c.values[i].Kind(); k == parquet.ByteArray || k == parquet.FixedLenByteArray {
				c.values[i] = c.values[i].Clone()
			}
		}
	}
	return nil
}

func (e *encoder) readers(arrays []arrow.Array, rows int) ([]valueReader, error) {
	readers := make([]valueReader, len(arrays))
	for i, a := range arrays {
		c := e.columns[i]
		if !arrow.TypeEqual(a.DataType(), c.field.Type) && !codes(a.DataType(), c.field.Type) {
			return nil, fmt.Errorf("column %q: a batch has type %s, not %s", c.field.Name, a.DataType(), c.field.Type)
		}
		if a.Len() != rows {
			return nil, fmt.Errorf("column %q: a batch has %d values for %d rows", c.field.Name, a.Len(), rows)
		}
		r, err := c.format.reader(a)
		if err != nil {
			return nil, fmt.Errorf("column %q: %w", c.field.Name, err)
		}
		readers[i] = r
	}
	return readers, nil
}

// codes tells whether a batch of type t has coded values of the column's type, as operators give them.
func codes(t, column arrow.DataType) bool {
	d, ok := t.(*arrow.DictionaryType)
	return ok && arrow.TypeEqual(d.ValueType, column)
}

func (c *encodedColumn) stage(read valueReader, from, to int, keep *operators.Bitmap) error {
	var err error
	for i := from; i < to; i++ {
		if keep != nil && !keep.Get(i) {
			continue
		}
		if c.values, err = read(c.values, i, c.position); err != nil {
			return fmt.Errorf("column %q: %w", c.field.Name, err)
		}
	}
	return nil
}

func (e *encoder) flush() error {
	for k, c := range e.columns {
		if n, err := e.writers[k].WriteRowValues(c.values); err != nil {
			return fmt.Errorf("column %q: %w", c.field.Name, err)
		} else if n != e.staged {
			return fmt.Errorf("column %q: %d of %d rows were encoded", c.field.Name, n, e.staged)
		}
		clear(c.values)
		c.values = c.values[:0]
	}
	e.rows += int64(e.staged)
	e.staged = 0
	if e.maxGroup == 0 || e.rows < e.maxGroup {
		return nil
	}
	group, err := e.finish()
	if err != nil {
		return err
	}
	e.full, e.rows = append(e.full, group), 0
	e.open()
	return nil
}

// takeFull hands over the row groups that are full.
func (e *encoder) takeFull() []*encoded {
	full := e.full
	e.full = nil
	return full
}

// finish ends the small file and takes it apart. Without rows there are no row groups.
func (e *encoder) finish() (*encoded, error) {
	if e.staged > 0 {
		if err := e.flush(); err != nil {
			return nil, err
		}
	}
	if err := e.writer.Close(); err != nil {
		return nil, err
	}
	return openEncoded(e.buffer.Bytes())
}

func openEncoded(data []byte) (*encoded, error) {
	length := int(binary.LittleEndian.Uint32(data[len(data)-8:]))
	f, err := parseFooter(data[len(data)-8-length:len(data)-8], maxPageBytes)
	if err != nil {
		return nil, err
	}
	f.start = int64(len(data) - 8 - length)
	return &encoded{data, f}, nil
}

// columnElements are the schema elements of the columns, with their own names.
func (e *encoded) columnElements(fields []arrow.Field, formats []columnFormat) [][]thriftValue {
	all := e.footer.top.field(footerSchema).kids
	w := schemaWalk{elements: all, next: 1}
	out := make([][]thriftValue, len(fields))
	for i := range fields {
		from := w.next
		w.nested()
		list := append([]thriftValue(nil), all[from:w.next]...)
		first := &list[0]
		first.ids, first.kids = append([]int16(nil), first.ids...), append([]thriftValue(nil), first.kids...)
		first.set(elementName, thriftText(fields[i].Name))
		if at := fields[i].Metadata.FindKey(fieldIDKey); at >= 0 {
			if id, err := strconv.ParseInt(fields[i].Metadata.Values()[at], 10, 32); err == nil {
				first.set(elementField, thriftInt(thriftI32, id))
			}
		}
		if l := formats[i].logical; l != 0 {
			first.remove(6)
			first.set(10, thriftValue{kind: thriftStruct, ids: []int16{int16(l)}, kids: []thriftValue{{kind: thriftStruct}}})
		}
		out[i] = list
	}
	return out
}
