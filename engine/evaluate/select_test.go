package evaluate

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/stat/distuv"
	"pgregory.net/rapid"
)

// draw takes the rows, given by their strata.
func draw(t require.TestingT, strata []int64, rows []int, d Design, seed, repetition uint64) []bool {
	s, err := NewSelector(strata, d, seed, repetition)
	require.NoError(t, err)
	taken := make([]bool, len(rows))
	for i, h := range rows {
		taken[i] = s.Take(h)
	}
	require.NoError(t, s.Finish())
	return taken
}

func sum(taken []bool) (n int64) {
	for _, take := range taken {
		if take {
			n++
		}
	}
	return n
}

func TestSize(t *testing.T) {
	cases := []struct {
		fraction float64
		n, size  int64
	}{
		{0.25, 10, 2}, {0.35, 10, 4}, {0.5, 5, 2}, {0.5, 7, 4}, // halves to even
		{0.01, 1, 1}, {0.01, 49, 1}, {0.01, 0, 0}, {1, 17, 17}, {1, 1 << 62, 1 << 62}, {math.SmallestNonzeroFloat64, 5, 1}, {0.03, 154295, 4629},
	}
	for _, c := range cases {
		assert.Equal(t, c.size, Design{Fraction: c.fraction}.Size(c.n), "%v of %d", c.fraction, c.n)
	}
}

// Every stratum has exactly the size that was asked for, whatever the order of the rows, and the same numbers give the same sample.
func TestSizesExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		strata := rapid.SliceOfN(rapid.Int64Range(0, 40), 1, 6).Draw(t, "strata")
		d := Design{Fraction: rapid.Float64Range(1e-6, 1).Draw(t, "fraction")}
		seed := rapid.Uint64().Draw(t, "seed")
		var rows []int
		for h, n := range strata {
			for range n {
				rows = append(rows, h)
			}
		}
		rows = rapid.Permutation(rows).Draw(t, "rows")
		taken := draw(t, strata, rows, d, seed, 3)
		by := make([]int64, len(strata))
		for i, h := range rows {
			if taken[i] {
				by[h]++
			}
		}
		for h, n := range strata {
			assert.Equal(t, d.Size(n), by[h])
		}
		assert.Equal(t, taken, draw(t, strata, rows, d, seed, 3))

		// A stratum's sample depends on its own rows only.
		first := make([]int, strata[0])
		var among []bool
		for i, h := range rows {
			if h == 0 {
				among = append(among, taken[i])
			}
		}
		assert.ElementsMatch(t, among, draw(t, strata[:1], first, d, seed, 3))
		assert.Equal(t, append([]bool{}, among...), draw(t, strata[:1], first, d, seed, 3))
	})
}

// Each set of three of six rows is equally likely: chi-square over 20 sets.
func TestUniform(t *testing.T) {
	const rounds = 40_000
	for _, d := range []struct {
		name string
		draw func(repetition uint64) []bool
	}{
		{"rows", func(repetition uint64) []bool {
			return draw(t, []int64{2, 6}, []int{1, 1, 0, 1, 1, 0, 1, 1}, Design{Fraction: 0.5}, 9, repetition)
		}},
		{"clusters", func(repetition uint64) []bool {
			drawn, err := DrawClusters(6, Design{Fraction: 0.5}, 9, repetition)
			require.NoError(t, err)
			return drawn
		}},
		{"seeds", func(repetition uint64) []bool {
			return draw(t, []int64{6}, make([]int, 6), Design{Fraction: 0.5}, repetition, 0)
		}},
	} {
		t.Run(d.name, func(t *testing.T) {
			counts := map[string]int{}
			for repetition := range uint64(rounds) {
				set := ""
				drawn := d.draw(repetition)
				if len(drawn) == 8 { // without the rows of stratum 0
					drawn = append(append(append([]bool{}, drawn[:2]...), drawn[3:5]...), drawn[6:]...)
				}
				for i, take := range drawn {
					if take {
						set += string(rune('0' + i))
					}
				}
				counts[set]++
			}
			require.Len(t, counts, 20)
			square := 0.0
			for _, n := range counts {
				square += (float64(n) - rounds/20) * (float64(n) - rounds/20) / (rounds / 20)
			}
			p := distuv.ChiSquared{K: 19}.Survival(square)
			assert.Greater(t, p, 0.001, "chi-square %v", square)
		})
	}
}

// Successive samples of a stratum are independent of each other, and of those of other strata: joint inclusion is as it must be.
func TestIndependent(t *testing.T) {
	const rounds = 40_000
	var together, strata float64
	before := false
	for repetition := range uint64(rounds) {
		taken := draw(t, []int64{2, 2}, []int{0, 0, 1, 1}, Design{Fraction: 0.5}, 1, repetition)
		if taken[0] && before {
			together++
		}
		if taken[0] == taken[2] {
			strata++
		}
		before = taken[0]
	}
	assert.InDelta(t, 0.25, together/rounds, 4*math.Sqrt(0.1875/rounds))
	assert.InDelta(t, 0.5, strata/rounds, 4*math.Sqrt(0.25/rounds))
}

func TestBernoulli(t *testing.T) {
	const n = 200_000
	d := Design{Fraction: 0.03, Bernoulli: true}
	taken := draw(t, []int64{n}, make([]int, n), d, 5, 6)
	assert.InDelta(t, 0.03*n, sum(taken), 4*math.Sqrt(0.03*0.97*n))
	assert.NotEqual(t, d.Size(n), sum(taken))
	clusters, err := DrawClusters(n, d, 5, 6)
	require.NoError(t, err)
	assert.InDelta(t, 0.03*n, sum(clusters), 4*math.Sqrt(0.03*0.97*n))
	assert.NotEqual(t, taken, clusters)
	both := int64(0)
	for i := range taken {
		if taken[i] && clusters[i] {
			both++
		}
	}
	assert.InDelta(t, 0.0009*n, both, 4*math.Sqrt(0.0009*n))
	assert.EqualValues(t, 50, sum(draw(t, []int64{50}, make([]int, 50), Design{Fraction: 1, Bernoulli: true}, 1, 1)))
}

func TestSmallest(t *testing.T) {
	d := Design{Fraction: 0.01}
	assert.Equal(t, []bool{true}, draw(t, []int64{0, 1}, []int{1}, d, 1, 1)) // a stratum of one record
	assert.Empty(t, draw(t, []int64{0}, nil, d, 1, 1))
	assert.Empty(t, draw(t, nil, nil, d, 1, 1))
	drawn, err := DrawClusters(1, d, 1, 1)
	require.NoError(t, err)
	assert.Equal(t, []bool{true}, drawn)
	drawn, err = DrawClusters(0, d, 1, 1)
	require.NoError(t, err)
	assert.Empty(t, drawn)
	drawn, err = DrawClusters(1000, d, 1, 1)
	require.NoError(t, err)
	assert.EqualValues(t, 10, sum(drawn))
	another, err := DrawClusters(1000, d, 1, 2)
	require.NoError(t, err)
	assert.NotEqual(t, drawn, another)
}

func TestRefused(t *testing.T) {
	for _, fraction := range []float64{0, -1, 1.0000001, math.NaN(), math.Inf(1)} {
		_, err := NewSelector([]int64{5}, Design{Fraction: fraction}, 1, 1)
		assert.ErrorContains(t, err, "not in (0, 1]")
		_, err = DrawClusters(5, Design{Fraction: fraction}, 1, 1)
		assert.Error(t, err)
	}
	_, err := NewSelector([]int64{5, -1}, Design{Fraction: 0.5}, 1, 1)
	assert.ErrorContains(t, err, "stratum 1 has -1 rows")
	_, err = DrawClusters(-1, Design{Fraction: 0.5}, 1, 1)
	assert.Error(t, err)
	_, err = DrawClusters(math.MaxInt64, Design{Fraction: 0.5}, 1, 1)
	assert.Error(t, err)
}

// A population that is not the one that was counted is told of, and never panics.
func TestFinish(t *testing.T) {
	start := func() *Selector {
		s, err := NewSelector([]int64{1, 2}, Design{Fraction: 1}, 1, 1)
		require.NoError(t, err)
		return s
	}
	s := start()
	s.Take(0)
	assert.ErrorContains(t, s.Finish(), "stratum 1 has 2 rows fewer")
	s = start()
	assert.True(t, s.Take(0))
	assert.False(t, s.Take(0))
	assert.ErrorContains(t, s.Finish(), "stratum 0 has 1 rows more")
	s = start()
	assert.False(t, s.Take(2))
	assert.False(t, s.Take(-1))
	assert.ErrorContains(t, s.Finish(), "2 rows are of strata that were not counted")
}
