package keymap

import (
	"maps"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// grid are points that tell the bands apart: one within each smallest one.
var grid = []float64{0.5, 1.5, 2.2, 3, 5, 100}

func within(b Band) (at []int) {
	for i, x := range grid {
		if b.Lo <= x && x < b.Hi {
			at = append(at, i)
		}
	}
	return at
}

func TestBandsByPoints(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		bands := drawBands(t, 6)
		d, extents, err := Intervals(bands, nil)
		lo, hi := math.Inf(1), math.Inf(-1)
		for _, b := range bands {
			lo, hi = min(lo, b.Lo), max(hi, b.Hi)
		}
		covered := true // from the first bound to the last
		for i := range within(Band{lo, hi}) {
			at := within(Band{lo, hi})[i]
			covered = covered && slices.ContainsFunc(bands, func(b Band) bool { return slices.Contains(within(b), at) })
		}
		require.Equal(t, covered, err == nil, "%v", err)
		if err != nil {
			return
		}
		require.True(t, sound(d))
		reach, _ := walked(d)
		require.Len(t, extents, len(d.Nodes))
		bounds := make(map[float64]bool)
		for _, b := range bands {
			bounds[b.Lo], bounds[b.Hi] = true, true
			require.Equal(t, b, extents[b.ID()])
		}
		sinks := (sketch{d, reach}).sinks()
		require.Len(t, sinks, len(bounds)-1)
		for v, e := range extents {
			var union []int
			for _, s := range reach[v] {
				union = append(union, within(extents[s])...)
			}
			slices.Sort(union)
			require.Equal(t, within(e), union)
			if !slices.Contains(sinks, v) {
				require.Contains(t, bands, e)
				children := slices.DeleteFunc(slices.Clone(d.Edges), func(x [2]string) bool { return x[0] != v })
				require.Len(t, children, len(reach[v])) // the smallest bands at once
			}
		}
	})
}

// Band by band the graph has the same smallest bands, and every band the same of them.
func TestBandsOneByOne(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		bands := append(drawBands(t, 6), Band{0, math.Inf(1)})
		at, extents, err := Intervals(bands, nil)
		require.NoError(t, err)
		reach, _ := walked(at)
		one, known := Drawing{}, make(map[string]Band)
		for _, b := range append([]Band{{0, math.Inf(1)}}, rapid.Permutation(bands).Draw(t, "order")...) {
			before := maps.Clone(known)
			more, existing, err := one.AddBand(b, known)
			require.NoError(t, err)
			same := slices.Contains(slices.Collect(maps.Values(before)), b)
			require.Equal(t, same, existing != "")
			if same {
				require.Equal(t, b, known[existing])
				require.Equal(t, one, more)
			} else if len(one.Nodes) > 0 {
				require.NoError(t, CheckEdit(one, more))
			}
			one = more
		}
		byBand, _ := walked(one)
		set := func(reach map[string][]string, extents map[string]Band, b Band) map[Band]bool {
			all := make(map[Band]bool)
			for v, e := range extents {
				if e == b {
					for _, s := range reach[v] {
						all[extents[s]] = true
					}
				}
			}
			return all
		}
		for _, b := range bands {
			require.Equal(t, set(reach, extents, b), set(byBand, known, b))
		}
		_, _, err = one.AddBand(Band{-1, 1}, known)
		require.Error(t, err)
	})
}

// Harmonizing bands is to keep the bounds that all have.
func TestBoundsThatAllHave(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := rapid.IntRange(1, 8).Draw(t, "k")
		var bands []Band
		for i := range k {
			bands = append(bands, Band{float64(i), float64(i + 1)})
		}
		draw := func() (cuts []float64, p Partition) {
			labels, block := make([]int, k), 0
			for i := 1; i < k; i++ {
				if rapid.Bool().Draw(t, "cut") {
					block++
					cuts = append(cuts, float64(i))
				}
				labels[i] = block
			}
			p, err := NewPartition(labels)
			require.NoError(t, err)
			return cuts, p
		}
		a, p := draw()
		b, q := draw()
		cuts, err := Cuts(Join(p, q), bands)
		require.NoError(t, err)
		common := slices.DeleteFunc(slices.Clone(a), func(x float64) bool { return !slices.Contains(b, x) })
		require.ElementsMatch(t, common, cuts)
		require.True(t, slices.IsSorted(cuts))
		require.Len(t, common, Join(p, q).Size()-1)
		require.Equal(t, subset(b, a), p.Refines(q))
		f := drawFamily(t, k)
		if f == nil {
			return
		}
		runs := !slices.ContainsFunc(f, func(x []int) bool { return x[len(x)-1]-x[0] != len(x)-1 })
		_, err = Cuts(f.partition(t, k), bands)
		require.Equal(t, runs, err == nil)
	})
}
