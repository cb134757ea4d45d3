package tables

import (
	"context"
	"fmt"
	"path/filepath"

	"microrisk/operators/protect"
	"microrisk/operators/tablefile"
	"microrisk/pipeline/session"
	"microrisk/pipeline/solver"
	"microrisk/schemas"
)

// Protect protects a ready-made table, and writes what can be published and what must not be. The spec's defaults are filled in. Errors about
// what was asked are those for which session.IsSpec is true; a table that is not safe is a *protect.FailedError, and nothing is written.
func Protect(ctx context.Context, path string, c *protect.Config, columns *Columns, o session.Options) (*protect.Summary, error) {
	o = o.WithDefaults()
	c.Response = columns.Value
	schemas.Complete(c.Fields())
	k := schemas.CheckDocument(asked{c})
	if k != nil {
		return nil, k
	}
	reads, err := session.Readings("the table", []string{path})
	if err != nil {
		return nil, err
	}
	for _, f := range c.Files() {
		if !f.Written() {
			reads = append(reads, session.Reading{What: f.What, Path: f.Path})
		}
	}
	outputs := []string{c.Out, filepath.Join(c.Inside, "cells.parquet"), filepath.Join(c.Inside, "log.json")}
	if err := session.KnownKind(c.Out); err != nil {
		return nil, err
	}
	if err := session.CheckPaths(append(reads, o.Reads...), outputs); err != nil {
		return nil, err
	}
	o.Sweep(outputs...)
	t, err := Read(ctx, path, c, columns, o)
	if err != nil {
		return nil, err
	}
	with := protect.With{Warn: func(format string, args ...any) { o.Logger.Warn(fmt.Sprintf(format, args...)) }}
	if with.Solver, with.Solvers, err = solver.Of(c.Solver, o.TempDir); err != nil {
		return nil, session.Wrong(err)
	}
	if c.Overrides != "" {
		text, err := session.ReadRegular(c.Overrides, protect.LargestFile)
		if err != nil {
			return nil, session.Wrong(fmt.Errorf("the overrides %s cannot be read: %w", c.Overrides, err))
		}
		settings, err := tablefile.ReadSettings(c.Overrides, text, schemas.VariableNames(c.Table), c.Total)
		if err != nil {
			return nil, session.Wrong(err)
		}
		if with.Settings, err = protect.Place(t, settings); err != nil {
			return nil, session.Wrong(err)
		}
	}
	p, err := protect.Protect(ctx, t, c, with)
	if err != nil {
		return nil, err
	}
	return p.Summary(t.Cells[0].Records), session.WriteParts(ctx, c.Files(), p, o, []string{path})
}

// asked is a config as a document of its own.
type asked struct{ *protect.Config }

// Check is a Document's.
func (a asked) Check(c *schemas.Checker) { a.Config.Check(c, "", nil) }
