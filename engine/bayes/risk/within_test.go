package risk

import (
	"context"
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"microrisk/engine/bayes"
	"microrisk/engine/graph"
)

// summed is a cut by the definitions, in logarithms.
func summed(f, low, high int64, log func(k float64) float64) Cut {
	if high == NoLimit {
		high = low + 400_000
	}
	top := math.Inf(-1)
	for n := low; n <= high; n++ {
		top = max(top, log(float64(n-f)))
	}
	var mass, match, size, alone float64
	for n := low; n <= high; n++ {
		w := math.Exp(log(float64(n-f)) - top)
		mass += w
		match += w / float64(n)
		size += w * float64(n)
		if n == 1 {
			alone = w
		}
	}
	return Cut{top + math.Log(mass), alone / mass, match / mass, size / mass}
}

func requireCut(t *testing.T, want, got Cut, what string) {
	t.Helper()
	require.InDelta(t, want.Log, got.Log, 1e-7*(1+math.Abs(want.Log)), what)
	require.InDelta(t, want.Alone, got.Alone, 1e-8, what)
	require.InEpsilon(t, want.Match, got.Match, 1e-8, what)
	require.InEpsilon(t, want.Size, got.Size, 1e-8, what)
}

var cuts = [][3]int64{
	{1, 1, 1},
	{1, 1, 2},
	{1, 1, 30},
	{1, 2, 5},
	{1, 1, 4000},
	{1, 7, NoLimit},
	{1, 1, NoLimit},
	{3, 3, 3},
	{3, 3, 9},
	{3, 40, 41},
	{50, 50, 60},
	{50, 55, 900},
}

func TestPoissonWithinAgainstSums(t *testing.T) {
	for _, mean := range []float64{1e-9, .01, 1, 4, 60, 3000} {
		for _, c := range cuts {
			want := summed(c[0], c[1], c[2], func(k float64) float64 {
				g, _ := math.Lgamma(k + 1)
				return k*math.Log(mean) - mean - g
			})
			requireCut(t, want, PoissonWithin(c[0], mean, c[1], c[2]), fmt.Sprint(mean, c))
		}
	}
}

func TestNegativeBinomialWithinAgainstSums(t *testing.T) {
	if testing.Short() {
		t.Skip("long, and of one goroutine")
	}
	for _, a := range []float64{.003, .5, 1, 7, 99, 101, 1e4} {
		for _, mean := range []float64{1e-6, .3, 5, 700} {
			for _, c := range cuts {
				q := mean / a
				if q > 1e4 && c[2] == NoLimit {
					continue // the sum has no end
				}
				want := summed(c[0], c[1], c[2], func(k float64) float64 {
					x, _ := math.Lgamma(a + k)
					y, _ := math.Lgamma(a)
					g, _ := math.Lgamma(k + 1)
					return x - y - g - a*math.Log1p(q) + k*math.Log(q/(1+q))
				})
				requireCut(t, want, NegativeBinomialWithin(c[0], a, q, c[1], c[2]), fmt.Sprint(a, mean, c))
			}
		}
	}
	// A gamma law of hardly any spread is Poisson.
	requireCut(t, PoissonWithin(1, 12, 1, 9), NegativeBinomialWithin(1, 1e18, 12e-18, 1, 9), "Poisson")
}

// An F that is known is certain, and one without bounds is what it was; models weigh what they make of the bounds.
func TestWithin(t *testing.T) {
	d := &bayes.Data{Levels: []int{2, 3}, Codes: [][]uint32{{0, 0, 1, 1}, {0, 2, 1, 2}}, Counts: []int64{1, 3, 1, 1}, Records: 6}
	models := []bayes.Model{{Graph: graph.New(2), Weight: .3}, {Graph: graph.Complete(2), Weight: .7}}
	law, err := NewLaw(context.Background(), d, 1, models, 1)
	require.NoError(t, err)
	for _, estimator := range []Estimator{Gamma, Poisson} {
		o := Options{Unsampled: 54, Estimator: estimator}
		free, err := law.Cells(context.Background(), d, o)
		require.NoError(t, err)
		cut, err := law.Cells(context.Background(), d, o)
		require.NoError(t, err)
		outside, err := law.Within(context.Background(), d, cut, []int64{1, 3, 4, 1}, []int64{1, NoLimit, 4, 5}, o)
		require.NoError(t, err)
		require.Equal(t, []float64{1, 0}, []float64{cut.PopulationUnique[0], cut.PopulationUnique[2]})
		require.Equal(t, []float64{1, .25}, []float64{cut.CorrectMatch[0], cut.CorrectMatch[2]})
		require.Equal(t, []float64{1, 4}, []float64{cut.ExpectedFrequency[0], cut.ExpectedFrequency[2]})
		require.Equal(t, free.CorrectMatch[1], cut.CorrectMatch[1])
		require.Zero(t, outside[1])
		require.InDelta(t, 1-free.PopulationUnique[0], outside[0], 1e-12)
		// P(F = 1 | F <= 5) = P(F = 1) / P(F <= 5), both averaged over the models.
		require.InDelta(t, free.PopulationUnique[3]/(1-outside[3]), cut.PopulationUnique[3], 1e-12)
	}
}
