package effects

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
)

// A Shared is an occupied cell of several samples: its records in each, and the people that it should have by the model.
type Shared struct {
	Records []int64
	People  float64
}

// A sharedBin has cells that should have about as many records, by how probable these are given 1, 2, ... people of the union: those of one
// pattern of records together.
type sharedBin struct {
	rate     float64
	patterns []pattern
	cells    float64
}

type pattern struct {
	counts []int64
	given  [Most]float64 // probability of the records given so many people
	cells  float64
}

// EstimateShared is Estimate for cells of several samples, by the records that each of them has: who is in two of them is told from two people.
// Cells of 1 to Most records in all samples count. What is observed and expected is by the records in all.
func (s *Samples) EstimateShared(ctx context.Context, cells []Shared) (*Fit, error) {
	f := &Fit{SE: math.NaN(), Shape: math.Inf(1)}
	list, err := s.bins(f, cells)
	if err != nil {
		return nil, err
	}
	switch {
	case s.Union == 1:
		f.Unknown = "all people are in the samples"
	case f.Cells == 0:
		f.Unknown = fmt.Sprintf("no key has 1 to %d records", Most)
	case f.Cells == f.Observed[0]:
		f.Unknown = fmt.Sprintf("no key has 2 to %d records", Most)
	}
	if f.Unknown != "" {
		return f, nil
	}
	f.Shape = shapeOf(func(shape float64) float64 {
		sum := 0.0
		for i := range list {
			sum += list[i].likelihood(s, list[i].gamma(shape))
		}
		return sum
	})
	return f, f.maximise(ctx, func(sigma float64) float64 {
		sum := 0.0
		for i := range list {
			sum += list[i].likelihood(s, list[i].lognormal(sigma))
		}
		return sum
	})
}

// bins puts the cells of few records into bins.
func (s *Samples) bins(f *Fit, cells []Shared) ([]sharedBin, error) {
	type sum struct {
		sharedBin
		log float64
		at  map[[Most]int64]int
	}
	sums := map[int]*sum{}
	for i, c := range cells {
		var total int64
		for _, n := range c.Records {
			total += n
		}
		switch {
		case len(c.Records) != len(s.Fractions):
			return nil, fmt.Errorf("cell %d has records of %d samples, there are %d", i, len(c.Records), len(s.Fractions))
		case total < 1 || !(c.People > 0) || math.IsInf(c.People, 1):
			return nil, fmt.Errorf("cell %d has %d records and should have %v people: both are above 0", i, total, c.People)
		case total > Most:
			continue
		}
		x := math.Log(s.Union * c.People)
		at := int(math.Floor(x * bins))
		b := sums[at]
		if b == nil {
			b = &sum{at: map[[Most]int64]int{}}
			sums[at] = b
		}
		b.log += x
		b.cells++
		f.Cells++
		f.Observed[total-1]++
		id, ok := patternOf(c.Records)
		if !ok {
			return nil, fmt.Errorf("cell %d: a negative number of records", i)
		}
		k, there := b.at[id]
		if !there {
			k = len(b.patterns)
			b.at[id] = k
			b.patterns = append(b.patterns, pattern{counts: slices.Clone(c.Records)})
		}
		b.patterns[k].cells++
	}
	list := make([]sharedBin, 0, len(sums))
	known := map[[Most]int64][Most]float64{}
	for _, b := range sums {
		b.rate = math.Exp(b.log / b.cells)
		slices.SortFunc(b.patterns, func(x, y pattern) int { return slices.Compare(x.counts, y.counts) })
		for k := range b.patterns {
			p := &b.patterns[k]
			id, _ := patternOf(p.counts)
			given, there := known[id]
			if !there {
				d := s.distinct(p.counts)
				for i, log := range d.logs {
					given[d.least+int64(i)-1] = math.Exp(log)
				}
				known[id] = given
			}
			p.given = given
		}
		list = append(list, b.sharedBin)
	}
	slices.SortFunc(list, func(a, b sharedBin) int { return cmp.Compare(a.rate, b.rate) })
	return list, nil
}

// patternOf is a name for the records of at most Most in all: the samples of each, in order.
func patternOf(counts []int64) (id [Most]int64, ok bool) {
	at := 0
	for k, n := range counts {
		if n < 0 {
			return id, false
		}
		for range n {
			id[at] = int64(k) + 1
			at++
		}
	}
	return id, true
}

// lognormal are the logarithms of the probabilities of 1 to Most people of the union.
func (b *sharedBin) lognormal(sigma float64) (p [Most]float64) {
	for g := range p {
		p[g] = logProbability(float64(g+1), b.rate, sigma)
	}
	return p
}

// gamma are those under gamma effects, but for a factor.
func (b *sharedBin) gamma(shape float64) (p [Most]float64) {
	log := 0.0
	for g := range p {
		log += math.Log((shape + float64(g)) / float64(g+1) * b.rate / (b.rate + shape))
		p[g] = log
	}
	return p
}

// likelihood is the logarithm of the probability of the records of the cells, given that each has 1 to Most; people are the logarithms of the
// probabilities of 1 to Most people.
func (b *sharedBin) likelihood(s *Samples, people [Most]float64) float64 {
	top := slices.Max(people[:])
	all := 0.0
	for g := range people {
		people[g] = math.Exp(people[g] - top)
		all += people[g] * s.few[g+1]
	}
	sum := 0.0
	for _, p := range b.patterns {
		one := 0.0
		for g, x := range p.given {
			one += x * people[g]
		}
		sum += p.cells * math.Log(one/all)
	}
	return sum
}
