package protection

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"microrisk/engine/tabular"
)

// What a box proves is true, at any level of the trees: its cells are hidden, the holder knows none, and with them alone the table has other
// solutions as far away as is needed.
func TestBoxesAreProofs(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 1))
	found, totals := 0, 0
	for k := range 1500 {
		g, table, _, _ := drawn(t, r, k)
		table = table.in(g)
		hidden := make([]bool, g.Cells())
		for c, x := range table.Values {
			hidden[c] = x > 0 && r.IntN(6) > 0
		}
		p, err := newPlan(table, nil)
		require.NoError(t, err)
		a := p.auditor(t.Context(), hidden, InsiderFull)
		cell := int32(r.IntN(g.Cells()))
		x := table.Values[cell]
		need := p.capped(Need{Cell: cell, Lower: r.Int64N(1 + x), Upper: r.Int64N(4), Sliding: r.Int64N(4)})
		holder := r.Int64N(4)
		w, ok := a.boxed(holder, need)
		if !ok {
			continue
		}
		found++
		if g.Margin(int(cell)) {
			totals++
		}
		require.True(t, w.enough(need))
		for _, side := range []struct {
			cells     []int32
			low, high int64
		}{{w.over, x, x + w.up}, {w.below, x - w.down, x}} {
			require.True(t, slices.IsSorted(side.cells))
			alone := make([]bool, len(hidden))
			for _, c := range side.cells {
				require.True(t, hidden[c] && (holder == 0 || table.Sole[c] != holder))
				alone[c] = true
			}
			if len(side.cells) == 0 {
				require.Equal(t, x, side.low)
				continue
			}
			// An independent attacker, without the grid, finds the same.
			r, err := Intervals(t.Context(), &Table{System: table.System, Values: table.Values, Low: table.Low}, alone, []int32{cell})
			require.NoError(t, err)
			require.LessOrEqual(t, r[0].Low, side.low)
			require.GreaterOrEqual(t, r[0].High, side.high)
		}
	}
	require.Greater(t, found, 100)
	require.Greater(t, totals, 10)
}

// A box of dearer cells is not chosen, none has a cell that may not move, and moves that break an equation are none.
func TestBoxesAreCheapest(t *testing.T) {
	g, values := crossed(t, []int{3, 3, 2}, slices.Repeat([]int64{5}, 18))
	p, err := newPlan((&Table{System: g.System(), Values: values}).in(g), nil)
	require.NoError(t, err)
	at := func(nodes ...int32) int32 { return int32(g.Find(nodes)) }
	dear := []int32{at(2, 2, 2), at(2, 2, 0), at(2, 0, 2), at(0, 2, 2)}
	price := func(c int32) int64 {
		if slices.Contains(dear, c) || g.Margin(int(c)) {
			return 100
		}
		return 1
	}
	all := func(int32) bool { return true }
	need := Need{Cell: at(1, 1, 1), Lower: 5, Upper: 5}
	w, ok := p.box(need, all, price)
	require.True(t, ok)
	require.Len(t, w.over, 8)
	require.Equal(t, w.over, w.below)
	for _, c := range w.over {
		require.Equal(t, int64(1), price(c), g.Nodes(int(c)))
	}
	need.Upper = 6 // further than those that go against it can go down
	w, ok = p.box(need, all, price)
	require.True(t, ok)
	require.Contains(t, w.over, at(0, 0, 0), "all go up, with their totals")
	_, ok = p.box(need, func(c int32) bool { return c != at(0, 0, 0) }, price)
	require.False(t, ok)
	w, ok = p.box(Need{Cell: at(0, 0, 1), Lower: 5, Upper: 5}, all, price)
	require.True(t, ok)
	require.Subset(t, w.over, []int32{at(0, 0, 1)})
	require.True(t, p.balanced(nil))
	require.False(t, p.balanced([]move{{cell: dear[0]}}))
}

// Dense cubes are hidden by boxes: an attacker without the grid accepts them, as do holders.
func TestBoxesHideDenseCubes(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 1))
	shapes := [][]int{{15, 14, 8}, {20, 20, 10}}
	if testing.Short() {
		shapes = shapes[:1]
	}
	for k, shape := range shapes {
		values := make([]int64, tabular.Shape(shape).Cells())
		for i := range values {
			values[i] = r.Int64N(60)
		}
		g, all := crossed(t, shape, values)
		table := &Table{System: g.System(), Values: all, Sole: make([]int64, len(all))}
		var needs []Need
		for c, x := range all {
			if g.Leaf(c) && (x == 1 || x == 2) {
				needs = append(needs, Need{Cell: int32(c), Lower: 1, Upper: 1})
				if x == 1 {
					table.Sole[c] = 1 + r.Int64N(20)
				}
			}
		}
		p, err := Hypercube(t.Context(), g, table, needs, Options{Cost: all})
		require.NoError(t, err)
		require.Less(t, len(p.Secondary), 6*len(needs))
		audited := table.in(g)
		if k == 0 {
			audited, needs = table, needs[:12]
		}
		report, err := Audit(t.Context(), audited, p.Hidden, needs, InsiderExact)
		require.NoError(t, err)
		require.Empty(t, report.Failed())
		t.Log(len(needs), "needs", len(p.Secondary), "secondary")
	}
}
