package operators

import (
	"context"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"microrisk/engine/contingency"
)

// ByClass is what nearly every Fitted is made of: columns with one value a class. The runner gathers each row's value by its class;
// rows in no class get null. It stands alone as a Fitted, or is embedded in one that also ranks, has a summary or the like.
type ByClass struct {
	Columns  []ClassColumn // of Plan.Adds, in that order
	Document any           // Summary, nil for none
}

// A ClassColumn is a column by the classes of one of the operator's tables.
type ClassColumn struct {
	// Values are of type float64, int64 or int32, one a class in the table's order, nulls allowed (see Values).
	Values arrow.Array
	Table  int // place in Plan.Tables
	// At, if it is given, says for each class which of Values it has, -1 for null: classes of one area share a value.
	At []int32
}

// classValue is what columns by class have.
type classValue interface{ float64 | int64 | int32 }

// Values are values as an array, without a copy: the slice must not change any more. has tells which are not null, nil for all.
func Values[T classValue](values []T, has func(i int) bool) arrow.Array {
	var valid *memory.Buffer
	nulls := 0
	if has != nil {
		bits := make([]byte, (len(values)+7)/8)
		for i := range values {
			if has(i) {
				bits[i>>3] |= 1 << (i & 7)
			} else {
				nulls++
			}
		}
		valid = memory.NewBufferBytes(bits)
	}
	return numbers(valid, memory.NewBufferBytes(arrow.GetBytes(values)), len(values), nulls, arrow.GetDataType[T]())
}

// numbers makes an array of its buffers, which it takes over.
func numbers(valid, values *memory.Buffer, n, nulls int, t arrow.DataType) arrow.Array {
	data := array.NewData(t, n, []*memory.Buffer{valid, values}, nil, nulls, 0)
	defer data.Release()
	values.Release()
	if valid != nil {
		valid.Release()
	}
	return array.MakeFromData(data)
}

// Summary is a Fitted's.
func (b *ByClass) Summary() any { return b.Document }

// Apply is a Fitted's.
func (b *ByClass) Apply(_ context.Context, mem memory.Allocator, rows Rows) ([]arrow.Array, *Bitmap, error) {
	out := make([]arrow.Array, 0, len(b.Columns))
	for _, c := range b.Columns {
		class := rows.Class[c.Table]
		if class == nil { // of a table without keys: all are of its only class
			class = make([]int64, rows.Batch.NumRows())
		}
		switch v := c.Values.(type) {
		case *array.Float64:
			out = append(out, gather(mem, class, c.At, v, v.Float64Values()))
		case *array.Int64:
			out = append(out, gather(mem, class, c.At, v, v.Int64Values()))
		case *array.Int32:
			out = append(out, gather(mem, class, c.At, v, v.Int32Values()))
		default:
			return out, nil, fmt.Errorf("values by class cannot be of type %s", c.Values.DataType())
		}
	}
	return out, nil, nil
}

// byClass is how the runner knows one, embedded or not.
func (b *ByClass) byClass() *ByClass { return b }

// checkClasses finds columns by class that do not fit the plan or the tables, before rows are looked up in them.
func (p *Plan) checkClasses(f Fitted, tables []*contingency.Table) error {
	held, ok := f.(interface{ byClass() *ByClass })
	if !ok {
		return nil
	}
	for k, c := range held.byClass().Columns {
		switch {
		case k >= len(p.Adds): // Apply may put columns of another kind among these, so their number tells nothing before
			return fmt.Errorf("there are %d columns by class, the plan adds %d", len(held.byClass().Columns), len(p.Adds))
		case c.Values == nil:
			return fmt.Errorf("column %d by class has no values", k)
		case c.Table < 0 || c.Table >= len(tables):
			return fmt.Errorf("column %d by class is of table %d; the plan has %d", k, c.Table, len(tables))
		}
		classes, n := tables[c.Table].Classes(), c.Values.Len()
		if c.At == nil {
			if n != classes {
				return fmt.Errorf("column %d by class has %d values for the %d classes of the table", k, n, classes)
			}
			continue
		}
		if len(c.At) != classes {
			return fmt.Errorf("column %d by class has %d places for the %d classes of the table", k, len(c.At), classes)
		}
		for class, at := range c.At {
			if at < -1 || int(at) >= n {
				return fmt.Errorf("column %d by class has value %d of %d for class %d", k, at, n, class)
			}
		}
	}
	return nil
}
