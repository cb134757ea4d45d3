package pipeline

import (
	"context"
	"errors"

	"microrisk/operators"
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
func Validate(ctx context.Context, spec *schemas.Spec, options Options) (*Plan, error) {
	if err := spec.Validate(); err != nil {
		return nil, err
	}
	in, err := resolve(spec.Source)
	switch {
	case err != nil && IsSpec(err):
		return nil, err
	case err == nil && in.stdin:
		err = errors.New("the input is standard input, which is read when the spec runs")
	case err == nil:
		return validateOpen(ctx, spec, options)
	}
	return &Plan{Missing: err, Warnings: spec.Warnings()}, nil
}

func validateOpen(ctx context.Context, spec *schemas.Spec, options Options) (*Plan, error) {
	j, err := prepare(ctx, spec, options)
	if err != nil {
		return nil, err
	}
	defer j.source.Close()
	p := &Plan{Inputs: j.source.Inputs(), Outputs: j.outputs.paths, Stages: j.chain.Stages(), Filters: j.chain.Filters(), Warnings: spec.Warnings()}
	if j.outputs.stdout {
		p.Outputs = []string{"-"}
	}
	p.Scans = len(p.Stages)
	if len(p.Outputs) > 0 {
		p.Scans++
	}
	for _, o := range j.chain.Output() {
		made := MadeColumn{o.Field.Name, typeName(o.Field.Type)}
		switch {
		case o.Input:
		case j.source.Schema().HasField(made.Name):
			p.Replaced = append(p.Replaced, made)
		default:
			p.Added = append(p.Added, made)
		}
	}
	return p, nil
}
