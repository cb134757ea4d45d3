package search

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"microrisk/engine/graph"
)

// numberOfGraphs are the labelled decomposable graphs of 0, 1, ... vertices.
var numberOfGraphs = []float64{1, 1, 2, 8, 61, 822, 18154, 617675, 30888596}

// randomScores are log scores of all sets: those of single variables 0, the others normal, times the size of the set.
func randomScores(k int, scale float64, seed uint64) []float64 {
	rng := rand.New(rand.NewPCG(seed, 1))
	logPhi := make([]float64, 1<<k)
	for c := range logPhi {
		if c&(c-1) != 0 {
			logPhi[c] = rng.NormFloat64() * scale * float64(graph.Set(c).Len())
		}
	}
	return logPhi
}

func ready(t testing.TB, k int, logPhi []float64, workers int) (sums, *graph.Graph) {
	p := newProgram(k, logPhi, workers, nil)
	least, most, err := p.run(context.Background(), maxima{p})
	require.NoError(t, err)
	best := maxima{p}.best()
	require.NoError(t, p.pack(least, most))
	_, _, err = p.run(context.Background(), sums{p})
	require.NoError(t, err)
	return sums{p}, best
}

func TestProgramCountsRootedJunctionTrees(t *testing.T) {
	for k, want := range []float64{1, 3, 22, 313, 7511, 278204, 15014959, 1137728687} {
		p, best := ready(t, k+1, make([]float64, 1<<(k+1)), 2)
		require.InDelta(t, want, p.total().float(), 0, k+1)
		require.True(t, best.Decomposable())
	}
}

func TestWeightedDrawsCountGraphs(t *testing.T) {
	for _, k := range []int{7, 8} {
		f, err := programme(context.Background(), k, make([]float64, 1<<k), 20_000, 5, 2, nil)
		require.NoError(t, err)
		require.False(t, f.settled())
		mean, square := 0.0, 0.0
		for _, g := range f.graphs {
			mean += float64(g.count) / g.trees / float64(f.draws)
			square += float64(g.count) / (g.trees * g.trees) / float64(f.draws)
		}
		total := f.total.float()
		se := total * math.Sqrt((square-mean*mean)/float64(f.draws))
		t.Logf("%d vertices: %.0f +- %.0f graphs", k, total*mean, se)
		require.InDelta(t, numberOfGraphs[k], total*mean, 4*se)
		require.Less(t, se, .02*numberOfGraphs[k])
	}
}

// listed are all graphs with their log products, and what follows from them.
type listed struct {
	products    map[edgeSet]float64 // of the largest
	trees       map[edgeSet]float64
	total, top  float64 // log of the sum over rooted junction trees, and of the largest product
	best        edgeSet
	edges       []float64 // posterior probabilities
	unweighted  []float64 // the same if rooted junction trees were what counts
	perGraphSum float64
}

func list(k int, logPhi []float64) *listed {
	l := &listed{products: map[edgeSet]float64{}, trees: map[edgeSet]float64{}, top: math.Inf(-1)}
	graph.EachDecomposable(k, func(g *graph.Graph) bool {
		e, x := edgesOf(g), logProduct(g, logPhi)
		l.products[e], l.trees[e] = x, g.JunctionTrees()*float64(len(g.Cliques()))
		if x > l.top {
			l.top, l.best = x, e
		}
		return true
	})
	pairs := k * (k - 1) / 2
	l.edges, l.unweighted = make([]float64, pairs), make([]float64, pairs)
	rooted := 0.0
	for e, x := range l.products {
		x = math.Exp(x - l.top)
		l.products[e] = x
		l.perGraphSum += x
		rooted += x * l.trees[e]
		for i := range pairs {
			if e[i/64]>>(i%64)&1 != 0 {
				l.edges[i] += x
				l.unweighted[i] += x * l.trees[e]
			}
		}
	}
	for i := range pairs {
		l.edges[i] /= l.perGraphSum
		l.unweighted[i] /= rooted
	}
	l.total = l.top + math.Log(rooted)
	return l
}

func TestProgramAgainstEnumeration(t *testing.T) {
	for _, c := range []struct {
		k     int
		scale float64
	}{{1, 1}, {2, 1}, {3, 1}, {4, 50}, {5, .5}, {6, .1}, {6, 1}, {6, 20}, {6, 3000}, {6, 1e6}, {7, .3}} {
		if c.k == 7 && testing.Short() {
			continue
		}
		t.Run(fmt.Sprintf("%d variables, scale %g", c.k, c.scale), func(t *testing.T) {
			logPhi := randomScores(c.k, c.scale, uint64(c.k)+uint64(c.scale))
			want := list(c.k, logPhi)
			p, best := ready(t, c.k, logPhi, 2)
			require.InDelta(t, want.total, p.total().log(), 1e-9+1e-15*math.Abs(want.total))
			require.Equal(t, want.best, edgesOf(best))

			f, err := programme(context.Background(), c.k, logPhi, 4000, 9, 2, nil)
			require.NoError(t, err)
			require.Equal(t, want.best, slices.MaxFunc(f.graphs, func(a, b sampled) int { return cmp.Compare(a.product.log(), b.product.log()) }).edges)
			seen, weights := 0.0, 0.0
			mean := make([]float64, len(want.edges))
			for i, g := range f.graphs {
				require.InDelta(t, want.trees[g.edges], g.trees, 0)
				seen += want.products[g.edges]
				w := f.estimate(i)
				weights += w
				for e := range mean {
					if g.edges[e/64]>>(e%64)&1 != 0 {
						mean[e] += w
					}
				}
			}
			require.LessOrEqual(t, 1-seen/want.perGraphSum, f.unseen+1e-12)
			if f.settled() {
				return
			}
			require.InDelta(t, want.perGraphSum*math.Exp(want.top), weights*p.total().float(), .2*want.perGraphSum*math.Exp(want.top))
			worst := 0.0
			for e, se := range f.errors(len(mean)) {
				require.InDelta(t, want.edges[e], mean[e]/weights, 4*se+1e-9)
				worst = max(worst, math.Abs(want.unweighted[e]-want.edges[e])/(se+1e-9))
			}
			if c.k >= 5 {
				require.Greater(t, worst, 8.0, "draws without their weights would have the wrong edge probabilities")
			}
		})
	}
}

// spread adds the probability of every way to go on from a half-made tree to its graph.
func (d *drawer) spread(parts []place, e edgeSet, probability float64, to map[edgeSet]float64) {
	if len(parts) == 0 {
		to[e] += probability
		return
	}
	at, rest := parts[len(parts)-1], parts[:len(parts)-1]
	choices := d.distribution(at)
	before := 0.0
	for i, choice := range choices.choices {
		q := probability * (choices.upTo[i] - before) / choices.upTo[len(choices.upTo)-1]
		before = choices.upTo[i]
		next := append([]place(nil), rest...)
		e := e
		switch at.kind {
		case rootPlace:
			e.join(d.k, choice)
			if u := (at.a | at.b) ^ choice; u != 0 {
				next = append(next, place{coverPlace, choice, u})
			}
		case coverPlace:
			if u := at.b ^ choice; u != 0 {
				next = append(next, place{coverPlace, at.a, u})
			}
			next = append(next, place{hangPlace, at.a, choice})
		case hangPlace:
			next = append(next, place{rootPlace, choice, at.b})
		}
		d.spread(next, e, q, to)
	}
}

func TestDrawProbabilities(t *testing.T) {
	for _, scale := range []float64{0, .5, 30} {
		logPhi := randomScores(5, scale, 4)
		want := list(5, logPhi)
		p, _ := ready(t, 5, logPhi, 1)
		got := map[edgeSet]float64{}
		p.newDrawer().spread([]place{{rootPlace, 0, p.all}}, edgeSet{}, 1, got)
		for e, x := range want.products {
			require.InDelta(t, math.Exp(math.Log(x)+math.Log(want.trees[e])+want.top-want.total), got[e], 1e-9)
		}
	}
}

func TestProgramDoesNotDependOnWorkers(t *testing.T) {
	logPhi := randomScores(9, .5, 7)
	first, err := programme(context.Background(), 9, logPhi, 3000, 1, 1, nil)
	require.NoError(t, err)
	for _, workers := range []int{2, 3, 8} {
		again, err := programme(context.Background(), 9, logPhi, 3000, 1, workers, nil)
		require.NoError(t, err)
		require.Equal(t, first, again)
	}
	other, err := programme(context.Background(), 9, logPhi, 3000, 2, 1, nil)
	require.NoError(t, err)
	require.Equal(t, first.total, other.total)
	require.NotEqual(t, first.graphs, other.graphs)
}

func TestProgramIsSymmetric(t *testing.T) {
	// Renaming the variables must not matter.
	const k = 10
	logPhi := randomScores(k, 2, 11)
	order := rand.New(rand.NewPCG(1, 1)).Perm(k)
	renamed := make([]float64, len(logPhi))
	for c, x := range logPhi {
		to := 0
		for v := range k {
			to |= c >> v & 1 << order[v]
		}
		renamed[to] = x
	}
	a, best := ready(t, k, logPhi, 2)
	b, other := ready(t, k, renamed, 2)
	require.InDelta(t, a.total().log(), b.total().log(), 1e-9)
	require.InDelta(t, logProduct(best, logPhi), logProduct(other, renamed), 1e-9)
	for _, e := range best.Edges() {
		require.True(t, other.Adjacent(order[e[0]], order[e[1]]))
	}
}

func TestProgramStops(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()
	_, err := programme(ctx, 14, make([]float64, 1<<14), 1000, 1, 2, nil)
	require.ErrorIs(t, err, context.DeadlineExceeded)
}

func TestProgramRefusesScores(t *testing.T) {
	_, err := programme(context.Background(), 3, []float64{0, 0, 0, 1e9, 0, 0, 0, 0}, 10, 1, 1, nil)
	require.ErrorIs(t, err, errScores)
	_, _, err = relative(1, []float64{0, math.NaN()}, 0)
	require.ErrorContains(t, err, "score of a set")
}

func TestScaled(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 1000 {
		x := rng.NormFloat64() * 1e5
		a := fromLog(x)
		require.InDelta(t, x, a.log(), 1e-10)
		for _, width := range []int64{1 << 11, 1 << 20, 1 << 27} {
			p, ok := newPacking(a.exponent-width/2, a.exponent+width/2)
			require.True(t, ok)
			b := p.decode(p.encode(a))
			require.InDelta(t, 1, b.over(a).float(), p.precision())
			c := p.decode(p.encode(b))
			require.Equal(t, b, c)
		}
	}
	one := scaled{1, 0}
	require.InDelta(t, 1, one.times(fromLog(3)).over(fromLog(3)).float(), 1e-15)
	var sum scaled
	for _, x := range []float64{-3000, -2, -1, -2000, 0, 1, -50} {
		a := fromLog(x)
		sum.add(a.mantissa, a.exponent)
	}
	require.InDelta(t, math.Exp(-2)+math.Exp(-1)+1+math.E, sum.float(), 1e-14)
	_, ok := newPacking(0, 1<<29)
	require.False(t, ok)
}

func TestSqueeze(t *testing.T) {
	s := newSqueezer()
	rng := rand.New(rand.NewPCG(1, 3))
	buf := make([]uint32, 1<<18)
	for range 100 {
		keep := rng.Uint32N(1 << 18)
		for i, x := range subsets(keep, buf) {
			require.Equal(t, i, s.out(x, (1<<18-1)&^keep))
		}
	}
}

func BenchmarkProgram(b *testing.B) {
	for _, k := range []int{10, 12, 14} {
		for _, scale := range []float64{0, 100} {
			b.Run(fmt.Sprintf("variables=%d/scale=%g", k, scale), func(b *testing.B) {
				logPhi := randomScores(k, scale, 1)
				for b.Loop() {
					if _, err := programme(context.Background(), k, logPhi, 10_000, 1, 1, nil); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
