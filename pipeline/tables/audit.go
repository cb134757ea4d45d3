package tables

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"microrisk/engine/tabular"
	"microrisk/engine/tabular/detection"
	"microrisk/engine/tabular/protection"
	"microrisk/operators"
	"microrisk/operators/protect"
	"microrisk/pipeline/session"
	"microrisk/schemas"
)

// An AuditSpec asks what a published table gives away.
type AuditSpec struct {
	Public  string         // the published table: variables, and value, which is null where it is not published
	Truth   string         // the internal folder of protect, or a table with the true values
	Config  protect.Config // of a table with the true values: variables, hierarchies, total, decimals; insider, sliding and base of all
	Columns Columns        // of a table with the true values
	Out     string         // file of findings, "" for none
	All     bool           // findings of all hidden cells, not of unsafe ones alone
}

// An Audit is what was found out of a published table.
type Audit struct {
	Cells, Hidden, Changed int // published, not published, with another value than the true one
	Report                 *protection.Report
	Table                  *protect.Table
	Published              []*int64 // by cell, nil for one that is not published
	also                   []protection.Finding
}

// Failed are the first of the cells that did not pass, in words, and how many there are.
func (a *Audit) Failed(most int) (list []string, all int) {
	failed := a.Report.Failed()
	for _, f := range failed[:min(most, len(failed))] {
		list = append(list, protect.Failure(a.Table, f))
	}
	return list, len(failed)
}

// RunAudit tries all attackers on a published table. Errors about what was asked are those for which session.IsSpec is true.
func RunAudit(ctx context.Context, s AuditSpec, o session.Options) (*Audit, error) {
	o = o.WithDefaults()
	reads, err := session.Readings("the table", []string{s.Public})
	if err != nil {
		return nil, err
	}
	info, err := os.Stat(s.Truth)
	if err != nil {
		return nil, session.Wrong(fmt.Errorf("the truth %s cannot be read: %w", s.Truth, err))
	}
	var trees []*tabular.Tree // of the log; nil: those of hierarchies
	truth := s.Truth
	if info.IsDir() {
		truth = filepath.Join(s.Truth, "cells.parquet")
		if trees, err = s.logged(filepath.Join(s.Truth, "log.json")); err != nil {
			return nil, session.Wrong(err)
		}
	}
	base := s.Config.Base // said, or logged
	schemas.Complete(s.Config.Fields())
	s.Config.Base = base
	if len(s.Config.Table) == 0 {
		return nil, session.Wrong(errors.New("name the variables of the table (--table), or give the internal folder of protect as --truth"))
	}
	for _, path := range s.Config.Hierarchies {
		reads = append(reads, session.Reading{What: "the hierarchy", Path: path})
	}
	reads = append(reads, session.Reading{What: "the truth", Path: truth})
	if s.Out != "" {
		if err := session.KnownKind(s.Out); err != nil {
			return nil, err
		}
		if err := session.CheckPaths(append(reads, o.Reads...), []string{s.Out}); err != nil {
			return nil, err
		}
		o.Sweep(s.Out)
	}
	if trees == nil {
		with, err := operatorOf(ctx, &s.Config, o)
		if err != nil {
			return nil, err
		}
		if trees, err = treesOf(with, &s.Config); err != nil {
			return nil, session.Wrong(err)
		}
	}
	t, err := read(ctx, truth, &s.Config, &s.Columns, trees, o)
	if err != nil {
		return nil, err
	}
	if t.Status == nil {
		return nil, session.Wrong(fmt.Errorf("it is not said which cells of %s are unsafe: name the column that tells (--status)", truth))
	}
	a := &Audit{Table: t}
	if err := a.published(ctx, &s, o); err != nil {
		return nil, err
	}
	if err := a.ask(ctx, &s, info.IsDir()); err != nil {
		return nil, err
	}
	if s.Out == "" {
		return a, nil
	}
	if s.All && a.Changed == 0 {
		if err := a.others(ctx, info.IsDir()); err != nil {
			return nil, err
		}
	}
	return a, session.WriteRecord(ctx, s.Out, findings{a, s.Config.Total}, o, []string{s.Public, truth})
}

// logged takes over what the log of protect says, and gives the trees of its variables.
func (s *AuditSpec) logged(path string) ([]*tabular.Tree, error) {
	text, err := session.ReadRegular(path, protect.LargestFile)
	if err != nil {
		return nil, fmt.Errorf("the log %s cannot be read: %w", path, err)
	}
	var l protect.Log
	if err := json.Unmarshal(text, &l); err != nil || l.Version != 1 || len(l.Variables) == 0 {
		return nil, fmt.Errorf("%s is no log of microrisk table protect", path)
	}
	var trees []*tabular.Tree
	s.Config.Table = nil
	for _, v := range l.Variables {
		t, err := v.Tree()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		trees = append(trees, t)
		s.Config.Table = append(s.Config.Table, schemas.KeyVariable{Name: v.Name})
	}
	s.Config.Total, s.Config.Decimals, s.Config.Absolute = l.Total, int64(l.Decimals), true
	if s.Config.Insider == "" {
		s.Config.Insider = l.Insider
	}
	if s.Config.Sliding == nil && l.Sliding > 0 {
		s.Config.Sliding = &l.Sliding
	}
	if l.Rounding != nil && s.Config.Base == 0 {
		s.Config.Base = l.Rounding.Base
	}
	s.Columns = Columns{Count: "count", Value: "value", Status: "status", Lower: "lower_required", Upper: "upper_required", sole: "sole_contributor"}
	return trees, nil
}

// published reads the published values.
func (a *Audit) published(ctx context.Context, s *AuditSpec, o session.Options) error {
	source, err := session.OpenPaths(ctx, []string{s.Public}, o)
	if err != nil {
		return err
	}
	defer source.Close()
	column, err := operators.CountColumn(s.Public, source.Schema(), nil)
	if err == nil && column == "" {
		err = operators.NoCounts(s.Public)
	}
	if err != nil {
		return session.Wrong(err)
	}
	var at []int
	for _, v := range append(schemas.VariableNames(s.Config.Table), column) {
		if _, err := operators.LookUp(s.Public, source.Schema(), v); err != nil {
			return session.Wrong(err)
		}
		at = append(at, source.Schema().FieldIndices(v)[0])
	}
	grid := a.Table.Grid
	a.Published = make([]*int64, grid.Cells())
	there := make([]bool, grid.Cells())
	nodes, places := make([]int32, len(grid.Trees)), make([]map[tabular.Category][]int, len(grid.Trees))
	for v, t := range grid.Trees {
		places[v] = t.Places()
	}
	err = operators.EachCell(ctx, source, at[:len(nodes)], func(text string) bool { return text == s.Config.Total },
		func(cell []tabular.Category, batch arrow.Record, row int) error {
			for v, code := range cell {
				at := places[v][code]
				if len(at) != 1 {
					return fmt.Errorf("%s has the cell %s, whose %s is no category of the true table, or several", s.Public, tabular.Words(cell),
						grid.Trees[v].Name)
				}
				nodes[v] = int32(at[0])
			}
			at, values := grid.Find(nodes), batch.Column(at[len(nodes)])
			switch {
			case at < 0 && values.IsNull(row):
				return fmt.Errorf("%s hides the cell %s, which is empty: whoever knows that has one unknown less", s.Public, tabular.Words(cell))
			case at < 0:
				if v, err := protect.Units(values, row, a.Table.Decimals); err == nil && v == 0 {
					return nil
				}
				return fmt.Errorf("%s has a value in the cell %s, which is empty", s.Public, tabular.Words(cell))
			case there[at]:
				return fmt.Errorf("%s has the cell %s twice", s.Public, tabular.Words(cell))
			}
			there[at] = true
			if values.IsNull(row) {
				return nil
			}
			v, err := protect.Units(values, row, a.Table.Decimals)
			if err != nil {
				return fmt.Errorf("%s: the cell %s: %w", s.Public, tabular.Words(cell), err)
			}
			a.Published[at] = &v
			return nil
		})
	if err != nil {
		return session.Wrong(err)
	}
	for cell, is := range there {
		switch {
		case is || a.Table.Values[cell] == 0:
		case s.Config.Base > 1:
			a.Published[cell] = new(int64) // rounded to 0
		default:
			return session.Wrong(fmt.Errorf("%s does not have the cell %s, which is not empty", s.Public, tabular.Words(grid.Codes(cell))))
		}
	}
	return nil
}

// known is what everybody knows beforehand: nothing but what is not negative of tables of other programs, which may hide zeros.
func (a *Audit) known(logged bool) *protection.Table {
	if logged {
		return a.Table.Known()
	}
	return a.Table.KnownFrom(0)
}

// ask tries the attackers.
func (a *Audit) ask(ctx context.Context, s *AuditSpec, logged bool) error {
	t := a.Table
	hidden := make([]bool, len(t.Values))
	values := slices.Clone(t.Values)
	for cell, v := range a.Published {
		switch {
		case v == nil && t.Values[cell] != 0:
			hidden[cell] = true
			a.Hidden++
		case v != nil:
			a.Cells++
			if values[cell] = *v; *v != t.Values[cell] {
				a.Changed++
			}
		}
	}
	needs := t.Needs(a.findings(logged), s.Config.Sliding)
	var err error
	if a.Changed == 0 {
		a.Report, err = protection.Audit(ctx, a.known(logged), hidden, needs, protect.InsiderOf(s.Config.Insider))
		return err
	}
	switch {
	case s.Config.Base < 2:
		return session.Wrong(fmt.Errorf("%d published values are not the true ones; if they were rounded, say to which base (--base)", a.Changed))
	case a.Hidden > 0:
		return session.Wrong(errors.New("some cells are hidden and others are rounded: one table is protected in one way"))
	}
	width := int64(1)
	if s := s.Config.Sliding; s != nil {
		width = int64(*s)
	}
	a.Report, err = protect.AuditRounded(ctx, t.KnownFrom(0), values, s.Config.Base, needs, width)
	return err
}

// findings are what the true table says of its cells, with the levels that they need.
func (a *Audit) findings(logged bool) []detection.Finding {
	t := a.Table
	list := make([]detection.Finding, len(t.Values))
	for cell, status := range t.Status {
		f := &list[cell]
		f.Status = detection.StatusOf(status)
		switch {
		case !f.Status.Primary():
		case t.Lower == nil:
			f.Lower, f.Upper = t.Level(cell), t.Level(cell)
		case logged: // as values, not as distances
			f.Lower, f.Upper = max(t.Values[cell]-t.Lower[cell], 0), max(t.Upper[cell]-t.Values[cell], 0)
		default:
			f.Lower, f.Upper = t.Lower[cell], t.Upper[cell]
		}
	}
	return list
}

// others finds the intervals of hidden cells that are not unsafe, for the file of findings.
func (a *Audit) others(ctx context.Context, logged bool) error {
	unsafe := make(map[int32]bool)
	for _, f := range a.Report.Findings {
		unsafe[f.Need.Cell] = true
	}
	hidden := make([]bool, len(a.Published))
	var cells []int32
	for cell, v := range a.Published {
		if hidden[cell] = v == nil && a.Table.Values[cell] != 0; hidden[cell] && !unsafe[int32(cell)] {
			cells = append(cells, int32(cell))
		}
	}
	list, err := protection.Intervals(ctx, a.known(logged), hidden, cells)
	for i, x := range list {
		a.also = append(a.also, protection.Finding{Need: protection.Need{Cell: cells[i]}, Interval: x})
	}
	return err
}

// findings are those of an audit as a file has them.
type findings struct {
	*Audit
	total string
}

// Tables is a Tabled's.
func (f findings) Tables(mem memory.Allocator) arrow.Record {
	list := slices.Concat(f.Report.Findings, f.also)
	unsafe := len(f.Report.Findings)
	c := &operators.Columns{Mem: mem, Rows: len(list), Total: f.total}
	cell := func(row int) int { return int(list[row].Need.Cell) }
	f.Table.Keys(c, cell)
	f.Table.Column(c, "value", func(row int) (int64, bool) { return f.Table.Values[cell(row)], true })
	f.Table.Column(c, "lower", func(row int) (int64, bool) { return list[row].Low, list[row].Low != protection.NoLow })
	f.Table.Column(c, "upper", func(row int) (int64, bool) { return list[row].High, list[row].High != tabular.NoLimit })
	c.TextsOrNull("audit", func(row int) *string {
		if row >= unsafe {
			return nil // it need not be protected by itself
		}
		text := list[row].Verdict.String()
		return &text
	})
	c.TextsOrNull("attacker", func(row int) *string {
		who := "anybody"
		if list[row].Holder != 0 {
			who = "insider"
		}
		return &who
	})
	return c.Record()
}
