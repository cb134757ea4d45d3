package adjustment

import (
	"context"
	"fmt"
	"math"

	"microrisk/engine/perturb"
	"microrisk/engine/program"
	"microrisk/engine/tabular"
	"microrisk/engine/tabular/fitting"
	"microrisk/engine/tabular/protection"
)

// A Multiplicative is noise of margins: each is multiplied by 1 and a normal number of this standard deviation, given that it is no further
// than Reach of them from 0, so that the mean of the factor is 1. SD times Reach must be below 1.
type Multiplicative struct {
	SD, Reach float64
	Tolerance float64 // by how much sums may miss margins, as a share of the grand total: 1e-10, say
	Sweeps    int     // most sweeps over all margins
}

// A Fitted table adds up. Zeros are kept.
type Fitted struct {
	Values []float64 // of all cells, in units
	Sweeps int
	Miss   float64 // the largest difference between a sum and its margin
}

// Perturb multiplies the margins of one variable each, at its finest categories, and the grand total by noise, scales the margins so that
// each variable's add up to the noised grand total, and fits the finest cells to them by iterative proportional fitting. Errors: figures
// out of range, *CellError for a negative value, margins that the zeros of the table do not allow, a context that ends.
func (m Multiplicative) Perturb(ctx context.Context, g *tabular.Grid, values []int64, d Draws) (*Fitted, error) {
	switch {
	case !(m.SD > 0 && m.Reach >= 1 && m.Reach <= perturb.MaxReach):
		return nil, fmt.Errorf("noise of standard deviation %v that reaches %v of them: it must be above 0, the reach from 1 to %d", m.SD,
			m.Reach, perturb.MaxReach)
	case m.SD*m.Reach >= 1:
		return nil, fmt.Errorf("factors of standard deviation %v that reach %v of them could make a margin negative: their product must be below 1",
			m.SD, m.Reach)
	case !(m.Tolerance > 0) || m.Sweeps < 1:
		return nil, fmt.Errorf("fitting to a tolerance of %v in %d sweeps: both must be above 0", m.Tolerance, m.Sweeps)
	case len(values) != g.Cells():
		return nil, fmt.Errorf("there are %d values, of %d cells", len(values), g.Cells())
	}
	factor := func(cell int) float64 { return 1 + m.SD*perturb.Standard(d(int32(cell), 0), m.Reach) }
	nodes := make([]int32, len(g.Trees))
	margins := make([][]float64, len(g.Trees))
	grand := float64(values[0]) * factor(0)
	for v, t := range g.Trees {
		margins[v] = make([]float64, len(t.Nodes))
		sum := 0.0
		for n := range t.Nodes {
			if nodes[v] = int32(n); t.Leaf(n) {
				if cell := g.Find(nodes); cell >= 0 {
					margins[v][n] = float64(values[cell]) * factor(cell)
					sum += margins[v][n]
				}
			}
		}
		nodes[v] = 0
		for n := range margins[v] {
			if sum > 0 {
				margins[v][n] *= grand / sum
			}
		}
	}
	return fitMargins(ctx, g, values, margins, fitting.Options{Tolerance: m.Tolerance, Sweeps: m.Sweeps})
}

// fitMargins fits the finest cells to the margins of each tree, by node.
func fitMargins(ctx context.Context, g *tabular.Grid, values []int64, margins [][]float64, o fitting.Options) (*Fitted, error) {
	start := make([]float64, g.Cells())
	places, groups := make([][]int, len(margins)), []fitting.Group{}
	for v, list := range margins {
		places[v] = make([]int, len(list))
		for n, want := range list {
			if g.Trees[v].Leaf(n) {
				places[v][n] = len(groups)
				groups = append(groups, fitting.Group{Want: want})
			}
		}
	}
	for cell, x := range values {
		if x < 0 {
			return nil, cellError(int32(cell), "has the value %d: it must be at least 0", x)
		}
		if !g.Leaf(cell) {
			continue
		}
		start[cell] = float64(x)
		for v, n := range g.Nodes(cell) {
			group := &groups[places[v][n]]
			group.Cells = append(group.Cells, int32(cell))
		}
	}
	a, err := fitting.Groups(ctx, start, groups, o)
	if err != nil {
		return nil, err
	}
	if !a.Converged {
		return nil, fmt.Errorf("margins are missed by %g after %d sweeps: the zeros of the table may not allow the margins as they are after "+
			"noise; take less noise", a.Off, a.Sweeps)
	}
	f := &Fitted{Values: a.Values, Sweeps: a.Sweeps, Miss: a.Off}
	f.addUp(g)
	return f, nil
}

// addUp gives totals their sums.
func (f *Fitted) addUp(g *tabular.Grid) {
	s := g.System()
	splits := s.Splits()
	for cell := s.Cells - 1; cell >= 0; cell-- { // parts stand after their totals
		if len(splits[cell]) > 0 {
			f.Values[cell] = 0
			for _, part := range s.Equations[splits[cell][0]].Parts {
				f.Values[cell] += f.Values[part]
			}
		}
	}
}

// finer is how many parts of a unit Whole knows.
const finer = 1 << 10

// Whole rounds a fitted table to units so that it still adds up, by controlled rounding: for counts. It is controlled if every
// cell is one of the two whole numbers next to its value, to a thousandth. A solver may be nil for the embedded one. Errors: those of
// protection.Round.
func (f *Fitted) Whole(ctx context.Context, g *tabular.Grid, solver program.Solver) (whole []int64, controlled bool, err error) {
	values := make([]int64, len(f.Values))
	for cell, x := range f.Values {
		if !(math.Abs(x) <= protection.MaxValue/finer) {
			return nil, false, cellError(int32(cell), "has the fitted value %g, where 2^43 is the largest that is rounded", x)
		}
		values[cell] = int64(math.Round(x * finer))
	}
	if err := g.Sum(values); err != nil {
		return nil, false, err
	}
	r, err := protection.Round(ctx, &protection.Table{System: g.System(), Values: values, Grid: g}, protection.Rounding{Base: finer, Solver: solver})
	if err != nil {
		return nil, false, err
	}
	for cell := range r.Values {
		r.Values[cell] /= finer
	}
	return r.Values, r.Controlled && len(r.Widened) == 0, nil
}
