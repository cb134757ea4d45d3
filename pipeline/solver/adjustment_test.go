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
