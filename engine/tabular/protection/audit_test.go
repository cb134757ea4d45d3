package protection

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"microrisk/engine/tabular"
)

var ctx = context.Background()

func intervals(t *testing.T, g *tabular.Grid, table *Table, hidden []string, want map[string]Interval) {
	cells := named(t, g, hidden...)
	got, err := Intervals(ctx, table, pattern(table.System.Cells, cells...), cells)
	require.NoError(t, err)
	all := make(map[string]Interval)
	for i, name := range hidden {
		all[name] = got[i]
	}
	require.Equal(t, want, all)
}

func TestTVD1a(t *testing.T) {
	g, table := t0(t)
	intervals(t, g, table, []string{"AF", "BE"}, map[string]Interval{"AF": {3, 3}, "BE": {1, 1}})
}

func TestTVD1b(t *testing.T) {
	g, table := t0(t)
	intervals(t, g, table, []string{"AF", "AG", "BE", "BG", "DE", "DF"}, map[string]Interval{"AF": {0, 4}, "AG": {36, 40}, "BE": {0, 4},
		"BG": {9, 13}, "DE": {16, 20}, "DF": {15, 19}})
}

func TestTVD1c(t *testing.T) {
	g, table := table(t, []*tabular.Tree{flat("r", 4, '1'), flat("c", 4, '1')}, []int64{5, 6, 3, 9, 7, 4, 8, 9, 9, 9, 6, 5, 9, 9, 4, 7})
	hidden := []string{"11", "12", "21", "22", "33", "34", "43", "44", "13"}
	intervals(t, g, table, hidden, map[string]Interval{"11": {1, 11}, "12": {0, 10}, "21": {1, 11}, "22": {0, 10}, "33": {0, 10},
		"34": {1, 11}, "43": {0, 10}, "44": {1, 11}, "13": {3, 3}})
	needs := []Need{{Cell: named(t, g, "13")[0]}, {Cell: named(t, g, "11")[0], Upper: 7}}
	r, err := Audit(ctx, table, pattern(table.System.Cells, named(t, g, hidden...)...), needs, InsiderExact)
	require.NoError(t, err)
	require.Equal(t, Exact, r.Findings[0].Verdict)
	require.Equal(t, Under, r.Findings[1].Verdict)
	require.Len(t, r.Failed(), 2)
	require.Equal(t, 1, r.Components)
	require.Equal(t, 9, r.Largest)
}

func TestTVD1d(t *testing.T) {
	g, table := t0(t)
	intervals(t, g, table, []string{"AE", "AF", "BE", "BF"}, map[string]Interval{"AE": {8, 24}, "AF": {2, 18}, "BE": {0, 16}, "BF": {0, 16}})
}

// Margins hidden too: there is no end, and an interval that everybody knows beforehand has one.
func TestHiddenMargins(t *testing.T) {
	g, table := t0(t)
	hidden := []string{"AF", "A.", ".F", ".."}
	intervals(t, g, table, hidden, map[string]Interval{"AF": {0, tabular.NoLimit}, "A.": {78, tabular.NoLimit}, ".F": {74, tabular.NoLimit},
		"..": {401, tabular.NoLimit}})
	table.High = make([]int64, len(table.Values))
	for i, x := range table.Values {
		table.High[i] = 4 * x
	}
	intervals(t, g, table, hidden, map[string]Interval{"AF": {0, 12}, "A.": {78, 90}, ".F": {74, 86}, "..": {401, 413}})
}

// Two-way tables with one hierarchy are networks, whatever is hidden; with two they need not be.
func TestNetworks(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		_, table := random(t, r, []*tabular.Tree{grown(r, "r", 3+r.IntN(6)), flat("c", 1+r.IntN(4), 'A')}, 9, 6)
		p, err := newPlan(table, nil)
		require.NoError(t, err)
		cells := make([]int32, table.System.Cells)
		for i := range cells {
			cells[i] = int32(i)
		}
		require.NotNil(t, newNetwork(p.area(cells)))
	}
}

// What is left out follows from the rest: any values that fit the rest fit all.
func TestImplied(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for k := range 40 {
		trees := []*tabular.Tree{grown(r, "r", 3+r.IntN(3)), grown(r, "c", 3)}
		if k%2 == 0 {
			trees = append(trees, flat("l", 2, 'A'))
		}
		_, table := random(t, r, trees, 9, 6)
		out := implied(table.System)
		all, kept := rank(table.System, nil), rank(table.System, out)
		require.Equal(t, all, kept)
		require.Contains(t, out, true)
	}
}

// rank is that of the equations that are not left out, modulo a prime.
func rank(s *tabular.System, out []bool) int {
	const prime = 1_000_003
	var rows [][]int64
	for e := range s.Equations {
		if out != nil && out[e] {
			continue
		}
		row := make([]int64, s.Cells)
		s.Equations[e].Each(func(c int32, sign int64) { row[c] = (sign + prime) % prime })
		for _, b := range rows {
			lead := 0
			for b[lead] == 0 {
				lead++
			}
			if f := row[lead]; f != 0 {
				for j := range row {
					row[j] = ((row[j]-f*b[j])%prime + prime) % prime
				}
			}
		}
		for _, v := range row {
			if v != 0 {
				inverse := int64(1)
				for k, base := prime-2, v; k > 0; k >>= 1 {
					if k&1 == 1 {
						inverse = inverse * base % prime
					}
					base = base * base % prime
				}
				for j := range row {
					row[j] = row[j] * inverse % prime
				}
				rows = append(rows, row)
				break
			}
		}
	}
	return len(rows)
}

// draws are random trees, from two-way tables to three-way ones with hierarchies.
func draws(r *rand.Rand, k int) []*tabular.Tree {
	switch k % 4 {
	case 0:
		return []*tabular.Tree{flat("r", 2+r.IntN(3), 'A'), flat("c", 2+r.IntN(3), 'A')}
	case 1:
		return []*tabular.Tree{grown(r, "r", 3+r.IntN(3)), flat("c", 2+r.IntN(2), 'A')}
	case 2:
		return []*tabular.Tree{grown(r, "r", 3+r.IntN(2)), grown(r, "c", 3)}
	}
	return []*tabular.Tree{flat("r", 2+r.IntN(2), 'A'), flat("c", 2+r.IntN(2), 'A'), flat("l", 2+r.IntN(2), 'A')}
}

func TestIntervalsAgainstOracle(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for k := range 300 {
		_, table := random(t, r, draws(r, k), 20, 6)
		n := table.System.Cells
		if k%3 == 0 {
			table.Low, table.High = make([]int64, n), make([]int64, n)
			for i, x := range table.Values {
				table.Low[i], table.High[i] = x-r.Int64N(x+3), x+r.Int64N(2*x+3)
				if k%2 == 0 && r.IntN(3) > 0 { // nobody knows an end
					table.Low[i], table.High[i] = NoLow, tabular.NoLimit
				}
			}
		}
		hidden := make([]bool, n)
		var cells []int32
		for i := range hidden {
			if hidden[i] = r.IntN(5) < 2; hidden[i] {
				cells = append(cells, int32(i))
			}
		}
		got, err := Intervals(ctx, table, hidden, cells)
		require.NoError(t, err)
		for i, c := range cells {
			x := table.Values[c]
			down, up := furthest(table, hidden, c, false), furthest(table, hidden, c, true)
			want := Interval{NoLow, tabular.NoLimit}
			if !math.IsInf(down, 1) {
				want.Low = x - int64(math.Floor(down+1e-7))
			}
			if !math.IsInf(up, 1) {
				want.High = x + int64(math.Floor(up+1e-7))
			}
			require.Equal(t, want, got[i], "table %d, cell %d", k, c)
		}
	}
}

// Verdicts of all attackers, also of holders who know their own cells.
func TestAuditAgainstOracle(t *testing.T) {
	tables := draw(t, 400)
	r := rand.New(rand.NewPCG(7, 8))
	count := map[Verdict]int{}
	insiders := 0
	for k := range tables {
		_, table := random(t, r, draws(r, k), 12, 6)
		n := table.System.Cells
		hidden := make([]bool, n)
		table.Sole = make([]int64, n)
		var needs []Need
		for i := range hidden {
			if hidden[i] = r.IntN(2) == 0; hidden[i] {
				if r.IntN(3) == 0 {
					table.Sole[i] = 1 + r.Int64N(4)
				}
				if r.IntN(2) == 0 {
					needs = append(needs, Need{int32(i), r.Int64N(4), r.Int64N(4), r.Int64N(4)})
				}
			}
		}
		for _, mode := range []Insider{InsiderExact, InsiderFull, InsiderOff} {
			report, err := Audit(ctx, table, hidden, needs, mode)
			require.NoError(t, err)
			for i, need := range needs {
				want, by := safe(table, hidden, need, 0), int64(0)
				asked := need
				if mode == InsiderExact {
					asked = Need{Cell: need.Cell}
				}
				for h := int64(1); h <= 4 && want && mode != InsiderOff; h++ {
					if h != table.Sole[need.Cell] && !safe(table, hidden, asked, h) {
						want, by = false, h
					}
				}
				f := report.Findings[i]
				count[f.Verdict]++
				require.Equal(t, want, f.Verdict == Pass, "table %d, need %v, %v", k, need, f)
				require.Equal(t, by, f.Holder)
				if by > 0 {
					insiders++
				}
				down, up := furthest(table, hidden, need.Cell, false), furthest(table, hidden, need.Cell, true)
				require.GreaterOrEqual(t, float64(f.Low), float64(table.Values[need.Cell])-down-1e-7)
				require.True(t, f.High == tabular.NoLimit || float64(f.High) <= float64(table.Values[need.Cell])+up+1e-7)
			}
		}
	}
	require.Greater(t, min(count[Pass], count[Under], count[Exact], insiders), tables/8)
}

func TestAuditRefuses(t *testing.T) {
	_, table := t0(t)
	n := table.System.Cells
	hidden := make([]bool, n)
	for want, try := range map[string]func() error{
		"a pattern of 1 cells, where the table has 25": func() error { _, err := Audit(ctx, table, hidden[:1], nil, InsiderExact); return err },
		"cell 25 has a need, where there are 25":       func() error { _, err := Audit(ctx, table, hidden, []Need{{Cell: 25}}, InsiderExact); return err },
		"cell 7 has two needs": func() error {
			_, err := Audit(ctx, table, hidden, []Need{{Cell: 7}, {Cell: 7}}, InsiderExact)
			return err
		},
		"cell 7 needs -1 below": func() error {
			_, err := Audit(ctx, table, hidden, []Need{{Cell: 7, Lower: -1}}, InsiderExact)
			return err
		},
		"there are 1 upper bounds, of 25 cells": func() error {
			_, err := Intervals(ctx, &Table{System: table.System, Values: table.Values, High: make([]int64, 1)}, hidden, nil)
			return err
		},
		"cell 0 has the value 404, outside what is known beforehand, 0 to 0": func() error {
			_, err := Intervals(ctx, &Table{System: table.System, Values: table.Values, High: make([]int64, n)}, hidden, nil)
			return err
		},
		"cell 0 has the value 9007199254740993 and the bounds": func() error {
			_, err := Intervals(ctx, &Table{System: &tabular.System{Cells: 1}, Values: []int64{MaxValue + 1}}, hidden[:1], nil)
			return err
		},
		"equation 0 has a cell 3, of 1": func() error {
			s := &tabular.System{Cells: 1, Equations: []tabular.Equation{{Total: 0, Parts: []int32{3}}}}
			_, err := Intervals(ctx, &Table{System: s, Values: []int64{1}}, hidden[:1], nil)
			return err
		},
	} {
		require.ErrorContains(t, try(), want)
	}
	ended, cancel := context.WithCancel(ctx)
	cancel()
	hidden[0] = true
	_, err := Audit(ended, table, hidden, []Need{{Cell: 0}}, InsiderExact)
	require.ErrorIs(t, err, context.Canceled)
}

// A network's linear program says the same as its flows, for small values and large ones.
func TestLinearAgainstFlows(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	for k := range 100 {
		_, table := random(t, r, draws(r, k%2), 50, 6)
		factor := []int64{1, 1_000_003, 1e12}[k%3]
		for i, x := range table.Values {
			table.Values[i] = x * factor
		}
		if k%4 == 3 { // no cell has an end
			table.Low = slices.Repeat([]int64{NoLow}, len(table.Values))
		}
		p, err := newPlan(table, nil)
		require.NoError(t, err)
		hidden := make([]bool, table.System.Cells)
		for i := range hidden {
			hidden[i] = r.IntN(2) == 0
		}
		for _, cells := range table.System.Components(hidden) {
			a := p.area(cells)
			n, l := newNetwork(a), newLinear(a, &effort{ctx: ctx})
			for j := range cells {
				for _, up := range []bool{false, true} {
					want := []int64{infinite, factor, 1}[r.IntN(3)]
					flow, _, err := n.reach(int32(j), up, want)
					require.NoError(t, err)
					linear, _, err := l.reach(int32(j), up, want)
					require.NoError(t, err)
					require.Equal(t, min(flow, want), min(linear, want))
				}
			}
		}
	}
}

// Who looks on is told of each need that was tried.
func TestTelling(t *testing.T) {
	table, needs, _ := hard(t)
	hidden := make([]bool, len(table.Values))
	for _, n := range needs {
		hidden[n.Cell] = true
	}
	var told []int
	_, err := Audit(Telling(ctx, func(done, all int) {
		require.Equal(t, len(needs), all)
		told = append(told, done)
	}), table, hidden, needs, InsiderExact)
	require.NoError(t, err)
	require.Len(t, told, len(needs))
	require.Equal(t, len(needs), told[len(told)-1])
}
