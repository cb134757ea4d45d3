package solver_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"microrisk/engine/tabular"
	"microrisk/engine/tabular/adjustment"
	"microrisk/engine/tabular/protection"
	"microrisk/pipeline/solver"
)

// Solvers in processes of their own adjust tables at the same cost as the embedded one, which brute force has tested.
func TestAdjustmentBySolvers(t *testing.T) {
	for _, name := range []string{"cbc", "glpsol"} {
		t.Run(name, func(t *testing.T) {
			process, _, err := solver.Of(name, t.TempDir())
			if err != nil {
				t.Skip(err)
			}
			s := &counted{Solver: process}
			r := rand.New(rand.NewPCG(43, 44))
			shapes := []tabular.Shape{{3, 3}, {4, 4}, {2, 2, 3}, {3, 3, 2}}
			tables := 60
			if testing.Short() {
				tables = 12
			}
			for k := range tables {
				g, values := drawn(t, r, shapes[k%len(shapes)], 12)
				table := &protection.Table{System: g.System(), Values: values}
				o := adjustment.Controls{Protected: make([]bool, g.Cells())}
				var needs []protection.Need
				for cell, x := range values {
					o.Protected[cell] = cell == 0 || x == 0
					if x > 0 && x < 5 && g.Leaf(cell) {
						needs = append(needs, protection.Need{Cell: int32(cell), Lower: 1 + r.Int64N(3), Upper: 1 + r.Int64N(3)})
					}
				}
				want, err := adjustment.Control(t.Context(), table, needs, o)
				o.Solver = s
				got, err2 := adjustment.Control(t.Context(), table, needs, o)
				if err != nil {
					var never *adjustment.ImpossibleError
					require.ErrorAs(t, err, &never)
					require.ErrorAs(t, err2, &never)
					continue
				}
				require.NoError(t, err2, "table %d", k)
				require.Equal(t, want.Cost, got.Cost, "table %d", k)
				require.True(t, want.Optimal() && got.Optimal(), "table %d: %v %v", k, want.Bound, got.Bound)
				require.Empty(t, table.System.Broken(got.Values, 0))
			}
			require.Greater(t, s.calls, tables/2)
		})
	}
}

// Intervals by a solver in a process of its own cost least, and so those of the embedded one where it proves it.
func TestIntervalsBySolvers(t *testing.T) {
	process, _, err := solver.Of("cbc", t.TempDir())
	if err != nil {
		t.Skip(err)
	}
	s := &counted{Solver: process}
	r := rand.New(rand.NewPCG(45, 46))
	shapes := []tabular.Shape{{3, 3, 3}, {5, 5}, {3, 4, 3}, {2, 3, 4}}
	found := 0
	for k := range 100 {
		g, values := drawn(t, r, shapes[k%len(shapes)], 12)
		table := &protection.Table{System: g.System(), Values: values}
		o := adjustment.Options{Cost: make([]int64, g.Cells()), Protected: make([]bool, g.Cells()), Insider: protection.InsiderOff, Nodes: 500}
		var needs []protection.Need
		for cell, x := range values {
			o.Cost[cell] = 1 + r.Int64N(4)
			o.Protected[cell] = g.Margin(cell) && r.IntN(3) > 0
			if x > 0 && x < 5 && g.Leaf(cell) {
				needs = append(needs, protection.Need{Cell: int32(cell), Lower: min(x, r.Int64N(4)), Upper: 1 + r.Int64N(3)})
			}
		}
		want, err := adjustment.Intervals(t.Context(), table, needs, o)
		if err != nil {
			var never *adjustment.CellError
			require.ErrorAs(t, err, &never)
			continue
		}
		found++
		o.Solver = s
		got, err := adjustment.Intervals(t.Context(), table, needs, o)
		require.NoError(t, err)
		require.True(t, got.Optimal(), "table %d: %v of %d", k, got.Bound, got.Loss)
		require.LessOrEqual(t, got.Loss, want.Loss, "table %d", k)
		require.LessOrEqual(t, want.Bound, float64(got.Loss)+1e-6, "table %d", k)
		if want.Optimal() {
			require.Equal(t, want.Loss, got.Loss, "table %d", k)
		}
	}
	require.Greater(t, found, 30)
	t.Log(found, "tables,", s.calls, "calls")
	require.Greater(t, s.calls, 2)
}
