package perturb

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func must(k Kernel, err error) Kernel {
	if err != nil {
		panic(err)
	}
	return k
}

func kernels() []Kernel {
	list := append(schemes(), None())
	for _, b := range []int64{3, 5, 7} {
		list = append(list, must(Conventional(b, "")), must(Random(b)), must(RandomFixed(b, 0.75)), must(RandomFixed(b, 1)))
	}
	for _, b := range []int64{2, 4, 10} {
		for _, tie := range []Tie{TieUp, TieDown, TieEven} {
			list = append(list, must(Conventional(b, tie)), must(SmallCounts(7, 4, b, tie)))
		}
		list = append(list, must(Random(b)), must(RandomFixed(b, 0.6)), must(RandomFixed(b, 1)))
	}
	for _, p := range []float64{0, 0.2, 0.5, 1} {
		list = append(list, must(Barnard(p)))
	}
	list = append(list, must(SmallCounts(7, 4, 5, "")), must(SmallCounts(2, 0, 1, "")), must(SmallCounts(4, 10, 3, "")),
		must(Matrix("ptable", [][]Outcome{{{0, 1}}, {{0, 0.5}, {2, 0.5}}, {{0, 0.25}, {2, 0.5}, {4, 0.25}}, {{2, 0.3}, {3, 0.4}, {4, 0.3}}})))
	return list
}

// Bounds are those of the laws themselves, by trying all true counts.
func TestBoundsAreSharp(t *testing.T) {
	for _, k := range kernels() {
		t.Run(k.Name(), func(t *testing.T) {
			low, high := map[int64]int64{}, map[int64]int64{}
			for i := int64(0); i < 120; i++ {
				sum, before := 0.0, int64(-1)
				for _, o := range k.Outcomes(i) {
					require.Greater(t, o.Count, before)
					require.Positive(t, o.P)
					before = o.Count
					sum += o.P
					if _, ok := low[o.Count]; !ok {
						low[o.Count] = i
					}
					high[o.Count] = i
				}
				require.InDelta(t, 1, sum, 1e-12)
			}
			for j := int64(0); j < 80; j++ {
				l, h, ok := k.Bounds(j)
				_, can := low[j]
				require.Equal(t, can, ok, j)
				if can {
					require.Equal(t, []int64{low[j], high[j]}, []int64{l, h}, j)
					for i := max(0, l-2); i <= h+2; i++ {
						if Probability(k, j, i) > 0 {
							require.True(t, i >= l && i <= h, "%d published for %d", j, i)
						}
					}
				}
			}
			_, _, ok := k.Bounds(-1)
			require.False(t, ok)
		})
	}
}

// The table of trivial bounds of Smith 2011, chapter 2.
func TestBoundsOfTheThesis(t *testing.T) {
	for _, c := range []struct {
		kernel       Kernel
		j, low, high int64
	}{
		{must(Conventional(5, "")), 0, 0, 2}, {must(Conventional(5, "")), 10, 8, 12}, {must(Random(3)), 0, 0, 2}, {must(Random(3)), 6, 4, 8},
		{must(Barnard(0.9)), 0, 0, 1}, {must(Barnard(0.9)), 1, 1, 2}, {must(Barnard(0.9)), 4, 3, 5},
		{must(SmallCounts(7, 4, 5, "")), 4, 1, 7}, {must(SmallCounts(7, 4, 5, "")), 10, 8, 12}, {must(SmallCounts(7, 4, 5, "")), 0, 0, 0},
	} {
		low, high, ok := c.kernel.Bounds(c.j)
		require.True(t, ok)
		require.Equal(t, []int64{c.low, c.high}, []int64{low, high}, "%s, %d", c.kernel.Name(), c.j)
	}
}

func TestUnbiased(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := must(Random(rapid.Int64Range(2, 50).Draw(t, "base")))
		i := rapid.Int64Range(0, 500).Draw(t, "count")
		mean := 0.0
		for _, o := range k.Outcomes(i) {
			mean += o.P * float64(o.Count)
		}
		require.InDelta(t, float64(i), mean, 1e-9)
	})
}

// A cell is drawn alike each time, and over many cells with the probabilities of the law.
func TestDraws(t *testing.T) {
	key := KeyOf([]byte("secret"))
	require.Equal(t, Uniform(key, []byte("a")), Uniform(key, []byte("a")))
	require.NotEqual(t, Uniform(key, []byte("a")), Uniform(key, []byte("b")))
	require.NotEqual(t, Uniform(key, []byte("a")), Uniform(KeyOf([]byte("other")), []byte("a")))
	const n = 5000
	for _, k := range kernels() {
		for _, i := range []int64{0, 1, 2, 7, 13} {
			seen := map[int64]int{}
			for c := range n {
				seen[Draw(k, i, Uniform(key, fmt.Appendf(nil, "%d/%d", i, c)))]++
			}
			total := 0
			for _, o := range k.Outcomes(i) {
				sd := math.Sqrt(o.P * (1 - o.P) / n)
				require.InDelta(t, o.P, float64(seen[o.Count])/n, 5*sd+1e-12, "%s: %d as %d", k.Name(), i, o.Count)
				total += seen[o.Count]
			}
			require.Equal(t, n, total)
		}
	}
}

func TestRefusals(t *testing.T) {
	for want, make := range map[string]func() (Kernel, error){
		"the base is 0":          func() (Kernel, error) { return Random(0) },
		"the base is -5":         func() (Kernel, error) { return Conventional(-5, "") },
		"the base 4 is even":     func() (Kernel, error) { return Conventional(4, "") },
		"the base 5 is odd":      func() (Kernel, error) { return Conventional(5, TieUp) },
		`the tie rule is "away"`: func() (Kernel, error) { return Conventional(4, "away") },
		"must be a probability":  func() (Kernel, error) { return Barnard(math.NaN()) },
		"nearest multiple is 0":  func() (Kernel, error) { return RandomFixed(3, 0) },
		"at least 1":             func() (Kernel, error) { return SmallCounts(0, 4, 5, "") },
		"need no tie rule":       func() (Kernel, error) { return SmallCounts(1, 4, 1, TieUp) },
		"has no rows":            func() (Kernel, error) { return Matrix("m", nil) },
		"sum to 0.5":             func() (Kernel, error) { return Matrix("m", [][]Outcome{{{0, 0.5}}}) },
		"has 1 twice":            func() (Kernel, error) { return Matrix("m", [][]Outcome{{{1, 0.5}, {1, 0.5}}}) },
		"published as -1":        func() (Kernel, error) { return Matrix("m", [][]Outcome{{{-1, 1}}}) },
		"it must be from 0 to 1": func() (Kernel, error) { return Matrix("m", [][]Outcome{{{0, 2}}}) },
	} {
		_, err := make()
		require.ErrorContains(t, err, want)
	}
}

// Counts that a row publishes are such that no larger true count overflows.
func TestMatrixOfHugeCounts(t *testing.T) {
	_, err := Matrix("huge", [][]Outcome{{{math.MaxInt64 - 1, 1}}})
	require.ErrorContains(t, err, "it must be from 0 to 9007199254740992")
	k, err := Matrix("large", [][]Outcome{{{1 << 53, 1}}})
	require.NoError(t, err)
	require.EqualValues(t, 1<<53+1<<40, k.Outcomes(1 << 40)[0].Count)
}
