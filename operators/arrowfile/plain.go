package arrowfile

import (
	"errors"
	"fmt"
	"math"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"microrisk/operators"
)

// plainType is what a type is read as: views as texts, bytes and lists, runs as their values; all else as it is.
func plainType(t arrow.DataType) arrow.DataType {
	switch t := t.(type) {
	case *arrow.StringViewType:
		return arrow.BinaryTypes.String
	case *arrow.BinaryViewType:
		return arrow.BinaryTypes.Binary
	case *arrow.RunEndEncodedType:
		return plainType(t.Encoded())
	case *arrow.ListViewType:
		return arrow.ListOfField(plainField(t.ElemField()))
	case *arrow.LargeListViewType:
		return arrow.LargeListOfField(plainField(t.ElemField()))
	case *arrow.ListType:
		return arrow.ListOfField(plainField(t.ElemField()))
	case *arrow.LargeListType:
		return arrow.LargeListOfField(plainField(t.ElemField()))
	case *arrow.FixedSizeListType:
		return arrow.FixedSizeListOfField(t.Len(), plainField(t.ElemField()))
	case *arrow.StructType:
		fields := make([]arrow.Field, t.NumFields())
		for i, f := range t.Fields() {
			fields[i] = plainField(f)
		}
		return arrow.StructOf(fields...)
	case *arrow.DictionaryType:
		return &arrow.DictionaryType{IndexType: t.IndexType, ValueType: plainType(t.ValueType), Ordered: t.Ordered}
	}
	return t
}

func plainField(f arrow.Field) arrow.Field {
	f.Type = plainType(f.Type)
	return f
}

// isPlain tells whether values of a type are read as they are.
func isPlain(t arrow.DataType) bool { return arrow.TypeEqual(t, plainType(t)) }

// nestedViews tells whether views or runs are within a nested type: these are made plain as a whole.
func nestedViews(t arrow.DataType) bool {
	switch t.ID() {
	case arrow.LIST, arrow.LARGE_LIST, arrow.FIXED_SIZE_LIST, arrow.STRUCT:
		return !isPlain(t)
	}
	return false
}

var errRoom = errors.New("it takes more memory than is allowed")

// plain gives an array of a plain type. What it takes is taken from room, in bytes.
func plain(mem memory.Allocator, a arrow.Array, room *int64) (arrow.Array, error) {
	if isPlain(a.DataType()) {
		a.Retain()
		return a, nil
	}
	take := func(n int64) error {
		if *room -= n; n < 0 || *room < 0 {
			return errRoom
		}
		return nil
	}
	switch a := a.(type) {
	case *array.StringView:
		b := array.NewStringBuilder(mem)
		defer b.Release()
		return texts(b, a, take)
	case *array.BinaryView:
		b := array.NewBinaryBuilder(mem, arrow.BinaryTypes.Binary)
		defer b.Release()
		return texts(b, a, take)
	case *array.RunEndEncoded:
		return runs(mem, a, room, take)
	case *array.ListView, *array.LargeListView:
		return lists(mem, a.(array.ListLike), room, take)
	}
	return within(mem, a, room)
}

// within makes plain what is within a nested array; a slice of one is not made smaller.
func within(mem memory.Allocator, a arrow.Array, room *int64) (arrow.Array, error) {
	var children []arrow.ArrayData
	inner := func(c arrow.Array) error {
		p, err := plain(mem, c, room)
		if err == nil {
			children = append(children, p.Data())
		}
		return err
	}
	switch a := a.(type) {
	case *array.Struct:
		for i := range a.NumField() {
			if err := inner(array.MakeFromData(a.Data().Children()[i])); err != nil {
				return nil, err
			}
		}
	case *array.List, *array.LargeList, *array.FixedSizeList:
		if err := inner(a.(array.ListLike).ListValues()); err != nil {
			return nil, err
		}
	default:
		return nil, fmt.Errorf("columns of type %s are not read", a.DataType())
	}
	d := a.Data()
	return array.MakeFromData(array.NewData(plainType(a.DataType()), d.Len(), d.Buffers(), children, d.NullN(), d.Offset())), nil
}

type textBuilder[T any] interface {
	array.Builder
	Append(T)
}

func texts[T string | []byte](b textBuilder[T], a interface {
	arrow.Array
	Value(int) T
}, take func(int64) error) (arrow.Array, error) {
	size := int64(0)
	for i := range a.Len() {
		if a.IsValid(i) {
			size += int64(len(a.Value(i)))
		}
	}
	if size > math.MaxInt32 {
		return nil, errRoom
	}
	if err := take(size); err != nil {
		return nil, err
	}
	for i := range a.Len() {
		if a.IsNull(i) {
			b.AppendNull()
		} else {
			b.Append(a.Value(i))
		}
	}
	return b.NewArray(), nil
}

// runs repeats the values of runs.
func runs(mem memory.Allocator, a *array.RunEndEncoded, room *int64, take func(int64) error) (arrow.Array, error) {
	if err := take(4 * int64(a.Len())); err != nil {
		return nil, err
	}
	index := array.NewInt32Builder(mem)
	defer index.Release()
	index.Reserve(a.Len())
	at, physical := indexOf(a.RunEndsArr()), a.GetPhysicalOffset()
	first := physical
	for i := range a.Len() {
		for at(physical) <= int64(a.Offset()+i) {
			physical++
		}
		index.UnsafeAppend(int32(physical - first))
	}
	if a.Len() == 0 {
		physical = first - 1
	}
	some := array.NewSlice(a.Values(), int64(first), int64(physical+1))
	defer some.Release()
	values, err := plain(mem, some, room)
	if err != nil {
		return nil, err
	}
	defer values.Release()
	codes := index.NewInt32Array()
	defer codes.Release()
	return repeat(mem, codes, values, take)
}

// repeat gives the value of each code.
func repeat(mem memory.Allocator, codes *array.Int32, values arrow.Array, take func(int64) error) (arrow.Array, error) {
	if d, ok := values.(*array.Dictionary); ok {
		index, err := repeat(mem, codes, d.Indices(), take)
		if err != nil {
			return nil, err
		}
		defer index.Release()
		return array.NewDictionaryArray(d.DataType(), index, d.Dictionary()), nil
	}
	size, each := int64(0), make([]int64, values.Len())
	for k := range each {
		if v, ok := values.(interface{ ValueLen(int) int }); ok && values.IsValid(k) {
			each[k] = int64(v.ValueLen(k))
		} else {
			each[k] = 8
		}
	}
	for _, k := range codes.Int32Values() {
		size += each[k]
	}
	if err := take(size); err != nil || size > math.MaxInt32 {
		return nil, errRoom
	}
	if arrow.IsNested(values.DataType().ID()) {
		pieces := make([]arrow.Array, codes.Len())
		for i, k := range codes.Int32Values() {
			pieces[i] = array.NewSlice(values, int64(k), int64(k)+1)
		}
		if len(pieces) == 0 {
			return array.NewSlice(values, 0, 0), nil
		}
		return array.Concatenate(pieces, mem)
	}
	d := array.NewDictionaryArray(&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: values.DataType()}, codes, values)
	defer d.Release()
	return operators.Plain(mem, d)
}

// lists puts the values of list views one after the other.
func lists(mem memory.Allocator, a array.ListLike, room *int64, take func(int64) error) (arrow.Array, error) {
	var pieces []arrow.Array
	offsets := []int64{0}
	for i := range a.Len() {
		from, to := int64(0), int64(0)
		if a.IsValid(i) {
			from, to = a.ValueOffsets(i)
		}
		if to > from {
			if err := take(8 * (to - from)); err != nil {
				return nil, err
			}
			pieces = append(pieces, array.NewSlice(a.ListValues(), from, to))
		}
		offsets = append(offsets, offsets[i]+to-from)
	}
	values := array.NewSlice(a.ListValues(), 0, 0)
	var err error
	if len(pieces) > 0 {
		if values, err = array.Concatenate(pieces, mem); err != nil {
			return nil, err
		}
	}
	if values, err = plain(mem, values, room); err != nil {
		return nil, err
	}
	var at *memory.Buffer
	if a.DataType().ID() == arrow.LIST_VIEW {
		small := make([]int32, len(offsets))
		for i, o := range offsets {
			if o > math.MaxInt32 {
				return nil, errRoom
			}
			small[i] = int32(o)
		}
		at = memory.NewBufferBytes(arrow.Int32Traits.CastToBytes(small))
	} else {
		at = memory.NewBufferBytes(arrow.Int64Traits.CastToBytes(offsets))
	}
	valid := array.NewBooleanBuilder(mem)
	defer valid.Release()
	for i := range a.Len() {
		valid.Append(a.IsValid(i))
	}
	bitmap := valid.NewBooleanArray()
	defer bitmap.Release()
	d := array.NewData(plainType(a.DataType()), a.Len(), []*memory.Buffer{bitmap.Data().Buffers()[1], at}, []arrow.ArrayData{values.Data()}, a.NullN(), 0)
	defer d.Release()
	return array.MakeFromData(d), nil
}
