package pipeline

import (
	"context"
	"fmt"

	"microrisk/engine/scratch"
	"microrisk/operators/files"
	"microrisk/pipeline/limits"
	"microrisk/pipeline/session"
	"microrisk/schemas"
)

// A Beside is a file that is made of what came of a run, and appears with its outputs.
type Beside struct {
	Path   string
	What   string // the page
	Begins string // how such files begin: one that begins otherwise keeps its place; "" for any
	Make   func(*Outcome) ([]byte, error)
}

// besides are such files at work.
type besides []openBeside

type openBeside struct {
	files.Output
	Beside
}

// openBesides makes the files, before there is anything to write.
func openBesides(ctx context.Context, list []Beside, inputs []string) (made besides, err error) {
	defer func() {
		if err != nil {
			made.abort()
		}
	}()
	for _, b := range list {
		if err := session.Replaceable(b.Path, b.What, b.Begins); err != nil {
			return made, err
		}
		f, err := files.Create(ctx, b.Path, inputs...)
		if err != nil {
			return made, err
		}
		made = append(made, openBeside{f, b})
	}
	return made, nil
}

// write writes the files, complete but for their names.
func (list besides) write(o *Outcome) (written []files.Output, err error) {
	for _, b := range list {
		text, err := b.Make(o)
		if err == nil {
			_, err = b.Write(text)
		}
		if err != nil {
			return nil, fmt.Errorf("writing %s: %w", b.Name(), scratch.Reason(err))
		}
		if err := files.Held(b.Output).Commit(); err != nil {
			return nil, err
		}
		written = append(written, b.Output)
	}
	return written, nil
}

func (list besides) abort() {
	for _, b := range list {
		b.Abort()
	}
}

// withProfile is a spec with the limits of its profile, nil if it has none.
func withProfile(spec *schemas.Spec) (*schemas.Spec, *limits.Profile, error) {
	if spec.Profile == "" {
		return spec, nil, nil
	}
	p, err := limits.Load(spec.Profile)
	if err != nil {
		return nil, nil, err
	}
	with := p.Beside(spec)
	if err := with.Validate(); err != nil && spec.Validate() == nil {
		return nil, nil, session.Wrong(fmt.Errorf("the profile %s asks for what is not measured: %w", p.Called(), err))
	}
	return with, p, nil
}
