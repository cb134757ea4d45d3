package protect

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"microrisk/engine/contingency"
	"microrisk/engine/perturb"
	"microrisk/engine/tabular"
	"microrisk/engine/tabular/adjustment"
	"microrisk/engine/tabular/detection"
	"microrisk/engine/tabular/protection"
	"microrisk/schemas/advice"
)

// A Change is what came of a method that changes values, or has intervals.
type Change struct {
	Imbalance  int64 // the largest difference between a published total and its published parts
	Controlled bool  // of multiplicative: all cells are next to what was fitted
	Cost       int64
	Bound      float64 // no such table costs less
	Best       bool    // nothing cheaper is possible
	Stopped    bool    // a limit ended the search for something cheaper
	Gap        float64
}

// change makes values, or intervals, by the method.
func (p *Protected) change(ctx context.Context, with With) error {
	ctx, cancel := p.Config.within(ctx)
	defer cancel()
	p.Changed = &Change{}
	defer p.patient(with)()
	var err error
	switch p.Config.Method {
	case "perturbation":
		err = p.perturb(with)
	case "multiplicative":
		err = p.multiply(ctx, with)
	case "adjustment":
		err = p.adjust(ctx, with)
	case "partial":
		err = p.widen(ctx, with)
	case "abs":
		err = p.threshold()
	}
	if e := new(adjustment.CellError); errors.As(err, &e) {
		return fmt.Errorf("the cell %s %s", p.Table.Words(int(e.Cell)), e.Text)
	}
	if errors.Is(err, context.DeadlineExceeded) && p.Config.Seconds != nil {
		return &refusal{advice.Errorf("no table was found within %v s: allow more (%s), or take another method", *p.Config.Seconds, seconds), err}
	}
	return err
}

// draws are by the secret: of the people in a cell, or of what it is called.
func (p *Protected) draws(with With) (adjustment.Draws, error) {
	switch {
	case !p.Config.byChance():
		return func(int32, int) float64 { return 0 }, nil
	case with.Chance == nil:
		return nil, errors.New("the method leaves something to chance, and there is no secret")
	case !with.Chance.ByPeople():
		return adjustment.ByName(with.Chance.Key, p.Table.names()), nil
	case p.Table.RecordKeys == nil:
		return nil, fmt.Errorf("noise by people needs the records, and a ready-made table has none: make the table of records, or say %s",
			advice.Advice{Spec: "by: cells", Flags: "--noise-by cells"})
	}
	return adjustment.ByPeople(with.Chance.Key, p.Table.RecordKeys), nil
}

// names are what cells are called, the same in all tables: by codes, or by paths where a code is there several times.
func (t *Table) names() func(cell int32) []byte {
	variables := make([]contingency.Variable, len(t.Grid.Trees))
	labels := make([][]tabular.Category, len(t.Grid.Trees))
	for v, tree := range t.Grid.Trees {
		variables[v].Name = tree.Name
		for n, node := range tree.Nodes {
			code := node.Code
			if code.Kind != tabular.KindTotal && tree.Find(code) < 0 {
				text := ""
				for _, at := range tree.Path(n) {
					text += "\x01" + tree.Nodes[at].Code.String()
				}
				code = tabular.Of(text)
			}
			labels[v] = append(labels[v], code)
		}
	}
	identity, cell := tabular.NewIdentity(variables), make([]tabular.Category, len(labels))
	return func(c int32) []byte {
		for v, n := range t.Grid.Nodes(int(c)) {
			cell[v] = labels[v][n]
		}
		return identity.Of(cell)
	}
}

func (p *Protected) perturb(with With) error {
	d, err := p.draws(with)
	if err != nil {
		return err
	}
	s := p.Table.Grid.System()
	var made *adjustment.Perturbed
	switch {
	case p.Way.noise != nil:
		made, err = p.Way.noise.Add(s, p.Table.Values, d)
	case p.Way.sums:
		made, err = adjustment.PerturbParts(s, p.Table.Values, p.Way.kernel, d)
	default:
		made, err = adjustment.Perturb(s, p.Table.Values, p.Way.kernel, d)
	}
	if err != nil {
		return err
	}
	p.Published, p.Changed.Imbalance = made.Values, made.Imbalance
	return nil
}

// Fitting of margins.
const (
	fittingTolerance = 1e-10
	fittingSweeps    = 10000
)

func (p *Protected) multiply(ctx context.Context, with With) error {
	d, err := p.draws(with)
	if err != nil {
		return err
	}
	m := adjustment.Multiplicative{SD: usual(p.Config.SD, 0), Reach: p.Config.reach(), Tolerance: fittingTolerance, Sweeps: fittingSweeps}
	made, err := m.Perturb(ctx, p.Table.Grid, p.Table.Values, d)
	if err != nil {
		return err
	}
	p.Published, p.Changed.Controlled, err = made.Whole(ctx, p.Table.Grid, with.Solver)
	return err
}

// fixed are the cells that stay as they are: those that may not be hidden either.
func (p *Protected) fixed() []bool {
	list := make([]bool, len(p.Findings))
	for cell, f := range p.Findings {
		list[cell] = !f.Status.Candidate() && !f.Status.Hidden()
	}
	return list
}

func (p *Protected) adjust(ctx context.Context, with With) error {
	c := adjustment.Controls{Weight: p.Cost, Protected: p.fixed(), Solver: with.Solver, Most: p.Config.most()}
	if p.Config.Nodes != nil {
		c.Nodes = *p.Config.Nodes
	}
	made, err := adjustment.Control(ctx, p.Table.KnownFrom(0), p.Levels, c)
	if e := new(adjustment.ImpossibleError); errors.As(err, &e) {
		why := fmt.Sprintf(
			"the cell %s has to move by %s down or by %s up, ",
			p.Table.Words(int(e.Need.Cell)),
			p.Table.Text(e.Need.Lower),
			p.Table.Text(e.Need.Upper),
		)
		if e.Others {
			why += "which what others have to move does not allow"
		} else {
			why += "which its own bounds do not allow"
		}
		return advice.Errorf("%s; let margins move (%s), or lower its level or set it safe (%s)", why,
			advice.Advice{Spec: "margins: none", Flags: "--margins none"}, advice.Advice{Spec: "overrides", Flags: "--overrides"})
	}
	if err != nil {
		return err
	}
	p.Published = made.Values
	p.Changed.Cost, p.Changed.Bound, p.Changed.Best, p.Changed.Gap = made.Cost, made.Bound, made.Optimal(), made.Gap()
	p.Changed.Stopped = made.Stopped || p.Config.Nodes != nil && !made.Optimal()
	return nil
}

func (p *Protected) widen(ctx context.Context, with With) error {
	d, err := p.draws(with)
	if err != nil {
		return err
	}
	known := p.Table.Known(p.Config.Beforehand)
	o := adjustment.Options{Cost: p.Cost, Protected: p.fixed(), Insider: p.insider(), Draws: d, Spread: usual(p.Config.Spread, 1), Solver: with.Solver,
		Most: p.Config.most()}
	if p.Config.Nodes != nil {
		o.Nodes = *p.Config.Nodes
	}
	// Where there is no safe pattern the intervals tell why.
	begin, _ := p.quick(ctx, known, protection.Options{Cost: p.sizes(), Protected: o.Protected, Insider: o.Insider, Solver: o.Solver})
	o.Start = begin.hidden
	made, err := adjustment.Intervals(ctx, known, p.Needs, o)
	if err != nil {
		return err
	}
	p.Low, p.High = made.Low, made.High
	copy(p.Hidden, made.Open)
	p.Changed.Cost, p.Changed.Bound, p.Changed.Best, p.Changed.Gap = made.Loss, made.Bound, made.Optimal(), made.Gap()
	p.Changed.Stopped = made.Stopped
	return nil
}

// threshold hides cells of few records, and rounds others.
func (p *Protected) threshold() error {
	rules := perturb.ABS()
	rules.Base = float64(p.Way.Base)
	for cell := range p.Published {
		v, published, err := rules.Publish(p.Table.Cells[cell].Records, float64(p.Table.Values[cell]))
		if err != nil {
			return err
		}
		if p.Hidden[cell] = !published && p.Findings[cell].Status != detection.Empty; published {
			p.Published[cell] = int64(v)
		}
	}
	return nil
}

// view puts beside each hidden cell the interval that anybody can work out.
func (p *Protected) view(ctx context.Context, known *protection.Table) error {
	var cells []int32
	for cell, hidden := range p.Hidden {
		if hidden {
			cells = append(cells, int32(cell))
		}
	}
	list, err := protection.Intervals(ctx, known, p.Hidden, cells)
	if err != nil {
		return err
	}
	p.Low, p.High = slices.Clone(p.Table.Values), slices.Clone(p.Table.Values)
	for i, cell := range cells {
		p.Low[cell], p.High[cell] = list[i].Low, list[i].High
	}
	return nil
}

// Given is what is published.
func (p *Protected) Given() *Given {
	return &Given{Values: p.Published, Hidden: p.Hidden, Low: p.Low, High: p.High}
}

// defaultCost is what a cell costs where it is not said: its value where it is hidden, the same for all where it is changed.
func (c *Config) defaultCost() string {
	if slices.Contains([]string{"adjustment", "partial"}, c.Method) {
		return "unity"
	}
	return "value"
}
