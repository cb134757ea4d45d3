// Package pipeline runs a spec: it finds the inputs, binds the operators, counts, fits, annotates, and writes the outputs and the
// summary document.
//
//	spec, err := specfile.Decode("census.yaml", text)
//	outcome, err := pipeline.Run(ctx, spec, session.Options{})
//	for _, b := range outcome.Breaches {
//		fmt.Println(b)
//	}
//
// It knows no flags and no terminal; package command has those. What is more than a run has a package of its own: inspect, explain, bounds,
// attack, link, evaluate.
package pipeline

import (
	"context"
	"slices"
	"time"

	"github.com/apache/arrow/go/v17/arrow"

	"microrisk/operators"
	"microrisk/operators/files"
	"microrisk/pipeline/limits"
	"microrisk/pipeline/session"
	"microrisk/schemas"
)

// An Outcome is what a run did.
type Outcome struct {
	Spec     *schemas.Spec // as it was run
	Summary  *schemas.Summary
	Inputs   []string
	Outputs  []string            // files written; "-" for standard output
	Written  int64               // rows of the outputs
	Rankings []operators.Ranking // the riskiest records
	Breaches []Breach            // limits that were passed; the outputs are written nevertheless
	Profile  *limits.Profile     // of limits, nil for none
	Finer    []string            // columns that the outputs have as they are in the input, while the figures are of them as recoded
}

// running is a spec that is being run.
type running struct{ *session.Job }

// Run does what the spec says. Outputs appear when they are complete, or not at all, and so do the files beside them. Errors about the
// spec itself are those for which IsSpec is true.
func Run(ctx context.Context, spec *schemas.Spec, options session.Options, besides ...Beside) (*Outcome, error) {
	start := time.Now()
	spec, profile, err := withProfile(spec)
	if err != nil {
		return nil, err
	}
	if profile != nil && limits.IsFile(spec.Profile) {
		options.Reads = append(slices.Clone(options.Reads), session.Reading{What: "the profile", Path: spec.Profile})
	}
	for _, b := range besides {
		options.Writes, options.Spread = append(options.Writes[:len(options.Writes):len(options.Writes)], b.Path), true
	}
	prepared, err := session.Prepare(ctx, spec, options)
	if err != nil {
		return nil, err
	}
	j := &running{prepared}
	defer j.Source.Close()
	spec = j.Spec
	j.Options.Sweep(j.Outputs.Written...)
	if err := j.Verify(ctx); err != nil {
		return nil, err
	}
	tidy, err := session.MakeFolders(j.Outputs.Written)
	if err != nil {
		return nil, err
	}
	defer tidy()
	sink, err := session.SinkTo(ctx, j.Source, j.Outputs, spec, j.Options)
	if err != nil {
		return nil, err
	}
	if sink != nil {
		defer sink.Abort()
	}
	summary, err := j.OpenSummary(ctx)
	if err != nil {
		return nil, err
	}
	defer summary.Abort()
	made, err := session.OpenSideFiles(ctx, spec, j.Source.Inputs())
	if err != nil {
		return nil, err
	}
	defer made.Abort()
	pages, err := openBesides(ctx, besides, j.Source.Inputs())
	if err != nil {
		return nil, err
	}
	defer pages.abort()

	// What goes beside the outputs is written before they are completed, so that either all are put in place or none.
	var outcome *Outcome
	var side []files.Output
	o := j.ChainOptions()
	o.Finish = func(r *operators.Report) (map[string]string, error) {
		document, err := j.summarize(r)
		if err != nil {
			return nil, err
		}
		metadata, err := j.footer(document, r)
		if err != nil {
			return nil, err
		}
		document.Run = j.runSummary(start, r.Spilled)
		outcome = j.outcome(document, profile)
		outcome.Written, outcome.Rankings = r.Written, r.Rankings
		if side, err = j.writeBeside(ctx, r, document, summary, made); err != nil {
			return nil, err
		}
		more, err := pages.write(outcome)
		side = append(side, more...)
		return metadata, err
	}
	if _, err := j.Run(ctx, sink, o); err != nil {
		return nil, err
	}
	return outcome, summary.Commit(outcome.Summary, side...)
}

// outcome is what came of a run, but for its rows.
func (j *running) outcome(document *schemas.Summary, profile *limits.Profile) *Outcome {
	o := &Outcome{Spec: j.Spec, Summary: document, Inputs: j.Source.Inputs(), Outputs: j.Outputs.Paths, Profile: profile, Finer: looser(j.Spec)}
	if j.Outputs.Stdout {
		o.Outputs = []string{"-"}
	}
	for _, l := range document.Limits {
		if l.Breached {
			o.Breaches = append(o.Breaches, Breach(l))
		}
	}
	return o
}

// Look does what the spec says but writes nothing: neither outputs nor the summary. It ranks so many of the riskiest records.
func Look(ctx context.Context, spec *schemas.Spec, options session.Options, riskiest int) (*Outcome, error) {
	bare := *spec
	bare.Sink, bare.Summary = schemas.Sink{}, ""
	prepared, err := session.Prepare(ctx, &bare, options)
	if err != nil {
		return nil, err
	}
	j := &running{prepared}
	defer j.Source.Close()
	if err := j.Verify(ctx); err != nil {
		return nil, err
	}
	o := j.ChainOptions()
	o.Riskiest = riskiest
	var document *schemas.Summary
	o.Finish = func(r *operators.Report) (_ map[string]string, err error) {
		document, err = j.summarize(r)
		return nil, err
	}
	report, err := j.Chain.Run(ctx, j.Source, nowhere{}, o)
	if err != nil {
		return nil, err
	}
	outcome := &Outcome{Spec: j.Spec, Summary: document, Inputs: j.Source.Inputs(), Rankings: report.Rankings}
	for _, l := range document.Limits {
		if l.Breached {
			outcome.Breaches = append(outcome.Breaches, Breach(l))
		}
	}
	return outcome, nil
}

// nowhere is a sink that keeps nothing.
type nowhere struct{}

func (nowhere) Begin(context.Context, []operators.Part, []operators.Output) ([]string, error) {
	return nil, nil
}
func (nowhere) Part(context.Context, int) (operators.PartWriter, error)    { return nowhere{}, nil }
func (nowhere) Commit(context.Context, map[string]string) error            { return nil }
func (nowhere) Abort()                                                     {}
func (nowhere) Write(arrow.Record, []arrow.Array, *operators.Bitmap) error { return nil }
func (nowhere) Close() error                                               { return nil }

// writeBeside writes all files of a run but its outputs, complete on the disk but for their names.
func (j *running) writeBeside(
	ctx context.Context,
	r *operators.Report,
	document *schemas.Summary,
	summary session.SummaryFile,
	made session.SideFiles,
) ([]files.Output, error) {
	side, err := made.Write(ctx, r, j.Options)
	if err != nil {
		return nil, err
	}
	if summary.File != nil {
		if err := summary.Write(document); err != nil {
			return nil, err
		}
		side = append(side, summary.File)
	}
	for _, f := range side {
		if err := files.Held(f).Commit(); err != nil {
			return nil, err
		}
	}
	return side, nil
}
