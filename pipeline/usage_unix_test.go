//go:build unix

package pipeline

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestHighWater(t *testing.T) {
	status := func(string) ([]byte, error) {
		return []byte("Name:\tmicrorisk\nVmPeak:\t  999 kB\nVmHWM:\t    1234 kB\n"), nil
	}
	require.EqualValues(t, 1234<<10, highWater(status))
	require.Zero(t, highWater(func(string) ([]byte, error) { return nil, errors.New("none") }))
	require.Positive(t, PeakMemory())
}
