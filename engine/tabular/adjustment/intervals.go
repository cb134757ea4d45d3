package adjustment

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"microrisk/engine/program"
	"microrisk/engine/tabular"
	"microrisk/engine/tabular/protection"
)

// Options are what intervals are chosen by. Slices are by cell number.
type Options struct {
	Cost      []int64 // of a unit of an interval's width, 0 to 2^53
	Protected []bool  // cells that are published exactly; nil for none. So are cells of value 0 without a need.
	Insider   protection.Insider
	Start     []bool // a pattern of hidden cells: its audited intervals are taken if they are safe and nothing costs less; nil for none
	// Draws and Spread place the values within their intervals by chance: each needed level is raised by up to Spread times the sum of the two,
	// drawn, and so is an end that would be the value itself. Without Draws nothing is left to chance.
	Draws  Draws
	Spread float64
	Solver program.Solver // of integer programs; nil for program.Embedded
	Nodes  int            // most nodes of one of program.Embedded; 0 for its own limit
	Most   time.Duration  // that better intervals are sought for once there are safe ones; 0 for no such limit
}

// Widths are the intervals that are published in the place of values; Low and High are equal for a cell that is published exactly.
type Widths struct {
	Low, High []int64
	Open      []bool // cells whose interval has a width
	Loss      int64  // the sum of costs times widths
	Bound     float64
	Cuts      int // what attackers asked for
	Rounds    int // of linear and integer programs
	// Needs are what attackers were kept from: those given, raised by draws.
	Needs  []protection.Need
	Report *protection.Report // the audit of the needs
	// Stopped tells that a limit ended the search.
	Stopped bool
}

// Optimal tells whether no such intervals cost less, as far as needs and chance go.
func (w *Widths) Optimal() bool { return w.Bound > float64(w.Loss)-1+1e-6 }

// Gap is by how much of its loss a cheaper choice might be cheaper, 0 to 1.
func (w *Widths) Gap() float64 { return max(0, float64(w.Loss)-w.Bound) / max(1, float64(w.Loss)) }

// Intervals publishes intervals in the place of values (partial cell suppression, Fischetti & Salazar-González 2003, 2005): their ends cost
// least such that nobody who knows all of them, all other values and the equations finds a smaller interval of a cell than it needs, on both
// sides. A linear program has the ends, to which attackers add what they ask for by the duals of theirs; ends are whole units, rounded
// outwards, or those of an integer program if that is not proven to cost least. Every choice is audited as by protection.Audit.
//
// What is known of the true value's place: an interval reaches at least the needed levels to both sides of it, so who knows the levels knows
// that it is as far from both ends. Without draws, equal levels put many values in the middle and a one-sided need puts values at an end: to
// take the middle is to know them. With Spread both distances are drawn apart, by the secret; a spread of 1 or more makes the place within
// the interval nearly as uncertain as the levels are wide.
//
// Errors: those of Check of a table, needs of cells that are not there or protected, *CellError for a level that no intervals allow,
// a table of more than 4000 equations, a context that ended before there were safe intervals, those of the solver.
func Intervals(ctx context.Context, t *protection.Table, needs []protection.Need, o Options) (*Widths, error) {
	w, err := newWidening(ctx, t, needs, o)
	if err != nil {
		return nil, err
	}
	defer func() { w.cancel() }()
	if err := w.start(); err != nil {
		return nil, err
	}
	err = w.relaxed()
	if err == nil {
		err = w.rounded()
	}
	if err == nil {
		err = w.trim()
	}
	if err == nil && w.step == 1 {
		err = w.integer()
	}
	switch {
	case errors.Is(ctx.Err(), context.Canceled):
		return nil, ctx.Err()
	case w.best == nil && err == nil:
		return nil, program.ErrNumerical
	case w.best == nil:
		return nil, fmt.Errorf("no safe intervals were found: %w; a safe pattern to start with would do", err)
	case err != nil && !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, errLimit) && !errors.Is(err, program.ErrNumerical):
		return nil, err
	}
	w.best.Bound, w.best.Cuts, w.best.Rounds, w.best.Needs = min(w.bound*w.step, float64(w.best.Loss)), len(w.rows), w.rounds, w.needs
	w.best.Stopped = err != nil && !errors.Is(err, program.ErrNumerical) && !w.best.Optimal()
	if o.Draws != nil && o.Spread > 0 {
		w.ctx = context.WithoutCancel(ctx) // one more audit
		if err := w.scatter(); err != nil {
			return nil, err
		}
	}
	return w.best, nil
}

// errLimit says that a limit passed.
var errLimit = errors.New("a limit was reached")

// mostRows is the most equations of a table whose intervals are looked for: each pair of them takes 8 bytes.
const mostRows = 4000

// A widening is a run of Intervals.
type widening struct {
	*protection.Table
	ctx      context.Context
	cancel   func()
	o        Options
	needs    []protection.Need
	cells    []int32 // that may be open, by place
	place    []int32 // by cell, -1 for none
	down, up []float64
	step     float64 // units of the programs
	scale    float64 // of costs
	attacker *program.Simplex
	attacks  []try
	rows     []program.Row // of the master: what attackers asked for, columns are lower ends, then upper ones
	master   *program.Simplex
	bound    float64
	rounds   int
	best     *Widths
}

func newWidening(ctx context.Context, t *protection.Table, needs []protection.Need, o Options) (*widening, error) {
	if err := t.Check(); err != nil {
		return nil, err
	}
	n := t.System.Cells
	if len(o.Cost) != n || o.Protected != nil && len(o.Protected) != n || o.Start != nil && len(o.Start) != n {
		return nil, fmt.Errorf("costs, protected cells and a start are of %d, %d and %d cells, where the table has %d", len(o.Cost),
			len(o.Protected), len(o.Start), n)
	}
	if len(t.System.Equations) > mostRows {
		return nil, fmt.Errorf("intervals of a table of %d equations are not looked for, %d is the most: hide cells, or take fewer variables",
			len(t.System.Equations), mostRows)
	}
	if !(o.Spread >= 0 && o.Spread <= 1<<10) {
		return nil, fmt.Errorf("levels are raised by %v times their size: it must be from 0 to %d, such as 1", o.Spread, 1<<10)
	}
	w := &widening{Table: t, ctx: ctx, cancel: func() {}, o: o, place: slices.Repeat([]int32{-1}, n), step: 1}
	if err := w.take(needs); err != nil {
		return nil, err
	}
	dearest := int64(0)
	for cell, x := range t.Values {
		cost := o.Cost[cell]
		needed := slices.ContainsFunc(w.needs, func(n protection.Need) bool { return int(n.Cell) == cell })
		switch {
		case cost < 0 || cost > protection.MaxValue:
			return nil, cellError(int32(cell), "has the cost %d: costs are 0 to 2^53", cost)
		case o.Protected != nil && o.Protected[cell] && needed:
			return nil, cellError(int32(cell), "has a need and is protected: its interval has to be wide, and must not be")
		case x == 0 && !needed || o.Protected != nil && o.Protected[cell]:
			continue
		}
		dearest = max(dearest, cost)
		w.place[cell] = int32(len(w.cells))
		w.cells = append(w.cells, int32(cell))
	}
	for w.scale = 1; float64(dearest) > 1024*w.scale; {
		w.scale *= 2
	}
	return w, nil
}

// finite is a distance as a number, infinite for none.
func finite(units int64) float64 {
	if units == tabular.NoLimit {
		return program.Infinity
	}
	return float64(units)
}

// room is how far from its value a cell can be, as everybody knows.
func (w *widening) room(cell int32) (down, up int64) {
	return (&control{Table: w.Table}).room(int(cell))
}

// take checks needs, and raises them by draws.
func (w *widening) take(needs []protection.Need) error {
	met := make(map[int32]bool)
	for _, need := range needs {
		switch {
		case need.Cell < 0 || int(need.Cell) >= w.System.Cells || met[need.Cell]:
			return cellError(need.Cell, "has two needs, or is none of %d cells", w.System.Cells)
		case min(need.Lower, need.Upper, need.Sliding) < 0 || max(need.Lower, need.Upper, need.Sliding) > protection.MaxValue:
			return cellError(need.Cell, "needs %d below, %d above, and a width of %d: each is 0 to 2^53", need.Lower, need.Upper, need.Sliding)
		}
		met[need.Cell] = true
		down, up := w.room(need.Cell)
		if need.Upper > up || need.Sliding > plus(down, up) {
			return cellError(need.Cell, "needs %d above it and a width of %d, where everybody knows that it is from %d below to %s above: lower the level",
				need.Upper, need.Sliding, down, unlimited(up))
		}
		need.Lower, need.Sliding = min(need.Lower, down), max(need.Sliding, 1)
		w.needs = append(w.needs, need)
	}
	return nil
}

// plus is a sum without an end where one of the two has none.
func plus(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

// start finds out whether the needs can be met at all, raises them where they can be then too, and takes over a pattern.
func (w *widening) start() error {
	open := make([]bool, w.System.Cells)
	for _, cell := range w.cells {
		open[cell] = true
	}
	r, err := protection.Audit(w.ctx, w.Table, open, w.needs, w.o.Insider)
	if err != nil {
		return err
	}
	if failed := r.Failed(); len(failed) > 0 {
		f := failed[0]
		who := "others know"
		if f.Holder != 0 {
			who = fmt.Sprintf("the holder %d knows", f.Holder)
		}
		return cellError(f.Need.Cell, "needs an interval of %d below its value and %d above: with intervals for all cells that may have one %s "+
			"it to within %d and %s; let totals have intervals, or lower the level", f.Need.Lower, f.Need.Upper, who, f.Low, unlimited(f.High))
	}
	if w.o.Draws != nil && w.o.Spread > 0 {
		given := slices.Clone(w.needs)
		for i, need := range given {
			w.needs[i] = w.raised(need)
		}
		if r, err = protection.Audit(w.ctx, w.Table, open, w.needs, w.o.Insider); err != nil {
			return err
		}
		for i, f := range r.Findings {
			if f.Verdict != protection.Pass {
				w.needs[i] = given[i]
			}
		}
	}
	for _, need := range w.needs {
		for float64(max(need.Lower, need.Upper, need.Sliding)) > coarse*w.step {
			w.step *= 2
		}
	}
	for _, cell := range w.cells {
		down, up := w.room(cell)
		w.down, w.up = append(w.down, finite(down)/w.step), append(w.up, finite(up)/w.step)
	}
	if w.o.Start == nil {
		return nil
	}
	return w.pattern()
}

// consider keeps intervals that are safe if they are the best, and is what failed.
func (w *widening) consider(low, high []int64) ([]protection.Finding, error) {
	c := &Widths{Low: low, High: high}
	report, err := w.audit(c)
	if err != nil {
		return nil, err
	}
	failed := report.Failed()
	sum := 0.0
	for cell := range low {
		if sum += float64(w.o.Cost[cell]) * float64(high[cell]-low[cell]); sum > 1<<62 {
			return nil, errors.New("the costs of the intervals are beyond whole numbers of 64 bits: take smaller costs")
		}
		c.Loss += w.o.Cost[cell] * (high[cell] - low[cell])
	}
	if c.Report = report; len(failed) == 0 && (w.best == nil || c.Loss < w.best.Loss) {
		if w.best == nil && w.o.Most > 0 {
			w.ctx, w.cancel = context.WithTimeout(w.ctx, w.o.Most)
		}
		w.best = c
	}
	return failed, nil
}

// audit lets all attackers try intervals: they are what everybody knows of cells. A need that the published interval itself does not have
// fails.
func (w *widening) audit(c *Widths) (*protection.Report, error) {
	c.Open = make([]bool, len(c.Low))
	for cell := range c.Low {
		c.Open[cell] = c.Low[cell] < c.High[cell]
	}
	known := &protection.Table{System: w.System, Values: w.Values, Low: c.Low, High: c.High, Sole: w.Sole, Grid: w.Grid}
	r, err := protection.Audit(w.ctx, known, c.Open, w.needs, w.o.Insider)
	if err != nil {
		return nil, err
	}
	for i, need := range w.needs {
		f := &r.Findings[i]
		x := w.Values[need.Cell]
		if f.Verdict == protection.Pass && (c.Low[need.Cell] > x-need.Lower || c.High[need.Cell] < x+need.Upper) {
			f.Verdict = protection.Under
		}
	}
	return r, nil
}
