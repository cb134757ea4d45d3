package linkage

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// Patterns against looking at all pairs.
func TestPatternsAgainstPairs(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 8))
	for range 20 {
		var classes []Class
		seen := map[string]bool{}
		for range 40 {
			codes := []uint32{r.Uint32N(3), r.Uint32N(2), r.Uint32N(4), r.Uint32N(2)}
			if id := fmt.Sprint(codes); !seen[id] {
				seen[id] = true
				classes = append(classes, Class{codes, [2]int64{r.Int64N(3), r.Int64N(4)}})
			}
		}
		want := map[string][2]float64{}
		for i, x := range classes {
			for j, y := range classes {
				differ := []int{}
				for v := range x.Codes {
					if x.Codes[v] != y.Codes[v] {
						differ = append(differ, v)
					}
				}
				w := want[fmt.Sprint(differ)]
				w[0] += float64(x.Records[0] * y.Records[1])
				for s := range 2 {
					if i == j {
						w[1] += float64(x.Records[s] * (x.Records[s] - 1) / 2)
					} else if i < j {
						w[1] += float64(x.Records[s] * y.Records[s])
					}
				}
				want[fmt.Sprint(differ)] = w
			}
		}
		got, err := Patterns(t.Context(), classes, 3)
		require.NoError(t, err)
		require.Len(t, got, 1+4+6+4)
		for _, p := range got {
			w := want[fmt.Sprint(p.Differ)]
			require.Equal(t, w[0], p.Pairs, p.Differ)
			require.Equal(t, w[1], p.Within, p.Differ)
		}
	}
}

// mistaken draws two samples of one population of dependent variables, the second with errors, and counts the pairs that are one person.
func mistaken(seed uint64, people int, fractions [2]float64, rates []float64) (classes []Class, truth map[string]float64) {
	r := rand.New(rand.NewPCG(seed, 12))
	levels := []uint32{40, 25, 20, 30, 15}
	at, truth := map[string]int{}, map[string]float64{}
	add := func(codes []uint32, s int) {
		id := fmt.Sprint(codes)
		i, ok := at[id]
		if !ok {
			i = len(classes)
			at[id] = i
			classes = append(classes, Class{Codes: codes})
		}
		classes[i].Records[s]++
	}
	draw := func() []uint32 {
		var codes []uint32
		kind := r.Uint32N(6)
		for _, n := range levels {
			if c := r.Uint32N(n); r.Float64() < .8 {
				codes = append(codes, c)
			} else {
				codes = append(codes, (kind*7+n)%n)
			}
		}
		return codes
	}
	for range people {
		x := draw()
		a, b := r.Float64() < fractions[0], r.Float64() < fractions[1]
		if a {
			add(x, 0)
		}
		if !b {
			continue
		}
		y, differ := append([]uint32{}, x...), []int{}
		for v, rate := range rates {
			if r.Float64() < rate { // another value
				y[v] = (y[v] + 1 + r.Uint32N(levels[v]-1)) % levels[v]
				differ = append(differ, v)
			}
		}
		add(y, 1)
		if a {
			truth[fmt.Sprint(differ)]++
		}
	}
	return classes, truth
}

// Given rates are learnt again, and the pairs of each pattern that are one person are as many as expected.
func TestRatesAreLearnt(t *testing.T) {
	rates := []float64{.05, .1, 0, .02, .2}
	fractions := [2]float64{.4, .5}
	far := 0
	for seed := range uint64(12) {
		const people = 6000
		classes, truth := mistaken(seed, people, fractions, rates)
		patterns, err := Patterns(t.Context(), classes, 2)
		require.NoError(t, err)
		var n [2]float64
		for _, c := range classes {
			n[0], n[1] = n[0]+float64(c.Records[0]), n[1]+float64(c.Records[1])
		}
		f, g := n[0]/people, n[1]/people
		unknown := make([]float64, len(rates))
		for v := range unknown {
			unknown[v] = math.NaN()
		}
		e, err := Learn(patterns, unknown, n[0]*n[1]/people, 2*f*g/(f*f+g*g))
		require.NoError(t, err)
		for v, rate := range rates {
			require.InDelta(t, rate, e.Rates[v], 4.5*e.SE[v]+.005, "seed %d, variable %d", seed, v)
			if math.Abs(rate-e.Rates[v]) > 2*e.SE[v] {
				far++
			}
		}
		for _, p := range e.Patterns {
			require.InDelta(t, truth[fmt.Sprint(p.Differ)], p.Same, 6*math.Sqrt(p.Same+p.Pairs)+1, "%v", p.Differ)
		}
		given, err := Learn(patterns, rates, n[0]*n[1]/people, 2*f*g/(f*f+g*g))
		require.NoError(t, err)
		require.Equal(t, rates, given.Rates)
		require.InDelta(t, .95*.9*.98*.8, given.Agree(), 1e-12)
		require.True(t, math.IsNaN(given.SE[0]))
	}
	t.Logf("%d of 60 rates are more than 2 standard errors off", far)
	require.LessOrEqual(t, far, 9)
}

func TestRatesAreNotLearnt(t *testing.T) {
	nan := math.NaN()
	patterns := []Pattern{{nil, 50, 1}, {[]int{0}, 5, 5}, {[]int{1}, 5, 5}}
	_, err := Learn(patterns, []float64{nan, nan}, 8, 1)
	require.ErrorContains(t, err, "about 8 people are in both samples")
	many := []Pattern{{nil, 1e7, 1e7}, {[]int{0}, 5e8, 5e8}, {[]int{1}, 5e8, 5e8}}
	_, err = Learn(many, []float64{nan, 0}, 60, 1)
	var unknown *UnknownRateError
	require.ErrorAs(t, err, &unknown)
	require.Zero(t, unknown.Variable)
}
