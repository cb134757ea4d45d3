package tabular

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A table of more cells than fit is refused while its cells are found.
func TestGridWithin(t *testing.T) {
	trees := []*Tree{Flat("a", Of("x"), Of("y")), Flat("b", Of("x"), Of("y"))}
	cells := []int32{1, 1, 2, 2} // with their totals 2*4 - 1
	g, err := NewGridWithin(trees, cells, 7)
	require.NoError(t, err)
	require.Equal(t, 7, g.Cells())
	_, err = NewGridWithin(trees, cells, 6)
	require.ErrorAs(t, err, new(*SizeError))
}
