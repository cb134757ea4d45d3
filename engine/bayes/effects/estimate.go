package effects

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
)

// Most is the largest frequency of cells that sigma is estimated from.
const Most = 6

// LargestSigma is the largest sigma that is looked for.
const LargestSigma = 4

// A Cell is an occupied cell: its records, and the people that it should have by the model, N m.
type Cell struct {
	Records int64
	People  float64
}

// A Fit is what cells say of sigma.
type Fit struct {
	Sigma      float64
	SE         float64 // its standard error; NaN where sigma is at the border
	Gain       float64 // of the log likelihood over that of sigma 0
	Shape      float64 // of gamma effects instead, of mean 1, that are likeliest; +Inf where none are as likely
	Unknown    string  // why sigma is not identified, and 0 is taken; "" where it is
	Cells      int64   // with 1 to Most records
	Observed   [Most]int64
	Without    [Most]float64 // cells with 1, 2, ... records that are expected among these, under sigma 0
	Expected   [Most]float64 // and under Sigma
	Deviations [Most]float64 // Observed less Expected, over its standard deviation
}

// bins is how many bins a unit of the logarithm of what a cell should have is cut into.
const bins = 8

// A bin has cells that should have about as many records.
type bin struct {
	rate  float64
	cells [Most]float64
}

// Estimate takes sigma where the truncated likelihood of the occupied cells of 1 to Most records is greatest,
//
//	sum of log P(f | m, sigma) - log of the sum over g = 1..Most of P(g | m, sigma):
//
// empty cells are not needed. fraction is the sampling fraction, above 0 and below 1. Where sigma is not identified it is 0, and Unknown
// says why. Errors: cells without records, or that should have none; a context that ends.
func Estimate(ctx context.Context, cells []Cell, fraction float64) (*Fit, error) {
	if !(fraction > 0 && fraction <= 1) {
		return nil, fmt.Errorf("the sampling fraction is %v: it must be above 0 and at most 1", fraction)
	}
	f := &Fit{SE: math.NaN(), Shape: math.Inf(1)}
	list, err := f.bins(cells, fraction)
	if err != nil {
		return nil, err
	}
	switch {
	case fraction == 1:
		f.Unknown = "all people are in the sample"
	case f.Cells == 0:
		f.Unknown = fmt.Sprintf("no key has 1 to %d records", Most)
	case f.Cells == f.Observed[0]:
		f.Unknown = fmt.Sprintf("no key has 2 to %d records", Most)
	}
	if f.Unknown != "" {
		f.expect(list)
		return f, nil
	}
	f.Shape = shape(list)
	likelihood := func(sigma float64) float64 {
		sum := 0.0
		for i := range list {
			sum += list[i].likelihood(sigma)
		}
		return sum
	}
	if err := f.maximise(ctx, likelihood); err != nil {
		return nil, err
	}
	f.expect(list)
	return f, nil
}

// bins puts the cells of few records into bins.
func (f *Fit) bins(cells []Cell, fraction float64) ([]bin, error) {
	type sum struct {
		bin
		log, n float64
	}
	sums := make(map[int]*sum)
	for i, c := range cells {
		switch {
		case c.Records < 1 || !(c.People > 0) || math.IsInf(c.People, 1):
			return nil, fmt.Errorf("cell %d has %d records and should have %v people: both are above 0", i, c.Records, c.People)
		case c.Records > Most:
			continue
		}
		x := math.Log(fraction * c.People)
		at := int(math.Floor(x * bins))
		b := sums[at]
		if b == nil {
			b = new(sum)
			sums[at] = b
		}
		b.log += x
		b.n++
		b.cells[c.Records-1]++
		f.Cells++
		f.Observed[c.Records-1]++
	}
	list := make([]bin, 0, len(sums))
	for _, b := range sums {
		b.rate = math.Exp(b.log / b.n)
		list = append(list, b.bin)
	}
	slices.SortFunc(list, func(a, b bin) int { return cmp.Compare(a.rate, b.rate) })
	return list, nil
}

// probabilities are those of 1 to Most records, given that the cell has one of these numbers.
func (b *bin) probabilities(sigma float64) (p [Most]float64) {
	top := math.Inf(-1)
	for g := range p {
		p[g] = logProbability(float64(g+1), b.rate, sigma)
		top = max(top, p[g])
	}
	sum := 0.0
	for g := range p {
		p[g] = math.Exp(p[g] - top)
		sum += p[g]
	}
	for g := range p {
		p[g] /= sum
	}
	return p
}

func (b *bin) likelihood(sigma float64) float64 {
	sum := 0.0
	for g, p := range b.probabilities(sigma) {
		if n := b.cells[g]; n > 0 {
			sum += n * math.Log(p)
		}
	}
	return sum
}

// How sigma is looked for.
const (
	coarse = 0.2
	fine   = 1e-4
	around = 0.05 // the curvature is taken so far on both sides
)

// maximise finds the greatest likelihood: on a coarse grid, then by golden sections.
func (f *Fit) maximise(ctx context.Context, likelihood func(float64) float64) error {
	best, at := math.Inf(-1), 0.0
	zero := 0.0
	for k := 0; float64(k)*coarse <= LargestSigma+1e-9; k++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		l := likelihood(float64(k) * coarse)
		if k == 0 {
			zero = l
		}
		if l > best {
			best, at = l, float64(k)*coarse
		}
	}
	lo, hi := max(at-coarse, 0), min(at+coarse, LargestSigma)
	sigma := golden(likelihood, lo, hi, fine)
	if err := ctx.Err(); err != nil {
		return err
	}
	top := likelihood(sigma)
	if zero >= top {
		sigma, top = 0, zero
	}
	f.Sigma, f.Gain = sigma, top-zero
	if sigma >= around {
		if curve := 2*top - likelihood(sigma-around) - likelihood(sigma+around); curve > 0 {
			f.SE = around / math.Sqrt(curve)
		}
	}
	if sigma > LargestSigma-2*fine {
		f.Sigma, f.Gain, f.SE = 0, 0, math.NaN()
		f.Unknown = fmt.Sprintf("no sigma up to %d is large enough: keys determine each other, or one of them is an identifier", LargestSigma)
	}
	return nil
}

// expect fills in the expected numbers.
func (f *Fit) expect(list []bin) {
	var variance [Most]float64
	for i := range list {
		b := &list[i]
		n := 0.0
		for _, c := range b.cells {
			n += c
		}
		without, with := b.probabilities(0), b.probabilities(f.Sigma)
		for g := range with {
			f.Without[g] += n * without[g]
			f.Expected[g] += n * with[g]
			variance[g] += n * with[g] * (1 - with[g])
		}
	}
	for g, v := range variance {
		if v > 0 {
			f.Deviations[g] = (float64(f.Observed[g]) - f.Expected[g]) / math.Sqrt(v)
		}
	}
}
