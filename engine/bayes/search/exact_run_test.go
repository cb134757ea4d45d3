package search

import (
	"context"
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"microrisk/engine/bayes"
	"microrisk/engine/graph"
)

func TestExactCases(t *testing.T) {
	for _, dir := range []string{
		"graphs-01-two-variables", "graphs-02-three-variables", "graphs-03-four-variables", "graphs-04-missing-category", "graphs-05-precision-50",
	} {
		t.Run(dir, func(t *testing.T) {
			s, column, want := readCase(t, dir)
			k := s.Data().Variables()
			r, err := Run(context.Background(), s, Options{Method: Exact})
			require.NoError(t, err)
			require.True(t, r.Diagnostics.Enumerated)
			require.EqualValues(t, len(want.Graphs), r.Diagnostics.Graphs)
			require.Nil(t, r.EdgesSE)
			got := map[string]bayes.Model{}
			for i, m := range r.Models {
				got[m.Graph.Key()] = m
				require.True(t, i == 0 || m.Weight <= r.Models[i-1].Weight)
			}
			total := 0.0
			for _, w := range want.Graphs {
				g := graph.New(k)
				for _, e := range w.Edges {
					g.Connect(column[e[0]], column[e[1]])
				}
				total += math.Exp(w.Score - want.Graphs[0].Score)
				m, ok := got[g.Key()]
				require.Equal(t, w.Posterior >= leastWeight, ok)
				if ok {
					require.InEpsilon(t, w.Score, m.LogLikelihood, 1e-9)
					require.InEpsilon(t, w.Posterior, m.Weight*(1-r.Dropped), 1e-7)
				}
			}
			require.InDelta(t, want.Graphs[0].Score+math.Log(total), r.Diagnostics.LogTotal, 1e-7)
			for _, e := range want.Inclusion {
				v, w := column[e.Edge[0]], column[e.Edge[1]]
				require.InDelta(t, e.Probability, r.Edges[v][w], 1e-7)
				require.InDelta(t, e.Probability, r.Edges[w][v], 1e-7)
			}
		})
	}
}

func TestExactCzech(t *testing.T) {
	for _, alpha := range []string{"1", "64"} {
		t.Run("alpha="+alpha, func(t *testing.T) {
			s := scoresOf(t, czech(t), number(t, alpha))
			r, err := Run(context.Background(), s, Options{Method: Exact})
			require.NoError(t, err)
			require.EqualValues(t, 18154, r.Diagnostics.Graphs)
			require.EqualValues(t, 63, r.Diagnostics.Margins)
			edges := czechEdges(t, alpha)
			for v := range 6 {
				for w := range 6 {
					require.InDelta(t, edges[v][w], r.Edges[v][w], 1e-9)
				}
			}
			for i, m := range czechModels(t, alpha)[:20] {
				require.True(t, m.graph.Equal(r.Models[i].Graph), i)
				require.InDelta(t, m.score, r.Models[i].LogLikelihood, 1e-9*math.Abs(m.score))
				require.InDelta(t, m.posterior, r.Models[i].Weight*(1-r.Dropped), 1e-9)
			}
			checkProgrammed(t, s, 0, r)
		})
	}
}

// checkProgrammed compares dynamic programming with enumeration.
func checkProgrammed(t *testing.T, s *bayes.Scores, penalty float64, want *Result) *Result {
	k := s.Data().Variables()
	logs, err := s.Subsets(context.Background(), 1)
	require.NoError(t, err)
	logPhi, singles, err := relative(k, logs, penalty)
	require.NoError(t, err)
	r, err := newSpace(s, penalty).programmed(context.Background(), logPhi, singles, Options{Draws: 20_000, Seed: 3, Workers: 2}, newProgress(nil, 0))
	require.NoError(t, err)
	require.InDelta(t, want.Models[0].LogLikelihood, bestOf(r).LogLikelihood, 1e-9*math.Abs(want.Models[0].LogLikelihood))
	for v := range k {
		for w := range k {
			tolerance := 1e-5 // settled: graphs not seen have a probability below 1e-6
			if r.EdgesSE != nil {
				tolerance = 4*r.EdgesSE[v][w] + 1e-6
			}
			require.InDelta(t, want.Edges[v][w], r.Edges[v][w], tolerance)
		}
	}
	return r
}

func bestOf(r *Result) bayes.Model {
	best := r.Models[0]
	for _, m := range r.Models {
		if m.LogLikelihood > best.LogLikelihood {
			best = m
		}
	}
	return best
}

func TestExactPenalty(t *testing.T) {
	s := scoresOf(t, czech(t), 1)
	const penalty = 1.5
	r, err := Run(context.Background(), s, Options{Method: Exact, Penalty: penalty})
	require.NoError(t, err)
	models, edges := posterior(s, penalty)
	for _, m := range r.Models {
		require.InDelta(t, models[m.Graph.Key()], m.Weight*(1-r.Dropped), 1e-9)
		require.InDelta(t, s.Graph(m.Graph), m.LogLikelihood, 1e-9)
	}
	for v := range 6 {
		require.InDeltaSlice(t, edges[v], r.Edges[v], 1e-9)
	}
	r = checkProgrammed(t, s, 400, &Result{Models: []bayes.Model{{LogLikelihood: s.Graph(graph.New(6))}}, Edges: graphEdges(graph.New(6))})
	require.Equal(t, 0, r.Models[0].Graph.Size())
}

func graphEdges(g *graph.Graph) [][]float64 {
	m := make([][]float64, g.Len())
	for v := range m {
		m[v] = make([]float64, g.Len())
		for w := range m {
			if g.Adjacent(v, w) {
				m[v][w] = 1
			}
		}
	}
	return m
}

func TestExactBeyondEnumeration(t *testing.T) {
	s := scoresOf(t, dependent(9, 20_000, 5, .6, 1), 1)
	r, err := Run(context.Background(), s, Options{Method: Exact, Workers: 1})
	require.NoError(t, err)
	require.False(t, r.Diagnostics.Enumerated)
	require.Nil(t, r.EdgesSE, "the draws cover nearly all: no estimates")
	require.Less(t, r.Diagnostics.Unseen, 1e-6)
	require.EqualValues(t, 511, r.Diagnostics.Margins)
	require.EqualValues(t, 10_000, r.Diagnostics.Draws)
	sum := 0.0
	for i, m := range r.Models {
		sum += m.Weight
		require.True(t, m.Graph.Decomposable())
		require.InDelta(t, s.Graph(m.Graph), m.LogLikelihood, 0)
		require.InEpsilon(t, math.Exp(m.LogLikelihood-r.Models[0].LogLikelihood), m.Weight/r.Models[0].Weight, 1e-9)
		require.True(t, i == 0 || m.LogLikelihood <= r.Models[0].LogLikelihood)
	}
	require.InDelta(t, 1, sum, 1e-12)
	for range 2 {
		again, err := Run(context.Background(), s, Options{Method: Exact, Workers: 3})
		require.NoError(t, err)
		require.Equal(t, r.Models, again.Models)
		require.Equal(t, r.Edges, again.Edges)
	}

	// Few records leave the posterior wide.
	s = scoresOf(t, dependent(9, 40, 4, .5, 2), 1)
	r, err = Run(context.Background(), s, Options{Method: Exact})
	require.NoError(t, err)
	require.NotNil(t, r.EdgesSE)
	require.Greater(t, r.Diagnostics.Unseen, 1e-6)
	other, err := Run(context.Background(), s, Options{Method: Exact, Seed: 99, Draws: 30_000})
	require.NoError(t, err)
	for v := range 9 {
		for w := range 9 {
			require.InDelta(t, r.Edges[v][w], other.Edges[v][w], 4*math.Hypot(r.EdgesSE[v][w], other.EdgesSE[v][w])+1e-4)
		}
	}
	require.Equal(t, r.Diagnostics.LogTotal, other.Diagnostics.LogTotal)
	require.InDelta(t, bestOf(r).LogLikelihood, bestOf(other).LogLikelihood, 1e-9)
}

func TestExactWithFewVariables(t *testing.T) {
	for k := range 3 {
		d := &bayes.Data{Levels: ones(k), Codes: make([][]uint32, k)}
		r, err := Run(context.Background(), mustScores(d), Options{Method: Exact})
		require.NoError(t, err)
		require.EqualValues(t, max(1, k), r.Diagnostics.Graphs)
		require.Len(t, r.Models, max(1, k))
		require.Len(t, r.Edges, k)
	}
}

func TestExactRefuses(t *testing.T) {
	data := func(k int) *bayes.Scores {
		return mustScores(&bayes.Data{Levels: ones(k), Codes: make([][]uint32, k)})
	}
	_, err := Run(context.Background(), data(30), Options{Method: Exact})
	require.ErrorContains(t, err, `at most 18 variables, there are 30`)
	require.ErrorContains(t, err, `use the search "mc3" or "occam"`)
	require.ErrorContains(t, err, "PiB")
	_, err = Run(context.Background(), data(64), Options{Method: Exact})
	require.ErrorContains(t, err, "at most 18 variables")
	_, err = Run(context.Background(), data(16), Options{Method: Exact, Memory: 1 << 29})
	require.ErrorContains(t, err, "GiB of memory, the limit is 512 MiB")

	for k, want := range map[int]bool{3: true, 12: true, 14: true, 16: false, 19: false, 40: false} {
		ok, reason := exactAffordable(data(k), Options{Workers: 2})
		require.Equal(t, want, ok, k)
		require.Contains(t, reason, fmt.Sprintf("%d variables", k))
	}
	ok, reason := exactAffordable(data(14), Options{Workers: 2, Memory: 1 << 20})
	require.False(t, ok)
	require.Contains(t, reason, "memory")
}

func TestExactStopsAndReports(t *testing.T) {
	s := scoresOf(t, dependent(13, 2000, 4, .5, 1), 1)
	ctx, cancel := context.WithCancel(context.Background())
	last, calls := int64(0), 0
	o := Options{Method: Exact, Workers: 2, Progress: func(done, total int64) {
		require.LessOrEqual(t, last, done)
		require.LessOrEqual(t, done, total)
		last = done
		if calls++; calls == 2 {
			cancel()
		}
	}}
	_, err := Run(ctx, s, o)
	require.ErrorIs(t, err, context.Canceled)

	s = scoresOf(t, czech(t), 1)
	var done, total int64
	_, err = Run(context.Background(), s, Options{Method: Exact, Progress: func(d, n int64) { done, total = d, n }})
	require.NoError(t, err)
	require.Equal(t, total, done)
	require.Positive(t, total)
}
