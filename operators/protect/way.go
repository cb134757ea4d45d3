package protect

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"microrisk/engine/perturb"
	"microrisk/engine/tabular"
	"microrisk/engine/tabular/adjustment"
	"microrisk/engine/tabular/protection"
	"microrisk/operators"
	"microrisk/schemas"
)

// A Way is how published values were made of true ones, as everybody is taken to know.
type Way struct {
	Method string // of Methods; those of patterns publish true values, or none
	Base   int64  // of rounding, in units
	Scheme string // of perturbation
	Chance bool   // something is left to chance
	kernel perturb.Kernel
	sums   bool              // totals are the sums of what is published of their parts
	noise  *adjustment.Noise // of a response
	factor float64           // how far from 1 a factor can be
	few    int64             // of abs: counts up to this are hidden, and no others; 0: values are no counts of records
}

// wayOf is how the method of a config changes values; its defaults are filled in.
func wayOf(c *Config, magnitudes bool) (*Way, error) {
	w := &Way{Method: c.Method, Base: c.Base, Chance: c.byChance()}
	switch c.Method {
	case "perturbation":
		if c.Perturb == nil {
			return nil, errors.New("perturbation has no scheme")
		}
		w.Scheme = c.Perturb.Scheme
		if magnitudes {
			w.noise = &adjustment.Noise{SD: c.unitsOfSD(usual(c.Perturb.SD, 0)), Proportional: usual(c.Perturb.Proportional, 0),
				Reach: usual(c.Perturb.Reach, schemas.UsualReach)}
			return w, nil
		}
		var err error
		w.kernel, err = operators.Kernel(c.Perturb)
		w.sums = c.sums()
		return w, err
	case "multiplicative":
		w.factor = usual(c.SD, 0) * c.reach()
	case "abs":
		w.Base = int64(perturb.ABS().Base * math.Pow10(int(c.Decimals)))
		if !magnitudes {
			w.few = perturb.ABS().Few
		}
	}
	return w, nil
}

// Hides tells whether cells may be hidden, and Changes whether values may be others than the true ones.
func (w *Way) Hides() bool {
	return w.Method == "abs" || w.Method == "partial" || slices.Contains(methodsOfPatterns, w.Method)
}

// Changes tells whether values may be others than the true ones.
func (w *Way) Changes() bool {
	return w.Method != "partial" && !slices.Contains(methodsOfPatterns, w.Method)
}

// A Given is what is published of the cells of a table.
type Given struct {
	Values    []int64 // of those that are not hidden
	Hidden    []bool
	Low, High []int64 // beside hidden cells, NoLow and tabular.NoLimit where there is none; nil if the table has none
}

// An Attack is what attackers must not learn, and what they are taken for.
type Attack struct {
	Needs      []protection.Need // with the levels of rules
	Sliding    *int              // the width that is needed instead
	Insider    string
	Beforehand string
}

// width is the one that a cell needs whose value was changed.
func (a *Attack) width() int64 {
	if a.Sliding != nil {
		return int64(*a.Sliding)
	}
	return 1
}

// needs are those of cells that are hidden.
func (a *Attack) needs() []protection.Need {
	if a.Sliding == nil {
		return a.Needs
	}
	return widths(a.Needs, a.width())
}

// widths are needs of nothing but a width.
func widths(needs []protection.Need, width int64) []protection.Need {
	var list []protection.Need
	for _, n := range needs {
		list = append(list, protection.Need{Cell: n.Cell, Sliding: width})
	}
	return list
}

// Audit tries all attackers on what is published. Errors are those of what the way cannot have made.
func (w *Way) Audit(ctx context.Context, t *Table, g *Given, a *Attack) (*protection.Report, error) {
	switch {
	case w.Method == "rounding":
		return AuditRounded(ctx, t.KnownFrom(0), g.Values, w.Base, a.Needs, a.width())
	case w.Method == "adjustment":
		return moved(t, g.Values, a.Needs)
	case !w.Changes():
		return w.published(ctx, t, g, a)
	}
	known, all, err := w.known(t, g, a.Beforehand)
	if err != nil {
		return nil, err
	}
	insider := protection.InsiderOff
	if w.Method == "abs" { // which hides cells, whose only contributors know them
		insider = InsiderOf(a.Insider)
	}
	return protection.Audit(ctx, known, all, widths(a.Needs, a.width()), insider)
}

// Narrowed is what is known of a table beforehand, and by the intervals beside its hidden cells.
func Narrowed(t *Table, known *protection.Table, g *Given) (*protection.Table, error) {
	if g.Low == nil {
		return known, nil
	}
	narrow := *known
	narrow.Low, narrow.High = slices.Clone(known.Low), make([]int64, len(known.Values))
	for cell := range narrow.High {
		if narrow.High[cell] = tabular.NoLimit; known.High != nil {
			narrow.High[cell] = known.High[cell]
		}
		if !g.Hidden[cell] {
			continue
		}
		narrow.Low[cell], narrow.High[cell] = max(narrow.Low[cell], g.Low[cell]), min(narrow.High[cell], g.High[cell])
		if v := known.Values[cell]; v < g.Low[cell] || v > g.High[cell] {
			return nil, fmt.Errorf("the interval of the cell %s does not have its true value", t.Words(cell))
		}
	}
	return &narrow, nil
}

// published audits hidden cells, also those that have intervals: these must be as wide as needed themselves.
func (w *Way) published(ctx context.Context, t *Table, g *Given, a *Attack) (*protection.Report, error) {
	beforehand := t.Known(a.Beforehand)
	known, err := Narrowed(t, beforehand, g)
	if err != nil {
		return nil, err
	}
	if w.Method == "partial" && g.Low == nil && slices.Contains(g.Hidden, true) {
		return nil, errors.New("cells have no intervals in the place of their values: the columns lower and upper are not there")
	}
	hidden := slices.Clone(g.Hidden)
	for cell := range hidden {
		hidden[cell] = hidden[cell] && (g.Low == nil || g.Low[cell] < g.High[cell])
	}
	r, err := protection.Audit(ctx, known, hidden, a.needs(), InsiderOf(a.Insider))
	if err != nil || g.Low == nil {
		return r, err
	}
	for i := range r.Findings { // an end that is published is no bound that was known beforehand
		f := &r.Findings[i]
		cell, x := f.Need.Cell, t.Values[f.Need.Cell]
		least := max(x-f.Need.Lower, beforehand.Low[cell])
		if f.Verdict == protection.Pass && g.Hidden[cell] && (g.Low[cell] > least || g.High[cell] < x+f.Need.Upper) {
			f.Verdict = protection.Under
		}
	}
	return r, nil
}

// Words are the categories of a cell, for messages.
func (t *Table) Words(cell int) string { return tabular.Words(t.Grid.Codes(cell)) }

// known is what everybody knows of cells by their published values alone, and all of them: totals that are the sums of what is published
// tell nothing by themselves.
func (w *Way) known(t *Table, g *Given, beforehand string) (known *protection.Table, all []bool, err error) {
	known = t.KnownFrom(0)
	if w.Method == "abs" {
		known = t.Known(beforehand)
	}
	if w.Method != "abs" {
		known.Sole = nil
	}
	known.High, all = slices.Repeat([]int64{tabular.NoLimit}, len(t.Values)), slices.Repeat([]bool{true}, len(t.Values))
	few := w.fewOf(t)
	for cell, y := range g.Values {
		switch x := t.Values[cell]; { // everybody knows the rule of abs
		case few == 0:
		case g.Hidden[cell]:
			known.High[cell] = max(few, x)
		case y != 0 || beforehand != "nothing": // a cell that became 0 has no row, like empty ones
			known.Low[cell] = max(known.Low[cell], min(few+1, x))
		}
		if g.Hidden[cell] || w.sums && !t.Grid.Leaf(cell) {
			continue
		}
		low, high, ok := w.bounds(t, cell, y)
		x := t.Values[cell]
		if !ok || x < low || x > high {
			return nil, nil, fmt.Errorf("the value of the cell %s is none that was made of the true one by %s", t.Words(cell), w.name())
		}
		known.Low[cell], known.High[cell] = max(known.Low[cell], low), high
	}
	if w.sums {
		if broken := known.System.Broken(g.Values, 0); broken != nil {
			return nil, nil, fmt.Errorf("the total %s is not the sum of what is published of its parts", t.Words(int(known.System.Equations[broken[0]].Total)))
		}
	}
	return known, all, nil
}

// fewOf is up to which value abs hides cells of a table, and no others; 0: values are not as large as records are many.
func (w *Way) fewOf(t *Table) int64 {
	if w.Method != "abs" || w.few > 0 {
		return w.few
	}
	for cell, x := range t.Values {
		if x != t.Cells[cell].Records*pow10(t.Decimals) {
			return 0
		}
	}
	return perturb.ABS().Few * pow10(t.Decimals) // a response of ones, or counts that are called values
}

func (w *Way) name() string {
	switch {
	case w.kernel != nil:
		return w.kernel.Name()
	case w.noise != nil:
		return "normal noise"
	}
	return w.Method
}

// bounds are those of the true value of a cell that is published as y.
func (w *Way) bounds(t *Table, cell int, y int64) (low, high int64, ok bool) {
	switch {
	case w.kernel != nil:
		return w.kernel.Bounds(y)
	case w.noise != nil:
		low, high = w.noised(y)
		return low, high, true
	case w.Method == "abs":
		return y - w.Base/2, y + (w.Base+1)/2 - 1, true
	}
	low, high = w.multiplied(y)
	x := t.Values[cell]
	return min(low, x), max(high, x), true
}

// multiplied are the least and the largest count that factors make y. Nobody can exclude that all margins were multiplied alike; whoever sees
// more of the factors is not looked for. Nearly all cells are rounded to the nearest: to take others for possible, as some are for the sake of
// sums, would make small counts look safe that are not.
func (w *Way) multiplied(y int64) (low, high int64) {
	low = int64(math.Ceil((float64(y)-0.5)/(1+w.factor) - 1e-9))
	high = int64(math.Floor((float64(y)+0.5)/(1-w.factor) + 1e-9))
	return max(low, 0), high
}

// empty is what is known of an empty cell where the way changes counts: it has no row, as one that became 0.
func (w *Way) empty() tabular.Figure {
	switch w.Method {
	case "multiplicative":
		return tabular.Interval(w.multiplied(0))
	case "abs":
		return tabular.Interval(0, (w.Base+1)/2-1)
	}
	return tabular.Hidden()
}

// Limits are the least and the largest value that what is published leaves to each cell, before sums are looked at; both are the value where it
// is published as it is. Errors are those of what the way cannot have made.
func (w *Way) Limits(t *Table, g *Given, beforehand string) (low, high []int64, err error) {
	switch {
	case w.Method == "rounding", w.Method == "adjustment":
		low, high = t.KnownFrom(0).Low, slices.Repeat([]int64{tabular.NoLimit}, len(t.Values))
		for cell, y := range g.Values {
			if x := t.Values[cell]; w.Method == "rounding" {
				away := max(w.Base-1, y-x, x-y)
				low[cell], high[cell] = max(low[cell], y-away), y+away
			}
		}
		return low, high, nil
	case w.Changes():
		known, _, err := w.known(t, g, beforehand)
		if err != nil {
			return nil, nil, err
		}
		return known.Low, known.High, nil
	}
	known, err := Narrowed(t, t.Known(beforehand), g)
	if err != nil {
		return nil, nil, err
	}
	if low, high = known.Low, known.High; high == nil {
		high = slices.Repeat([]int64{tabular.NoLimit}, len(t.Values))
	}
	for cell, hidden := range g.Hidden {
		if !hidden {
			low[cell], high[cell] = g.Values[cell], g.Values[cell]
		}
	}
	return low, high, nil
}

// noised are the least and the largest value that noise of a response makes y.
func (w *Way) noised(y int64) (low, high int64) {
	n := w.noise
	size := math.Abs(float64(y))
	far, part := n.Reach*n.SD, n.Reach*n.Proportional
	least := math.Max(0, math.Ceil((size-0.5-far)/(1+part)-1e-9))
	most := math.Inf(1)
	if part < 1 {
		most = math.Floor((size+0.5+far)/(1-part) + 1e-9)
	}
	low, high = int64(least), tabular.NoLimit
	if most <= MaxUnits {
		high = int64(most)
	}
	switch {
	case y < 0:
		return -high, -low
	case y == 0:
		return -high, high
	}
	return low, high
}

// moved finds cells that have not moved by their levels, in a table that adds up.
func moved(t *Table, values []int64, needs []protection.Need) (*protection.Report, error) {
	s := t.Grid.System()
	if broken := s.Broken(values, 0); broken != nil {
		return nil, fmt.Errorf("the cell %s is not the sum of its parts: an adjusted table adds up", t.Words(int(s.Equations[broken[0]].Total)))
	}
	r := &protection.Report{}
	for _, n := range needs {
		f := protection.Finding{Need: n, Interval: protection.Interval{Low: protection.NoLow, High: tabular.NoLimit}}
		switch by := values[n.Cell] - t.Values[n.Cell]; {
		case by == 0:
			f.Verdict = protection.Exact
		case by > 0 && by < n.Upper || by < 0 && -by < n.Lower:
			f.Verdict = protection.Under
		}
		r.Findings = append(r.Findings, f)
	}
	return r, nil
}

// Failure says what an audit found out of a cell.
func (w *Way) Failure(t *Table, f protection.Finding) string {
	if w.Method == "adjustment" && f.Verdict == protection.Under {
		return fmt.Sprintf("%s is published nearer to its value than its level", t.Words(int(f.Need.Cell)))
	}
	return Failure(t, f)
}
