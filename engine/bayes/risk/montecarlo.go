package risk

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
	"microrisk/engine/bayes"
)

// A sampler draws the pi of the cells of a sample from their hyper-consistent law under one model (Dawid & Lauritzen 1993): along the
// junction tree, for each cell of a separator the shares of its child cells are Dirichlet. Only child cells that the sample has are
// drawn one by one, the rest of a separator cell is one draw.
type sampler struct {
	cells int
	edges []sampledEdge
}

type sampledEdge struct {
	child  []int32   // the clique cell of each cell of the sample
	parent []int32   // the separator cell of each clique cell
	shape  []float64 // lambda + n of each clique cell
	rest   []float64 // what is left of lambda + n for each separator cell
}

func newSampler(p *plan, model int, d *bayes.Data) *sampler {
	s := &sampler{cells: d.Cells()}
	for _, i := range p.trees[model] {
		s.edges = append(s.edges, newSampledEdge(p, p.edges[i], d))
	}
	return s
}

func newSampledEdge(p *plan, e edge, d *bayes.Data) sampledEdge {
	c, sep := p.terms[e.clique], p.terms[e.separator]
	var out sampledEdge
	var firsts []uint32
	out.child, firsts = groups(c, d)
	n := len(firsts)
	within, separators := groups(sep, d)
	columns := make([][]uint32, len(d.Codes))
	for v := range c.variables.Vertices() {
		columns[v] = make([]uint32, n)
		for i, f := range firsts {
			columns[v][i] = d.Codes[v][f]
		}
	}
	numbers := make([]int32, n)
	keys := make([]uint64, n)
	c.look(columns, 0, n, keys, numbers)
	above := make([]int32, n)
	sep.look(columns, 0, n, keys, above)
	children := make([]float64, len(separators))
	records := make([]float64, len(separators))
	total := make([]float64, len(separators))
	for i, f := range firsts {
		parent := within[f]
		out.parent = append(out.parent, parent)
		out.shape = append(out.shape, c.a[numbers[i]])
		children[parent]++
		records[parent] += c.n[numbers[i]]
		total[parent] = sep.n[above[i]]
	}
	possible := math.Exp(d.LogCells(c.variables &^ sep.variables))
	if possible < 1e9 {
		possible = math.Round(possible)
	}
	for i := range separators {
		out.rest = append(out.rest, c.lambda*max(0, possible-children[i])+max(0, total[i]-records[i]))
	}
	return out
}

// groups numbers the cells of a margin that a sample has, in order of their codes: the number of each cell of the sample, and the
// first one of each number.
func groups(t *terms, d *bayes.Data) (number []int32, firsts []uint32) {
	n := d.Cells()
	number = make([]int32, n)
	if t.margin == nil {
		return number, []uint32{0}
	}
	p := newPacker(t.variables, d.Levels, d.Codes, n)
	keys := p.pack(d.Codes, 0, n, make([]uint64, n))
	order := radixOrder(keys)
	for i, o := range order {
		if i == 0 || keys[o] != keys[order[i-1]] {
			firsts = append(firsts, o)
		}
		number[o] = int32(len(firsts) - 1)
	}
	return number, firsts
}

// draw writes one draw of pi of every cell.
func (s *sampler) draw(source rand.Source, pi []float64) {
	for i := range pi {
		pi[i] = 1
	}
	for _, e := range s.edges {
		share := make([]float64, len(e.shape))
		sum := make([]float64, len(e.rest))
		shapes := slices.Clone(e.rest)
		for i, a := range e.shape {
			share[i] = drawGamma(source, a)
			sum[e.parent[i]] += share[i]
			shapes[e.parent[i]] += a
		}
		for i, a := range e.rest {
			if a > 0 {
				sum[i] += drawGamma(source, a)
			}
		}
		for i, parent := range e.parent {
			if sum[parent] > 0 {
				share[i] /= sum[parent]
			} else { // all shapes are so small that the draws are 0 in floating point
				share[i] = e.shape[i] / shapes[parent]
			}
		}
		for i, c := range e.child {
			pi[i] *= share[c]
		}
	}
}

func drawGamma(source rand.Source, shape float64) float64 {
	return distuv.Gamma{Alpha: shape, Beta: 1, Src: source}.Rand()
}

// allot gives draws to models in proportion to their weights, by one systematic sample: the expected number is in exact proportion.
func allot(models []bayes.Model, draws int, start float64) []int {
	out := make([]int, len(models))
	sum := 0.0
	given := 0
	for k, m := range models {
		sum += m.Weight
		upTo := min(max(int(math.Ceil(sum*float64(draws)-start)), given), draws)
		if k == len(models)-1 {
			upTo = draws
		}
		out[k] = upTo - given
		given = upTo
	}
	return out
}

// stream tags keep the random numbers of different uses apart.
const (
	streamAllot = 1<<63 + iota
	streamUrn
	streamTheta = 1<<62 + 1
)

const drawsTogether = 8

// drawnCells are averages over draws of pi of the measures given pi, where F - f is binomial of round(u) trials (Forster & Webb
// 2007, section 5, Rao-Blackwellised). The random numbers of a draw belong to its number.
func (l *Law) drawnCells(ctx context.Context, d *bayes.Data, o *Options, c *Cells) error {
	p := newPlan(l, false, o)
	start := rand.New(rand.NewPCG(o.Seed, streamAllot)).Float64()
	sums := newDrawSums(o.Draws)
	pi := make([][]float64, drawsTogether)
	for i := range pi {
		pi[i] = make([]float64, d.Cells())
	}
	quiet := *o
	quiet.Progress = nil
	one := func(int) int64 { return 1 }
	first := 0
	for k, n := range allot(l.Models, o.Draws, start) {
		if n == 0 {
			continue
		}
		s := newSampler(p, k, d)
		for end := first + n; first < end; {
			m := min(drawsTogether, end-first)
			err := parallel(ctx, &quiet, m, one, func() struct{} { return struct{}{} }, func(_ struct{}, i int) {
				s.draw(rand.NewPCG(o.Seed, uint64(first+i)), pi[i])
			})
			if err == nil {
				err = sums.add(ctx, &quiet, d, c, pi[:m], first)
			}
			if err != nil {
				return err
			}
			if first += m; o.Progress != nil {
				o.Progress(int64(first), int64(o.Draws))
			}
		}
	}
	scale := 1 / float64(o.Draws)
	for i, f := range d.Counts {
		c.CorrectMatch[i] *= scale
		c.PopulationUnique[i] *= scale
		c.ExpectedFrequency[i] = float64(f) + c.ExpectedFrequency[i]*scale
		if c.SetMatch != nil {
			c.SetMatch[i] *= scale
		}
	}
	c.SD = sums.deviations()
	c.drawn = &masses{sum: sums.mass}
	return nil
}

// drawSums are the file-level sums of each draw.
type drawSums struct{ uniques, matches, all, mass []float64 }

func newDrawSums(draws int) *drawSums {
	return &drawSums{make([]float64, draws), make([]float64, draws), make([]float64, draws), make([]float64, draws)}
}

// add takes some draws into the sums of the cells, each cell's in order of draws, and into their own, in order of blocks.
func (s *drawSums) add(ctx context.Context, o *Options, d *bayes.Data, c *Cells, pi [][]float64, first int) error {
	const part = 1024
	n := d.Cells()
	u := math.Round(o.Unsampled)
	parts := (n + part - 1) / part
	sums := make([][drawsTogether][4]float64, parts)
	err := parallel(ctx, o, parts, func(int) int64 { return 1 }, func() struct{} { return struct{}{} }, func(_ struct{}, b int) {
		for k, draw := range pi {
			t := &sums[b][k]
			for i := b * part; i < min(n, b*part+part); i++ {
				f := float64(d.Counts[i])
				match := binomialMatch(f, u, draw[i])
				c.CorrectMatch[i] += match
				c.ExpectedFrequency[i] += u * draw[i]
				t[2] += f * match
				if f == 1 {
					alone := 1.0
					if u > 0 {
						alone = math.Exp(u * math.Log1p(-min(draw[i], 1)))
					}
					c.PopulationUnique[i] += alone
					t[0] += alone
					t[1] += match
					t[3] += draw[i]
				}
				if c.SetMatch != nil {
					c.SetMatch[i] += poissonSetMatch(f, u*draw[i])
				}
			}
		}
	})
	for b := range sums {
		for k := range pi {
			s.uniques[first+k] += sums[b][k][0]
			s.matches[first+k] += sums[b][k][1]
			s.all[first+k] += sums[b][k][2]
			s.mass[first+k] += sums[b][k][3]
		}
	}
	return err
}

func (s *drawSums) deviations() *SDs {
	return &SDs{deviation(s.uniques), deviation(s.matches), deviation(s.all)}
}

// deviation is the standard deviation, 0 of fewer than two values.
func deviation(x []float64) float64 {
	if len(x) < 2 {
		return 0
	}
	mean := 0.0
	for _, v := range x {
		mean += v
	}
	mean /= float64(len(x))
	sum := 0.0
	for _, v := range x {
		sum += (v - mean) * (v - mean)
	}
	return math.Sqrt(sum / float64(len(x)-1))
}
