package operators

import (
	"fmt"
	"strconv"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/decimal128"
	"github.com/apache/arrow/go/v17/arrow/decimal256"
	"github.com/apache/arrow/go/v17/arrow/memory"
)

// HasEquality reports whether values of the type can be compared, so that a column of it can be a key variable: true for all
// but floating point, null and nested types.
func HasEquality(t arrow.DataType) bool {
	switch t.ID() {
	case arrow.DICTIONARY:
		return HasEquality(t.(*arrow.DictionaryType).ValueType)
	case arrow.FLOAT16, arrow.FLOAT32, arrow.FLOAT64, arrow.NULL, arrow.EXTENSION:
		return false
	}
	return !arrow.IsNested(t.ID())
}

// CodedType is the type of a column of type t when it is read coded.
func CodedType(t arrow.DataType) *arrow.DictionaryType {
	if d, ok := t.(*arrow.DictionaryType); ok {
		t = d.ValueType
	}
	return &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: t}
}

// Code makes a coded column of an array: a dictionary array as it is but with int32 indexes, any other by looking its values up.
// The type must have equality.
func Code(mem memory.Allocator, a arrow.Array) (*array.Dictionary, error) {
	if d, ok := a.(*array.Dictionary); ok {
		return widenIndexes(mem, d)
	}
	if !HasEquality(a.DataType()) {
		return nil, fmt.Errorf("a column of type %s cannot be coded", a.DataType())
	}
	index := array.NewInt32Builder(mem)
	defer index.Release()
	values := array.NewBuilder(mem, a.DataType())
	defer values.Release()
	index.Reserve(a.Len())
	if err := distinct(index, values, a); err != nil {
		return nil, err
	}
	i, v := index.NewArray(), values.NewArray()
	defer i.Release()
	defer v.Release()
	return array.NewDictionaryArray(CodedType(a.DataType()), i, v), nil
}

// distinct appends each row's place among the distinct values of an array to index, and these to values in the order in which
// they come.
func distinct(index *array.Int32Builder, values array.Builder, a arrow.Array) error {
	add, err := copier(values, a)
	if err != nil {
		return err
	}
	switch a := a.(type) {
	case *array.String:
		enumerate(index, a, add, func(s string) string { return s })
	case *array.LargeString:
		enumerate(index, a, add, func(s string) string { return s })
	case *array.Binary:
		enumerate(index, a, add, func(b []byte) string { return string(b) })
	case *array.LargeBinary:
		enumerate(index, a, add, func(b []byte) string { return string(b) })
	case *array.FixedSizeBinary:
		enumerate(index, a, add, func(b []byte) string { return string(b) })
	case *array.Boolean:
		enumerate(index, a, add, same[bool])
	case *array.Int8:
		enumerate(index, a, add, same[int8])
	case *array.Int16:
		enumerate(index, a, add, same[int16])
	case *array.Int32:
		enumerate(index, a, add, same[int32])
	case *array.Int64:
		enumerate(index, a, add, same[int64])
	case *array.Uint8:
		enumerate(index, a, add, same[uint8])
	case *array.Uint16:
		enumerate(index, a, add, same[uint16])
	case *array.Uint32:
		enumerate(index, a, add, same[uint32])
	case *array.Uint64:
		enumerate(index, a, add, same[uint64])
	case *array.Decimal128:
		enumerate(index, a, add, same[decimal128.Num])
	case *array.Decimal256:
		enumerate(index, a, add, same[decimal256.Num])
	case *array.Date32:
		enumerate(index, a, add, same[arrow.Date32])
	case *array.Date64:
		enumerate(index, a, add, same[arrow.Date64])
	case *array.Time32:
		enumerate(index, a, add, same[arrow.Time32])
	case *array.Time64:
		enumerate(index, a, add, same[arrow.Time64])
	case *array.Timestamp:
		enumerate(index, a, add, same[arrow.Timestamp])
	case *array.Duration:
		enumerate(index, a, add, same[arrow.Duration])
	case *array.MonthInterval:
		enumerate(index, a, add, same[arrow.MonthInterval])
	case *array.DayTimeInterval:
		enumerate(index, a, add, same[arrow.DayTimeInterval])
	case *array.MonthDayNanoInterval:
		enumerate(index, a, add, same[arrow.MonthDayNanoInterval])
	default:
		return fmt.Errorf("a column of type %s cannot be coded", a.DataType())
	}
	return nil
}

func same[T any](x T) T { return x }

// enumerate gives the distinct values of an array their numbers, by a comparable form of them.
func enumerate[T any, K comparable](index *array.Int32Builder, a valueArray[T], add func(i int), comparable func(T) K) {
	numbers := map[K]int32{}
	for i := range a.Len() {
		if a.IsNull(i) {
			index.UnsafeAppendBoolToBitmap(false)
			continue
		}
		k := comparable(a.Value(i))
		n, ok := numbers[k]
		if !ok {
			n = int32(len(numbers))
			numbers[k] = n
			add(i)
		}
		index.UnsafeAppend(n)
	}
}

func widenIndexes(mem memory.Allocator, d *array.Dictionary) (*array.Dictionary, error) {
	t := CodedType(d.DataType())
	if d.DataType().(*arrow.DictionaryType).IndexType.ID() == arrow.INT32 {
		d.Retain()
		return d, nil
	}
	b := array.NewInt32Builder(mem)
	defer b.Release()
	b.Reserve(d.Len())
	for i := range d.Len() {
		if d.IsNull(i) {
			b.AppendNull()
			continue
		}
		k := d.GetValueIndex(i)
		if k < 0 || k >= d.Dictionary().Len() {
			return nil, fmt.Errorf("dictionary index %s is beyond the dictionary of %d values", strconv.Itoa(k), d.Dictionary().Len())
		}
		b.Append(int32(k))
	}
	idx := b.NewInt32Array()
	defer idx.Release()
	return array.NewDictionaryArray(t, idx, d.Dictionary()), nil
}
