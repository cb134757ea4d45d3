package operators

import (
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
)

// Assemble makes a record of the output from what a PartWriter is given: the columns that the sink reads and those that are added,
// in the order and of the types of the output, without the rows that leave. The caller releases it.
func Assemble(mem memory.Allocator, schema *arrow.Schema, out []Output, rows arrow.Record, added []arrow.Array, keep *Bitmap) (arrow.Record, error) {
	columns := make([]arrow.Array, 0, len(out))
	defer func() {
		for _, c := range columns {
			c.Release()
		}
	}()
	read, made := 0, 0
	for i, o := range out {
		var a arrow.Array
		if o.Input {
			a = rows.Column(read)
			read++
		} else {
			a = added[made]
			made++
		}
		c, err := as(mem, a, schema.Field(i).Type)
		if err != nil {
			return nil, fmt.Errorf("column %q: %w", o.Field.Name, err)
		}
		if keep != nil {
			kept, err := keepRows(mem, c, keep)
			c.Release()
			if err != nil {
				return nil, fmt.Errorf("column %q: %w", o.Field.Name, err)
			}
			c = kept
		}
		columns = append(columns, c)
	}
	n := rows.NumRows()
	if keep != nil {
		n = int64(keep.Count())
	}
	return array.NewRecord(schema, columns, n), nil
}

// as gives an array as the type: a dictionary as its values if the type is not a dictionary.
func as(mem memory.Allocator, a arrow.Array, t arrow.DataType) (arrow.Array, error) {
	d, ok := a.(*array.Dictionary)
	if !ok || t.ID() == arrow.DICTIONARY {
		a.Retain()
		return a, nil
	}
	return Plain(mem, d)
}

// Plain gives the values of a dictionary array, row by row.
func Plain(mem memory.Allocator, d *array.Dictionary) (arrow.Array, error) {
	values := d.Dictionary()
	b := array.NewBuilder(mem, values.DataType())
	defer b.Release()
	b.Reserve(d.Len())
	add, err := copier(b, values)
	if err != nil {
		return nil, err
	}
	for i := range d.Len() {
		if d.IsNull(i) {
			b.AppendNull()
			continue
		}
		k := d.GetValueIndex(i)
		if k < 0 || k >= values.Len() {
			return nil, fmt.Errorf("dictionary index %d is beyond the dictionary of %d values", k, values.Len())
		}
		add(k)
	}
	return b.NewArray(), nil
}

// keepRows gives the rows of an array whose bit is set.
func keepRows(mem memory.Allocator, a arrow.Array, keep *Bitmap) (arrow.Array, error) {
	var pieces []arrow.Array
	defer func() {
		for _, p := range pieces {
			p.Release()
		}
	}()
	if arrow.IsNested(a.DataType().ID()) || a.DataType().ID() == arrow.DICTIONARY {
		for from := 0; from < a.Len(); {
			if !keep.Get(from) {
				from++
				continue
			}
			to := from
			for to < a.Len() && keep.Get(to) {
				to++
			}
			pieces = append(pieces, array.NewSlice(a, int64(from), int64(to)))
			from = to
		}
		if len(pieces) == 0 {
			return array.NewSlice(a, 0, 0), nil
		}
		return array.Concatenate(pieces, mem)
	}
	b := array.NewBuilder(mem, a.DataType())
	defer b.Release()
	add, err := copier(b, a)
	if err != nil {
		return nil, err
	}
	b.Reserve(keep.Count())
	for i := range a.Len() {
		if keep.Get(i) {
			add(i)
		}
	}
	return b.NewArray(), nil
}

// copier appends a value of an array, null or not, to a builder of the same type.
func copier(b array.Builder, a arrow.Array) (func(i int), error) {
	switch a := a.(type) {
	case *array.String:
		return copyInto(b.(*array.StringBuilder), a), nil
	case *array.LargeString:
		return copyInto(b.(*array.LargeStringBuilder), a), nil
	case *array.Binary:
		return copyInto(b.(*array.BinaryBuilder), a), nil
	case *array.LargeBinary:
		return copyInto(b.(*array.BinaryBuilder), a), nil
	case *array.FixedSizeBinary:
		return copyInto(b.(*array.FixedSizeBinaryBuilder), a), nil
	case *array.Boolean:
		return copyInto(b.(*array.BooleanBuilder), a), nil
	case *array.Int8:
		return copyInto(b.(*array.Int8Builder), a), nil
	case *array.Int16:
		return copyInto(b.(*array.Int16Builder), a), nil
	case *array.Int32:
		return copyInto(b.(*array.Int32Builder), a), nil
	case *array.Int64:
		return copyInto(b.(*array.Int64Builder), a), nil
	case *array.Uint8:
		return copyInto(b.(*array.Uint8Builder), a), nil
	case *array.Uint16:
		return copyInto(b.(*array.Uint16Builder), a), nil
	case *array.Uint32:
		return copyInto(b.(*array.Uint32Builder), a), nil
	case *array.Uint64:
		return copyInto(b.(*array.Uint64Builder), a), nil
	case *array.Float16:
		return copyInto(b.(*array.Float16Builder), a), nil
	case *array.Float32:
		return copyInto(b.(*array.Float32Builder), a), nil
	case *array.Float64:
		return copyInto(b.(*array.Float64Builder), a), nil
	case *array.Decimal128:
		return copyInto(b.(*array.Decimal128Builder), a), nil
	case *array.Decimal256:
		return copyInto(b.(*array.Decimal256Builder), a), nil
	case *array.Date32:
		return copyInto(b.(*array.Date32Builder), a), nil
	case *array.Date64:
		return copyInto(b.(*array.Date64Builder), a), nil
	case *array.Time32:
		return copyInto(b.(*array.Time32Builder), a), nil
	case *array.Time64:
		return copyInto(b.(*array.Time64Builder), a), nil
	case *array.Timestamp:
		return copyInto(b.(*array.TimestampBuilder), a), nil
	case *array.Duration:
		return copyInto(b.(*array.DurationBuilder), a), nil
	case *array.MonthInterval:
		return copyInto(b.(*array.MonthIntervalBuilder), a), nil
	case *array.DayTimeInterval:
		return copyInto(b.(*array.DayTimeIntervalBuilder), a), nil
	case *array.MonthDayNanoInterval:
		return copyInto(b.(*array.MonthDayNanoIntervalBuilder), a), nil
	case *array.Null:
		return func(int) { b.AppendNull() }, nil
	}
	return nil, fmt.Errorf("values of type %s cannot be copied", a.DataType())
}

type valueBuilder[T any] interface {
	Append(T)
	AppendNull()
}

type valueArray[T any] interface {
	Len() int
	IsNull(int) bool
	Value(int) T
}

func copyInto[T any](b valueBuilder[T], a valueArray[T]) func(i int) {
	return func(i int) {
		if a.IsNull(i) {
			b.AppendNull()
		} else {
			b.Append(a.Value(i))
		}
	}
}
