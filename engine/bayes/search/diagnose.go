package search

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// thinned is at most most values at even distances.
func thinned(values []float64, most int) []float64 {
	n := min(len(values), most)
	out := make([]float64, n)
	for i := range out {
		out[i] = values[i*len(values)/n]
	}
	return out
}

// settled takes the noise of rounding off log likelihoods, so that a chain that stays where it is stays at one value.
func settled(values []float64) []float64 {
	out := make([]float64, len(values))
	for i, x := range values {
		out[i] = math.Round(x*1e6) / 1e6
	}
	return out
}

// meanVariance is the mean and the variance (by n - 1; 0 for one value).
func meanVariance(values []float64) (mean, variance float64) {
	for _, x := range values {
		mean += x
	}
	mean /= float64(len(values))
	if len(values) < 2 {
		return mean, 0
	}
	constant := true
	for _, x := range values {
		variance += (x - mean) * (x - mean)
		constant = constant && x == values[0]
	}
	if constant {
		return values[0], 0
	}
	return mean, variance / float64(len(values)-1)
}

// pooled is the mean variance within chains of the same length n, and the variance estimate that their means widen.
func pooled(chains [][]float64) (within, total float64) {
	n := float64(len(chains[0]))
	means := make([]float64, len(chains))
	for i, c := range chains {
		var v float64
		means[i], v = meanVariance(c)
		within += v / float64(len(chains))
	}
	_, between := meanVariance(means)
	return within, within*(n-1)/n + between
}

// splitRHat is the potential scale reduction of Gelman & Rubin 1992 over the halves of chains (Gelman et al. 2013, 11.4), NaN where
// no half varies or there are fewer than two values in each.
func splitRHat(chains [][]float64) float64 {
	var halves [][]float64
	for _, c := range chains {
		n := len(c) / 2
		if n < 2 {
			return math.NaN()
		}
		halves = append(halves, c[:n], c[len(c)-n:])
	}
	within, total := pooled(halves)
	if within == 0 {
		return math.NaN()
	}
	return math.Sqrt(total / within)
}

// rankRHat is the larger of split R-hat of the normal scores of all values, and of those of their distances from the median, which
// tells chains of other spread apart (Vehtari et al. 2021).
func rankRHat(chains [][]float64) float64 {
	var all []float64
	for _, c := range chains {
		all = append(all, c...)
	}
	slices.Sort(all)
	if len(all) == 0 {
		return math.NaN()
	}
	median := all[len(all)/2]
	folded := make([][]float64, len(chains))
	for i, c := range chains {
		folded[i] = make([]float64, len(c))
		for j, x := range c {
			folded[i][j] = math.Abs(x - median)
		}
	}
	r := splitRHat(normalScores(chains, all))
	if f := splitRHat(normalScores(folded, slices.Sorted(slices.Values(slices.Concat(folded...))))); math.IsNaN(r) || f > r {
		r = f
	}
	return r
}

// normalScores puts the normal quantile of its mean rank in the place of each value; sorted are all of them.
func normalScores(chains [][]float64, sorted []float64) [][]float64 {
	n := float64(len(sorted))
	scores := make([][]float64, len(chains))
	for i, c := range chains {
		scores[i] = make([]float64, len(c))
		for j, x := range c {
			from, _ := slices.BinarySearch(sorted, x)
			to, _ := slices.BinarySearchFunc(sorted, x, func(a, b float64) int {
				if a <= b {
					return -1
				}
				return 1
			})
			rank := float64(from+to+1) / 2
			scores[i][j] = distuv.UnitNormal.Quantile((rank - 3./8) / (n + 1./4))
		}
	}
	return scores
}

// effectiveValues is the largest number of values of each chain that the effective sample size looks at.
const effectiveValues = 20_000

// effectiveSize is the effective sample size over all chains: their number of values divided by the sum of autocorrelations, which
// ends by Geyer's initial monotone sequence (Gelman et al. 2013, 11.5; Vehtari et al. 2021). Chains that disagree lower it. NaN
// where no chain varies or there are fewer than four values in each.
func effectiveSize(samples [][]float64) float64 {
	chains := make([][]float64, len(samples))
	means := make([]float64, len(samples))
	for i, c := range samples {
		chains[i] = thinned(c, effectiveValues)
		means[i], _ = meanVariance(chains[i])
	}
	n := len(chains[0])
	if n < 4 {
		return math.NaN()
	}
	within, total := pooled(chains)
	if within == 0 {
		return math.NaN()
	}
	correlation := func(lag int) float64 {
		sum := 0.0
		for i, c := range chains {
			m, s := means[i], 0.0
			for j, x := range c[lag:] {
				s += (x - m) * (c[j] - m)
			}
			sum += s / float64(n) / float64(len(chains))
		}
		return 1 - (within*float64(n-1)/float64(n)-sum)/total
	}
	time, last := -1.0, math.Inf(1)
	for lag := 0; lag+1 < n; lag += 2 {
		pair := correlation(lag) + correlation(lag+1)
		if lag == 0 {
			pair = 1 + correlation(1)
		}
		if pair <= 0 {
			break
		}
		last = min(last, pair)
		time += 2 * last
	}
	count := float64(n * len(chains))
	return min(count/max(time, 1/math.Log10(count+10)), count*math.Log10(count+10))
}
