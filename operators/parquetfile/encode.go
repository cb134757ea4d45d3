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

// An encoder makes column chunks of Arrow arrays. Columns of numbers are encoded here; of the others, the library writes a small file in
// memory, which is taken apart again.
type encoder struct {
	columns  []*encodedColumn
	others   []*encodedColumn // those of columns that the library encodes
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
	numbers  numberColumn    // nil for one that the library encodes
	values   []parquet.Value // staged
	position int             // among those of the library
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
		c := &encodedColumn{field: f, format: formats[i], numbers: newNumberColumn(f.Type, codec), position: len(e.others)}
		e.columns = append(e.columns, c)
		if c.numbers == nil {
			group[columnName(len(e.others))] = c.format.node
			e.others = append(e.others, c)
		}
	}
	e.schema, e.codec = parquet.NewSchema("schema", group), codec
	e.open()
	return e
}

// columnName is a name in the library's files: it sorts columns by name.
func columnName(i int) string { return fmt.Sprintf("c%06d", i) }

// open starts a small file.
func (e *encoder) open() {
	if len(e.others) == 0 {
		return
	}
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
			if c.numbers == nil {
				err = c.stage(readers[k], from, to, keep)
			} else if err = c.numbers.add(arrays[k], from, to, keep); err != nil {
				err = fmt.Errorf("column %q: %w", c.field.Name, err)
			}
			if err != nil {
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
	for _, c := range e.others { // what waits must not point into the arrays
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
		if c.numbers != nil {
			continue
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
	for k, c := range e.others {
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

// finish ends the row group. Without rows there is none.
func (e *encoder) finish() (*encoded, error) {
	if e.staged > 0 {
		if err := e.flush(); err != nil {
			return nil, err
		}
	}
	made := &encoded{data: []byte(magic), footer: &footer{limit: maxPageBytes}}
	if len(e.others) > 0 {
		if err := e.writer.Close(); err != nil {
			return nil, err
		}
		var err error
		if made, err = openEncoded(e.buffer.Bytes()); err != nil {
			return nil, err
		}
	}
	if e.rows == 0 {
		return made, nil
	}
	return made, e.join(made)
}

// join puts the chunks of numbers behind what the library has made, all in the order of the columns.
func (e *encoder) join(made *encoded) error {
	group, others := thriftValue{kind: thriftStruct}, []thriftValue(nil)
	if len(e.others) > 0 {
		var err error
		if others, err = made.chunks(0); err != nil {
			return err
		}
	}
	chunks := thriftValue{kind: thriftList, elem: thriftStruct}
	for _, c := range e.columns {
		if c.numbers == nil {
			chunks.kids = append(chunks.kids, others[c.position])
			continue
		}
		data, chunk, err := c.numbers.finish(made.data)
		if err != nil {
			return fmt.Errorf("column %q: %w", c.field.Name, err)
		}
		made.data = data
		chunks.kids = append(chunks.kids, chunk)
	}
	group.set(groupColumns, chunks)
	group.set(groupRows, thriftInt(thriftI64, e.rows))
	made.footer.groups, made.footer.start = [][]byte{group.append(nil)}, int64(len(made.data))
	return nil
}

// schemaOf is the footer of a file with all columns, as the library describes them.
func schemaOf(fields []arrow.Field, formats []columnFormat) (*encoded, error) {
	group := parquet.Group{}
	for i := range fields {
		group[columnName(i)] = formats[i].node
	}
	var b bytes.Buffer
	if err := parquet.NewGenericWriter[any](&b, parquet.NewSchema("schema", group), parquet.CreatedBy("microrisk", "1", "0")).Close(); err != nil {
		return nil, err
	}
	return openEncoded(b.Bytes())
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
