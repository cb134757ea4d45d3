package linkage

import (
	"cmp"
	"errors"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"microrisk/engine/perturb"
)

// A posterior is the law of F.
type posterior struct {
	low           int64
	p             []float64 // of low, low + 1, ...; what is beyond has less than 1e-40
	mean, correct float64
}

// shorten leaves the probabilities of the numbers of people from a bound on that are listed: until hardly any is left.
func (post *posterior) shorten(low int64, listed int) {
	if listed == 0 {
		post.p = nil // the moments are enough, and a large population has many values
		return
	}
	skipped := make([]float64, min(max(post.low-low, 0), int64(listed)))
	post.p = short(append(skipped, post.p[:min(len(post.p), listed)]...), listed)
}

// left is the probability that lists of probabilities leave out, if they are not cut before.
const left = 0.001

// short is a list of probabilities until no more than left is left, and no more than listed.
func short(p []float64, listed int) []float64 {
	sum := 0.0
	for i, x := range p[:min(len(p), listed)] {
		if sum += x; sum >= 1-left {
			return slices.Clone(p[:i+1])
		}
	}
	return slices.Clone(p[:min(len(p), listed)])
}

// negligible is the logarithm below which a probability is left out.
const negligible = -100

// mostTerms is how many values of F are summed over.
const mostTerms = 1 << 26

// posterior is the law of F within bounds, proportional to the probability of the facts: the prior is flat.
func (p *Problem) posterior(low, high int64, facts []fact) (*posterior, error) {
	var samples, others []fact
	smooth := true // outside of where the samples leave some probability there is none
	for _, f := range facts {
		if f.kernel == nil {
			samples = append(samples, f)
			continue
		}
		others = append(others, f)
		smooth = smooth && f.members == nil && f.within == 0
	}
	if smooth {
		low, high = p.within(low, high, samples)
	}
	if len(others) == 0 && high-low > mostSummed {
		return p.integrated(low, high, samples), nil
	}
	if high-low >= mostTerms {
		return nil, errors.New("too many numbers of people are possible for so many published cells: leave convolve out")
	}
	post := &posterior{low: low}
	logs := make([]float64, high-low+1)
	for i := 1; i < len(logs); i++ {
		logs[i] = logs[i-1] + p.step(low+int64(i)-1, samples)
	}
	for _, f := range others {
		likelihood, err := f.likelihood(low, high)
		if err != nil {
			return nil, err
		}
		for i, l := range likelihood {
			logs[i] += l
		}
	}
	return post, post.of(logs)
}

// of takes the logarithms of the probabilities of low, low + 1, ..., up to a constant.
func (post *posterior) of(logs []float64) error {
	post.p = make([]float64, len(logs))
	most := math.Inf(-1)
	for _, l := range logs {
		most = max(most, l)
	}
	if math.IsInf(most, -1) {
		return errors.New("the tables and samples contradict each other: no number of people agrees with all of them")
	}
	total := 0.0
	for i, l := range logs {
		post.p[i] = math.Exp(l - most)
		total += post.p[i]
	}
	for i := range post.p {
		post.p[i] /= total
		f := float64(post.low + int64(i))
		post.mean += post.p[i] * f
		post.correct += post.p[i] / f
	}
	return nil
}

// step is how much the logarithm of the probability of the samples changes from F to F + 1; each is hypergeometric: C(F, f) C(N-F, n-f)
// / C(N, n).
func (p *Problem) step(f int64, samples []fact) float64 {
	sum := 0.0
	big := float64(f)
	rest := float64(p.People - f) // people who are not of the class
	for _, s := range samples {
		out := rest - float64(s.records-s.count)
		if out <= 0 {
			return math.Inf(-1)
		}
		sum += math.Log((big+1)/(big+1-float64(s.count))) + math.Log(out/rest)
	}
	return sum
}

// within narrows the bounds to where the samples, whose probability has one mode, leave more than a negligible one. A published cell
// that is the class itself has a likelihood that is 0 outside of the bounds, and much the same within them.
func (p *Problem) within(low, high int64, samples []fact) (int64, int64) {
	if high-low < 1<<12 {
		return low, high
	}
	// The steps fall as F rises: the mode is where they turn negative.
	from, to := low, high
	for from < to {
		middle := from + (to-from)/2
		if p.step(middle, samples) > 0 {
			from = middle + 1
		} else {
			to = middle
		}
	}
	mode := from
	at := func(f int64) float64 { return p.logarithm(f, samples) - p.logarithm(mode, samples) }
	from, to = low, mode
	for from < to {
		middle := from + (to-from)/2
		if at(middle) > negligible {
			to = middle
		} else {
			from = middle + 1
		}
	}
	newLow := from
	from, to = mode, high
	for from < to {
		middle := from + (to-from+1)/2
		if at(middle) > negligible {
			from = middle
		} else {
			to = middle - 1
		}
	}
	return newLow, from
}

// logarithm is that of the probability of the samples, up to a constant.
func (p *Problem) logarithm(f int64, samples []fact) float64 {
	sum := 0.0
	for _, s := range samples {
		sum += logChoose(f, s.count) + logChoose(p.People-f, s.records-s.count)
	}
	return sum
}

func logChoose(n, k int64) float64 {
	if k < 0 || k > n {
		return math.Inf(-1)
	}
	a, _ := math.Lgamma(float64(n) + 1)
	b, _ := math.Lgamma(float64(k) + 1)
	c, _ := math.Lgamma(float64(n-k) + 1)
	return a - b - c
}

// likelihood is the logarithm of the probability of a published cell for each F from low to high.
func (f *fact) likelihood(low, high int64) ([]float64, error) {
	out := make([]float64, high-low+1)
	switch {
	case f.members != nil:
		return f.parted(low, high, out)
	case f.within > 0:
		return f.shared(low, high, out)
	}
	for i := range out {
		out[i] = math.Log(perturb.Probability(f.kernel, f.published, low+int64(i)))
	}
	return out, nil
}

// mostWork is how many products a convolution may take.
const mostWork = 1 << 28

var errWork = errors.New("too many cells are summed to be convolved: leave convolve out")

// parted is the logarithm of the probability of the published parts of a class of F people: the sum over all splits of F, which are
// equally likely.
func (f *fact) parted(low, high int64, out []float64) ([]float64, error) {
	sum, from, scale := []float64{1}, int64(0), 0.0 // times exp(scale)
	cells := 0
	work := 0
	fold := func(published int64) error {
		least, most, _ := f.kernel.Bounds(published)
		most = min(most, high)
		if least > most {
			sum = nil
			return nil
		}
		part := make([]float64, most-least+1)
		for i := range part {
			part[i] = perturb.Probability(f.kernel, published, least+int64(i))
		}
		if work += len(part) * len(sum); work > mostWork {
			return errWork
		}
		next := make([]float64, min(len(sum)+len(part)-1, int(max(high-from-least, 0))+1))
		for i, a := range sum {
			for j, b := range part {
				if i+j < len(next) {
					next[i+j] += a * b
				}
			}
		}
		sum, from = next, from+least
		cells++
		if most := slices.Max(append(sum, 0)); most > 0 { // many cells would run out of digits
			for i := range sum {
				sum[i] /= most
			}
			scale += math.Log(most)
		}
		return nil
	}
	for _, published := range *f.members {
		if err := fold(published); err != nil {
			return nil, err
		}
	}
	if f.absent > 1<<16 {
		return nil, errWork
	}
	for range f.absent {
		if err := fold(0); err != nil {
			return nil, err
		}
	}
	for i := range out {
		big := low + int64(i)
		out[i] = math.Inf(-1)
		if at := big - from; at >= 0 && at < int64(len(sum)) {
			out[i] = math.Log(sum[at]) + scale - logSplits(big, float64(cells))
		}
	}
	return out, nil
}

// shared is the logarithm of the probability of a published cell that sums several classes of the overlap, of which one has F people:
// its total may be any, and all splits of it are equally likely.
func (f *fact) shared(low, high int64, out []float64) ([]float64, error) {
	least, most, _ := f.kernel.Bounds(f.published)
	if (most-least+1)*int64(len(out)) > mostWork {
		return nil, errWork
	}
	for i := range out {
		out[i] = math.Inf(-1)
	}
	for total := least; total <= most; total++ {
		p := perturb.Probability(f.kernel, f.published, total)
		if p == 0 {
			continue
		}
		whole := math.Log(p) - logSplits(total, f.within)
		for i := range out {
			if rest := total - low - int64(i); rest >= 0 {
				out[i] = addLogs(out[i], whole+logSplits(rest, f.within-1))
			}
		}
	}
	return out, nil
}

// addLogs is log(exp(a) + exp(b)).
func addLogs(a, b float64) float64 {
	if a < b {
		a, b = b, a
	}
	if math.IsInf(b, -1) {
		return a
	}
	return a + math.Log1p(math.Exp(b-a))
}

// logSplits is the logarithm of the number of ways to split n people into so many cells.
func logSplits(n int64, cells float64) float64 {
	if cells < 1 {
		if n == 0 {
			return 0
		}
		return math.Inf(-1)
	}
	a, _ := math.Lgamma(float64(n) + cells)
	b, _ := math.Lgamma(float64(n) + 1)
	c, _ := math.Lgamma(cells)
	return a - b - c
}

// RankCorrelation is Spearman's correlation of two lists, equal values sharing the mean of their ranks; nil for lists of fewer than two
// values or of equal ones.
func RankCorrelation(a, b []float64) *float64 {
	x, y := ranks(a), ranks(b)
	if len(x) < 2 {
		return nil
	}
	r := stat.Correlation(x, y, nil)
	if math.IsNaN(r) {
		return nil
	}
	return &r
}

func ranks(values []float64) []float64 {
	order := make([]int, len(values))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int { return cmp.Compare(values[i], values[j]) })
	out := make([]float64, len(values))
	for from := 0; from < len(order); {
		to := from
		for to < len(order) && values[order[to]] == values[order[from]] {
			to++
		}
		for _, i := range order[from:to] {
			out[i] = float64(from+to-1) / 2
		}
		from = to
	}
	return out
}
