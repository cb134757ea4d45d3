package risk

import (
	"context"
	"math"

	"microrisk/engine/bayes"
)

// poissonCells are the measures of Smith 2011, chapter 7: F - f is Poisson with mean u p, p the maximum-likelihood proportion of the
// cell under the model.
func (l *Law) poissonCells(ctx context.Context, d *bayes.Data, o *Options, c *Cells) error {
	p := newPlan(l, true, o)
	u := o.Unsampled
	return p.eachBlock(ctx, d, o, func(b *block, _, lo int) {
		for k, m := range l.Models {
			w := m.Weight
			for j, pi := range b.means(k) {
				i := lo + j
				f := float64(d.Counts[i])
				lam := u * pi
				c.ExpectedFrequency[i] += w * lam
				c.CorrectMatch[i] += w * PoissonMatch(f, lam)
				if f == 1 {
					c.PopulationUnique[i] += w * math.Exp(-lam)
				}
				if c.SetMatch != nil {
					c.SetMatch[i] += w * poissonSetMatch(f, lam)
				}
			}
		}
		c.addSample(d, lo, b.size)
	})
}
