package session

import (
	"context"
	"fmt"
	"io"
	"slices"

	"microrisk/operators"
	"microrisk/operators/arrowfile"
	"microrisk/operators/csvfile"
	"microrisk/operators/files"
	"microrisk/operators/parquetfile"
	"microrisk/schemas"
)

// A source is what the packages of file formats open.
type source interface {
	operators.Source
	Inputs() []string
	Close() error
}

// inMemory is a source of records that the caller has in memory.
type inMemory struct{ operators.Source }

// Inputs is a source's.
func (inMemory) Inputs() []string { return []string{"-"} }

// Close is a source's: the records stay the caller's.
func (inMemory) Close() error { return nil }

// A verifier can decode everything it has, to find what reading the key columns alone would not.
type verifier interface {
	Verify(ctx context.Context, workers int, progress func(done, total int64)) error
}

// A reasoner knows why a column that the input has cannot be read.
type reasoner interface{ WhyNot(column string) error }

// A warner has something to say of the inputs.
type Warner interface{ Warnings() []string }

// batchMemory is what one of the record batches that workers read at the same time may take.
func (o Options) batchMemory() int64 {
	const least = 64 << 20 // about what the program needs besides its tables: below it files that mean no harm could not be read
	return max(o.Memory/int64(max(o.Workers, 1)), least)
}

// Open opens the inputs, with the columns that are in the names of their folders.
func Open(ctx context.Context, s schemas.Source, in *Inputs, o Options) (source, error) {
	src, err := openFiles(ctx, s, in, o)
	if err != nil {
		return nil, err
	}
	with, err := withPartitions(src)
	if err != nil {
		src.Close()
	}
	return with, err
}

// OpenPaths opens inputs that are nothing but their paths.
func OpenPaths(ctx context.Context, paths []string, o Options) (source, error) {
	from := schemas.Source{Path: paths}
	in, err := Resolve(from)
	if err != nil {
		return nil, err
	}
	return Open(ctx, from, in, o)
}

// MetadataOf is what the metadata of a Parquet file have under a key, "" for nothing.
func MetadataOf(ctx context.Context, path, key string) (string, error) {
	source, err := parquetfile.Open(ctx, []string{path}, parquetfile.Options{})
	if err != nil {
		return "", err
	}
	return source.KeyValue(0, key), source.Close()
}

func openFiles(ctx context.Context, s schemas.Source, in *Inputs, o Options) (source, error) {
	switch {
	case in.Stdin && o.Records != nil:
		return inMemory{o.Records}, nil
	case in.Stdin:
		if o.Stdin == nil {
			return nil, fmt.Errorf("standard input is not there to be read")
		}
		// A stream is read twice; what does not fit in a part of the memory is kept in a file meanwhile.
		return arrowfile.NewStreamSource(
			ctx,
			interruptible{ctx, o.Stdin},
			arrowfile.StreamOptions{Memory: o.Memory / 4, TempDir: o.TempDir, Most: o.batchMemory()},
		)
	case in.Kind == ParquetKind:
		return parquetfile.Open(ctx, in.Paths, parquetfile.Options{Logger: o.Logger, Memory: o.Memory})
	case in.Kind == arrowKind:
		return arrowfile.Open(ctx, in.Paths, arrowfile.Options{Memory: o.batchMemory()})
	case in.Kind == csvKind:
		options := csvfile.Options{Types: s.Types}
		for _, r := range s.Delimiter {
			options.Delimiter = r
		}
		return csvfile.Open(ctx, in.Paths, options)
	}
	return nil, fmt.Errorf("there is no reader for %q", in.Kind)
}

// SinkTo makes what writes the outputs; nil when there are none.
func SinkTo(ctx context.Context, src source, out *outputs, s *schemas.Spec, o Options) (operators.Sink, error) {
	if out.Stdout && o.Sink != nil {
		return o.Sink, nil
	}
	inner, p := Unpartitioned(src)
	var to []files.Output
	if !out.Stdout {
		var err error
		if to, err = files.CreateAll(ctx, out.Paths, inner.Inputs()); err != nil {
			return nil, err
		}
	}
	sink, err := filesTo(inner, out, to, s, o.Stdout)
	if err != nil || sink == nil || p == nil {
		return sink, err
	}
	return &partitionedSink{Sink: sink, source: p, folders: out.folder}, nil
}

func filesTo(src operators.Source, out *outputs, to []files.Output, s *schemas.Spec, stdout io.Writer) (operators.Sink, error) {
	switch {
	case out.Stdout:
		return arrowfile.NewStreamSink(stdout), nil
	case len(to) == 0:
		return nil, nil
	case out.kind == ParquetKind:
		return parquetfile.NewSink(src, to, parquetOptions(s))
	case out.kind == arrowKind:
		return arrowfile.NewSink(src, to)
	case out.kind == csvKind:
		return csvfile.NewSink(src, to, csvfile.SinkOptions{OnlyListed: choosesColumns(s), Gzip: out.packed})
	}
	return nil, fmt.Errorf("there is no writer for %q", out.kind)
}

// choosesColumns tells whether the spec lists the columns of the output: then a column that nobody listed stays out of it even if it
// would pass through unread.
func choosesColumns(s *schemas.Spec) bool {
	return slices.ContainsFunc(s.Operators, func(o schemas.Operator) bool {
		c, ok := o.Config.(schemas.Choosing)
		return ok && c.ChoosesColumns()
	})
}

// interruptible is a reader whose Read returns when the context ends, even if the one under it waits for a writer that never comes.
type interruptible struct {
	ctx context.Context
	r   io.Reader
}

func (i interruptible) Read(p []byte) (int, error) {
	if err := i.ctx.Err(); err != nil {
		return 0, err
	}
	type result struct {
		n   int
		err error
	}
	// The buffer is not the caller's: an abandoned read may still write to it.
	buffer, done := make([]byte, len(p)), make(chan result, 1)
	go func() {
		n, err := i.r.Read(buffer)
		done <- result{n, err}
	}()
	select {
	case r := <-done:
		return copy(p, buffer[:r.n]), r.err
	case <-i.ctx.Done():
		return 0, i.ctx.Err()
	}
}
