//go:build nofigures

package figures

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestNoFigures(t *testing.T) {
	_, svg := (&Figure{}).SVG()
	_, png := (&Figure{}).PNG()
	require.ErrorContains(t, Missing(), "without the tag")
	require.Equal(t, []error{Missing(), Missing()}, []error{svg, png})
}
