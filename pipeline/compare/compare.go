// Package compare runs many methods and parameters on one table, and tells what each hides, changes, loses and leaves to be found out.
//
//	out, err := compare.Run(ctx, compare.Spec{Source: tables.Source{Path: "ready.csv", Columns: &protect.Columns{Count: "n"}},
//		Config: protect.Config{Table: variables, Rules: rules}, Bases: []int64{3, 5}, Page: "compare.html"}, session.Options{})
//
// Nothing of it may be published: it has true figures, rules and parameters. Source of the report: Miller 2005, chapter 4.
package compare

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"microrisk/engine/tabular/fitting"
	"microrisk/operators/protect"
	"microrisk/pipeline/session"
	"microrisk/pipeline/solver"
	"microrisk/schemas"
)

// An Outcome is what came of a comparison.
type Outcome struct {
	Source    string   `json:"source"`
	Variables []string `json:"variables"`
	Response  string   `json:"response,omitempty"`
	Model     string   `json:"model"`
	Area      string   `json:"sap_area,omitempty"`
	Rows      []*Row   `json:"runs"`

	spec *Spec
}

// A comparison at work.
type comparison struct {
	*Spec
	options session.Options
	table   *protect.Table
	with    protect.With
	model   fitting.Model
	about   Row // what all rows say
	sap     protect.SAP
}

// Run compares methods, one after another. A method that fails is a row that says so. Errors about what was asked are those for which
// session.IsSpec is true.
func Run(ctx context.Context, s Spec, o session.Options) (*Outcome, error) {
	o = o.WithDefaults()
	if err := s.complete(); err != nil {
		return nil, err
	}
	if _, err := s.variants(); err != nil { // before anything is read
		return nil, err
	}
	specs, err := s.each()
	if err != nil {
		return nil, err
	}
	inputs, err := s.paths(specs, &o)
	if err != nil {
		return nil, err
	}
	out := &Outcome{spec: &s}
	for i, one := range specs {
		if err := out.add(ctx, one, i, len(specs), o); err != nil {
			if len(specs) > 1 {
				err = fmt.Errorf("table %d of %s: %w", i+1, strings.Join(schemas.VariableNames(one.Config.Table), ","), err)
			}
			return nil, err
		}
	}
	return out, session.WriteParts(ctx, s.files(), out, o, inputs)
}

// paths are the files that are read, none of which is written.
func (s *Spec) paths(specs []*Spec, o *session.Options) (inputs []string, err error) {
	var reads []session.Reading
	for _, one := range specs {
		more, err := one.Source.Readings(&one.Config)
		if err != nil {
			return nil, err
		}
		reads = append(reads, more...)
	}
	for _, f := range [][2]string{{"the grid", s.Grid}, {"the tables", s.Tables}} {
		if f[1] != "" {
			reads = append(reads, session.Reading{What: f[0], Path: f[1]})
		}
	}
	var outputs []string
	for _, f := range s.files() {
		outputs = append(outputs, f.Path)
	}
	for _, r := range reads {
		inputs = append(inputs, r.Path)
	}
	if err := session.CheckPaths(append(reads, o.Reads...), outputs); err != nil {
		return nil, err
	}
	o.Sweep(outputs...)
	return inputs, nil
}

// add compares methods on a table, which is one of several.
func (o *Outcome) add(ctx context.Context, s *Spec, at, of int, options session.Options) error {
	c := &comparison{Spec: s, options: options}
	if err := c.read(ctx); err != nil {
		return err
	}
	c.about.ID = int64(at) + 1
	list, err := s.variants() // with the defaults of the config
	if err != nil {
		return err
	}
	if at == 0 {
		o.Source, o.Response, o.Model, o.Area = c.about.Source, c.table.Response, c.about.Model, c.sap.Area
	}
	for _, name := range schemas.VariableNames(s.Config.Table) {
		if !slices.Contains(o.Variables, name) {
			o.Variables = append(o.Variables, name)
		}
	}
	all := int64(len(list) * of)
	for i, v := range list {
		options.Progress("comparing methods", int64(at*len(list)+i), all)
		made, err := c.runs(ctx, &v)
		if err != nil {
			return err
		}
		o.Rows = append(o.Rows, made...)
	}
	options.Progress("comparing methods", int64((at+1)*len(list)), all)
	return nil
}

// read reads the table.
func (c *comparison) read(ctx context.Context) error {
	var err error
	changing := c.Config.Changing // which belong to some methods, and are judged with these
	c.Config = c.Config.For("")
	if c.table, c.with, err = c.Source.Read(ctx, &c.Config, c.options); err != nil {
		return err
	}
	c.Config.Changing = changing
	c.with.Warn = nil
	if c.sap = c.Config.SAP; !c.sap.Asked() && c.table.Response == "" && c.Config.Weight == "" {
		c.sap.Known = c.sap.Numbers()
	}
	names := schemas.VariableNames(c.Config.Table)
	if c.model, err = c.Spec.model(names); err != nil {
		return err
	}
	c.about = c.describe(names)
	return nil
}

// describe is what all rows say of the table.
func (c *comparison) describe(names []string) Row {
	g := c.table.Grid
	r := Row{Source: c.Source.Path, Table: strings.Join(names, " x "), Dims: int64(len(names)), Redesigned: int64(len(c.table.Recodes)),
		Records: c.table.Cells[0].Records, Model: c.model.Formula(names)}
	if c.Source.Records != nil {
		r.Source = strings.Join(c.Source.Records.Source.Path, ", ")
	}
	r.Design = fmt.Sprintf("%d-D", r.Dims)
	if r.Redesigned > 0 {
		r.Design += fmt.Sprintf(", %d redesigned", r.Redesigned)
	}
	all := int64(1)
	for _, t := range g.Trees {
		r.Hierarchical = r.Hierarchical || t.Depth() > 1
		leaves := int64(0)
		for n := range t.Nodes {
			if t.Leaf(n) {
				leaves++
			}
		}
		all *= leaves
	}
	for cell := range g.Cells() {
		if c.table.Cells[cell].Records == 0 && c.table.Values[cell] == 0 {
			continue
		}
		r.Cells++
		if g.Leaf(cell) {
			all--
		}
	}
	r.Zeros = all
	return r
}

// runs are those of a variant: one, unless it is left to chance. None is one of a method that was not asked for and does not fit the table.
func (c *comparison) runs(ctx context.Context, v *variant) ([]*Row, error) {
	var list []*Row
	for k := range c.Replicates {
		p, err := c.try(ctx, v)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if unfit(err) && !v.asked {
			return nil, nil
		}
		r := c.row(v, p, err)
		r.Replicate = k + 1
		if p != nil {
			within, cancel := context.WithTimeout(ctx, c.patience(v))
			c.measure(within, r, p)
			cancel()
		}
		list = append(list, r)
		if p == nil || p.Chance == nil {
			break // nothing is left to chance
		}
	}
	return list, ctx.Err()
}

// patience is how long a run, and what is found out of it, may take at most: the search's limit, and as much for audits.
func (c *comparison) patience(v *variant) time.Duration {
	seconds := c.Seconds
	if v.config.Seconds != nil {
		seconds = *v.config.Seconds
	}
	return schemas.Seconds(2 * seconds)
}

// try protects the table once.
func (c *comparison) try(ctx context.Context, v *variant) (*protect.Protected, error) {
	config := v.config
	if err := check(&config); err != nil {
		return nil, err
	}
	if config.Seconds == nil && config.Nodes == nil {
		config.Seconds = &c.Seconds
	}
	within, cancel := context.WithTimeout(ctx, c.patience(v))
	defer cancel()
	with := c.with
	with.Chance = nil // each run has a secret of its own
	with.Solver, with.SolverName = nil, ""
	if protect.Looks(config.Method, "solver") && config.Nodes == nil { // a grid may name one; nodes are those of the embedded one
		var err error
		if with.Solver, with.SolverName, err = solver.Of(config.Solver, c.options.TempDir); err != nil {
			return nil, err
		}
	}
	return protect.Protect(within, c.table, &config, with)
}
