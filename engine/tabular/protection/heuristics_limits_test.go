package protection

import (
	"context"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"microrisk/engine/tabular"
)

// What comes within a deadline is safe, and what does not come says so.
func TestHeuristicsWithDeadlines(t *testing.T) {
	for name, trees := range map[string][]*tabular.Tree{
		"hypercube": {branching("a", 8), branching("b", 8), branching("c", 3)},
		"modular":   {branching("a", 4, 3), branching("b", 3, 3)},
		"network":   {branching("a", 6, 4), branching("b", 8)},
	} {
		t.Run(name, func(t *testing.T) {
			g, table, needs, o := frequencies(t, trees, 4000, 5)
			for _, d := range []time.Duration{0, time.Millisecond, 10 * time.Millisecond, 60 * time.Millisecond, 300 * time.Millisecond} {
				soon, cancel := context.WithTimeout(ctx, d)
				p, err := heuristics[name](soon, g, table, needs, o)
				cancel()
				if err != nil {
					require.ErrorIs(t, err, context.DeadlineExceeded)
					continue
				}
				report, err := Audit(ctx, table, p.Hidden, needs, o.Insider)
				require.NoError(t, err)
				require.Empty(t, report.Failed())
			}
			ended, cancel := context.WithCancel(ctx)
			cancel()
			_, err := heuristics[name](ended, g, table, needs, o)
			require.ErrorIs(t, err, context.Canceled)
		})
	}
}

func TestModularOnOneThread(t *testing.T) {
	g, table, needs, o := frequencies(t, []*tabular.Tree{branching("a", 4, 3), branching("b", 3, 2)}, 1500, 6)
	many, err := Modular(ctx, g, table, needs, o)
	require.NoError(t, err)
	require.NotEmpty(t, many.Secondary)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	one, err := Modular(ctx, g, table, needs, o)
	require.NoError(t, err)
	require.Equal(t, many, one)
}

func TestHeuristicsRefuse(t *testing.T) {
	g, table := table(t, []*tabular.Tree{flat("r", 2, 'A'), flat("c", 3, 'E')}, []int64{5, 1, 2, 0, 3, 4})
	for name, method := range heuristics {
		for cell, need := range map[string]Need{"AE": {Upper: 1}, "AF": {Upper: 3}} { // alone in its column; more than there is
			need.Cell = named(t, g, cell)[0]
			_, err := method(ctx, g, table, []Need{need}, Options{Cost: table.Values, Protected: inner(g)})
			var none *InfeasibleError
			require.ErrorAs(t, err, &none, name)
			require.Equal(t, need.Cell, none.Cell)
		}
		_, err := method(ctx, g, table, []Need{{Cell: 7}}, Options{Cost: units(1)})
		require.ErrorContains(t, err, "costs, protected cells and a start are of 1", name)
		p, err := method(ctx, g, table, nil, Options{Cost: table.Values, Start: pattern(g.Cells(), named(t, g, "AE", "BG")...)})
		require.NoError(t, err)
		require.Empty(t, p.Secondary, "what nobody needs is shown: %s", name)
	}
}

// Proofs that are kept while cells are shown and hidden agree with those of an audit that begins anew.
func TestProofsAreCurrent(t *testing.T) {
	r := rand.New(rand.NewPCG(41, 42))
	for k := range 60 {
		_, table, needs, o := drawn(t, r, k)
		s, err := newSearch(ctx, table, needs, o)
		require.NoError(t, err)
		p := s.proofs(s.begun(), make([]float64, table.System.Cells))
		for range 30 {
			c := int32(r.IntN(table.System.Cells))
			if !s.free[c] || s.primary[c] {
				continue
			}
			if p.hidden[c] {
				p.a.forget([]int32{c})
				p.hidden[c] = false
			} else {
				p.add([]int32{c})
			}
			for _, n := range s.needs {
				kept, _, err := p.a.prove(n)
				require.NoError(t, err)
				fresh := s.auditor(ctx, p.hidden, o.Insider)
				fresh.brief = true
				anew, _, err := fresh.prove(n)
				require.NoError(t, err)
				require.Equal(t, anew.Verdict == Pass, kept.Verdict == Pass)
			}
		}
	}
}
