package risk

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"microrisk/engine/bayes"
	"microrisk/engine/graph"
)

// betaMean integrates a function over a beta law by the trapezoid rule in the logit.
func betaMean(a, b float64, f func(x float64) float64) float64 {
	sum, total := 0.0, 0.0
	for y := -60.0; y < 40; y += .05 {
		x := 1 / (1 + math.Exp(-y))
		w := math.Exp(a*-math.Log1p(math.Exp(-y)) + b*-math.Log1p(math.Exp(y)))
		sum += w * f(x)
		total += w
	}
	return sum / total
}

// CM|UM by draws against integrals: a saturated model, under which the mass of all uniques is beta, and independence of two variables,
// under which it is a sum of products of betas.
func TestThetaByDraws(t *testing.T) {
	rows := [][]uint32{{0, 0}, {0, 1}, {1, 0}, {1, 1}, {1, 1}, {1, 1}, {1, 1}, {1, 1}, {1, 1}}
	d := tabulate([]int{2, 2}, rows)
	const u, n, alpha = 30.0, 9.0, 1.0
	integrals := map[string]func(match func(mass float64) float64) float64{
		"saturated": func(match func(float64) float64) float64 {
			return betaMean(3*(alpha/4+1), alpha/4+6, match)
		},
		"independence": func(match func(float64) float64) float64 {
			// Both margins have 2 of 9 records in category 0; the uniques are all cells but (1, 1).
			a, b := alpha/2+2, alpha/2+7
			return betaMean(a, b, func(p float64) float64 {
				return betaMean(a, b, func(q float64) float64 { return match(1 - (1-p)*(1-q)) })
			})
		},
	}
	gamma := map[string]float64{}
	for name, g := range map[string]*graph.Graph{"saturated": graph.Complete(2), "independence": graph.New(2)} {
		l, err := NewLaw(context.Background(), d, alpha, []bayes.Model{{Graph: g, Weight: 1}}, 0)
		require.NoError(t, err)
		for _, e := range []Estimator{Gamma, Exact, MonteCarlo} {
			o := Options{Estimator: e, Unsampled: u, Draws: 40_000, Seed: 3}
			c, err := l.Cells(t.Context(), d, o)
			require.NoError(t, err)
			f, err := l.File(t.Context(), d, c, o)
			require.NoError(t, err)
			if e == Gamma {
				gamma[name] = f.CMUM
				assert.Nil(t, f.CMUMDrawn)
				continue
			}
			want := integrals[name](func(mass float64) float64 {
				if e == Exact {
					return 3 * PoissonMatch(3, u*mass)
				}
				return 3 * binomialMatch(3, u, mass)
			})
			assert.InDelta(t, want, f.CMUM, 4*f.CMUMDrawn.SE, "%s %s", name, e)
			assert.Less(t, f.CMUMDrawn.SE, .002)
			assert.Less(t, f.CMUMDrawn.Low, want)
			assert.Greater(t, f.CMUMDrawn.High, want)
			assert.Greater(t, math.Abs(f.CMUM-gamma[name]), 5*f.CMUMDrawn.SE, "%s %s is not the gamma's", name, e)
			o.Workers = 3
			again, err := l.File(t.Context(), d, c, o)
			require.NoError(t, err)
			assert.Equal(t, f.CMUM, again.CMUM)
		}
	}
}

// With one sample unique CM|UM is that record's E[1/F].
func TestThetaOfOneUnique(t *testing.T) {
	d := tabulate([]int{2, 2}, [][]uint32{{0, 0}, {1, 1}, {1, 1}})
	l, err := NewLaw(context.Background(), d, 1, []bayes.Model{{Graph: graph.New(2), Weight: 1}}, 0)
	require.NoError(t, err)
	for _, e := range []Estimator{Exact, MonteCarlo} {
		o := Options{Estimator: e, Unsampled: 9}
		c, err := l.Cells(t.Context(), d, o)
		require.NoError(t, err)
		f, err := l.File(t.Context(), d, c, o)
		require.NoError(t, err)
		assert.Equal(t, f.CorrectMatches, f.CMUM)
	}
}
