package operators_test

import (
	"math"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"

	"microrisk/engine/tabular"
	"microrisk/operators"
)

// A file of tables is read as it was written: categories, totals and missing values, of whatever text.
func TestColumnsAreReadAsWritten(t *testing.T) {
	mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
	defer mem.AssertSize(t, 0)
	cells := []tabular.Category{tabular.Of("f"), tabular.Of(""), tabular.Missing, tabular.Total}
	c := &operators.Columns{Mem: mem, Rows: len(cells)}
	c.Categories("sex", func(row int) tabular.Category { return cells[row] })
	c.Wholes("count", func(row int) int64 { return int64(row) })
	record := c.Record()
	defer record.Release()
	reader, err := array.NewRecordReader(record.Schema(), []arrow.Record{record})
	require.NoError(t, err)
	defer reader.Release()
	source, err := operators.NewRecords(reader)
	require.NoError(t, err)
	defer source.Release()
	p, err := operators.ReadPublished(t.Context(), "counts", source, []string{"sex"})
	require.NoError(t, err)
	for row, cell := range cells {
		figure, there := p.Find([]tabular.Category{cell})
		require.True(t, there, cell)
		require.Equal(t, tabular.Exact(int64(row)), figure)
	}
}

func TestColumnsSayWhichHaveNulls(t *testing.T) {
	text := "x"
	c := &operators.Columns{Mem: memory.DefaultAllocator, Rows: 2}
	c.Texts("texts", func(int) string { return text })
	c.TextsOrNull("texts or null", func(row int) *string { return []*string{&text, nil}[row] })
	c.Wholes("wholes", func(row int) int64 { return int64(row) })
	c.WholesOrNull("wholes or null", func(row int) (int64, bool) { return 7, row == 0 })
	c.Numbers("numbers", func(int) float64 { return math.NaN() })
	c.NumbersOrNull("numbers or null", func(row int) float64 { return []float64{0.5, math.NaN()}[row] })
	c.Truths("truths", func(row int) bool { return row == 0 })
	r := c.Record()
	defer r.Release()
	for i, f := range r.Schema().Fields() {
		require.Equal(t, f.Nullable, len(f.Name) > 8 && f.Name[len(f.Name)-8:] == " or null", f.Name)
		require.Equal(t, f.Nullable, r.Column(i).NullN() == 1, f.Name)
		require.False(t, r.Column(i).IsNull(0), f.Name)
	}
}
