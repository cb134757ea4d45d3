package protection

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"microrisk/engine/program"
	"microrisk/engine/tabular"
)

// crossed is a table without hierarchies whose finest cells have values, the first variable slowest, and all its totals; empty ones too.
func crossed(t require.TestingT, shape []int, values []int64) (*tabular.Grid, []int64) {
	var trees []*tabular.Tree
	var cells []int32
	for v, n := range shape {
		var list []tabular.Category
		for i := range n {
			list = append(list, tabular.Of(fmt.Sprint(i)))
		}
		trees = append(trees, tabular.Flat(string(rune('A'+v)), list...))
	}
	s := tabular.Shape(shape)
	for cell := range s.Cells() {
		for _, code := range tabular.Codes(s, cell, make([]int32, len(shape))) {
			cells = append(cells, code+1)
		}
	}
	g, err := tabular.NewGrid(trees, cells)
	require.NoError(t, err)
	all := make([]int64, g.Cells())
	for cell := range s.Cells() {
		all[g.Find(cells[cell*len(shape):(cell+1)*len(shape)])] = values[cell]
	}
	require.NoError(t, g.Sum(all))
	return g, all
}

// interior are the values of the finest cells, in order.
func interior(g *tabular.Grid, values []int64) []int64 {
	var list []int64
	for cell, v := range values {
		if g.Leaf(cell) {
			list = append(list, v)
		}
	}
	return list
}

var base = []int64{23, 3, 37, 18, 1, 15, 12, 119, 54, 43, 8, 4, 19, 16, 22, 10} // T0

// TV-P5 of the base table, and what was found beside it.
func TestControlledRounding(t *testing.T) {
	g, values := crossed(t, []int{4, 4}, base)
	leaves := make([]int64, len(values)) // only the finest cells count
	counts := make([]int64, len(values))
	for cell := range leaves {
		if g.Leaf(cell) {
			leaves[cell], counts[cell] = 1, values[cell]
		}
	}
	for _, c := range []struct {
		base   int64
		weight []int64
		tables int // that are next to their values and add up
		cost   int64
		want   [][]int64 // all that cost so much
	}{
		{3, nil, 70, 20, [][]int64{{24, 3, 36, 18, 0, 15, 12, 120, 54, 42, 9, 3, 18, 18, 21, 9}}},
		{5, nil, 573, 40, [][]int64{{25, 5, 35, 15, 0, 15, 10, 120, 55, 40, 10, 5, 20, 15, 25, 10}, {25, 5, 35, 15, 0, 15, 15, 120, 55, 40, 10, 5, 20, 15, 20, 10}}},
		{10, nil, 720, 64, [][]int64{{20, 0, 40, 20, 0, 20, 10, 120, 60, 40, 10, 0, 20, 20, 20, 10}}},
		{5, leaves, 573, 23, [][]int64{{25, 5, 35, 20, 0, 15, 10, 120, 55, 40, 10, 5, 20, 15, 20, 10}}},
		{5, counts, 573, 557, [][]int64{{25, 5, 35, 20, 0, 15, 10, 120, 55, 45, 10, 0, 20, 15, 20, 10}}},
	} {
		r, err := Round(t.Context(), &Table{System: g.System(), Values: values}, Rounding{Base: c.base, Weight: c.weight})
		require.NoError(t, err)
		require.Equal(t, c.cost, r.Cost, c.base)
		require.Contains(t, c.want, interior(g, r.Values))
		require.True(t, r.Optimal && r.Controlled)
		require.Empty(t, r.Widened)
		require.Empty(t, g.System().Broken(r.Values, 0))
		all := roundings(g, values, c.base, func(cell int) int64 {
			if c.weight == nil {
				return 1
			}
			return c.weight[cell]
		})
		require.Equal(t, c.tables, all.tables)
		require.Equal(t, c.cost, all.least)
		require.ElementsMatch(t, c.want, all.best)
	}
}

// rounded is what there is of roundings: how many, the least cost, -1 if there is none, and the finest cells of those that have it.
type rounded struct {
	tables int
	least  int64
	best   [][]int64
}

// roundings tries all roundings of the finest cells to multiples next to them, of which those count whose totals are next to theirs.
func roundings(g *tabular.Grid, values []int64, b int64, weight func(cell int) int64) rounded {
	all := rounded{least: -1}
	var free []int
	got := make([]int64, len(values))
	for cell, x := range values {
		if got[cell] = x - x%b; g.Leaf(cell) && x%b != 0 {
			free = append(free, cell)
		}
	}
	for choice := range 1 << len(free) {
		for i, cell := range free {
			got[cell] = values[cell] - values[cell]%b + b*int64(choice>>i&1)
		}
		if g.Sum(got) != nil {
			continue
		}
		cost, ok := int64(0), true
		for cell, x := range values {
			d := abs(got[cell] - x)
			ok = ok && (d < b)
			cost += weight(cell) * d
		}
		if !ok {
			continue
		}
		all.tables++
		if all.least < 0 || cost < all.least {
			all.least, all.best = cost, nil
		}
		if cost == all.least {
			all.best = append(all.best, interior(g, got))
		}
	}
	return all
}

func TestRoundingAgainstAll(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		shape := rapid.SampledFrom([][]int{{1}, {5}, {2, 3}, {3, 3}, {2, 5}, {2, 2, 2}, {2, 2, 3}, {1, 2, 4}}).Draw(t, "shape")
		b := rapid.Int64Range(2, 6).Draw(t, "base")
		n := tabular.Shape(shape).Cells()
		g, values := crossed(t, shape, rapid.SliceOfN(rapid.Int64Range(0, 14), n, n).Draw(t, "values"))
		o := Rounding{Base: b}
		if rapid.Bool().Draw(t, "weights") {
			o.Weight = rapid.SliceOfN(rapid.Int64Range(0, 5), len(values), len(values)).Draw(t, "weight")
		}
		r, err := Round(t.Context(), &Table{System: g.System(), Values: values}, o)
		require.NoError(t, err)
		want := roundings(g, values, b, func(cell int) int64 { return (&rounder{Rounding: o}).weight(int32(cell)) }).least
		require.Empty(t, g.System().Broken(r.Values, 0))
		cost := int64(0)
		for cell, x := range r.Values {
			require.Zero(t, x%b)
			cost += (&rounder{Rounding: o}).weight(int32(cell)) * abs(x-values[cell])
		}
		require.Equal(t, cost, r.Cost)
		require.Equal(t, want >= 0, r.Controlled && len(r.Widened) == 0)
		if want >= 0 {
			require.Equal(t, want, r.Cost)
			require.True(t, r.Optimal)
			for cell, x := range r.Values {
				require.Less(t, abs(x-values[cell]), b)
				require.True(t, values[cell]%b != 0 || x == values[cell], "multiples stay")
			}
		}
	})
}

// Two-way tables with a hierarchy are networks: each total is next to its value, however many levels there are.
func TestRoundingOfHierarchies(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 20 {
		a := tabular.NewTree("A")
		for i := range 12 {
			a.Add(tabular.Of(fmt.Sprint(i)), r.IntN(i+1))
		}
		c := tabular.Flat("B", tabular.Of("x"), tabular.Of("y"), tabular.Of("z"))
		var cells []int32
		for n := range a.Nodes {
			for k := 1; a.Leaf(n) && k < len(c.Nodes); k++ {
				cells = append(cells, int32(n), int32(k))
			}
		}
		g, err := tabular.NewGrid([]*tabular.Tree{a, c}, cells)
		require.NoError(t, err)
		values := make([]int64, g.Cells())
		for i := range values {
			values[i] = int64(r.IntN(40))
		}
		require.NoError(t, g.Sum(values))
		out, err := Round(t.Context(), &Table{System: g.System(), Values: values}, Rounding{Base: 5})
		require.NoError(t, err)
		require.True(t, out.Optimal && out.Controlled)
		require.Empty(t, out.Widened)
		require.Empty(t, g.System().Broken(out.Values, 0))
		// The same as an integer program.
		p, err := newPlan(&Table{System: g.System(), Values: values}, nil)
		require.NoError(t, err)
		q := &rounder{plan: p, Rounding: Rounding{Base: 5}, quotient: make([]int64, len(values)), rest: make([]int64, len(values))}
		var move []int32
		for cell, x := range values {
			if q.quotient[cell], q.rest[cell] = x/5, x%5; q.rest[cell] > 0 {
				move = append(move, int32(cell))
			}
		}
		m := q.model(q.area(move), 0)
		s, err := program.Embedded{}.Solve(t.Context(), m.Model)
		require.NoError(t, err)
		require.InDelta(t, float64(out.Cost), s.Objective+m.constant, 1e-6)
	}
}

func TestRoundingRefuses(t *testing.T) {
	g, values := crossed(t, []int{2, 2}, []int64{1, 2, 3, 4})
	table := &Table{System: g.System(), Values: values}
	for _, o := range []Rounding{{}, {Base: 1}, {Base: 1 << 50}, {Base: 3, Weight: []int64{1}}, {Base: 3, Weight: []int64{-1, 0, 0, 0, 0, 0, 0, 0, 0}}} {
		_, err := Round(t.Context(), table, o)
		require.Error(t, err)
	}
	wrong := slices.Clone(values)
	wrong[0]++
	_, err := Round(t.Context(), &Table{System: g.System(), Values: wrong}, Rounding{Base: 3})
	require.ErrorContains(t, err, "does not hold")
	r, err := Round(
		t.Context(),
		&Table{System: g.System(), Values: []int64{-10, -3, -7, -4, -1, -3, -6, -2, -4}, Low: slices.Repeat([]int64{-100}, 9)},
		Rounding{Base: 5},
	)
	require.NoError(t, err)
	require.Empty(t, g.System().Broken(r.Values, 0))
	require.Equal(t, int64(-10), r.Values[0])
}

func BenchmarkRoundNetwork(b *testing.B) {
	for _, n := range []int{36, 84} { // 1,369 and 7,225 cells
		r := rand.New(rand.NewPCG(1, 2))
		values := make([]int64, n*n)
		for i := range values {
			values[i] = int64(math.Exp(r.NormFloat64()*2 + 2))
		}
		g, all := crossed(b, []int{n, n}, values)
		table := &Table{System: g.System(), Values: all}
		b.Run(fmt.Sprint(g.Cells(), " cells"), func(b *testing.B) {
			for range b.N {
				_, err := Round(b.Context(), table, Rounding{Base: 5})
				require.NoError(b, err)
			}
		})
	}
}
