package uniques

import (
	"math/bits"
	"math/rand/v2"
	"testing"
)

// TestMarginsAreCounts compares what margins say of every set with counts of the entries.
func TestMarginsAreCounts(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	some := 0
	for range 300 {
		widths := make([]int, 3+r.IntN(5))
		parts := make([]uint64, len(widths))
		at := 0
		for j := len(widths) - 1; j >= 0; j-- {
			widths[j] = 1 + r.IntN(5)
			parts[j] = (1<<widths[j] - 1) << at
			at += widths[j]
		}
		keys := make([]uint64, 100+r.IntN(2000))
		many := make([]uint64, (len(keys)+63)/64)
		for i := range keys {
			keys[i] = r.Uint64() & r.Uint64() & (1<<at - 1)
			if r.IntN(20) == 0 {
				many[i>>6] |= 1 << (i & 63)
			}
		}
		m := &margins{}
		m.reset(keys, many, parts)
		for s := 1; s < 1<<len(parts); s++ {
			if !m.has(s) {
				continue
			}
			some++
			var mask uint64
			for rest := s; rest != 0; rest &= rest - 1 {
				mask |= parts[bits.TrailingZeros(uint(rest))]
			}
			count := map[uint64]int{}
			for i, k := range keys {
				count[k&mask] += 1 + int(many[i>>6]>>(i&63)&1)
			}
			once := m.unique(s)
			for k := range uint64(1) << m.width {
				got := once != nil && once[k>>6]>>(k&63)&1 == 1
				if want := count[k] == 1; k&^mask == 0 && got != want || k&^mask != 0 && got {
					t.Fatalf("set %b of %v: key %b occurs %d times, unique is %v", s, widths, k, count[k], got)
				}
			}
		}
	}
	if some < 1000 {
		t.Fatalf("%d sets had margins", some)
	}
}
