package search

import (
	"context"
	"math"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"microrisk/engine/bayes"
	"microrisk/engine/graph"
)

func TestOptionsAreChecked(t *testing.T) {
	s := scoresOf(t, czech(t), 1)
	square := graph.FromEdges(6, [][2]int{{0, 1}, {1, 2}, {2, 3}, {0, 3}})
	for want, o := range map[string]Options{
		`unknown search "gibbs": it must be one of exact, mc3, anneal, occam, fixed`: {Method: "gibbs"},
		`unknown weights "size": it must be one of likelihood, visits`:               {Method: MC3, Weights: "size"},
		`unknown moves "jump": it must be one of edge, edges, clique`:                {Method: MC3, Moves: "jump"},
		`unknown schedule "slow": it must be one of sweeps, thesis`:                  {Method: Anneal, Schedule: "slow"},
		`unknown directions "down": it must be one of up, both`:                      {Method: Occam, Directions: "down"},
		`the edge penalty is -1`:                      {Method: MC3, Penalty: -1},
		`the edge penalty is NaN`:                     {Method: MC3, Penalty: math.NaN()},
		`the edge penalty is +Inf`:                    {Method: MC3, Penalty: math.Inf(1)},
		`weights "visits" need the search "mc3"`:      {Method: Anneal, Weights: ByVisits},
		`the window is 1: it must be between 0 and 1`: {Method: Occam, Window: 1},
		`the window is NaN`:                           {Method: Occam, Window: math.NaN()},
		`the window is -0.1`:                          {Method: Occam, Window: -0.1},
		`the memory is -1 bytes`:                      {Method: MC3, Memory: -1},
		`the burn-in is -2: it must be between 0 and`: {Method: MC3, Burn: new(-2)},
		`the number of iterations is -5`:              {Method: MC3, Iterations: -5},
		`the thinning is -2`:                          {Method: MC3, Thin: -2},
		`the thinning is 200 of 100 iterations`:       {Method: MC3, Iterations: 100, Thin: 200},
		`the number of chains is 2000`:                {Method: MC3, Chains: 2000},
		`the number of temperatures (rungs) is 65`:    {Method: MC3, Rungs: 65},
		`the number of restarts is -1`:                {Method: Anneal, Restarts: -1},
		`the number of draws is -1`:                   {Method: Exact, Draws: -1},
		`the search "fixed" needs a graph`:            {Method: Fixed},
		`the graph has 5 vertices, there are 6 key`:   {Method: Fixed, Graph: graph.New(5)},
		`the graph is not decomposable`:               {Method: Fixed, Graph: square},
		`a graph was given`:                           {Method: MC3, Graph: graph.New(6)},
	} {
		r, err := Run(context.Background(), s, o)
		require.ErrorContains(t, err, want, "%+v", o)
		require.Nil(t, r)
	}
}

func TestFixed(t *testing.T) {
	s := scoresOf(t, czech(t), 1)
	g := graph.FromEdges(6, [][2]int{{0, 1}, {1, 2}, {0, 2}})
	r := find(t, s, Options{Method: Fixed, Graph: g, Penalty: 3})
	require.Equal(t, []bayes.Model{{Graph: g, LogLikelihood: s.Graph(g), Weight: 1}}, r.Models)
	require.Equal(t, 1.0, r.Edges[2][0])
	require.Zero(t, r.Edges[3][0])
	require.Nil(t, r.EdgesSE)
	require.True(t, math.IsNaN(r.Diagnostics.ESS))
}

// Tables that are hardly there: no variables, one, no records, constant variables.
func TestSmallTables(t *testing.T) {
	for name, d := range map[string]*bayes.Data{
		"no variables":       {Counts: []int64{3}, Records: 3},
		"nothing":            {},
		"one variable":       dataOf([]int{3}, [][]uint32{{0}, {2}}, []int64{4, 1}),
		"one constant":       dataOf([]int{1}, [][]uint32{{0}}, []int64{4}),
		"no records":         {Levels: []int{2, 3, 4}, Codes: make([][]uint32, 3)},
		"constant variables": dataOf([]int{1, 2, 1, 2}, [][]uint32{{0, 0, 0, 1}, {0, 1, 0, 1}}, []int64{4, 3}),
		"one record":         dataOf([]int{4, 2, 5}, [][]uint32{{3, 1, 2}}, []int64{1}),
	} {
		t.Run(name, func(t *testing.T) {
			k := d.Variables()
			for _, m := range []Method{MC3, Anneal, Occam, Fixed} {
				s := scoresOf(t, d, 1)
				o := Options{Method: m, Iterations: 20_000, Burn: new(100)}
				if m == Fixed {
					o.Graph = graph.Complete(k)
				}
				r := find(t, s, o)
				require.Equal(t, m, r.Method)
				require.NotEmpty(t, r.Models)
				require.Len(t, r.Edges, k)
				sum := 0.0
				for _, x := range r.Models {
					sum += x.Weight
				}
				require.InDelta(t, 1, sum, 1e-9)
				if m == MC3 && k > 1 {
					_, edges := posterior(s, 0)
					for v := range k {
						for w := range k {
							require.InDelta(t, edges[v][w], r.Edges[v][w], 1e-9)
						}
					}
				}
			}
		})
	}
}

func TestContextEnds(t *testing.T) {
	d := dependent(30, 2000, 9, 0.5, 1)
	for _, o := range []Options{
		{Method: MC3, Iterations: math.MaxInt32 / 2, Rungs: 2}, {Method: Anneal, Restarts: 100_000}, {Method: Occam, Window: 1e-300, Directions: Both},
	} {
		ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
		r, err := Run(ctx, scoresOf(t, d, 1), o)
		cancel()
		require.ErrorIs(t, err, context.DeadlineExceeded, o.Method)
		require.Nil(t, r)
		_, err = Run(ctx, scoresOf(t, d, 1), o)
		require.ErrorIs(t, err, context.DeadlineExceeded)
	}
}

func TestProgress(t *testing.T) {
	for _, m := range []Method{MC3, Anneal, Occam} {
		var calls, last atomic.Int64
		find(t, scoresOf(t, czech(t), 1), Options{Method: m, Iterations: 100_000, Progress: func(done, total int64) {
			calls.Add(1)
			require.LessOrEqual(t, done, total)
			require.GreaterOrEqual(t, done, last.Load())
			last.Store(done)
			if m == MC3 {
				require.EqualValues(t, 4*110_000, total)
			}
		}})
		require.Positive(t, calls.Load())
		if m == MC3 {
			require.EqualValues(t, 4*110_000, last.Load())
		}
	}
}

// Progress is told ten times a second, whatever the number of steps, and at the end.
func TestProgressIsSeldom(t *testing.T) {
	var calls []int64
	p := newProgress(func(done, total int64) {
		require.EqualValues(t, 100, total)
		calls = append(calls, done)
	}, 100)
	at := p.last
	p.now = func() time.Time { return at }
	for _, step := range []struct {
		n     int64
		later time.Duration
	}{{1, 0}, {1, progressEvery - 1}, {1, 1}, {1, 1}, {1, progressEvery - 2}, {1, 1}, {200, 10 * progressEvery}, {1, 0}} {
		at = at.Add(step.later)
		p.add(step.n)
	}
	p.finish()
	require.Equal(t, []int64{3, 6, 100, 100}, calls)
	newProgress(nil, 1).finish()
}

func TestAutoBeyondExact(t *testing.T) {
	s := scoresOf(t, dependent(40, 300, 4, 0.7, 5), 1)
	r := find(t, s, Options{Burn: new(500), Iterations: 5000, Chains: 2})
	require.Equal(t, MC3, r.Method)
	require.NotEmpty(t, r.Reason)
	require.Len(t, r.Diagnostics.Temperatures, 12)
	require.Len(t, r.Diagnostics.Swaps, 11)
	require.Greater(t, r.Models[0].LogLikelihood, s.Graph(graph.New(40)))
}

func TestAutoIsExactWhereItCan(t *testing.T) {
	want := czechEdges(t, "1")
	r := find(t, scoresOf(t, czech(t), 1), Options{})
	require.Equal(t, Exact, r.Method)
	require.NotEmpty(t, r.Reason)
	for v := range 6 {
		for w := range 6 {
			require.InDelta(t, want[v][w], r.Edges[v][w], 1e-9)
		}
	}
}

func TestNoBurnIn(t *testing.T) {
	s := scoresOf(t, czech(t), 1)
	r := find(t, s, Options{Method: MC3, Burn: new(0), Iterations: 1000, Thin: 1, Rungs: 3, Chains: 1})
	require.InDelta(t, s.Graph(graph.New(6)), r.Diagnostics.Trace[0][0], 500)
	require.EqualValues(t, 1000, r.Diagnostics.Proposals)
	plain := find(t, s, Options{Method: MC3, Burn: new(0), Iterations: 1000, Thin: 1, Chains: 1})
	require.Less(t, plain.Diagnostics.Trace[0][0], plain.Diagnostics.Trace[0][499])
}

// The default search is chosen by Choice where that is given, and by Memory where not: a machine's memory then changes nothing but
// whether the search can be done.
func TestChoiceDoesNotDependOnTheMachine(t *testing.T) {
	s := scoresOf(t, dependent(12, 300, 2, 0.5, 1), 1)
	for _, memory := range []int64{64 << 20, 1 << 30, 1 << 40, 0} {
		o, reason := choose(s, mustFill(t, s, Options{Memory: memory, Choice: 4 << 30}))
		require.Equal(t, Exact, o.Method, reason)
		o, reason = choose(s, mustFill(t, s, Options{Memory: memory, Choice: 1 << 20}))
		require.Equal(t, MC3, o.Method, reason)
		require.Contains(t, reason, "in 1 MiB, taken where no memory is allowed expressly")
	}
	o, reason := choose(s, mustFill(t, s, Options{Memory: 1 << 20}))
	require.Equal(t, MC3, o.Method)
	require.Contains(t, reason, "in the memory allowed")
	_, err := Run(t.Context(), s, Options{Memory: 1 << 20, Choice: 4 << 30})
	require.ErrorContains(t, err, "allow more, or use the search")
	_, err = Run(t.Context(), s, Options{Choice: -1})
	require.Error(t, err)
}

func mustFill(t *testing.T, s *bayes.Scores, o Options) Options {
	t.Helper()
	filled, err := o.filled(s)
	require.NoError(t, err)
	return filled
}

// Twelve variables of millions of cells are searched exactly: chains would score most of their 4,096 sets one by one.
func TestWhatTakesLong(t *testing.T) {
	for _, c := range []struct {
		variables, cells int
		long             bool
	}{{8, 30_000_000, false}, {12, 2_600_000, false}, {12, 30_000_000, true}, {14, 1_000_000, false}, {14, 10_000_000, true}, {16, 1000, true}, {18, 1000, true}} {
		require.Equal(t, c.long, takesLong(c.variables, c.cells), "%d variables in %d cells", c.variables, c.cells)
	}
}
