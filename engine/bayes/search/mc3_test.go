package search

import (
	"context"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"microrisk/engine/bayes"
	"microrisk/engine/graph"
)

func find(t testing.TB, s *bayes.Scores, o Options) *Result {
	t.Helper()
	r, err := Run(context.Background(), s, o)
	require.NoError(t, err)
	require.NotNil(t, r)
	return r
}

func TestScoresOfModels(t *testing.T) {
	for alpha, precision := range map[string]float64{"1": 1, "64": 64} {
		s := scoresOf(t, czech(t), precision)
		for _, m := range czechModels(t, alpha) {
			require.InEpsilon(t, m.score, s.Graph(m.graph), 1e-12)
			r := find(t, s, Options{Method: Fixed, Graph: m.graph})
			require.InEpsilon(t, m.score, r.Models[0].LogLikelihood, 1e-12)
		}
	}
}

func TestCzechByLikelihood(t *testing.T) {
	if testing.Short() {
		t.Skip("many graphs")
	}
	for alpha, precision := range map[string]float64{"1": 1, "64": 64} {
		want, best := czechEdges(t, alpha), czechModels(t, alpha)
		for _, o := range []Options{
			{Method: MC3, Burn: new(2000), Iterations: 400_000, Rungs: 1},
			{Method: MC3, Burn: new(2000), Iterations: 50_000, Rungs: 4},
			{Method: MC3, Burn: new(2000), Iterations: 50_000, Moves: EdgesMoves},
			{Method: MC3, Burn: new(2000), Iterations: 100_000, Rungs: 1, Moves: CliqueMoves},
		} {
			r := find(t, scoresOf(t, czech(t), precision), o)
			for v := range 6 {
				for w := range 6 {
					require.InDelta(t, want[v][w], r.Edges[v][w], 1e-3, "%v %d %d", o, v, w)
				}
			}
			require.Equal(t, best[0].graph.Key(), r.Models[0].Graph.Key())
			require.InDelta(t, best[0].posterior, r.Models[0].Weight, 1e-3)
			sum := 0.0
			for _, m := range r.Models {
				sum += m.Weight
			}
			require.InDelta(t, 1, sum, 1e-9)
			d := r.Diagnostics
			require.Less(t, d.RHat, 1.02)
			require.Greater(t, d.ESS, 500.0)
			if o.Rungs != 1 {
				require.Less(t, d.Unseen, 1e-3)
			}
			require.EqualValues(t, 4*o.Iterations, d.Proposals)
			require.Len(t, d.Trace, 4)
			require.LessOrEqual(t, d.Margins, int64(63))
		}
	}
}

func TestCzechByVisits(t *testing.T) {
	want := czechEdges(t, "1")
	for _, moves := range []string{EdgeMoves, EdgesMoves, CliqueMoves} {
		for _, rungs := range map[string][]int{EdgeMoves: {1, 3}, EdgesMoves: {1}, CliqueMoves: {1}}[moves] {
			o := Options{Method: MC3, Burn: new(2000), Iterations: 120_000, Thin: 20, Chains: 8, Weights: ByVisits, Moves: moves, Rungs: rungs, Seed: 4}
			r := find(t, scoresOf(t, czech(t), 1), o)
			pair := 0
			for v := range 6 {
				for w := v + 1; w < 6; w++ {
					var means []float64
					for _, c := range r.Diagnostics.Chains {
						means = append(means, c[pair])
					}
					mean, variance := meanVariance(means)
					require.InDelta(t, mean, r.Edges[v][w], 1e-9)
					require.InDelta(t, want[v][w], mean, 4*math.Sqrt(variance/8)+5e-4, "%s %d: %d %d", moves, rungs, v, w)
					require.GreaterOrEqual(t, r.EdgesSE[v][w], math.Sqrt(variance/8)-1e-12)
					pair++
				}
			}
		}
	}
}

// With equal scores all graphs are equally probable: a move that breaks detailed balance shows in the visits.
func TestMovesKeepTheUniformLaw(t *testing.T) {
	if testing.Short() {
		t.Skip("many graphs")
	}
	for _, k := range []int{4, 5} {
		s := mustScores(&bayes.Data{Levels: ones(k), Codes: make([][]uint32, k)})
		all := decomposable(k)
		require.Equal(t, map[int]int{4: 61, 5: 822}[k], len(all))
		for _, moves := range []string{EdgeMoves, EdgesMoves, CliqueMoves} {
			iterations := 150_000
			o := Options{Method: MC3, Iterations: iterations, Thin: 20, Chains: 4, Weights: ByVisits, Moves: moves, Seed: 11}
			r := find(t, s, o)
			weights := map[string]float64{}
			for _, m := range r.Models {
				weights[m.Graph.Key()] = m.Weight
			}
			require.Equal(t, len(all), len(weights))
			n := float64(4 * iterations / 20)
			chi2 := 0.0
			for _, g := range all {
				expected := n / float64(len(all))
				seen := weights[g.Key()] * n
				chi2 += (seen - expected) * (seen - expected) / expected
			}
			free := float64(len(all) - 1)
			// Samples are not quite independent: the factor leaves room for that, a broken move gives hundreds of times more.
			require.Less(t, chi2, 1.6*(free+4*math.Sqrt(2*free)), "%d %s", k, moves)
		}
	}
}

func TestCliqueMovesMatchTheExactPosterior(t *testing.T) {
	if testing.Short() {
		t.Skip("many graphs")
	}
	s := scoresOf(t, dependent(4, 60, 3, 0.5, 1), 1)
	for _, penalty := range []float64{0, 0.7} {
		want, edges := posterior(s, penalty)
		for _, moves := range []string{EdgesMoves, CliqueMoves} {
			o := Options{
				Method: MC3, Iterations: 100_000, Thin: 10, Weights: ByVisits, Moves: moves, Penalty: penalty, Seed: 2, Rungs: 2,
			}
			r := find(t, s, o)
			for _, m := range r.Models {
				p := want[m.Graph.Key()]
				require.InDelta(t, p, m.Weight, 0.005+0.04*math.Sqrt(p*(1-p)), moves)
			}
			exact := find(t, s, Options{Method: MC3, Iterations: 20_000, Moves: moves, Penalty: penalty})
			for v := range 4 {
				for w := range 4 {
					require.InDelta(t, edges[v][w], exact.Edges[v][w], 1e-6)
				}
			}
		}
	}
}

func TestCases(t *testing.T) {
	dirs, err := os.ReadDir("testdata")
	require.NoError(t, err)
	cases := 0
	for _, dir := range dirs {
		if !strings.HasPrefix(dir.Name(), "graphs-") {
			continue
		}
		cases++
		t.Run(dir.Name(), func(t *testing.T) {
			s, place, want := readCase(t, dir.Name())
			known := map[string]float64{}
			for _, g := range want.Graphs {
				h := graph.New(s.Data().Variables())
				for _, e := range g.Edges {
					h.Connect(place[e[0]], place[e[1]])
				}
				require.InEpsilon(t, g.Score, s.Graph(h), 1e-9)
				known[h.Key()] = g.Posterior
			}
			r := find(t, s, Options{Method: MC3, Iterations: 50_000, Rungs: 2})
			for _, m := range r.Models {
				require.InEpsilon(t, known[m.Graph.Key()], m.Weight*(1-r.Dropped), 1e-7)
			}
			for _, e := range want.Inclusion {
				require.InDelta(t, e.Probability, r.Edges[place[e.Edge[0]]][place[e.Edge[1]]], 1e-7)
			}
		})
	}
	require.Equal(t, 5, cases)
}

func TestWorkersDoNotMatter(t *testing.T) {
	d := dependent(9, 800, 5, 0.6, 3)
	for _, o := range []Options{
		{Method: MC3, Burn: new(1000), Iterations: 20_000, Rungs: 3, Moves: CliqueMoves},
		{Method: MC3, Burn: new(1000), Iterations: 20_000, Weights: ByVisits, Moves: EdgesMoves, Memory: 200_000},
		{Method: Anneal, Restarts: 3, Schedule: ThesisSchedule},
		{Method: Occam, Directions: Both},
	} {
		o.Workers = 1
		one := find(t, scoresOf(t, d, 1), o)
		o.Workers = 3
		three := find(t, scoresOf(t, d, 1), o)
		same(t, one, three)
		if o.Method == MC3 {
			o.Seed = 1
			require.NotEqual(t, one.Diagnostics.Trace, find(t, scoresOf(t, d, 1), o).Diagnostics.Trace)
		}
	}
}

// same compares results to the bit, NaN being equal to NaN.
func same(t *testing.T, a, b *Result) {
	t.Helper()
	for _, r := range []*Result{a, b} {
		d := &r.Diagnostics
		for _, x := range []*float64{&d.ESS, &d.RHat, &d.Unseen, &d.LogTotal} {
			if math.IsNaN(*x) {
				*x = -1
			}
		}
		if w := d.Worst; w != nil {
			for _, x := range []*float64{&w.RHat, &w.ESS} {
				if math.IsNaN(*x) {
					*x = -1
				}
			}
		}
		for _, row := range slices.Concat(r.EdgesSE, d.EdgeRHat, d.EdgeESS) {
			for i := range row {
				if math.IsNaN(row[i]) {
					row[i] = -1
				}
			}
		}
	}
	require.Equal(t, a, b)
}
