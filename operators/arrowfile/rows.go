package arrowfile

import (
	"context"
	"errors"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"microrisk/operators"
	"microrisk/schemas"
)

// mostRows is how many rows a batch has at most: record batches may have any number.
const mostRows = 1 << 16

// rows are the wanted columns of some record batches.
type rows struct {
	ctx       context.Context
	mem       memory.Allocator
	content   *content
	where     string
	numbers   []int // of the record batches
	want      []operators.Want
	batch     int64
	columns   []arrow.Array // of the current record batch, as they were written, one for each wanted
	number    int
	count, at int64
}

// read reads the wanted columns of record batches, in batches of at most batch rows (0: as many as is good).
func (c *content) read(ctx context.Context, mem memory.Allocator, where string, numbers []int, want []operators.Want, batch int) (array.RecordReader, error) {
	for _, w := range want {
		if !c.schema.HasField(w.Name) {
			return nil, fmt.Errorf("%s: there is no column %q", where, w.Name)
		}
	}
	r := &rows{ctx: ctx, mem: mem, content: c, where: where, numbers: numbers, want: want, batch: int64(batch)}
	if batch <= 0 || batch > mostRows {
		r.batch = mostRows
	}
	return operators.ReadBatches(r), nil
}

// Close is a Batches'.
func (r *rows) Close() { r.columns = nil }

// Schema is a Batches'.
func (r *rows) Schema() *arrow.Schema {
	fields := make([]arrow.Field, len(r.want))
	for i, w := range r.want {
		f, _ := r.content.schema.FieldsByName(w.Name)
		fields[i] = f[0]
		if w.Coded {
			fields[i].Type = operators.CodedType(f[0].Type)
		}
	}
	return arrow.NewSchema(fields, nil)
}

// Next is a Batches'. Panics of the library, which checks less than is checked here, become errors.
func (r *rows) Next() (next arrow.Record, err error) {
	defer func() {
		if x := recover(); x != nil {
			next, err = nil, r.failed(operators.Recovered(x, errors.New("its columns do not decode")))
		}
	}()
	for r.at >= r.count {
		if len(r.numbers) == 0 {
			return nil, nil
		}
		if err := r.ctx.Err(); err != nil {
			return nil, err
		}
		if err := r.open(); err != nil {
			return nil, err
		}
	}
	from := r.at
	r.at = min(from+r.batch, r.count)
	return r.slice(from, r.at)
}

// failed says in which record batch an error is.
func (r *rows) failed(err error) error {
	return &schemas.InputError{Location: schemas.Location{File: r.where, Unit: "record batch", Number: int64(r.number)}, Err: err}
}

// open loads the next record batch.
func (r *rows) open() error {
	r.number, r.numbers, r.at = r.numbers[0], r.numbers[1:], 0
	wanted := map[string]bool{}
	for _, w := range r.want {
		wanted[w.Name] = true
	}
	columns, count, err := r.content.load(r.number, wanted)
	if err != nil {
		return r.failed(err)
	}
	r.columns, r.count = make([]arrow.Array, len(r.want)), count
	for i, w := range r.want {
		r.columns[i] = columns[r.content.native.FieldIndices(w.Name)[0]]
	}
	return nil
}

// slice makes some rows plain, and coded where that is wanted.
func (r *rows) slice(from, to int64) (arrow.Record, error) {
	columns := make([]arrow.Array, 0, len(r.want))
	defer func() {
		for _, c := range columns {
			c.Release()
		}
	}()
	room := r.content.most
	fields := make([]arrow.Field, len(r.want))
	for i, w := range r.want {
		part := array.NewSlice(r.columns[i], from, to)
		a, err := plain(r.mem, part, &room)
		part.Release()
		if err == nil && w.Coded {
			var d arrow.Array
			d, err = operators.Code(r.mem, a)
			a.Release()
			a = d
		}
		if errors.Is(err, errRoom) {
			err = tooLarge(r.content.most, r.content.most)
		}
		if err != nil {
			return nil, r.failed(schemas.InColumn(schemas.Location{}, w.Name, err))
		}
		columns = append(columns, a)
		fields[i] = arrow.Field{Name: w.Name, Type: a.DataType(), Nullable: true}
	}
	return array.NewRecord(arrow.NewSchema(fields, nil), columns, to-from), nil
}
