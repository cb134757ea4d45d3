package risk

import (
	"math"

	"gonum.org/v1/gonum/integrate/quad"
)

// The integrands of this package are exponentials of concave functions that are entire in the variable chosen, so that one panel of
// Gauss-Legendre nodes on each side of the mode, cut where the integrand is negligible, is exact to rounding.
const (
	nodes    = 28
	leastCut = 36 // the integrand is followed until it has fallen by exp(-36) at least
	mostCut  = 45 // and by exp(-45) at most
	aimedCut = 40.5
)

var legendre = func() (g struct{ at, weight [nodes]float64 }) {
	quad.Legendre{}.FixedLocations(g.at[:], g.weight[:], 0, 1)
	return g
}()

// integrate is the integral of exp(h(w) - h(mode)) over lo..hi for a concave h that is greatest at mode. step is a guess of how far
// from the mode the integrand has fallen by a factor of e.
func integrate(h func(float64) float64, lo, mode, hi, step float64) float64 {
	top := h(mode)
	return side(h, top, mode, hi, step) - side(h, top, mode, lo, -step)
}

// side integrates from the mode to end, a value with the sign of end - mode.
func side(h func(float64) float64, top, mode, end, step float64) float64 {
	if mode == end {
		return 0
	}
	width := cut(h, top, mode, end-mode, step)
	sum := 0.0
	for i, t := range legendre.at {
		sum += legendre.weight[i] * math.Exp(h(mode+width*t)-top)
	}
	return sum * width
}

// cut is the distance from the mode, of the sign of far, at which the integrand has fallen enough, or far if it does not.
func cut(h func(float64) float64, top, mode, far, step float64) float64 {
	near := 0.0
	reach := far
	d := far
	if guess := step * aimedCut; guess/far < 1 && guess/far > 0 {
		d = guess
	}
	for range 200 {
		fall := top - h(mode+d)
		switch {
		case fall <= mostCut && (fall >= leastCut || d == far):
			return d
		case fall < leastCut:
			near = d
		default:
			reach = d
		}
		if near/reach > 0.9 { // the fall is steep from here on, as towards an end where the integrand is 0
			return reach
		}
		// The fall is convex in d: between proportional and, near an inner mode, quadratic.
		missing := aimedCut / max(fall, 1e-9)
		next := d * (missing + math.Sqrt(missing)) / 2
		if !(next/far > near/far && next/far < reach/far) {
			if near == 0 && math.IsInf(fall, 1) {
				next = reach / 2
			} else if reach == far && fall < leastCut {
				next = far
			} else {
				next = (near + reach) / 2
			}
		}
		if next == d {
			return d
		}
		d = next
	}
	return d
}
