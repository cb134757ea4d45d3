package evaluate

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
	"pgregory.net/rapid"
)

func TestCalibrate(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 60).Draw(t, "n")
		bins := rapid.IntRange(1, 12).Draw(t, "bins")
		values := rapid.IntRange(1, 80).Draw(t, "values")
		estimate, truth := make([]float64, n), make([]float64, n)
		for i := range n {
			estimate[i] = float64(rapid.IntRange(0, values).Draw(t, "estimate")) / 80
			truth[i] = 1 / float64(rapid.IntRange(1, 5).Draw(t, "F"))
		}
		got, err := Calibrate(estimate, truth, bins)
		require.NoError(t, err)
		assert.LessOrEqual(t, len(got), bins)
		order := make([]int, n)
		for i := range order {
			order[i] = i
		}
		slices.SortStableFunc(order, func(i, j int) int {
			return int(math.Copysign(1, estimate[i]-estimate[j])) * b2i(estimate[i] != estimate[j])
		})
		first := 0
		for _, b := range got {
			require.Positive(t, b.Count)
			members := order[first : first+b.Count]
			var x, y []float64
			for _, i := range members {
				x, y = append(x, estimate[i]), append(y, truth[i])
			}
			assert.InDelta(t, stat.Mean(x, nil), b.Estimate, 1e-12)
			assert.InDelta(t, stat.Mean(y, nil), b.Observed, 1e-12)
			if b.Count == 1 {
				assert.True(t, math.IsNaN(b.SE))
			} else {
				assert.InDelta(t, stat.StdErr(stat.StdDev(y, nil), float64(len(y))), b.SE, 1e-12)
			}
			if first > 0 {
				assert.Greater(t, estimate[members[0]], estimate[order[first-1]], "a tie is split")
			}
			first += b.Count
		}
		assert.Equal(t, n, first)

		// The order of the records makes no difference, not even in the last digit.
		turned, err := Calibrate(reversed(estimate), reversed(truth), bins)
		require.NoError(t, err)
		require.Len(t, turned, len(got))
		for i := range got {
			if got[i].Count == 1 {
				got[i].SE, turned[i].SE = 0, 0
			}
		}
		assert.Equal(t, got, turned)
	})
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

func reversed(values []float64) []float64 {
	other := slices.Clone(values)
	slices.Reverse(other)
	return other
}

// Without ties the bins are of equal count, up to one.
func TestCalibrateEqual(t *testing.T) {
	for _, n := range []int{1, 2, 19, 20, 21, 1003} {
		estimate := make([]float64, n)
		for i := range estimate {
			estimate[i] = float64(i)
		}
		got, err := Calibrate(estimate, estimate, 0)
		require.NoError(t, err)
		assert.Len(t, got, min(n, DefaultBins))
		for _, b := range got {
			assert.Contains(t, []int{n / DefaultBins, n/DefaultBins + 1}, b.Count, "%d records", n)
		}
	}
}

func TestCalibrateRefused(t *testing.T) {
	for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		_, err := Calibrate([]float64{1, bad}, []float64{0, 0}, 5)
		assert.ErrorContains(t, err, "estimate 1")
		_, err = Calibrate([]float64{1, 1}, []float64{bad, 0}, 5)
		assert.ErrorContains(t, err, "truth 0")
	}
	_, err := Calibrate([]float64{1}, nil, 5)
	assert.Error(t, err)
	_, err = Calibrate(nil, nil, -1)
	assert.Error(t, err)
	got, err := Calibrate(nil, nil, 0)
	assert.NoError(t, err)
	assert.Empty(t, got)
}

// direct is the definition: distances sorted, weights, and least squares by QR.
func direct(x, y []float64, at, span float64) float64 {
	distance := make([]float64, len(x))
	for i := range x {
		distance[i] = math.Abs(x[i] - at)
	}
	sorted := slices.Sorted(slices.Values(distance))
	near := min(max(int(math.Floor(span*float64(len(x))+1e-7)), 2), len(x))
	width := sorted[near-1]
	var a, b []float64
	for i := range x {
		if d := distance[i] / width; d < 1 {
			w := math.Sqrt(math.Pow(1-d*d*d, 3))
			a = append(a, w, w*(x[i]-at))
			b = append(b, w*y[i])
		}
	}
	var solution mat.Dense
	if err := solution.Solve(mat.NewDense(len(b), 2, a), mat.NewDense(len(b), 1, b)); err != nil {
		return math.NaN()
	}
	return solution.At(0, 0)
}

func TestLoess(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for round := range 50 {
		n := 10 + r.IntN(60)
		x, y := make([]float64, n), make([]float64, n)
		for i := range x {
			x[i] = 4 * r.Float64()
			if round%2 == 0 {
				x[i] = math.Round(10 * x[i]) // ties
			}
			y[i] = math.Sin(x[i]) + r.NormFloat64()
		}
		at := append([]float64{-1, 2, 50}, x...)
		span := 0.4 + 0.6*r.Float64()
		got := Loess(x, y, at, span)
		assert.Equal(t, got, Loess(reversed(x), reversed(y), at, span))
		for i := range at {
			want := direct(x, y, at[i], span)
			if math.IsNaN(got[i]) || math.IsNaN(want) {
				continue // at least one x with weight: looked at below
			}
			assert.InDelta(t, want, got[i], 1e-7*max(1, math.Abs(want)), "at %v span %v", at[i], span)
		}
	}
}

// A line is its own smooth, inside and outside.
func TestLoessLine(t *testing.T) {
	x, y := []float64{1, 2, 4, 5, 7, 11, 12}, make([]float64, 7)
	for i := range x {
		y[i] = 3 - 2*x[i]
	}
	at := []float64{0, 1, 3, 6.5, 12, 20}
	for i, fit := range Loess(x, y, at, 0.6) {
		assert.InDelta(t, 3-2*at[i], fit, 1e-12)
	}
}

func TestLoessUndefined(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	cases := []struct {
		name     string
		x, y     []float64
		at, span float64
		want     float64
	}{
		{"no points", nil, nil, 1, 0.5, nan},
		{"one point, there", []float64{1}, []float64{5}, 1, 0.5, 5},
		{"one point, elsewhere", []float64{1}, []float64{5}, 2, 0.5, nan},
		{"more points at the place than wanted", []float64{1, 1, 1, 1, 2}, []float64{1, 2, 3, 6, 9}, 1, 0.4, 3},
		{"all weight at the place", []float64{0, 1, 1, 2}, []float64{9, 2, 4, 9}, 1, 0.75, 3},
		{"all weight elsewhere", []float64{0, 1, 1}, []float64{9, 2, 4}, 0.9, 0.5, nan},
		{"all points level", []float64{0, 2}, []float64{1, 3}, 1, 1, nan},
		{"missing values are left out", []float64{0, nan, 1, 2, inf, 3, 3}, []float64{0, 7, 1, 2, 7, nan, 3}, 1.5, 2, 1.5},
		{"place not a number", []float64{0, 1}, []float64{0, 1}, nan, 1, nan},
		{"place not finite", []float64{0, 1}, []float64{0, 1}, inf, 1, nan},
		{"lengths differ", []float64{0, 1}, []float64{0}, 0, 1, nan},
		{"span 0", []float64{0, 1}, []float64{0, 1}, 0, 0, nan},
		{"span not a number", []float64{0, 1}, []float64{0, 1}, 0, nan, nan},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got := Loess(c.x, c.y, []float64{c.at}, c.span)[0]
			if math.IsNaN(c.want) {
				assert.True(t, math.IsNaN(got), "%v", got)
			} else {
				assert.InDelta(t, c.want, got, 1e-12)
			}
		})
	}
}
