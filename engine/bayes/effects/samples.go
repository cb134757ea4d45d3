package effects

import (
	"fmt"
	"math"
	"slices"
)

// Samples are independent samples of one population. What they have together is a sample of its own, the union, in which a person may stand
// several times: J people of a cell are in the union, and its records, f1 + f2 + ..., are at least as many.
//
//	J | lambda ~ Poisson(phi lambda),  F - J | lambda ~ Poisson((1 - phi) lambda),  1 - phi = (1 - phi1) (1 - phi2) ...
//
// and of J people who are in some sample each is in sample s with probability phi_s / phi. Two records of different samples are the same
// person with probability 1/F, given F.
type Samples struct {
	Fractions []float64 // of the population, above 0 and at most 1
	Union     float64   // the part of the population that is in some sample
	few       [Most + 1]float64

	agree float64 // probability that a person who is in both of two samples has one key; 1 of more samples
}

// NewSamples are two samples or more. An error: a fraction that is none.
func NewSamples(fractions ...float64) (*Samples, error) {
	s := &Samples{Fractions: slices.Clone(fractions), agree: 1}
	if len(fractions) < 2 {
		return nil, fmt.Errorf("there are %d samples: two or more are linked", len(fractions))
	}
	none := 0.0
	for _, p := range fractions {
		if !(p > 0 && p <= 1) {
			return nil, fmt.Errorf("the sampling fraction is %v: it must be above 0 and at most 1", p)
		}
		none += math.Log1p(-p)
	}
	s.Union = -math.Expm1(none)
	s.truncate()
	return s, nil
}

// WithErrors are two samples in which the key of a person who is in both is the same with probability agree, above 0 and at most 1. Who has two
// keys counts as two people, each in one sample.
func (s *Samples) WithErrors(agree float64) (*Samples, error) {
	if len(s.Fractions) != 2 || !(agree > 0 && agree <= 1) {
		return nil, fmt.Errorf("errors are of two samples, which agree with a probability above 0 and at most 1: not of %d and %v", len(s.Fractions), agree)
	}
	if agree == 1 {
		return s, nil
	}
	p, q := s.Fractions[0], s.Fractions[1]
	out := &Samples{Fractions: s.Fractions, Union: p + q - agree*p*q, agree: agree}
	out.truncate()
	return out, nil
}

// truncate finds how probable it is that j people of the union have no more than Most records.
func (s *Samples) truncate() {
	one := make([]float64, Most+1) // records of a person of the union
	one[0] = 1
	for _, p := range s.Fractions {
		for k := Most; k >= 0; k-- {
			one[k] *= 1 - p
			if k > 0 {
				one[k] += one[k-1] * p
			}
		}
	}
	if s.agree < 1 {
		p, q := s.Fractions[0], s.Fractions[1]
		one = make([]float64, Most+1)
		one[1], one[2] = p*(1-s.agree*q)+q*(1-s.agree*p), s.agree*p*q
	}
	one[0] = 0
	for k := range one {
		one[k] /= s.Union
	}
	all := make([]float64, Most+1)
	all[0] = 1
	for j := 1; j <= Most; j++ {
		next := make([]float64, Most+1)
		for a, x := range all {
			for b, y := range one[:Most+1-a] {
				next[a+b] += x * y
			}
		}
		all = next
		for _, x := range all {
			s.few[j] += x
		}
	}
}

// A distinct is how probable the records of a cell are, given how many people of it the union has.
type distinct struct {
	least int64
	logs  []float64 // of least, least + 1, ... people; of others it is negligible
}

// distinct takes one sample after the other: of i people who are in those before, and m of the next, some are the same, so that
// C(F, i) C(F, m) is the sum over k of k!/((i+m-k)! (k-m)! (k-i)!) C(F, k).
func (s *Samples) distinct(counts []int64) distinct {
	var total int64
	for _, m := range counts {
		total += m
	}
	sum := 0.0
	for _, p := range s.Fractions {
		sum += p
	}
	// What is left out is judged where the population has as many people as the samples say.
	rate := float64(total) / sum
	none := 1.0
	d := distinct{logs: []float64{0}}
	for k, m := range counts {
		none *= 1 - s.Fractions[k]
		d = d.and(m, math.Log(rate*none), total > uncut, int64(rate*(1-none)))
	}
	for i := range d.logs {
		j := d.least + int64(i)
		if s.agree < 1 {
			p, q := s.Fractions[0], s.Fractions[1]
			both := counts[0] + counts[1] - j
			d.logs[i] += times(both, math.Log(s.agree*p*q)) + times(counts[0]-both, math.Log(p*(1-s.agree*q))) +
				times(counts[1]-both, math.Log(q*(1-s.agree*p))) - times(j, math.Log(s.Union))
			continue
		}
		for k, m := range counts {
			p := s.Fractions[k]
			d.logs[i] += times(m, math.Log(p)) + times(j-m, math.Log1p(-p))
		}
		d.logs[i] -= times(j, math.Log(s.Union))
	}
	return d
}

// times is n x, 0 where n is.
func times(n int64, x float64) float64 {
	if n == 0 {
		return 0
	}
	return float64(n) * x
}

// and takes a sample more, of m records, and leaves out what is negligible if cut: about so many people
// are expected.
func (d distinct) and(m int64, rate float64, cut bool, expected int64) distinct {
	if m == 0 {
		return d
	}
	last := d.least + int64(len(d.logs)) - 1
	out := distinct{least: max(m, d.least)}
	tilt := func(k int64) float64 {
		if math.IsInf(rate, -1) { // all people are in a sample
			return 0
		}
		return times(k, rate) - factorial(k)
	}
	of := func(k int64) float64 {
		log := math.Inf(-1)
		for i := max(d.least, k-m); i <= min(last, k); i++ {
			log = addLogs(log, d.logs[i-d.least]+factorial(k)-factorial(i+m-k)-factorial(k-m)-factorial(k-i))
		}
		return log
	}
	if !cut {
		for k := out.least; k <= last+m; k++ {
			out.logs = append(out.logs, of(k))
		}
		return out
	}
	// From the likeliest number on upwards, and then downwards.
	begin := min(max(out.least, expected), last+m)
	top := math.Inf(-1)
	for k := begin; k <= last+m; k++ {
		log := of(k)
		if top = max(top, log+tilt(k)); log+tilt(k) < top-negligible {
			break
		}
		out.logs = append(out.logs, log)
	}
	var down []float64
	for k := begin - 1; k >= out.least; k-- {
		log := of(k)
		if top = max(top, log+tilt(k)); log+tilt(k) < top-negligible {
			break
		}
		down = append(down, log)
	}
	slices.Reverse(down)
	out.least, out.logs = begin-int64(len(down)), append(down, out.logs...)
	return out
}

// negligible is how much less the logarithm of a probability is that is left out, of cells of more records than uncut.
const (
	negligible = 60
	uncut      = 256
)

func factorial(n int64) float64 {
	x, _ := math.Lgamma(float64(n) + 1)
	return x
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
