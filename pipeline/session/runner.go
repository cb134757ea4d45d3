package session

import (
	"context"
	"errors"
	"fmt"

	"microrisk/operators"
	"microrisk/operators/parquetfile"
	"microrisk/schemas"
)

// A Runner runs the chains of jobs in another way than all in this process.
type Runner interface {
	// Check says what of a job it cannot run, before anything starts.
	Check(j *Job) error
	// Run does what Chain.Run does with the job's source and these options.
	Run(ctx context.Context, j *Job, sink operators.Sink, o operators.Options) (*operators.Report, error)
}

// CheckRunner asks the runner whether it can run the job, if there is one.
func (j *Job) CheckRunner() error {
	if j.Options.Runner == nil {
		return nil
	}
	return Wrong(j.Options.Runner.Check(j))
}

// Run runs the chain, by the runner if there is one.
func (j *Job) Run(ctx context.Context, sink operators.Sink, o operators.Options) (*operators.Report, error) {
	if j.Options.Runner != nil {
		return j.Options.Runner.Run(ctx, j, sink, o)
	}
	return j.Chain.Run(ctx, j.Source, sink, o)
}

var errOneReader = errors.New("on a cluster: standard input is read by one process alone: name files")

// Apartable says what of a job cannot be run some parts at a time, by several processes: see [operators.Apart].
func (j *Job) Apartable() error {
	inner, partitioned := Unpartitioned(j.Source)
	_, parquet := inner.(*parquetfile.Source)
	switch {
	case !parquet:
		return fmt.Errorf("%s is not Parquet, whose row groups are what several processes read", j.inputs.Paths[0])
	case j.Outputs.Stdout || len(j.Outputs.Paths) > 0 && j.Outputs.kind != ParquetKind:
		return fmt.Errorf("the output is not Parquet, whose row groups are what several processes write")
	case partitioned != nil:
		return fmt.Errorf("the inputs lie in folders named NAME=value, whose columns are made by one process alone: name the files of one folder")
	}
	return j.Chain.Apartable()
}

// Bare is the spec of a job for workers of it: the inputs as they were found, and nothing that is written.
func (j *Job) Bare() *schemas.Spec {
	spec := *j.Spec
	if spec.Source.Table != "" {
		spec.Source.Table = j.inputs.Paths[0]
	} else {
		spec.Source.Path = j.inputs.Paths
	}
	spec.Sink.Path, spec.Sink.Format, spec.Summary, spec.Limits = "", "", "", nil
	return &spec
}

// Rebind binds the operators of a job once more.
func (j *Job) Rebind() (*operators.Chain, error) {
	return j.Bind(false, OperatorsOf(j.Spec, j.with)...)
}

// Pieces is a sink that gives pieces of the output, which is one for each input or one for all.
func (j *Job) Pieces(several bool, put func(part int, piece []byte) error) (*parquetfile.Sink, error) {
	src, ok := j.Source.(*parquetfile.Source)
	if !ok {
		return nil, j.Apartable()
	}
	return parquetfile.NewPieces(src, several, parquetOptions(j.Spec), put)
}

func parquetOptions(s *schemas.Spec) parquetfile.SinkOptions {
	return parquetfile.SinkOptions{Compression: s.Sink.Compression, OnlyListed: choosesColumns(s)}
}
