// Package pipeline runs a spec: it finds the inputs, binds the operators, counts, fits, annotates, and writes the outputs and the
// summary document.
//
//	spec, err := specfile.Decode("census.yaml", text)
//	outcome, err := pipeline.Run(ctx, spec, pipeline.Options{})
//	for _, b := range outcome.Breaches {
//		fmt.Println(b)
//	}
//
// It knows no flags and no terminal; package command has those.
package pipeline

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"runtime"
	"strings"
	"time"

	"microrisk/operators"
	"microrisk/operators/files"
	"microrisk/operators/selection"
	"microrisk/schemas"
)

// DefaultSeed is the seed of a run that is given none.
const DefaultSeed = 1

// Options of a run. The zero value is good.
type Options struct {
	Workers int    // 0: GOMAXPROCS
	Memory  int64  // bytes that tables may take; 0: half of what the machine or its control group allows
	TempDir string // for a stream that does not fit in a quarter of Memory; "": the system's
	Seed    uint64 // 0: DefaultSeed
	Batch   int    // rows a batch; 0: the reader's choice
	Host    bool   // name the machine in the summary document
	Verify  bool   // decode every page of every column before any work
	// InsecureSecret takes secrets that others than their owner can read.
	InsecureSecret bool
	// KeepOlder lets columns of an earlier run be: where the source has a name that a new column would have, the new ones take the next
	// prefix that is free. Without it that is an error.
	KeepOlder bool
	// Reads are files that were read to say what is to be done: a spec, recodes. No output takes their place.
	Reads  []Reading
	Logger *slog.Logger
	// Progress is called from several goroutines: rows of a scan, or the unit of a search.
	Progress func(stage string, done, total int64)
	Stdin    io.Reader // for the source "-"
	Stdout   io.Writer // for the sink "-" and the summary "-"

	memoryKnown bool // whether Memory was given, or is the machine's, has been found out
	memoryGiven bool
}

func (o Options) withDefaults() Options {
	if o.Workers <= 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	if !o.memoryKnown {
		o.memoryKnown, o.memoryGiven = true, o.Memory > 0
	}
	if o.Memory <= 0 {
		o.Memory = DefaultMemory()
	}
	if o.Seed == 0 {
		o.Seed = DefaultSeed
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Stdout == nil {
		o.Stdout = io.Discard
	}
	if o.Progress == nil {
		o.Progress = func(string, int64, int64) {}
	}
	return o
}

// An Outcome is what a run did.
type Outcome struct {
	Spec     *schemas.Spec // as it was run
	Summary  *schemas.Summary
	Inputs   []string
	Outputs  []string            // files written; "-" for standard output
	Written  int64               // rows of the outputs
	Rankings []operators.Ranking // the riskiest records
	Breaches []Breach            // limits that were passed; the outputs are written nevertheless
}

// A job is a spec that is ready to run.
type job struct {
	spec    *schemas.Spec
	options Options
	inputs  *inputs
	outputs *outputs
	source  source
	chain   *operators.Chain
}

// Run does what the spec says. Outputs appear when they are complete, or not at all. Errors about the spec itself are those for
// which IsSpec is true.
func Run(ctx context.Context, spec *schemas.Spec, options Options) (*Outcome, error) {
	start := time.Now()
	j, err := prepare(ctx, spec, options)
	if err != nil {
		return nil, err
	}
	defer j.source.Close()
	spec = j.spec
	j.options.sweep(j.outputs.written...)
	if err := j.verify(ctx); err != nil {
		return nil, err
	}
	tidy, err := makeFolders(j.outputs.written)
	if err != nil {
		return nil, err
	}
	defer tidy()
	sink, err := sinkTo(j.source, j.outputs, spec, j.options.Stdout)
	if err != nil {
		return nil, err
	}
	if sink != nil {
		defer sink.Abort()
	}
	summary, err := j.openSummary()
	if err != nil {
		return nil, err
	}
	defer summary.Abort()
	made, err := openSideFiles(spec, j.source.Inputs())
	if err != nil {
		return nil, err
	}
	defer made.Abort()

	// What goes beside the outputs is written before they are completed, so that either all are put in place or none.
	var document *schemas.Summary
	var side []files.Output
	o := j.chainOptions()
	o.Finish = func(r *operators.Report) (map[string]string, error) {
		if document, err = j.summarize(r); err != nil {
			return nil, err
		}
		metadata, err := j.footer(document, r)
		if err != nil {
			return nil, err
		}
		document.Run = j.runSummary(start, r.Spilled)
		side, err = j.writeBeside(ctx, r, document, summary, made)
		return metadata, err
	}
	report, err := j.chain.Run(ctx, j.source, sink, o)
	if err != nil {
		return nil, err
	}
	if err := summary.commit(document, side...); err != nil {
		return nil, err
	}
	outcome := &Outcome{Spec: spec, Summary: document, Inputs: j.source.Inputs(), Outputs: j.outputs.paths, Written: report.Written, Rankings: report.Rankings}
	if j.outputs.stdout {
		outcome.Outputs = []string{"-"}
	}
	for _, l := range document.Limits {
		if l.Breached {
			outcome.Breaches = append(outcome.Breaches, Breach(l))
		}
	}
	return outcome, nil
}

// prepare does all that can be done before the first row is read.
func prepare(ctx context.Context, spec *schemas.Spec, options Options) (*job, error) {
	if err := spec.Validate(); err != nil {
		return nil, err
	}
	j, err := openJob(ctx, spec, options)
	if err != nil {
		return nil, err
	}
	if options.KeepOlder {
		spec = j.besideOlder(spec)
		j.spec = spec
	}
	with, err := readBeside(ctx, spec, j.options)
	if err == nil {
		j.chain, err = j.bind(false, operatorsOf(spec, with)...)
	}
	if err != nil {
		j.source.Close()
		return nil, err
	}
	return j, nil
}

// openJob finds the inputs and outputs of a valid spec, and opens the inputs.
func openJob(ctx context.Context, spec *schemas.Spec, options Options) (*job, error) {
	j := &job{spec: spec, options: options.withDefaults()}
	var err error
	if j.inputs, err = resolve(spec.Source); err != nil {
		return nil, err
	}
	if j.outputs, err = destine(spec, j.inputs, j.options.Reads); err != nil {
		return nil, err
	}
	if dir := j.options.TempDir; dir != "" {
		if info, err := os.Stat(dir); err != nil || !info.IsDir() {
			return nil, wrong(fmt.Errorf("the folder %s for temporary files does not exist; create it first", dir))
		}
	}
	if j.source, err = open(ctx, spec.Source, j.inputs, j.options); err != nil {
		return nil, err
	}
	return j, nil
}

// bind binds operators to the source. With look the spec's key is theirs.
func (j *job) bind(look bool, list ...operators.Operator) (*operators.Chain, error) {
	if err := j.checkColumns(look); err != nil {
		return nil, err
	}
	chain, err := operators.NewChain(j.source.Schema(), list...)
	if err != nil && strings.Contains(err.Error(), "\n") {
		err = errors.New(strings.ReplaceAll(err.Error(), "\n", "; ")) // both ends of a range
	}
	return chain, wrong(err)
}

// operatorsOf are the operators of a spec, in its order, with what they read beside the inputs.
func operatorsOf(s *schemas.Spec, with *companions) []operators.Operator {
	s = s.WithLevels()
	var list []operators.Operator
	weighed := s.Sampling != nil && s.Sampling.Weight != "" && s.Sampling.ZeroWeight == schemas.ZeroDrop
	setup := operators.Setup{Sampling: s.Sampling, Files: with.files}
	if s.Key != nil {
		setup.Key = *s.Key
	}
	for _, o := range s.Operators {
		if weighed && o.Measure() != nil {
			list = append(list, selection.Weighed{Column: s.Sampling.Weight})
			weighed = false
		}
		if c, ok := o.Config.(operators.Config); ok {
			list = append(list, c.Operators(setup)...)
		}
	}
	return list
}

func (j *job) chainOptions() operators.Options {
	o := operators.Options{Workers: j.options.Workers, Batch: j.options.Batch, Memory: j.options.Memory, MemoryGiven: j.options.memoryGiven, TempDir: j.options.TempDir, Seed: j.options.Seed, AllowEmpty: j.spec.AllowEmpty, Identify: j.spec.ID,
		Logger: j.options.Logger, Progress: j.options.Progress}
	if j.spec.Source.Table != "" {
		o.Count = j.spec.Source.Count
	}
	return o
}

// verify decodes everything first, if that is asked for and the source can.
func (j *job) verify(ctx context.Context) error {
	v, ok := j.source.(verifier)
	if !ok || !j.options.Verify {
		return nil
	}
	return v.Verify(ctx, j.options.Workers, func(done, total int64) { j.options.Progress("verifying", done, total) })
}

// A summaryFile is where the summary document goes; the zero value is nowhere.
type summaryFile struct {
	file files.Output
	to   io.Writer
}

func (j *job) openSummary() (summaryFile, error) {
	switch j.spec.Summary {
	case "":
		return summaryFile{}, nil
	case "-":
		return summaryFile{to: j.options.Stdout}, nil
	}
	f, err := files.Create(j.spec.Summary, j.source.Inputs()...)
	if err != nil {
		return summaryFile{}, err
	}
	return summaryFile{file: f, to: f}, nil
}

// Abort leaves nothing behind of a summary that was not committed.
func (s summaryFile) Abort() {
	if s.file != nil {
		s.file.Abort()
	}
}

// writeBeside writes all files of a run but its outputs, complete on the disk but for their names.
func (j *job) writeBeside(ctx context.Context, r *operators.Report, document *schemas.Summary, summary summaryFile, made sideFiles) ([]files.Output, error) {
	side, err := made.write(ctx, r, j.options)
	if err != nil {
		return nil, err
	}
	if summary.file != nil {
		if err := summary.write(document); err != nil {
			return nil, err
		}
		side = append(side, summary.file)
	}
	for _, f := range side {
		if err := files.Held(f).Commit(); err != nil {
			return nil, err
		}
	}
	return side, nil
}

func (s summaryFile) write(document *schemas.Summary) error {
	text, err := document.MarshalIndent()
	if err == nil {
		_, err = s.to.Write(text)
	}
	if err != nil {
		return fmt.Errorf("writing the summary: %w", pathReason(err))
	}
	return nil
}

// commit puts files in place; a summary for standard output follows.
func (s summaryFile) commit(document *schemas.Summary, side ...files.Output) error {
	if err := files.Commit(side...); err != nil || s.to == nil || s.file != nil {
		return err
	}
	return s.write(document)
}
