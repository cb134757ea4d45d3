package program

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// Rows that are added to a solved program, and bounds that are changed, give what a new program gives.
func TestRestore(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	ctx := context.Background()
	seen := map[Status]int{}
	for range 300 {
		m := &Model{}
		n := 3 + r.IntN(12)
		for range n {
			m.AddColumn("", 0, float64(1+r.IntN(3)), float64(r.IntN(9)), false)
		}
		row := func() Row {
			x := Row{Low: float64(1 + r.IntN(3)), High: Infinity}
			if r.IntN(4) == 0 {
				x.High = x.Low + float64(r.IntN(2))
			}
			for j := range n {
				if r.IntN(3) == 0 {
					x.Terms = append(x.Terms, Term{j, float64(1 + r.IntN(3) - 4*r.IntN(2)*r.IntN(2))})
				}
			}
			return x
		}
		s, err := NewSimplex(m)
		require.NoError(t, err)
		for range 12 {
			for range 1 + r.IntN(3) {
				x := row()
				m.Rows = append(m.Rows, x)
				require.Equal(t, len(m.Rows)-1, s.AddRow(x))
			}
			if r.IntN(3) == 0 {
				j := r.IntN(n)
				m.Columns[j].High = min(m.Columns[j].High, float64(r.IntN(2)))
				s.SetBounds(j, 0, m.Columns[j].High)
			}
			before := s.Pivots
			feasible := s.Restore(ctx, 1000)
			restored := s.Pivots - before
			require.Less(t, restored, 1000)
			got, err := s.Solve(ctx, DefaultPivots)
			require.NoError(t, err)
			fresh, err := NewSimplex(m)
			require.NoError(t, err)
			want, err := fresh.Solve(ctx, DefaultPivots)
			require.NoError(t, err)
			require.Equal(t, want, got)
			seen[got]++
			if got != Optimal {
				break
			}
			require.InDelta(t, fresh.Objective(), s.Objective(), 1e-7)
			require.Less(t, m.Violation(s.Values()), 1e-7)
			require.LessOrEqual(t, s.Pivots-before, restored+1, "what the dual method leaves is the optimum, at which Solve looks again")
			require.True(t, feasible)
		}
	}
	require.Greater(t, min(seen[Optimal], seen[Infeasible]), 100)
}
