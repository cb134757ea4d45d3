package contingency

import (
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"
)

// TestFixed compares the rounding to multiples of 2^-32 with big integers.
func TestFixed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		value := math.Ldexp(float64(rapid.Int64Range(-1<<53, 1<<53).Draw(t, "mantissa")), rapid.IntRange(-250, 60).Draw(t, "exponent"))
		times := rapid.Int64Range(0, math.MaxInt64).Draw(t, "times")
		got, err := newFixed(value, times)
		exact := new(big.Rat).SetFloat64(value)
		exact.Mul(exact, new(big.Rat).SetInt64(times)).Mul(exact, new(big.Rat).SetInt64(1<<32))
		floor := new(big.Int).Div(exact.Num(), exact.Denom())
		part := new(big.Rat).Sub(exact, new(big.Rat).SetInt(floor))
		switch c := part.Cmp(big.NewRat(1, 2)); {
		case c > 0, c == 0 && floor.Bit(0) == 1:
			floor.Add(floor, big.NewInt(1))
		}
		if floor.BitLen() > 127 {
			if err == nil {
				t.Fatal("no error past 128 bits")
			}
			return
		}
		if err != nil {
			if floor.BitLen() < 127 {
				t.Fatal(err)
			}
			return
		}
		have := new(big.Int).SetInt64(int64(got.hi))
		have.Lsh(have, 64).Add(have, new(big.Int).SetUint64(got.lo))
		if have.Cmp(floor) != 0 {
			t.Fatalf("%v * %d = %v, want %v", value, times, have, floor)
		}
		want, _ := new(big.Float).SetMantExp(new(big.Float).SetInt(floor), -32).Float64()
		if got.float() != want {
			t.Fatalf("as float %v, want %v", got.float(), want)
		}
	})
}
