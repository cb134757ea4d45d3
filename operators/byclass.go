package operators

import (
	"context"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
)

// ByClass is the usual Fitted: in each column, each row has the value of its class in the operator's first table. columns are of
// type float64, int64 or int32, one value a class in the table's order, nulls allowed; Apply fails for other types.
func ByClass(summary any, columns ...arrow.Array) Fitted { return &byClass{summary, columns} }

type byClass struct {
	summary any
	columns []arrow.Array
}

func (b *byClass) Summary() any { return b.summary }

func (b *byClass) Apply(_ context.Context, mem memory.Allocator, rows Rows) ([]arrow.Array, *Bitmap, error) {
	out := make([]arrow.Array, 0, len(b.columns))
	for _, values := range b.columns {
		valid := func(c int64) bool { return values.IsValid(int(c)) }
		switch v := values.(type) {
		case *array.Float64:
			out = append(out, float64s(mem, rows.Class[0], func(c int64) (float64, bool) { return v.Value(int(c)), valid(c) }))
		case *array.Int64:
			out = append(out, int64s(mem, rows.Class[0], func(c int64) (int64, bool) { return v.Value(int(c)), valid(c) }))
		case *array.Int32:
			out = append(out, int32s(mem, rows.Class[0], func(c int64) (int32, bool) { return v.Value(int(c)), valid(c) }))
		default:
			return out, nil, fmt.Errorf("values by class cannot be of type %s", values.DataType())
		}
	}
	return out, nil, nil
}
