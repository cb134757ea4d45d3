package search

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"microrisk/engine/bayes"
)

// rochdale is a survey whose posterior has modes that plain chains do not leave.
func rochdale(t testing.TB) *bayes.Data {
	rows := readCSV(t, "rochdale", "rochdale.csv")
	levels := make([]int, len(rows[0]))
	codes := make([][]uint32, len(rows)-1)
	counts := make([]int64, len(rows)-1)
	for v := range levels {
		var known []string
		for i, row := range rows[1:] {
			if !slices.Contains(known, row[v]) {
				known = append(known, row[v])
			}
			codes[i] = append(codes[i], uint32(slices.Index(known, row[v])))
		}
		levels[v] = len(known)
	}
	for i := range counts {
		counts[i] = 1
	}
	return dataOf(levels, codes, counts)
}

// What chains get wrong is doubted, and what they get right by default is not.
func TestWrongChainsAreDoubted(t *testing.T) {
	if testing.Short() {
		t.Skip("many graphs")
	}
	s := scoresOf(t, rochdale(t), 1)
	exact := find(t, s, Options{Method: Exact, Draws: 100_000})
	for name, c := range map[string]struct {
		o           Options
		wrong, calm int // seeds of 6 that must be wrong, and that must not be doubted, at least
	}{
		"plain, by visits":        {Options{Rungs: 1, Iterations: 200_000, Weights: ByVisits}, 4, 0},
		"plain, by likelihood":    {Options{Rungs: 1, Iterations: 50_000}, 1, 0},
		"tempered, by visits":     {Options{Iterations: 200_000, Weights: ByVisits}, 0, 5},
		"tempered, by likelihood": {Options{Iterations: 50_000}, 0, 5},
		"tempered too shortly":    {Options{Iterations: 2_000, Weights: ByVisits, Thin: 10}, 1, 0},
	} {
		t.Run(name, func(t *testing.T) {
			wrong, calm := 0, 0
			for seed := range uint64(6) {
				c.o.Method, c.o.Seed = MC3, seed+1
				r := find(t, s, c.o)
				off := 0.0
				for v := range r.Edges {
					for w := range v {
						off = max(off, math.Abs(r.Edges[v][w]-exact.Edges[v][w]))
					}
				}
				doubts := r.Diagnostics.Doubts(c.o.Weights)
				if off > .05 {
					wrong++
					assert.NotEmpty(t, doubts, "seed %d is off by %.3f: %+v", seed+1, off, r.Diagnostics.Worst)
				}
				if len(doubts) == 0 {
					calm++
				}
				if c.o.Rungs == 1 {
					require.True(t, math.IsNaN(r.Diagnostics.Unseen), "nothing tells what is unseen without temperatures")
				}
			}
			assert.GreaterOrEqual(t, wrong, c.wrong)
			assert.GreaterOrEqual(t, calm, c.calm)
		})
	}
}

// R-hat and effective size of an indicator, against those of the values themselves.
func TestEdgeDiagnostics(t *testing.T) {
	chains := make([]*chain, 3)
	values := make([][]float64, 3)
	for i := range chains {
		c := &chain{space: flat(2), counts: make([][]int32, batches), samples: make([]float64, 200)}
		for b := range c.counts {
			c.counts[b] = make([]int32, 1)
		}
		for j := range c.samples {
			x := (j*j + i*j/3) % (3 + i) % 2
			c.counts[j*batches/200][0] += int32(x)
			values[i] = append(values[i], float64(x))
		}
		chains[i] = c
	}
	rHat, ess := edgeDiagnostics(chains, standardErrors(chains))
	assert.InEpsilon(t, splitRHat(values), rHat[0], 1e-9)
	assert.Greater(t, ess[0], 0.0)
	assert.LessOrEqual(t, ess[0], 600.0)
	apart := indicatorRHat([]float64{1, 1, 0, 0}, []float64{5, 5, 5, 5})
	assert.True(t, math.IsInf(apart, 1))
	assert.True(t, math.IsNaN(indicatorRHat([]float64{1, 1}, []float64{5, 5})))
}

// Chains that differ in spread but not in place are told apart by their distances from the median.
func TestRankRHat(t *testing.T) {
	narrow, wide := make([]float64, 400), make([]float64, 400)
	for i := range narrow {
		x := float64((i*7919)%401)/200 - 1
		narrow[i], wide[i] = x, 20*x
	}
	assert.Less(t, splitRHat([][]float64{narrow, wide}), 1.05)
	assert.Greater(t, rankRHat([][]float64{narrow, wide}), 1.1)
	assert.Less(t, rankRHat([][]float64{narrow, narrow}), 1.05)
	assert.True(t, math.IsNaN(rankRHat([][]float64{{1, 1, 1, 1}, {1, 1, 1, 1}})))
}
