package figures

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTextWidth(t *testing.T) {
	require.InDelta(t, 20*(1479+1139+1139)/2048., textWidth("Hoh", 20), 1e-9)
	require.InDelta(t, 24., textWidth("人口", 12), 1e-9)
	require.InDelta(t, textWidth("e", 12), textWidth("e\u0301", 12), 1e-9) // an accent that is put on
	require.Positive(t, textWidth("\U0001F600", 12))
	require.Zero(t, textWidth("", 12))
}

func TestWithin(t *testing.T) {
	require.Equal(t, "short", within("short", 11, 100))
	cut := within("a name that is far too long for the place that it has", 11, 100)
	require.Regexp(t, "^a name.*…$", cut)
	require.LessOrEqual(t, textWidth(cut, 11), 100.)
	require.Greater(t, textWidth(cut, 11), 80.)
}
