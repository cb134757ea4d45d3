package sap

import (
	"context"
	"fmt"
	"slices"

	"microrisk/engine/attribution"
	"microrisk/engine/bounds"
	"microrisk/engine/perturb"
	"microrisk/engine/tabular"
)

// A marginLayout is a further table that is released: some of the variables, their categories row-major.
type marginLayout struct {
	variables []int // positions among the cells' variables, ascending
	cells     int
	of        []int // cell of the margin by cell of the table
	kernel    perturb.Kernel
}

// margins lays out the tables that are released besides each table, each with its kernel; the grand total is none of them.
func (l *layout) margins(list []Margin, kernels []perturb.Kernel) ([]marginLayout, error) {
	if l.cells == 0 {
		return nil, nil // no record, and no levels: there is nothing to be a margin of
	}
	var out []marginLayout
	for i, margin := range list {
		m, names := marginLayout{kernel: kernels[i]}, margin.Variables
		for v, variable := range l.variables {
			if slices.Contains(names, variable.Name) {
				m.variables = append(m.variables, v)
			}
		}
		if len(m.variables) != len(names) {
			return nil, fmt.Errorf("the margin %v has a variable that is not among cells", names)
		}
		m.cells, m.of = l.sizes.Of(m.variables).Cells(), l.sizes.Into(m.variables)
		out = append(out, m)
	}
	return out, nil
}

// released is a table with its margins. The bounds of its own cells are in w.table already.
func (w *tableWorker) released(a int) (*attribution.Release, error) {
	r := &attribution.Release{Counts: w.table.Counts, Impossible: w.impossible, Published: bounds.Release{Levels: w.layout.sizes}}
	all := make([]int, len(w.layout.sizes))
	for v, variable := range w.layout.variables {
		all[v] = v
		r.Published.Names = append(r.Published.Names, variable.Name)
	}
	if w.bound.Config.Release.BaseTable != "none" {
		r.Published.Margins = append(r.Published.Margins, bounds.Margin{Name: "the table", Variables: all, Low: w.table.Lower, High: w.table.Upper})
	}
	for _, m := range w.margins {
		published, err := w.margin(a, m)
		if err != nil {
			return nil, err
		}
		r.Published.Margins = append(r.Published.Margins, published)
	}
	if w.table.TotalUpper != attribution.NoTotal {
		r.Published.Margins = append(r.Published.Margins, bounds.Margin{Name: "the total", Low: []int64{w.totalLower}, High: []int64{w.table.TotalUpper}})
	}
	return r, nil
}

// release measures a table of which margins are released too.
func (w *tableWorker) release(ctx context.Context, a, from int) error {
	r, err := w.released(a)
	if err != nil {
		return err
	}
	got, err := r.SAP(ctx, w.known, attribution.ReleaseOptions{Seed: w.seed, Workers: 1, Threshold: w.threshold})
	if err != nil && ctx.Err() == nil {
		return w.names.where(a, err)
	} else if err != nil {
		return err
	}
	w.smallest[a] = got.Smallest
	for k := range w.known {
		w.sap[k][a], w.zeros[k][a] = got.SAP[k], got.Expected[k]
		if !got.Exact {
			w.halfWidth[a] = max(w.halfWidth[a], (got.High[k]-got.Low[k])/2)
		}
		for j, cell := range w.at {
			if cell >= 0 {
				w.cellOf[k][from+j] = got.Cells[k][cell]
			}
		}
	}
	if !got.Exact {
		w.estimated.Store(true)
	}
	if !got.Sharp {
		w.unsharp.Store(true)
	}
	return nil
}

// margin has the bounds that the published counts of a margin imply.
func (w *tableWorker) margin(a int, m marginLayout) (bounds.Margin, error) {
	counts := make([]int64, m.cells)
	example := make([]int, m.cells) // a cell of the table in each cell of the margin
	for cell, c := range w.table.Counts {
		counts[m.of[cell]] += c
		example[m.of[cell]] = cell
	}
	out := bounds.Margin{Variables: m.variables, Low: make([]int64, m.cells), High: make([]int64, m.cells)}
	for _, v := range m.variables {
		out.Name += "[" + w.layout.variables[v].Name + "]"
	}
	for i, c := range counts {
		j, there := w.names.publishedMargin(a, example[i], m, c)
		low, high, ok := m.kernel.Bounds(j)
		if !ok || c < low || c > high {
			return out, w.names.wrong(a, "the count of "+tabular.Words(w.names.named[w.bound.by:])+" in the margin "+out.Name, m.kernel, c, j, there)
		}
		out.Low[i], out.High[i] = low, high
	}
	return out, nil
}
