package audit

import (
	"context"
	_ "embed"
	"fmt"
	"strconv"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"microrisk/engine/contingency"
	"microrisk/engine/tabular"
	"microrisk/engine/tabular/protection"
	"microrisk/operators"
	"microrisk/operators/protect"
	"microrisk/operators/report"
	"microrisk/schemas"
)

// document describes the operator's part of the summary.
//
//go:embed summary.schema.json
var document []byte

func init() {
	operators.Register(schemas.Kind{Name: Name, Document: document, New: func() schemas.Config { return &Config{} },
		Doc: "Tries on a published table, which is the source, what an attacker would; a run of a table that is not safe fails."})
}

// Operators is an operators.Config's.
func (c *Config) Operators(with operators.Setup) []operators.Operator {
	o := Operator{Config: *c}
	log, is := with.Files.Documents[c.log()].(*Log)
	truth, there := with.Files.Documents[c.cells()].(*Truth)
	if is && there {
		asked := Asked{Insider: c.Insider, Beforehand: c.Beforehand, Sliding: c.Sliding}
		if c.Base != nil {
			asked.Base = int64(*c.Base)
		}
		t := *truth
		t.Asked, o.wrong = log.Over(asked)
		o.Truth = &t
	}
	list := []operators.Operator{o}
	if o.Truth != nil {
		d := o.Truth.Table.Decimals
		list = []operators.Operator{values{d}, ends{schemas.LowerColumn, d}, ends{schemas.UpperColumn, d}, o}
	}
	return list
}

// valuesColumn is the name of the published values in units, which no file has.
const valuesColumn = "published values in units of their last decimal"

// values makes whole numbers of units of the column of values, whatever that is called.
type values struct{ decimals int }

// Bind is an Operator's.
func (v values) Bind(in *arrow.Schema) (*operators.Plan, error) {
	column, err := operators.CountColumn("the published table", in, nil)
	if err == nil && column == "" {
		err = operators.NoCounts("the published table")
	}
	if err != nil {
		return nil, err
	}
	return protect.InUnits{What: "the published", From: column, To: valuesColumn, Decimals: v.decimals, Absolute: true, Empty: true}.Bind(in)
}

// ends makes whole numbers of units of a column of ends of intervals, if there is one.
type ends struct {
	column   string
	decimals int
}

// Bind is an Operator's.
func (e ends) Bind(in *arrow.Schema) (*operators.Plan, error) {
	if !in.HasField(e.column) {
		return &operators.Plan{Apply: e}, nil
	}
	return protect.InUnits{What: "the published", From: e.column, To: inUnits(e.column), Decimals: e.decimals, Absolute: true, Empty: true}.Bind(in)
}

// Apply is a Fitted's: there is no column.
func (e ends) Apply(context.Context, memory.Allocator, operators.Rows) ([]arrow.Array, *operators.Bitmap, error) {
	return nil, nil, nil
}

// Summary is a Fitted's.
func (e ends) Summary() any { return nil }

func inUnits(column string) string { return column + " in units of its last decimal" }

// An Operator audits the table that is its source: a row a cell, with its variables and a column of values, null where nothing is published.
// It adds no columns.
type Operator struct {
	Config Config
	Truth  *Truth
	wrong  error // of what is asked
}

// Bind is an Operator's.
func (o Operator) Bind(in *arrow.Schema) (*operators.Plan, error) {
	name := o.Config.ColumnPrefix()
	if o.Truth == nil {
		return nil, fmt.Errorf("%s: the truth %s was not read", name, o.Config.Truth)
	}
	if o.wrong != nil {
		return nil, fmt.Errorf("%s: %w", name, o.wrong)
	}
	key := schemas.Key{}
	for _, t := range o.Truth.Table.Grid.Trees {
		key.Variables = append(key.Variables, schemas.KeyVariable{Name: t.Name})
	}
	key.Variables = append(key.Variables, schemas.KeyVariable{Name: valuesColumn})
	if HasIntervals(in, schemas.VariableNames(key.Variables)) {
		key.Variables = append(key.Variables, schemas.KeyVariable{Name: inUnits(schemas.LowerColumn)}, schemas.KeyVariable{Name: inUnits(schemas.UpperColumn)})
	}
	request, err := (operators.Key{Who: name, Policy: schemas.MissingCategory, Key: key}).Request(in)
	if err != nil {
		return nil, err
	}
	return &operators.Plan{Name: name, Tables: []contingency.Request{request}, Fit: o.fit}, nil
}

func (o Operator) fit(ctx context.Context, tables []*contingency.Table, env operators.Env) (operators.Fitted, error) {
	p, err := o.published(ctx, tables[0])
	if err != nil {
		return nil, err
	}
	a, err := p.Compare()
	if err != nil {
		return nil, err
	}
	env.Progress("auditing cells", 0, int64(len(a.values)))
	told := protection.Telling(ctx, func(done, all int) { env.Progress("auditing cells", int64(done), int64(all)) })
	if err := a.Ask(told, o.Config.All); err != nil {
		return nil, err
	}
	env.Progress("auditing cells", int64(len(a.values)), int64(len(a.values)))
	return fitted{a}, a.Passed()
}

// published takes the cells of what was counted: a class each, of one record.
func (o Operator) published(ctx context.Context, t *contingency.Table) (*Published, error) {
	p := NewPublished("the published table", o.Truth)
	last := len(o.Truth.Table.Grid.Trees)
	intervals := len(t.Variables) > last+1
	if intervals {
		p.Intervals()
	}
	number := func(class, v int) (int64, bool, error) {
		code := t.Code(class, v)
		if code == t.Variables[v].Missing() {
			return 0, false, nil
		}
		n, err := strconv.ParseInt(t.Variables[v].Categories[code], 10, 64)
		return n, true, err
	}
	cell := make([]tabular.Category, last)
	for class := range t.Classes() {
		if class%(1<<14) == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		for v := range cell {
			cell[v] = tabular.Missing
			if code := t.Code(class, v); code != t.Variables[v].Missing() {
				if cell[v] = tabular.Of(t.Variables[v].Categories[code]); cell[v].Label == o.Truth.Total {
					cell[v] = tabular.Total
				}
			}
		}
		var value func() (int64, error)
		if _, there, _ := number(class, last); there {
			value = func() (int64, error) {
				v, _, err := number(class, last)
				return v, err
			}
		}
		in := NoInterval
		if intervals {
			var err error
			if in, err = intervalOf(func(end int) (int64, bool, error) { return number(class, last+1+end) }); err != nil {
				return nil, err
			}
		}
		for range min(t.Count(class), 2) { // a cell twice is told by the second
			if err := p.Take(cell, value, in); err != nil {
				return nil, err
			}
		}
	}
	return p, t.Err()
}

// fitted is an audited table.
type fitted struct{ *Audit }

// Summary is a Fitted's.
func (f fitted) Summary() any { return f.Audit.Summary() }

// Apply is a Fitted's: there are no columns.
func (f fitted) Apply(context.Context, memory.Allocator, operators.Rows) ([]arrow.Array, *operators.Bitmap, error) {
	return nil, nil, nil
}

// A Summary is the operator's part of the summary.
type Summary struct {
	Cells      int `json:"cells"` // published
	Rounded    int `json:"rounded"`
	Hidden     int `json:"hidden"`
	Components int `json:"components"` // parts of the hidden cells that can be worked out apart from the others
	Largest    int `json:"largest_component"`
	Unsafe     int `json:"unsafe"`
	Enough     int `json:"protected"`
	Under      int `json:"known_too_well"`
	Exact      int `json:"known_exactly"`
}

// Public is a PrivateDocument's: who gets the table does not get to know how many of its hidden cells disclose.
func (s *Summary) Public() any { return nil }

// Summary says what was found out.
func (a *Audit) Summary() *Summary {
	s := &Summary{Cells: a.Cells, Rounded: a.Changed, Hidden: a.Hidden, Unsafe: len(a.Report.Findings)}
	if a.Hidden > 0 {
		s.Components, s.Largest = a.Report.Components, a.Report.Largest
	}
	failed := a.Report.Failed()
	for _, f := range failed {
		if f.Verdict == protection.Exact {
			s.Exact++
		}
	}
	s.Under, s.Enough = len(failed)-s.Exact, s.Unsafe-len(failed)
	return s
}

// Rows say what was found out, for a terminal.
func (s *Summary) Rows() [][]report.Cell {
	row := func(label string, n int, more string) []report.Cell {
		cells := []report.Cell{report.Left(label), report.Right(report.Count(int64(n)))}
		if more != "" {
			cells = append(cells, report.Left(more))
		}
		return cells
	}
	components := ""
	if s.Hidden > 0 {
		components = "in " + report.Plural(int64(s.Components), "component", "components") + ", the largest of " + report.Count(int64(s.Largest))
	}
	return [][]report.Cell{
		row("published cells", s.Cells, ""), row("  rounded", s.Rounded, ""), row("hidden cells", s.Hidden, components), row("unsafe cells", s.Unsafe, ""),
		row("  protected enough", s.Enough, ""), row("  known too well", s.Under, ""), row("  known exactly", s.Exact, ""),
	}
}

// Report is a Reporting operator's.
func (c *Config) Report(_ *schemas.Spec, document any) report.Section {
	parts := []report.Part{{Apart: true, Rows: document.(*Summary).Rows()}}
	if c.Out != "" {
		parts = append(parts, report.Part{Label: "  must not be published  ", Texts: []string{c.Out}})
	}
	return report.Section{Place: report.End, Parts: parts}
}
