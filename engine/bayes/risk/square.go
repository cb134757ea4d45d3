package risk

import "math"

// PoissonMatches are E[1/F] and E[1/F^2] where F - f is Poisson with the given mean, at least 0, and f at least 1. The first is PoissonMatch, the
// second good to a few parts in a million.
func PoissonMatches(f, mean float64) (match, square float64) {
	match = PoissonMatch(f, mean)
	if mean == 0 {
		return match, match * match
	}
	if x := f + mean; mean > 400 { // by the moments of F
		v := mean / (x * x)
		return match, (1 + 3*v - 4*v/x + 5*(3*v*v+v/(x*x)) - 60*v*v/x + 105*v*v*v) / (x * x)
	}
	probability := math.Exp(-mean)
	for k := 0.0; ; k++ {
		term := probability / ((f + k) * (f + k))
		square += term
		if k > mean && term < epsilon*square {
			return match, square
		}
		probability *= mean / (k + 1)
	}
}
