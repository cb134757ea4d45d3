// Package tables protects ready-made tables, and audits protected ones, from file to file; packages operators/protect and operators/audit have
// what is done to a table, and engine/tabular the mathematics.
package tables

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"

	"microrisk/engine/tabular"
	"microrisk/engine/tabular/protection"
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
	Truth   string          // the internal folder of table protect, or a table with the true values
	Config  protect.Config  // of a table with the true values: variables, hierarchies, total, decimals; insider, sliding and base of all
	Columns protect.Columns // of a table with the true values
	Out     string          // file of findings, "" for none
	All     bool            // findings of all hidden cells, not of unsafe ones alone

	With  []With // other tables of the same people
	Parts string // file of what categories stand for, "" for none
	Few   int64  // fewer people than these are a small group; 0 for Few

	truth     string       // the table with the true values
	isLogged  bool         // it is that of an internal folder
	way       *protect.Way // how its log says that values were made; nil if there is none
	response  string       // what values are sums of; "" for counts
	topic     string       // what its log says it is about
	recodes   []protect.LoggedRecode
	answered  bool            // its log says that people without a value were left out
	weighted  bool            // contributors stand for others
	trees     []*tabular.Tree // of the log; nil: those of hierarchies
	structure *tablefile.Structure
}

// With is another table that is published, of the same people.
type With struct {
	Public string
	Truth  string // its internal folder; "" for a table that is published whole, as it is
}

// RunAudit tries all attackers on a published table, alone or with others. Errors about what was asked are those for which session.IsSpec is
// true.
func RunAudit(ctx context.Context, s AuditSpec, o session.Options) (*audit.Audit, error) {
	a, _, err := RunAuditWith(ctx, s, o)
	return a, err
}

// RunAuditWith is RunAudit, with what was found out of all tables together; nil if there is one.
func RunAuditWith(ctx context.Context, s AuditSpec, o session.Options) (*audit.Audit, *audit.Together, error) {
	o = o.WithDefaults()
	list := []*AuditSpec{&s}
	for i := range s.With {
		list = append(list, &AuditSpec{Public: s.With[i].Public, Truth: s.With[i].Truth, Config: protect.Config{Beforehand: s.Config.Beforehand}})
	}
	var reads []session.Reading
	for _, x := range list {
		more, err := x.locate(ctx)
		if err != nil {
			return nil, nil, err
		}
		reads = append(reads, more...)
	}
	var parts []tablefile.Part
	if s.Parts != "" {
		var err error
		if parts, err = readParts(s.Parts); err != nil {
			return nil, nil, err
		}
		reads = append(reads, session.Reading{What: "the parts", Path: s.Parts})
	}
	if s.Out != "" {
		if err := session.KnownKind(s.Out); err != nil {
			return nil, nil, err
		}
		if err := session.CheckPaths(append(reads, o.Reads...), []string{s.Out}); err != nil {
			return nil, nil, err
		}
		o.Sweep(s.Out)
	}
	var releases []audit.Release
	for i, x := range list {
		a, err := x.open(ctx, i == 0, o)
		if err != nil {
			return nil, nil, err
		}
		releases = append(releases, audit.Release{Name: x.Public, Audit: a})
	}
	ctx = protection.Telling(ctx, func(done, all int) { o.Progress("auditing cells", int64(done), int64(all)) })
	a := releases[0].Audit
	if err := a.Ask(ctx, s.All && s.Out != ""); err != nil {
		return nil, nil, err
	}
	var together *audit.Together
	if len(s.With) > 0 {
		var err error
		if together, err = audit.Combine(ctx, releases, parts, cmp.Or(s.Few, Few)); err != nil {
			return nil, nil, session.WrongTable(ctx, err)
		}
		for _, w := range together.Warnings {
			o.Logger.Warn(w)
		}
	}
	if s.Out == "" {
		return a, together, nil
	}
	return a, together, session.WriteRecord(ctx, s.Out, a, o, []string{s.Public, s.truth})
}

// Few is how many people are no small group.
const Few = 3

// locate finds what is to be read, and what the log says of it.
func (s *AuditSpec) locate(ctx context.Context) ([]session.Reading, error) {
	reads, err := session.Readings("the table", []string{s.Public})
	if err != nil {
		return nil, err
	}
	if s.Truth == "" { // it tells all by itself
		s.Truth = s.Public
		if err = s.alone(ctx); err != nil {
			return nil, err
		}
	}
	info, err := os.Stat(s.Truth)
	if err != nil {
		return nil, session.Wrong(fmt.Errorf("the truth %s cannot be read: %w", s.Truth, err))
	}
	if s.truth, s.isLogged = s.Truth, info.IsDir(); s.isLogged {
		s.truth = filepath.Join(s.Truth, protect.CellsFile)
		if s.trees, err = s.logged(filepath.Join(s.Truth, protect.LogFile)); err != nil {
			return nil, session.Wrong(err)
		}
	} else {
		if s.structure, err = StructureOf(ctx, s.truth); err != nil {
			return nil, err
		}
		if s.structure != nil && s.structure.Kind == tablefile.KindCells && !s.Columns.Said() {
			s.Columns, s.Config.Absolute, s.isLogged, s.response = audit.CellColumns, true, true, s.structure.Response
			s.Config.Beforehand = cmp.Or(s.Config.Beforehand, "occupied")
		}
		if v := s.Columns.Value; !s.isLogged && !slices.Contains(operators.CountColumns, v) {
			s.response = v
		}
		if err := fill(&s.Config, s.structure); err != nil {
			return nil, err
		}
	}
	base, beforehand := s.Config.Base, s.Config.Beforehand // said, or logged
	schemas.Complete(s.Config.Fields())
	s.Config.Base, s.Config.Beforehand = base, beforehand
	for _, path := range s.Config.Hierarchies {
		reads = append(reads, session.Reading{What: "the hierarchy", Path: path})
	}
	return append(reads, session.Reading{What: "the truth", Path: s.truth}), nil
}

// alone takes a published table for the truth: its column of counts, as tabulate and protect call it, and the others, which tell its cells.
func (s *AuditSpec) alone(ctx context.Context) error {
	source, err := session.OpenPaths(ctx, []string{s.Public}, session.Options{}.WithDefaults())
	if err != nil {
		return err
	}
	defer source.Close()
	column, err := operators.CountColumn(s.Public, source.Schema(), nil)
	if err != nil {
		return session.Wrong(err)
	}
	for _, f := range source.Schema().Fields() {
		if !slices.Contains([]string{column, schemas.SymbolColumn, schemas.LowerColumn, schemas.UpperColumn}, f.Name) {
			s.Config.Table = append(s.Config.Table, schemas.KeyVariable{Name: f.Name})
		}
	}
	if s.Columns.Value = column; column == "count" {
		s.Columns.Value, s.Columns.Count = "", column
	}
	if len(s.Config.Table) == 0 || column == "" {
		return session.Wrong(fmt.Errorf("%s has no column %s beside those of its variables: name the one of its values so, or its internal folder (--with %s=INTERNAL)",
			s.Public, strings.Join(operators.CountColumns, ", "), s.Public))
	}
	return nil
}

// open reads the truth, which has to say which cells are unsafe if it is judged, and what was published of it.
func (s *AuditSpec) open(ctx context.Context, judged bool, o session.Options) (*audit.Audit, error) {
	if s.trees == nil {
		with, err := operatorOf(ctx, &s.Config, o)
		if err != nil {
			return nil, err
		}
		if s.trees, err = treesOf(with, &s.Config, s.truth, s.structure); err != nil {
			return nil, session.Wrong(err)
		}
	}
	t, err := read(ctx, s.truth, protect.Ready{Config: &s.Config, Columns: &s.Columns, Trees: s.trees}, o)
	if err != nil {
		if s.Truth == s.Public {
			return nil, session.Wrong(
				fmt.Errorf("%w; if %s hides cells, has subtotals or was rounded, name its internal folder (--with %s=INTERNAL)", err, s.Public, s.Public),
			)
		}
		return nil, err
	}
	if judged && t.Status == nil {
		return nil, session.Wrong(fmt.Errorf("it is not said which cells of %s are unsafe: name the column that tells (--status)", s.truth))
	}
	p, err := s.published(ctx, &audit.Truth{Table: t, Response: s.response, Topic: s.topic, Weighted: s.weighted, Total: s.Config.Total,
		Recodes: s.recodes, Answered: s.answered, Logged: s.isLogged, Asked: s.asked()}, o)
	if err != nil {
		return nil, err
	}
	a, err := p.Compare()
	if err != nil {
		if s.Truth == s.Public {
			err = fmt.Errorf("%w; a table is read with its totals (tabulate --margins), or with its internal folder (--with %s=INTERNAL)", err, s.Public)
		}
		return nil, session.Wrong(err)
	}
	return a, nil
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
	asked, err := l.Over(s.asked())
	if err != nil {
		return nil, err
	}
	s.Config.Table, s.Config.Linked, s.Config.Total, s.Config.Decimals, s.Config.Absolute = l.Config.Table, l.Config.Linked, l.Config.Total, l.Config.Decimals, true
	s.Config.Insider, s.Config.Beforehand, s.Config.Sliding, s.Config.Base = asked.Insider, asked.Beforehand, asked.Sliding, asked.Base
	s.Columns, s.response, s.way, s.topic, s.weighted, s.recodes = l.Columns, l.Response, l.Way, l.Topic, l.Weighted, l.Recodes
	s.answered = l.Answered
	return l.Trees, nil
}

func (s *AuditSpec) asked() audit.Asked {
	return audit.Asked{Insider: s.Config.Insider, Beforehand: s.Config.Beforehand, Sliding: s.Config.Sliding, Base: s.Config.Base, Way: s.way}
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
	var ends []int // columns of intervals
	if audit.HasIntervals(source.Schema(), schemas.VariableNames(s.Config.Table)) {
		p.Intervals()
		ends = []int{source.Schema().FieldIndices(schemas.LowerColumn)[0], source.Schema().FieldIndices(schemas.UpperColumn)[0]}
	}
	err = operators.EachCell(ctx, source, variables, func(text string) bool { return text == t.Total },
		func(cell []tabular.Category, batch arrow.Record, row int) error {
			switch column := batch.Column(values); {
			case !column.IsNull(row):
				return p.Take(cell, func() (int64, error) { return protect.Units(column, row, t.Table.Decimals) }, audit.NoInterval)
			case ends == nil:
				return p.Take(cell, nil, audit.NoInterval)
			}
			in, err := audit.IntervalAt(batch.Column(ends[0]), batch.Column(ends[1]), row, t.Table.Decimals)
			if err != nil {
				return fmt.Errorf("%s: the interval of the cell %s: %w", s.Public, tabular.Words(cell), err)
			}
			return p.Take(cell, nil, in)
		})
	return p, session.WrongTable(ctx, err)
}
