package operators

import (
	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
)

// float64s, int64s and int32s give each row the value of its class; value says false for a null.

func float64s(mem memory.Allocator, class []int64, value func(c int64) (float64, bool)) arrow.Array {
	b := array.NewFloat64Builder(mem)
	defer b.Release()
	fill(b, class, value)
	return b.NewArray()
}

func int64s(mem memory.Allocator, class []int64, value func(c int64) (int64, bool)) arrow.Array {
	b := array.NewInt64Builder(mem)
	defer b.Release()
	fill(b, class, value)
	return b.NewArray()
}

func int32s(mem memory.Allocator, class []int64, value func(c int64) (int32, bool)) arrow.Array {
	b := array.NewInt32Builder(mem)
	defer b.Release()
	fill(b, class, value)
	return b.NewArray()
}

// int64sByRow gives each row its value, null for class -1.
func int64sByRow(mem memory.Allocator, class, values []int64) arrow.Array {
	b := array.NewInt64Builder(mem)
	defer b.Release()
	b.Reserve(len(class))
	for r, c := range class {
		if c < 0 {
			b.UnsafeAppendBoolToBitmap(false)
		} else {
			b.UnsafeAppend(values[r])
		}
	}
	return b.NewArray()
}

type appender[T any] interface {
	Reserve(n int)
	UnsafeAppend(T)
	UnsafeAppendBoolToBitmap(bool)
}

func fill[T any, B appender[T]](b B, class []int64, value func(c int64) (T, bool)) {
	b.Reserve(len(class))
	for _, c := range class {
		if c < 0 {
			b.UnsafeAppendBoolToBitmap(false)
			continue
		}
		if x, ok := value(c); ok {
			b.UnsafeAppend(x)
		} else {
			b.UnsafeAppendBoolToBitmap(false)
		}
	}
}
