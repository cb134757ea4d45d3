package linkage

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"microrisk/engine/bayes/effects"
)

// Pairs within samples tell the number of right unique matches on average, whatever the population is: played on a small one.
func TestDoublesPlayed(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 9))
	sizes := []int{1, 1, 1, 2, 2, 3, 5, 9}
	const p, q, rounds = .3, .45, 200_000
	var rights, estimates, squares, variances float64
	for range rounds {
		unique, first, second, right := 0, 0, 0, 0.0
		for _, size := range sizes {
			a, b, both := 0, 0, 0.0
			for range size {
				x, y := r.Float64() < p, r.Float64() < q
				if x {
					a++
				}
				if y {
					b++
				}
				if x && y {
					both++
				}
			}
			switch {
			case a == 1 && b == 1:
				unique++
				right += both
			case a == 2 && b == 0:
				first++
			case a == 0 && b == 2:
				second++
			}
		}
		estimate, se := Doubles(unique, first, second, p, q)
		rights, estimates = rights+right, estimates+estimate
		squares, variances = squares+(estimate-right)*(estimate-right), variances+se*se
	}
	require.InDelta(t, rights/rounds, estimates/rounds, 4*math.Sqrt(squares)/rounds)
	require.Less(t, squares/rounds, variances/rounds)
}

// The variance is that of drawing each match, and what moves sigma and the kind of effects comes on top.
func TestSpread(t *testing.T) {
	s, err := effects.NewSamples(.02, .03)
	require.NoError(t, err)
	cells := []effects.Shared{{Records: []int64{1, 1}, People: 2}, {Records: []int64{1, 1}, People: 80}, {Records: []int64{4, 0}, People: 3}}
	fit := &effects.Fit{Sigma: 1, SE: math.NaN(), Shape: math.Inf(1)}
	out := SpreadOf(s, fit, cells, []int{1, 1, 0})
	want := 0.0
	for i, c := range cells[:2] {
		p, _ := s.Joint(1).Of(c.Records, c.People)
		want += p * (1 - p)
		require.Less(t, out.Slopes[i], 0.)
	}
	require.InEpsilon(t, want, out.Variance, .02)
	require.Zero(t, out.Slopes[2])
	fit.SE = .2
	more := SpreadOf(s, fit, cells, []int{1, 1, 0})
	require.Greater(t, more.Variance, out.Variance)
	fit.Shape = .6
	require.Greater(t, SpreadOf(s, fit, cells, []int{1, 1, 0}).Variance, more.Variance)
}
