package search

import (
	"math"
	"math/bits"
)

// A scaled number is mantissa * 2^exponent, at least 0: marginal likelihoods of two graphs can differ by more than the range of a
// float64. Mantissas are normal numbers, not always between 1 and 2.
type scaled struct {
	mantissa float64
	exponent int64
}

// farBelow is by how many powers of two a term must be smaller than the sum so far to be left out.
const farBelow = 70

// fromLog is exp(x), correct to a float64's precision.
func fromLog(x float64) scaled {
	const high, low = 6.93147180369123816490e-01, 1.90821492927058770002e-10 // ln 2; high has 20 zeros at its end
	n := math.Round(x * math.Log2E)
	return scaled{math.Exp(math.FMA(-n, high, x) - n*low), int64(n)}
}

// log is the natural logarithm.
func (a scaled) log() float64 { return math.Log(a.mantissa) + float64(a.exponent)*math.Ln2 }

func (a scaled) times(b scaled) scaled {
	return normal(a.mantissa*b.mantissa, a.exponent+b.exponent)
}

func (a scaled) over(b scaled) scaled {
	return normal(a.mantissa/b.mantissa, a.exponent-b.exponent)
}

// float is the number as a float64, 0 or infinite where it has no place.
func (a scaled) float() float64 {
	return math.Ldexp(a.mantissa, int(max(-5000, min(5000, a.exponent))))
}

// normal is a number with its mantissa between 1/2 and 1.
func normal(mantissa float64, exponent int64) scaled {
	m, e := math.Frexp(mantissa)
	return scaled{m, exponent + int64(e)}
}

// add is a sum of scaled numbers in the making; its zero value is 0.
func (a *scaled) add(mantissa float64, exponent int64) {
	d := exponent - a.exponent
	if a.mantissa == 0 {
		*a = scaled{mantissa, exponent}
	} else if d <= 0 {
		if d > -farBelow {
			a.mantissa += mantissa * power(d)
		}
	} else {
		if d < farBelow {
			mantissa += a.mantissa * power(-d)
		}
		*a = scaled{mantissa, exponent}
	}
}

// power is 2^d for |d| < 1022.
func power(d int64) float64 { return math.Float64frombits(uint64(1023+d) << 52) }

// A packing stores scaled numbers in 64 bits: the exponent in the lower ones, as many as the range of the numbers takes, the
// fraction in the others.
type packing struct {
	bits  uint  // of the exponent, 12 to 28
	least int64 // the smallest exponent
}

// widest is the most bits that an exponent may take: fractions of 36 bits keep totals and probabilities exact to 1e-9.
const widest = 28

// newPacking has place for exponents between two bounds; ok is false when it takes more than widest bits.
func newPacking(least, most int64) (p packing, ok bool) {
	width := uint(bits.Len64(uint64(most - least)))
	return packing{max(12, width), least}, width <= widest
}

// precision is the largest relative error of a number stored.
func (p packing) precision() float64 { return power(int64(p.bits) - 65) }

func (p packing) encode(a scaled) uint64 {
	b := math.Float64bits(a.mantissa)
	if p.bits > 12 {
		b += 1 << (p.bits - 13)
	}
	exponent := a.exponent + int64(b>>52) - 1023 - p.least
	return b<<12>>p.bits<<p.bits | uint64(exponent)
}

func (p packing) decode(x uint64) scaled {
	return scaled{
		math.Float64frombits(x>>p.bits<<p.bits>>12 | 1023<<52),
		int64(x&(1<<p.bits-1)) + p.least,
	}
}

// decodeAll decodes a list.
func (p packing) decodeAll(to []scaled, from []uint64) {
	to = to[:len(from)]
	for i, x := range from {
		to[i] = scaled{
			math.Float64frombits(x>>(p.bits&63)<<(p.bits&63)>>12 | 1023<<52),
			int64(x&(1<<(p.bits&63)-1)) + p.least,
		}
	}
}
