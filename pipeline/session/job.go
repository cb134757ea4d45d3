// Package session has what every verb needs: inputs are found and opened, operators of a spec bound and counted, side files and outputs
// written so that they appear whole or not at all. It knows no flags and no terminal.
package session

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
	Reads []Reading
	// Writes are files that are written with the outputs, of what comes of the run.
	Writes []string
	// Spread counts the records by their scores.
	Spread bool
	Logger *slog.Logger
	// Progress is called from several goroutines: rows of a scan, or the unit of a search.
	Progress func(stage string, done, total int64)
	// Enough begins a search that can end with its best so far, when the channel is closed; over ends it. nil: none is asked to.
	Enough func() (enough <-chan struct{}, over func())
	Runner Runner    // of chains; nil: this process alone
	Stdin  io.Reader // for the source "-"
	Stdout io.Writer // for the sink "-" and the summary "-"
	// Records are the source "-" in place of Stdin, and Sink is the sink "-" in place of Stdout: those of a program that has its records in memory.
	// They stay the caller's.
	Records operators.Source
	Sink    operators.Sink

	memoryKnown bool // whether Memory was given, or is the machine's, has been found out
	MemoryGiven bool // what was found out
}

// WithDefaults are the options with what is taken where nothing is said.
func (o Options) WithDefaults() Options {
	if o.Workers <= 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	if !o.memoryKnown {
		o.memoryKnown, o.MemoryGiven = true, o.Memory > 0
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

// A Job is a spec that is ready to run.
type Job struct {
	Spec    *schemas.Spec
	Options Options
	inputs  *Inputs
	Outputs *outputs
	Source  source
	Chain   *operators.Chain
	with    *Companions
}

// Prepare does all that can be done before the first row is read.
func Prepare(ctx context.Context, spec *schemas.Spec, options Options) (*Job, error) {
	if err := spec.Validate(); err != nil {
		return nil, err
	}
	j, err := OpenJob(ctx, spec, options)
	if err != nil {
		return nil, err
	}
	if options.KeepOlder {
		spec = j.besideOlder(spec)
		j.Spec = spec
	}
	if j.with, err = ReadBeside(ctx, spec, j.Options); err == nil {
		j.Chain, err = j.Rebind()
	}
	if err == nil {
		err = j.CheckRunner()
	}
	if err != nil {
		j.Source.Close()
		return nil, err
	}
	return j, nil
}

// OpenJob finds the inputs and outputs of a valid spec, and opens the inputs.
func OpenJob(ctx context.Context, spec *schemas.Spec, options Options) (*Job, error) {
	j := &Job{Spec: spec, Options: options.WithDefaults()}
	var err error
	if j.inputs, err = Resolve(spec.Source); err != nil {
		return nil, err
	}
	if j.inputs.Stdin && j.Options.Runner != nil { // before anything of it is read
		return nil, Wrong(errOneReader)
	}
	if j.Outputs, err = destine(spec, j.inputs, j.Options.Reads, j.Options.Writes...); err != nil {
		return nil, err
	}
	if dir := j.Options.TempDir; dir != "" {
		if info, err := os.Stat(dir); err != nil || !info.IsDir() {
			return nil, Wrong(fmt.Errorf("the folder %s for temporary files does not exist; create it first", dir))
		}
	}
	if j.Source, err = Open(ctx, spec.Source, j.inputs, j.Options); err != nil {
		return nil, err
	}
	return j, nil
}

// Bind binds operators to the source. With look the spec's key is theirs.
func (j *Job) Bind(look bool, list ...operators.Operator) (*operators.Chain, error) {
	if err := j.checkColumns(look); err != nil {
		return nil, err
	}
	chain, err := operators.NewChain(j.Source.Schema(), list...)
	if err != nil && strings.Contains(err.Error(), "\n") {
		err = errors.New(strings.ReplaceAll(err.Error(), "\n", "; ")) // both ends of a range
	}
	return chain, Wrong(err)
}

// OperatorsOf are the operators of a spec, in its order, with what they read beside the inputs.
func OperatorsOf(s *schemas.Spec, with *Companions) []operators.Operator {
	s = s.WithLevels()
	var list []operators.Operator
	weighed := s.Sampling != nil && s.Sampling.Weight != "" && s.Sampling.ZeroWeight == schemas.ZeroDrop
	setup := operators.Setup{Sampling: s.Sampling, Files: with.files, Solver: with.solver}
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

// ChainOptions are those of running the job's chain.
func (j *Job) ChainOptions() operators.Options {
	o := operators.Options{
		Workers:     j.Options.Workers,
		Batch:       j.Options.Batch,
		Memory:      j.Options.Memory,
		MemoryGiven: j.Options.MemoryGiven,
		TempDir:     j.Options.TempDir,
		Seed:        j.Options.Seed,
		AllowEmpty:  j.Spec.AllowEmpty,
		Identify:    j.Spec.ID,
		Spread:      j.Options.Spread,
		Logger:      j.Options.Logger,
		Progress:    j.Options.Progress,
	}
	if j.Spec.Source.Table != "" {
		o.Count = j.Spec.Source.Count
	}
	return o
}

// Verify decodes everything first, if that is asked for and the source can.
func (j *Job) Verify(ctx context.Context) error {
	v, ok := j.Source.(verifier)
	if !ok || !j.Options.Verify {
		return nil
	}
	return v.Verify(ctx, j.Options.Workers, func(done, total int64) { j.Options.Progress("verifying", done, total) })
}
