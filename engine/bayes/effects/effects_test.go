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

// Quadrature against the sum over a fine grid of z, which is written from the definitions.
func TestMeasuresAgainstGrid(t *testing.T) {
	for _, sigma := range []float64{0, .3, 1.2, 3} {
		for _, fraction := range []float64{.001, .5, .99} {
			m := New(sigma, fraction)
			for _, f := range []int64{1, 2, 40} {
				for _, people := range []float64{1e-6, .03, 1, 20, 3000} {
					var alone, match, more, all float64
					lambda := func(i int) float64 { return people * math.Exp(sigma*float64(i)/200-sigma*sigma/2) }
					log := func(i int) float64 {
						z := float64(i) / 200
						return -z*z/2 + float64(f)*math.Log(lambda(i)/people) - fraction*lambda(i)
					}
					top := math.Inf(-1)
					for i := -8000; i <= 20000; i++ {
						top = max(top, log(i))
					}
					for i := -8000; i <= 20000; i++ {
						w, k := math.Exp(log(i)-top), (1-fraction)*lambda(i)
						if w == 0 {
							continue
						}
						all += w
						alone += w * math.Exp(-k)
						match += w * risk.PoissonMatch(float64(f), k)
						more += w * k
					}
					v := m.exact(float64(f), people)
					a, b, c := v[0], v[1], math.Exp(v[2])
					what := fmt.Sprint(sigma, fraction, f, people)
					if f == 1 {
						require.InDelta(t, alone/all, a, 1e-9, what)
					}
					require.InDelta(t, match/all, b, 1e-8*match/all+1e-12, what)
					require.InEpsilon(t, more/all, c, 1e-8, what)
					x, y, e := m.Of(f, people)
					if f == 1 {
						require.InDelta(t, a, x, 1e-7, what)
					}
					require.InDelta(t, b, y, 1e-7, what)
					require.InEpsilon(t, float64(f)+c, e, 1e-6, what)
				}
			}
		}
	}
}

// Quadrature against a million draws of z.
func TestMeasuresAgainstDraws(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	const sigma, fraction, people = 1.1, .02, 60.0
	for _, f := range []int64{1, 3} {
		var all, alone, match, more, alone2 float64
		for range 1_000_000 {
			lambda := people * math.Exp(sigma*r.NormFloat64()-sigma*sigma/2)
			w := math.Pow(fraction*lambda, float64(f)) * math.Exp(-fraction*lambda)
			k := (1 - fraction) * lambda
			all += w
			alone += w * math.Exp(-k)
			match += w * risk.PoissonMatch(float64(f), k)
			more += w * k
			alone2 += w * w * math.Exp(-2*k)
		}
		v := New(sigma, fraction).exact(float64(f), people)
		a, b, c := v[0], v[1], math.Exp(v[2])
		if f == 1 {
			require.InDelta(t, alone/all, a, 5*math.Sqrt(alone2)/all)
		}
		require.InEpsilon(t, match/all, b, .01)
		require.InEpsilon(t, more/all, c, .01)
	}
}

// Without effects the measures are those of a Poisson number.
func TestNoEffects(t *testing.T) {
	m := New(0, .1)
	alone, match, expected := m.Of(1, 5)
	require.InDelta(t, math.Exp(-4.5), alone, 2e-8)
	require.InDelta(t, (1-math.Exp(-4.5))/4.5, match, 2e-8)
	require.InDelta(t, 5.5, expected, 1e-6)
}

// made is a sample of a population with cell effects over a known model.
func made(seed uint64, sigma, fraction float64) []Cell {
	r := rand.New(rand.NewPCG(seed, 9))
	var cells []Cell
	for range 60_000 {
		people := math.Exp(2.5 * r.NormFloat64())
		lambda := people * math.Exp(sigma*r.NormFloat64()-sigma*sigma/2)
		if f := int64(distuv.Poisson{Lambda: fraction * lambda, Src: r}.Rand()); f > 0 {
			cells = append(cells, Cell{f, people})
		}
	}
	return cells
}

func TestSigmaIsRecovered(t *testing.T) {
	for _, sigma := range []float64{0, .5, 1, 1.5} {
		far, with, without := 0, 0.0, 0.0
		for seed := range uint64(10) {
			f, err := Estimate(context.Background(), made(seed, sigma, .05), .05)
			require.NoError(t, err)
			require.Empty(t, f.Unknown)
			if sigma == 0 {
				require.Less(t, f.Sigma, .25)
				continue
			}
			require.InDelta(t, sigma, f.Sigma, 4*f.SE, "seed %d", seed)
			if math.Abs(sigma-f.Sigma) > 2*f.SE {
				far++
			}
			for g := range f.Deviations {
				require.Less(t, math.Abs(f.Deviations[g]), 4.5)
			}
			for g, n := range f.Observed {
				with += math.Pow(float64(n)-f.Expected[g], 2) / f.Expected[g]
				without += math.Pow(float64(n)-f.Without[g], 2) / f.Without[g]
			}
		}
		if sigma > 0 {
			require.Less(t, with, without, "sigma %v", sigma)
		}
		require.LessOrEqual(t, far, 3, "sigma %v", sigma)
	}
}

func TestSigmaIsUnknown(t *testing.T) {
	for says, c := range map[string]struct {
		cells    []Cell
		fraction float64
	}{
		"no key has 2 to 6 records":          {[]Cell{{1, 3}, {1, 2}}, .1},
		"no key has 1 to 6 records":          {[]Cell{{7, 3}, {9, 2}}, .1},
		"all people are in the sample":       {[]Cell{{1, 1}, {2, 2}}, 1},
		"no sigma up to 4 is large enough: ": {append(many(1, 1e-9, 1000), many(2, 1e-9, 900)...), .5},
	} {
		f, err := Estimate(context.Background(), c.cells, c.fraction)
		require.NoError(t, err)
		require.Contains(t, f.Unknown, says)
		require.Zero(t, f.Sigma)
	}
	for _, bad := range [][]Cell{{{0, 1}}, {{1, 0}}, {{1, math.NaN()}}, {{1, math.Inf(1)}}} {
		_, err := Estimate(context.Background(), bad, .1)
		require.Error(t, err)
	}
	_, err := Estimate(context.Background(), nil, 0)
	require.ErrorContains(t, err, "the sampling fraction is 0")
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	_, err = Estimate(ended, made(1, 1, .05), .05)
	require.ErrorIs(t, err, context.Canceled)
}

func many(f int64, people float64, n int) (list []Cell) {
	for range n {
		list = append(list, Cell{f, people})
	}
	return list
}

// Probabilities of counts sum to 1.
func TestProbabilities(t *testing.T) {
	for _, sigma := range []float64{0, .7, 2} {
		for _, rate := range []float64{.01, 1, 8} {
			sum := 0.0
			for f := range 400 {
				sum += math.Exp(logProbability(float64(f), rate, sigma))
			}
			require.InDelta(t, 1, sum, map[bool]float64{true: 1e-8, false: 2e-3}[sigma < 1], "sigma %v, rate %v", sigma, rate)
		}
	}
}

func BenchmarkEstimate(b *testing.B) {
	cells := made(1, 1.2, .05)
	for b.Loop() {
		if _, err := Estimate(context.Background(), cells, .05); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkMeasures(b *testing.B) {
	cells := made(1, 1.2, .05)
	m := New(1.2, .05)
	for b.Loop() {
		for _, c := range cells {
			m.Of(c.Records, c.People)
		}
	}
}
