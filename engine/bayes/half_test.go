package bayes_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"microrisk/engine/bayes"
)

// Each record is in the half with a chance of one half, apart from the others.
func TestHalf(t *testing.T) {
	d := &bayes.Data{Levels: []int{4}, Codes: [][]uint32{{0, 1, 2, 3}}, Counts: []int64{1, 1, 2, 5}, Records: 9}
	const draws = 20_000
	var seen [4][6]float64
	together := 0.0
	for seed := range uint64(draws) {
		half, whole := d.Half(seed)
		require.Len(t, whole, len(half.Counts))
		var records int64
		var alone [4]bool
		for i, code := range half.Codes[0] {
			require.Equal(t, d.Counts[code], whole[i])
			seen[code][half.Counts[i]]++
			records += half.Counts[i]
			alone[code] = true
		}
		require.Equal(t, records, half.Records)
		if alone[0] && alone[1] {
			together++
		}
	}
	near := func(p, n float64) { require.InDelta(t, p, n/draws, 5*math.Sqrt(p*(1-p)/draws)) }
	near(.5, seen[0][1])
	near(.5, seen[1][1])
	near(.25, together)
	near(.5, seen[2][1])
	near(.25, seen[2][2])
	for g, ways := range []float64{1, 5, 10, 10, 5, 1} {
		if g > 0 {
			near(ways/32, seen[3][g])
		}
	}
	again, _ := d.Half(7)
	same, _ := d.Half(7)
	require.Equal(t, again, same)
}
