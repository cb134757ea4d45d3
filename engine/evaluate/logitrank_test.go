package evaluate

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/optimize"
	"pgregory.net/rapid"
)

// positions are t_i by the definition: midrank = records below + (records level + 1) / 2.
func positions(score []float64) []float64 {
	t := make([]float64, len(score))
	for i := range score {
		below, level := 0.0, 0.0
		for j := range score {
			if score[j] < score[i] {
				below++
			} else if score[j] == score[i] {
				level++
			}
		}
		share := (below + (level+1)/2) / float64(len(score)+1)
		t[i] = math.Log(share / (1 - share))
	}
	return t
}

// weights are those of records around a plotting point, scaled to maximum 1, by the definition.
func weights(t []float64, at, h float64) (w []float64, trueSum func(truth []bool) (float64, float64)) {
	psi := math.Exp(-at) / (1 + math.Exp(-at)) / (1 + math.Exp(-at))
	width := h / (4 * psi)
	w = make([]float64, len(t))
	most := 0.0
	for i := range t {
		w[i] = math.Exp(-(at - t[i]) * (at - t[i]) / (2 * width * width))
		most = max(most, w[i])
	}
	for i := range w {
		w[i] /= most
	}
	return w, func(truth []bool) (yes, no float64) {
		for i := range w {
			if truth[i] {
				yes += w[i]
			} else {
				no += w[i]
			}
		}
		return yes, no
	}
}

// fitted minimises the weighted logistic loss with gonum, from another start and by another method.
func fitted(t *testing.T, x, w []float64, truth []bool) (a, b float64) {
	problem := optimize.Problem{
		Func: func(p []float64) float64 {
			loss := 0.0
			for i := range x {
				z := p[0] + p[1]*x[i]
				loss += w[i] * (max(z, 0) + math.Log1p(math.Exp(-math.Abs(z))))
				if truth[i] {
					loss -= w[i] * z
				}
			}
			return loss
		},
		Grad: func(g, p []float64) {
			g[0], g[1] = 0, 0
			for i := range x {
				r := 1 / (1 + math.Exp(-p[0]-p[1]*x[i]))
				if truth[i] {
					r--
				}
				g[0] += w[i] * r
				g[1] += w[i] * r * x[i]
			}
		},
	}
	result, err := optimize.Minimize(problem, []float64{0.3, -0.2}, &optimize.Settings{GradientThreshold: 1e-9}, &optimize.BFGS{})
	if result == nil {
		require.NoError(t, err)
	}
	return result.X[0], result.X[1]
}

func ones(n int) []float64 {
	w := make([]float64, n)
	for i := range w {
		w[i] = 1
	}
	return w
}

// residual is what the estimating equations leave, for l = 0 and 1.
func residual(x, w []float64, truth []bool, a, b float64) (r0, r1 float64) {
	for i := range x {
		r := -1 / (1 + math.Exp(-a-b*x[i]))
		if truth[i] {
			r++
		}
		r0 += w[i] * r
		r1 += w[i] * r * x[i]
	}
	return r0, r1
}

func TestLogitRankAgainstOptimiser(t *testing.T) {
	for _, n := range []int{60, 400} {
		score, truth := scored(n, uint64(n))
		for i := range score {
			score[i] = math.Round(8*score[i]) / 8 // ties
		}
		r, err := NewLogitRank(context.Background(), score, truth, 19, 0.5)
		require.NoError(t, err)
		x := positions(score)
		a, b := fitted(t, x, ones(n), truth)
		assert.InDelta(t, b, r.Slope, 1e-6)
		assert.InDelta(t, a, r.Intercept, 1e-6)
		r0, r1 := residual(x, ones(n), truth, r.Intercept, r.Slope)
		assert.InDelta(t, 0, r0, 1e-9)
		assert.InDelta(t, 0, r1, 1e-9)
		skipped := 0
		for j, at := range r.T {
			assert.InDelta(t, math.Log(float64(j+1)/float64(19-j)), at, 1e-12)
			w, sums := weights(x, at, 0.5)
			if yes, no := sums(truth); yes < 2 || no < 2 {
				skipped++
				assert.True(t, math.IsNaN(r.Fit[j]))
				continue
			}
			a, b := fitted(t, x, w, truth)
			assert.InDelta(t, a+b*at, r.Fit[j], 1e-5, "n %d t %v", n, at)
		}
		assert.Equal(t, skipped, r.Skipped)
		assert.Less(t, skipped, 10)
	}
}

// With enough records to start from stretches, the estimating equations still hold, to the last digits.
func TestLogitRankLarge(t *testing.T) {
	score, truth := scored(20_000, 5)
	ties, err := rank(score, truth)
	require.NoError(t, err)
	g := newRegression(ties)
	require.NotEmpty(t, g.ends)
	x := append([]float64(nil), g.t...)
	sorted := make([]bool, len(x))
	for i, p := range g.positive {
		sorted[i] = p > 0
	}
	r, err := NewLogitRank(context.Background(), score, truth, 0, 0)
	require.NoError(t, err)
	assert.Len(t, r.T, DefaultPoints)
	assert.Zero(t, r.Skipped)
	for _, j := range []int{0, 10, 49, 50, 80, 98} {
		at := r.T[j]
		w, _ := weights(x, at, DefaultBandwidth)
		chance := logistic(at)
		require.True(t, g.weigh(at, DefaultBandwidth/(4*chance*(1-chance))))
		l, ok := g.solve(line{5, -3}) // a start far off
		require.True(t, ok)
		assert.InDelta(t, l.intercept, r.Fit[j], 1e-9)
		r0, r1 := residual(x, w, sorted, l.at(-at), l.slope)
		assert.InDelta(t, 0, r0, 1e-7)
		assert.InDelta(t, 0, r1, 1e-7)
	}
}

func TestLogitRankInvariant(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		score, truth := drawScored(t, 0, 40)
		r, err := NewLogitRank(context.Background(), score, truth, 9, 0)
		require.NoError(t, err)
		same, err := NewLogitRank(context.Background(), increase(score), truth, 9, 0)
		require.NoError(t, err)
		assertSame(t, r, same)
		turned := make([]bool, len(truth))
		for i := range truth {
			turned[i] = truth[len(truth)-1-i]
		}
		same, err = NewLogitRank(context.Background(), reversed(score), turned, 9, 0)
		require.NoError(t, err)
		assertSame(t, r, same)

		skipped := 0
		for _, fit := range r.Fit {
			if math.IsNaN(fit) {
				skipped++
			}
			assert.False(t, math.IsInf(fit, 0))
		}
		assert.Equal(t, skipped, r.Skipped)
		if !math.IsNaN(r.Slope) {
			r0, r1 := residual(positions(score), ones(len(score)), truth, r.Intercept, r.Slope)
			assert.InDelta(t, 0, r0, 1e-6)
			assert.InDelta(t, 0, r1, 1e-6)
		}

		// Turning the score upside down mirrors the plot.
		down := make([]float64, len(score))
		for i, s := range score {
			down[i] = -s
		}
		mirror, err := NewLogitRank(context.Background(), down, truth, 9, 0)
		require.NoError(t, err)
		assert.Equal(t, math.IsNaN(r.Slope), math.IsNaN(mirror.Slope))
		if !math.IsNaN(r.Slope) {
			assert.InDelta(t, r.Slope, -mirror.Slope, 1e-6*max(1, math.Abs(r.Slope)))
			for j := range r.Fit {
				if other := mirror.Fit[8-j]; !math.IsNaN(r.Fit[j]) && !math.IsNaN(other) {
					assert.InDelta(t, r.Fit[j], other, 1e-5*max(1, math.Abs(other)))
				}
			}
		}
	})
}

// assertSame compares bit by bit, NaN included.
func assertSame(t require.TestingT, a, b *LogitRank) {
	bits := func(r *LogitRank) (u []uint64) {
		for _, values := range [][]float64{r.T, r.Fit, {r.Slope, r.Intercept, float64(r.Skipped)}} {
			for _, v := range values {
				u = append(u, math.Float64bits(v))
			}
		}
		return u
	}
	assert.Equal(t, bits(a), bits(b))
}

func TestMidranks(t *testing.T) {
	ties, err := rank([]float64{5, 1, 5, 3, 5, 1}, []bool{true, true, false, false, true, false})
	require.NoError(t, err)
	assert.Equal(t, []tie{{2, 1}, {1, 0}, {3, 2}}, ties)
	// Midranks 1.5, 3 and 5 of 6.
	g := newRegression(ties)
	for i, want := range []float64{math.Log(1.5 / 5.5), math.Log(3.0 / 4.0), math.Log(5.0 / 2.0)} {
		assert.InDelta(t, want, g.t[i], 1e-15)
	}
}

func TestLogitRankUndefined(t *testing.T) {
	yes, no := true, false
	cases := []struct {
		name  string
		score []float64
		truth []bool
	}{
		{"empty", nil, nil},
		{"one record", []float64{1}, []bool{yes}},
		{"only true", []float64{1, 2, 3}, []bool{yes, yes, yes}},
		{"only false", []float64{1, 2, 3}, []bool{no, no, no}},
		{"separated", []float64{1, 2, 3, 4, 5, 6}, []bool{no, no, no, yes, yes, yes}},
		{"separated, reversed", []float64{6, 5, 4, 3, 2, 1}, []bool{no, no, no, yes, yes, yes}},
		{"level with the nearest", []float64{1, 2, 3, 3, 5, 6}, []bool{no, no, no, yes, yes, yes}},
		{"all tied", []float64{2, 2, 2, 2, 2, 2}, []bool{no, no, no, yes, yes, yes}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			r, err := NewLogitRank(context.Background(), c.score, c.truth, 5, 0.5)
			require.NoError(t, err)
			assert.True(t, math.IsNaN(r.Slope) && math.IsNaN(r.Intercept))
			assert.Equal(t, 5, r.Skipped)
			assert.Len(t, r.T, 5)
			for _, fit := range r.Fit {
				assert.True(t, math.IsNaN(fit))
			}
		})
	}
	for _, bad := range []struct{ points, h float64 }{{-1, 0.5}, {9, -1}, {9, math.NaN()}, {9, math.Inf(1)}} {
		_, err := NewLogitRank(context.Background(), nil, nil, int(bad.points), bad.h)
		assert.Error(t, err, "%v", bad)
	}
	_, err := NewLogitRank(context.Background(), []float64{math.NaN()}, []bool{yes}, 5, 0.5)
	assert.Error(t, err)
}

// Records that are nearly separated have a steep line, not none, and a narrow width loses its points without an end of time.
func TestLogitRankSteep(t *testing.T) {
	const n = 20_000
	score, truth := make([]float64, n), make([]bool, n)
	for i := range score {
		score[i], truth[i] = float64(i), i >= n/2
	}
	truth[n/2-1], truth[n/2] = true, false
	r, err := NewLogitRank(context.Background(), score, truth, 0, 0)
	require.NoError(t, err)
	assert.Greater(t, r.Slope, 1000.0)
	for _, h := range []float64{1e-3, 1e-200} {
		_, err = NewLogitRank(context.Background(), score, truth, 0, h)
		require.NoError(t, err)
	}
	// A score without worth is flat.
	for i := range truth {
		truth[i] = i%2 == 0
	}
	r, err = NewLogitRank(context.Background(), score, truth, 0, 0)
	require.NoError(t, err)
	assert.InDelta(t, 0, r.Slope, 0.01)
	assert.Zero(t, r.Skipped)
}

func TestLogitRankStops(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := NewLogitRank(ctx, []float64{1, 2, 3, 4}, []bool{false, true, false, true}, 5, 0.5)
	require.ErrorIs(t, err, context.Canceled)
}
