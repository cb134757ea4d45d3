package baseline

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/stat/distuv"
	"microrisk/engine/bayes"
	"microrisk/engine/bayes/risk"
	"microrisk/engine/graph"
	"microrisk/engine/tabular"
	"pgregory.net/rapid"
)

func TestCount(t *testing.T) {
	h := Count([]int64{3, 1, 1, 7, 3, 1})
	assert.Equal(t, Histogram{{1, 3}, {3, 2}, {7, 1}}, h)
	assert.EqualValues(t, 16, h.Records())
	assert.EqualValues(t, 6, h.Occupied())
	assert.EqualValues(t, 3, h.Uniques())
	assert.Zero(t, Count([]int64{2}).Uniques())
}

// TestForsterWebbExample has the figure of Forster & Webb 2007, section 5: 0.11 for a sample of 4,761 of 154,295.
func TestForsterWebbExample(t *testing.T) {
	r, err := BenedettiFranconi(Histogram{{1, 1543}}, 4761./154295)
	require.NoError(t, err)
	assert.InDelta(t, .1107, r.CMSU, 5e-5)
	p := 4761. / 154295
	assert.InEpsilon(t, p/(1-p)*math.Log(1/p), r.CMSU, 1e-13)
	assert.InEpsilon(t, p, r.PUSU, 1e-15)
	assert.True(t, math.IsNaN(r.PU))
}

// TestBenedettiFranconiSums compares with the sum over the negative binomial's probabilities.
func TestBenedettiFranconiSums(t *testing.T) {
	for _, p := range []float64{1, .9, .3, .04} {
		r, err := BenedettiFranconi(Histogram{{1, 2}, {2, 1}, {5, 1}}, p)
		require.NoError(t, err)
		for i, f := range []float64{1, 2, 5} {
			sum, prob := 0.0, math.Pow(p, f)
			for k := 0.0; k < 3000; k++ {
				sum += prob / (f + k)
				prob *= (f + k) / (k + 1) * (1 - p)
			}
			assert.InEpsilon(t, sum, r.Match[i], 1e-12)
		}
	}
	w, err := BenedettiFranconiWeighted(context.Background(), []int64{1, 2, 1}, []float64{4, 7, .5}, 1)
	require.NoError(t, err)
	assert.InEpsilon(t, .25/.75*math.Log(4), w.Match[0], 1e-13)
	assert.Equal(t, []float64{.25, 0, 1}, w.Unique)
	assert.Equal(t, 1.0, w.Match[2])
	assert.InEpsilon(t, .625, w.PUSU, 1e-15)
}

// simulate draws a sample of a Poisson-gamma population, with the population's counts.
func simulate(cells int, scale, n, population float64) (sample, all []int64) {
	source := rand.NewPCG(7, 7)
	for range cells {
		pi := distuv.Gamma{Alpha: 1 / (float64(cells) * scale), Beta: 1 / scale, Src: source}.Rand()
		f := int64(distuv.Poisson{Lambda: math.Max(n*pi, 1e-300), Src: source}.Rand())
		more := int64(distuv.Poisson{Lambda: math.Max((population-n)*pi, 1e-300), Src: source}.Rand())
		if f > 0 {
			sample = append(sample, f)
		}
		all = append(all, f+more)
	}
	return sample, all
}

func TestBethlehemSimulated(t *testing.T) {
	const cells, scale = 40000, 2e-4
	sample, all := simulate(cells, scale, 5000, 100000)
	h := Count(sample)
	people, alone := 0.0, 0.0
	for _, f := range all {
		people += float64(f)
		if f == 1 {
			alone++
		}
	}
	for name, fit := range map[string]func(Histogram, float64) (PoissonGamma, error){"moments": BethlehemMoments, "likelihood": BethlehemLikelihood} {
		t.Run(name, func(t *testing.T) {
			g, err := fit(h, cells)
			require.NoError(t, err)
			assert.InEpsilon(t, scale, g.Scale, .15)
			r, err := g.Measure(h, people)
			require.NoError(t, err)
			assert.InEpsilon(t, alone/people, r.PU, .15)
			assert.True(t, r.PUSU > 0 && r.PUSU < r.CMSU && r.CMSU < 1)
		})
	}
	g, err := BethlehemLikelihood(h, 1e9)
	require.NoError(t, err)
	assert.InEpsilon(t, float64(h.Occupied()), math.Log1p(float64(h.Records())*g.Scale)/g.Scale, 1e-9)
	near, err := BethlehemLikelihood(h, 9.9e5)
	require.NoError(t, err)
	far, err := BethlehemLikelihood(h, 1.1e6)
	require.NoError(t, err)
	assert.InEpsilon(t, far.Scale, near.Scale, .05)
}

// TestBethlehemTotal: expected population uniques of all cells are those of the unconditional negative binomial.
func TestBethlehemTotal(t *testing.T) {
	const cells, b, n, population = 1000., 3e-3, 200., 900.
	g := PoissonGamma{Cells: cells, Scale: b}
	alpha := g.Shape()
	once := func(u float64) float64 { // P(count = 1) of a Poisson of mean u pi
		return math.Exp(-alpha*math.Log1p(u*b)) * alpha * u * b / (1 + u*b)
	}
	ones := once(n) * cells
	empty := math.Exp(-alpha*math.Log1p(n*b)) * cells
	q := (population - n) * b / (1 + n*b)
	got := ones*math.Exp(-(alpha+1)*math.Log1p(q)) + empty*math.Exp(-alpha*math.Log1p(q))*alpha*q/(1+q)
	assert.InEpsilon(t, cells*once(population), got, 1e-12)
}

func TestBethlehemWithoutVariation(t *testing.T) {
	h := Histogram{{2, 50}}
	g, err := BethlehemMoments(h, 50)
	require.NoError(t, err)
	assert.True(t, math.IsNaN(g.Scale))
	l, err := BethlehemLikelihood(h, 50)
	require.NoError(t, err)
	assert.True(t, math.IsNaN(l.Scale), "%v", l.Scale)
	r, err := g.Measure(h, 1000)
	require.NoError(t, err)
	assert.True(t, math.IsNaN(r.PU) && math.IsNaN(r.Match[0]))
}

func TestPitman(t *testing.T) {
	// Ewens' formula, slope 0: the expected number of singletons of N people is N t/(t+N-1).
	h := Histogram{{1, 3}, {4, 2}}
	r, err := PitmanModel{Theta: 5}.Measure(h, 1e6)
	require.NoError(t, err)
	assert.InEpsilon(t, 5/(5+1e6-1), r.PU, 1e-12)
	assert.InEpsilon(t, (5+11-1)/(5+1e6-1), r.PUSU, 1e-12)
	// A restaurant with table sizes drawn by the formula.
	rng := rand.New(rand.NewPCG(3, 4))
	var tables []int64
	const theta, slope = 40., .4
	for n := 0.0; n < 4000; n++ {
		x := rng.Float64() * (theta + n)
		if x -= theta + slope*float64(len(tables)); x < 0 {
			tables = append(tables, 1)
			continue
		}
		for i := range tables {
			if x -= float64(tables[i]) - slope; x < 0 {
				tables[i]++
				break
			}
		}
	}
	g := Count(tables)
	m, err := FitPitman(g)
	require.NoError(t, err)
	assert.InDelta(t, slope, m.Slope, .1)
	assert.InEpsilon(t, theta, m.Theta, .6)
	for _, step := range [][2]float64{{.5, 0}, {-.5, 0}, {0, .01}, {0, -.01}} {
		s := m.Slope + step[1]
		x := []float64{math.Log(m.Theta + step[0] + s), math.Log(s / (1 - s))}
		assert.Less(t, pitmanLikelihood(g, 4000, g.Occupied(), x), m.LogLikelihood)
	}
	none, err := FitPitman(Histogram{{1, 5}})
	require.NoError(t, err)
	assert.True(t, math.IsNaN(none.Theta))
}

func table4(t *rapid.T) *bayes.Data {
	levels := []int{rapid.IntRange(1, 3).Draw(t, "a"), rapid.IntRange(1, 4).Draw(t, "b"), rapid.IntRange(1, 3).Draw(t, "c")}
	d := &bayes.Data{Levels: levels, Codes: make([][]uint32, 3)}
	for i := range levels[0] * levels[1] * levels[2] {
		f := rapid.Int64Range(0, 5).Draw(t, "f")
		if f == 0 {
			continue
		}
		d.Counts = append(d.Counts, f)
		d.Records += f
		d.Codes[0] = append(d.Codes[0], uint32(i%levels[0]))
		d.Codes[1] = append(d.Codes[1], uint32(i/levels[0]%levels[1]))
		d.Codes[2] = append(d.Codes[2], uint32(i/levels[0]/levels[1]))
	}
	return d
}

// TestIndependenceIsTheEmptyGraph compares with package risk.
func TestIndependenceIsTheEmptyGraph(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := table4(t)
		if d.Records == 0 || slices.Max(d.Levels) == 1 {
			return
		}
		fraction := rapid.Float64Range(.01, .9).Draw(t, "fraction")
		r, err := Independence(context.Background(), d, fraction)
		require.NoError(t, err)
		l, err := risk.NewLaw(context.Background(), d, 1, []bayes.Model{{Graph: graph.New(3), Weight: 1}}, 0)
		require.NoError(t, err)
		o := risk.Options{Estimator: risk.Poisson, Unsampled: float64(d.Records) * (1 - fraction) / fraction}
		c, err := l.Cells(context.Background(), d, o)
		require.NoError(t, err)
		f, err := l.File(context.Background(), d, c, o)
		require.NoError(t, err)
		assert.InDeltaSlice(t, c.CorrectMatch, r.Match, 1e-11)
		assert.InDeltaSlice(t, c.PopulationUnique, r.Unique, 1e-11)
		assert.InDelta(t, f.PU, r.PU, 1e-11)
		if f.SampleUniques > 0 {
			assert.InDelta(t, f.CMSU, r.CMSU, 1e-11)
		}
	})
}

func TestTwoWay(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := table4(t)
		if d.Records == 0 {
			return
		}
		table, err := newTable(d)
		require.NoError(t, err)
		fitted, err := table.fit(context.Background(), d)
		require.NoError(t, err)
		shape := tabular.Shape(d.Levels)
		for _, pair := range [][]int{{0, 1}, {0, 2}, {1, 2}} {
			into := shape.Into(pair)
			sums := make([]float64, shape.Of(pair).Cells())
			for i, f := range fitted {
				sums[into[i]] += f
			}
			for i, f := range d.Counts {
				sums[into[table.at(d, i)]] -= float64(f)
			}
			for _, x := range sums {
				assert.InDelta(t, 0, x, 1e-2*float64(d.Records))
			}
		}
		_, err = TwoWay(context.Background(), d, .1)
		require.NoError(t, err)
	})
}

func TestRefusals(t *testing.T) {
	ctx := context.Background()
	_, err := BenedettiFranconi(nil, 0)
	assert.ErrorContains(t, err, "fraction")
	_, err = BenedettiFranconi(Histogram{{2, 1}, {1, 1}}, .1)
	assert.ErrorContains(t, err, "ascend")
	_, err = BenedettiFranconiWeighted(context.Background(), []int64{1}, []float64{0}, 1)
	assert.Error(t, err)
	_, err = BethlehemMoments(Histogram{{1, 5}}, 4)
	assert.ErrorContains(t, err, "at least the 5")
	_, err = PitmanModel{}.Measure(Histogram{{1, 5}}, 4)
	assert.ErrorContains(t, err, "people")
	d := &bayes.Data{Levels: []int{4000, 4000}, Codes: [][]uint32{{1}, {2}}, Counts: []int64{1}, Records: 1}
	_, err = TwoWay(ctx, d, .1)
	assert.ErrorContains(t, err, "10000000")
	r, err := Independence(ctx, d, .1)
	require.NoError(t, err)
	assert.True(t, math.IsNaN(r.PU))
}

func TestWeightedStops(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := BenedettiFranconiWeighted(ctx, []int64{1, 2}, []float64{3, 4}, 2)
	require.ErrorIs(t, err, context.Canceled)
	counts, weights := make([]int64, 20_000), make([]float64, 20_000)
	for i := range counts {
		counts[i], weights[i] = int64(1+i%7), float64(10+i%91)
	}
	one, err := BenedettiFranconiWeighted(context.Background(), counts, weights, 1)
	require.NoError(t, err)
	three, err := BenedettiFranconiWeighted(context.Background(), counts, weights, 3)
	require.NoError(t, err)
	require.True(t, slices.Equal(one.Match, three.Match) && one.CMSU == three.CMSU, "the same for any number of workers")
}
