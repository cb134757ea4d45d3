package pipeline

import (
	"fmt"
	"math"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
)

// A columns builds a record column by column.
type columns struct {
	mem    memory.Allocator
	fields []arrow.Field
	arrays []arrow.Array
	rows   int
}

func (c *columns) add(name string, b array.Builder, nullable bool) {
	defer b.Release()
	c.fields = append(c.fields, arrow.Field{Name: name, Type: b.Type(), Nullable: nullable})
	c.arrays = append(c.arrays, b.NewArray())
}

// text appends a column of text; nil is null.
func (c *columns) text(name string, value func(i int) *string) {
	b := array.NewStringBuilder(c.mem)
	for i := range c.rows {
		if s := value(i); s == nil {
			b.AppendNull()
		} else {
			b.Append(*s)
		}
	}
	c.add(name, b, true)
}

// whole appends a column of whole numbers; ok is false for null.
func (c *columns) whole(name string, value func(i int) (n int64, ok bool)) {
	b := array.NewInt64Builder(c.mem)
	for i := range c.rows {
		if n, ok := value(i); ok {
			b.Append(n)
		} else {
			b.AppendNull()
		}
	}
	c.add(name, b, true)
}

// number appends a column of numbers.
func (c *columns) number(name string, value func(i int) float64) {
	b := array.NewFloat64Builder(c.mem)
	for i := range c.rows {
		b.Append(value(i))
	}
	c.add(name, b, false)
}

func (c *columns) record() arrow.Record {
	defer func() {
		for _, a := range c.arrays {
			a.Release()
		}
	}()
	return array.NewRecord(arrow.NewSchema(c.fields, nil), c.arrays, int64(c.rows))
}

// optional appends a column of numbers; NaN is null.
func (c *columns) optional(name string, value func(i int) float64) {
	b := array.NewFloat64Builder(c.mem)
	for i := range c.rows {
		if x := value(i); math.IsNaN(x) {
			b.AppendNull()
		} else {
			b.Append(x)
		}
	}
	c.add(name, b, true)
}

// knownKind refuses a file for a record whose name tells no format.
func knownKind(path string) error {
	if kindOf(path) == "" {
		return wrong(fmt.Errorf("cannot tell the format of the output %s by its name; endings are .parquet, .arrow and .csv", path))
	}
	return nil
}
