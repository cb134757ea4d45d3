// Package audit tries on a published table what an attacker would: it finds, for every cell that discloses, the least and the largest value
// that the published values and the totals leave possible, for anybody, and for those who are the only ones in a hidden cell.
package audit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"

	"microrisk/engine/tabular"
	"microrisk/engine/tabular/detection"
	"microrisk/engine/tabular/protection"
	"microrisk/operators/protect"
	"microrisk/schemas"
)

// A Truth is the table that a published one was made of.
type Truth struct {
	Table    *protect.Table
	Topic    string // what it is about, as its log says
	Weighted bool   // contributors stand for others
	Response string // what values are sums of; "" for counts
	Total    string // what files call totals
	Recodes  []protect.LoggedRecode
	Answered bool // people without a value were left out
	Logged   bool // it is that of an internal folder: its levels are values
	Asked
}

// Asked is what attackers must not learn, and how values were changed.
type Asked struct {
	Insider    string       // exact, full or off
	Beforehand string       // occupied, or nothing, which "" is too
	Sliding    *int         // the width that intervals need, instead of the levels of cells
	Base       int64        // of rounding; 0: values were not rounded, or by Way
	Way        *protect.Way // how the log says that values were made; nil: it is not known, or there is no log
}

// A Published table is one that is being read.
type Published struct {
	*Truth
	name   string
	places []map[tabular.Category][]int
	nodes  []int32
	there  []bool
	values []*int64 // by cell; nil for one that is not published
	low    []int64  // intervals; nil if the table has none
	high   []int64
}

// NewPublished is a published table of a truth, before its cells are read; name is its file's, for messages.
func NewPublished(name string, t *Truth) *Published {
	grid := t.Table.Grid
	p := &Published{Truth: t, name: name, nodes: make([]int32, len(grid.Trees)), there: make([]bool, grid.Cells()), values: make([]*int64, grid.Cells())}
	for _, tree := range grid.Trees {
		p.places = append(p.places, tree.Places())
	}
	return p
}

// An Interval stands beside a cell that is not published, or one without ends: protection.NoLow, tabular.NoLimit.
type Interval struct{ Low, High int64 }

// NoInterval tells nothing.
var NoInterval = Interval{protection.NoLow, tabular.NoLimit}

// intervalOf are the two ends of one; a missing end is none.
func intervalOf(end func(i int) (v int64, there bool, err error)) (Interval, error) {
	in := NoInterval
	for i, to := range []*int64{&in.Low, &in.High} {
		v, there, err := end(i)
		if err != nil {
			return in, err
		}
		if there {
			*to = v
		}
	}
	return in, nil
}

// IntervalAt is the interval of a row of two columns, of so many decimals.
func IntervalAt(lower, upper arrow.Array, row, decimals int) (Interval, error) {
	return intervalOf(func(i int) (int64, bool, error) {
		column := []arrow.Array{lower, upper}[i]
		if column.IsNull(row) {
			return 0, false, nil
		}
		v, err := protect.Units(column, row, decimals)
		return v, true, err
	})
}

// HasIntervals tells whether a published table has columns of intervals.
func HasIntervals(schema *arrow.Schema, variables []string) bool {
	return schema.HasField(schemas.LowerColumn) && schema.HasField(schemas.UpperColumn) &&
		!slices.Contains(variables, schemas.LowerColumn) && !slices.Contains(variables, schemas.UpperColumn)
}

// Intervals says that the table has columns of intervals.
func (p *Published) Intervals() {
	p.low, p.high = slices.Repeat([]int64{protection.NoLow}, len(p.values)), slices.Repeat([]int64{tabular.NoLimit}, len(p.values))
}

// Take takes a cell. value is what is published of it, in units; nil where that is nothing, but perhaps an interval.
func (p *Published) Take(cell []tabular.Category, value func() (int64, error), in Interval) error {
	for v, code := range cell {
		at := p.places[v][code]
		if len(at) != 1 {
			return fmt.Errorf("%s has the cell %s, whose %s is no category of the true table, or several", p.name, tabular.Words(cell),
				p.Table.Grid.Trees[v].Name)
		}
		p.nodes[v] = int32(at[0])
	}
	at := p.Table.Grid.Find(p.nodes)
	switch {
	case at < 0 && value == nil:
		return fmt.Errorf("%s hides the cell %s, which is empty: whoever knows that has one unknown less", p.name, tabular.Words(cell))
	case at < 0:
		if v, err := value(); err == nil && v == 0 {
			return nil
		}
		return fmt.Errorf("%s has a value in the cell %s, which is empty", p.name, tabular.Words(cell))
	case p.there[at]:
		return fmt.Errorf("%s has the cell %s twice", p.name, tabular.Words(cell))
	}
	p.there[at] = true
	if value == nil {
		if p.low != nil {
			p.low[at], p.high[at] = in.Low, in.High
		}
		return nil
	}
	v, err := value()
	if err != nil {
		return fmt.Errorf("%s: the cell %s: %w", p.name, tabular.Words(cell), err)
	}
	p.values[at] = &v
	return nil
}

// An Audit is what was found out of a published table.
type Audit struct {
	*Truth
	Cells, Hidden, Changed int // published, not published, with another value than the true one
	Report                 *protection.Report
	known                  *protection.Table
	hidden                 []bool
	values                 []int64 // published, or true
	low, high              []int64 // intervals beside hidden cells; nil for none
	way                    *protect.Way
	also                   []protection.Finding
	told                   []bool  // cells that records tell, nil for none
	least                  []int64 // records that are in each cell, nil for none
}

// Compare compares what was read with the truth. Errors are those of what is not there, and of ways of protection that are none.
func (p *Published) Compare() (*Audit, error) {
	t := p.Table
	a := &Audit{Truth: p.Truth, hidden: make([]bool, len(t.Values)), values: slices.Clone(t.Values), low: p.low, high: p.high, way: p.way()}
	for cell, is := range p.there {
		switch {
		case is || t.Values[cell] == 0:
		case a.way.Changes():
			p.values[cell] = new(int64) // it became 0
		default:
			return nil, fmt.Errorf("%s does not have the cell %s, which is not empty", p.name, t.Words(cell))
		}
	}
	for cell, v := range p.values {
		switch {
		case v == nil && t.Values[cell] != 0:
			a.hidden[cell] = true
			a.Hidden++
		case v != nil:
			a.Cells++
			if a.values[cell] = *v; *v != t.Values[cell] {
				a.Changed++
			}
		}
	}
	switch {
	case a.Changed > 0 && !a.way.Changes() && p.Way != nil:
		return nil, fmt.Errorf("%d published values are not the true ones, and the log says that the table was made by the method %s, which changes none", a.Changed,
			p.Way.Method)
	case a.Changed > 0 && !a.way.Changes():
		return nil, fmt.Errorf("%d published values are not the true ones; if they were rounded, say to which base (--base)", a.Changed)
	case a.Hidden > 0 && !a.way.Hides() && a.Changed > 0:
		return nil, errors.New("some cells are hidden and others are changed: one table is protected in one way")
	case a.Hidden > 0 && !a.way.Hides():
		a.way = patterns
	}
	return a, nil
}

// patterns is the way of tables that publish true values, or none.
var patterns = &protect.Way{Method: "hand"}

// way is how values were made: as is said, as the log says, or by hiding cells.
func (p *Published) way() *protect.Way {
	switch {
	case p.Base > 1:
		return &protect.Way{Method: "rounding", Base: p.Base}
	case p.Way != nil:
		return p.Way
	}
	return patterns
}

// Ask tries all attackers. all: the intervals of hidden cells that do not disclose are found too.
func (a *Audit) Ask(ctx context.Context, all bool) (err error) {
	beforehand := cmp.Or(a.Beforehand, "nothing")
	given := a.given()
	if a.known, err = protect.Narrowed(a.Table, a.Table.Known(beforehand), given); err != nil {
		return err
	}
	a.Report, err = a.way.Audit(ctx, a.Table, given,
		&protect.Attack{Needs: a.Table.Needs(a.findings(), nil), Sliding: a.Sliding, Insider: a.Insider, Beforehand: beforehand})
	if err != nil || !all || a.way.Changes() {
		return err
	}
	return a.others(ctx)
}

// findings are what the true table says of its cells, with the levels that they need.
func (a *Audit) findings() []detection.Finding {
	t := a.Table
	list := make([]detection.Finding, len(t.Values))
	for cell, status := range t.Status {
		f := &list[cell]
		f.Status = detection.StatusOf(status)
		switch {
		case !f.Status.Primary():
		case t.Lower == nil:
			f.Lower, f.Upper = t.Level(cell), t.Level(cell)
		case a.Logged: // as values, not as distances
			f.Lower, f.Upper = max(t.Values[cell]-t.Lower[cell], 0), max(t.Upper[cell]-t.Values[cell], 0)
		default:
			f.Lower, f.Upper = t.Lower[cell], t.Upper[cell]
		}
	}
	return list
}

// others finds the intervals of hidden cells that are not unsafe.
func (a *Audit) others(ctx context.Context) error {
	unsafe := make(map[int32]bool)
	for _, f := range a.Report.Findings {
		unsafe[f.Need.Cell] = true
	}
	var cells []int32
	for cell, hidden := range a.hidden {
		if hidden && !unsafe[int32(cell)] {
			cells = append(cells, int32(cell))
		}
	}
	list, err := protection.Intervals(ctx, a.known, a.hidden, cells)
	for i, x := range list {
		a.also = append(a.also, protection.Finding{Need: protection.Need{Cell: cells[i]}, Interval: x})
	}
	return err
}

// A FailedError says that a published table is not safe.
type FailedError struct {
	Cells []string // with what is wrong
	All   int
	Many  bool // tables together
}

func (e *FailedError) Error() string {
	more := ""
	if n := e.All - len(e.Cells); n > 0 {
		more = fmt.Sprintf("; and %d more", n)
	}
	what := "the table is"
	if e.Many {
		what = "the tables together are"
	}
	return fmt.Sprintf("%s not safe: %s%s", what, strings.Join(e.Cells, "; "), more)
}

// shownCells is how many cells an error names.
const shownCells = 5

// Passed is a *FailedError of cells that did not pass.
func (a *Audit) Passed() error {
	failed := a.Report.Failed()
	if len(failed) == 0 {
		return nil
	}
	e := &FailedError{All: len(failed)}
	for _, f := range failed[:min(len(failed), shownCells)] {
		e.Cells = append(e.Cells, a.way.Failure(a.Table, f))
	}
	return e
}
