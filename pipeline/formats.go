package pipeline

import (
	"context"
	"fmt"
	"io"

	"microrisk/operators"
	"microrisk/operators/arrowfile"
	"microrisk/operators/csvfile"
	"microrisk/operators/parquetfile"
	"microrisk/schemas"
)

// A source is what the packages of file formats open.
type source interface {
	operators.Source
	Inputs() []string
	Close() error
}

// A verifier can decode everything it has, to find what reading the key columns alone would not.
type verifier interface {
	Verify(ctx context.Context, workers int, progress func(done, total int64)) error
}

// A reasoner knows why a column that the input has cannot be read.
type reasoner interface{ WhyNot(column string) error }

// open opens the inputs.
func open(ctx context.Context, s schemas.Source, in *inputs, o Options) (source, error) {
	switch {
	case in.stdin:
		if o.Stdin == nil {
			return nil, fmt.Errorf("standard input is not there to be read")
		}
		// A stream is read twice; what does not fit in a part of the memory is kept in a file meanwhile.
		return arrowfile.NewStreamSource(ctx, o.Stdin, arrowfile.StreamOptions{Memory: o.Memory / 4, TempDir: o.TempDir})
	case in.kind == parquetKind:
		return parquetfile.NewSource(ctx, in.paths, parquetfile.Options{})
	case in.kind == arrowKind:
		return arrowfile.NewSource(ctx, in.paths, arrowfile.Options{})
	case in.kind == csvKind:
		options := csvfile.Options{Types: s.Types}
		for _, r := range s.Delimiter {
			options.Delimiter = r
		}
		return csvfile.NewSource(ctx, in.paths, options)
	}
	return nil, fmt.Errorf("there is no reader for %q", in.kind)
}

// sinkTo makes what writes the outputs; nil when there are none.
func sinkTo(src source, out *outputs, compression string, filtered bool, stdout io.Writer) (operators.Sink, error) {
	switch {
	case out.stdout:
		return arrowfile.NewStreamSink(stdout), nil
	case len(out.paths) == 0:
		return nil, nil
	case out.kind == parquetKind:
		return parquetfile.NewSink(src, out.paths, parquetfile.SinkOptions{Compression: compression, Filtered: filtered})
	case out.kind == arrowKind:
		return arrowfile.NewSink(src, out.paths, arrowfile.SinkOptions{Filtered: filtered})
	case out.kind == csvKind:
		return csvfile.NewSink(src, out.paths, csvfile.SinkOptions{Filtered: filtered})
	}
	return nil, fmt.Errorf("there is no writer for %q", out.kind)
}
