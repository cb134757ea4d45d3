package contingency

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/bits"
)

// A fixed is a signed 128-bit integer in two's complement that counts multiples of 2^-32.
type fixed struct{ hi, lo uint64 }

var errSum = errors.New("contingency: a sum passes 2^95")

// newFixed is value * times rounded once, half to even, to a multiple of 2^-32.
func newFixed(value float64, times int64) (fixed, error) {
	if math.IsNaN(value) || math.IsInf(value, 0) {
		return fixed{}, fmt.Errorf("contingency: %v cannot be summed", value)
	}
	fraction, exponent := math.Frexp(math.Abs(value))
	mantissa := uint64(fraction * (1 << 53))
	hi, lo := bits.Mul64(mantissa, uint64(times))
	shift := exponent - 53 + 32
	switch {
	case hi|lo == 0:
		return fixed{}, nil
	case shift >= 0:
		length := bits.Len64(lo)
		if hi != 0 {
			length = 64 + bits.Len64(hi)
		}
		if length+shift > 127 {
			return fixed{}, errSum
		}
		hi, lo = shiftLeft(hi, lo, uint(shift))
	default:
		hi, lo = shiftRight(hi, lo, uint(-shift))
	}
	x := fixed{hi, lo}
	if value < 0 {
		x = x.negative()
	}
	return x, nil
}

func shiftLeft(hi, lo uint64, s uint) (uint64, uint64) {
	if s >= 64 {
		return lo << (s - 64), 0
	}
	return hi<<s | lo>>(64-s), lo << s
}

// shiftRight rounds half to even.
func shiftRight(hi, lo uint64, s uint) (uint64, uint64) {
	if s > 128 {
		return 0, 0
	}
	// The bit before the point and whether anything is below it decide the rounding.
	h, l := hi, lo
	var half, rest bool
	switch {
	case s == 128:
		half, rest = h>>63 == 1, h<<1|l != 0
		h, l = 0, 0
	case s > 64:
		half, rest = h>>(s-65)&1 == 1, h<<(128-s)<<1|l != 0
		h, l = 0, h>>(s-64)
	case s == 64:
		half, rest = l>>63 == 1, l<<1 != 0
		h, l = 0, h
	default:
		half, rest = l>>(s-1)&1 == 1, l<<(64-s)<<1 != 0
		h, l = h>>s, l>>s|h<<(64-s)
	}
	if half && (rest || l&1 == 1) {
		var carry uint64
		l, carry = bits.Add64(l, 1, 0)
		h += carry
	}
	return h, l
}

func (x fixed) negative() fixed {
	lo, borrow := bits.Sub64(0, x.lo, 0)
	hi, _ := bits.Sub64(0, x.hi, borrow)
	return fixed{hi, lo}
}

// plus adds; ok is false when the result does not fit.
func (x fixed) plus(y fixed) (z fixed, ok bool) {
	lo, carry := bits.Add64(x.lo, y.lo, 0)
	hi, _ := bits.Add64(x.hi, y.hi, carry)
	return fixed{hi, lo}, int64((x.hi^hi)&(y.hi^hi)) >= 0
}

// An accumulator adds up to 2^63 fixed numbers without overflow (192 bits).
type accumulator struct{ top, hi, lo uint64 }

func (a *accumulator) add(x fixed) {
	var carry uint64
	a.lo, carry = bits.Add64(a.lo, x.lo, 0)
	a.hi, carry = bits.Add64(a.hi, x.hi, carry)
	a.top, _ = bits.Add64(a.top, uint64(int64(x.hi)>>63), carry)
}

// float is the nearest float64.
func (a accumulator) float() float64 {
	negative := int64(a.top) < 0
	if negative {
		var borrow uint64
		a.lo, borrow = bits.Sub64(0, a.lo, 0)
		a.hi, borrow = bits.Sub64(0, a.hi, borrow)
		a.top, _ = bits.Sub64(0, a.top, borrow)
	}
	var f float64
	if a.top == 0 && a.hi == 0 {
		f = math.Ldexp(float64(a.lo), -32)
	} else {
		x := new(big.Int).SetUint64(a.top)
		x.Lsh(x, 64).Or(x, new(big.Int).SetUint64(a.hi))
		x.Lsh(x, 64).Or(x, new(big.Int).SetUint64(a.lo))
		f, _ = new(big.Float).SetMantExp(new(big.Float).SetInt(x), -32).Float64()
	}
	if negative {
		return -f
	}
	return f
}

// modulo is the whole number of a sum modulo 2^64; exact is false if it has a fraction.
func (x fixed) modulo() (whole uint64, exact bool) { return x.hi<<32 | x.lo>>32, x.lo<<32 == 0 }

func (x fixed) float() float64 {
	var a accumulator
	a.add(x)
	return a.float()
}
