package recode

import (
	"testing"

	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"
)

// The label of a band has two ends, unless no floating-point number but the value lies between them.
func TestNarrowBands(t *testing.T) {
	build := array.NewFloat64Builder(memory.DefaultAllocator)
	build.AppendValues([]float64{0.3, 7, 9e15, 9e15 + 2}, nil)
	values := build.NewArray()
	for _, c := range []struct {
		width float64
		want  []string
	}{
		{0.1, []string{"[0.3,0.4)", "[7,7.1)", "9e+15", "9.000000000000002e+15"}},
		{1e-17, []string{"0.3", "7", "9e+15", "9.000000000000002e+15"}},
	} {
		b := bands{Column: Column{Width: c.width}, steps: newDecimalSteps(0, c.width)}
		for i, want := range c.want {
			got, ok := b.band(values, i, values.ValueStr(i))
			require.True(t, ok)
			require.Equal(t, want, got, "width %g, value %d", c.width, i)
		}
	}
}
