package linkage

import (
	"errors"
	"math"

	"microrisk/engine/bayes/effects"
)

// A Prior is what a model of the population says of F: it is Poisson, with an effect of the class beside what the model makes of it (package
// effects).
type Prior struct {
	Joint  *effects.Joint               // of the samples, in their order
	People func(codes []uint32) float64 // whom a class should have, above 0, by overlap variable
}

// mostPriorTerms is how many values of F are summed over for one class.
const mostPriorTerms = 1 << 22

// expect fills in what is known of F after the samples and the tables, which may bound it or not.
func (p *Problem) expect(m *Match, facts []fact, bounded bool) error {
	people := p.Prior.People(m.Codes)
	if !bounded {
		m.Correct, m.Mean = p.Prior.Joint.Of(m.Records, people)
		if p.Listed > 0 {
			m.Law = short(p.Prior.Joint.Law(m.Records, people, p.Listed), p.Listed)
		}
		return nil
	}
	var samples, others []fact
	for _, f := range facts {
		if f.kernel == nil {
			samples = append(samples, f)
		} else {
			others = append(others, f)
		}
	}
	prior := p.Prior.Joint.LogSizes(people)
	post := &posterior{low: m.Low}
	logs, err := p.likely(post, m.High, samples, prior)
	if err != nil {
		return err
	}
	for _, f := range others {
		likelihood, err := f.likelihood(post.low, post.low+int64(len(logs))-1)
		if err != nil {
			return err
		}
		for i, l := range likelihood {
			logs[i] += l
		}
	}
	if err := post.of(logs); err != nil {
		return err
	}
	m.Mean, m.Correct = post.mean, post.correct
	post.shorten(m.Low, p.Listed)
	m.Law = post.p
	return nil
}

// likely are the logarithms of the probabilities of F by prior and samples, where they are not negligible, up to a constant; post is told
// where they begin. That of the samples has one mode, and so has that of both.
func (p *Problem) likely(post *posterior, high int64, samples []fact, prior func(f float64) float64) ([]float64, error) {
	at := func(f int64) float64 { return p.logarithm(f, samples) + prior(float64(f)) }
	low := post.low
	if high-low >= 1<<12 { // look at few of many
		top, mode := math.Inf(-1), low
		step := func(f int64) int64 { return f + max(1, f/64) }
		for f := low; f <= high; f = step(f) {
			if l := at(f); l > top {
				top, mode = l, f
			}
		}
		last := mode
		for last < high && at(last) > top+negligible {
			last = min(step(last), high)
		}
		first := low
		for f := low; f < mode; f = step(f) {
			if at(f) > top+negligible {
				break
			}
			first = f
		}
		post.low, high = first, last
	}
	if high-post.low >= mostPriorTerms {
		return nil, errors.New("too many numbers of people are possible for so many published cells: take the flat prior")
	}
	logs := make([]float64, high-post.low+1)
	for i := range logs {
		logs[i] = at(post.low + int64(i))
	}
	return logs, nil
}
