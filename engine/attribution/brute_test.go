package attribution

import (
	"context"
	"math"
	"math/big"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"microrisk/engine/perturb"
)

// A known is one way to know people: so many in each cell.
type known struct {
	counts []int64
	ways   *big.Int // samples of people with these counts
}

// everyKnown lists all of them for each n.
func everyKnown(counts []int64) map[int64][]known {
	all := map[int64][]known{}
	var add func(i int, s []int64, n int64, ways *big.Int)
	add = func(i int, s []int64, n int64, ways *big.Int) {
		if i == len(counts) {
			all[n] = append(all[n], known{append([]int64(nil), s...), ways})
			return
		}
		for k := range counts[i] + 1 {
			w := new(big.Int).Mul(ways, new(big.Int).Binomial(counts[i], k))
			add(i+1, append(s, k), n+k, w)
		}
	}
	add(0, nil, 0, big.NewInt(1))
	return all
}

// zeros are the cells in which a zero is recovered, by the constraints alone: what the published cells and total say, and that at
// least those who are known are there.
func zeros(t *Table, s []int64) []int {
	var list []int
	for j, c := range t.Counts {
		if t.impossible(j) {
			continue
		}
		upper := t.Upper[j]
		if t.TotalUpper != NoTotal {
			left := t.TotalUpper
			for i := range t.Counts {
				if i != j {
					left -= max(t.Lower[i], s[i])
				}
			}
			upper = min(upper, left)
		}
		if s[j] == c && upper == c {
			list = append(list, j)
		}
	}
	return list
}

// total is N.
func total(t *Table) int64 {
	n := int64(0)
	for _, c := range t.Counts {
		n += c
	}
	return n
}

// sapOf is the SAP of a table that is not checked yet.
func sapOf(ctx context.Context, t *Table, known []int64) ([]float64, error) {
	s, err := t.Check()
	if err != nil {
		return nil, err
	}
	return s.SAP(ctx, known)
}

// brute has SAP, the expected zeros and the probability of each cell, for each n, as exact fractions.
type brute struct {
	sap, expected []*big.Rat
	cells         [][]*big.Rat
}

func byBrute(t *Table) brute {
	var b brute
	people := total(t)
	all := everyKnown(t.Counts)
	for n := range people + 1 {
		samples := new(big.Int).Binomial(people, n)
		sap, expected := new(big.Rat), new(big.Rat)
		cells := make([]*big.Rat, len(t.Counts))
		for k := range cells {
			cells[k] = new(big.Rat)
		}
		for _, s := range all[n] {
			p := new(big.Rat).SetFrac(s.ways, samples)
			z := zeros(t, s.counts)
			for _, i := range z {
				cells[i].Add(cells[i], p)
				expected.Add(expected, p)
			}
			if len(z) > 0 {
				sap.Add(sap, p)
			}
		}
		b.sap, b.expected, b.cells = append(b.sap, sap), append(b.expected, expected), append(b.cells, cells)
	}
	return b
}

func upTo(n int64) []int64 {
	list := make([]int64, n+1)
	for i := range list {
		list[i] = int64(i)
	}
	return list
}

func near(t require.TestingT, want *big.Rat, got float64, what string, args ...any) {
	w, _ := want.Float64()
	require.InDelta(t, w, got, 1e-13, append([]any{what}, args...)...)
	if w > 0 {
		require.InEpsilon(t, w, got, 1e-12, append([]any{what}, args...)...)
	} else {
		require.Zero(t, got, append([]any{what}, args...)...)
	}
}

// drawTable makes a small table: exact or perturbed cells, with or without a total that may be tight.
func drawTable(t *rapid.T) *Table {
	kernels := []perturb.Kernel{
		perturb.None(),
		made(perturb.Conventional(3, "")),
		made(perturb.Conventional(5, "")),
		made(perturb.Random(3)),
		made(perturb.Random(5)),
		made(perturb.Barnard(0.5)),
		made(perturb.SmallCounts(2, 1, 3, "")),
		made(perturb.Conventional(2, perturb.TieUp)),
	}
	mixed := rapid.Bool().Draw(t, "mixed schemes")
	k := rapid.SampledFrom(kernels).Draw(t, "scheme")
	counts := rapid.SliceOfN(rapid.Int64Range(0, 4), 1, 5).Draw(t, "counts")
	table := &Table{Counts: counts, TotalUpper: NoTotal}
	for _, c := range counts {
		if mixed {
			k = rapid.SampledFrom(kernels).Draw(t, "scheme")
		}
		j := perturb.Draw(k, c, rapid.Float64Range(0, 0.999).Draw(t, "u"))
		low, high, ok := k.Bounds(j)
		if !ok {
			t.Fatalf("%s published %d, which it cannot", k.Name(), j)
		}
		table.Lower, table.Upper = append(table.Lower, low), append(table.Upper, high)
		if table.Impossible != nil || rapid.IntRange(0, 9).Draw(t, "impossible") == 0 {
			table.Impossible = append(table.Impossible, c == 0 && rapid.Bool().Draw(t, "so"))
		}
	}
	if len(table.Impossible) != len(counts) {
		table.Impossible = nil
	}
	if rapid.Bool().Draw(t, "total") {
		table.TotalUpper = total(table) + rapid.SampledFrom([]int64{0, 0, 0, 1, 2}).Draw(t, "slack")
	}
	return table
}

func made(k perturb.Kernel, err error) perturb.Kernel {
	if err != nil {
		panic(err)
	}
	return k
}

func TestAgainstEnumeration(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		table := drawTable(t)
		want, n := byBrute(table), upTo(total(table))
		of, err := table.Check()
		require.NoError(t, err)
		sap, err := of.SAP(t.Context(), n)
		require.NoError(t, err)
		expected, err := of.Expected(t.Context(), n)
		require.NoError(t, err)
		for k := range n {
			near(t, want.sap[k], sap[k], "SAP(%d) of %+v", k, table)
			near(t, want.expected[k], expected[k], "expected zeros, n = %d of %+v", k, table)
			if k > 0 {
				require.GreaterOrEqual(t, sap[k], sap[k-1]-1e-15, "SAP never falls")
			}
		}
		for i := range table.Counts {
			cell, err := of.Cell(i, n)
			require.NoError(t, err)
			for k := range n {
				near(t, want.cells[k][i], cell[k], "cell %d, n = %d of %+v", i, k, table)
			}
		}
		for _, threshold := range []float64{1e-9, 0.1, 0.5, 1} {
			least, ok, err := of.Smallest(t.Context(), threshold, math.Inf(1))
			require.NoError(t, err)
			found := false
			for k := range n {
				if w, _ := want.sap[k].Float64(); w >= threshold {
					require.True(t, ok)
					require.EqualValues(t, k, least, "threshold %v of %+v", threshold, table)
					found = true
					break
				}
			}
			require.Equal(t, found, ok)
		}
	})
}

// What is known of others: the target's own cell never empties.
func TestTargetAgainstEnumeration(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		table := drawTable(t)
		of, err := table.Check()
		require.NoError(t, err)
		var cells []int
		for i, c := range table.Counts {
			if c > 0 {
				cells = append(cells, i)
			}
		}
		targets, err := of.Targets(t.Context(), cells, upTo(of.n))
		require.NoError(t, err)
		for j, i := range cells {
			people := total(table) - 1
			others := append([]int64(nil), table.Counts...)
			others[i]--
			for n, list := range everyKnown(others) {
				want := new(big.Rat)
				for _, s := range list {
					if len(zeros(table, s.counts)) > 0 {
						want.Add(want, new(big.Rat).SetFrac(s.ways, new(big.Int).Binomial(people, n)))
					}
				}
				near(t, want, targets[n][j], "target in %d, n = %d of %+v", i, n, table)
			}
		}
	})
}

// Large tables go another way than small ones: both give the same.
func TestLargeAgainstExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cells := rapid.SliceOfN(rapid.Int64Range(1, 9), 0, 6).Draw(t, "cells")
		rest := rapid.Int64Range(0, 12).Draw(t, "rest")
		total := rest
		for _, c := range cells {
			total += c
		}
		clock := newClock(t.Context())
		slices.Sort(cells)
		exact, err := anyFull(clock, cells, rest, total)
		require.NoError(t, err)
		large, err := anyFullLarge(clock, cells, rest, total)
		require.NoError(t, err)
		for n := range exact {
			one := 0.0
			if len(cells) > 0 {
				one, err = oneFull(clock, cells, rest, int64(n))
				require.NoError(t, err)
			}
			if exact[n] == 0 {
				require.Zero(t, large[n])
				require.Zero(t, one)
				continue
			}
			require.InEpsilon(t, exact[n], large[n], 1e-12, "n = %d", n)
			require.InEpsilon(t, exact[n], one, 1e-12, "n = %d alone", n)
		}
	})
}
