package risk

import (
	"context"
	"errors"
	"math"

	"microrisk/engine/bayes"
	"microrisk/engine/tabular"
)

// How PU over the empty cells was made.
const (
	Summed  = "summed"  // over all empty cells
	Sampled = "sampled" // over empty cells drawn from the law
	Scaled  = "scaled"  // from the population uniques of the sample
)

const (
	mostCells      = 4e6   // of a full table whose empty cells are summed
	mostWork       = 1e8   // cells times models
	mostExactCells = 20000 // cells times models up to which the exact estimator takes the empty cells exactly too
)

// File makes the file-level measures from those of the cells (Forster & Webb 2007, section 4): c is what Cells gave for the same
// sample and options. PU needs the empty cells of the table: they are summed where the full table has at most 4 million cells and
// times the models 100 million, else sampled. They are taken by the gamma estimator unless the estimator is poisson, or exact and
// cells times models are at most 20,000. CMUM is E[n1 / sum of F] by a gamma of the summed mean and variance of pi over sample
// uniques, for poisson a Poisson sum; for montecarlo and exact it is averaged over draws of the sum itself, which has no closed form. With
// several models each measure is averaged.
func (l *Law) File(ctx context.Context, d *bayes.Data, c *Cells, o Options) (*File, error) {
	if err := l.ready(d, &o); err != nil {
		return nil, err
	}
	if len(c.CorrectMatch) != d.Cells() || len(c.PopulationUnique) != d.Cells() {
		return nil, errors.New("the measures of the cells are not those of this sample")
	}
	f := &File{EmptyCells: Summed, PUSU: math.NaN(), CMUM: math.NaN(), CMSU: math.NaN(), PU: math.NaN()}
	records := 0.0
	for i, n := range d.Counts {
		records += float64(n)
		f.Reidentifications += float64(n) * c.CorrectMatch[i]
		if n == 1 {
			f.SampleUniques++
			f.PopulationUniques += c.PopulationUnique[i]
			f.CorrectMatches += c.CorrectMatch[i]
		}
	}
	n1 := float64(f.SampleUniques)
	people := records + o.Unsampled
	if n1 > 0 {
		f.PUSU = f.PopulationUniques / n1
		f.CMSU = f.CorrectMatches / n1
	}
	if people == 0 {
		return f, ctx.Err()
	}
	if o.Unsampled == 0 || l.single() {
		f.PU = f.PopulationUniques / people
		if n1 > 0 {
			f.CMUM = n1 / (n1 + o.Unsampled)
		}
		return f, ctx.Err()
	}
	if o.Adjusted {
		f.adjusted(d, c)
		return f, ctx.Err()
	}
	p := newPlan(l, o.Estimator == Poisson, &o)
	quiet := o
	quiet.Progress = nil
	sums, err := p.sums(ctx, d, &quiet)
	if err != nil {
		return nil, err
	}
	if n1 > 0 {
		if err := f.matches(ctx, p, d, c, &quiet, sums); err != nil {
			return nil, err
		}
	}
	var empty float64
	cells := math.Exp(d.LogCells(1<<len(l.Levels) - 1))
	if math.Round(cells) <= mostCells && cells*float64(len(l.Models)) <= mostWork {
		empty, err = p.sumEmpty(ctx, d, &o)
	} else {
		f.EmptyCells = Sampled
		empty, f.PUSE, err = p.sampleEmpty(ctx, d, &o, sums)
		f.PUSE /= people
	}
	f.PU = (f.PopulationUniques + empty) / people
	return f, err
}

// adjusted fills in PU and CMUM from the cells of the sample alone.
func (f *File) adjusted(d *bayes.Data, c *Cells) {
	f.EmptyCells = Scaled
	records, people := 0.0, 0.0
	for i, n := range d.Counts {
		records += float64(n)
		if n == 1 {
			people += c.ExpectedFrequency[i]
		}
	}
	f.PU = f.PopulationUniques / records
	if f.SampleUniques > 0 {
		f.CMUM = float64(f.SampleUniques) / people
	}
}

// matches fills in CMUM.
func (f *File) matches(ctx context.Context, p *plan, d *bayes.Data, c *Cells, o *Options, sums []modelSums) error {
	n1 := float64(f.SampleUniques)
	if o.Estimator != Exact && o.Estimator != MonteCarlo {
		f.CMUM = 0
		for k, m := range p.law.Models {
			f.CMUM += m.Weight * sums[k].uniques.theta(n1, o.Unsampled)
		}
		return nil
	}
	drawn := c.drawn
	if o.Estimator == Exact || drawn == nil {
		var err error
		if drawn, err = p.drawMasses(ctx, d, o, sums); err != nil {
			return err
		}
	}
	f.theta(drawn, n1, o.Unsampled, o.Estimator)
	if n1 == 1 { // that of the one unique, which is known without draws
		f.CMUM, f.CMUMDrawn.SE = f.CorrectMatches, 0
	}
	return nil
}

// A gathered sum has mean and variance of a sum of pi, taken as independent.
type gathered struct{ mean, variance float64 }

func (g *gathered) add(mean, spread float64) {
	g.mean += mean
	g.variance += mean * mean * spread
}

func (g *gathered) take(h gathered, sign float64) {
	g.mean += sign * h.mean
	g.variance += sign * h.variance
}

// theta is E[n1 / sum of F] over n1 sample uniques (Forster & Webb 2007, (25) without its factor 1/f).
func (g gathered) theta(n1, u float64) float64 {
	if n1 == 0 {
		return math.NaN()
	}
	return n1 * g.match(n1, u)
}

// match is E[1/sum of F] over cells with f records in all.
func (g gathered) match(f, u float64) float64 {
	lam := u * g.mean
	if !(lam > 0) {
		return 1 / f
	}
	if !(g.variance > 0) {
		return PoissonMatch(f, lam)
	}
	spread := min(max(g.variance/(g.mean*g.mean), leastSpread), mostSpread)
	return NegativeBinomialMatch(f, 1/spread, lam*spread)
}

// modelSums are sums over the occupied cells of a sample under one model.
type modelSums struct {
	observed float64 // sum of E[pi] over all
	uniques  gathered
}

// sums gathers in order of blocks. The variances of a maximum-likelihood plan are 0.
func (p *plan) sums(ctx context.Context, d *bayes.Data, o *Options) ([]modelSums, error) {
	models := len(p.trees)
	parts := make([]modelSums, (d.Cells()+blockSize-1)/blockSize*models)
	likelihood := o.Estimator == Poisson
	err := p.eachBlock(ctx, d, o, func(b *block, number, lo int) {
		for k := range models {
			s := &parts[number*models+k]
			mean, spread := b.moments(k)
			for j, m := range mean {
				s.observed += m
				if d.Counts[lo+j] == 1 {
					if likelihood {
						s.uniques.mean += m
					} else {
						s.uniques.add(m, spread[j])
					}
				}
			}
		}
	})
	out := make([]modelSums, models)
	for i, s := range parts {
		t := &out[i%models]
		t.observed += s.observed
		t.uniques.take(s.uniques, 1)
	}
	return out, err
}

// sumEmpty is the expected number of population uniques in the cells of the full table that the sample does not have.
func (p *plan) sumEmpty(ctx context.Context, d *bayes.Data, o *Options) (float64, error) {
	l := p.law
	cells := 1
	for _, r := range l.Levels {
		cells *= r
	}
	occupied := make([]bool, cells)
	key := make([]int, d.Cells())
	for v, r := range l.Levels {
		for i, c := range d.Codes[v] {
			key[i] = key[i]*r + int(c)
		}
	}
	for _, k := range key {
		occupied[k] = true
	}
	exactly := o.Estimator == Exact && cells*len(l.Models) <= mostExactCells
	parts := (cells + blockSize - 1) / blockSize
	sums := make([]float64, parts)
	type state struct {
		*block
		columns [][]uint32
		codes   []uint32 // of one cell
		exact   *exact
	}
	err := parallel(ctx, o, parts, func(i int) int64 { return int64(min(cells-i*blockSize, blockSize)) },
		func() state {
			s := state{block: newBlock(p), codes: make([]uint32, len(l.Levels))}
			for range l.Levels {
				s.columns = append(s.columns, make([]uint32, blockSize))
			}
			if exactly {
				s.exact = newExact()
			}
			return s
		},
		func(s state, number int) {
			lo := number * blockSize
			n := min(cells-lo, blockSize)
			for j := range n {
				for v, c := range tabular.Codes(l.Levels, lo+j, s.codes) {
					s.columns[v][j] = c
				}
			}
			s.load(s.columns, 0, n)
			sums[number] = s.once(occupied[lo:lo+n], o, s.exact)
		})
	total := 0.0
	for _, s := range sums {
		total += s
	}
	return total, err
}

// once sums P(F = 1) over the loaded cells that are not occupied.
func (b *block) once(occupied []bool, o *Options, x *exact) float64 {
	u := o.Unsampled
	logU := math.Log(u)
	total := 0.0
	for k, m := range b.plan.law.Models {
		mean, spread := b.moments(k)
		sum := 0.0
		for j, taken := range occupied {
			if taken {
				continue
			}
			lam := u * mean[j]
			switch {
			case o.Estimator == Poisson:
				sum += lam * math.Exp(-lam)
			case x != nil:
				sum += x.once(b, k, j, logU, lam)
			default:
				sum += lam * aloneOf(lam, spread[j])
			}
		}
		total += m.Weight * sum
	}
	return total
}

// aloneOf is (1+q)^-(a+1), which times u E[pi] is P(F = 1) of an empty cell.
func aloneOf(lam, spread float64) float64 {
	return math.Exp(-(1/spread + 1) * math.Log1p(lam*spread))
}
