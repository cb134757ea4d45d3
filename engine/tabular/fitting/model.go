package fitting

import (
	"context"
	"fmt"
	"math"
	"slices"

	"microrisk/engine/graph"
	"microrisk/engine/tabular"
)

// A Table is what a model is fitted to: counts, or other numbers of at least 0, row-major, the first variable slowest.
type Table struct {
	Shape   tabular.Shape
	Counts  []float64
	Omitted []bool // cells that are not there: neither fitted nor counted; nil for none
}

// A Fit is a model fitted to a table.
type Fit struct {
	Means []float64 // fitted counts; 0 of cells that are omitted
	G2    float64   // deviance, 2 sum(o ln(o/e) - (o - e))
	X2    float64   // Pearson's, sum((o - e)^2 / e)
	// DF is the number of cells less the rank of the model over them: those not omitted, and in no margin that is 0. UnknownDF where it would
	// take too much work.
	DF        int
	Cells     int // of which DF is
	Sweeps    int
	Off       float64 // how far a margin was off at the end
	Converged bool    // false: where the sweeps ended, means that tend to 0 are still on their way, mostly, and figures are those of the means reached
}

// UnknownDF says that degrees of freedom are not known.
const UnknownDF = -1

// Fit fits the model by iterative proportional fitting. Where a cell's fit tends to 0, although no margin is 0, it may not converge: see
// Converged. Errors: a model of other variables, counts below 0, slices of other lengths; a context that ends.
func (m Model) Fit(ctx context.Context, t *Table, o Options) (*Fit, error) {
	if err := m.check(t); err != nil {
		return nil, err
	}
	start := make([]float64, len(t.Counts))
	for i := range start {
		if !t.omitted(i) {
			start[i] = 1
		}
	}
	margins := m.margins(t)
	a, err := Proportional(ctx, t.Shape, start, margins, o)
	if err != nil {
		return nil, err
	}
	f := &Fit{Means: a.Values, Sweeps: a.Sweeps, Off: a.Off, Converged: a.Converged}
	for i, e := range a.Values {
		count := t.Counts[i]
		if e > 0 {
			f.Cells++
		}
		if t.omitted(i) || e == 0 {
			continue
		}
		f.G2 += 2 * (e - count)
		if count > 0 {
			f.G2 += 2 * count * math.Log(count/e)
		}
		f.X2 += (count - e) * (count - e) / e
	}
	f.G2 = max(f.G2, 0)
	f.DF = m.df(t, a.Values, margins)
	return f, nil
}

func (t *Table) omitted(i int) bool { return t.Omitted != nil && t.Omitted[i] }

func (m Model) check(t *Table) error {
	n := t.Shape.Cells()
	if len(t.Counts) != n || t.Omitted != nil && len(t.Omitted) != n {
		return fmt.Errorf("there are %d counts and %d marks of omitted cells, of a table of %d cells", len(t.Counts), len(t.Omitted), n)
	}
	for _, s := range m {
		if !graph.First(len(t.Shape)).Contains(s) {
			return fmt.Errorf("the model is of more variables than the %d of the table", len(t.Shape))
		}
	}
	for i, x := range t.Counts {
		if !t.omitted(i) && (!(x >= 0) || math.IsInf(x, 1)) {
			return fmt.Errorf("the count of cell %d is %v: a log-linear model is for counts of at least 0", i, x)
		}
	}
	return nil
}

// margins are the sums that the fit is to have.
func (m Model) margins(t *Table) []Margin {
	generators := m
	if len(m) == 0 {
		generators = Model{0}
	}
	list := make([]Margin, len(generators))
	for k, s := range generators {
		list[k].Variables = slices.Collect(s.Vertices())
		list[k].Want = t.sums(list[k].Variables)
	}
	return list
}

// sums is the margin over some variables.
func (t *Table) sums(variables []int) []float64 {
	p := newBlocks(t.Shape).projection(Margin{variables, make([]float64, t.Shape.Of(variables).Cells())})
	for block, first := range p.first {
		for place, last := range p.last {
			if i := block*p.inner + place; !t.omitted(i) {
				p.want[first+last] += t.Counts[i]
			}
		}
	}
	return p.want
}
