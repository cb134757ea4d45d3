package protection

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"microrisk/engine/tabular"
)

// What two finest cells prove is true: with the moved cells alone the table has another solution as far away as is needed.
func TestPairsAreProofs(t *testing.T) {
	found := 0
	rapid.Check(t, func(t *rapid.T) {
		shape := rapid.SampledFrom([][]int{{4}, {2, 3}, {3, 3}, {2, 2, 2}, {2, 3, 2}}).Draw(t, "shape")
		n := tabular.Shape(shape).Cells()
		g, values := crossed(t, shape, rapid.SliceOfN(rapid.Int64Range(0, 5), n, n).Draw(t, "values"))
		table := &Table{System: g.System(), Values: values, Sole: make([]int64, len(values))}
		hidden := make([]bool, len(values))
		for cell := range hidden {
			hidden[cell] = values[cell] > 0 && rapid.IntRange(0, 4).Draw(t, "hidden") > 0
			if values[cell] == 1 {
				table.Sole[cell] = rapid.Int64Range(0, 2).Draw(t, "holder")
			}
		}
		cell := rapid.IntRange(0, len(values)-1).Draw(t, "cell")
		p, err := newPlan(table, nil)
		require.NoError(t, err)
		need := p.capped(Need{Cell: int32(cell), Lower: rapid.Int64Range(0, 3).Draw(t, "lower"), Upper: rapid.Int64Range(0, 3).Draw(t, "upper")})
		holder := rapid.Int64Range(0, 2).Draw(t, "attacker")
		w, ok := p.auditor(t.Context(), hidden, InsiderFull).pair(holder, need)
		if !ok || !hidden[cell] {
			return
		}
		found++
		require.True(t, w.enough(need))
		// Only the moved cells are hidden: an independent attacker finds the same.
		for _, c := range w.over {
			require.True(t, hidden[c] && (holder == 0 || table.Sole[c] != holder))
		}
		alone := make([]bool, len(values))
		for _, c := range w.over {
			alone[c] = true
		}
		r, err := Intervals(t.Context(), &Table{System: table.System, Values: values}, alone, []int32{int32(cell)})
		require.NoError(t, err)
		require.LessOrEqual(t, r[0].Low, values[cell]-need.Lower)
		require.GreaterOrEqual(t, r[0].High, values[cell]+need.Upper)
	})
	require.Positive(t, found)
}
