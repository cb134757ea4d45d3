// Package bounds finds what released tables leave to each cell, from file to file; package engine/bounds has the mathematics.
package bounds

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"microrisk/engine/bounds"
	"microrisk/engine/perturb"
	"microrisk/operators"
	"microrisk/pipeline/released"
	"microrisk/pipeline/session"
	"microrisk/pipeline/solver"
	"microrisk/schemas"
)

// An Outcome is what released tables imply.
type Outcome struct {
	Margins   int // tables, each margin for itself
	Scheme    string
	Variables []string
	Cells     int
	Method    string
	Sharp     bool    // the tightest bounds in whole numbers
	Known     int     // cells whose lower bound is their upper bound
	Zeros     int     // those of 0
	Width     float64 // mean of upper - lower, of the cells that have an upper bound
	Unbounded int     // cells without an upper bound
	Tables    int64   // feasible tables met, if they were counted or listed
	AllTables bool    // these are all
	Warnings  []string
}

// Run reads released tables, and writes for every combination of their categories the least and the largest count that it can
// have. Errors about what was asked are those for which IsSpec is true; tables that contradict each other are an error.
func Run(ctx context.Context, s Spec, o session.Options) (*Outcome, error) {
	o = o.WithDefaults()
	if err := s.check(o.Reads); err != nil {
		return nil, err
	}
	schemas.Complete(s.Fields())
	o.Sweep(s.Out)
	kernel, err := operators.Kernel(&s.Scheme)
	if err != nil {
		return nil, session.Wrong(err)
	}
	tables := &released.Tables{Intervals: true, Suppressed: s.Suppressed, Totals: s.Totals, Merged: s.Merged}
	exact := perturb.None()
	for i, path := range slices.Concat(s.Tables, s.Exact) {
		k := kernel
		if tables.Stated = i >= len(s.Tables); tables.Stated {
			k = exact
		}
		if err := tables.Read(ctx, path, k, o); err != nil {
			return nil, err
		}
	}
	tables.Stated = true
	for _, p := range s.Perturbed {
		own, err := p.Kernel()
		if err != nil {
			return nil, err
		}
		if err := tables.Read(ctx, p.Path, own, o); err != nil {
			return nil, err
		}
	}
	if err := tables.CheckMerged(); err != nil {
		return nil, err
	}
	if err := tables.Declare(s.Levels); err != nil {
		return nil, err
	}
	r, err := tables.Release()
	if err != nil {
		return nil, err
	}
	other, _, err := solver.Of(s.Solver, o.TempDir)
	if err != nil {
		return nil, session.Wrong(err)
	}
	options := bounds.Options{Solver: other}
	if s.Deadline > 0 {
		options.Deadline = time.Now().Add(s.Deadline)
	}
	b, err := s.find(ctx, r, options)
	if err != nil {
		return nil, tables.InCodes(r, err)
	}
	if p, ok := other.(*solver.Process); ok && p.Failed != nil {
		tables.Warnings = append(tables.Warnings, fmt.Sprintf("the solver failed, and bounds are those found without it: %v", p.Failed))
	}
	out := &Outcome{
		Scheme:    kernel.Name(),
		Warnings:  tables.Warnings,
		Margins:   len(r.Margins),
		Variables: r.Names,
		Cells:     len(b.Low),
		Method:    string(b.Method),
		Sharp:     b.Sharp,
	}
	for i, low := range b.Low {
		switch {
		case b.High[i] == bounds.NoLimit:
			out.Unbounded++
			continue
		case low == b.High[i]:
			out.Known++
			if low == 0 {
				out.Zeros++
			}
		}
		out.Width += float64(b.High[i] - low)
	}
	out.Width /= float64(out.Cells - out.Unbounded) // NaN where none is bounded
	if s.Count || s.List != "" {
		if err := s.feasible(ctx, tables, r, out, o); err != nil {
			return nil, err
		}
	}
	return out, session.WriteRecord(ctx, s.Out, &boundedCells{tables, r, b}, o, s.paths())
}

// paths are the files of all tables.
func (s *Spec) paths() []string {
	return slices.Concat(s.Tables, s.Exact, released.PathsOf(s.Perturbed))
}

// check finds what is wrong before anything is read.
func (s *Spec) check(read []session.Reading) error {
	if err := schemas.CheckDocument(s); err != nil {
		return err
	}
	all := &session.Inputs{} // each file may be of a kind of its own
	for _, path := range s.paths() {
		in, err := session.Resolve(schemas.Source{Path: []string{path}})
		if err != nil {
			return err
		}
		if !in.Stdin {
			all.Paths = append(all.Paths, in.Paths...)
		}
	}
	if err := all.Check("any"); err != nil {
		return err
	}
	if err := session.KnownKind(s.Out); err != nil {
		return err
	}
	outputs := []string{s.Out}
	if s.List != "" {
		if err := session.KnownKind(s.List); err != nil {
			return err
		}
		outputs = append(outputs, s.List)
	}
	return session.CheckPaths(append(all.Readings("the input"), read...), outputs)
}

func (s *Spec) find(ctx context.Context, r *bounds.Release, o bounds.Options) (*bounds.Bounds, error) {
	exact := !slices.ContainsFunc(r.Margins, func(m bounds.Margin) bool { return !slices.Equal(m.Low, m.High) })
	switch s.Method {
	case "shuttle":
		return bounds.Shuttle(ctx, r, o)
	case "sharp":
		if low, high, ok := bounds.Frechet(ctx, r); ok && exact && r.Check(ctx) == nil {
			return &bounds.Bounds{Low: low, High: high, Sharp: true, Method: bounds.MethodFrechet}, nil // the formulas are sharp, and quick
		}
		return bounds.Sharp(ctx, r, o)
	case "frechet":
		if err := r.Check(ctx); err != nil {
			return nil, err
		}
		low, high, ok := bounds.Frechet(ctx, r)
		if !ok {
			return nil, session.Wrong(fmt.Errorf("the tables are not the cliques of a decomposable graph, for which there are formulas: take another method"))
		}
		if !exact {
			// The formulas do not see all contradictions of margins that are known within bounds.
			if _, err := bounds.Shuttle(ctx, r, o); err != nil {
				return nil, err
			}
		}
		return &bounds.Bounds{Low: low, High: high, Sharp: exact, Method: bounds.MethodFrechet}, nil
	}
	return bounds.Of(ctx, r, o)
}

// boundedCells makes the record of the cells.
type boundedCells struct {
	tables *released.Tables
	r      *bounds.Release
	b      *bounds.Bounds
}

// Tables is a Tabled's: the variables, lower, upper (null without one), exact.
func (t *boundedCells) Tables(mem memory.Allocator) arrow.Record {
	c := &operators.Columns{Mem: mem, Rows: len(t.b.Low)}
	appendVariables(c, t.tables)
	c.WholesOrNull("lower", func(i int) (int64, bool) { return t.b.Low[i], true })
	c.WholesOrNull("upper", func(i int) (int64, bool) { return t.b.High[i], t.b.High[i] != bounds.NoLimit })
	c.Truths("exact", func(i int) bool { return t.b.Low[i] == t.b.High[i] })
	return c.Record()
}
