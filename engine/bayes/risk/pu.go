package risk

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"sort"

	"microrisk/engine/bayes"
	"microrisk/engine/graph"
)

// An urn draws cells of the full table with probability E[pi] under a model: clique by clique it copies the codes of a random record
// that agrees on the separator, or takes them from the prior, uniformly.
type urn struct {
	steps  []step
	levels []int
}

type step struct {
	separator graph.Set
	news      []int      // variables of the clique that are not in the separator
	prior     float64    // lambda of the separator
	codes     [][]uint32 // of the news, by cell of the clique
	order     []uint32   // cells of the clique by cell of the separator
	starts    []int      // where each separator cell begins in order
	upTo      []int64    // records up to and including each cell of order
	index     *index     // of separator cells
}

func newUrn(p *plan, model int) *urn {
	u := &urn{levels: p.law.Levels}
	for _, i := range p.trees[model] {
		e := p.edges[i]
		u.steps = append(u.steps, newStep(p.terms[e.clique], p.terms[e.separator], p.law))
	}
	return u
}

func newStep(clique, separator *terms, l *Law) step {
	m := clique.margin
	n := len(m.Counts)
	s := step{separator: separator.variables, prior: separator.lambda}
	columns := make([][]uint32, len(l.Levels))
	j := 0
	for v := range m.Variables.Vertices() {
		columns[v] = m.Codes[j]
		if !s.separator.Has(v) {
			s.news = append(s.news, v)
			s.codes = append(s.codes, m.Codes[j])
		}
		j++
	}
	keys := make([]uint64, n)
	if s.separator != 0 {
		keys = newPacker(s.separator, l.Levels, columns, n).pack(columns, 0, n, keys)
	}
	s.order = radixOrder(keys)
	sum := int64(0)
	var firsts []uint32
	for i, o := range s.order {
		if i == 0 || keys[o] != keys[s.order[i-1]] {
			s.starts = append(s.starts, i)
			firsts = append(firsts, o)
		}
		sum += m.Counts[o]
		s.upTo = append(s.upTo, sum)
	}
	s.starts = append(s.starts, n)
	if s.separator != 0 {
		cells := make([][]uint32, len(l.Levels))
		for v := range s.separator.Vertices() {
			for _, f := range firsts {
				cells[v] = append(cells[v], columns[v][f])
			}
		}
		s.index = newIndex(s.separator, l.Levels, cells, len(firsts))
	}
	return s
}

// draw fills row i of the columns.
func (u *urn) draw(rng *rand.Rand, columns [][]uint32, i int) {
	var keys [1]uint64
	for _, s := range u.steps {
		at := [1]int32{-1}
		switch {
		case s.index != nil:
			s.index.find(columns, i, i+1, keys[:], at[:])
		case len(s.order) > 0:
			at[0] = 0
		}
		if at[0] >= 0 {
			lo, hi := s.starts[at[0]], s.starts[at[0]+1]
			before := int64(0)
			if lo > 0 {
				before = s.upTo[lo-1]
			}
			n := s.upTo[hi-1] - before
			if s.prior == 0 || rng.Float64()*(float64(n)+s.prior) < float64(n) {
				r := before + rng.Int64N(n)
				k := s.order[lo+sort.Search(hi-lo, func(j int) bool { return s.upTo[lo+j] > r })]
				for j, v := range s.news {
					columns[v][i] = s.codes[j][k]
				}
				continue
			}
		}
		for _, v := range s.news {
			columns[v][i] = uint32(rng.IntN(u.levels[v]))
		}
	}
}

// sampleEmpty estimates the expected number of population uniques in the empty cells, with a standard error: models are strata, and
// cells that the sample has are drawn again, unless they have nearly all of the probability.
func (p *plan) sampleEmpty(ctx context.Context, d *bayes.Data, o *Options, sums []modelSums) (total, se float64, err error) {
	known, _ := cellsOf(p.law.Levels, d.Codes, d.Cells())
	models := p.law.Models
	values := make([][2]float64, len(models))
	draws := func(k int) int {
		if models[k].Weight == 0 {
			return 0
		}
		return max(int(math.Ceil(models[k].Weight*float64(o.PUDraws))), 20)
	}
	err = parallel(ctx, o, len(models), func(k int) int64 { return int64(draws(k)) },
		func() *block { return newBlock(p) },
		func(b *block, k int) {
			if n := draws(k); n > 0 {
				values[k] = b.drawEmpty(ctx, k, n, 1-sums[k].observed, known, o)
			}
		})
	for k, v := range values {
		total += models[k].Weight * v[0]
		se += models[k].Weight * models[k].Weight * v[1] * v[1]
	}
	return total, math.Sqrt(se), err
}

// drawEmpty is the estimate under one model and its standard error; outside is the probability of all empty cells.
func (b *block) drawEmpty(ctx context.Context, k, draws int, outside float64, known *index, o *Options) [2]float64 {
	u := newUrn(b.plan, k)
	rng := rand.New(rand.NewPCG(o.Seed, streamUrn+uint64(k)))
	columns := make([][]uint32, len(u.levels))
	for v := range columns {
		columns[v] = make([]uint32, blockSize)
	}
	at := make([]int32, blockSize)
	keys := make([]uint64, blockSize)
	all := outside < 0.01
	factor := o.Unsampled
	if !all {
		factor *= outside
	}
	var x []float64
	for tries := 0; len(x) < draws && tries < 1000*draws && ctx.Err() == nil; tries += blockSize {
		for i := range blockSize {
			u.draw(rng, columns, i)
		}
		known.find(columns, 0, blockSize, keys, at)
		b.load(columns, 0, blockSize)
		mean, spread := b.moments(k)
		for i, m := range mean {
			switch {
			case at[i] >= 0 && all:
				x = append(x, 0)
			case at[i] >= 0:
			case o.Estimator == Poisson:
				x = append(x, math.Exp(-o.Unsampled*m))
			default:
				x = append(x, aloneOf(o.Unsampled*m, spread[i]))
			}
		}
	}
	x = slices.Clip(x[:min(len(x), draws)])
	if len(x) == 0 {
		return [2]float64{}
	}
	sum := 0.0
	for _, v := range x {
		sum += v
	}
	n := float64(len(x))
	return [2]float64{factor * sum / n, factor * deviation(x) / math.Sqrt(n)}
}
