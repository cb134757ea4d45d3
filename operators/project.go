package operators

import (
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
)

// Project gives the wanted columns of a record, in that order, coded where that is asked for. The caller releases it.
func Project(mem memory.Allocator, r arrow.Record, want []Want) (_ arrow.Record, err error) {
	defer func() {
		if x := recover(); x != nil {
			err = Recovered(x, errDecode)
		}
	}()
	fields, columns := make([]arrow.Field, 0, len(want)), make([]arrow.Array, 0, len(want))
	defer func() {
		for _, c := range columns {
			c.Release()
		}
	}()
	for _, w := range want {
		at := r.Schema().FieldIndices(w.Name)
		if len(at) == 0 {
			return nil, fmt.Errorf("there is no column %q", w.Name)
		}
		a := r.Column(at[0])
		a.Retain()
		if w.Coded {
			d, err := Code(mem, a)
			a.Release()
			if err != nil {
				return nil, fmt.Errorf("column %q: %w", w.Name, err)
			}
			a = d
		}
		columns = append(columns, a)
		fields = append(fields, arrow.Field{Name: w.Name, Type: a.DataType(), Nullable: true})
	}
	return array.NewRecord(arrow.NewSchema(fields, nil), columns, r.NumRows()), nil
}

// ReadRecord reads the wanted columns of a record, in batches of at most batch rows (0: all at once).
func ReadRecord(mem memory.Allocator, r arrow.Record, want []Want, batch int) (array.RecordReader, error) {
	p, err := Project(mem, r, want)
	if err != nil {
		return nil, err
	}
	defer p.Release()
	pieces := cut(p, batch)
	defer func() {
		for _, piece := range pieces {
			piece.Release()
		}
	}()
	return array.NewRecordReader(p.Schema(), pieces)
}

// cut cuts a record into batches.
func cut(r arrow.Record, batch int) []arrow.Record {
	size := int64(batch)
	if size <= 0 {
		size = max(r.NumRows(), 1)
	}
	var out []arrow.Record
	for from := int64(0); from < r.NumRows(); from += size {
		out = append(out, r.NewSlice(from, min(from+size, r.NumRows())))
	}
	return out
}

// ReadAll reads the wanted columns of all records of a reader, in batches of at most batch rows (0: as they come). It takes the
// reader over; panics of the reader become errors.
func ReadAll(mem memory.Allocator, reader array.RecordReader, want []Want, batch int) (array.RecordReader, error) {
	return ReadBatches(&projected{mem: mem, reader: reader, want: want, batch: batch}), nil
}
