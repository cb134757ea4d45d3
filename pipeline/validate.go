package pipeline

import (
	"context"
	"errors"

	"microrisk/operators"
	"microrisk/pipeline/session"
	"microrisk/schemas"
)

// A Plan is what a spec would do.
type Plan struct {
	Inputs   []string
	Outputs  []string
	Stages   []operators.Stage // scans that count
	Scans    int               // all scans, the one that writes included
	Added    []MadeColumn      // columns of the output with a name that the input does not have
	Replaced []MadeColumn      // columns of the output in place of those of the same name that the input has
	Filters  bool              // rows leave the output
	Warnings []string          // what is often not meant
	Missing  error             // why the inputs could not be looked at; then the fields above are empty
}

// A MadeColumn is a column of the output that does not come from the input.
type MadeColumn struct{ Name, Type string }

// Validate finds what is wrong with a spec. If its inputs exist, their columns are looked at, and the plan says what the run would
// do; no rows are read.
func Validate(ctx context.Context, spec *schemas.Spec, options session.Options) (*Plan, error) {
	spec, _, err := withProfile(spec)
	if err != nil {
		return nil, err
	}
	if err := spec.Validate(); err != nil {
		return nil, err
	}
	in, err := session.Resolve(spec.Source)
	switch {
	case err != nil && session.IsSpec(err):
		return nil, err
	case err == nil && in.Stdin:
		err = errors.New("the input is standard input, which is read when the spec runs")
	case err == nil:
		return validateOpen(ctx, spec, options)
	}
	return &Plan{Missing: err, Warnings: spec.Warnings()}, nil
}

func validateOpen(ctx context.Context, spec *schemas.Spec, options session.Options) (*Plan, error) {
	j, err := session.Prepare(ctx, spec, options)
	if err != nil {
		return nil, err
	}
	defer j.Source.Close()
	p := &Plan{Inputs: j.Source.Inputs(), Outputs: j.Outputs.Paths, Stages: j.Chain.Stages(), Filters: j.Chain.Filters(), Warnings: spec.Warnings()}
	if j.Outputs.Stdout {
		p.Outputs = []string{"-"}
	}
	p.Scans = len(p.Stages)
	if len(p.Outputs) > 0 {
		p.Scans++
	}
	for _, o := range j.Chain.Output() {
		made := MadeColumn{o.Field.Name, session.TypeName(o.Field.Type)}
		switch {
		case o.Input:
		case j.Source.Schema().HasField(made.Name):
			p.Replaced = append(p.Replaced, made)
		default:
			p.Added = append(p.Added, made)
		}
	}
	return p, nil
}
