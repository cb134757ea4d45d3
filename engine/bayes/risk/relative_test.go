package risk

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"microrisk/engine/bayes"
	"microrisk/engine/graph"
	"pgregory.net/rapid"
)

func source(k int) rand.Source { return rand.NewPCG(1, uint64(k)) }

// recoded is the risk after categories of v became one: to[c] is the new code of c, -1 leaves its uniques out.
func recoded(d *bayes.Data, models []bayes.Model, v int, to []int, u float64) (theta, matches float64, survivors int64) {
	row := func(i int) []uint32 {
		x := make([]uint32, len(d.Levels))
		for w := range x {
			x[w] = d.Codes[w][i]
		}
		return x
	}
	merge := func(x []uint32) string {
		y := make([]int, len(x))
		for w, c := range x {
			y[w] = int(c)
		}
		if to[x[v]] >= 0 {
			y[v] = to[x[v]]
		}
		return fmt.Sprint(y)
	}
	counts := map[string]int64{}
	for i, f := range d.Counts {
		counts[merge(row(i))] += f
	}
	for _, m := range models {
		mean, variance, sum, n := 0.0, 0.0, 0.0, int64(0)
		for i := range d.Counts {
			x := row(i)
			if to[x[v]] < 0 || counts[merge(x)] != 1 {
				continue
			}
			first, second := 0.0, 0.0
			for c := range d.Levels[v] {
				if to[c] != to[x[v]] {
					continue
				}
				y := append([]uint32{}, x...)
				y[v] = uint32(c)
				one, _ := exactMoments(d, m.Graph, y, y, 1)
				first += one
				for e := range d.Levels[v] {
					if to[e] == to[x[v]] {
						z := append([]uint32{}, x...)
						z[v] = uint32(e)
						_, two := exactMoments(d, m.Graph, y, z, 1)
						second += two
					}
				}
			}
			vary := second - first*first
			n++
			mean += first
			variance += vary
			a := first * first / vary
			sum += NegativeBinomialMatch(1, a, u*first/a)
		}
		if n > 0 {
			a := mean * mean / variance
			theta += m.Weight * float64(n) * NegativeBinomialMatch(float64(n), a, u*mean/a)
			matches += m.Weight * sum
		}
		survivors = n
	}
	return theta, matches, survivors
}

// TestRelativesAgainstPairs works the relative risks out from the moments of all pairs of cells.
func TestRelativesAgainstPairs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := anyData(t, 3)
		big := 0
		for _, r := range d.Levels {
			if r > 1 {
				big++
			}
		}
		if big < 2 {
			return
		}
		models := []bayes.Model{{Graph: anyGraph(t, 3), Weight: .3}, {Graph: anyGraph(t, 3), Weight: .7}}
		l, err := NewLaw(context.Background(), d, 1, models, 0)
		require.NoError(t, err)
		const u = 20
		v := rapid.IntRange(0, 2).Draw(t, "v")
		if big == 2 && d.Levels[v] > 1 {
			for w := range 3 {
				if d.Levels[w] > 1 && w != v && d.Levels[w] < 2 {
					return
				}
			}
		}
		same := make([]int, d.Levels[v])
		for c := range same {
			same[c] = c
		}
		theta, matches, n1 := recoded(d, models, v, same, u)
		check := func(to []int, got Relative, name string) {
			after, sum, n := recoded(d, models, v, to, u)
			want := Relative{math.NaN(), math.NaN(), n}
			if n1 > 0 {
				want.Tau2 = 1 - sum/matches
			}
			if n > 0 {
				want.Theta = theta / after
			}
			assert.Equal(t, want.Unique, got.Unique, name)
			for _, p := range [][2]float64{{want.Theta, got.Theta}, {want.Tau2, got.Tau2}} {
				if math.IsNaN(p[0]) {
					assert.True(t, math.IsNaN(p[1]), name)
				} else {
					assert.InDelta(t, p[0], p[1], 1e-9, name)
				}
			}
		}
		o := Options{Unsampled: u}
		drop, err := l.Variables(context.Background(), d, o)
		require.NoError(t, err)
		check(make([]int, d.Levels[v]), drop[v], "drop")
		ordinal := []bool{true, true, true}
		collapse, suppress, err := l.Categories(context.Background(), d, ordinal, o)
		require.NoError(t, err)
		nominal, _, err := l.Categories(context.Background(), d, nil, o)
		require.NoError(t, err)
		for c := range same {
			out := append([]int{}, same...)
			out[c] = -1
			check(out, suppress[v][c], "suppress")
		}
		if r := d.Levels[v]; r > 1 {
			to := append([]int{}, same...)
			to[1] = 0
			check(to, collapse[v][0], "collapse")
			if r == 2 {
				check(to, nominal[v][1], "collapse of two")
			} else {
				assert.False(t, math.IsNaN(nominal[v][1].Tau2) && n1 > 0)
			}
		} else {
			assert.True(t, math.IsNaN(collapse[v][0].Tau2))
		}
	})
}

// TestDropAgainstRefit: without a vertex whose neighbours are complete the marginal model is the graph without it, fitted anew.
func TestDropAgainstRefit(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	var records, less [][]uint32
	for range 150 {
		a, b, c := uint32(rng.IntN(6)), uint32(rng.IntN(5)), uint32(rng.IntN(7))
		records = append(records, []uint32{a, b, (a + c) % 7})
		less = append(less, []uint32{b, (a + c) % 7})
	}
	d, e := tabulate([]int{6, 5, 7}, records), tabulate([]int{5, 7}, less)
	g := graph.FromEdges(3, [][2]int{{0, 1}, {1, 2}})
	o := Options{Unsampled: 400}
	_, all := measure(t, fit(t, d, bayes.Model{Graph: g, Weight: 1}), d, o)
	_, after := measure(t, fit(t, e, bayes.Model{Graph: graph.FromEdges(2, [][2]int{{0, 1}}), Weight: 1}), e, o)
	require.NotZero(t, after.SampleUniques)
	got, err := fit(t, d, bayes.Model{Graph: g, Weight: 1}).Variables(context.Background(), d, o)
	require.NoError(t, err)
	assert.Equal(t, after.SampleUniques, got[0].Unique)
	assert.InEpsilon(t, all.CMUM/after.CMUM, got[0].Theta, 1e-10)
	assert.InEpsilon(t, 1-after.CorrectMatches/all.CorrectMatches, got[0].Tau2, 1e-10)
}
