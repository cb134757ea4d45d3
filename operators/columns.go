package operators

import (
	"cmp"
	"math"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/decimal128"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"microrisk/engine/tabular"
)

// Columns make the record of a file of tables column by column: what a Tabled hands over. [EachCell] reads such a file. Methods whose name
// ends in OrNull make columns that may have nulls; all others say in the schema that there are none.
type Columns struct {
	Mem    memory.Allocator
	Rows   int    // of every column
	Total  string // what totals are called; "" is tabular.TotalCode
	fields []arrow.Field
	arrays []arrow.Array
}

// Categories appends a variable: categories as their text, the word for totals where the variable is left out, null where the value is
// missing.
func (c *Columns) Categories(name string, category func(row int) tabular.Category) {
	appendTo(c, name, array.NewStringBuilder(c.Mem), true, func(row int) (string, bool) {
		k := category(row)
		if k == tabular.Total {
			return cmp.Or(c.Total, tabular.TotalCode), true
		}
		return k.Label, k != tabular.Missing
	})
}

// Texts appends a column of text.
func (c *Columns) Texts(name string, value func(row int) string) {
	appendTo(c, name, array.NewStringBuilder(c.Mem), false, all(value))
}

// TextsOrNull appends a column of text; nil is null.
func (c *Columns) TextsOrNull(name string, value func(row int) *string) {
	appendTo(c, name, array.NewStringBuilder(c.Mem), true, func(row int) (string, bool) {
		if text := value(row); text != nil {
			return *text, true
		}
		return "", false
	})
}

// Wholes appends a column of whole numbers.
func (c *Columns) Wholes(name string, value func(row int) int64) {
	appendTo(c, name, array.NewInt64Builder(c.Mem), false, all(value))
}

// WholesOrNull appends a column of whole numbers.
func (c *Columns) WholesOrNull(name string, value func(row int) (n int64, there bool)) {
	appendTo(c, name, array.NewInt64Builder(c.Mem), true, value)
}

// Wholes32OrNull appends a column of whole numbers of 32 bits.
func (c *Columns) Wholes32OrNull(name string, value func(row int) (n int32, there bool)) {
	appendTo(c, name, array.NewInt32Builder(c.Mem), true, value)
}

// Numbers appends a column of numbers.
func (c *Columns) Numbers(name string, value func(row int) float64) {
	appendTo(c, name, array.NewFloat64Builder(c.Mem), false, all(value))
}

// NumberLists appends a column of lists of numbers.
func (c *Columns) NumberLists(name string, value func(row int) []float64) {
	b := array.NewListBuilderWithField(c.Mem, arrow.Field{Name: "item", Type: arrow.PrimitiveTypes.Float64})
	appendTo(c, name, listBuilder{b}, false, all(value))
}

// listBuilder takes lists.
type listBuilder struct{ *array.ListBuilder }

// Append takes a list.
func (b listBuilder) Append(list []float64) {
	b.ListBuilder.Append(true)
	b.ValueBuilder().(*array.Float64Builder).AppendValues(list, nil)
}

// NumbersOrNull appends a column of numbers; NaN is null.
func (c *Columns) NumbersOrNull(name string, value func(row int) float64) {
	appendTo(c, name, array.NewFloat64Builder(c.Mem), true, func(row int) (float64, bool) {
		x := value(row)
		return x, !math.IsNaN(x)
	})
}

// DecimalsOrNull appends a column of decimal numbers, in units of their last decimal.
func (c *Columns) DecimalsOrNull(name string, decimals int, value func(row int) (units int64, there bool)) {
	t := &arrow.Decimal128Type{Precision: 18, Scale: int32(decimals)}
	appendTo(c, name, decimalBuilder{array.NewDecimal128Builder(c.Mem, t)}, true, value)
}

// decimalBuilder takes units.
type decimalBuilder struct{ *array.Decimal128Builder }

// Append takes a number of units.
func (b decimalBuilder) Append(units int64) { b.Decimal128Builder.Append(decimal128.FromI64(units)) }

// Truths appends a column of truth values.
func (c *Columns) Truths(name string, value func(row int) bool) {
	appendTo(c, name, array.NewBooleanBuilder(c.Mem), false, all(value))
}

// TruthsOrNull appends a column of truth values; nil is null.
func (c *Columns) TruthsOrNull(name string, value func(row int) *bool) {
	appendTo(c, name, array.NewBooleanBuilder(c.Mem), true, func(row int) (bool, bool) {
		if v := value(row); v != nil {
			return *v, true
		}
		return false, false
	})
}

// Record is all columns together. It is the caller's to release; the columns are used up.
func (c *Columns) Record() arrow.Record {
	r := array.NewRecord(arrow.NewSchema(c.fields, nil), c.arrays, int64(c.Rows))
	for _, a := range c.arrays {
		a.Release()
	}
	return r
}

// all is for a column of values that are all there.
func all[T any](value func(row int) T) func(row int) (T, bool) {
	return func(row int) (T, bool) { return value(row), true }
}

// appendTo appends a column, of which a builder takes the values.
func appendTo[T any](c *Columns, name string, b interface {
	array.Builder
	Append(T)
}, nullable bool, value func(row int) (T, bool)) {
	defer b.Release()
	b.Reserve(c.Rows)
	for row := range c.Rows {
		if v, there := value(row); there {
			b.Append(v)
		} else {
			b.AppendNull()
		}
	}
	c.fields = append(c.fields, arrow.Field{Name: name, Type: b.Type(), Nullable: nullable})
	c.arrays = append(c.arrays, b.NewArray())
}
