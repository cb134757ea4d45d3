package session

import (
	"context"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"microrisk/operators"
)

// A partitionedSink writes the rows of a source with partition columns: in files of one output for all these are added columns, in
// outputs in folders the names of the folders have them.
type partitionedSink struct {
	operators.Sink
	source  *partitioned
	folders bool
	parts   []operators.Part
	columns []int // of each added column: the partition column that it is, -1 for another
}

// Begin is a Sink's.
func (s *partitionedSink) Begin(ctx context.Context, parts []operators.Part, out []operators.Output) ([]string, error) {
	of := map[string]int{}
	for i, name := range s.source.names {
		of[name] = i
	}
	s.parts = make([]operators.Part, len(parts))
	for i, p := range parts {
		s.parts[i] = p.(*partitionedPart).Part
	}
	var inner []operators.Output
	for _, o := range out {
		column, is := of[o.Field.Name]
		switch {
		case is && s.folders && o.Input:
			continue
		case is && s.folders:
			return nil, Wrong(
				fmt.Errorf(
					"files in folders named %s=... cannot have a new column %q: give it another name, or write all to one file",
					o.Field.Name,
					o.Field.Name,
				),
			)
		case is && o.Input:
			o.Input = false
			s.columns = append(s.columns, column)
		case !o.Input:
			s.columns = append(s.columns, -1)
		}
		inner = append(inner, o)
	}
	return s.Sink.Begin(ctx, s.parts, inner)
}

// Part is a Sink's.
func (s *partitionedSink) Part(ctx context.Context, i int) (operators.PartWriter, error) {
	w, err := s.Sink.Part(ctx, i)
	if err != nil {
		return nil, err
	}
	return &partitionedWriter{w, s, s.parts[i].Input()}, nil
}

type partitionedWriter struct {
	operators.PartWriter
	sink  *partitionedSink
	input int
}

// Write is a PartWriter's.
func (w *partitionedWriter) Write(rows arrow.Record, added []arrow.Array, keep *operators.Bitmap) error {
	n := int(rows.NumRows())
	all := make([]arrow.Array, 0, len(w.sink.columns))
	next := 0
	for _, column := range w.sink.columns {
		if column < 0 {
			all = append(all, added[next])
			next++
			continue
		}
		a := w.sink.source.column(memory.DefaultAllocator, column, w.input, n, true)
		defer a.Release()
		all = append(all, a)
	}
	return w.PartWriter.Write(rows, all, keep)
}

// Unpartitioned is the source that knows the files.
func Unpartitioned(src source) (source, *partitioned) {
	if p, ok := src.(*partitioned); ok {
		return p.source, p
	}
	return src, nil
}

var _ array.RecordReader = (*partitionedReader)(nil)
