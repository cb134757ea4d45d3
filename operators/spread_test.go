package operators

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSpread(t *testing.T) {
	s := newSpread()
	for _, x := range []float64{0, math.NaN(), -1, 0.2, 0.2000001, 0.05, 1, 1e-9, 1e9, 5e6, 3} {
		s.add(x)
	}
	require.EqualValues(t, 11, s.Records())
	at := func(above, most float64) int64 {
		for _, b := range s {
			if b.Above == above && b.Most == most {
				return b.Records
			}
		}
		t.Fatalf("no band from %v to %v", above, most)
		return 0
	}
	require.EqualValues(t, 3, at(0, 0))       // 0, none, below 0
	require.EqualValues(t, 1, at(0.1, 0.2))   // the upper end is in
	require.EqualValues(t, 1, at(0.2, 0.5))   // the lower one is not
	require.EqualValues(t, 1, at(0.02, 0.05)) // exactly
	require.EqualValues(t, 1, at(0, 1e-6))
	require.EqualValues(t, 1, at(2, 5))
	require.EqualValues(t, 1, at(2e6, 5e6))
	require.EqualValues(t, 1, at(5e6, math.Inf(1)))
	twice := merged(merged(nil, s), s)
	require.EqualValues(t, 22, twice.Records())
	require.EqualValues(t, 11, s.Records(), "what is added to is a copy")
	Spread(nil).add(1)
}
