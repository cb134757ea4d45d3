package search

import (
	"math"
	"math/bits"
)

// leastTrips is how many returns from the hottest temperature an estimate of what was not seen needs.
const leastTrips = 10

// summarise makes the result of finished chains.
func (p *space) summarise(chains []*chain, ladder []float64, o Options) *Result {
	all := newSeen(p, 0)
	samples := make([][]float64, len(chains))
	d := noDiagnostics()
	for i, c := range chains {
		all.merge(c.seen)
		d.Graphs += c.seen.met
		samples[i] = settled(c.samples)
		d.Proposals += c.proposals
		d.Accepted += c.took
		d.Trace = append(d.Trace, thinned(c.samples, 500))
		d.Chains = append(d.Chains, c.frequencies())
	}
	if o.Memory == 0 {
		d.Graphs = int64(len(all.keys))
	}
	d.ESS, d.RHat = effectiveSize(samples), rankRHat(samples)
	for _, c := range chains {
		d.Trips += c.trips
	}
	d.Unseen = unseen(chains, d.Trips)
	d.Temperatures = ladder
	for r := range len(ladder) - 1 {
		tried, swapped := 0.0, 0.0
		for _, c := range chains {
			tried += float64(c.tried[r])
			swapped += float64(c.swapped[r])
		}
		d.Swaps = append(d.Swaps, swapped/tried)
	}
	se := standardErrors(chains)
	rHat, ess := edgeDiagnostics(chains, se)
	d.EdgeRHat, d.EdgeESS = p.table(rHat), p.table(ess)
	visits, likelihood := p.inclusion(all)
	d.Worst = p.worst(&d, se, visits, likelihood)
	r := &Result{Method: MC3}
	if o.Weights == ByVisits {
		p.weigh(r, len(all.keys), all.edgesOf, func(i int) float64 { return float64(all.visits[i]) }, false, 0)
		r.EdgesSE = p.matrix(se)
	} else {
		weight := func(i int) float64 { return math.Exp(all.scores[i] - all.best) }
		p.weigh(r, len(all.keys), all.edgesOf, weight, true, all.best)
		unknown := make([]float64, len(p.pairs))
		for i := range unknown {
			unknown[i] = math.NaN()
		}
		r.EdgesSE = p.matrix(unknown)
	}
	d.Margins = p.scores.Margins()
	r.Diagnostics = d
	return r
}

// inclusion are the probabilities of the edges among the graphs seen, by visits and by marginal likelihoods.
func (p *space) inclusion(s *seen) (visits, likelihood []float64) {
	visits, likelihood = make([]float64, len(p.pairs)), make([]float64, len(p.pairs))
	var total [2]float64
	for n := range s.keys {
		a, b := float64(s.visits[n]), math.Exp(s.scores[n]-s.best)
		total[0] += a
		total[1] += b
		for i, word := range s.edgesOf(n) {
			for ; word != 0; word &= word - 1 {
				visits[i*64+bits.TrailingZeros64(word)] += a
				likelihood[i*64+bits.TrailingZeros64(word)] += b
			}
		}
	}
	for i := range visits {
		visits[i] /= total[0]
		likelihood[i] /= total[1]
	}
	return visits, likelihood
}

// frequencies is the share of a chain's samples that have each edge.
func (c *chain) frequencies() []float64 {
	f := make([]float64, len(c.pairs))
	for i := range f {
		for _, counts := range c.counts {
			f[i] += float64(counts[i])
		}
		f[i] /= float64(len(c.samples))
	}
	return f
}

// standardErrors of edge frequencies over all chains: from the means of batches, or from those of chains where these differ more.
func standardErrors(chains []*chain) []float64 {
	errors := make([]float64, len(chains[0].pairs))
	for i := range errors {
		var means, parts []float64
		for _, c := range chains {
			sum, n := 0.0, len(c.samples)
			for b, counts := range c.counts {
				sum += float64(counts[i])
				if size := batchSize(n, b); size > 0 {
					parts = append(parts, float64(counts[i])/float64(size))
				}
			}
			means = append(means, sum/float64(n))
		}
		for _, list := range [][]float64{means, parts} {
			if n := float64(len(list)); n > 1 {
				_, v := meanVariance(list)
				errors[i] = max(errors[i], math.Sqrt(v/n))
			}
		}
	}
	return errors
}

// unseen is an estimate, rather too large, of the posterior probability of what was never scored: the share of the samples of a chain
// whose graph no other chain scored, over all chains, but at least 1 in the number of times that a state came from the hottest
// temperature, where it forgets where it was. What all chains miss because they cannot get there nothing else can tell of, so
// that without temperatures, or with next to no such return, there is no estimate.
func unseen(chains []*chain, trips int64) float64 {
	if len(chains) < 2 || trips < leastTrips {
		return math.NaN()
	}
	missing, total := 0.0, 0.0
	for _, c := range chains {
		for n, visits := range c.seen.visits {
			if visits == 0 {
				continue
			}
			total += float64(visits)
			known := false
			for _, o := range chains {
				if o != c && !known {
					at, _ := o.seen.find(c.seen.keys[n])
					known = at >= 0
				}
			}
			if !known {
				missing += float64(visits)
			}
		}
	}
	return max(missing/total, 1/float64(trips))
}
