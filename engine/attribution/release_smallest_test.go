package attribution

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"microrisk/engine/bounds"
)

// The smallest n of a release is that of its law, enumerated, in closed form or estimated; of single tables it is the table's own.
func TestSmallestOfReleases(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		table := drawTable(t)
		of, err := table.Check()
		require.NoError(t, err)
		threshold := rapid.SampledFrom([]float64{1e-9, 0.1, 0.5, 1}).Draw(t, "threshold")
		want, ok, err := of.Smallest(t.Context(), threshold, math.Inf(1))
		require.NoError(t, err)
		if !ok {
			want = Never
		}
		all := upTo(of.n)
		got, err := ofTable(table).SAP(t.Context(), all, ReleaseOptions{Threshold: threshold})
		require.NoError(t, err)
		require.True(t, got.Exact)
		require.Equal(t, want, got.Smallest, "threshold %v of %+v", threshold, table)

		got, err = ofTable(table).SAP(t.Context(), all, ReleaseOptions{Threshold: threshold, Estimate: true, Samples: 50})
		require.NoError(t, err)
		if first := slices.IndexFunc(got.SAP, func(x float64) bool { return x >= threshold }); first < 0 {
			require.EqualValues(t, Never, got.Smallest)
		} else {
			require.GreaterOrEqual(t, got.SAP[got.Smallest], threshold)
			require.True(t, got.Smallest == 0 || got.SAP[got.Smallest-1] < threshold)
		}
		got, err = ofTable(table).SAP(t.Context(), all[:1], ReleaseOptions{Threshold: threshold, Estimate: true, Samples: 50})
		require.NoError(t, err, "a law of few n is continued")
		require.GreaterOrEqual(t, got.Smallest, int64(Never))
		got, err = ofTable(table).SAP(t.Context(), all, ReleaseOptions{})
		require.NoError(t, err)
		require.EqualValues(t, NotFound, got.Smallest, "it was not asked for")
	})
	_, err := ofTable(&Table{Counts: []int64{1}, Lower: []int64{1}, Upper: []int64{1}, TotalUpper: NoTotal}).SAP(t.Context(), nil, ReleaseOptions{Threshold: 2})
	require.ErrorContains(t, err, "the threshold is 2")
}

// The work of a release is nothing where formulas tell all, and in proportion to the people where orders of them must be drawn.
func TestWorkOfReleases(t *testing.T) {
	release := func(scale int64) *Release {
		counts := []int64{3 * scale, 2 * scale, scale, 2 * scale}
		r := &Release{Counts: counts, Published: bounds.Release{Levels: []int{2, 2}}}
		low, high := make([]int64, 4), make([]int64, 4)
		for i, c := range counts {
			low[i], high[i] = c-1, c+1
		}
		r.Published.Margins = []bounds.Margin{{Variables: []int{0, 1}, Low: low, High: high},
			{Variables: []int{0}, Low: []int64{5 * scale, 3 * scale}, High: []int64{5 * scale, 3 * scale}}}
		return r
	}
	small, err := release(1000).Work(t.Context(), ReleaseOptions{})
	require.NoError(t, err)
	large, err := release(100_000_000).Work(t.Context(), ReleaseOptions{})
	require.NoError(t, err)
	require.Greater(t, small, 1e8)
	require.Greater(t, large, 1e13)
	none, err := ofTable(&Table{Counts: []int64{9}, Lower: []int64{9}, Upper: []int64{9}, TotalUpper: NoTotal}).Work(t.Context(), ReleaseOptions{})
	require.NoError(t, err)
	require.Zero(t, none)
}

// The work of tables counts people and kinds of cells.
func TestWorkOfTables(t *testing.T) {
	require.Less(t, Work([]int64{3, 3, 1}, 12, []int64{1, 2}), 1e4)
	require.Less(t, Work([]int64{166_001, 177_397}, 2, []int64{5}), 1e4)
	var counts []int64
	for i := range int64(3000) {
		counts = append(counts, 1000*(400+i))
	}
	require.Greater(t, Work(counts, 3000, []int64{1_000_000_000}), 1e14)
	require.Less(t, Work(counts, 3000, []int64{10}), 1e11)
}
