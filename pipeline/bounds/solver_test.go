package bounds

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"microrisk/engine/bounds"
	"microrisk/engine/program"
	"microrisk/pipeline/solver"
)

// The solvers in processes of their own find what the own one finds, where they are installed.
func TestProcessSolvers(t *testing.T) {
	for _, kind := range []string{"cbc", "glpsol"} {
		t.Run(kind, func(t *testing.T) {
			if _, err := exec.LookPath(kind); err != nil {
				t.Skipf("%s is not on the PATH", kind)
			}
			other, found, err := solver.Of(kind, t.TempDir())
			require.NoError(t, err)
			require.Equal(t, kind, found)
			r := rand.New(rand.NewPCG(1, 2))
			for try := range 30 {
				m := &program.Model{Maximise: try%2 == 0}
				for c := range 4 {
					m.AddColumn(fmt.Sprint("c", c), 0, float64(1+r.IntN(6)), float64(r.IntN(9)-4), true)
				}
				for range 3 {
					row := program.Row{Low: float64(r.IntN(4) - 2), High: float64(3 + r.IntN(8))}
					for c := range 4 {
						if n := r.IntN(5) - 1; n != 0 {
							row.Terms = append(row.Terms, program.Term{Column: c, Value: float64(n)})
						}
					}
					m.Rows = append(m.Rows, row)
				}
				want, err := program.Embedded{}.Solve(t.Context(), m)
				require.NoError(t, err)
				got, err := other.Solve(t.Context(), m)
				if want.Status == program.Infeasible {
					require.True(t, err != nil || got.X == nil, "try %d", try)
					continue
				}
				require.NoError(t, err)
				require.Equal(t, program.Optimal, got.Status, "try %d", try)
				require.InDelta(t, want.Objective, got.Objective, 1e-6, "try %d", try)
			}
			// With hardly any steps of its own, Sharp leaves all to the solver.
			release := allTwoWay(r, 3)
			want, err := bounds.Sharp(t.Context(), release, bounds.Options{})
			require.NoError(t, err)
			got, err := bounds.Sharp(t.Context(), release, bounds.Options{Steps: 40, Solver: other})
			require.NoError(t, err)
			require.True(t, want.Sharp)
			require.True(t, got.Sharp)
			require.Equal(t, want.Low, got.Low)
			require.Equal(t, want.High, got.High)
		})
	}
	none, found, err := solver.Of("embedded", "")
	require.NoError(t, err)
	require.Nil(t, none)
	require.Equal(t, "embedded", found)
}

// allTwoWay releases the three two-way margins of a random table of n x n x n cells.
func allTwoWay(r *rand.Rand, n int) *bounds.Release {
	table := make([]int64, n*n*n)
	for i := range table {
		table[i] = int64(r.IntN(4))
	}
	release := &bounds.Release{Levels: []int{n, n, n}}
	for _, pair := range [][2]int{{0, 1}, {0, 2}, {1, 2}} {
		counts := make([]int64, n*n)
		for i, c := range table {
			at := []int{i / (n * n), i / n % n, i % n}
			counts[at[pair[0]]*n+at[pair[1]]] += c
		}
		release.Margins = append(release.Margins, bounds.Margin{Variables: pair[:], Low: counts, High: counts})
	}
	return release
}

// A solver that fails is told of, and what it started ends with it.
func TestFailingSolver(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	m := &program.Model{}
	m.AddColumn("x", 0, 1, 1, true)
	script := filepath.Join(dir, "cbc")
	require.NoError(t, os.WriteFile(script, []byte("#!/bin/sh\nexit 3\n"), 0o700))
	other, _, err := solver.Of("cbc", dir)
	require.NoError(t, err)
	_, err = other.Solve(t.Context(), m)
	require.ErrorContains(t, err, "exit status 3")
	require.ErrorIs(t, other.(*solver.Process).Failed, err)

	pid := filepath.Join(dir, "pid")
	require.NoError(t, os.WriteFile(script, []byte("#!/bin/sh\nsleep 1000 &\necho $! > "+pid+"\nwait\n"), 0o700))
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	_, err = other.Solve(ctx, m)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	text, err := os.ReadFile(pid)
	require.NoError(t, err)
	child := strings.TrimSpace(string(text))
	require.Eventually(t, func() bool { return exec.Command("kill", "-0", child).Run() != nil }, 5*time.Second, 20*time.Millisecond)
}
