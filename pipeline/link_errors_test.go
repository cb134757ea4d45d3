package pipeline

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/stat/distuv"

	"microrisk/operators/mc3"
	"microrisk/pipeline/divergence"
	"microrisk/pipeline/link"
	"microrisk/pipeline/session"
)

// manyValued is a population of five variables of many categories, with an effect of each combination of the first three.
func manyValued(seed uint64) (people []string) {
	r := rand.New(rand.NewPCG(seed, 15))
	for a := range 20 {
		for b := range 12 {
			for c := range 8 {
				m := 40 * math.Pow(.93, float64(a)) * math.Pow(.9, float64(b)) * math.Pow(.8, float64(c))
				for range int(distuv.Poisson{Lambda: m * math.Exp(r.NormFloat64()-.5), Src: r}.Rand()) {
					people = append(people, fmt.Sprintf("a%d,b%d,c%d,d%d,e%d", a, b, c, (c+r.IntN(15))%20, r.IntN(12)))
				}
			}
		}
	}
	return people
}

// mistakes gives each value of a population another one with a probability: that of somebody else.
func mistakes(people []string, rates []float64, r *rand.Rand) (wrong []string) {
	for _, p := range people {
		values := strings.Split(p, ",")
		for v, rate := range rates {
			for old := values[v]; r.Float64() < rate && values[v] == old; {
				for values[v] == old {
					values[v] = strings.Split(people[r.IntN(len(people))], ",")[v]
				}
			}
		}
		wrong = append(wrong, strings.Join(values, ","))
	}
	return wrong
}

// Samples of one population, the second with errors: rates are learnt, and right unique matches and right pairs are as many as expected.
func TestLinkWithErrors(t *testing.T) {
	t.Chdir(t.TempDir())
	rates := []float64{.05, .1, 0, .15, .02}
	names := []string{"A", "B", "C", "D", "E"}
	inside, within, without := 0, 0.0, 0.0
	const rounds = 6
	for seed := range uint64(rounds) {
		people := manyValued(seed)
		r := rand.New(rand.NewPCG(seed, 16))
		wrong := mistakes(people, rates, r)
		a, b := drawn(t, "a.csv", "A,B,C,D,E", people, .25, r), drawn(t, "b.csv", "A,B,C,D,E", wrong, .3, r)
		s := link.Spec{
			A:              []string{"a.csv"},
			B:              []string{"b.csv"},
			PopulationSize: int64(len(people)),
			ErrorRates:     link.Learn,
			Model:          mc3.Config{Search: "exact"},
		}
		o, err := link.Run(t.Context(), s, session.Options{})
		require.NoError(t, err)
		for v, rate := range rates {
			require.InDelta(t, rate, o.Errors.Rates[v], 4*o.Errors.SE[v]+.005, "%s, seed %d", names[v], seed)
		}
		right := float64(rightOf(o, &o.Links[0], a, b))
		if i := o.Total.Interval; i.Lower <= right && right <= i.Upper {
			inside++
		}
		within += right - o.Total.ExpectedUnique
		t.Logf("%d people: %d unique, %.0f right, expected %.1f (%.1f to %.1f), pairs %.1f, by doubles %.1f; rates %.3f", len(people), o.Total.Unique, right,
			o.Total.ExpectedUnique, o.Total.Interval.Lower, o.Total.Interval.Upper, o.Total.ExpectedPairs, o.Total.Doubles.Value, o.Errors.Rates)
		s.ErrorRates = ""
		plain, err := link.Run(t.Context(), s, session.Options{})
		require.NoError(t, err)
		without += right - plain.Total.ExpectedUnique
		if seed > 0 {
			continue
		}
		none := 0.0
		for _, name := range names {
			s.Errors = append(s.Errors, divergence.Rate{Name: name, Rate: &none})
		}
		same, err := link.Run(t.Context(), s, session.Options{})
		require.NoError(t, err)
		require.Equal(t, plain.Total, same.Total)
		for i := range plain.Classes {
			require.Equal(t, plain.Classes[i].Correct, same.Classes[i].Correct)
		}
		for v := range names {
			s.Errors[v].Rate = &rates[v]
		}
		given, err := link.Run(t.Context(), s, session.Options{})
		require.NoError(t, err)
		require.Equal(t, rates, given.Errors.Rates)
		require.InDelta(t, o.Total.ExpectedUnique, given.Total.ExpectedUnique, o.Total.Interval.SE)
	}
	require.GreaterOrEqual(t, inside, 5)
	require.Less(t, math.Abs(within), math.Abs(without))
}

// Too little to learn from is said kindly, and before anything is written.
func TestLinkLearnsNothing(t *testing.T) {
	t.Chdir(t.TempDir())
	people := clumpyPeople(2)
	r := rand.New(rand.NewPCG(1, 1))
	drawn(t, "a.csv", "A,B,C", people, .04, r)
	drawn(t, "b.csv", "A,B,C", people, .04, r)
	s := link.Spec{A: []string{"a.csv"}, B: []string{"b.csv"}, PopulationSize: int64(len(people)), ErrorRates: link.Learn, Out: "l.csv"}
	_, err := link.Run(t.Context(), s, session.Options{})
	require.ErrorContains(t, err, "people are in both samples, and error rates are learnt from 30 or more: give them")
	drawn(t, "b.csv", "A,B,C", people, .9, r)
	_, err = link.Run(t.Context(), s, session.Options{})
	require.ErrorContains(t, err, "the pairs of records do not tell the error rate of")
	s.Differ = 3
	_, err = link.Run(t.Context(), s, session.Options{})
	require.ErrorContains(t, err, "agree on nothing, of 3")
	require.NoFileExists(t, "l.csv")
}
