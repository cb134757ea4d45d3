package tables

import (
	"cmp"
	"context"
	"slices"

	"microrisk/operators"
	"microrisk/operators/protect"
	"microrisk/pipeline/session"
	"microrisk/schemas"
)

// A Source is what a table is made of.
type Source struct {
	Records *schemas.Spec    // the files of records, and the operators that choose and recode them; nil for a ready-made table
	Path    string           // of a ready-made table
	Columns *protect.Columns // of it
}

// Readings are the files that are read, those that the config names among them.
func (s Source) Readings(c *protect.Config) ([]session.Reading, error) {
	var list []session.Reading
	paths := []string{s.Path}
	if s.Records != nil {
		in, err := session.Resolve(s.Records.Source)
		if err != nil {
			return nil, err
		}
		list, paths = session.ReadBesides(s.Records), in.Paths
	}
	read, err := session.Readings("the table", paths)
	if err != nil {
		return nil, err
	}
	for _, f := range c.Files() {
		if !f.Written() {
			read = append(read, session.Reading{What: f.What, Path: f.Path})
		}
	}
	return append(list, read...), nil
}

// Read reads the table of a config once, and protects nothing: it gives the table, and what it could be protected with. The config's defaults
// are filled in; its outputs have no say. The table can be made again. Errors about what was asked are those for which session.IsSpec is true.
func (s Source) Read(ctx context.Context, c *protect.Config, o session.Options) (*protect.Table, protect.With, error) {
	o = o.WithDefaults()
	c.Out, c.Inside = "public.parquet", "internal" // which a config must have
	if s.Records != nil {
		return s.count(ctx, c, o)
	}
	columns, structure, err := begin(ctx, s.Path, c, s.Columns, shared, o)
	if err != nil {
		return nil, protect.With{}, err
	}
	return open(ctx, s.Path, c, columns, structure, true, o)
}

// shared judges a config that other methods may look at more of.
func shared(c *protect.Config) error {
	one := c.For(cmp.Or(c.Method, protect.DefaultMethod))
	return strict(&one)
}

// count counts records.
func (s Source) count(ctx context.Context, c *protect.Config, o session.Options) (t *protect.Table, with protect.With, err error) {
	if err := shared(c); err != nil { // what was said
		return nil, with, err
	}
	schemas.Complete(c.Fields())
	j, err := session.OpenToLook(ctx, s.Records, o)
	if err != nil {
		return nil, with, err
	}
	defer j.Source.Close()
	spec := *s.Records
	spec.Operators = append(slices.Clone(spec.Operators), schemas.Operator{Config: c})
	beside, err := session.ReadBeside(ctx, &spec, o)
	if err != nil {
		return nil, with, err
	}
	list := session.OperatorsOf(&spec, beside)
	operator := list[len(list)-1].(protect.Operator)
	operator.Take = func(made *protect.Table, by protect.With) { t, with = made, by }
	list[len(list)-1] = operators.Operator(operator)
	if j.Chain, err = j.Bind(true, list...); err != nil {
		return nil, with, err
	}
	_, err = j.Chain.Run(ctx, j.Source, nil, j.ChainOptions())
	return t, with, err
}

// Check judges a config whose outputs have no say.
func Check(c *protect.Config) error {
	x := *c
	x.Out, x.Inside = "public.parquet", "internal"
	return schemas.CheckDocument(asked{&x})
}
