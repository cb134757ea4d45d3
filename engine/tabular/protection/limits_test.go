package protection

import (
	"context"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"microrisk/engine/tabular"
)

func TestInfeasible(t *testing.T) {
	g, table := table(t, []*tabular.Tree{flat("r", 2, 'A'), flat("c", 3, 'E')}, []int64{5, 1, 2, 0, 3, 4})
	cell := named(t, g, "AE")[0]
	for name, try := range map[string]struct {
		need Need
		want InfeasibleError
	}{
		"alone in its column": {Need{Cell: cell, Upper: 1}, InfeasibleError{Cell: cell, Above: true, Need: 1}},
		"too much":            {Need{named(t, g, "AF")[0], 0, 3, 0}, InfeasibleError{Cell: named(t, g, "AF")[0], Above: true, Need: 3, Reach: 2}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Optimal(ctx, table, []Need{try.need}, Options{Cost: table.Values, Protected: inner(g)})
			var none *InfeasibleError
			require.ErrorAs(t, err, &none)
			if none.Equation >= 0 {
				in := false
				table.System.Equations[none.Equation].Each(func(c int32, _ int64) { in = in || c == try.need.Cell })
				require.True(t, in)
				require.NotZero(t, name == "alone in its column")
			}
			none.Equation = 0
			require.Equal(t, try.want, *none)
			require.ErrorContains(t, err, "let a margin be hidden")
		})
	}
	_, err := Optimal(ctx, table, []Need{{Cell: cell, Upper: 1}}, Options{Cost: table.Values}) // all margins may be hidden
	require.NoError(t, err)
}

// A sole contributor who is alone with another's cell in an equation would find it: a third cell is hidden.
func TestSoleContributor(t *testing.T) {
	g, table := t0(t)
	o := Options{Cost: table.Values, Protected: inner(g)}
	cells := named(t, g, "AF", "BE", "BF")
	table.Sole = make([]int64, g.Cells())
	table.Sole[cells[1]] = 7
	needs := []Need{{Cell: cells[0], Lower: 1, Upper: 1}, {Cell: cells[1], Lower: 1, Upper: 1}, {Cell: cells[2], Lower: 1, Upper: 1}}
	p, err := Optimal(ctx, table, needs, o)
	require.NoError(t, err)
	third := 0
	for _, name := range []string{"BG", "BH"} {
		if p.Hidden[named(t, g, name)[0]] {
			third++
		}
	}
	require.Positive(t, third)
	o.Insider = InsiderOff
	cheaper, err := Optimal(ctx, table, needs, o)
	require.NoError(t, err)
	require.Equal(t, []string{"AE"}, names(g, cheaper.Secondary))
	require.Less(t, cheaper.Cost, p.Cost)
	table.Sole[cells[2]] = 7 // his own cells are no secret to him
	report, err := Audit(ctx, table, cheaper.Hidden, needs, InsiderExact)
	require.NoError(t, err)
	require.Equal(t, []Finding{{needs[0], Exact, 7, Interval{3, 3}}}, report.Failed())
}

// hard is a table that takes a while.
func hard(t testing.TB) (*Table, []Need, Options) {
	r := rand.New(rand.NewPCG(13, 14))
	g, table := random(t, r, []*tabular.Tree{flat("r", 7, 'A'), flat("c", 6, 'A'), flat("l", 3, 'A')}, 40, 9)
	var needs []Need
	for c, x := range table.Values {
		if !g.Margin(c) && x > 0 && x < 5 {
			needs = append(needs, Need{Cell: int32(c), Lower: x, Upper: x})
		}
	}
	return table, needs, Options{Cost: table.Values, Protected: pattern(g.Cells(), 0)}
}

func TestLimits(t *testing.T) {
	table, needs, o := hard(t)
	o.Nodes = 1
	p, err := Optimal(ctx, table, needs, o)
	require.NoError(t, err)
	require.Equal(t, "limit", p.Solver)
	require.False(t, p.Proven())
	require.Positive(t, p.Bound)
	require.Greater(t, 1.0, p.Gap())
	again, err := Optimal(ctx, table, needs, o)
	require.NoError(t, err)
	require.Equal(t, p, again)
	for _, d := range []time.Duration{0, time.Millisecond, 5 * time.Millisecond, 30 * time.Millisecond, 100 * time.Millisecond} {
		soon, cancel := context.WithTimeout(ctx, d)
		p, err = Optimal(soon, table, needs, o)
		cancel()
		if err != nil {
			require.ErrorIs(t, err, context.DeadlineExceeded)
			continue
		}
		report, err := Audit(ctx, table, p.Hidden, needs, InsiderExact)
		require.NoError(t, err)
		require.Empty(t, report.Failed())
	}
	ended, cancel := context.WithCancel(ctx)
	cancel()
	_, err = Optimal(ended, table, needs, o)
	require.ErrorIs(t, err, context.Canceled)
}

// A start that is safe is there whatever happens, and what limits end says so.
func TestSafeStart(t *testing.T) {
	table, needs, o := hard(t)
	all, err := Optimal(ctx, table, needs, Options{Cost: o.Cost, Protected: o.Protected, Nodes: 1})
	require.NoError(t, err)
	o.Start, o.Safe = all.Hidden, true
	ended, cancel := context.WithTimeout(ctx, 0)
	defer cancel()
	p, err := Optimal(ended, table, needs, o)
	require.NoError(t, err)
	require.True(t, p.Stopped)
	require.Equal(t, all.Hidden, p.Hidden)
	require.Equal(t, all.Secondary, p.Secondary)
	require.Equal(t, 1., p.Gap())

	o.Most = time.Nanosecond // what comes first is not cut off by it
	p, err = Optimal(ctx, table, needs, o)
	require.NoError(t, err)
	require.True(t, p.Stopped)
	require.LessOrEqual(t, p.Cost, all.Cost)
	require.Positive(t, p.Bound)
	report, err := Audit(ctx, table, p.Hidden, needs, InsiderExact)
	require.NoError(t, err)
	require.Empty(t, report.Failed())
}

// A sub-table whose search is ended has the best pattern so far, and says that it was.
func TestModularStops(t *testing.T) {
	if testing.Short() {
		t.Skip("long, and of one goroutine")
	}
	g, table, needs, o := frequencies(t, []*tabular.Tree{branching("a", 8), branching("b", 8), branching("c", 3)}, 4000, 5)
	o.Most = time.Nanosecond
	p, err := Modular(ctx, g, table, needs, o)
	require.NoError(t, err)
	require.True(t, p.Stopped)
	report, err := Audit(ctx, table, p.Hidden, needs, o.Insider)
	require.NoError(t, err)
	require.Empty(t, report.Failed())
}

// A start that is not safe is made so, and one that hides too much shows it again.
func TestStart(t *testing.T) {
	g, table := t0(t)
	needs := percent(table, 30, named(t, g, "AF", "BE")...)
	for _, start := range [][]bool{make([]bool, g.Cells()), pattern(g.Cells(), named(t, g, "AG", "CH", "DH", "DE")...)} {
		p, err := Optimal(ctx, table, needs, Options{Cost: table.Values, Protected: inner(g), Start: start})
		require.NoError(t, err)
		require.Equal(t, []string{"AE", "BF"}, names(g, p.Secondary))
	}
}

func TestOptimalRefuses(t *testing.T) {
	_, table := t0(t)
	n := table.System.Cells
	for want, try := range map[string]struct {
		needs []Need
		o     Options
	}{
		"cell 7 has a need and is protected":          {[]Need{{Cell: 7}}, Options{Cost: units(n), Protected: pattern(n, 7)}},
		"costs, protected cells and a start are of 1": {nil, Options{Cost: units(1)}},
		"cell 3 has the cost -1":                      {nil, Options{Cost: append([]int64{0, 0, 0, -1}, units(n-4)...)}},
		"cell 7 has two needs":                        {[]Need{{Cell: 7}, {Cell: 7}}, Options{Cost: units(n)}},
	} {
		_, err := Optimal(ctx, table, try.needs, try.o)
		require.ErrorContains(t, err, want)
	}
	p, err := Optimal(ctx, table, nil, Options{Cost: units(n)})
	require.NoError(t, err)
	require.True(t, p.Proven())
	require.Empty(t, p.Secondary)
}
