package search

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"microrisk/engine/bayes"
	"microrisk/engine/graph"
)

// flat has equal scores for all graphs of k vertices.
func flat(k int) *space {
	return newSpace(mustScores(&bayes.Data{Levels: ones(k), Codes: make([][]uint32, k)}), 0)
}

func TestLegalTogglesKeepGraphsDecomposable(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		p := flat(rapid.IntRange(2, 9).Draw(r, "k"))
		rng := rand.NewPCG(rapid.Uint64().Draw(r, "seed"), 0)
		s := p.empty(nil)
		for range 60 {
			e := p.pairs[below(rng, len(p.pairs))]
			v, w := int(e[0]), int(e[1])
			legal := s.legal(v, w)
			s.toggle(v, w)
			require.Equal(t, s.chordal(), legal)
			if !legal {
				s.toggle(v, w)
			}
		}
		require.Equal(t, p.graph(s.edges).Size(), s.size())
		require.Equal(t, s.key, p.fromGraph(p.graph(s.edges)).key)
		var inCliques graph.Set
		for _, c := range s.cliques(graph.First(p.k), nil) {
			require.True(t, s.IsComplete(c))
			inCliques |= c
		}
		require.Equal(t, graph.First(p.k), inCliques)
	})
}

func TestScoresByDifferencesAgree(t *testing.T) {
	for _, k := range []int{7, 24} {
		p := newSpace(scoresOf(t, dependent(k, 400, 5, 0.6, 2), 1), 0.25)
		look := newLookup(p.scores)
		s := p.empty(look)
		rng := rand.NewPCG(1, 1)
		for range 500 {
			e := p.pairs[below(rng, len(p.pairs))]
			v, w := int(e[0]), int(e[1])
			if s.legal(v, w) {
				d := s.change(look, v, w)
				s.toggle(v, w)
				s.score += d
			}
		}
		g := p.graph(s.edges)
		require.InDelta(t, p.scores.Graph(g)-0.25*float64(g.Size()), s.score, 1e-8)
		require.InDelta(t, s.fullScore(look), s.score, 1e-8)
	}
}

func TestPlacesAddUp(t *testing.T) {
	p := flat(6)
	c := &chain{space: p, rng: rand.NewPCG(5, 5)}
	s := p.fromGraph(graph.FromEdges(6, [][2]int{{0, 1}, {1, 2}, {0, 2}, {1, 3}, {2, 3}, {3, 4}}))
	c.cliques = s.cliques(graph.First(5), nil)
	require.ElementsMatch(t, []graph.Set{graph.Of(0, 1, 2), graph.Of(1, 2, 3), graph.Of(3, 4)}, c.cliques)
	seen := map[graph.Set]int{}
	n := 200_000
	for range n {
		seen[c.part(c.cliques[below(c.rng, len(c.cliques))])]++
	}
	total := 0.0
	for place, times := range seen {
		odds := math.Exp(placeOdds(c.cliques, place)) / float64(len(c.cliques))
		total += odds
		require.InDelta(t, odds, float64(times)/float64(n), 5*math.Sqrt(odds/float64(n)))
	}
	require.InDelta(t, 1, total, 1e-9)
}

// The flow of clique moves between any two graphs is the same both ways when all graphs are equally probable, to the last digits.
func TestCliqueMovesBalance(t *testing.T) {
	for _, k := range []int{2, 3, 4, 5} {
		p := flat(k)
		c := &chain{space: p}
		flow := map[[2]key]float64{}
		for _, g := range decomposable(k) {
			s := p.fromGraph(g)
			start := s.key
			for v := range k {
				for _, twins := range []bool{false, true} {
					block, from, ok := c.detach(s, v, twins)
					if !ok {
						continue
					}
					for to := range graph.First(k) + 1 {
						chance := math.Exp(placeOdds(c.cliques, to)) / float64(len(c.cliques)) / float64(k)
						if chance == 0 || s.closed(to, from, block, twins) {
							continue
						}
						s.attach(block, to)
						require.True(t, s.chordal())
						odds := placeOdds(c.cliques, from) - placeOdds(c.cliques, to)
						flow[[2]key{start, s.key}] += chance * min(1, math.Exp(odds))
						s.attach(block, to)
					}
					s.attach(block, from)
				}
			}
			require.Equal(t, start, s.key)
		}
		require.NotEmpty(t, flow)
		for way, x := range flow {
			require.InDelta(t, x, flow[[2]key{way[1], way[0]}], 1e-12)
		}
	}
}

func TestSeen(t *testing.T) {
	for _, k := range []int{6, 20} { // keys are edges, keys are hashes
		p := flat(k)
		s := newSeen(p, 1)
		require.Equal(t, 1024, s.most)
		state := p.empty(nil)
		rng := rand.NewPCG(3, 3)
		for i := range 6000 {
			e := p.pairs[below(rng, len(p.pairs))]
			state.toggle(int(e[0]), int(e[1]))
			n := s.add(state.key, -float64(i%100), state.edges, -1)
			require.Equal(t, state.key, s.keys[n])
			require.Equal(t, state.edges, s.edgesOf(n))
			flip := below(rng, len(p.pairs))
			key := key{state.key[0] ^ p.keys[flip][0], state.key[1] ^ p.keys[flip][1]}
			n = s.add(key, -90, state.edges, flip)
			other := state.clone()
			other.toggle(int(p.pairs[flip][0]), int(p.pairs[flip][1]))
			require.Equal(t, other.edges, s.edgesOf(n))
			if i%50 == 0 {
				s.visits[n]++
			}
		}
		for n, k := range s.keys {
			at, _ := s.find(k)
			require.Equal(t, n, at)
		}
		if k == 20 {
			require.Less(t, len(s.keys), 8192)
			require.Greater(t, s.met, int64(11_000))
		}
		all := newSeen(p, 0)
		all.merge(s)
		require.Equal(t, s.keys, all.keys)
		require.Equal(t, s.visits, all.visits)
	}
}

// Independent values have an effective size of about their number, an autoregression of n (1-r)/(1+r).
func TestEffectiveSize(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 9))
	for _, r := range []float64{0, 0.5, 0.9} {
		chains := make([][]float64, 4)
		for i := range chains {
			x := rng.NormFloat64()
			for range 5000 {
				x = r*x + math.Sqrt(1-r*r)*rng.NormFloat64()
				chains[i] = append(chains[i], x)
			}
		}
		require.InEpsilon(t, 20_000*(1-r)/(1+r), effectiveSize(chains), 0.15)
		require.InDelta(t, 1, splitRHat(chains), 0.01)
		for i := range chains[0] {
			chains[0][i] += 20
		}
		require.Greater(t, splitRHat(chains), 3.0)
		require.Less(t, effectiveSize(chains), 30.0)
	}
	constant := [][]float64{slices.Repeat([]float64{0.1}, 50), slices.Repeat([]float64{0.3}, 50)}
	require.True(t, math.IsNaN(splitRHat(constant)))
	require.True(t, math.IsNaN(effectiveSize(constant)))
	require.True(t, math.IsNaN(splitRHat([][]float64{{1, 2, 3}})))
	require.Equal(t, []float64{0, 2, 4}, thinned([]float64{0, 1, 2, 3, 4, 5}, 3))
}

func TestLadder(t *testing.T) {
	ladder := firstLadder(4, 1000)
	require.InDeltaSlice(t, []float64{1, 0.1, 0.01, 0.001}, ladder, 1e-12)
	c := &chain{tried: []int64{100, 100, 100, 0}, swapped: []int64{50, 50, 50, 0}}
	require.InDeltaSlice(t, ladder, tune(ladder, []*chain{c}), 1e-12)
	c.swapped = []int64{10, 90, 90, 0} // most are rejected at the cold end: temperatures move there
	tuned := tune(ladder, []*chain{c})
	require.True(t, slices.IsSortedFunc(tuned, func(a, b float64) int { return int(math.Copysign(1, b-a)) }))
	require.Greater(t, tuned[1], 0.1)
	require.Equal(t, []float64{1}, tune([]float64{1}, nil))
	r := newRamp(ladder, true, 100)
	require.InDeltaSlice(t, []float64{0.001, 0.001, 0.001, 0.001}, r.at(0), 1e-12)
	require.Equal(t, ladder, r.at(50))
}

// A table of many variables with strong dependence: tempering and the greedy start find what plain chains from no edges do not.
func TestTemperingFindsWhatPlainChainsMiss(t *testing.T) {
	s := scoresOf(t, dependent(12, 3000, 12, 0.75, 8), 1)
	best := find(t, s, Options{Method: Anneal}).Models[0].LogLikelihood
	tempered := find(t, s, Options{Method: MC3, Rungs: 6, Iterations: 50_000})
	require.InDelta(t, best, tempered.Models[0].LogLikelihood, 1e-6)
	require.Less(t, tempered.Diagnostics.Unseen, 0.05)
	plain := find(t, s, Options{Method: MC3, Rungs: 1, Chains: 1, Iterations: 200_000})
	require.Less(t, plain.Models[0].LogLikelihood, best-1)
}

func BenchmarkProposals(b *testing.B) {
	s := scoresOf(b, dependent(12, 3000, 12, 0.5, 8), 1)
	for _, moves := range []string{EdgeMoves, EdgesMoves, CliqueMoves} {
		b.Run(moves, func(b *testing.B) {
			o := Options{Method: MC3, Chains: 1, Burn: new(1000), Iterations: 200_000, Moves: moves, Workers: 1}
			find(b, s, o)
			for b.Loop() {
				find(b, s, o)
			}
			b.ReportMetric(float64(b.N)*float64(*o.Burn+o.Iterations)/b.Elapsed().Seconds(), "proposals/s")
		})
	}
}
