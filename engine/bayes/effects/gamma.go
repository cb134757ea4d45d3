package effects

import (
	"math"

	"microrisk/engine/bayes/risk"
)

// Effects of another kind, by which it is judged what the kind makes of the measures: gamma of mean 1 and variance 1/shape, so that numbers of
// records and people are negative binomial.
//
// Source: Bethlehem, Keller & Pannekoek 1990.

// Gamma are the measures that Measures.Of has, under gamma effects of this shape: of a cell of f records, at least 1, that should have so many people.
func Gamma(shape, fraction float64, f int64, people float64) (alone, match, expected float64) {
	if !(people > 0) {
		people = math.SmallestNonzeroFloat64
	}
	a, q := shape+float64(f), (1-fraction)/(shape/people+fraction) // what is unsampled is negative binomial of mean a q
	if f == 1 {
		alone = math.Exp(-a * math.Log1p(q))
	}
	return alone, risk.NegativeBinomialMatch(float64(f), a, q), float64(f) + a*q
}

// The logarithms of shapes that are looked at.
const (
	leastShape = -4
	mostShape  = 6
	shapeStep  = 0.5
	shapeFine  = 1e-3
)

// shape maximises the truncated likelihood.
func shape(list []bin) float64 {
	return shapeOf(func(shape float64) float64 {
		sum := 0.0
		for i := range list {
			sum += list[i].gamma(shape)
		}
		return sum
	})
}

// shapeOf is where a likelihood is greatest, +Inf where no shape is as likely as that.
func shapeOf(of func(shape float64) float64) float64 {
	likelihood := func(log float64) float64 { return of(math.Exp(log)) }
	best, at := math.Inf(-1), 0.0
	for x := float64(leastShape); x <= mostShape; x += shapeStep {
		if l := likelihood(x); l > best {
			best, at = l, x
		}
	}
	if at == mostShape {
		return math.Inf(1)
	}
	return math.Exp(golden(likelihood, max(at-shapeStep, leastShape), at+shapeStep, shapeFine))
}

// golden is where a function of one maximum between lo and hi has it.
func golden(of func(float64) float64, lo, hi, fine float64) float64 {
	const part = 0.6180339887498949
	a, b := hi-part*(hi-lo), lo+part*(hi-lo)
	la, lb := of(a), of(b)
	for hi-lo > fine {
		if la >= lb {
			hi, b, lb = b, a, la
			a = hi - part*(hi-lo)
			la = of(a)
		} else {
			lo, a, la = a, b, lb
			b = lo + part*(hi-lo)
			lb = of(b)
		}
	}
	return (lo + hi) / 2
}

// gamma is the log likelihood of the bin's cells under gamma effects of this shape.
func (b *bin) gamma(shape float64) float64 {
	var p [Most]float64
	total, term, n := 0.0, 1.0, 0.0
	for g := range p {
		term *= (shape + float64(g)) / float64(g+1) * b.rate / (b.rate + shape)
		p[g] = term
		total += term
	}
	sum := 0.0
	for g, x := range p {
		if c := b.cells[g]; c > 0 {
			sum += c * math.Log(x)
			n += c
		}
	}
	return sum - n*math.Log(total)
}
