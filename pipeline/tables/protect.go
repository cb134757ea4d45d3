package tables

import (
	"context"
	"errors"
	"log/slog"

	"microrisk/operators/protect"
	"microrisk/operators/tablefile"
	"microrisk/pipeline/session"
	"microrisk/schemas"
	"microrisk/schemas/advice"
)

// Protect protects a ready-made table, and writes what can be published and what must not be. The spec's defaults are filled in. Errors about
// what was asked are those for which session.IsSpec is true; a table that is not safe is a *protect.FailedError, and nothing is written.
func Protect(ctx context.Context, path string, c *protect.Config, columns *protect.Columns, o session.Options) (*protect.Summary, error) {
	o = o.WithDefaults()
	columns, structure, err := begin(ctx, path, c, columns, strict, o)
	if err != nil {
		return nil, err
	}
	*c = c.For(c.Method) // no defaults that it does not look at
	reads, err := session.Readings("the table", []string{path})
	if err != nil {
		return nil, err
	}
	var outputs []string
	for _, f := range c.Files() {
		if f.Written() {
			outputs = append(outputs, f.Path)
		} else {
			reads = append(reads, session.Reading{What: f.What, Path: f.Path})
		}
	}
	if err := session.KnownKind(c.Out); err != nil {
		return nil, err
	}
	if err := session.CheckPaths(append(reads, o.Reads...), outputs); err != nil {
		return nil, err
	}
	o.Sweep(outputs...)
	t, with, err := open(ctx, path, c, columns, structure, false, o)
	if err != nil {
		return nil, err
	}
	with.Progress = o.Progress
	o.Progress("protecting cells", 0, int64(len(t.Cells)))
	p, err := protect.Protect(ctx, t, c, with)
	if err != nil {
		return nil, err
	}
	return p.Summary(t.Cells[0].Records), session.WriteParts(ctx, c.Files(), p, o, []string{path})
}

// strict judges a config, of which its method has to look at all that it says.
func strict(c *protect.Config) error { return schemas.CheckDocument(asked{c}) }

// begin takes over what a ready-made table says of itself, puts defaults in, and judges what is asked. It gives the columns of the table.
func begin(
	ctx context.Context, path string, c *protect.Config, columns *protect.Columns, judge func(*protect.Config) error, o session.Options,
) (*protect.Columns, *tablefile.Structure, error) {
	structure, err := StructureOf(ctx, path)
	if err != nil {
		return nil, nil, err
	}
	if structure != nil && structure.Kind == tablefile.KindCells {
		own, err := cellColumns(ctx, path, o)
		if err != nil {
			return nil, nil, err
		}
		if columns.Said() { // who is alone in a cell is known whatever its values are
			said := *columns
			said.Sole, own = own.Sole, &said
		}
		columns = own
	}
	if err := fill(c, structure); err != nil {
		return nil, nil, err
	}
	c.Response = columns.Value
	if err := judge(c); err != nil { // what was said
		return nil, nil, err
	}
	schemas.Complete(c.Fields())
	return columns, structure, nil
}

// open reads a ready-made table, and what it is to be protected with; with keep it can be made again, with other recodes.
func open(
	ctx context.Context, path string, c *protect.Config, columns *protect.Columns, structure *tablefile.Structure, keep bool, o session.Options,
) (t *protect.Table, with protect.With, err error) {
	operator, err := operatorOf(ctx, c, o)
	if err != nil {
		return nil, with, err
	}
	trees, err := treesOf(operator, c, path, structure)
	if err != nil {
		return nil, with, session.Wrong(err)
	}
	if with, err = operator.With(); err != nil {
		return nil, with, session.Wrong(err)
	}
	with.Warn = func(format string, args ...any) { advice.Log(o.Logger, slog.LevelWarn, advice.Textf(format, args...)) }
	if len(c.Recodes) > 0 && (columns.Status != "" || columns.Lower != "" || columns.Upper != "") {
		return nil, with, session.Wrong(
			errors.New("what a table says of its cells (--status, --lower, --upper) is not of those that recodes make of them: leave one out"),
		)
	}
	t, err = read(ctx, path, protect.Ready{Config: c, Columns: columns, Trees: trees, Recodes: operator.Recodes, Warn: with.Warn, Keep: keep}, o)
	if err != nil {
		return nil, with, err
	}
	if with.Settings, err = protect.Place(t, operator.Settings); err != nil {
		return nil, with, session.Wrong(err)
	}
	return t, with, nil
}

// read reads a ready-made table.
func read(ctx context.Context, path string, ready protect.Ready, o session.Options) (*protect.Table, error) {
	source, err := session.OpenPaths(ctx, []string{path}, o)
	if err != nil {
		return nil, err
	}
	defer source.Close()
	ready.Name, ready.Memory = path, o.Memory
	t, err := ready.Read(ctx, source)
	return t, session.WrongTable(ctx, err)
}

// operatorOf is the operator of a config, with what the files say that it names.
func operatorOf(ctx context.Context, c *protect.Config, o session.Options) (protect.Operator, error) {
	counts := *c
	counts.Response = "" // nothing makes units of it: the table is ready-made
	spec := &schemas.Spec{Operators: []schemas.Operator{{Config: &counts}}}
	with, err := session.ReadBeside(ctx, spec, o)
	if err != nil {
		return protect.Operator{}, err
	}
	list := session.OperatorsOf(spec, with) // those that prepare columns first
	return list[len(list)-1].(protect.Operator), nil
}

// asked is a config as a document of its own.
type asked struct{ *protect.Config }

// Check is a Document's.
func (a asked) Check(c *schemas.Checker) { a.Config.Check(c, "", nil) }
