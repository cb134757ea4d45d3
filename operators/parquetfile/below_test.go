package parquetfile

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestAllBelowIsLargest compares the check of two codes at once with the largest code, at the limits and at every place of a pair.
func TestAllBelowIsLargest(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	limits := []uint32{0, 1, 2, 3, 90, 91, 127, 128, 1 << 16, 1<<31 - 1, 1 << 31, 1<<31 + 1, math.MaxUint32}
	for range 20000 {
		n := limits[r.IntN(len(limits))]
		codes := make([]int32, r.IntN(9))
		for i := range codes {
			if n > 0 {
				codes[i] = int32(r.Uint32N(n))
			}
		}
		if len(codes) > 0 && r.IntN(2) == 0 {
			odd := []uint32{n, n + 1, n - 1, 1<<31 - 1, 1 << 31, math.MaxUint32, r.Uint32()}
			codes[r.IntN(len(codes))] = int32(odd[r.IntN(len(odd))])
		}
		want := len(codes) == 0 || largest(codes) < n
		if got := allBelow(codes, n); got != want {
			t.Fatalf("codes %v below %d: %v, want %v", codes, n, got, want)
		}
	}
}
