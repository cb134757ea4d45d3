package session

import (
	"fmt"
	"math"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
)

// A columns builds a record column by column.
type Columns struct {
	Mem    memory.Allocator
	fields []arrow.Field
	arrays []arrow.Array
	Rows   int
}

func (c *Columns) Add(name string, b array.Builder, nullable bool) {
	defer b.Release()
	c.fields = append(c.fields, arrow.Field{Name: name, Type: b.Type(), Nullable: nullable})
	c.arrays = append(c.arrays, b.NewArray())
}

// Text appends a column of text; nil is null.
func (c *Columns) Text(name string, value func(i int) *string) {
	b := array.NewStringBuilder(c.Mem)
	for i := range c.Rows {
		if s := value(i); s == nil {
			b.AppendNull()
		} else {
			b.Append(*s)
		}
	}
	c.Add(name, b, true)
}

// Whole appends a column of whole numbers; ok is false for null.
func (c *Columns) Whole(name string, value func(i int) (n int64, ok bool)) {
	b := array.NewInt64Builder(c.Mem)
	for i := range c.Rows {
		if n, ok := value(i); ok {
			b.Append(n)
		} else {
			b.AppendNull()
		}
	}
	c.Add(name, b, true)
}

// Number appends a column of numbers.
func (c *Columns) Number(name string, value func(i int) float64) {
	b := array.NewFloat64Builder(c.Mem)
	for i := range c.Rows {
		b.Append(value(i))
	}
	c.Add(name, b, false)
}

func (c *Columns) Record() arrow.Record {
	defer func() {
		for _, a := range c.arrays {
			a.Release()
		}
	}()
	return array.NewRecord(arrow.NewSchema(c.fields, nil), c.arrays, int64(c.Rows))
}

// Optional appends a column of numbers; NaN is null.
func (c *Columns) Optional(name string, value func(i int) float64) {
	b := array.NewFloat64Builder(c.Mem)
	for i := range c.Rows {
		if x := value(i); math.IsNaN(x) {
			b.AppendNull()
		} else {
			b.Append(x)
		}
	}
	c.Add(name, b, true)
}

// KnownKind refuses a file for a record whose name tells no format.
func KnownKind(path string) error {
	if KindOf(path) == "" {
		return Wrong(fmt.Errorf("cannot tell the format of the output %s by its name; endings are .parquet, .arrow and .csv", path))
	}
	return nil
}
