package suppress_test

import (
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"

	"microrisk/operators"
	"microrisk/operators/operatortest"
	"microrisk/operators/suda"
	"microrisk/operators/suppress"
	"microrisk/schemas"
)

func cells(t *testing.T, mem memory.Allocator, header string, rows ...string) (*suppress.Cells, error) {
	t.Helper()
	source := operatortest.Lines(t, mem, 2, header, rows...)
	return suppress.Read(t.Context(), "hidden.parquet", source, 0)
}

func TestWrongTables(t *testing.T) {
	mem := memory.NewGoAllocator()
	_, err := cells(t, mem, "A B", "x 1")
	require.ErrorContains(t, err, "no column hide_NAME")
	_, err = cells(t, mem, "A hide_A", "x 1")
	require.ErrorContains(t, err, "true or false")
	_, err = suppress.Operator{}.Bind(nil)
	require.Error(t, err)
}

// Some rows of a key lose other cells than the rest: the first ones, for any number of workers and batches; a run that counts after it sees the cells
// hidden.
func TestSuppress(t *testing.T) {
	rows := []string{"x 1", "x 1", "y 2", "x 1", "_ 1", "y 2", "x 1", "x 1", "z 3"}
	for _, workers := range []int{1, 4} {
		for _, batch := range []int{1, 2, 100} {
			mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
			t.Cleanup(func() { mem.AssertSize(t, 0) })
			c := hidden(t, mem)
			out, _, err := operatortest.Table(
				t,
				mem,
				operatortest.Lines(t, mem, batch, "A B", rows...),
				operators.Options{Workers: workers},
				suppress.Operator{
					Cells: c,
				},
				suda.Operator{Key: operatortest.Key("A", "B"), Config: suda.Config{MeasureOptions: schemas.MeasureOptions{Missing: schemas.MissingCategory}}},
			)
			require.NoError(t, err)
			var got []string
			for _, line := range out[1:] {
				got = append(got, line[:3])
			}
			require.Equal(t, []string{"_ 1", "_ 1", "y _", "x _", "_ _", "y _", "x 1", "x 1", "z 3"}, got)
		}
	}
}

// hidden hides A of the first two rows of (x, 1) and B of the third, all of (missing, 1), and B of (y, 2).
func hidden(t *testing.T, mem memory.Allocator) *suppress.Cells {
	t.Helper()
	source := operatortest.Typed(
		t,
		mem,
		[]arrow.Field{{Name: "A", Type: arrow.BinaryTypes.String, Nullable: true}, {Name: "B", Type: arrow.BinaryTypes.String, Nullable: true},
			{Name: "records", Type: arrow.PrimitiveTypes.Int64, Nullable: true}, {Name: "hide_A", Type: arrow.FixedWidthTypes.Boolean, Nullable: true},
			{Name: "hide_B", Type: arrow.FixedWidthTypes.Boolean, Nullable: true}},
		`[
		{"A": "x", "B": "1", "records": 2, "hide_A": true, "hide_B": false}, {"A": "x", "B": "1", "records": 1, "hide_A": false, "hide_B": true},
		{"A": null, "B": "1", "records": null, "hide_A": true, "hide_B": true}, {"A": "y", "B": "2", "records": null, "hide_A": null, "hide_B": true}]`,
	)
	c, err := suppress.Read(t.Context(), "hidden.parquet", source, 0)
	require.NoError(t, err)
	return c
}
