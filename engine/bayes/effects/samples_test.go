package effects

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/stat/distuv"
)

// The measures against the sum over numbers of people and a grid of effects, from the definitions: F is Poisson, and each sample takes each
// person by itself.
func TestJointAgainstSums(t *testing.T) {
	for _, fractions := range [][]float64{{.02, .05}, {.3, .5}, {.2, .3, .1}, {.5, 1}} {
		s, err := NewSamples(fractions...)
		require.NoError(t, err)
		for _, sigma := range []float64{0, 1.2} {
			j := s.Joint(sigma)
			for _, counts := range [][]int64{{1, 1, 1}, {0, 1, 0}, {3, 4, 2}} {
				counts = counts[:len(fractions)]
				for _, people := range []float64{.05, 2, 30} {
					var all, match, size float64
					law := make([]float64, 10)
					least := int64(0)
					for _, n := range counts {
						least = max(least, n)
					}
					from := max(1, least)
					for F := from; F < int64(300+50*people); F++ {
						prior := 0.0
						for i := -64; i <= 64; i++ {
							z := float64(i) / 8
							lambda := people * math.Exp(sigma*z-sigma*sigma/2)
							prior += math.Exp(-z*z/2 - lambda + float64(F)*math.Log(lambda) - factorial(F))
						}
						for k, n := range counts {
							prior *= math.Exp(
								factorial(F)-factorial(n)-factorial(F-n),
							) * math.Pow(
								fractions[k],
								float64(n),
							) * math.Pow(
								1-fractions[k],
								float64(F-n),
							)
						}
						all, match, size = all+prior, match+prior/float64(F), size+prior*float64(F)
						if i := F - least; i < 10 {
							law[i] += prior
						}
					}
					if fractions[1] == 1 && counts[0] > counts[1] { // all people are in a sample, and have other records
						continue
					}
					a, b := j.Of(counts, people)
					what := fmt.Sprint(fractions, sigma, counts, people)
					require.InDelta(t, match/all, a, 1e-6, what)
					require.InEpsilon(t, size/all, b, 1e-5, what)
					for k, p := range j.Law(counts, people, 10) {
						require.InDelta(t, law[k]/all, p, 1e-7, what)
					}
				}
			}
		}
	}
}

// With one record in each sample the two are one person with probability 1/(1 + mu), mu being whom neither sample has.
func TestUniqueMatchOfPoisson(t *testing.T) {
	s, err := NewSamples(.1, .2)
	require.NoError(t, err)
	match, _ := s.Joint(0).Of([]int64{1, 1}, 7)
	require.InDelta(t, 1/(1+7*.9*.8), match, 1e-7)
}

// Gamma effects against sums.
func TestJointGammaAgainstSums(t *testing.T) {
	s, err := NewSamples(.1, .2)
	require.NoError(t, err)
	const shape, people = .7, 5.0
	var all, match float64
	for F := int64(2); F < 4000; F++ {
		a, _ := math.Lgamma(shape + float64(F))
		p := math.Exp(a - factorial(F) + float64(F)*math.Log(people/(people+shape)))
		p *= distuv.Binomial{N: float64(F), P: .1}.Prob(1) * distuv.Binomial{N: float64(F), P: .2}.Prob(2)
		all, match = all+p, match+p/float64(F)
	}
	got, _ := s.Gamma(shape).Of([]int64{1, 2}, people)
	require.InEpsilon(t, match/all, got, 1e-9)
}

// Large classes: the three points against all numbers of people.
func TestLargeClasses(t *testing.T) {
	for _, fractions := range [][]float64{{.3, .3}, {.3, .2, .4}} {
		s, err := NewSamples(fractions...)
		require.NoError(t, err)
		j := s.Joint(1)
		counts := []int64{300, 250, 420}[:len(fractions)]
		m := j.Mixture(counts, 900)
		require.Greater(t, len(m.Weights), manyPeople/2)
		want := 0.0
		for i, w := range m.Weights {
			if w > 1e-14 {
				a, _ := j.given(float64(m.Least+int64(i)), 900)
				want += w * a
			}
		}
		got, _ := j.Of(counts, 900)
		require.InEpsilon(t, want, got, 1e-6)
	}
}

// samplesOf draws several samples of a population with cell effects over a known model.
func samplesOf(seed uint64, sigma float64, fractions []float64) (cells []Shared, right, unique float64) {
	r := rand.New(rand.NewPCG(seed, 31))
	for range 60_000 {
		people := math.Exp(2.5*r.NormFloat64() - 1)
		lambda := people * math.Exp(sigma*r.NormFloat64()-sigma*sigma/2)
		counts := make([]int64, len(fractions))
		both := 0.0
		for range int(distuv.Poisson{Lambda: lambda, Src: r}.Rand()) {
			in := 0
			for k, p := range fractions {
				if r.Float64() < p {
					counts[k]++
					in++
				}
			}
			if in == 2 {
				both++
			}
		}
		if counts[0] == 1 && counts[1] == 1 {
			unique++
			right += both
		}
		if counts[0]+counts[1] > 0 {
			cells = append(cells, Shared{counts, people})
		}
	}
	return cells, right, unique
}

// Sigma is found again, and the number of right unique matches is as expected.
func TestSigmaOfSamplesIsRecovered(t *testing.T) {
	for _, sigma := range []float64{0, 1, 1.5} {
		fractions := []float64{.04, .07}
		s, err := NewSamples(fractions...)
		require.NoError(t, err)
		var right, expected, variance float64
		for seed := range uint64(6) {
			cells, truth, _ := samplesOf(seed, sigma, fractions)
			f, err := s.EstimateShared(context.Background(), cells)
			require.NoError(t, err)
			require.Empty(t, f.Unknown)
			if sigma == 0 {
				require.Less(t, f.Sigma, .25)
			} else {
				require.InDelta(t, sigma, f.Sigma, 4*f.SE, "seed %d", seed)
			}
			right += truth
			j := s.Joint(f.Sigma)
			for _, c := range cells {
				if c.Records[0] == 1 && c.Records[1] == 1 {
					p, _ := j.Of(c.Records, c.People)
					expected, variance = expected+p, variance+p*(1-p)
				}
			}
		}
		require.InDelta(t, expected, right, 4*math.Sqrt(variance), "sigma %v", sigma)
	}
}

// Errors of rate 0 change nothing; without effects the odds of a unique match are agree to those whom neither sample has, and of all classes
// the pairs that are one person are as many as were played.
func TestSamplesWithErrors(t *testing.T) {
	s, err := NewSamples(.25, .4)
	require.NoError(t, err)
	same, err := s.WithErrors(1)
	require.NoError(t, err)
	require.Same(t, s, same)
	near, err := s.WithErrors(1 - 1e-10)
	require.NoError(t, err)
	for _, counts := range [][]int64{{1, 1}, {2, 1}, {3, 5}} {
		a, _ := s.Joint(1).Of(counts, 4)
		b, _ := near.Joint(1).Of(counts, 4)
		require.InDelta(t, a, b, 1e-6)
	}
	const agree, sigma, people = .7, 1.1, 6.0
	e, err := s.WithErrors(agree)
	require.NoError(t, err)
	p, _ := e.Joint(0).Of([]int64{1, 1}, people)
	require.InDelta(t, agree/(agree+people*(1-agree*.25)*(1-agree*.4)), p, 1e-9)

	// As many people are taken into the class as out of it.
	r := rand.New(rand.NewPCG(4, 45))
	type result struct{ pairs, same float64 }
	played := map[[2]int64]*result{{1, 1}: {}, {2, 1}: {}, {2, 3}: {}}
	for range 600_000 {
		lambda := people * math.Exp(sigma*r.NormFloat64()-sigma*sigma/2)
		var n [2]int64
		both := 0.0
		for range int(distuv.Poisson{Lambda: lambda, Src: r}.Rand()) {
			a, b := r.Float64() < .25, r.Float64() < .4 && r.Float64() < agree
			if a {
				n[0]++
			}
			if b {
				n[1]++
			}
			if a && b {
				both++
			}
		}
		n[1] += int64(distuv.Poisson{Lambda: lambda * (1 - agree) * .4, Src: r}.Rand())
		if x := played[n]; x != nil {
			x.pairs += float64(n[0] * n[1])
			x.same += both
		}
	}
	for n, x := range played {
		p, _ := e.Joint(sigma).Of(n[:], people)
		require.InDelta(t, p, x.same/x.pairs, 5*math.Sqrt(p*(1-p)/x.pairs), "%v", n)
	}
	_, err = s.WithErrors(0)
	require.Error(t, err)
}

func TestSamplesAreRefused(t *testing.T) {
	for _, bad := range [][]float64{{.1}, {.1, 0}, {.1, 1.2}, {.1, math.NaN()}} {
		_, err := NewSamples(bad...)
		require.Error(t, err)
	}
	s, err := NewSamples(.1, .2)
	require.NoError(t, err)
	for _, bad := range []Shared{{[]int64{1}, 1}, {[]int64{0, 0}, 1}, {[]int64{1, 0}, 0}, {[]int64{3, -1}, 1}} {
		_, err := s.EstimateShared(context.Background(), []Shared{bad})
		require.Error(t, err)
	}
	f, err := s.EstimateShared(context.Background(), []Shared{{[]int64{1, 0}, 1}, {[]int64{0, 1}, 1}})
	require.NoError(t, err)
	require.Contains(t, f.Unknown, "no key has 2 to 6 records")
}

// Playing it: people are drawn into two samples, and where each has one record of a cell it is looked whether they are one person.
func TestUniqueMatchesPlayed(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 44))
	const sigma, people = 1.1, 6.0
	fractions := []float64{.25, .4}
	s, err := NewSamples(fractions...)
	require.NoError(t, err)
	unique, right := 0.0, 0.0
	for range 400_000 {
		lambda := people * math.Exp(sigma*r.NormFloat64()-sigma*sigma/2)
		var records [2]int
		both := 0
		for range int(distuv.Poisson{Lambda: lambda, Src: r}.Rand()) {
			a, b := r.Float64() < fractions[0], r.Float64() < fractions[1]
			if a {
				records[0]++
			}
			if b {
				records[1]++
			}
			if a && b {
				both++
			}
		}
		if records == [2]int{1, 1} {
			unique++
			right += float64(both)
		}
	}
	p, _ := s.Joint(sigma).Of([]int64{1, 1}, people)
	require.InDelta(t, p, right/unique, 4*math.Sqrt(p*(1-p)/unique))
}
