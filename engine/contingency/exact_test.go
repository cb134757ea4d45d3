package contingency

import (
	"context"
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

// Sums of keys of 48 and of 53 bits, of two counters and of a margin, are exact.
func TestSumModulo(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 60).Draw(t, "rows")
		most := rapid.SampledFrom([]uint64{1<<48 - 1, 1 << 53}).Draw(t, "largest")
		counters, want, all := []*Counter{NewCounter(1, 1), NewCounter(1, 1)}, [3]uint64{}, uint64(0)
		for range n {
			class, key := rapid.Uint32Range(1, 2).Draw(t, "class"), rapid.Uint64Range(0, most).Draw(t, "key")
			times := rapid.Int64Range(1, 3).Draw(t, "times")
			c := counters[rapid.IntRange(0, 1).Draw(t, "counter")]
			column := Column{Index: []int32{0}, Codes: []uint32{class}}
			if err := c.Add(1, []Column{column}, []int64{times}, [][]float64{{float64(key)}}); err != nil {
				t.Fatal(err)
			}
			want[class-1] += key * uint64(times)
			all += key * uint64(times)
		}
		v := []Variable{{Name: "A", Categories: []string{"x", "y"}}}
		table, err := Merge(context.Background(), v, [][]uint32{{2, 0, 1}}, 1, 0, nil, counters...)
		if err != nil {
			t.Fatal(err)
		}
		for i := range table.Classes() {
			if got, exact := table.SumModulo(i, 0); !exact || got != want[table.Code(i, 0)] {
				t.Fatalf("class %d has %d, want %d", i, got, want[table.Code(i, 0)])
			}
		}
		margin, err := table.Margin(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		if got, exact := margin.SumModulo(0, 0); !exact || got != all {
			t.Fatalf("the margin has %d, want %d", got, all)
		}
	})
	for value, want := range map[float64]uint64{-1: math.MaxUint64, 0x1p64: 0, 0x1p70 + 0x1p20: 1 << 20, 0.5: 0, -0.25: math.MaxUint64} {
		x, err := newFixed(value, 1)
		if err != nil {
			t.Fatal(err)
		}
		if got, exact := x.modulo(); got != want || exact != (value == math.Trunc(value)) {
			t.Fatalf("%v is %d modulo 2^64, exact %v", value, got, exact)
		}
	}
}
