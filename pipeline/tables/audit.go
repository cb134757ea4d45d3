// Package tables protects ready-made tables, and audits protected ones, from file to file; packages operators/protect and operators/audit have
// what is done to a table, and engine/tabular the mathematics.
package tables

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/apache/arrow/go/v17/arrow"

	"microrisk/engine/tabular"
	"microrisk/operators"
	"microrisk/operators/audit"
	"microrisk/operators/protect"
	"microrisk/operators/tablefile"
	"microrisk/pipeline/session"
	"microrisk/schemas"
)

// An AuditSpec asks what a published table gives away.
type AuditSpec struct {
	Public  string          // the published table: variables, and value, which is null where it is not published
	Truth   string          // the internal folder of protect, or a table with the true values
	Config  protect.Config  // of a table with the true values: variables, hierarchies, total, decimals; insider, sliding and base of all
	Columns protect.Columns // of a table with the true values
	Out     string          // file of findings, "" for none
	All     bool            // findings of all hidden cells, not of unsafe ones alone
}

// RunAudit tries all attackers on a published table. Errors about what was asked are those for which session.IsSpec is true.
func RunAudit(ctx context.Context, s AuditSpec, o session.Options) (*audit.Audit, error) {
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
	var structure *tablefile.Structure
	truth, logged := s.Truth, info.IsDir()
	if logged {
		truth = filepath.Join(s.Truth, protect.CellsFile)
		if trees, err = s.logged(filepath.Join(s.Truth, protect.LogFile)); err != nil {
			return nil, session.Wrong(err)
		}
	}
	if !logged {
		if structure, err = StructureOf(ctx, truth); err != nil {
			return nil, err
		}
		if structure != nil && structure.Kind == tablefile.KindCells && !s.Columns.Said() {
			s.Columns, s.Config.Absolute, logged = audit.CellColumns, true, true
			s.Config.Beforehand = cmp.Or(s.Config.Beforehand, "occupied")
		}
		if err := fill(&s.Config, structure); err != nil {
			return nil, err
		}
	}
	base, beforehand := s.Config.Base, s.Config.Beforehand // said, or logged
	schemas.Complete(s.Config.Fields())
	s.Config.Base, s.Config.Beforehand = base, beforehand
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
		if trees, err = treesOf(with, &s.Config, truth, structure); err != nil {
			return nil, session.Wrong(err)
		}
	}
	t, err := read(ctx, truth, protect.Ready{Config: &s.Config, Columns: &s.Columns, Trees: trees}, o)
	if err != nil {
		return nil, err
	}
	if t.Status == nil {
		return nil, session.Wrong(fmt.Errorf("it is not said which cells of %s are unsafe: name the column that tells (--status)", truth))
	}
	p, err := s.published(ctx, &audit.Truth{Table: t, Total: s.Config.Total, Logged: logged, Asked: s.asked()}, o)
	if err != nil {
		return nil, err
	}
	a, err := p.Compare()
	if err != nil {
		return nil, session.Wrong(err)
	}
	if err := a.Ask(ctx, s.All && s.Out != ""); err != nil || s.Out == "" {
		return a, err
	}
	return a, session.WriteRecord(ctx, s.Out, a, o, []string{s.Public, truth})
}

// logged takes over what the log of protect says, and gives the trees of its variables.
func (s *AuditSpec) logged(path string) ([]*tabular.Tree, error) {
	text, err := session.ReadRegular(path, protect.LargestFile)
	if err != nil {
		return nil, fmt.Errorf("the log %s cannot be read: %w", path, err)
	}
	l, err := audit.ReadLog(path, text)
	if err != nil {
		return nil, err
	}
	asked := l.Over(s.asked())
	s.Config.Table, s.Config.Linked, s.Config.Total, s.Config.Decimals, s.Config.Absolute = l.Config.Table, l.Config.Linked, l.Config.Total, l.Config.Decimals, true
	s.Config.Insider, s.Config.Beforehand, s.Config.Sliding, s.Config.Base = asked.Insider, asked.Beforehand, asked.Sliding, asked.Base
	s.Columns = l.Columns
	return l.Trees, nil
}

func (s *AuditSpec) asked() audit.Asked {
	return audit.Asked{Insider: s.Config.Insider, Beforehand: s.Config.Beforehand, Sliding: s.Config.Sliding, Base: s.Config.Base}
}

// published reads the published values.
func (s *AuditSpec) published(ctx context.Context, t *audit.Truth, o session.Options) (*audit.Published, error) {
	source, err := session.OpenPaths(ctx, []string{s.Public}, o)
	if err != nil {
		return nil, err
	}
	defer source.Close()
	column, err := operators.CountColumn(s.Public, source.Schema(), nil)
	if err == nil && column == "" {
		err = operators.NoCounts(s.Public)
	}
	if err != nil {
		return nil, session.Wrong(err)
	}
	var at []int
	for _, v := range append(schemas.VariableNames(s.Config.Table), column) {
		if _, err := operators.LookUp(s.Public, source.Schema(), v); err != nil {
			return nil, session.Wrong(err)
		}
		at = append(at, source.Schema().FieldIndices(v)[0])
	}
	variables, values := at[:len(at)-1], at[len(at)-1]
	p := audit.NewPublished(s.Public, t)
	err = operators.EachCell(ctx, source, variables, func(text string) bool { return text == t.Total },
		func(cell []tabular.Category, batch arrow.Record, row int) error {
			if batch.Column(values).IsNull(row) {
				return p.Take(cell, nil)
			}
			return p.Take(cell, func() (int64, error) { return protect.Units(batch.Column(values), row, t.Table.Decimals) })
		})
	return p, session.WrongTable(ctx, err)
}
