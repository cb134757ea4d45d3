package risk

import (
	"context"
	"math"
	"math/cmplx"

	"microrisk/engine/bayes"
)

// The exact measures are averages over pi, a product of independent betas along the junction tree, of those of a Poisson number of
// mean u pi. They are inverse Mellin transforms: with s = c + it
//
//	E[exp(-u pi)] = (1/pi) integral over t > 0 of Re Gamma(s) u^-s E[pi^-s],
//	E[pi^-s] = product over edges of [Gamma(a_C - s)/Gamma(a_C)] / [Gamma(a_S - s)/Gamma(a_S)]
//
// by the trapezoid rule, whose error falls by exp(-2 pi times the distance to the next pole / step). Left of the pole at 0 the
// residue 1 is added: that converges for every law and is good for small u pi.
const (
	contourStep  = 0.06
	contourNodes = 700
	rightLine    = 0.35
	leftLine     = -0.5
	leastCount   = 0.85 // a of all cliques from which on the right line has room
	mostKept     = 2048 // tabulated arguments of each line
)

// A contour has the functions of a vertical line, tabulated once.
type contour struct {
	line   float64
	s      []complex128
	gamma  []complex128 // log Gamma(s)
	one    []complex128 // log Gamma(1-s)
	ratios map[float64][]complex128
}

func newContour(line float64) *contour {
	c := &contour{line: line, ratios: make(map[float64][]complex128)}
	for i := range contourNodes {
		s := complex(line, contourStep*float64(i))
		c.s = append(c.s, s)
		gamma := logGammaRatio(2, 1-s) - cmplx.Log(s) // Gamma(s+1)/s
		c.gamma = append(c.gamma, gamma)
	}
	c.one = c.ratio(1)
	return c
}

// ratio tabulates log Gamma(a-s) - log Gamma(a).
func (c *contour) ratio(a float64) []complex128 {
	if r, ok := c.ratios[a]; ok {
		return r
	}
	if len(c.ratios) >= mostKept {
		clear(c.ratios)
	}
	r := make([]complex128, contourNodes)
	for i, s := range c.s {
		r[i] = logGammaRatio(a, s)
	}
	c.ratios[a] = r
	return r
}

// integrand is log of u^-s E[pi^-s] Gamma(s).
func (c *contour) integrand(pairs [][2]float64, logU float64, g []complex128) {
	for i, s := range c.s {
		g[i] = c.gamma[i] - s*complex(logU, 0)
	}
	for _, p := range pairs {
		if p[0] == p[1] {
			continue
		}
		for i, r := range c.ratio(p[0]) {
			g[i] += r
		}
		for i, r := range c.ratio(p[1]) {
			g[i] -= r
		}
	}
}

// sum integrates exp(g + more + log first); nil more is 0.
func (c *contour) sum(g []complex128, more func(i int) complex128) float64 {
	total := 0.0
	for i, x := range g {
		if more != nil {
			x += more(i)
		}
		if real(x) < -43 && i > 0 {
			break
		}
		term := real(cmplx.Exp(x))
		if i == 0 {
			term /= 2
		}
		total += term
	}
	return total * contourStep / math.Pi
}

// exact has the working space of one goroutine.
type exact struct {
	left, right *contour
	g           []complex128
	pairs       [][2]float64
}

func newExact() *exact {
	return &exact{left: newContour(leftLine), right: newContour(rightLine), g: make([]complex128, contourNodes)}
}

// prepare takes the a of cliques and separators of cell j of a block and leaves the integrand on the better line; rest is the
// residue to be added.
func (x *exact) prepare(b *block, model, j int, logU, lam float64, onlyLeft bool) (c *contour, rest float64) {
	x.pairs = x.pairs[:0]
	least := math.Inf(1)
	for _, i := range b.plan.trees[model] {
		e := b.plan.edges[i]
		clique := b.plan.terms[e.clique].a[b.numbers[e.clique][j]]
		separator := b.plan.terms[e.separator].a[b.numbers[e.separator][j]]
		x.pairs = append(x.pairs, [2]float64{clique, separator})
		least = min(least, clique)
	}
	c, rest = x.right, 0
	if onlyLeft || least < leastCount || lam < 0.05 {
		c, rest = x.left, 1
	}
	c.integrand(x.pairs, logU, x.g)
	return c, rest
}

// measures are E[exp(-u pi)] and E[1/F], and E of 1/C(F, f) if asked.
func (x *exact) measures(b *block, model, j int, f, logU, lam float64, set bool) (alone, match, sets float64) {
	c, rest := x.prepare(b, model, j, logU, lam, false)
	if f == 1 {
		alone = rest + c.sum(x.g, nil)
	}
	over := c.ratio(f + 1)
	match = (rest + c.sum(x.g, func(i int) complex128 { return c.one[i] - over[i] })) / f
	if set {
		sets = rest + c.sum(x.g, func(i int) complex128 { return -cmplx.Log(1 - c.s[i]/complex(f, 0)) })
	}
	return min(max(alone, 0), 1), min(max(match, 0), 1/f), min(max(sets, 0), 1)
}

// once is P(F = 1) of an empty cell, E[u pi exp(-u pi)].
func (x *exact) once(b *block, model, j int, logU, lam float64) float64 {
	c, _ := x.prepare(b, model, j, logU, lam, true)
	return max(0, c.sum(x.g, func(i int) complex128 { return cmplx.Log(c.s[i]) }))
}

// exactCells are the measures without the gamma step, to an absolute error of 1e-10.
func (l *Law) exactCells(ctx context.Context, d *bayes.Data, o *Options, c *Cells) error {
	p := newPlan(l, false, o)
	logU := math.Log(o.Unsampled)
	const part = 32 // cells a time, since they are slow
	n := d.Cells()
	type state struct {
		*block
		*exact
	}
	return parallel(ctx, o, (n+part-1)/part,
		func(i int) int64 { return int64(min(n-i*part, part)) },
		func() state { return state{newBlock(p), newExact()} },
		func(s state, number int) {
			lo := number * part
			s.load(d.Codes, lo, min(lo+part, n))
			for k, m := range l.Models {
				mean, _ := s.moments(k)
				for j, pi := range mean {
					if ctx.Err() != nil {
						return
					}
					i := lo + j
					lam := o.Unsampled * pi
					alone, match, sets := s.measures(s.block, k, j, float64(d.Counts[i]), logU, lam, o.SetMatch)
					c.ExpectedFrequency[i] += m.Weight * lam
					c.PopulationUnique[i] += m.Weight * alone
					c.CorrectMatch[i] += m.Weight * match
					if o.SetMatch {
						c.SetMatch[i] += m.Weight * sets
					}
				}
			}
			c.addSample(d, lo, s.size)
		})
}
