package risk

import (
	"context"

	"microrisk/engine/bayes"
)

// LeftOut is E[pi] of each occupied cell of the sample that the law was fitted to, as if one of its records were not there, or all: what is left
// of the counts of its cliques and separators. The graphs are those of all records.
func (l *Law) LeftOut(ctx context.Context, d *bayes.Data, all bool, o Options) ([]float64, error) {
	if err := l.ready(d, &o); err != nil {
		return nil, err
	}
	p := newPlan(l, false, &o)
	means := make([]float64, d.Cells())
	return means, p.eachBlock(ctx, d, &o, func(b *block, _, lo int) {
		for k, m := range l.Models {
			for j := range b.size {
				f, pi := 1.0, 1.0
				if all {
					f = float64(d.Counts[lo+j])
				}
				for _, i := range p.trees[k] {
					e := p.edges[i]
					c, at := p.terms[e.clique], p.terms[e.separator]
					// The counts first: lambda may be too small to be seen beside them.
					pi *= (c.n[b.numbers[e.clique][j]] - f + c.lambda) / (at.n[b.numbers[e.separator][j]] - f + at.lambda)
				}
				means[lo+j] += m.Weight * pi
			}
		}
	})
}
