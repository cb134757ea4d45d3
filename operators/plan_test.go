package operators_test

import (
	"context"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"

	"microrisk/engine/contingency"
	"microrisk/operators"
	"microrisk/operators/operatortest"
)

// custom is an operator of a host's own.
type custom struct {
	plan  func(*operators.Plan)
	apply func(mem memory.Allocator, rows operators.Rows) ([]arrow.Array, *operators.Bitmap)
	held  *memory.Buffer
}

func (c *custom) Bind(*arrow.Schema) (*operators.Plan, error) {
	p := &operators.Plan{Name: "mine", Adds: []operators.Added{{Field: arrow.Field{Name: "x", Type: arrow.PrimitiveTypes.Int64}}}}
	p.Tables = []contingency.Request{{Keys: []contingency.Key{{Name: "A"}}}}
	p.Fit = func(_ context.Context, _ []*contingency.Table, env operators.Env) (operators.Fitted, error) {
		c.held = memory.NewResizableBuffer(env.Allocator)
		c.held.Resize(1000)
		return c, nil
	}
	if c.plan != nil {
		c.plan(p)
	}
	return p, nil
}

func (c *custom) Apply(_ context.Context, mem memory.Allocator, rows operators.Rows) ([]arrow.Array, *operators.Bitmap, error) {
	columns, keep := c.apply(mem, rows)
	return columns, keep, nil
}

func (c *custom) Summary() any { return nil }
func (c *custom) Release()     { c.held.Release() }

// What a host's operator does wrong is an error with its name, never a panic, and nothing of the allocator's is left.
func TestCustomOperators(t *testing.T) {
	numbers := func(mem memory.Allocator, n int) arrow.Array {
		b := array.NewInt64Builder(mem)
		defer b.Release()
		for range n {
			b.Append(1)
		}
		return b.NewArray()
	}
	right := func(mem memory.Allocator, rows operators.Rows) ([]arrow.Array, *operators.Bitmap) {
		return []arrow.Array{numbers(mem, len(rows.Class[0]))}, nil
	}
	for want, c := range map[string]*custom{
		"": {apply: right},
		"mine: Apply returned 0 columns, the plan adds 1": {apply: func(memory.Allocator, operators.Rows) ([]arrow.Array, *operators.Bitmap) { return nil, nil }},
		"mine: Apply returned 2 columns, the plan adds 1": {apply: func(mem memory.Allocator, r operators.Rows) ([]arrow.Array, *operators.Bitmap) {
			return []arrow.Array{numbers(mem, len(r.Class[0])), numbers(mem, len(r.Class[0]))}, nil
		}},
		`mine: Apply returned nothing for column "x"`: {apply: func(memory.Allocator, operators.Rows) ([]arrow.Array, *operators.Bitmap) {
			return []arrow.Array{nil}, nil
		}},
		`mine: Apply returned 1 values of column "x"`: {apply: func(mem memory.Allocator, _ operators.Rows) ([]arrow.Array, *operators.Bitmap) {
			return []arrow.Array{numbers(mem, 1)}, nil
		}},
		`mine: Apply returned column "x" as int64, the plan says utf8`: {apply: right, plan: func(p *operators.Plan) { p.Adds[0].Type = arrow.BinaryTypes.String }},
		"mine: Apply chose rows, and the plan does not say": {apply: func(mem memory.Allocator, r operators.Rows) ([]arrow.Array, *operators.Bitmap) {
			return []arrow.Array{numbers(mem, len(r.Class[0]))}, operators.NewBitmap(len(r.Class[0]))
		}},
		`mine: "F" is of type float64, which cannot be a key variable`: {apply: right, plan: func(p *operators.Plan) { p.Tables[0].Keys[0].Name = "F" }},
		`mine: "A" is of type utf8: only numbers can be added up`:      {apply: right, plan: func(p *operators.Plan) { p.Tables[0].Sums = []contingency.Sum{{Name: "A"}} }},
		`mine: there is no column "Z"`:                                 {apply: right, plan: func(p *operators.Plan) { p.Tables[0].Keys[0].Name = "Z" }},
		`mine: there is no column "Z" to leave out`:                    {apply: right, plan: func(p *operators.Plan) { p.Drops = []string{"Z"} }},
		"mine: the plan has neither Fit nor Apply":                     {apply: right, plan: func(p *operators.Plan) { p.Fit = nil }},
		"mine: Fit gave nothing, and no error": {apply: right, plan: func(p *operators.Plan) {
			p.Fit = func(context.Context, []*contingency.Table, operators.Env) (operators.Fitted, error) { return nil, nil }
		}},
	} {
		t.Run(want, func(t *testing.T) {
			mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
			defer mem.AssertSize(t, 0)
			source := operatortest.Typed(
				t,
				mem,
				[]arrow.Field{{Name: "A", Type: arrow.BinaryTypes.String}, {Name: "F", Type: arrow.PrimitiveTypes.Float64}},
				`[{"A":"a","F":1},{"A":"b","F":2},{"A":"a","F":3}]`,
			)
			defer source.Release()
			_, _, err := operatortest.Table(t, mem, source, operators.Options{Allocator: mem}, c)
			if want == "" {
				require.NoError(t, err)
			} else {
				require.ErrorContains(t, err, want)
			}
		})
	}
}
