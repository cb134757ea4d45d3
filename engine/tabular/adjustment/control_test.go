package adjustment

import (
	"context"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"microrisk/engine/program"
	"microrisk/engine/tabular"
	"microrisk/engine/tabular/protection"
)

// cheapestMove is the least cost of all tables whose finest cells are within reach of theirs, by trying them all; -1 if there is none.
func cheapestMove(g *tabular.Grid, t *protection.Table, needs []protection.Need, o Controls) int64 {
	var leaves []int
	for cell := range t.Values {
		if g.Leaf(cell) {
			leaves = append(leaves, cell)
		}
	}
	values, best := make([]int64, len(t.Values)), int64(-1)
	var try func(i int)
	try = func(i int) {
		if i < len(leaves) {
			x := t.Values[leaves[i]]
			for d := -min(x, o.Down[leaves[i]]); d <= o.Up[leaves[i]]; d++ {
				values[leaves[i]] = x + d
				try(i + 1)
			}
			return
		}
		_ = g.Sum(values)
		cost := int64(0)
		for cell, x := range values {
			d := x - t.Values[cell]
			if d > o.Up[cell] || -d > o.Down[cell] || o.Protected[cell] && d != 0 {
				return
			}
			cost += o.Weight[cell] * abs(d)
		}
		for _, n := range needs {
			if d := values[n.Cell] - t.Values[n.Cell]; d < n.Upper && -d < n.Lower {
				return
			}
		}
		if best < 0 || cost < best {
			best = cost
		}
	}
	try(0)
	return best
}

// moved checks a table by itself.
func moved(t *testing.T, table *protection.Table, needs []protection.Need, o Controls, c *Controlled) {
	require.Empty(t, table.System.Broken(c.Values, 0))
	cost := int64(0)
	for cell, x := range c.Values {
		d := x - table.Values[cell]
		require.GreaterOrEqual(t, x, int64(0))
		if o.Protected != nil && o.Protected[cell] {
			require.Zero(t, d)
		}
		w := int64(1)
		if o.Weight != nil {
			w = o.Weight[cell]
		}
		cost += w * abs(d)
	}
	require.Equal(t, cost, c.Cost)
	require.LessOrEqual(t, c.Bound, float64(cost)+1e-6)
	for _, n := range needs {
		d := c.Values[n.Cell] - table.Values[n.Cell]
		require.True(t, d >= max(n.Upper, 1) || -d >= max(n.Lower, 1), "cell %d moved by %d", n.Cell, d)
	}
}

// The embedded solver and brute force find the same costs, or both nothing.
func TestControlAgainstBruteForce(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	feasible, impossible := 0, 0
	for _, c := range []struct {
		shape tabular.Shape
		reach int64
		times int
	}{{tabular.Shape{2, 2}, 4, 60}, {tabular.Shape{2, 3}, 2, 40}, {tabular.Shape{3, 3}, 1, 12}, {tabular.Shape{2, 2, 2}, 1, 40}} {
		for range c.times {
			g, values := drawn(t, r, c.shape, 5)
			n := len(values)
			table := &protection.Table{System: g.System(), Values: values}
			o := Controls{Weight: make([]int64, n), Down: make([]int64, n), Up: make([]int64, n), Protected: make([]bool, n)}
			var needs []protection.Need
			for cell := range n {
				o.Weight[cell] = r.Int64N(4)
				o.Down[cell], o.Up[cell] = r.Int64N(c.reach+1), r.Int64N(c.reach+1)
				if !g.Leaf(cell) {
					o.Down[cell], o.Up[cell] = c.reach+r.Int64N(3), c.reach+r.Int64N(3)
				}
				o.Protected[cell] = r.IntN(10) == 0
				if !o.Protected[cell] && r.IntN(5) == 0 {
					needs = append(needs, protection.Need{Cell: int32(cell), Lower: 1 + r.Int64N(c.reach), Upper: 1 + r.Int64N(c.reach)})
				}
			}
			want := cheapestMove(g, table, needs, o)
			got, err := Control(context.Background(), table, needs, o)
			if want < 0 {
				var e *ImpossibleError
				require.ErrorAs(t, err, &e)
				impossible++
				continue
			}
			require.NoError(t, err)
			moved(t, table, needs, o, got)
			require.Equal(t, want, got.Cost)
			require.True(t, got.Optimal(), "%v", got)
			feasible++
		}
	}
	require.Greater(t, feasible, 40)
	require.Greater(t, impossible, 20)
}

// T0, where counts below 5 have to move by 2.
func TestControlOfT0(t *testing.T) {
	g, values := t0(t)
	table := &protection.Table{System: g.System(), Values: values, Grid: g}
	needs := []protection.Need{{Cell: at(g, 1, 2), Lower: 2, Upper: 2}, {Cell: at(g, 2, 1), Lower: 2, Upper: 2}, {Cell: at(g, 3, 4), Lower: 2, Upper: 2}}
	c, err := Control(context.Background(), table, needs, Controls{})
	require.NoError(t, err)
	moved(t, table, needs, Controls{}, c)
	require.True(t, c.Optimal())
	// Each of three rows has one of them, and another cell that moves by 2: 12, as the six cells of a ring through BE, AF and CH cost.
	require.EqualValues(t, 12, c.Cost)
	margins := make([]bool, len(values))
	for cell := range margins {
		margins[cell] = g.Margin(cell)
	}
	fixed, err := Control(context.Background(), table, needs, Controls{Protected: margins})
	require.NoError(t, err)
	moved(t, table, needs, Controls{Protected: margins}, fixed)
	require.True(t, fixed.Optimal())
	require.EqualValues(t, 12, fixed.Cost)
	for cell, x := range values {
		if margins[cell] {
			require.Equal(t, x, fixed.Values[cell])
		}
	}
}

// A level that bounds make impossible names the cell; so does one that others make impossible.
func TestControlOfTheImpossible(t *testing.T) {
	g, values := t0(t)
	table := &protection.Table{System: g.System(), Values: values}
	cell := at(g, 2, 1)
	up := make([]int64, len(values))
	for i := range up {
		up[i] = tabular.NoLimit
	}
	up[cell] = 1
	_, err := Control(context.Background(), table, []protection.Need{{Cell: cell, Lower: 2, Upper: 2}}, Controls{Up: up})
	require.EqualError(t, err, (&ImpossibleError{Need: protection.Need{Cell: cell, Lower: 2, Upper: 2}, Down: 1, Up: 1}).Error())
	require.ErrorContains(t, err, "has to move by 2 down or by 2 up, where its bounds allow 1 and 1")
	protected := make([]bool, len(values))
	for c := range int32(5) {
		protected[at(g, 2, c)] = c != 1
	}
	_, err = Control(context.Background(), table, []protection.Need{{Cell: cell, Lower: 2, Upper: 2}}, Controls{Protected: protected})
	require.ErrorContains(t, err, "which the bounds of other cells")
	var e *ImpossibleError
	require.ErrorAs(t, err, &e)
	require.Equal(t, cell, e.Need.Cell)
	for want, c := range map[string]struct {
		needs []protection.Need
		o     Controls
	}{
		"has two needs": {needs: []protection.Need{{Cell: 3}, {Cell: 3}}}, "none of 25": {needs: []protection.Need{{Cell: 99}}},
		"2 weights, of 25 cells": {o: Controls{Weight: []int64{1, 2}}}, "both are 0 to 2^53": {needs: []protection.Need{{Cell: 3, Lower: -1}}},
	} {
		_, err = Control(context.Background(), table, c.needs, c.o)
		require.ErrorContains(t, err, want)
	}
	broken := append([]int64(nil), values...)
	broken[0]++
	_, err = Control(context.Background(), &protection.Table{System: g.System(), Values: broken}, nil, Controls{})
	require.ErrorContains(t, err, "does not hold")
}

// A table with limits of nodes is right, with a bound below; magnitudes with levels beyond 2^20 units move in steps.
func TestControlWithinLimits(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	g, values := drawn(t, r, tabular.Shape{6, 6, 4}, 40)
	table := &protection.Table{System: g.System(), Values: values}
	var needs, large []protection.Need
	for cell, x := range values {
		if x > 0 && x < 5 {
			needs = append(needs, protection.Need{Cell: int32(cell), Lower: 2, Upper: 3})
			large = append(large, protection.Need{Cell: int32(cell), Lower: 1 << 30, Upper: 1<<30 + 7})
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	c, err := Control(ctx, table, needs, Controls{Nodes: 50})
	require.NoError(t, err)
	moved(t, table, needs, Controls{}, c)
	require.True(t, c.Gap() >= 0 && c.Gap() < 0.5, "%v", c.Gap())
	for i := range values {
		values[i] <<= 35
	}
	c, err = Control(ctx, table, large, Controls{Nodes: 50})
	require.NoError(t, err)
	moved(t, table, large, Controls{}, c)
	require.Greater(t, c.Step, int64(1))
	require.False(t, c.Optimal())
	gone, stop := context.WithCancel(context.Background())
	stop()
	_, err = Control(gone, table, needs, Controls{})
	require.ErrorIs(t, err, context.Canceled)
}

// failing is a solver that finds nothing.
type failing struct{ program.Solver }

func (failing) Solve(context.Context, *program.Model) (*program.Solution, error) {
	return &program.Solution{Status: program.Stopped, Bound: 0}, nil
}

// With a solver that finds nothing the first table comes, with the relaxation's bound.
func TestControlWithoutASolver(t *testing.T) {
	g, values := t0(t)
	table := &protection.Table{System: g.System(), Values: values}
	needs := []protection.Need{{Cell: at(g, 1, 2), Lower: 2, Upper: 2}, {Cell: at(g, 2, 1), Lower: 1, Upper: 2}}
	c, err := Control(context.Background(), table, needs, Controls{Solver: failing{}})
	require.NoError(t, err)
	moved(t, table, needs, Controls{}, c)
	require.Positive(t, c.Bound)
}

func BenchmarkControl(b *testing.B) {
	g, values := t0(b)
	table := &protection.Table{System: g.System(), Values: values}
	needs := []protection.Need{{Cell: at(g, 1, 2), Lower: 2, Upper: 2}, {Cell: at(g, 2, 1), Lower: 2, Upper: 2}, {Cell: at(g, 3, 4), Lower: 2, Upper: 2}}
	for b.Loop() {
		if _, err := Control(context.Background(), table, needs, Controls{}); err != nil {
			b.Fatal(err)
		}
	}
}
