package search

import (
	"fmt"
	"math"
	"slices"
)

// edgeDiagnostics are split R-hat and effective sample size of the indicator of each pair, from how many samples of each batch of each
// chain have the edge; NaN where no sample differs from another.
func edgeDiagnostics(chains []*chain, se []float64) (rHat, ess []float64) {
	n := len(chains[0].samples)
	samples := float64(n * len(chains))
	for pair := range chains[0].pairs {
		var halves []float64 // shares
		var sizes []float64
		total := 0.0
		for _, c := range chains {
			for half := range 2 {
				sum, size := 0.0, 0
				for b := half * batches / 2; b < (half+1)*batches/2; b++ {
					sum += float64(c.counts[b][pair])
					size += batchSize(n, b)
				}
				if size > 0 {
					halves, sizes = append(halves, sum/float64(size)), append(sizes, float64(size))
				}
				total += sum
			}
		}
		rHat = append(rHat, indicatorRHat(halves, sizes))
		p := total / samples
		switch {
		case p == 0 || p == 1:
			ess = append(ess, math.NaN())
		case se[pair] == 0:
			ess = append(ess, samples)
		default:
			ess = append(ess, min(samples, p*(1-p)/(se[pair]*se[pair])))
		}
	}
	return rHat, ess
}

// batchSize is the number of samples j of n with j*batches/n = b.
func batchSize(n, b int) int { return (n*(b+1)+batches-1)/batches - (n*b+batches-1)/batches }

// indicatorRHat is split R-hat of a variable that is 0 or 1 from its mean in each part of chains: of such a variable ranks tell no more.
func indicatorRHat(means, sizes []float64) float64 {
	within := 0.0
	size := slices.Min(sizes)
	if size < 2 {
		return math.NaN()
	}
	for i, m := range means {
		within += m * (1 - m) * sizes[i] / (sizes[i] - 1) / float64(len(means))
	}
	_, between := meanVariance(means)
	switch {
	case within > 0:
		return math.Sqrt((within*(size-1)/size + between) / within)
	case between > 0: // every part has the edge throughout, or never, and they disagree
		return math.Inf(1)
	}
	return math.NaN()
}

// A Worst is the edge whose estimate is the least certain.
type Worst struct {
	Edge [2]int  // Edge[0] < Edge[1]
	RHat float64 // split R-hat of its indicator; +Inf where chains stay apart
	ESS  float64 // effective number of samples
	SE   float64 // standard error of its frequency
	Gap  float64 // between its frequency and its probability by marginal likelihoods over the graphs seen
}

// worst is the edge with the largest of standard error and gap.
func (p *space) worst(d *Diagnostics, se, visits, likelihood []float64) *Worst {
	var w *Worst
	most := -1.0
	for i, e := range p.pairs {
		gap := math.Abs(visits[i] - likelihood[i])
		if x := max(se[i], gap); x > most {
			v, u := int(e[0]), int(e[1])
			most, w = x, &Worst{Edge: [2]int{min(v, u), max(v, u)}, RHat: d.EdgeRHat[v][u], ESS: d.EdgeESS[v][u], SE: se[i], Gap: gap}
		}
	}
	return w
}

// Beyond these chains are not trusted: R-hat of the worst edge; the standard error of its frequency, where that is what is reported,
// and where it only bears witness; the gap to its probability by marginal likelihoods; the share of what was not seen.
const (
	mostRHat    = 1.1
	mostSE      = 0.025
	mostWitness = 0.1
	mostGap     = 0.05
	mostUnseen  = 0.1
)

// Doubts are the reasons not to trust the chains of MC3, none where there are none; weights are Options.Weights.
func (d *Diagnostics) Doubts(weights string) []string {
	var list []string
	if d.RHat > mostRHat {
		list = append(list, fmt.Sprintf("R-hat of the likelihood is %.3g", d.RHat))
	}
	if w := d.Worst; w != nil {
		se := mostWitness
		if weights == ByVisits {
			se = mostSE
		}
		switch {
		case w.RHat > mostRHat:
			list = append(list, fmt.Sprintf("R-hat of the edge is %.3g", w.RHat))
		case w.SE > se:
			list = append(list, fmt.Sprintf("its frequency has a standard error of %.2g", w.SE))
		}
		if w.Gap > max(mostGap, 3*w.SE) || w.Gap > 2*mostWitness {
			list = append(list, fmt.Sprintf("its frequency and its probability by likelihoods are %.2g apart", w.Gap))
		}
	}
	if d.Unseen > mostUnseen {
		list = append(list, fmt.Sprintf("about %.2g of the posterior probability was not seen", d.Unseen))
	}
	if len(d.Temperatures) > 1 && d.Trips < leastTrips {
		list = append(list, fmt.Sprintf("states came from the hottest temperature to the coldest %d times only", d.Trips))
	}
	return list
}
