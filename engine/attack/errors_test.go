package attack

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
)

// Without errors the figures are those of Attack, to the last digit, and with few nearly so.
func TestNoErrors(t *testing.T) {
	classes := []Class{{1, 1}, {1, 4}, {2, 6}, {0, 5}, {1, 9}, {3, 3}}
	for _, s := range Strategies(2) {
		want := s.Result(classes)
		assert.Equal(t, want, s.ResultWithErrors(classes, 1))
		near := s.ResultWithErrors(classes, 1-1e-9)
		assert.InEpsilon(t, want.Correct, near.Correct, 1e-6)
		assert.InEpsilon(t, want.CostWith, near.CostWith, 1e-6)
		assert.InEpsilon(t, want.CostWithout, near.CostWithout, 1e-6)
	}
	for _, people := range []float64{1, 2, 50, 30_000} {
		a, b, c := diverged(people, 1-1e-12)
		assert.InEpsilon(t, 1/people, a, 1e-6)
		assert.InEpsilon(t, 1/people, b, 1e-6)
		assert.InEpsilon(t, 1/(1+people), c, 1e-6)
	}
}

// The attack is played: each person is taken, with some probability, to be of the class of somebody else.
func TestErrorsPlayed(t *testing.T) {
	classes := []Class{{1, 1}, {1, 3}, {2, 4}, {0, 7}, {1, 40}, {3, 145}, {0, 200}}
	const agree, rounds = .8, 60_000
	consider := func(i int) bool { return i == 0 || i == 1 || i == 2 }
	var people, of, records []int // the class of each person, and the persons of the sample
	for i, c := range classes {
		for k := range c.Population {
			if k < c.Sample {
				records = append(records, len(people))
			}
			people, of = append(people, i), append(of, i)
		}
	}
	var considered []int
	for _, p := range records {
		if consider(people[p]) {
			considered = append(considered, p)
		}
	}
	n := float64(len(people))
	r := rand.New(rand.NewPCG(3, 3))
	var back, with, without, forth, cost2, rest2, looked float64
	for range rounds {
		for p := range of {
			if of[p] = people[p]; r.Float64() > agree {
				of[p] = people[r.IntN(len(people))]
			}
		}
		p := considered[r.IntN(len(considered))]
		var fits []int
		for q, c := range of {
			if c == people[p] {
				fits = append(fits, q)
			}
		}
		cost, rest := n, n+1
		if len(fits) > 0 {
			cost, rest = n/float64(len(fits)), (n+1)/float64(1+len(fits))
			if fits[r.IntN(len(fits))] == p {
				back++
			}
		}
		with, without, cost2, rest2 = with+cost, without+rest, cost2+cost*cost, rest2+rest*rest
		// From a person who is taken to be in a considered class, to a record of it.
		q := r.IntN(len(people))
		for !consider(of[q]) {
			q = r.IntN(len(people))
		}
		looked++
		var match []int
		for _, p := range records {
			if people[p] == of[q] {
				match = append(match, p)
			}
		}
		if match[r.IntN(len(match))] == q {
			forth++
		}
	}
	// Somebody who is mistaken may be taken for one of the own class, so that a few more agree than said.
	got := AttackWithErrors(classes, SampleToPopulation, agree, consider)
	assert.InDelta(t, got.Correct, back/rounds, .01)
	sd := math.Sqrt(cost2/rounds-with/rounds*with/rounds) / math.Sqrt(rounds)
	assert.InDelta(t, got.CostWith, with/rounds, 4*sd+.01*got.CostWith)
	sd = math.Sqrt(rest2/rounds-without/rounds*without/rounds) / math.Sqrt(rounds)
	assert.InDelta(t, got.CostWithout, without/rounds, 4*sd+.01*got.CostWithout)
	assert.InDelta(t, AttackWithErrors(classes, PopulationToSample, agree, consider).Correct, forth/looked, .015)
}

// The estimate of a model that knows the population is as the population says.
func TestEstimateWithErrors(t *testing.T) {
	classes := []Class{{1, 1}, {2, 6}, {1, 9}}
	e := &Estimate{People: 16}
	for _, c := range classes {
		f := float64(c.Population)
		e.Sample, e.Match, e.After, e.Expected = append(e.Sample, c.Sample), append(e.Match, 1/f), append(e.After, 1/(1+f)), append(e.Expected, f)
	}
	assert.Same(t, e, e.WithErrors(1))
	w := e.WithErrors(.7)
	for i, c := range classes {
		a, b, d := diverged(float64(c.Population), .7)
		assert.InEpsilon(t, a, w.Match[i], 1e-9)
		assert.InEpsilon(t, b, w.first[i], 1e-9)
		assert.InEpsilon(t, d, w.After[i], 1e-9)
	}
}
