package effects

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/stat/distuv"

	"microrisk/engine/bayes/risk"
)

// Measures under gamma effects against the sum over numbers of people, from the definitions: P(f and F - f) of two negative binomial numbers is a
// multinomial share of the negative binomial F.
func TestGammaAgainstSums(t *testing.T) {
	for _, shape := range []float64{.3, 1, 7} {
		for _, fraction := range []float64{.02, .5} {
			for _, people := range []float64{.1, 3, 60} {
				for _, f := range []int64{1, 2, 9} {
					var all, alone, match, size float64
					for F := f; F < f+6000; F++ {
						n, k := float64(F), float64(f)
						a, _ := math.Lgamma(shape + n)
						b, _ := math.Lgamma(n + 1)
						p := math.Exp(a-b+n*math.Log(people/(people+shape))) * math.Exp(distuv.Binomial{N: n, P: fraction}.LogProb(k))
						if F == f && f == 1 {
							alone = p
						}
						all, match, size = all+p, match+p/n, size+p*n
					}
					x, y, z := Gamma(shape, fraction, f, people)
					what := fmt.Sprint(shape, fraction, people, f)
					require.InDelta(t, alone/all, x, 1e-9, what)
					require.InEpsilon(t, match/all, y, 1e-8, what)
					require.InEpsilon(t, size/all, z, 1e-6, what)
				}
			}
		}
	}
}

// The shape of gamma effects is found again.
func TestShapeIsRecovered(t *testing.T) {
	for _, shape := range []float64{.5, 2} {
		r := rand.New(rand.NewPCG(3, 9))
		var cells []Cell
		for range 200_000 {
			people := math.Exp(2.5 * r.NormFloat64())
			lambda := people * distuv.Gamma{Alpha: shape, Beta: shape, Src: r}.Rand()
			if lambda == 0 {
				continue
			}
			if f := int64(distuv.Poisson{Lambda: .05 * lambda, Src: r}.Rand()); f > 0 {
				cells = append(cells, Cell{f, people})
			}
		}
		f, err := Estimate(context.Background(), cells, .05)
		require.NoError(t, err)
		require.InEpsilon(t, shape, f.Shape, .12)
		require.Greater(t, f.Sigma, .4)
	}
	f, err := Estimate(context.Background(), made(1, 0, .05), .05)
	require.NoError(t, err)
	require.Greater(t, f.Shape, 15.0, "no effects are gamma effects of no variance")
}

func TestSlopesAgainstDifferences(t *testing.T) {
	for _, sigma := range []float64{0, 1.2} {
		m := New(sigma, .03)
		for _, f := range []int64{1, 2, 40, 300} {
			for _, people := range []float64{1e-30, .2, 31, 4000} {
				a, b, c := m.Slopes(f, people)
				const by = 1e-3
				x1, y1, z1 := m.Of(f, people*math.Exp(by))
				x0, y0, z0 := m.Of(f, people*math.Exp(-by))
				require.InDelta(t, (x1-x0)/(2*by), a, 1e-5)
				require.InDelta(t, (y1-y0)/(2*by), b, 1e-5)
				require.InDelta(t, (z1-z0)/(2*by), c, 1e-4*max(1, z0))
			}
		}
	}
}

// Variances against a million draws of F.
func TestVariancesAgainstDraws(t *testing.T) {
	const sigma, fraction = 1.1, .02
	m := New(sigma, fraction)
	for _, f := range []int64{1, 3} {
		for _, people := range []float64{2, 60} {
			r := rand.New(rand.NewPCG(1, 2))
			var all, mean, square, size, sizes float64
			for range 1_000_000 {
				lambda := people * math.Exp(sigma*r.NormFloat64()-sigma*sigma/2)
				w := math.Pow(fraction*lambda, float64(f)) * math.Exp(-fraction*lambda)
				F := float64(f) + distuv.Poisson{Lambda: (1 - fraction) * lambda, Src: r}.Rand()
				all, mean, square, size, sizes = all+w, mean+w/F, square+w/F/F, size+w*F, sizes+w*F*F
			}
			a, b := m.Variances(f, people)
			require.InEpsilon(t, square/all-mean*mean/all/all, a, .04, "f %d, people %v", f, people)
			require.InEpsilon(t, sizes/all-size*size/all/all, b, .12, "f %d, people %v", f, people)
		}
	}
}

func TestPoissonMatches(t *testing.T) {
	for _, f := range []float64{1, 2, 30} {
		for _, mean := range []float64{0, .01, 3, 80, 399, 401, 3000} {
			p := distuv.Poisson{Lambda: max(mean, 1e-12)}
			want := 0.0
			for k := 0.0; k < mean+40*math.Sqrt(mean+1)+60; k++ {
				want += p.Prob(k) / (f + k) / (f + k)
			}
			match, square := risk.PoissonMatches(f, mean)
			require.Equal(t, risk.PoissonMatch(f, mean), match)
			require.InEpsilon(t, want, square, 1e-5, "f %v, mean %v", f, mean)
		}
	}
}

func TestAfterAgainstDraws(t *testing.T) {
	const sigma, fraction = 1.1, .02
	m := New(sigma, fraction)
	for _, f := range []int64{1, 3, 70} {
		for _, people := range map[bool][]float64{true: {3000, 9000}, false: {2, 60, 6000}}[f > 3] {
			r := rand.New(rand.NewPCG(1, 2))
			var all, mean float64
			for range 200_000 {
				lambda := people * math.Exp(sigma*r.NormFloat64()-sigma*sigma/2)
				w := math.Exp(float64(f)*math.Log(fraction*lambda) - fraction*lambda)
				all, mean = all+w, mean+w*risk.PoissonMatch(float64(f+1), (1-fraction)*lambda)
			}
			require.InEpsilon(t, mean/all, m.After(f, people), .05, "f %d, people %v", f, people)
		}
	}
	alone, match, expected := New(0, .1).Of(2, 50)
	require.InDelta(t, risk.PoissonMatch(3, 45), New(0, .1).After(2, 50), 1e-8)
	require.Zero(t, alone)
	require.Greater(t, match, New(0, .1).After(2, 50))
	require.InDelta(t, 47, expected, 1e-6)
}
