package schemas

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Names and values may be of any length, as damaged and hostile files have them.
func TestDistanceOfLongWords(t *testing.T) {
	long := strings.Repeat("n", 1<<24)
	require.Equal(t, 1<<24-1, Distance("an", long))
	require.Equal(t, 0, Distance(long, long))
	require.Equal(t, 3, Distance(long, long+"xyz"))
	require.Equal(t, "age", Nearest("aeg", []string{long, "age"}))
	require.Equal(t, 1, Distance("Region", "regoin"))
}
