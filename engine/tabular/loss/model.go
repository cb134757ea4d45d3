package loss

import (
	"context"
	"errors"
	"fmt"
	"math"

	"microrisk/engine/tabular"
	"microrisk/engine/tabular/fitting"
)

// MostCells is the largest number of combinations of the finest categories to which a model is fitted.
const MostCells = 1 << 24

// A Treatment is what is done with hidden cells of the interior before a model is fitted. The loss depends on it more than on the method: it
// has to be told with any figure.
type Treatment uint8

// Treatments.
const (
	Shown   Treatment = iota // there are none
	Omitted                  // the model is fitted to the other cells (quasi-independence)
	Zero                     // they are taken to be 0
	Imputed                  // they get what the published margins leave for them, spread by iterative proportional fitting of ones
)

// String is the treatment's word.
func (t Treatment) String() string { return [...]string{"shown", "omitted", "zero", "imputed"}[t] }

// A Deviance is how far an interior is from the model.
type Deviance struct {
	Treatment Treatment
	G2, X2    float64
	DF, Cells int  // fitting.UnknownDF if that would take too much work
	Converged bool // false: of the fit, or of what was imputed, where margins that are not additive leave what cannot be
	// Loss is 100 |G2 - that of the true table| / that of the true table; NaN where the model fits the true table. It is not of the true one.
	Loss float64
}

// An Analysis is M2: the deviance before and after protection.
type Analysis struct {
	True      Deviance
	Protected []Deviance // one, Shown, if no cell of the interior is hidden; else one of each other treatment, in their order
}

// Analyse fits a model to the interior of the true table and of the published one. Errors: those of Check; a value below 0 that is shown or
// true; a model without degrees of freedom; more than MostCells combinations; a context that ends.
func (t *Table) Analyse(ctx context.Context, m fitting.Model, o fitting.Options) (*Analysis, error) {
	in, err := t.interior()
	if err != nil {
		return nil, err
	}
	a := &Analysis{}
	if a.True, err = in.deviance(ctx, m, in.true, nil, o); err != nil {
		return nil, err
	}
	if a.True.DF == 0 {
		return nil, errors.New("the model has as many parameters as the table has cells, so that it loses nothing: take one with fewer interactions")
	}
	treatments := []Treatment{Omitted, Zero, Imputed}
	if in.hidden == nil {
		treatments = []Treatment{Shown}
	}
	for _, treatment := range treatments {
		values, omitted, met := in.published, []bool(nil), true
		switch treatment {
		case Omitted:
			omitted = in.hidden
		case Imputed:
			if values, met, err = t.impute(ctx, in, o); err != nil {
				return nil, err
			}
		}
		d, err := in.deviance(ctx, m, values, omitted, o)
		if err != nil {
			return nil, err
		}
		d.Treatment, d.Converged, d.Loss = treatment, d.Converged && met, relative(d.G2, a.True.G2, in.total)
		a.Protected = append(a.Protected, d)
	}
	return a, nil
}

func relative(protected, before, total float64) float64 {
	if before <= 1e-9*max(1, total) {
		return math.NaN()
	}
	return 100 * math.Abs(protected-before) / before
}

// Impute gives the cells of the grid their published values, and the hidden ones of the interior what the published margins leave for them,
// spread by iterative proportional fitting of ones; hidden margins keep what stands in Published. met is false where margins leave less than
// nothing, or what cannot be. Errors are those of Analyse.
func (t *Table) Impute(ctx context.Context, o fitting.Options) (values []float64, met bool, err error) {
	in, err := t.interior()
	if err != nil {
		return nil, false, err
	}
	dense, met, err := t.impute(ctx, in, o)
	if err != nil {
		return nil, false, err
	}
	values = append([]float64(nil), t.Published...)
	for place, cell := range in.cell {
		if cell >= 0 && t.hidden(int(cell)) {
			values[cell] = dense[place]
		}
	}
	return values, met, nil
}

// An interior has all combinations of the finest categories, row-major.
type interior struct {
	shape           tabular.Shape
	cell            []int32 // of the grid, -1 for one that is not in it
	true, published []float64
	hidden          []bool // nil if none is; published is 0 there
	total           float64
}

func (t *Table) interior() (*interior, error) {
	if err := t.Check(); err != nil {
		return nil, err
	}
	if t.Grid.Tables != nil {
		return nil, errors.New("log-linear models are of one table, and this is several that are linked: compare them one by one")
	}
	in := &interior{}
	code := make([][]int, len(t.Grid.Trees)) // of nodes
	for v, tree := range t.Grid.Trees {
		code[v] = make([]int, len(tree.Nodes))
		n := 0
		for node := range tree.Nodes {
			if tree.Leaf(node) {
				code[v][node] = n
				n++
			}
		}
		in.shape = append(in.shape, n)
	}
	if !in.shape.Within(MostCells) {
		return nil, fmt.Errorf("the finest categories have more than %d combinations, too many to fit a model to", MostCells)
	}
	n := in.shape.Cells()
	in.cell, in.true, in.published = make([]int32, n), make([]float64, n), make([]float64, n)
	for place := range in.cell {
		in.cell[place] = -1
	}
	codes := make([]int, len(in.shape))
	for cell := range t.Grid.Cells() {
		if !t.Grid.Leaf(cell) {
			continue
		}
		for v, node := range t.Grid.Nodes(cell) {
			codes[v] = code[v][node]
		}
		if err := in.put(t, tabular.Cell(in.shape, codes), cell); err != nil {
			return nil, err
		}
	}
	return in, nil
}

// put takes a cell of the grid.
func (in *interior) put(t *Table, place, cell int) error {
	in.cell[place] = int32(cell)
	in.true[place] = t.True[cell]
	in.total += t.True[cell]
	if t.hidden(cell) {
		if in.hidden == nil {
			in.hidden = make([]bool, len(in.cell))
		}
		in.hidden[place] = true
	} else {
		in.published[place] = t.Published[cell]
	}
	if least := min(in.true[place], in.published[place]); least < 0 {
		return fmt.Errorf("the cell %s has the value %v: log-linear models are for values of at least 0", tabular.Words(t.Grid.Codes(cell)), least)
	}
	return nil
}

func (in *interior) deviance(ctx context.Context, m fitting.Model, values []float64, omitted []bool, o fitting.Options) (Deviance, error) {
	f, err := m.Fit(ctx, &fitting.Table{Shape: in.shape, Counts: values, Omitted: omitted}, o)
	if err != nil {
		return Deviance{}, err
	}
	return Deviance{G2: f.G2, X2: f.X2, DF: f.DF, Cells: f.Cells, Converged: f.Converged}, nil
}

// impute fills in the hidden cells.
func (t *Table) impute(ctx context.Context, in *interior, o fitting.Options) (values []float64, met bool, err error) {
	values = append([]float64(nil), in.published...)
	var start []float64
	position := make(map[int32]int32) // among the hidden ones, by cell
	for place, cell := range in.cell {
		if in.hidden != nil && in.hidden[place] {
			position[cell] = int32(len(start))
			start = append(start, 1)
		}
	}
	groups, met := t.left(position)
	a, err := fitting.Groups(ctx, start, groups, o)
	if err != nil {
		return nil, false, err
	}
	for place, cell := range in.cell {
		if in.hidden != nil && in.hidden[place] {
			values[place] = a.Values[position[cell]]
		}
	}
	return values, met && a.Converged, nil
}

// left has what each published margin leaves for the hidden cells of the interior in it; false if that is below 0 anywhere.
func (t *Table) left(position map[int32]int32) ([]fitting.Group, bool) {
	groups := make([]fitting.Group, t.Grid.Cells())
	for cell := range t.Grid.Cells() {
		if t.Grid.Leaf(cell) {
			at, hidden := position[int32(cell)]
			t.eachTotal(cell, func(total int) {
				if hidden {
					groups[total].Cells = append(groups[total].Cells, at)
				} else {
					groups[total].Want -= t.Published[cell]
				}
			})
		}
	}
	var list []fitting.Group
	met := true
	for total, g := range groups {
		if t.hidden(total) || len(g.Cells) == 0 || t.Grid.Leaf(total) {
			continue
		}
		g.Want += t.Published[total]
		met = met && g.Want >= -1e-9*max(1, math.Abs(t.Published[total]))
		g.Want = max(0, g.Want)
		list = append(list, g)
	}
	return list, met
}

// eachTotal goes through a cell's totals, at all levels, the cell itself among them.
func (t *Table) eachTotal(cell int, yield func(total int)) {
	nodes := append([]int32(nil), t.Grid.Nodes(cell)...)
	var up func(v int)
	up = func(v int) {
		if v == len(nodes) {
			yield(t.Grid.Find(nodes))
			return
		}
		from := nodes[v]
		for n := int(from); n >= 0; n = t.Grid.Trees[v].Nodes[n].Parent {
			nodes[v] = int32(n)
			up(v + 1)
		}
		nodes[v] = from
	}
	up(0)
}
