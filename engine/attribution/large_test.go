package attribution

import (
	"context"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// byBigNumbers is the probability that a cell is known in full for n up to most, by sums of all digits.
func byBigNumbers(cells []int64, rest int64, most int) []float64 {
	ways := []*big.Int{big.NewInt(1)}
	total := rest
	times := func(c int64, all bool) {
		next := make([]*big.Int, min(len(ways)+int(c), most+1))
		for i := range next {
			next[i] = new(big.Int)
		}
		for i := range c + 1 {
			if i == c && !all {
				break
			}
			b := new(big.Int).Binomial(c, i)
			for j, w := range ways {
				if at := j + int(i); at <= most {
					next[at].Add(next[at], new(big.Int).Mul(b, w))
				}
			}
		}
		ways = next
	}
	for _, c := range cells {
		times(c, false)
		total += c
	}
	times(rest, true)
	out := make([]float64, most+1)
	for n := range out {
		all := new(big.Int).Binomial(total, int64(n))
		none := new(big.Int)
		if n < len(ways) {
			none = ways[n]
		}
		out[n], _ = new(big.Rat).SetFrac(new(big.Int).Sub(all, none), all).Float64()
	}
	return out
}

// Tables of some thousand people: small probabilities keep all their digits, for all n at once and for each alone.
func TestLargeAgainstBigNumbers(t *testing.T) {
	clock := newClock(t.Context())
	for name, c := range map[string]struct {
		cells []int64
		rest  int64
		most  int
	}{
		"few people known":         {[]int64{3, 5, 8, 13, 40, 400}, 3531, 60},
		"from nobody to everybody": {[]int64{3, 5, 8, 13, 40, 200}, 331, 600},
		"nobody in other cells":    {[]int64{1, 1, 2, 30, 30, 300}, 0, 364},
		"two halves":               {[]int64{250, 250}, 0, 500},
		"many small cells":         {slices.Repeat([]int64{2}, 200), 100, 500},
		"many middling cells":      {slices.Repeat([]int64{20}, 30), 7, 607},
	} {
		want := byBigNumbers(c.cells, c.rest, c.most)
		got, err := anyFullLarge(clock, c.cells, c.rest, int64(c.most))
		require.NoError(t, err)
		for n := range got {
			one, err := oneFull(clock, c.cells, c.rest, int64(n))
			require.NoError(t, err)
			if want[n] == 0 {
				require.Zero(t, got[n], name)
				require.Zero(t, one, name)
				continue
			}
			require.InEpsilon(t, want[n], got[n], 1e-12, "%s: n = %d", name, n)
			require.InEpsilon(t, want[n], one, 1e-12, "%s: n = %d alone", name, n)
		}
	}
}

// The smallest n of tables of some hundred people is that of their law.
func TestSmallestOfLargeTables(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		table := &Table{TotalUpper: NoTotal}
		for range rapid.IntRange(1, 12).Draw(t, "cells") {
			c := rapid.SampledFrom([]int64{1, 2, 3, 5, 8, 20, 50, 100}).Draw(t, "count")
			table.Counts, table.Lower = append(table.Counts, c), append(table.Lower, c-rapid.SampledFrom([]int64{0, 0, 1}).Draw(t, "below"))
			table.Upper = append(table.Upper, c+rapid.SampledFrom([]int64{0, 0, 1}).Draw(t, "above"))
		}
		if rapid.Bool().Draw(t, "total") {
			table.TotalUpper = total(table)
		}
		of, err := table.Check()
		require.NoError(t, err)
		sap, err := of.SAP(t.Context(), upTo(of.n))
		require.NoError(t, err)
		for _, threshold := range []float64{1e-9, 0.1, 0.5, 0.999, 1} {
			want := slices.IndexFunc(sap, func(x float64) bool { return x >= threshold*(1-1e-12) && (threshold < 1 || x == 1) })
			got, ok, err := of.Smallest(t.Context(), threshold, math.Inf(1))
			require.NoError(t, err)
			require.Equal(t, want >= 0, ok)
			if ok {
				require.EqualValues(t, want, got, "threshold %v of %+v", threshold, table)
			}
		}
	})
}

func exactTable(counts ...int64) *Sound {
	of, err := (&Table{Counts: counts, Lower: counts, Upper: counts, TotalUpper: NoTotal}).Check()
	if err != nil {
		panic(err)
	}
	return of
}

// A county's people in two cells: all figures in no time, where all n at once would take minutes.
func TestTwoCellsOfAPopulation(t *testing.T) {
	of := exactTable(166_001, 177_397)
	sap, err := of.SAP(t.Context(), []int64{5, 300_000, 343_396, 343_397, 343_398})
	require.NoError(t, err)
	a, b := 166_001.0, 177_397.0
	two := (a/(a+b))*((a-1)/(a+b-1)) + (b/(a+b))*((b-1)/(a+b-1)) // both unknown people are in one cell
	require.Zero(t, sap[0])
	require.InDelta(t, 0, sap[1], 1e-300)
	require.InEpsilon(t, two, sap[2], 1e-12)
	require.Equal(t, []float64{1, 1}, sap[3:])
	n, ok, err := of.Smallest(t.Context(), 0.5, math.Inf(1))
	require.NoError(t, err)
	require.True(t, ok)
	require.EqualValues(t, 343_396, n)
}

// Cells of many counts in a population of a million.
func TestManyCellsOfAPopulation(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	var counts []int64
	for range 300 {
		counts = append(counts, 5+r.Int64N(6000))
	}
	of := exactTable(counts...)
	n, ok, err := of.Smallest(t.Context(), 0.5, math.Inf(1))
	require.NoError(t, err)
	require.True(t, ok)
	sap, err := of.SAP(t.Context(), []int64{n - 1, n})
	require.NoError(t, err)
	require.Less(t, sap[0], 0.5)
	require.GreaterOrEqual(t, sap[1], 0.5)
	_, _, err = of.Smallest(t.Context(), 0.5, 100)
	require.ErrorIs(t, err, ErrTooMuch)
}

// Everything that can take long ends soon after its context does.
func TestCancelled(t *testing.T) {
	var counts []int64
	for i := range 3000 {
		counts = append(counts, int64(400+i))
	}
	of := exactTable(counts...)
	known := upTo(20_000)
	cells := make([]int, len(counts))
	for i := range cells {
		cells[i] = i
	}
	for name, f := range map[string]func(ctx context.Context) error{
		"SAP": func(ctx context.Context) error {
			_, err := of.SAP(ctx, []int64{1_000_000, 2_000_000, 3_000_000, 4_000_000})
			return err
		},
		"all n":    func(ctx context.Context) error { _, err := of.SAP(ctx, known); return err },
		"Targets":  func(ctx context.Context) error { _, err := of.Targets(ctx, cells, []int64{1, 1000}); return err },
		"Smallest": func(ctx context.Context) error { _, _, err := of.Smallest(ctx, 0.999999, math.Inf(1)); return err },
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			time.AfterFunc(20*time.Millisecond, cancel)
			err := f(ctx)
			if err == nil {
				return // it was faster
			}
			require.ErrorIs(t, err, context.Canceled)
		})
	}
}
