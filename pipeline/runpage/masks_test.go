package runpage

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// Whatever the counts, no group is small, all that is there is in a group, and there is none where all together are few.
func TestBands(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		counts := rapid.SliceOfN(rapid.OneOf(rapid.Int64Range(0, 12), rapid.Just(int64(0)), rapid.Int64Range(0, 1000)), 1, 12).Draw(r, "counts")
		total, told := int64(0), int64(0)
		for _, n := range counts {
			total += n
		}
		next := 0
		for _, g := range (masks{public: true}).bands(counts) {
			require.Equal(r, next, g[0], "groups follow each other")
			next = g[1] + 1
			sum := int64(0)
			for _, n := range counts[g[0]:next] {
				sum += n
			}
			require.True(r, sum == 0 || sum >= fewest, "a group of %d", sum)
			told += sum
		}
		if total >= fewest || total == 0 {
			require.Equal(r, total, told)
		} else {
			require.Zero(r, told)
		}
	})
	require.Len(t, masks{}.bands([]int64{1, 2, 3}), 3, "the office has all of them")
}
