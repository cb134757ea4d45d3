package adjustment

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"microrisk/engine/tabular"
	"microrisk/engine/tabular/protection"
)

// moves are all ways in which the cells of a table can differ from its values by up to reach, where protected ones do not.
func moves(g *tabular.Grid, reach int64, fixed []bool) [][]int64 {
	var leaves []int
	for cell := range g.Cells() {
		if g.Leaf(cell) {
			leaves = append(leaves, cell)
		}
	}
	var list [][]int64
	y := make([]int64, g.Cells())
	var try func(i int)
	try = func(i int) {
		if i < len(leaves) {
			for d := -reach; d <= reach; d++ {
				y[leaves[i]] = d
				try(i + 1)
			}
			return
		}
		_ = g.Sum(y)
		for cell, d := range y {
			if abs(d) > reach || fixed[cell] && d != 0 {
				return
			}
		}
		list = append(list, slices.Clone(y))
	}
	try(0)
	return list
}

// least is the least loss of whole intervals that let every need's cell move as it has to by one of the ways, by trying them all; -1 for none.
func least(g *tabular.Grid, t *protection.Table, needs []protection.Need, cost []int64, fixed []bool, reach int64) int64 {
	list := moves(g, reach, fixed)
	down, up := make([]int64, g.Cells()), make([]int64, g.Cells())
	best := int64(-1)
	reaches := func(y []int64) bool {
		for cell, d := range y {
			if d > up[cell] || -d > down[cell] {
				return false
			}
		}
		return true
	}
	safe := func() bool {
		for _, n := range needs {
			above, below := int64(0), int64(0)
			for _, y := range list {
				if (y[n.Cell] > above || -y[n.Cell] > below) && reaches(y) {
					above, below = max(above, y[n.Cell]), max(below, -y[n.Cell])
				}
			}
			if above < n.Upper || below < n.Lower || above+below < max(1, n.Sliding) {
				return false
			}
		}
		return true
	}
	var try func(cell int, loss int64)
	try = func(cell int, loss int64) {
		switch {
		case best >= 0 && loss >= best:
			return
		case cell == len(down):
			if safe() {
				best = loss
			}
			return
		case fixed[cell]:
			try(cell+1, loss)
			return
		}
		x := t.Values[cell]
		for l := int64(0); l <= x-t.Low[cell]; l++ {
			for u := int64(0); u <= t.High[cell]-x; u++ {
				down[cell], up[cell] = l, u
				try(cell+1, loss+cost[cell]*(l+u))
			}
		}
		down[cell], up[cell] = 0, 0
	}
	try(0, 0)
	return best
}

// Intervals cost as little as any, or there are none by brute force either.
func TestIntervalsAgainstBruteForce(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 14))
	found, never := 0, 0
	for _, c := range []struct {
		shape   tabular.Shape
		reach   int64
		margins bool // published exactly
		times   int
	}{{tabular.Shape{2, 2}, 3, true, 30}, {tabular.Shape{2, 3}, 1, true, 30}, {tabular.Shape{2, 2}, 1, false, 12}, {tabular.Shape{2, 2, 2}, 1, true, 12}} {
		for range c.times {
			g, values := drawn(t, r, c.shape, 6)
			n := g.Cells()
			table := &protection.Table{System: g.System(), Values: values, Low: make([]int64, n), High: make([]int64, n)}
			cost, fixed := make([]int64, n), make([]bool, n)
			var needs []protection.Need
			for cell, x := range values {
				table.Low[cell], table.High[cell] = max(0, x-c.reach), x+c.reach
				cost[cell] = 1 + r.Int64N(4)
				fixed[cell] = c.margins && g.Margin(cell) || x == 0
				if x > 0 && !fixed[cell] && len(needs) < 2 && r.IntN(3) == 0 {
					needs = append(needs, protection.Need{Cell: int32(cell), Lower: min(x, r.Int64N(c.reach+1)), Upper: r.Int64N(c.reach + 1)})
				}
			}
			want := least(g, table, needs, cost, fixed, c.reach)
			got, err := Intervals(context.Background(), table, needs, Options{Cost: cost, Protected: fixed, Insider: protection.InsiderOff})
			if want < 0 {
				var e *CellError
				require.ErrorAs(t, err, &e)
				never++
				continue
			}
			require.NoError(t, err)
			require.Equal(t, want, got.Loss, "%v %v", values, needs)
			require.True(t, got.Optimal(), "%v of %v", got.Bound, got.Loss)
			found++
		}
	}
	require.Greater(t, found, 40)
	require.Greater(t, never, 3)
}

// published checks intervals by an audit of their own, without what the package keeps.
func published(t *testing.T, table *protection.Table, needs []protection.Need, insider protection.Insider, w *Widths, cost []int64) {
	loss := int64(0)
	open := make([]bool, len(w.Low))
	for cell, x := range table.Values {
		require.True(t, w.Low[cell] <= x && x <= w.High[cell])
		require.GreaterOrEqual(t, w.Low[cell], int64(0))
		open[cell] = w.Low[cell] < w.High[cell]
		loss += cost[cell] * (w.High[cell] - w.Low[cell])
	}
	require.Equal(t, w.Open, open)
	require.Equal(t, loss, w.Loss)
	require.LessOrEqual(t, w.Bound, float64(loss)+1e-6)
	known := &protection.Table{System: table.System, Values: table.Values, Low: w.Low, High: w.High, Sole: table.Sole}
	var cells []int32
	for _, n := range needs {
		cells = append(cells, n.Cell)
	}
	list, err := protection.Intervals(context.Background(), known, open, cells)
	require.NoError(t, err)
	for i, n := range needs {
		x := table.Values[n.Cell]
		require.LessOrEqual(t, list[i].Low, x-min(n.Lower, x), "cell %d", n.Cell)
		require.GreaterOrEqual(t, list[i].High, x+n.Upper, "cell %d", n.Cell)
		require.GreaterOrEqual(t, list[i].High-list[i].Low, max(1, n.Sliding))
	}
	r, err := protection.Audit(context.Background(), known, open, needs, insider)
	require.NoError(t, err)
	require.Empty(t, r.Failed())
}

// small are the needs of counts below 5, and what is not hidden beside them.
func small(g *tabular.Grid, values []int64) (needs []protection.Need, protected []bool, cost []int64) {
	protected, cost = make([]bool, len(values)), make([]int64, len(values))
	for cell, x := range values {
		protected[cell], cost[cell] = g.Margin(cell), 1
		if x > 0 && x < 5 && g.Leaf(cell) {
			needs = append(needs, protection.Need{Cell: int32(cell), Lower: 1, Upper: 2})
		}
	}
	return needs, protected, cost
}

// The loss is never above that of the audited cheapest suppression, whose intervals are a choice too; and it is below it mostly.
func TestIntervalsLoseLessThanSuppression(t *testing.T) {
	r := rand.New(rand.NewPCG(15, 16))
	less, compared := 0, 0
	for k := range 24 {
		g, values := drawn(t, r, []tabular.Shape{{4, 4}, {5, 6}, {3, 3, 3}, {2, 3, 4}}[k%4], 14)
		table := &protection.Table{System: g.System(), Values: values, Grid: g}
		needs, protected, cost := small(g, values)
		insider := protection.InsiderOff
		if k%8 >= 4 { // holders of the 1s
			insider = protection.InsiderExact
			table.Sole = make([]int64, len(values))
			for cell, x := range values {
				if x == 1 && g.Leaf(cell) {
					table.Sole[cell] = int64(cell)
				}
			}
		}
		pattern, err := protection.Optimal(context.Background(), table, needs, protection.Options{Cost: cost, Protected: protected, Insider: insider})
		o := Options{Cost: cost, Protected: protected, Insider: insider, Nodes: 3000}
		if err != nil {
			var never *protection.InfeasibleError
			require.ErrorAs(t, err, &never)
			_, err = Intervals(context.Background(), table, needs, o)
			var e *CellError
			require.ErrorAs(t, err, &e)
			continue
		}
		alone, err := Intervals(context.Background(), table, needs, o)
		require.NoError(t, err)
		published(t, table, needs, insider, alone, cost)
		o.Start = pattern.Hidden
		got, err := Intervals(context.Background(), table, needs, o)
		require.NoError(t, err)
		published(t, table, needs, insider, got, cost)
		var cells []int32
		for cell, h := range pattern.Hidden {
			if h {
				cells = append(cells, int32(cell))
			}
		}
		list, err := protection.Intervals(context.Background(), table, pattern.Hidden, cells)
		require.NoError(t, err)
		loss := int64(0)
		for _, i := range list {
			loss += i.High - i.Low
		}
		require.LessOrEqual(t, got.Loss, loss)
		require.LessOrEqual(t, got.Bound, float64(alone.Loss)+1e-6)
		compared++
		if got.Loss < loss {
			less++
		}
	}
	require.Greater(t, compared, 10)
	require.Greater(t, less, compared/2)
}

// T0 with counts below 5 as AF, BE and CH: by hand, a ring of six cells that each move by as much.
func TestIntervalsOfT0(t *testing.T) {
	g, values := t0(t)
	table := &protection.Table{System: g.System(), Values: values, Grid: g}
	_, protected, cost := small(g, values)
	needs := []protection.Need{{Cell: at(g, 1, 2), Lower: 1, Upper: 1}, {Cell: at(g, 2, 1), Lower: 1, Upper: 1}, {Cell: at(g, 3, 4), Lower: 1, Upper: 1}}
	w, err := Intervals(context.Background(), table, needs, Options{Cost: cost, Protected: protected, Insider: protection.InsiderOff})
	require.NoError(t, err)
	published(t, table, needs, protection.InsiderOff, w, cost)
	require.EqualValues(t, 12, w.Loss)
	require.True(t, w.Optimal())
}

// Who takes the middle of an interval finds what is there without chance, and hardly more than by guessing with it; the same for ends.
func TestTheMiddleTellsNothing(t *testing.T) {
	g, values := t0(t)
	table := &protection.Table{System: g.System(), Values: values, Grid: g}
	_, protected, cost := small(g, values)
	cell := at(g, 1, 1) // 23
	needs := []protection.Need{{Cell: cell, Lower: 3, Upper: 3}}
	plain, err := Intervals(context.Background(), table, needs, Options{Cost: cost, Protected: protected})
	require.NoError(t, err)
	require.Equal(t, plain.Low[cell]+plain.High[cell], 2*values[cell], "without chance the middle is the value")
	const n = 300
	middle, ends, guesses := 0.0, 0.0, 0.0
	places := map[int64]bool{}
	for i := range n {
		o := Options{Cost: cost, Protected: protected, Draws: byNumber(fmt.Sprint("secret", i)), Spread: 1}
		w, err := Intervals(context.Background(), table, needs, o)
		require.NoError(t, err)
		published(t, table, w.Needs, protection.InsiderExact, w, cost)
		require.GreaterOrEqual(t, w.Needs[0].Lower, int64(3))
		if w.Low[cell]+w.High[cell] == 2*values[cell] {
			middle++
		}
		places[values[cell]-w.Low[cell]] = true
		e, guess := endings(w, values)
		ends, guesses = ends+e, guesses+guess
	}
	require.InDelta(t, 1./7, middle/n, 5*math.Sqrt(6./49/n), "the two distances are drawn from 3 to 9 each")
	require.Len(t, places, 7)
	require.Less(t, ends, 1.5*guesses)
}

// endings is how many open cells have their value at an end, and how many would if it were anywhere within alike.
func endings(w *Widths, values []int64) (ends, guesses float64) {
	for cell, is := range w.Open {
		if !is {
			continue
		}
		guesses += 2 / float64(w.High[cell]-w.Low[cell]+1)
		if w.Low[cell] == values[cell] || w.High[cell] == values[cell] {
			ends++
		}
	}
	return ends, guesses
}

// One-sided needs put values at ends, which chance takes away.
func TestEndsTellNothing(t *testing.T) {
	g, values := t0(t)
	table := &protection.Table{System: g.System(), Values: values, Grid: g}
	_, protected, cost := small(g, values)
	needs := []protection.Need{{Cell: at(g, 1, 1), Upper: 4}}
	plain, err := Intervals(context.Background(), table, needs, Options{Cost: cost, Protected: protected})
	require.NoError(t, err)
	for cell, is := range plain.Open {
		require.True(t, !is || plain.Low[cell] == values[cell] || plain.High[cell] == values[cell])
	}
	ends, guesses := 0.0, 0.0
	for i := range 50 {
		o := Options{Cost: cost, Protected: protected, Draws: byNumber(fmt.Sprint(i)), Spread: 1}
		w, err := Intervals(context.Background(), table, needs, o)
		require.NoError(t, err)
		published(t, table, w.Needs, protection.InsiderExact, w, cost)
		e, guess := endings(w, values)
		ends, guesses = ends+e, guesses+guess
	}
	require.Less(t, ends, 1.5*guesses)
}

func TestRefusalsOfIntervals(t *testing.T) {
	g, values := t0(t)
	table := &protection.Table{System: g.System(), Values: values}
	_, protected, cost := small(g, values)
	cell := at(g, 1, 2)
	high := slices.Repeat([]int64{tabular.NoLimit}, len(values))
	high[cell] = 4
	row := slices.Clone(protected)
	for c := range int32(5) {
		row[at(g, 1, c)] = c != 2
	}
	for want, c := range map[string]struct {
		needs []protection.Need
		o     Options
		high  []int64
	}{
		"costs, protected cells and a start":           {o: Options{Cost: cost[1:]}},
		"has two needs":                                {[]protection.Need{{Cell: 3}, {Cell: 3}}, Options{Cost: cost}, nil},
		"none of 25 cells":                             {[]protection.Need{{Cell: -1}}, Options{Cost: cost}, nil},
		"each is 0 to 2^53":                            {[]protection.Need{{Cell: cell, Upper: -1}}, Options{Cost: cost}, nil},
		"is protected: its interval":                   {[]protection.Need{{Cell: 0, Upper: 1}}, Options{Cost: cost, Protected: protected}, nil},
		"everybody knows that it is from 3 below to 1": {[]protection.Need{{Cell: cell, Upper: 2}}, Options{Cost: cost}, high},
		"let totals have intervals":                    {[]protection.Need{{Cell: cell, Upper: 2}}, Options{Cost: cost, Protected: row}, nil},
		"levels are raised by":                         {o: Options{Cost: cost, Spread: math.NaN()}},
	} {
		at := *table
		at.High = c.high
		_, err := Intervals(context.Background(), &at, c.needs, c.o)
		require.ErrorContains(t, err, want)
	}
	gone, stop := context.WithCancel(context.Background())
	stop()
	_, err := Intervals(gone, table, []protection.Need{{Cell: cell, Upper: 2}}, Options{Cost: cost})
	require.ErrorIs(t, err, context.Canceled)
	late, end := context.WithDeadline(context.Background(), time.Now().Add(-time.Second))
	defer end()
	_, err = Intervals(late, table, []protection.Need{{Cell: cell, Upper: 2}}, Options{Cost: cost})
	require.True(t, errors.Is(err, context.DeadlineExceeded), "%v", err)
}

// A fuse is a context whose deadline passes after it has been asked so often.
type fuse struct {
	context.Context
	left *int
}

func (f fuse) Err() error {
	if *f.left--; *f.left < 0 {
		return context.DeadlineExceeded
	}
	return nil
}

// Wherever a deadline passes, there is a safe choice or an error that says so.
func TestDeadlines(t *testing.T) {
	r := rand.New(rand.NewPCG(19, 20))
	g, values := drawn(t, r, tabular.Shape{3, 3, 3}, 14)
	table := &protection.Table{System: g.System(), Values: values, Grid: g}
	needs, protected, cost := small(g, values)
	pattern, err := protection.Optimal(context.Background(), table, needs, protection.Options{Cost: cost, Protected: protected})
	require.NoError(t, err)
	chosen, adjusted := 0, 0
	for n := 0; n < 3000; n += 1 + n/8 {
		left := n
		o := Options{Cost: cost, Protected: protected, Nodes: 200, Draws: byNumber("s"), Spread: 1, Start: pattern.Hidden}
		w, err := Intervals(fuse{context.Background(), &left}, table, needs, o)
		if err != nil {
			require.ErrorIs(t, err, context.DeadlineExceeded)
		} else {
			published(t, table, w.Needs, protection.InsiderExact, w, cost)
			chosen++
		}
		left = n
		c, err := Control(fuse{context.Background(), &left}, table, needs, Controls{Protected: protected})
		if err != nil {
			require.ErrorIs(t, err, context.DeadlineExceeded)
		} else {
			moved(t, table, needs, Controls{Protected: protected}, c)
			adjusted++
		}
	}
	require.Greater(t, chosen, 10)
	require.Greater(t, adjusted, 10)
}

// Levels beyond 2^20 units, and values that nobody knows the ends of.
func TestIntervalsOfMagnitudes(t *testing.T) {
	g, values := t0(t)
	for i := range values {
		values[i] *= 1e9
	}
	table := &protection.Table{System: g.System(), Values: values, Low: slices.Repeat([]int64{protection.NoLow}, len(values))}
	_, protected, cost := small(g, values)
	needs := []protection.Need{{Cell: at(g, 1, 2), Lower: 1234567891, Upper: 987654321}}
	w, err := Intervals(context.Background(), table, needs, Options{Cost: cost, Protected: protected, Draws: byNumber("s"), Spread: 0.5})
	require.NoError(t, err)
	require.Empty(t, w.Report.Failed())
	require.LessOrEqual(t, w.Low[at(g, 1, 2)], values[at(g, 1, 2)]-1234567891)
	require.Less(t, w.Gap(), 1e-4)
}

func BenchmarkIntervals(b *testing.B) {
	g, values := drawn(b, rand.New(rand.NewPCG(1, 2)), tabular.Shape{8, 8}, 30)
	table := &protection.Table{System: g.System(), Values: values, Grid: g}
	needs, protected, cost := small(g, values)
	for b.Loop() {
		if _, err := Intervals(context.Background(), table, needs, Options{Cost: cost, Protected: protected, Nodes: 100}); err != nil {
			b.Fatal(err)
		}
	}
}
