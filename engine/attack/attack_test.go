package attack

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// drawClasses makes a population with a sample of it.
func drawClasses(t *rapid.T) []Class {
	classes := make([]Class, rapid.IntRange(1, 12).Draw(t, "classes"))
	for i := range classes {
		classes[i].Population = rapid.Int64Range(1, 9).Draw(t, "F")
		classes[i].Sample = rapid.Int64Range(0, classes[i].Population).Draw(t, "f")
	}
	return classes
}

// Smith 2011, section 5.4: what dominates what.
func TestDominance(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		classes := drawClasses(t)
		r := rapid.Int64Range(1, 4).Draw(t, "r")
		var result [8]Result
		for _, s := range Strategies(r) {
			result[s.Number] = s.Result(classes)
		}
		atLeast := func(a, b float64, what string) {
			if a < b*(1-1e-12) {
				t.Fatalf("%s: %v < %v", what, a, b)
			}
		}
		atLeast(result[4].Correct, result[5].Correct, "4 >= 5")
		atLeast(result[6].Correct, result[7].Correct, "6 >= 7")
		atLeast(result[3].Correct, result[2].Correct, "3 >= 2")
		atLeast(result[5].EfficiencyWith, result[4].EfficiencyWith, "efficiency 5 >= 4")
		atLeast(result[7].EfficiencyWith, result[6].EfficiencyWith, "efficiency 7 >= 6")
		for _, r := range result[1:] {
			atLeast(r.CostWith, r.CostWithout, "replacement costs")
		}
		f := Measure(classes)
		atLeast(f.CMSU, f.PUSU, "PU|SU <= CM|SU")
		if f.CMSU != result[4].Correct || f.CMUM != result[5].Correct {
			t.Fatalf("CM|SU %v and CM|UM %v are not those of strategies 4 and 5", f.CMSU, f.CMUM)
		}
	})
}

// Jensen's inequality is an equality where all F are equal.
func TestEqualClasses(t *testing.T) {
	classes := []Class{{1, 7}, {1, 7}, {3, 7}, {3, 7}, {0, 7}}
	s := Strategies(3)
	assert.InDelta(t, s[3].Result(classes).Correct, s[4].Result(classes).Correct, 1e-15)
	assert.InDelta(t, s[5].Result(classes).Correct, s[6].Result(classes).Correct, 1e-15)
	assert.Equal(t, 1.0, Attack([]Class{{1, 1}}, PopulationToSample, nil).Correct)
}

// The definitions of spec and paper against playing the attack.
func TestSimulated(t *testing.T) {
	classes := []Class{{1, 1}, {1, 4}, {2, 6}, {0, 5}, {1, 9}, {3, 3}}
	consider := func(i int) bool { return i == 0 || i == 2 || i == 4 || i == 3 }
	var people, records, first []int // the class of each, and the first person of each class
	for i, c := range classes {
		first = append(first, len(people))
		for range c.Population {
			people = append(people, i)
		}
		for range c.Sample {
			records = append(records, i)
		}
	}
	random := rand.New(rand.NewPCG(5, 8))
	const rounds = 200_000
	var matches, with, without float64
	for range rounds { // person to sample: the people are looked at in turn until one is in a considered class
		order := random.Perm(len(people))
		for n, p := range order {
			if !consider(people[p]) {
				continue
			}
			without += float64(n + 1)
			// The first f people of a class are its records, and one of these is taken for the person.
			c := classes[people[p]]
			if within := p - first[people[p]]; c.Sample > 0 && int64(within) == random.Int64N(c.Sample) {
				matches++
			}
			break
		}
		for n := 1; ; n++ {
			if consider(people[random.IntN(len(people))]) {
				with += float64(n)
				break
			}
		}
	}
	r := Attack(classes, PopulationToSample, consider)
	assert.InDelta(t, r.Correct, matches/rounds, 0.005)
	assert.InDelta(t, r.CostWith, with/rounds, 0.02)
	assert.InDelta(t, r.CostWithout, without/rounds, 0.02)

	matches, with, without = 0, 0, 0
	var considered []int
	for _, c := range records {
		if consider(c) {
			considered = append(considered, c)
		}
	}
	for range rounds { // sample to population: a record, then people in turn until one has its key
		class := considered[random.IntN(len(considered))]
		for n, p := range random.Perm(len(people)) {
			if people[p] == class {
				without += float64(n + 1)
				if random.Int64N(classes[class].Population) == 0 {
					matches++
				}
				break
			}
		}
		for n := 1; ; n++ {
			if people[random.IntN(len(people))] == class {
				with += float64(n)
				break
			}
		}
	}
	r = Attack(classes, SampleToPopulation, consider)
	assert.InDelta(t, r.Correct, matches/rounds, 0.005)
	assert.InEpsilon(t, r.CostWith, with/rounds, 0.01)
	assert.InEpsilon(t, r.CostWithout, without/rounds, 0.01)
}

func people(classes []Class) (n float64) {
	for _, c := range classes {
		n += float64(c.Population)
	}
	return n
}

func TestNobody(t *testing.T) {
	for _, classes := range [][]Class{nil, {{0, 3}}, {{0, 0}}} {
		for _, s := range Strategies(1) {
			if s.Number == 2 && len(classes) > 0 && classes[0].Population > 0 {
				continue // all classes are considered, and none has a record
			}
			assert.Equal(t, 0.0, s.Result(classes).Correct)
			assert.Equal(t, 0.0, s.Result(classes).CostWith)
			assert.Equal(t, 0.0, s.Result(classes).EfficiencyWithout)
		}
		f := Measure(classes)
		assert.Equal(t, [4]float64{}, [4]float64{f.PU, f.PUSU, f.CMUM, f.CMSU})
	}
}

// With a model that knows the population the estimated frontier is the true one.
func TestFrontierOfTheTruth(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := drawClasses(t)
		n := people(all)
		var sampled []int
		e := &Estimate{People: n}
		for i, c := range all {
			if c.Sample == 0 {
				continue
			}
			f, big := float64(c.Population), c.Sample
			sampled = append(sampled, i)
			e.Sample = append(e.Sample, big)
			e.Match = append(e.Match, 1/f)
			e.After = append(e.After, 1/(1+f))
			e.Expected = append(e.Expected, f)
		}
		e.Together = func(_ context.Context, order, at []int) ([]Sum, error) {
			sums := make([]Sum, len(at))
			for k, m := range at {
				total := 0.0
				for _, i := range order[:m] {
					total += e.Expected[i]
				}
				sums[k] = Sum{1 / total, 1 / (1 + total)}
			}
			return sums, nil
		}
		near := func(a, b Result) {
			for _, x := range [][2]float64{{a.Correct, b.Correct}, {a.CostWith, b.CostWith}, {a.CostWithout, b.CostWithout},
				{a.EfficiencyWith, b.EfficiencyWith}, {a.EfficiencyWithout, b.EfficiencyWithout}} {
				if math.Abs(x[0]-x[1]) > 1e-9*(1+math.Abs(x[1])) {
					t.Fatalf("%+v is not %+v", a, b)
				}
			}
		}
		for _, by := range []Ranking{ByMatch, ByExpected} {
			order := e.Order(by)
			points, err := e.Frontier(t.Context(), order, Steps(len(order)))
			require.NoError(t, err)
			for _, p := range points {
				chosen := map[int]bool{}
				for _, i := range order[:p.Classes] {
					chosen[sampled[i]] = true
				}
				consider := func(i int) bool { return chosen[i] }
				near(p.PopulationToSample, Attack(all, PopulationToSample, consider))
				near(p.SampleToPopulation, Attack(all, SampleToPopulation, consider))
			}
		}
		for _, s := range Strategies(2) {
			got, err := e.Strategy(t.Context(), s)
			require.NoError(t, err)
			if len(sampled) > 0 {
				near(got, s.Result(all))
			}
		}
	})
}

func TestAffordable(t *testing.T) {
	e := &Estimate{People: 100, Sample: []int64{1, 1, 1}, Expected: []float64{20, 5, 10}}
	order := e.Order(ByExpected)
	assert.Equal(t, []int{1, 2, 0}, order)
	assert.Equal(t, 1, e.Affordable(order, 20))  // 100/5
	assert.Equal(t, 2, e.Affordable(order, 19))  // 100/15 = 6.7
	assert.Equal(t, 3, e.Affordable(order, 5))   // 100/35 = 2.9
	assert.Equal(t, 3, e.Affordable(order, 1.5)) // nothing is as cheap
	assert.Equal(t, []int{1, 2, 5, 10, 12}, Steps(12))
	assert.Equal(t, []int{1}, Steps(1))
	assert.Empty(t, Steps(0))
	_, err := e.Frontier(t.Context(), order, []int{4})
	assert.Error(t, err)
}
