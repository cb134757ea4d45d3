package recode

import (
	"strconv"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
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

// What BandNames says is what values get: every band is met, by whole numbers and others.
func TestBandNames(t *testing.T) {
	for _, cuts := range [][]float64{{18, 65}, {-5, 0, 1, 16}, {0.5, 2}, {0}} {
		for _, c := range []struct {
			t      arrow.DataType
			values []string
		}{
			{arrow.PrimitiveTypes.Int32, []string{"-7", "-5", "-1", "0", "1", "2", "15", "17", "18", "64", "65", "90"}},
			{arrow.PrimitiveTypes.Float64, []string{"-7.5", "-5", "-1", "0", "0.4", "0.5", "1", "1.5", "2", "15", "17.5", "18", "64.9", "65", "90"}},
			{arrow.BinaryTypes.String, []string{"-7", "-7.5", "-5", "-4.5", "0", "0.2", "0.5", "1", "1.5", "2", "15", "17.5", "18", "18.5", "65", "65.5"}},
		} {
			named, err := BandNames(cuts, c.t)
			require.NoError(t, err)
			require.Len(t, named, len(cuts)+1)
			recode, _, err := recoding(Column{Cuts: cuts}, c.t)
			require.NoError(t, err)
			build := array.NewBuilder(memory.DefaultAllocator, c.t)
			for _, v := range c.values {
				require.NoError(t, build.AppendValueFromString(v))
			}
			values := build.NewArray()
			got := make([]map[string]bool, len(named))
			for i, text := range c.values {
				name, ok := recode(values, i, text)
				require.True(t, ok)
				x, err := strconv.ParseFloat(text, 64)
				require.NoError(t, err)
				band := 0
				for band < len(cuts) && x >= cuts[band] {
					band++
				}
				if got[band] == nil {
					got[band] = map[string]bool{}
				}
				got[band][name] = true
				require.Contains(t, named[band], name, "%v of %s with cuts %v", text, c.t, cuts)
			}
			for band, names := range got {
				require.NotEmpty(t, names, "no value in band %d of %v", band, cuts)
			}
		}
	}
	_, err := BandNames([]float64{1}, arrow.FixedWidthTypes.Date32)
	require.ErrorContains(t, err, "no numbers")
}
