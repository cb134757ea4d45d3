package search

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"microrisk/engine/bayes"
	"microrisk/engine/graph"
)

// windowByHand is Occam's window with maps and whole graphs: all neighbours, then all that are too improbable out, until nothing
// changes.
func windowByHand(s *bayes.Scores, window float64, both, razor bool, penalty float64) map[string]float64 {
	k := s.Data().Variables()
	legal := map[string]bool{}
	for _, g := range decomposable(k) {
		legal[g.Key()] = true
	}
	score := func(g *graph.Graph) float64 { return s.Graph(g) - penalty*float64(g.Size()) }
	set := map[string]*graph.Graph{graph.New(k).Key(): graph.New(k)}
	for changed := true; changed; {
		changed = false
		next := map[string]*graph.Graph{}
		best := math.Inf(-1)
		for key, g := range set {
			next[key] = g
			for v := range k {
				for w := v + 1; w < k; w++ {
					h := g.Clone()
					if h.Adjacent(v, w) {
						h.Disconnect(v, w)
					} else {
						h.Connect(v, w)
					}
					if legal[h.Key()] && (both || !g.Adjacent(v, w)) {
						next[h.Key()] = h
					}
				}
			}
		}
		for _, g := range next {
			best = max(best, score(g))
		}
		for key, g := range next {
			if score(g) < best+math.Log(window)-rounding {
				delete(next, key)
			}
		}
		for key := range next {
			changed = changed || set[key] == nil
		}
		changed = changed || len(next) != len(set)
		set = next
	}
	out := map[string]float64{}
	for key, g := range set {
		keep := true
		for _, h := range set {
			part := !h.Equal(g)
			for _, e := range h.Edges() {
				part = part && g.Adjacent(e[0], e[1])
			}
			keep = keep && !(razor && part && score(h) > score(g)+rounding)
		}
		if keep {
			out[key] = score(g)
		}
	}
	return out
}

func TestOccamMatchesTheRuleByHand(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		k := rapid.IntRange(2, 5).Draw(r, "k")
		n := rapid.IntRange(0, 120).Draw(r, "n")
		s := scoresOf(t, dependent(k, n, 3, rapid.Float64Range(0, 0.9).Draw(r, "strength"), rapid.Uint64Range(0, 99).Draw(r, "seed")), 1)
		o := Options{Method: Occam, Window: rapid.SampledFrom([]float64{0.5, 0.05, 0.01}).Draw(r, "window"), Directions: Up}
		if rapid.Bool().Draw(r, "both") {
			o.Directions = Both
		}
		o.Razor = rapid.Bool().Draw(r, "razor")
		o.Penalty = rapid.SampledFrom([]float64{0, 0.3}).Draw(r, "penalty")
		want := windowByHand(s, o.Window, o.Directions == Both, o.Razor, o.Penalty)
		got := find(t, s, o)
		require.Equal(t, len(want), len(got.Models))
		total, top := 0.0, math.Inf(-1)
		for _, x := range want {
			top = max(top, x)
		}
		for _, x := range want {
			total += math.Exp(x - top)
		}
		for _, m := range got.Models {
			x, ok := want[m.Graph.Key()]
			require.True(t, ok)
			require.InDelta(t, math.Exp(x-top)/total, m.Weight, 1e-9)
		}
		require.Zero(t, got.Dropped)
	})
}

// The window of the Czech table is what the exact posterior has within it, as far as steps reach.
func TestOccamCzech(t *testing.T) {
	for alpha, precision := range map[string]float64{"1": 1, "64": 64} {
		models := czechModels(t, alpha)
		r := find(t, scoresOf(t, czech(t), precision), Options{Method: Occam, Directions: Both})
		var within []knownModel
		for _, m := range models {
			if m.posterior >= 0.01*models[0].posterior {
				within = append(within, m)
			}
		}
		require.Equal(t, len(within), len(r.Models))
		total := 0.0
		for _, m := range within {
			total += m.posterior
		}
		known := map[string]float64{}
		for _, m := range within {
			known[m.graph.Key()] = m.posterior / total
		}
		for _, m := range r.Models {
			require.InDelta(t, known[m.Graph.Key()], m.Weight, 1e-7)
		}
		require.Equal(t, models[0].graph.Key(), r.Models[0].Graph.Key())
		require.Positive(t, r.Diagnostics.Steps)
		require.Nil(t, r.EdgesSE)
	}
}

func TestAnnealFindsTheBest(t *testing.T) {
	for alpha, precision := range map[string]float64{"1": 1, "64": 64} {
		best := czechModels(t, alpha)[0]
		for _, schedule := range []string{SweepSchedule, ThesisSchedule} {
			r := find(t, scoresOf(t, czech(t), precision), Options{Method: Anneal, Schedule: schedule})
			require.Len(t, r.Models, 1)
			require.Equal(t, best.graph.Key(), r.Models[0].Graph.Key(), schedule)
			require.InEpsilon(t, best.score, r.Models[0].LogLikelihood, 1e-12)
			require.EqualValues(t, 10, r.Diagnostics.Steps)
			require.Len(t, r.Diagnostics.Trace, 1)
			require.LessOrEqual(t, len(r.Diagnostics.Trace[0]), 500)
			require.Equal(t, 1.0, r.Edges[1][2])
		}
		require.EqualValues(t, 36_660, find(t, scoresOf(t, czech(t), precision),
			Options{Method: Anneal, Schedule: ThesisSchedule}).Diagnostics.Proposals)
	}
}

func TestPenaltyThinsModels(t *testing.T) {
	s := scoresOf(t, czech(t), 1)
	for _, m := range []Method{MC3, Anneal, Occam} {
		free := find(t, s, Options{Method: m, Iterations: 20_000})
		thin := find(t, s, Options{Method: m, Iterations: 20_000, Penalty: 1000})
		require.Positive(t, free.Models[0].Graph.Size())
		require.Zero(t, thin.Models[0].Graph.Size())
		require.InDelta(t, s.Graph(graph.New(6)), thin.Models[0].LogLikelihood, 1e-9)
	}
}

func TestOccamIsStopped(t *testing.T) {
	s := mustScores(&bayes.Data{Levels: ones(10), Codes: make([][]uint32, 10)}) // all graphs are equally probable
	_, err := Run(context.Background(), s, Options{Method: Occam, Memory: 1_000_000})
	require.ErrorContains(t, err, "narrow the window")
}
