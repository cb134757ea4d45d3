// Package effects gives each cell of the key an effect of its own, beside what a model of the population says of it: real populations are
// clumpier than any model that a small sample supports, so that models alone overstate how many sample uniques are population unique.
//
//	lambda = N m exp(sigma z - sigma^2/2),  z ~ N(0, 1)
//	f | lambda ~ Poisson(phi lambda),  F - f | lambda ~ Poisson((1 - phi) lambda), independent
//
// where m is a cell's probability by the model, N the number of people and phi the sampling fraction; sigma = 0 is the Poisson model. Sigma
// comes from the occupied cells alone.
//
//	fit, err := effects.Estimate(ctx, cells, phi)
//	m := effects.New(fit.Sigma, phi)
//	alone, match, expected := m.Of(1, 250) // a sample unique, of a cell that should have 250 people
//
// Sources: Skinner & Shlomo 2008 and Carota, Filippone, Leombruni & Polettini 2015 (Poisson log-normal models of disclosure risk).
package effects

import (
	"math"
)

// A law is that of a cell's effect, given how many records it has: the density of z times exp(f sigma z - phi lambda).
type law struct {
	f, sigma float64
	rate     float64 // of the sample, at z = 0: phi N m exp(-sigma^2/2)
}

// log is the logarithm of the density, but for a constant.
func (l *law) log(z float64) float64 {
	return l.f*l.sigma*z - l.rate*math.Exp(l.sigma*z) - z*z/2
}

// mode is where the density, whose logarithm is concave, is greatest: where z = sigma (f - rate exp(sigma z)). Of records it lies between 0 and
// where as many are expected as there are.
func (l *law) mode() float64 {
	if l.sigma == 0 {
		return 0
	}
	z, lo, hi := 0.0, -l.sigma*l.rate, 0.0
	if l.f > 0 {
		z = math.Log(l.f/l.rate) / l.sigma
		lo, hi = min(0, z), max(0, z)
	}
	for range 200 {
		x := l.rate * math.Exp(l.sigma*z)
		slope := l.sigma*(l.f-x) - z
		if slope > 0 {
			lo = z
		} else {
			hi = z
		}
		next := z + slope/(1+l.sigma*l.sigma*x)
		if !(next >= lo && next <= hi) {
			next = (lo + hi) / 2
		}
		if math.Abs(next-z) <= 1e-12*(1+math.Abs(z)) {
			return next
		}
		z = next
	}
	return z
}

// How the integrals over z are taken: the trapezoid rule, whose error falls faster than any power for such integrands, over where they are
// more than e^-fall of their greatest value, in steps of a part of their width there.
const (
	fall = 38
	part = 0.3
)

// eachNode calls take with values of exp(sigma z - sigma^2/2) and their weights, and is the logarithm of the weights' sum, that of
// the integral of exp(log) over z.
func (l *law) eachNode(take func(effect, weight float64)) float64 {
	shift := math.Exp(-l.sigma * l.sigma / 2)
	if l.sigma == 0 {
		take(1, 1)
		return l.log(0) + math.Log(2*math.Pi)/2
	}
	mode := l.mode()
	top := l.log(mode)
	step := part / math.Sqrt(1+l.sigma*l.sigma*(1+l.rate*math.Exp(l.sigma*mode)))
	sum := 1.0
	take(shift*math.Exp(l.sigma*mode), 1)
	for _, by := range []float64{step, -step} {
		for k := 1.0; ; k++ {
			z := mode + k*by
			d := l.log(z) - top
			if d < -fall {
				break
			}
			w := math.Exp(d)
			sum += w
			take(shift*math.Exp(l.sigma*z), w)
		}
	}
	return top + math.Log(sum*step)
}

// logProbability is log P(f) of a cell that should have so many records.
func logProbability(f, rate, sigma float64) float64 {
	l := law{f: f, sigma: sigma, rate: rate * math.Exp(-sigma*sigma/2)}
	integral := l.eachNode(func(float64, float64) {})
	factorial, _ := math.Lgamma(f + 1)
	return integral - math.Log(2*math.Pi)/2 + f*(math.Log(rate)-sigma*sigma/2) - factorial
}
