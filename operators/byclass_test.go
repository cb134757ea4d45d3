package operators_test

import (
	"context"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"microrisk/engine/contingency"
	"microrisk/operators"
	"microrisk/operators/operatortest"
)

// Each row has its class's value, null where class, place or value is none.
func TestByClassGathers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
		classes := rapid.IntRange(1, 40).Draw(t, "classes")
		table := rapid.IntRange(0, 1).Draw(t, "table")
		values := rapid.SliceOfN(rapid.Float64(), classes, classes).Draw(t, "values")
		null := rapid.SliceOfN(rapid.Bool(), classes, classes).Draw(t, "null")
		var at []int32
		if rapid.Bool().Draw(t, "placed") {
			at = rapid.SliceOfN(rapid.Int32Range(-1, int32(classes-1)), classes, classes).Draw(t, "at")
		}
		class := rapid.SliceOfN(rapid.Int64Range(-1, int64(classes-1)), 0, 70).Draw(t, "class")
		whole := make([]int64, classes)
		short := make([]int32, classes)
		for i := range whole {
			whole[i], short[i] = int64(i)<<40, int32(-i)
		}
		has := func(c int) bool { return !null[c] }
		b := &operators.ByClass{
			Columns: []operators.ClassColumn{
				{operators.Values(values, has), table, at},
				{operators.Values(whole, nil), table, at},
				{operators.Values(short, has), table, at},
			},
		}
		rows := operators.Rows{Class: make([][]int64, 2)}
		rows.Class[table] = class
		out, keep, err := b.Apply(context.Background(), mem, rows)
		require.NoError(t, err)
		require.Nil(t, keep)
		for r, c := range class {
			if c >= 0 && at != nil {
				c = int64(at[c])
			}
			require.Equal(t, c < 0 || null[c], out[0].IsNull(r))
			require.Equal(t, c < 0, out[1].IsNull(r))
			require.Equal(t, c < 0 || null[c], out[2].IsNull(r))
			if c >= 0 && !null[c] {
				require.Equal(t, values[c], out[0].(*array.Float64).Value(r))
				require.Equal(t, short[c], out[2].(*array.Int32).Value(r))
			}
			if c >= 0 {
				require.Equal(t, whole[c], out[1].(*array.Int64).Value(r))
			}
		}
		for i, a := range out {
			require.Equal(t, len(class), a.Len(), "column %d", i)
			nulls := 0
			for r := range class {
				if a.IsNull(r) {
					nulls++
				}
			}
			require.Equal(t, nulls, a.NullN())
			a.Release()
		}
		mem.AssertSize(t, 0)
	})
}

// fittedAs is an operator of one table that is fitted as it is told.
type fittedAs struct{ fitted operators.Fitted }

func (f fittedAs) Bind(*arrow.Schema) (*operators.Plan, error) {
	return &operators.Plan{Name: "mine", Adds: []operators.Added{{Field: arrow.Field{Name: "x", Type: arrow.PrimitiveTypes.Int64, Nullable: true}}},
		Tables: []contingency.Request{{Keys: []contingency.Key{{Name: "A"}}}},
		Fit: func(context.Context, []*contingency.Table, operators.Env) (operators.Fitted, error) {
			return f.fitted, nil
		}}, nil
}

// Columns by class that do not fit are an error with the operator's name.
func TestByClassIsChecked(t *testing.T) {
	of := func(columns ...operators.ClassColumn) operators.Fitted {
		return &struct{ operators.ByClass }{operators.ByClass{Columns: columns}}
	}
	three, two := operators.Values([]int64{5, 6, 7}, nil), operators.Values([]int64{5, 6}, nil)
	for want, f := range map[string]operators.Fitted{
		"": of(operators.ClassColumn{Values: three}),
		"mine: column 0 by class has 2 values for the 3 classes of the table": of(operators.ClassColumn{Values: two}),
		"mine: column 0 by class has 2 places for the 3 classes of the table": of(operators.ClassColumn{Values: two, At: []int32{0, 1}}),
		"mine: column 0 by class has value 2 of 2 for class 1":                of(operators.ClassColumn{Values: two, At: []int32{0, 2, 1}}),
		"mine: column 0 by class is of table 1; the plan has 1":               of(operators.ClassColumn{Values: three, Table: 1}),
		"mine: column 0 by class has no values":                               of(operators.ClassColumn{}),
		"mine: there are 2 columns by class, the plan adds 1":                 of(operators.ClassColumn{Values: three}, operators.ClassColumn{Values: three}),
		"mine: Apply returned 0 columns, the plan adds 1":                     of(),
		"mine: Apply returned column \"x\" as float64, the plan says int64":   of(operators.ClassColumn{Values: operators.Values([]float64{1, 2, 3}, nil)}),
		"mine: values by class cannot be of type " +
			"bool": of(operators.ClassColumn{Values: array.NewBooleanData(array.NewData(arrow.FixedWidthTypes.Boolean, 3, []*memory.Buffer{nil, memory.NewBufferBytes([]byte{1})}, nil, 0, 0))}),
	} {
		t.Run(want, func(t *testing.T) {
			mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
			defer mem.AssertSize(t, 0)
			source := operatortest.Typed(t, mem, []arrow.Field{{Name: "A", Type: arrow.BinaryTypes.String}}, `[{"A":"a"},{"A":"b"},{"A":"c"},{"A":"a"}]`)
			defer source.Release()
			_, _, err := operatortest.Table(t, mem, source, operators.Options{Allocator: mem}, fittedAs{f})
			if want == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, want)
		})
	}
}
