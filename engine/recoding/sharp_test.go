package recoding_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"microrisk/engine/recoding"
)

// What a coarser node's suppression tells of a finer one is no more than its loss.
func TestHiddenIsABound(t *testing.T) {
	type sharp interface {
		recoding.Loss
		Hidden(l *recoding.Lattice, o *recoding.Outcome) [][]float64
		Above(l *recoding.Lattice, n recoding.Node, added func(v int) float64) []float64
	}
	losses := []sharp{recoding.Cells{}, recoding.Cells{Spread: true}, recoding.Precision{}, recoding.Granularity{},
		recoding.Granularity{Way: recoding.Mean, Tilt: -.3}, recoding.Granularity{Way: recoding.Rank, Tilt: .2}, recoding.Entropy{}}
	told := 0
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 7))
		variables, codes, counts, sensitive := randomLattice(r)
		l, err := recoding.NewSensitive(variables, codes, counts, sensitive, 3)
		require.NoError(t, err)
		rule := []recoding.Rule{recoding.K(2), recoding.K(4), recoding.Distinct(2)}[r.IntN(3)]
		var all []*recoding.Outcome
		every(variables, func(n recoding.Node) {
			o, err := l.Outcome(n, rule.Safe)
			require.NoError(t, err)
			all = append(all, o)
		})
		for range 2000 {
			fine, coarse := all[r.IntN(len(all))], all[r.IntN(len(all))]
			if !fine.Node.Finer(coarse.Node) || coarse.Suppressed == 0 {
				continue
			}
			for _, loss := range losses {
				added := loss.Hidden(l, coarse)
				bound := loss.Above(l, fine.Node, func(v int) float64 { return added[v][fine.Node[v]] })[0]
				of := loss.Of(l, fine)[0]
				require.LessOrEqual(t, bound, of*(1+1e-12)+1e-12, "%s at %s from %s", loss.Name(), fine.Node, coarse.Node)
				require.GreaterOrEqual(t, bound, loss.Bound(l, fine.Node)[0]-1e-12)
				if bound > loss.Bound(l, fine.Node)[0]+1e-9 {
					told++
				}
			}
		}
	}
	require.Greater(t, told, 1000)
}

// Searches that share figures find what they do alone, with fewer tables.
func TestFiguresAreShared(t *testing.T) {
	shared, alone := 0, 0
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 9))
		variables, codes, counts, _ := randomLattice(r)
		of := func(_ *recoding.Lattice, o *recoding.Outcome) (float64, error) { return float64(o.Uniques), nil }
		l, err := recoding.New(variables, codes, counts)
		require.NoError(t, err)
		figures := &recoding.Figures{Of: of}
		first := recoding.Options{
			Rule: recoding.K(3),
			Loss: recoding.Cells{},
			Figures: &recoding.Figures{Of: func(l *recoding.Lattice, o *recoding.Outcome) (float64, error) {
				o, err := l.Outcome(o.Node, nil)
				return float64(o.Uniques), err
			}},
		}
		if seed%2 == 0 { // another search tells them, too
			figures = first.Figures
			_, err := l.Search(t.Context(), first)
			require.NoError(t, err)
		}
		for _, most := range []float64{8, 4, 2, 6, 0} {
			o := recoding.Options{Rule: figures.Rule(most, true), Loss: recoding.Entropy{}, Alternatives: 2}
			found, err := l.Search(t.Context(), o)
			require.NoError(t, err)
			o.Rule = recoding.Uniques(int64(most))
			want, err := l.Search(t.Context(), o)
			require.NoError(t, err)
			require.Len(t, found.Best, len(want.Best))
			for i := range want.Best {
				require.Equal(t, want.Best[i].Node, found.Best[i].Node)
				require.InDelta(t, want.Best[i].Loss[0], found.Best[i].Loss[0], 1e-12)
				require.Equal(t, want.Best[i].Uniques, found.Best[i].Uniques)
			}
			shared, alone = shared+found.Checked, alone+want.Checked
		}
	}
	require.Less(t, shared, alone)
}

// Tables of many rows, of keys of one word and more, are counted as the rows are; the leading variable is in any place and at any level.
func TestMergingManyRows(t *testing.T) {
	for seed, sizes := range [][]int{{90, 12, 40, 7}, {3, 20, 900, 5}, {1 << 17, 1 << 17, 1 << 17, 1 << 17, 9}, {40000, 3, 7}} {
		r := rand.New(rand.NewPCG(uint64(seed), 5))
		var variables []recoding.Variable
		codes := make([][]uint32, len(sizes))
		for v, n := range sizes {
			x := recoding.Variable{Name: fmt.Sprint(v), Weight: 1}
			mixed := r.Perm(n) // groups are not of neighbouring codes
			for _, width := range []int{1, 3, 15, n} {
				level := recoding.Level{}
				for c := range n {
					level.Group = append(level.Group, uint32(mixed[c]/width))
				}
				x.Levels = append(x.Levels, level)
			}
			x.Most = 3
			variables = append(variables, x)
			for range 40000 {
				codes[v] = append(codes[v], uint32(r.IntN(min(n, 200))))
			}
		}
		counts := make([]int64, 40000)
		for i := range counts {
			counts[i] = int64(1 + r.IntN(3))
		}
		l, err := recoding.New(variables, codes, counts)
		require.NoError(t, err)
		for range 12 {
			n := make(recoding.Node, len(sizes))
			for v := range n {
				n[v] = uint8(r.IntN(4))
			}
			want := map[string]int64{}
			for i, f := range counts {
				key := make([]uint32, len(n))
				for v := range n {
					key[v] = variables[v].Levels[n[v]].Group[codes[v][i]]
				}
				want[fmt.Sprint(key)] += f
			}
			o, err := l.Outcome(n, nil)
			require.NoError(t, err)
			require.EqualValues(t, len(want), o.Classes, n)
			got := map[string]int64{}
			require.NoError(t, l.Each(o, func(groups []uint32, f int64) { got[fmt.Sprint(slices.Clone(groups))] = f }))
			require.Equal(t, want, got)
		}
	}
}
