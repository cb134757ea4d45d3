package solver_test

import (
	"cmp"
	"context"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"microrisk/engine/program"
	"microrisk/engine/tabular"
	"microrisk/engine/tabular/protection"
	"microrisk/pipeline/solver"
)

// counted counts the calls of a solver.
type counted struct {
	program.Solver
	calls int
}

func (c *counted) Solve(ctx context.Context, m *program.Model) (*program.Solution, error) {
	c.calls++
	return c.Solver.Solve(ctx, m)
}

// drawn is a random table without hierarchies, of so many categories.
func drawn(t *testing.T, r *rand.Rand, shape tabular.Shape, most int64) (*tabular.Grid, []int64) {
	var trees []*tabular.Tree
	for v, n := range shape {
		tree := tabular.NewTree(string(rune('A' + v)))
		for i := range n {
			tree.Add(tabular.Of(string(rune('a'+i))), 0)
		}
		trees = append(trees, tree)
	}
	var cells []int32
	for cell := range shape.Cells() {
		for _, code := range tabular.Codes(shape, cell, make([]int32, len(shape))) {
			cells = append(cells, code+1)
		}
	}
	g, err := tabular.NewGrid(trees, cells)
	require.NoError(t, err)
	values := make([]int64, g.Cells())
	for cell := range values {
		if r.IntN(12) > 0 {
			values[cell] = 1 + r.Int64N(most)
		}
	}
	require.NoError(t, g.Sum(values))
	return g, values
}

// cheapest tries the patterns of finest cells in the order of their costs until an audit accepts one; -1 if it accepts none.
func cheapest(t *testing.T, g *tabular.Grid, table *protection.Table, needs []protection.Need, cost []int64) int64 {
	base := make([]bool, g.Cells())
	for _, n := range needs {
		base[n.Cell] = true
	}
	var cells []int
	for cell, x := range table.Values {
		if x != 0 && !base[cell] && g.Leaf(cell) {
			cells = append(cells, cell)
		}
	}
	sums, order := make([]int64, 1<<len(cells)), make([]int, 1<<len(cells))
	for m := range sums {
		if order[m] = m; m > 0 {
			sums[m] = sums[m&(m-1)] + cost[cells[bits.TrailingZeros(uint(m))]]
		}
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Or(cmp.Compare(sums[a], sums[b]), cmp.Compare(a, b)) })
	hidden := make([]bool, g.Cells())
	hide := func(m int) {
		copy(hidden, base)
		for i, cell := range cells {
			hidden[cell] = hidden[cell] || m>>i&1 == 1
		}
	}
	accepted := func() bool {
		report, err := protection.Audit(t.Context(), table, hidden, needs, protection.InsiderOff)
		require.NoError(t, err)
		return len(report.Failed()) == 0
	}
	if hide(len(sums) - 1); !accepted() {
		return -1
	}
	for _, m := range order {
		if hide(m); !alone(table.System, hidden) && accepted() {
			return sums[m]
		}
	}
	return -1
}

// alone tells whether an equation has one hidden cell only, which a cheapest pattern never has.
func alone(s *tabular.System, hidden []bool) bool {
	return slices.ContainsFunc(s.Equations, func(e tabular.Equation) bool {
		count := 0
		e.Each(func(cell int32, _ int64) {
			if hidden[cell] {
				count++
			}
		})
		return count == 1
	})
}

// Solvers in processes of their own find patterns and roundings that cost as little as any.
func TestTablesAgainstBruteForce(t *testing.T) {
	for _, name := range []string{"cbc", "glpsol"} {
		t.Run(name, func(t *testing.T) {
			process, _, err := solver.Of(name, t.TempDir())
			if err != nil {
				t.Skip(err)
			}
			tables := 500
			if testing.Short() || name == "glpsol" {
				tables = 100
			}
			s := &counted{Solver: process}
			r := rand.New(rand.NewPCG(41, 42))
			feasible, patterns := 0, 0 // that can be protected, and solved by calls
			shapes := []tabular.Shape{{3, 3}, {4, 4}, {2, 2, 3}, {2, 3, 3}}
			for k := range tables {
				g, values := drawn(t, r, shapes[k%len(shapes)], 20)
				table := &protection.Table{System: g.System(), Values: values}
				o := protection.Options{Cost: values, Insider: protection.InsiderOff, Protected: make([]bool, g.Cells()), Solver: s}
				if k%3 == 0 {
					o.Cost = slices.Repeat([]int64{1}, g.Cells())
				}
				var needs []protection.Need
				for cell, x := range values {
					if o.Protected[cell] = g.Margin(cell); !o.Protected[cell] && x > 0 && len(needs) < 2+k%4 && r.IntN(3) == 0 {
						needs = append(needs, protection.Need{Cell: int32(cell), Lower: 1 + r.Int64N(1+x/3), Upper: 1 + r.Int64N(1+x/3)})
					}
				}
				before := s.calls
				want := cheapest(t, g, table, needs, o.Cost)
				got, err := protection.Optimal(t.Context(), table, needs, o)
				if want < 0 {
					var never *protection.InfeasibleError
					require.ErrorAs(t, err, &never, "table %d", k)
					continue
				}
				feasible++
				if s.calls > before {
					patterns++
				}
				require.NoError(t, err, "table %d", k)
				require.Equal(t, want, got.Cost, "table %d", k)
				require.True(t, got.Proven())
				rounded(t, r, g, values, s)
			}
			t.Logf("%d tables that can be protected, %d of them by %s, %d calls", feasible, patterns, name, s.calls)
			require.Greater(t, feasible, tables/2)
			require.Greater(t, patterns, tables/10)
		})
	}
}

// rounded compares a rounding with that of the embedded solver.
func rounded(t *testing.T, r *rand.Rand, g *tabular.Grid, values []int64, s program.Solver) {
	if len(g.Trees) < 3 {
		return // a network
	}
	table, base := &protection.Table{System: g.System(), Values: values}, 2+r.Int64N(4)
	got, err := protection.Round(t.Context(), table, protection.Rounding{Base: base, Solver: s})
	require.NoError(t, err)
	want, err := protection.Round(t.Context(), table, protection.Rounding{Base: base})
	require.NoError(t, err)
	require.Equal(t, want.Cost, got.Cost)
	require.True(t, got.Optimal && got.Controlled)
	require.Empty(t, table.System.Broken(got.Values, 0))
}
