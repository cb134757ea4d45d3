package risk

import (
	"context"
	"math"
	"slices"

	"golang.org/x/sync/errgroup"
	"microrisk/engine/bayes"
)

// How many models the variances are of: the most probable ones, until they have this part of the weight.
const (
	varianceModels = 8
	varianceWeight = 0.95
)

// Variances are posterior variances of sums over cells, to first order: slopes[q][i] is what sum q changes by for each unit that the
// logarithm of pi of cell i is more. Cells may be any, their counts are not looked at. What comes of the shares within each clique, given its
// separator, is the variance of Dirichlet shares (Dawid & Lauritzen 1993), and what comes of models is that of what each makes of the sums.
func (l *Law) Variances(ctx context.Context, cells *bayes.Data, slopes [][]float64, o Options) ([]float64, error) {
	if err := l.ready(cells, &o); err != nil {
		return nil, err
	}
	if cells.Cells() == 0 {
		return make([]float64, len(slopes)), nil
	}
	p := newPlan(l.most(), false, &o)
	edges := make([][]float64, len(p.edges)) // by sum
	g, within := errgroup.WithContext(ctx)
	g.SetLimit(o.workers())
	for i, e := range p.edges {
		g.Go(func() error {
			s := newSampledEdge(p, e, cells)
			for _, slope := range slopes {
				if err := within.Err(); err != nil {
					return err
				}
				edges[i] = append(edges[i], s.variance(slope))
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	differ, err := p.differ(ctx, cells, slopes, &o)
	if err != nil {
		return nil, err
	}
	out := make([]float64, len(slopes))
	for q := range out {
		mean, square := 0.0, 0.0
		for k, m := range p.law.Models {
			for _, i := range p.trees[k] {
				out[q] += m.Weight * edges[i][q]
			}
			mean += m.Weight * differ[k][q]
			square += m.Weight * differ[k][q] * differ[k][q]
		}
		out[q] += max(0, square-mean*mean)
	}
	return out, nil
}

// most is the law under its most probable models.
func (l *Law) most() *Law {
	models := slices.Clone(l.Models)
	slices.SortStableFunc(models, func(a, b bayes.Model) int {
		switch {
		case a.Weight > b.Weight:
			return -1
		case a.Weight < b.Weight:
			return 1
		}
		return 0
	})
	sum, n := 0.0, 0
	for n < len(models) && n < varianceModels && sum < varianceWeight {
		sum += models[n].Weight
		n++
	}
	few := *l
	few.Models = models[:n]
	for k := range few.Models {
		few.Models[k].Weight /= sum
	}
	sets := few.sets()
	few.Margins = nil
	for _, m := range l.Margins {
		if _, ok := slices.BinarySearch(sets, m.Variables); ok {
			few.Margins = append(few.Margins, m)
		}
	}
	return &few
}

// variance is that of the sum which comes of the shares along an edge. The relative variance of a share is taken to be at most 1: a clique cell
// that no record is in may have no people at all, which takes away what its cells give and no more.
func (e *sampledEdge) variance(slope []float64) float64 {
	sums := make([]float64, len(e.shape))
	for i, c := range e.child {
		sums[c] += slope[i]
	}
	total, all := slices.Clone(e.rest), make([]float64, len(e.rest))
	for c, parent := range e.parent {
		total[parent] += e.shape[c]
		all[parent] += sums[c]
	}
	variance := 0.0
	for c, parent := range e.parent {
		if h := sums[c]; h != 0 {
			n := total[parent]
			variance += h * h * min(n/(e.shape[c]*(n+1)), 1+1/(n+1))
		}
	}
	for parent, h := range all {
		variance -= h * h / (total[parent] + 1)
	}
	return max(0, variance)
}

// differ is by how much each model makes the sums more than all do together: by model, then sum.
func (p *plan) differ(ctx context.Context, cells *bayes.Data, slopes [][]float64, o *Options) ([][]float64, error) {
	models := p.law.Models
	quiet := *o
	quiet.Progress = nil
	parts := make([][][]float64, (cells.Cells()+blockSize-1)/blockSize)
	err := p.eachBlock(ctx, cells, &quiet, func(b *block, number, lo int) {
		pi, mean := make([][]float64, len(models)), make([]float64, b.size)
		for k, m := range models {
			pi[k] = slices.Clone(b.means(k))
			for j, x := range pi[k] {
				mean[j] += m.Weight * x
			}
		}
		part := make([][]float64, len(models))
		for k := range models {
			part[k] = make([]float64, len(slopes))
			for j, x := range pi[k] {
				by := math.Log(x / mean[j])
				for q := range slopes {
					part[k][q] += slopes[q][lo+j] * by
				}
			}
		}
		parts[number] = part
	})
	if err != nil {
		return nil, err
	}
	out := make([][]float64, len(models))
	for k := range out {
		out[k] = make([]float64, len(slopes))
		for _, part := range parts {
			for q, x := range part[k] {
				out[k][q] += x
			}
		}
	}
	return out, nil
}
