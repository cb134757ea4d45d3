package search

import (
	"context"
	"math"
	"slices"

	"microrisk/engine/graph"
)

// A forestSample is what the program and its draws say about a posterior.
type forestSample struct {
	total  scaled // f({}, V): the sum over all rooted junction trees
	graphs []sampled
	draws  int64
	// unseen is a bound on the posterior probability of all graphs that are not in graphs.
	unseen float64
}

// A sampled graph was drawn, or is one of the two that always belong to the sample: the best and the complete one.
type sampled struct {
	edges   edgeSet
	count   int64
	trees   float64 // rooted junction trees of it
	product scaled  // of phi over its cliques by that over its separators
	always  bool
}

// settledBelow is the probability of graphs never seen below which the graphs seen stand for all.
const settledBelow = 1e-6

// programme finds the best graph and the sum over all rooted junction trees for phi = exp(logPhi), by variable set with 0 for the
// empty one, and draws trees.
func programme(ctx context.Context, k int, logPhi []float64, draws int, seed uint64, workers int, report *progress) (*forestSample, error) {
	p := newProgram(k, logPhi, workers, report)
	least, most, err := p.run(ctx, maxima{p})
	if err != nil {
		return nil, err
	}
	best := maxima{p}.best()
	if err := p.pack(least, most); err != nil {
		return nil, err
	}
	s := sums{p}
	if _, _, err := p.run(ctx, s); err != nil {
		return nil, err
	}
	counts, err := s.draw(ctx, draws, seed)
	if err != nil {
		return nil, err
	}
	f := &forestSample{total: s.total(), draws: int64(draws)}
	f.collect(s, counts, edgesOf(best), edgesOf(graph.Complete(k)))
	f.bound(s)
	return f, nil
}

// pack prepares to store sums, from the range of the logarithms of their largest terms: a sum has less than 2^(k*k) terms.
func (p *program) pack(least, most float64) error {
	if !(max(-least, most) < 1e15) {
		return errScores
	}
	var ok bool
	p.packing, ok = newPacking(int64(math.Floor(least/math.Ln2))-8, int64(math.Ceil(most/math.Ln2))+int64(p.k*p.k)+8)
	if !ok {
		return errScores
	}
	return nil
}

// collect evaluates the distinct graphs.
func (f *forestSample) collect(p sums, counts map[edgeSet]int64, always ...edgeSet) {
	for _, e := range always {
		counts[e] += 0
	}
	for e, n := range counts {
		g := e.graph(p.k)
		t := g.JunctionTree()
		product := scaled{1, 0}
		for i, c := range t.Cliques {
			product = product.times(p.phi[c]).over(p.phi[t.Separators[i]])
		}
		f.graphs = append(f.graphs, sampled{
			edges: e, count: n, product: product, trees: g.JunctionTrees() * float64(len(t.Cliques)), always: slices.Contains(always, e),
		})
	}
	slices.SortFunc(f.graphs, func(a, b sampled) int { return slices.Compare(a.edges[:], b.edges[:]) })
}

// share is the product of graph i as a part of the sum over all rooted junction trees.
func (f *forestSample) share(i int) float64 { return f.graphs[i].product.over(f.total).float() }

// bound sets unseen. Every graph but the complete one has at least two rooted junction trees, so that the products of the graphs
// not seen add up to no more than half of what the trees of those seen leave of the total. Rounding counts as not seen.
func (f *forestSample) bound(p sums) {
	covered, seen := 0.0, 0.0
	for i := range f.graphs {
		share := f.share(i)
		seen += share
		covered += share * f.graphs[i].trees
	}
	rounding := 4*float64(p.k)*p.packing.precision() + 1e-13
	rest := (max(0, 1-covered) + rounding) / 2
	f.unseen = rest / (rest + seen)
}

// settled tells whether the graphs seen, weighed by their products, stand for all.
func (f *forestSample) settled() bool { return f.unseen < settledBelow }

// estimate is the weight of graph i as estimated by draws, each with the weight 1/trees. The graphs that always belong to the
// sample have their true share instead, so that no chance is in them.
func (f *forestSample) estimate(i int) float64 {
	if f.graphs[i].always {
		return f.share(i)
	}
	return float64(f.graphs[i].count) / f.graphs[i].trees / float64(f.draws)
}

// errors are the standard errors of the edge probabilities: those of a ratio of two averages over independent draws, and of one
// more draw with the edge and one without it, of typical weight: what all draws agree on is not certain for that.
func (f *forestSample) errors(pairs int) []float64 {
	total := 0.0
	sum, square, crossed := make([]float64, pairs), 0.0, make([]float64, pairs)
	for i, g := range f.graphs {
		w := f.estimate(i)
		total += w
		drawn := 0.0 // the sum of squared weights of its draws
		if !g.always {
			drawn = float64(g.count) / (g.trees * g.trees)
		}
		square += drawn
		for e := range pairs {
			if g.edges[e/64]>>(e%64)&1 != 0 {
				sum[e] += w
				crossed[e] += drawn
			}
		}
	}
	// The sum of w^2 (x - mean)^2 for x that is 0 or 1.
	further := square / float64(f.draws)
	for e := range sum {
		mean := sum[e] / total
		v := (crossed[e]+further)*(1-mean)*(1-mean) + (max(0, square-crossed[e])+further)*mean*mean
		sum[e] = math.Sqrt(v) / (float64(f.draws) * total)
	}
	return sum
}

// effective is the effective size of the sample of draws (Kong 1992).
func (f *forestSample) effective() float64 {
	sum, square := 0.0, 0.0
	for _, g := range f.graphs {
		w := float64(g.count) / g.trees
		sum += w
		square += w / g.trees
	}
	if square == 0 {
		return math.NaN()
	}
	return sum * sum / square
}
