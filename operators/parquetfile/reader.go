package parquetfile

import (
	"context"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"microrisk/operators"
	"microrisk/schemas"
)

// batchRows is the number of rows of a batch when the caller leaves it to the reader.
const batchRows = 1 << 16

// batchBytes bounds the text of a batch, so that columns of long texts do not pass what an Arrow array can hold.
const batchBytes = 1 << 28

// A columnReader makes arrays of consecutive rows of one column chunk.
type columnReader interface {
	read(n int) (arrow.Array, error)
	close()
}

// rows are the wanted columns of one row group.
type rows struct {
	ctx     context.Context
	part    *part
	schema  *arrow.Schema
	columns []columnReader
	from    int64 // rows of the group before these
	left    int64
	batch   int64
}

// Read gives the wanted columns in batches. Nested columns, names that not all inputs have and names that a file has twice are
// errors. A damaged file is an error of the reader at the latest when the rows before have been read.
func (p *part) Read(ctx context.Context, mem memory.Allocator, want []operators.Want, batch int) (array.RecordReader, error) {
	p.expect(want)
	return p.read(ctx, mem, want, batch, 0, p.rows)
}

// read gives the wanted columns of some rows.
func (p *part) read(ctx context.Context, mem memory.Allocator, want []operators.Want, batch int, from, n int64) (array.RecordReader, error) {
	r := &rows{ctx: ctx, part: p, from: from, left: n, batch: int64(batch)}
	if batch <= 0 {
		r.batch = batchRows
	}
	fields := make([]arrow.Field, len(want))
	for i, w := range want {
		err := guard(func() error {
			column, field, err := r.open(mem, w, len(want))
			if err == nil {
				fields[i] = field
				r.columns = append(r.columns, column)
			}
			return err
		})
		if err != nil {
			r.Close()
			return nil, schemas.InColumn(p.Location(), w.Name, err)
		}
	}
	r.schema = arrow.NewSchema(fields, nil)
	return operators.ReadBatches(r), nil
}

func (r *rows) open(mem memory.Allocator, w operators.Want, several int) (columnReader, arrow.Field, error) {
	field, err := r.part.source.field(w.Name)
	if err != nil {
		return nil, field, err
	}
	column := r.part.file.column(w.Name)
	if column.nested {
		return nil, field, fmt.Errorf("it is nested (%s), only flat columns can be read", typeName(column.arrow))
	}
	if w.Coded && !operators.HasEquality(field.Type) {
		return nil, field, fmt.Errorf("values of type %s cannot be compared", typeName(field.Type))
	}
	chunk, err := newChunkReader(r.part, column, newConversion(column, field.Type), several)
	if err == nil && r.from > 0 {
		if err = chunk.skip(r.from); err != nil {
			chunk.close()
		}
	}
	if err != nil {
		return nil, field, err
	}
	if !w.Coded {
		if n := r.part.bytesPerRow(column.leaf); n > 0 && n*r.batch > batchBytes {
			r.batch = max(batchBytes/n, 1)
		}
		return &plainColumn{chunk: chunk, mem: mem, t: field.Type}, field, nil
	}
	t := operators.CodedType(field.Type)
	field.Type = t
	return &codedColumn{chunk: chunk, mem: mem, t: t}, field, nil
}

// guard turns a panic into an error: of damage where it is the library's, which damaged files can bring about.
func guard(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = operators.Recovered(p, fmt.Errorf("the file is damaged: %v", p))
		}
	}()
	return f()
}

// Close is a Batches'.
func (r *rows) Close() {
	for _, c := range r.columns {
		c.close()
	}
}

// Schema is a Batches'.
func (r *rows) Schema() *arrow.Schema { return r.schema }

// Next is a Batches'.
func (r *rows) Next() (arrow.Record, error) {
	if r.left == 0 {
		return nil, nil
	}
	if err := r.ctx.Err(); err != nil {
		return nil, err
	}
	n := min(r.left, r.batch)
	arrays := make([]arrow.Array, 0, len(r.columns))
	defer func() {
		for _, a := range arrays {
			a.Release()
		}
	}()
	for i, c := range r.columns {
		err := guard(func() error {
			a, err := c.read(int(n))
			if err == nil {
				arrays = append(arrays, a)
			}
			return err
		})
		if err != nil {
			return nil, schemas.InColumn(r.part.Location(), r.schema.Field(i).Name, err)
		}
	}
	r.left -= n
	return array.NewRecord(r.schema, arrays, n), nil
}
