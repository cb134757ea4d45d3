package risk

import (
	"context"
	"errors"
	"fmt"
	"math"

	"microrisk/engine/bayes"
)

// Cells measures the occupied cells of a sample d, which may be another than the law was fitted to, with the same levels. Errors: a
// sample of other levels or with unsound codes, options out of range, a context that ends.
func (l *Law) Cells(ctx context.Context, d *bayes.Data, o Options) (*Cells, error) {
	if err := l.ready(d, &o); err != nil {
		return nil, err
	}
	n := d.Cells()
	c := &Cells{CorrectMatch: make([]float64, n), PopulationUnique: make([]float64, n), ExpectedFrequency: make([]float64, n)}
	if o.SetMatch {
		c.SetMatch = make([]float64, n)
	}
	if l.single() || o.Unsampled == 0 {
		c.certain(d, &o)
		return c, ctx.Err()
	}
	var err error
	switch o.Estimator {
	case Gamma:
		err = l.gammaCells(ctx, d, &o, c)
	case Poisson:
		err = l.poissonCells(ctx, d, &o, c)
	case Exact:
		err = l.exactCells(ctx, d, &o, c)
	case MonteCarlo:
		err = l.drawnCells(ctx, d, &o, c)
	}
	if err != nil {
		return nil, err
	}
	c.bound(d)
	return c, nil
}

// ready checks a sample and options, and fills in the defaults.
func (l *Law) ready(d *bayes.Data, o *Options) error {
	if err := l.checkData(d); err != nil {
		return err
	}
	if len(l.Models) == 0 || len(l.Margins) == 0 {
		return errors.New("the law has no models or no margins: it was not fitted")
	}
	switch o.Estimator {
	case "":
		o.Estimator = Gamma
	case Gamma, Poisson, Exact, MonteCarlo:
	default:
		return fmt.Errorf("there is no estimator %q: it is %s, %s, %s or %s", o.Estimator, Gamma, Poisson, Exact, MonteCarlo)
	}
	if !(o.Unsampled >= 0) || math.IsInf(o.Unsampled, 1) {
		return fmt.Errorf("the number of people not in the sample is %v, want 0 or more", o.Unsampled)
	}
	if o.Draws < 0 || o.PUDraws < 0 {
		return errors.New("numbers of draws must be above 0")
	}
	if o.Draws == 0 {
		o.Draws = 1000
	}
	if o.PUDraws == 0 {
		o.PUDraws = 20000
	}
	return nil
}

// certain fills in what is known when all people are in the sample, or when they all are in the one cell of the table.
func (c *Cells) certain(d *bayes.Data, o *Options) {
	for i, f := range d.Counts {
		all := float64(f) + o.Unsampled
		c.CorrectMatch[i] = 1 / all
		c.ExpectedFrequency[i] = all
		if all == 1 {
			c.PopulationUnique[i] = 1
		}
		if c.SetMatch != nil {
			c.SetMatch[i] = setMatch(float64(f), o.Unsampled)
		}
	}
	if o.Estimator == MonteCarlo {
		c.SD = &SDs{}
	}
}

// setMatch is 1/C(f+more, f).
func setMatch(f, more float64) float64 {
	if more == 0 {
		return 1
	}
	a, _ := math.Lgamma(f + 1)
	b, _ := math.Lgamma(more + 1)
	c, _ := math.Lgamma(f + more + 1)
	return math.Exp(a + b - c)
}

// bound takes off what rounding may have put on: weights sum to 1 only nearly.
func (c *Cells) bound(d *bayes.Data) {
	for i, f := range d.Counts {
		c.CorrectMatch[i] = min(c.CorrectMatch[i], 1/float64(f))
		c.PopulationUnique[i] = min(max(c.PopulationUnique[i], 0), 1)
		if c.SetMatch != nil {
			c.SetMatch[i] = min(c.SetMatch[i], 1)
		}
	}
}

// gammaCells are the measures of Forster & Webb 2007, section 4: given mean m and relative variance 1/a of pi, F - f is negative
// binomial of shape a and mean u m.
func (l *Law) gammaCells(ctx context.Context, d *bayes.Data, o *Options, c *Cells) error {
	p := newPlan(l, false, o)
	u := o.Unsampled
	return p.eachBlock(ctx, d, o, func(b *block, _, lo int) {
		for k, m := range l.Models {
			mean, spread := b.moments(k)
			w := m.Weight
			for j, pi := range mean {
				i := lo + j
				f := float64(d.Counts[i])
				lam := u * pi
				q := lam * spread[j]
				a := 1 / spread[j]
				c.ExpectedFrequency[i] += w * lam
				if f == 1 {
					alone, match := unique(a, q)
					c.PopulationUnique[i] += w * alone
					c.CorrectMatch[i] += w * match
				} else {
					c.CorrectMatch[i] += w * NegativeBinomialMatch(f, a, q)
				}
				if c.SetMatch != nil {
					c.SetMatch[i] += w * gammaSetMatch(f, a, q)
				}
			}
		}
		c.addSample(d, lo, b.size)
	})
}

// addSample adds f to u E[pi].
func (c *Cells) addSample(d *bayes.Data, lo, size int) {
	for i := lo; i < lo+size; i++ {
		c.ExpectedFrequency[i] += float64(d.Counts[i])
	}
}
