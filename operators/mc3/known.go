package mc3

import (
	"context"
	"math"

	"golang.org/x/sync/errgroup"

	"microrisk/engine/bayes"
	"microrisk/engine/bayes/risk"
	"microrisk/engine/contingency"
	"microrisk/operators"
	"microrisk/operators/known"
)

// cellBounds are what known tables leave to the cells of a sample.
type cellBounds struct {
	low, high []int64
	summary   known.Summary
	some      bool // cell is narrower than that it has its records
}

// bounds are those of known tables; nil where there are none.
func (b *bound) bounds(ctx context.Context, t *contingency.Table, d *bayes.Data, env operators.Env) (*cellBounds, error) {
	if b.tables == nil {
		return nil, nil
	}
	of, err := b.tables.Bounds(ctx, t, b.drop, b.Sampling, env)
	if err != nil {
		return nil, err
	}
	c := &cellBounds{low: make([]int64, d.Cells()), high: make([]int64, d.Cells()), summary: *of.Summary}
	for i, f := range d.Counts {
		c.low[i], c.high[i] = of.Low[d.ClassOf(i)], of.High[d.ClassOf(i)]
		c.some = c.some || c.bind(i, f)
	}
	return c, nil
}

// bind tells whether tables say anything of a cell.
func (c *cellBounds) bind(i int, f int64) bool { return c.low[i] > f || c.high[i] != risk.NoLimit }

// narrow cuts the laws of cells off outside of their bounds, and is the options by which the file is measured then: of empty cells nothing is known.
func (b *bound) narrow(ctx context.Context, l *fittedLaw, d *bayes.Data, c *cellBounds, o risk.Options, env operators.Env) (risk.Options, error) {
	summary := c.summary
	l.known = &summary
	if !c.some || d.Records == 0 {
		return o, nil
	}
	var outside []float64
	var err error
	quiet := o
	quiet.Progress = nil
	if l.people == nil {
		outside, err = l.law.Within(ctx, d, l.cells, c.low, c.high, quiet)
	} else {
		outside, err = l.narrowEffects(ctx, d, c, env.Workers)
	}
	for _, p := range outside {
		summary.Narrow(p)
	}
	o.Adjusted = true
	return o, err
}

// narrowedTogether is how many cells a goroutine takes at a time.
const narrowedTogether = 256

// narrowEffects does it to cells with effects.
func (l *fittedLaw) narrowEffects(ctx context.Context, d *bayes.Data, c *cellBounds, workers int) ([]float64, error) {
	outside := make([]float64, d.Cells())
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(max(1, workers))
	for from := 0; from < d.Cells(); from += narrowedTogether {
		g.Go(func() error {
			for i := from; i < min(from+narrowedTogether, d.Cells()); i++ {
				if !c.bind(i, d.Counts[i]) {
					continue
				}
				cut := l.measures.Within(d.Counts[i], l.people[i], c.low[i], c.high[i])
				outside[i] = max(0, -math.Expm1(cut.Log))
				l.cells.PopulationUnique[i], l.cells.CorrectMatch[i], l.cells.ExpectedFrequency[i] = cut.Alone, cut.Match, cut.Size
			}
			return ctx.Err()
		})
	}
	return outside, g.Wait()
}
