package mc3_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/stat/distuv"

	"microrisk/operators"
	"microrisk/operators/mc3"
	"microrisk/schemas"
)

// clumpy draws a population whose two variables are independent but for an effect of each cell, and a sample of it: rows, and the people of each.
func clumpy(seed uint64, sigma, fraction float64) (rows []string, people map[string]int, size int) {
	r := rand.New(rand.NewPCG(seed, 11))
	people = map[string]int{}
	for a := range 45 {
		for b := range 40 {
			m := 20 * math.Pow(.93, float64(a)) * math.Pow(.95, float64(b))
			lambda := m * math.Exp(sigma*r.NormFloat64()-sigma*sigma/2)
			if n := int(distuv.Poisson{Lambda: lambda, Src: r}.Rand()); n > 0 {
				key := fmt.Sprintf("a%02d b%02d", a, b)
				people[key] = n
				size += n
				for range n {
					if r.Float64() < fraction {
						rows = append(rows, key)
					}
				}
			}
		}
	}
	return rows, people, size
}

func withEffects() mc3.Config {
	return mc3.Config{MeasureOptions: schemas.MeasureOptions{Missing: schemas.MissingCategory}, Search: "fixed", Graph: "independence",
		Effects: mc3.EffectsLognormal}
}

// truths are the measures of the file, counted in the population.
func truths(rows []string, people map[string]int, size int) map[string]float64 {
	counts := map[string]int{}
	for _, key := range rows {
		counts[key]++
	}
	var uniques, alone, matches, sum, all, populationUniques float64
	for key, f := range counts {
		all += float64(f) / float64(people[key])
		if f == 1 {
			uniques++
			matches += 1 / float64(people[key])
			sum += float64(people[key])
			if people[key] == 1 {
				alone++
			}
		}
	}
	for _, n := range people {
		if n == 1 {
			populationUniques++
		}
	}
	return map[string]float64{mc3.LimitPU: populationUniques / float64(size), mc3.LimitPUSU: alone / uniques, mc3.LimitCMUM: uniques / sum,
		mc3.LimitCMSU: matches / uniques, schemas.LimitReidentifications: all}
}

// The truth lies in the intervals of populations that are made as the model says, about as often as they say.
func TestIntervalsHoldTheTruth(t *testing.T) {
	if testing.Short() {
		t.Skip("long, and of one goroutine")
	}
	const samples = 40
	inside := map[string]int{}
	for seed := range uint64(samples) {
		rows, people, size := clumpy(seed, 1.2, .15)
		_, report, err := mc3Rows(t, withEffects(), schemas.Sampling{PopulationSize: int64(size)}, operators.Options{}, rows, nil)
		require.NoError(t, err)
		s := report.Operators[0].Summary.(*mc3.Summary)
		want := truths(rows, people, size)
		require.Len(t, s.Intervals, len(want))
		for _, i := range s.Intervals {
			require.Positive(t, i.SE)
			if i.Lower <= want[i.Measure] && want[i.Measure] <= i.Upper {
				inside[i.Measure]++
			}
		}
	}
	for measure, n := range inside {
		require.GreaterOrEqual(t, n, samples*9/10, measure)
	}
}

// With effects PU is what the population uniques of the sample stand for, and CM|UM what an attack on all sample uniques expects.
func TestFileMeasuresWithEffects(t *testing.T) {
	rows, _, size := clumpy(3, 1, .2)
	out, report, err := mc3Rows(t, withEffects(), schemas.Sampling{PopulationSize: int64(size)}, operators.Options{}, rows, nil)
	require.NoError(t, err)
	require.Len(t, out, len(rows)+1)
	s := report.Operators[0].Summary.(*mc3.Summary)
	require.InDelta(t, *s.PopulationUnique/float64(s.Records), *s.PU, 1e-12)
	require.Equal(t, "scaled", s.Diagnostics.EmptyCells)
	cells := report.Operators[0].Fitted.(mc3.Expecting).Expectation()
	people := 0.0
	for i, f := range cells.Data.Counts {
		if f == 1 {
			people += cells.Cells.ExpectedFrequency[i]
		}
	}
	n1 := float64(s.KeySummary.SampleUniques)
	require.InEpsilon(t, n1/people, *s.CMUM, .02)
	require.Greater(t, *s.CMUM, n1/people, "the mean of 1/F is above 1 over the mean")
	estimate, err := cells.Attack(t.Context())
	require.NoError(t, err)
	var uniques []int
	for i, f := range cells.Data.Counts {
		if f == 1 {
			uniques = append(uniques, i)
		}
	}
	sums, err := estimate.Together(t.Context(), uniques, []int{1, len(uniques)})
	require.NoError(t, err)
	require.InDelta(t, *s.CMUM, n1*sums[1].Match, 1e-12)
	require.InEpsilon(t, cells.Cells.CorrectMatch[uniques[0]], sums[0].Match, .12, "one class: a negative binomial in place of the mixture")
	require.Less(t, sums[0].After, sums[0].Match)
	again, second, err := mc3Rows(t, withEffects(), schemas.Sampling{PopulationSize: int64(size)}, operators.Options{Workers: 3, Batch: 7}, rows, nil)
	require.NoError(t, err)
	require.Equal(t, out, again)
	require.Equal(t, s, second.Operators[0].Summary)
}

// Where there is nothing to be sure of there are no intervals.
func TestNoIntervals(t *testing.T) {
	rows, _, size := clumpy(3, 1, .2)
	anchored := withEffects()
	anchored.Anchor = mc3.AnchorDIS
	for name, c := range map[string]struct {
		config   mc3.Config
		sampling schemas.Sampling
		rows     []string
	}{
		"anchored":            {anchored, schemas.Sampling{PopulationSize: int64(size)}, rows},
		"all are known":       {withEffects(), schemas.Sampling{PopulationSize: int64(len(rows))}, rows},
		"sigma is not known":  {withEffects(), schemas.Sampling{Fraction: .1}, []string{"x 1", "y 2", "z 3"}},
		"no sample unique":    {withEffects(), schemas.Sampling{Fraction: .1}, []string{"x 1", "x 1", "y 2", "y 2"}},
		"there are no people": {withEffects(), schemas.Sampling{Fraction: .1}, nil},
	} {
		_, report, err := mc3Rows(t, c.config, c.sampling, operators.Options{}, c.rows, nil)
		require.NoError(t, err, name)
		require.Nil(t, report.Operators[0].Summary.(*mc3.Summary).Intervals, name)
	}
}

// Intervals are those of beta laws, also where a figure is nearly 0, nearly sure, or not known at all.
func TestIntervalsAtTheBorders(t *testing.T) {
	for _, c := range []struct{ x, se, most, lower, upper float64 }{
		{.5, .001, 1, .49804, .50196}, {200, 10, 1e6, 180.87, 220.07}, {1e-6, 1.4e-4, 1, 0, 0}, {.3, .5, 1, 0, 1}, {0, 0, 1, 0, 0}, {1, 0, 1, 1, 1},
		{.01, .01, 1, .0002531, .0369}, {40, 2.4, 6362, 35.42, 44.82}, {.4, 2e-4, 1, .399608, .400392},
	} {
		i := mc3.IntervalOf("pu", c.x, c.se, c.most)
		require.InDelta(t, c.lower, i.Lower, 2e-3*c.x+1e-12, "%v", c)
		require.InDelta(t, c.upper, i.Upper, 5e-3*c.x+1e-12, "%v", c)
	}
}
