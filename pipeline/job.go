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

	"microrisk/operators"
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

// A job is a spec that is ready to run.
type job struct {
	spec    *schemas.Spec
	options Options
	inputs  *inputs
	outputs *outputs
	source  source
	chain   *operators.Chain
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
