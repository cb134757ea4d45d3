package risk

import (
	"context"
	"math"
	"runtime"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"
	"microrisk/engine/bayes"
	"microrisk/engine/graph"
)

// A plan is a law made ready for looking up the moments of the cells of any sample: pi of a cell is a product over the edges of the
// junction tree, from each separator to its child clique, of conditional probabilities, and edges are shared by models.
type plan struct {
	law   *Law
	terms []*terms // by margin; the empty one is first
	edges []edge   // distinct pairs of a clique and the separator to its parent
	trees [][]int  // the edges of each model, root first
}

// An edge of junction trees. Margins by number in plan.terms; the separator of a root is the empty one.
type edge struct {
	clique, separator int
	gap               float64 // lambda of the separator less lambda of the clique
}

// terms of a margin: what the moments take, by number of the distinct counts. Number 0 is the count 0, of cells that are not there.
type terms struct {
	variables graph.Set
	lambda    float64
	margin    *Margin // nil for the empty one
	index     *index
	number    []int32 // by cell of the margin
	n         []float64
	a         []float64 // lambda + n
	inverse   []float64 // 1/a; 0 where a is 0
	next      []float64 // 1/(a+1)
}

// newPlan prepares a law. A maximum-likelihood plan has lambda = 0 throughout.
func newPlan(l *Law, likelihood bool, o *Options) *plan {
	p := &plan{law: l, terms: make([]*terms, 1+len(l.Margins))}
	alpha := l.Precision
	if likelihood {
		alpha = 0
	}
	p.terms[0] = newTerms(nil, l, alpha)
	var g errgroup.Group
	g.SetLimit(o.workers())
	at := make(map[graph.Set]int)
	at[0] = 0
	for i := range l.Margins {
		at[l.Margins[i].Variables] = i + 1
		g.Go(func() error {
			p.terms[i+1] = newTerms(&l.Margins[i], l, alpha)
			return nil
		})
	}
	_ = g.Wait() // no error is possible
	known := make(map[[2]int]int)
	for _, m := range l.Models {
		t := m.Graph.JunctionTree()
		tree := make([]int, len(t.Cliques))
		for i, c := range t.Cliques {
			pair := [2]int{at[c], at[t.Separators[i]]}
			e, ok := known[pair]
			if !ok {
				e = len(p.edges)
				known[pair] = e
				gap := p.terms[pair[1]].lambda - p.terms[pair[0]].lambda
				p.edges = append(p.edges, edge{clique: pair[0], separator: pair[1], gap: gap})
			}
			tree[i] = e
		}
		p.trees = append(p.trees, tree)
	}
	return p
}

func newTerms(m *Margin, l *Law, alpha float64) *terms {
	t := &terms{margin: m, lambda: alpha}
	if m == nil {
		t.n = []float64{float64(l.Records)}
	} else {
		t.variables = m.Variables
		t.index = indexMargin(m, l.Levels)
		var values []int64
		values, t.number = distinct(m.Counts)
		t.n = make([]float64, 1, len(values)+1)
		for _, n := range values {
			t.n = append(t.n, float64(n))
		}
		for i := range t.number {
			t.number[i]++
		}
		if alpha > 0 {
			sum := math.Log(alpha)
			for v := range m.Variables.Vertices() {
				sum -= math.Log(float64(l.Levels[v]))
			}
			t.lambda = math.Exp(max(sum, -500))
		}
		if t.index.table != nil { // straight to the number
			for k, i := range t.index.table {
				if i < 0 {
					t.index.table[k] = 0
				} else {
					t.index.table[k] = t.number[i]
				}
			}
		}
	}
	t.a = make([]float64, len(t.n))
	t.inverse = make([]float64, len(t.n))
	t.next = make([]float64, len(t.n))
	for i, n := range t.n {
		t.a[i] = t.lambda + n
		if t.a[i] > 0 {
			t.inverse[i] = 1 / t.a[i]
		}
		t.next[i] = 1 / (t.a[i] + 1)
	}
	return t
}

// look writes the numbers of the counts of cells lo..hi-1.
func (t *terms) look(columns [][]uint32, lo, hi int, keys []uint64, numbers []int32) {
	if t.margin == nil {
		clear(numbers[:hi-lo])
		return
	}
	numbers = numbers[:hi-lo]
	t.index.find(columns, lo, hi, keys, numbers)
	if t.index.table != nil {
		for i, n := range numbers {
			numbers[i] = max(n, 0)
		}
		return
	}
	for i, at := range numbers {
		numbers[i] = 0
		if at >= 0 {
			numbers[i] = t.number[at]
		}
	}
}

// blockSize is the number of cells that are looked up together: few enough for their terms to stay in the cache.
const blockSize = 256

// A block has the moments of some cells under each model.
type block struct {
	plan    *plan
	keys    []uint64
	numbers [][]int32   // by margin
	ratio   [][]float64 // by edge: a of the clique over a of the separator
	excess  [][]float64 // by edge: (1 + 1/a of the clique) / (1 + 1/a of the separator) - 1
	mean    []float64   // of the model moments was asked for: E[pi]
	spread  []float64   // Var[pi] / E[pi]^2
	size    int
}

func newBlock(p *plan) *block {
	b := &block{plan: p, keys: make([]uint64, blockSize), mean: make([]float64, blockSize), spread: make([]float64, blockSize)}
	for range p.terms {
		b.numbers = append(b.numbers, make([]int32, blockSize))
	}
	for range p.edges {
		b.ratio = append(b.ratio, make([]float64, blockSize))
		b.excess = append(b.excess, make([]float64, blockSize))
	}
	return b
}

// load looks up the cells lo..hi-1, at most blockSize.
func (b *block) load(columns [][]uint32, lo, hi int) {
	b.size = hi - lo
	for i, t := range b.plan.terms {
		t.look(columns, lo, hi, b.keys, b.numbers[i])
	}
	for i, e := range b.plan.edges {
		c, s := b.plan.terms[e.clique], b.plan.terms[e.separator]
		atC, atS := b.numbers[e.clique][:b.size], b.numbers[e.separator][:b.size]
		ratio, excess := b.ratio[i][:b.size], b.excess[i][:b.size]
		for j, k := range atC {
			m := atS[j]
			ratio[j] = c.a[k] * s.inverse[m]
			excess[j] = (e.gap + (s.n[m] - c.n[k])) * c.inverse[k] * s.next[m]
		}
	}
}

// The spread is kept between these: a gamma law of this shape is Poisson for all purposes, or 0 almost surely.
const (
	leastSpread = 1e-18
	mostSpread  = 1e250
)

// moments are the mean and the relative variance of pi of the loaded cells under a model (Forster & Webb 2007, section 4). The sum
// of L = log E[pi^2] - 2 log E[pi] goes clique by clique, each step at least 0, in the form exp(L) - 1: nothing cancels.
func (b *block) moments(model int) (mean, spread []float64) {
	mean, spread = b.mean[:b.size], b.spread[:b.size]
	for i, e := range b.plan.trees[model] {
		ratio, excess := b.ratio[e][:b.size], b.excess[e][:b.size]
		if i == 0 {
			copy(mean, ratio)
			copy(spread, excess)
			continue
		}
		for j, r := range ratio {
			mean[j] *= r
			spread[j] += excess[j] + excess[j]*spread[j]
		}
	}
	for j, s := range spread {
		if !(s <= mostSpread) { // overflow too, of which the product may be no number
			s = mostSpread
		}
		spread[j] = max(s, leastSpread)
	}
	return mean, spread
}

// means are the means alone.
func (b *block) means(model int) []float64 {
	mean := b.mean[:b.size]
	for i, e := range b.plan.trees[model] {
		if i == 0 {
			copy(mean, b.ratio[e][:b.size])
			continue
		}
		for j, r := range b.ratio[e][:b.size] {
			mean[j] *= r
		}
	}
	return mean
}

// single tells whether the table has one cell only, whose F is known.
func (l *Law) single() bool {
	for _, r := range l.Levels {
		if r > 1 {
			return false
		}
	}
	return true
}

// workers is the number of goroutines to use.
func (o *Options) workers() int {
	if o.Workers > 0 {
		return o.Workers
	}
	return runtime.GOMAXPROCS(0)
}

// parallel calls do for the parts 0..parts-1, each once, from several goroutines with a state of their own, and reports progress in
// units of the parts' sizes. It ends early with the context's error.
func parallel[S any](ctx context.Context, o *Options, parts int, size func(int) int64, state func() S, do func(S, int)) error {
	total := int64(0)
	for i := range parts {
		total += size(i)
	}
	var next, done atomic.Int64
	var wait sync.WaitGroup
	var report sync.Mutex
	for range min(o.workers(), max(parts, 1)) {
		wait.Go(func() {
			s := state()
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= parts {
					return
				}
				do(s, i)
				if o.Progress != nil {
					report.Lock()
					o.Progress(done.Add(size(i)), total)
					report.Unlock()
				}
			}
		})
	}
	wait.Wait()
	return ctx.Err()
}

// eachBlock calls do for the cells of a sample, a block at a time: block number i has the cells from lo on.
func (p *plan) eachBlock(ctx context.Context, d *bayes.Data, o *Options, do func(b *block, i, lo int)) error {
	n := d.Cells()
	return parallel(ctx, o, (n+blockSize-1)/blockSize,
		func(i int) int64 { return int64(min(n-i*blockSize, blockSize)) },
		func() *block { return newBlock(p) },
		func(b *block, i int) {
			lo := i * blockSize
			b.load(d.Codes, lo, min(lo+blockSize, n))
			do(b, i, lo)
		})
}
