package baseline

import (
	"context"
	"fmt"
	"math"
	"slices"

	"microrisk/engine/bayes"
	"microrisk/engine/bayes/risk"
	"microrisk/engine/tabular"
	"microrisk/engine/tabular/fitting"
)

// MostCells is the largest number of cells of the full table that is fitted by TwoWay.
const MostCells = 10_000_000

// FromMeans gives the measures of Elamir & Skinner 2006 by cell, where the sample counts are Poisson of the given fitted means, above
// 0: F - f is Poisson of mean mu (1-pi)/pi, pi the sampling fraction. PU is NaN: see TwoWay and Independence, which know the empty
// cells.
func FromMeans(counts []int64, means []float64, fraction float64) (*Result, error) {
	if err := checkFraction(fraction); err != nil {
		return nil, err
	}
	if len(counts) != len(means) {
		return nil, fmt.Errorf("%d means for %d cells", len(means), len(counts))
	}
	r := newResult(len(counts))
	for i, f := range counts {
		if f < 1 || !(means[i] >= 0) || math.IsInf(means[i], 1) {
			return nil, fmt.Errorf("cell %d has %d records and the mean %v, want at least 1 and a mean of 0 or more", i, f, means[i])
		}
		x := means[i] * (1 - fraction) / fraction
		r.Match[i] = risk.PoissonMatch(float64(f), x)
		if f == 1 {
			r.Unique[i] = math.Exp(-x)
		}
	}
	r.average(counts)
	return r, nil
}

// Independence is the model of main effects. PU sums over the empty cells where the full table has at most MostCells, else it is NaN.
func Independence(ctx context.Context, d *bayes.Data, fraction float64) (*Result, error) {
	n := float64(d.Records)
	shares := make([][]float64, len(d.Levels))
	for v, r := range d.Levels {
		shares[v] = make([]float64, r)
		for i, c := range d.Codes[v] {
			shares[v][c] += float64(d.Counts[i]) / n
		}
	}
	means := make([]float64, d.Cells())
	for i := range means {
		means[i] = n
		for v := range d.Levels {
			means[i] *= shares[v][d.Codes[v][i]]
		}
	}
	r, err := FromMeans(d.Counts, means, fraction)
	if err != nil {
		return nil, err
	}
	t, err := newTable(d)
	if err != nil {
		return r, nil
	}
	fitted := make([]float64, t.cells)
	for i := range fitted {
		if i%(1<<16) == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		fitted[i] = n
		for v, share := range shares {
			fitted[i] *= share[i/t.stride[v]%t.levels[v]]
		}
	}
	r.PU = t.pu(r, d, fitted, fraction)
	return r, nil
}

// TwoWay is the model of all two-way interactions, fitted by iterative proportional fitting until no two-way margin is off by more
// than 1e-9 of n, or for 10,000 rounds or some seconds. Errors: a full table of more than MostCells cells, a fit that is then off by
// more than a hundredth of n, a fraction out of range, a context that ends.
func TwoWay(ctx context.Context, d *bayes.Data, fraction float64) (*Result, error) {
	if err := checkFraction(fraction); err != nil {
		return nil, err
	}
	t, err := newTable(d)
	if err != nil {
		return nil, err
	}
	fitted, err := t.fit(ctx, d)
	if err != nil {
		return nil, err
	}
	means := make([]float64, d.Cells())
	for i := range means {
		means[i] = fitted[t.at(d, i)]
	}
	r, err := FromMeans(d.Counts, means, fraction)
	if err != nil {
		return nil, err
	}
	r.PU = t.pu(r, d, fitted, fraction)
	return r, nil
}

// A table is the full one.
type table struct {
	levels, stride []int
	cells          int
}

func newTable(d *bayes.Data) (*table, error) {
	t := &table{levels: d.Levels, stride: make([]int, len(d.Levels)), cells: 1}
	for v := len(d.Levels) - 1; v >= 0; v-- {
		t.stride[v] = t.cells
		if d.Levels[v] > MostCells/t.cells {
			return nil, fmt.Errorf("the full table has about %.3g cells, a log-linear model of two-way interactions is fitted to at most %d",
				math.Exp(d.LogCells(1<<len(d.Levels)-1)), MostCells)
		}
		t.cells *= d.Levels[v]
	}
	return t, nil
}

// at is the place of cell i of the sample.
func (t *table) at(d *bayes.Data, i int) int {
	at := 0
	for v, s := range t.stride {
		at += s * int(d.Codes[v][i])
	}
	return at
}

// pu adds the empty cells to the uniques of a result.
func (t *table) pu(r *Result, d *bayes.Data, fitted []float64, fraction float64) float64 {
	empty := make([]bool, t.cells)
	for i := range empty {
		empty[i] = true
	}
	sum := 0.0
	for i := range d.Counts {
		empty[t.at(d, i)] = false
		sum += r.Unique[i]
	}
	for i, e := range empty {
		if e {
			x := fitted[i] * (1 - fraction) / fraction
			sum += x * math.Exp(-x)
		}
	}
	return sum * fraction / float64(d.Records)
}

// mostFitting is how many cells may be visited in fitting two-way margins: some seconds.
const mostFitting = 200_000_000

// fit is iterative proportional fitting to the two-way margins, or to the one there is of one variable.
func (t *table) fit(ctx context.Context, d *bayes.Data) ([]float64, error) {
	var margins []fitting.Margin
	for _, pair := range fitting.TwoWay(len(d.Levels)) {
		variables := slices.Collect(pair.Vertices())
		shape := tabular.Shape(d.Levels).Of(variables)
		m := fitting.Margin{Variables: variables, Want: make([]float64, shape.Cells())}
		codes := make([]uint32, len(variables))
		for i, f := range d.Counts {
			for k, v := range variables {
				codes[k] = d.Codes[v][i]
			}
			m.Want[tabular.Cell(shape, codes)] += float64(f)
		}
		margins = append(margins, m)
	}
	ones := make([]float64, t.cells)
	for i := range ones {
		ones[i] = 1
	}
	a, err := fitting.Proportional(ctx, d.Levels, ones, margins, fitting.Options{Tolerance: 1e-9, Work: mostFitting})
	if err != nil {
		return nil, err
	}
	if !a.Converged && a.Off > 0.01*float64(d.Records) {
		return nil, fmt.Errorf("the log-linear model of two-way interactions did not converge in %d rounds over %d cells", a.Sweeps, t.cells)
	}
	return a.Values, nil
}
