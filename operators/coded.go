package operators

import (
	"fmt"
	"strconv"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
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
	b := array.NewDictionaryBuilder(mem, CodedType(a.DataType()))
	defer b.Release()
	if err := b.AppendArray(a); err != nil {
		return nil, fmt.Errorf("coding a column of type %s: %w", a.DataType(), err)
	}
	return b.NewDictionaryArray(), nil
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
