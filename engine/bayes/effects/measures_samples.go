package effects

import (
	"math"

	"microrisk/engine/bayes/risk"
)

// A Joint has the measures of cells of several samples under one sigma, or under gamma effects. It is safe for concurrent use.
type Joint struct {
	samples  *Samples
	sigma    float64
	shape    float64 // of gamma effects; 0: they are lognormal
	measures *Measures
}

// Joint has the measures under a sigma of at least 0.
func (s *Samples) Joint(sigma float64) *Joint {
	return &Joint{samples: s, sigma: sigma, measures: New(sigma, s.Union)}
}

// Gamma has the measures under gamma effects of a shape above 0.
func (s *Samples) Gamma(shape float64) *Joint { return &Joint{samples: s, shape: shape} }

// A Mixture is the law of the number of people of a cell who are in some sample.
type Mixture struct {
	Least   int64
	Weights []float64 // of Least, Least + 1, ... people
}

// manyPeople is from how many people of the union on measures are not tabulated by them.
const manyPeople = 64

// Mixture is that of a cell with some records that should have so many people.
func (j *Joint) Mixture(counts []int64, people float64) Mixture {
	if !(people > 0) {
		people = 1e-300
	}
	d := j.samples.distinct(counts)
	m := Mixture{Least: d.least, Weights: d.logs}
	top := math.Inf(-1)
	for i := range m.Weights {
		m.Weights[i] += j.log(float64(d.least+int64(i)), people)
		top = max(top, m.Weights[i])
	}
	sum := 0.0
	for i, w := range m.Weights {
		m.Weights[i] = math.Exp(w - top)
		sum += m.Weights[i]
	}
	for i := range m.Weights {
		m.Weights[i] /= sum
	}
	return m
}

// log is the logarithm of the probability of so many people of the union, but for a constant.
func (j *Joint) log(n, people float64) float64 {
	if j.shape == 0 {
		return logProbability(n, j.samples.Union*people, j.sigma)
	}
	rate := j.samples.Union * people
	a, _ := math.Lgamma(j.shape + n)
	b, _ := math.Lgamma(n + 1)
	return a - b + n*math.Log(rate/(rate+j.shape))
}

// given are E[1/F] and E[F] of a cell of n people of the union.
func (j *Joint) given(n, people float64) (match, size float64) {
	if j.shape > 0 {
		phi := j.samples.Union
		a, q := j.shape+n, (1-phi)/(j.shape/people+phi)
		return risk.NegativeBinomialMatch(n, a, q), n + a*q
	}
	if j.samples.Union == 1 { // nobody is in no sample
		return 1 / n, n
	}
	if n < manyPeople && n == math.Trunc(n) {
		_, match, size = j.measures.Of(int64(n), people)
		return match, size
	}
	v := j.measures.exact(n, people)
	return v[1], n + math.Exp(v[2])
}

// Of are E[1/F] and E[F] of a cell with some records, at least one, that should have so many people. With errors the first is the chance that
// two records of different samples are one person: of those that are, there are as many as the records are more than the people.
func (j *Joint) Of(counts []int64, people float64) (match, size float64) {
	if !(people > 0) {
		people = 1e-300
	}
	m := j.Mixture(counts, people)
	if j.samples.agree < 1 {
		defer func() { match = j.same(m, counts) }()
	}
	if len(m.Weights) > manyPeople/2 && m.Least > manyPeople {
		return j.threePoints(m, people)
	}
	for i, w := range m.Weights {
		if w < 1e-14 {
			continue
		}
		a, b := j.given(float64(m.Least+int64(i)), people)
		match += w * a
		size += w * b
	}
	return match, size
}

// same is the share of pairs of records that are one person.
func (j *Joint) same(m Mixture, counts []int64) float64 {
	pairs := float64(counts[0]) * float64(counts[1])
	if pairs == 0 {
		return 0
	}
	sum := 0.0
	for i, w := range m.Weights {
		sum += w * float64(counts[0]+counts[1]-m.Least-int64(i))
	}
	return sum / pairs
}

// threePoints takes the number of people for normal, of many, at which 1/F hardly bends: the rule of Gauss and Hermite.
func (j *Joint) threePoints(m Mixture, people float64) (match, size float64) {
	mean, square := 0.0, 0.0
	for i, w := range m.Weights {
		mean += w * float64(i)
		square += w * float64(i) * float64(i)
	}
	sd := math.Sqrt(max(0, square-mean*mean))
	mean += float64(m.Least)
	for _, p := range []struct{ at, weight float64 }{{mean, 2. / 3}, {mean - math.Sqrt(3)*sd, 1. / 6}, {mean + math.Sqrt(3)*sd, 1. / 6}} {
		a, b := j.given(p.at, people)
		match += p.weight * a
		size += p.weight * b
	}
	return match, size
}

// Slope is what E[1/F] changes by, for each unit that the logarithm of the people whom the cell should have is more.
func (j *Joint) Slope(counts []int64, people float64) float64 {
	const by = 0.01
	a, _ := j.Of(counts, people*math.Exp(-by))
	b, _ := j.Of(counts, people*math.Exp(by))
	return (b - a) / (2 * by)
}

// Law is the probability of each number of people from the largest number of records on, the most of them that are asked for.
func (j *Joint) Law(counts []int64, people float64, most int) []float64 {
	if !(people > 0) {
		people = 1e-300
	}
	mix := j.Mixture(counts, people)
	least := int64(0)
	for _, n := range counts {
		least = max(least, n)
	}
	out := make([]float64, most)
	for i, w := range mix.Weights {
		n := mix.Least + int64(i)
		from := n - least
		if from >= int64(most) || w < 1e-14 {
			continue
		}
		l := j.measures.law(float64(n), people)
		sum, rest := 0.0, out[from:]
		part := make([]float64, len(rest))
		l.eachNode(func(effect, weight float64) {
			sum += weight
			unsampled := (1 - j.samples.Union) * people * effect
			if unsampled > 700 { // where exp(-unsampled) is no number any more
				for k := range part {
					part[k] += weight * math.Exp(poisson(int64(k), unsampled))
				}
				return
			}
			p := weight * math.Exp(-unsampled)
			for k := range part {
				part[k] += p
				p *= unsampled / float64(k+1)
			}
		})
		for k := range part {
			rest[k] += w * part[k] / sum
		}
	}
	return out
}

// poisson is the logarithm of the probability of k.
func poisson(k int64, mean float64) float64 {
	if k == 0 {
		return -mean
	}
	return float64(k)*math.Log(mean) - mean - factorial(k)
}

// How the logarithm of the probability of F is tabulated: by itself up to closely, then by cubics over the logarithm of F.
const (
	closely  = 64
	sizeStep = 1. / 32
)

// LogSizes gives the logarithm of the probability that a cell has so many people, whatever its records, but for a constant; it may not be
// used concurrently.
func (j *Joint) LogSizes(people float64) func(size float64) float64 {
	if !(people > 0) {
		people = 1e-300
	}
	exact := func(size float64) float64 {
		if j.shape > 0 {
			a, _ := math.Lgamma(j.shape + size)
			b, _ := math.Lgamma(size + 1)
			return a - b + size*math.Log(people/(people+j.shape))
		}
		return logProbability(size, people, j.sigma)
	}
	known := map[int]float64{}
	at := func(k int) float64 {
		x, ok := known[k]
		if !ok {
			x = exact(math.Exp(float64(k) * sizeStep))
			known[k] = x
		}
		return x
	}
	return func(size float64) float64 {
		if size < closely {
			return exact(size)
		}
		x := math.Log(size) / sizeStep
		k := int(math.Floor(x))
		u := x - float64(k)
		return -u*(u-1)*(u-2)/6*at(k-1) + (u+1)*(u-1)*(u-2)/2*at(k) - (u+1)*u*(u-2)/2*at(k+1) + (u+1)*u*(u-1)/6*at(k+2)
	}
}
