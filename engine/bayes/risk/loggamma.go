package risk

import (
	"math"
	"math/cmplx"
)

// stirling has the coefficients B_2k / (2k (2k-1)) of 1/z^(2k-1) in the asymptotic series of log Gamma.
var stirling = [...]float64{1. / 12, -1. / 360, 1. / 1260, -1. / 1680, 1. / 1188, -691. / 360360, 1. / 156, -3617. / 122400, 43867. / 244188}

// logGammaRatio is log Gamma(a - s) - log Gamma(a) up to multiples of 2 pi i, for a > 0 and Re s < a. The difference is taken term
// by term, so that its error does not grow with a: Stirling's series, after both arguments were shifted to 14 or more.
func logGammaRatio(a float64, s complex128) complex128 {
	shift := complex(1, 0)
	for a < 14 {
		shift *= complex(a, 0) / (complex(a, 0) - s)
		a++
	}
	z := complex(a, 0) - s
	sum := complex(a-0.5, 0)*logOnePlus(-s/complex(a, 0)) - s*cmplx.Log(z) + s
	inverse, power := 1/z, 1/z
	real, realPower := 1/a, 1/a
	for _, c := range stirling {
		sum += complex(c, 0) * (power - complex(realPower, 0))
		power *= inverse * inverse
		realPower *= real * real
	}
	return sum + cmplx.Log(shift)
}

// logOnePlus is log(1+z), accurate for small z.
func logOnePlus(z complex128) complex128 {
	x, y := real(z), imag(z)
	return complex(math.Log1p(x*(2+x)+y*y)/2, math.Atan2(y, 1+x))
}
