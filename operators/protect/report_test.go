package protect

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestGapIsInPercent(t *testing.T) {
	require.Equal(t, "at most 12.5 % cheaper is possible", (&Summary{Method: "optimal", Gap: .125}).ended())
}
