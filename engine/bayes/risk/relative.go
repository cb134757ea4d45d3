package risk

import (
	"context"
	"math"

	"microrisk/engine/bayes"
)

// Relative risks take no other fit. When some categories B of a variable v become one, the merged cell has, with m(x) the mean and
// 1 + e(x) the second moment over m(x)^2 of the cell where v is x,
//
//	mean            M = sum of m(x)
//	second moment   K (M^2 - sum of m(x)^2) + sum of m(x)^2 (1 + e(x)),
//
// where K is the product of 1 + 1/a over the cliques without v, divided by that over the separators without v and by 1 + 1/A. The
// marginal model need not be decomposable. All variables and categories use the gamma estimator, or the proportions for poisson.

// A tally of sample uniques.
type tally struct {
	gathered
	matches float64 // sum of E[1/F]
	number  int64
	whole   bool // the unique's cell is the whole table: F = N
}

func (t *tally) take(s tally, sign float64) {
	t.whole = t.whole || s.whole
	t.gathered.take(s.gathered, sign)
	t.matches += sign * s.matches
	t.number += int64(sign) * s.number
}

// unit is the tally of one unique of the given moments; everyone tells that its cell is the whole table.
func unit(mean, spread float64, o *Options, everyone bool) tally {
	t := tally{number: 1}
	lam := o.Unsampled * mean
	switch {
	case everyone:
		t.mean, t.whole = 1, true
		t.matches = 1 / (1 + o.Unsampled)
	case o.Estimator == Poisson:
		t.mean = mean
		t.matches = decay(lam)
	default:
		if !(spread >= leastSpread) {
			spread = leastSpread
		}
		spread = min(spread, mostSpread)
		t.gathered.add(mean, spread)
		_, t.matches = unique(1/spread, lam*spread)
	}
	return t
}

// risks are the measures averaged over models.
type risks struct {
	theta, matches float64
	number         int64
}

func (r *risks) add(t tally, weight, u float64) {
	r.number = t.number
	if t.number > 0 {
		theta := t.theta(float64(t.number), u)
		if t.whole {
			theta = 1 / (1 + u)
		}
		r.theta += weight * theta
		r.matches += weight * t.matches
	}
}

// relative is the risk in relation to that after.
func (r risks) relative(after risks) Relative {
	out := Relative{Theta: math.NaN(), Tau2: math.NaN(), Unique: after.number}
	if r.number > 0 {
		out.Tau2 = 1
	}
	if after.number > 0 {
		out.Theta = r.theta / after.theta
		out.Tau2 = 1 - after.matches/r.matches
	}
	return out
}

// A study goes through the sample uniques of one variable's categories.
type study struct {
	law     *Law
	plan    *plan
	o       *Options
	d       *bayes.Data
	uniques []int // cells with f = 1
	known   *index
	*block
	v        int
	levels   int
	columns  [][]uint32 // rows of one chunk of uniques, each with all categories
	at       []int32    // by row: the cell of the sample that it is, or -1
	keys     []uint64
	mean     []float64 // by row, of the model at hand
	spread   []float64
	k1       []float64 // by unique of the chunk: K - 1
	everyone bool      // dropping the variable leaves one cell
}

// chunkRows is about how many rows a chunk has.
const chunkRows = 16 * blockSize

func (l *Law) newStudy(d *bayes.Data, o *Options, p *plan, uniques []int, known *index, v int) *study {
	s := &study{law: l, plan: p, o: o, d: d, uniques: uniques, known: known, block: newBlock(p), v: v, levels: l.Levels[v]}
	rows := s.perChunk() * s.levels
	for range l.Levels {
		s.columns = append(s.columns, make([]uint32, rows))
	}
	s.at, s.keys = make([]int32, rows), make([]uint64, rows)
	s.mean, s.spread = make([]float64, rows), make([]float64, rows)
	s.k1 = make([]float64, s.perChunk())
	s.everyone = true
	for w, r := range l.Levels {
		s.everyone = s.everyone && (w == v || r == 1)
	}
	return s
}

func (s *study) perChunk() int { return max(1, chunkRows/s.levels) }

// each calls use for each chunk under each model, with the numbers of its uniques.
func (s *study) each(ctx context.Context, use func(model int, chunk []int)) {
	for first := 0; first < len(s.uniques) && ctx.Err() == nil; first += s.perChunk() {
		chunk := s.uniques[first:min(first+s.perChunk(), len(s.uniques))]
		rows := len(chunk) * s.levels
		for w := range s.columns {
			for i, cell := range chunk {
				row := s.columns[w][i*s.levels : (i+1)*s.levels]
				for x := range row {
					row[x] = s.d.Codes[w][cell]
					if w == s.v {
						row[x] = uint32(x)
					}
				}
			}
		}
		s.known.find(s.columns, 0, rows, s.keys, s.at)
		s.models(rows, len(chunk), func(k int) { use(k, chunk) })
	}
}

// models fills in the moments of the rows, model by model. Where the chunk is more than a block, the blocks of all models have to be
// kept, so that each is loaded once.
func (s *study) models(rows, chunk int, use func(int)) {
	n := len(s.plan.trees)
	means, spreads, ks := make([]float64, rows*n), make([]float64, rows*n), make([]float64, chunk*n)
	for lo := 0; lo < rows; lo += blockSize {
		hi := min(lo+blockSize, rows)
		s.load(s.columns, lo, hi)
		for k := range n {
			mean, spread := s.moments(k)
			copy(means[k*rows+lo:], mean)
			copy(spreads[k*rows+lo:], spread)
			for i := (lo + s.levels - 1) / s.levels; i*s.levels < hi; i++ {
				ks[k*chunk+i] = s.between(k, i*s.levels-lo)
			}
		}
	}
	for k := range n {
		copy(s.mean, means[k*rows:(k+1)*rows])
		copy(s.spread, spreads[k*rows:(k+1)*rows])
		copy(s.k1, ks[k*chunk:(k+1)*chunk])
		use(k)
	}
}

// between is K - 1 for row j of the block. The empty separator of the root stands for the 1 + 1/A.
func (s *study) between(model, j int) float64 {
	product := 1.0
	for _, i := range s.plan.trees[model] {
		e := s.plan.edges[i]
		if c := s.plan.terms[e.clique]; !c.variables.Has(s.v) {
			product *= 1 + c.inverse[s.numbers[e.clique][j]]
		}
		if t := s.plan.terms[e.separator]; !t.variables.Has(s.v) {
			product /= 1 + t.inverse[s.numbers[e.separator][j]]
		}
	}
	return product - 1
}

// merged are mean and relative variance of the cell of unique i after all categories became one.
func (s *study) merged(i int) (mean, spread float64) {
	row := i * s.levels
	for _, m := range s.mean[row : row+s.levels] {
		mean += m
	}
	for x, m := range s.mean[row : row+s.levels] {
		share := m / mean
		spread += share * share * (s.spread[row+x] - s.k1[i])
	}
	return mean, spread + s.k1[i]
}

// lone tells whether unique i of the chunk, cell of the sample, is the only one among all categories.
func (s *study) lone(i, cell int) bool {
	own := int(s.d.Codes[s.v][cell])
	for x, at := range s.at[i*s.levels : (i+1)*s.levels] {
		if at >= 0 && x != own {
			return false
		}
	}
	return true
}

// Variables are the relative risks of dropping each variable, from the fitted law without another fit.
func (l *Law) Variables(ctx context.Context, d *bayes.Data, o Options) ([]Relative, error) {
	out := make([]Relative, len(l.Levels))
	err := l.study(ctx, d, o, func(ctx context.Context, s *study, all risks) {
		after := make([]tally, len(l.Models))
		s.each(ctx, func(k int, chunk []int) {
			for i, cell := range chunk {
				if s.lone(i, cell) {
					mean, spread := s.merged(i)
					after[k].take(unit(mean, spread, s.o, s.everyone), 1)
				}
			}
		})
		out[s.v] = all.relative(s.average(after))
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

func (s *study) average(t []tally) risks {
	var r risks
	for k, m := range s.law.Models {
		r.add(t[k], m.Weight, s.o.Unsampled)
	}
	return r
}

// study runs do for each variable in parallel; all are the risks with all variables.
func (l *Law) study(ctx context.Context, d *bayes.Data, o Options, do func(ctx context.Context, s *study, all risks)) error {
	if err := l.ready(d, &o); err != nil {
		return err
	}
	p := newPlan(l, o.Estimator == Poisson, &o)
	var uniques []int
	for i, f := range d.Counts {
		if f == 1 {
			uniques = append(uniques, i)
		}
	}
	known, _ := cellsOf(l.Levels, d.Codes, d.Cells())
	all, err := p.all(ctx, d, &o)
	if err != nil {
		return err
	}
	return parallel(ctx, &o, len(l.Levels), func(int) int64 { return 1 }, func() struct{} { return struct{}{} },
		func(_ struct{}, v int) { do(ctx, l.newStudy(d, &o, p, uniques, known, v), all) })
}

// all are the risks as they are.
func (p *plan) all(ctx context.Context, d *bayes.Data, o *Options) (risks, error) {
	quiet := *o
	quiet.Progress = nil
	models := len(p.trees)
	parts := make([]tally, (d.Cells()+blockSize-1)/blockSize*models)
	everyone := p.law.single()
	err := p.eachBlock(ctx, d, &quiet, func(b *block, number, lo int) {
		for k := range models {
			mean, spread := b.moments(k)
			for j, m := range mean {
				if d.Counts[lo+j] == 1 {
					parts[number*models+k].take(unit(m, spread[j], o, everyone), 1)
				}
			}
		}
	})
	sums := make([]tally, models)
	for i, t := range parts {
		sums[i%models].take(t, 1)
	}
	var r risks
	for k, m := range p.law.Models {
		r.add(sums[k], m.Weight, o.Unsampled)
	}
	return r, err
}
