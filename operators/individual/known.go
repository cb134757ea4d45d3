package individual

import (
	"context"
	"math"

	"microrisk/engine/bayes/risk"
	"microrisk/engine/contingency"
	"microrisk/operators"
)

// narrow cuts the laws of classes off outside of what known tables leave to them.
func (b *bound) narrow(ctx context.Context, env operators.Env, f *fitted, t *contingency.Table, weights []float64) error {
	bounds, err := b.tables.Bounds(ctx, t, b.drop, b.Sampling, env)
	if err != nil {
		return err
	}
	f.summary.Known = bounds.Summary
	for i, n := range f.count {
		low, high := bounds.Low[i], bounds.High[i]
		if n == 0 || low == n && high == risk.NoLimit {
			continue
		}
		if i%(1<<10) == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		p := min(1, float64(n)/weights[i])
		cut := risk.NegativeBinomialWithin(n, float64(n), (1-p)/p, low, high)
		bounds.Summary.Narrow(max(0, -math.Expm1(cut.Log)))
		f.risk[i] = cut.Bound(low, high).Match
	}
	return nil
}
