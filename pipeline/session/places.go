package session

import (
	"cmp"
	"context"
	"sync"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"microrisk/operators"
)

// A Place is a row of one of several inputs.
type Place struct {
	Input int
	Row   int64
}

// ComparePlaces puts places in order: by input, then by row.
func ComparePlaces(p, q Place) int {
	return cmp.Or(cmp.Compare(p.Input, q.Input), cmp.Compare(p.Row, q.Row))
}

// A ClassSink writes nothing: it tells the class of each record, the last column that is made.
type ClassSink struct {
	Prepare func() error // before the first record; nil for nothing
	Take    func(class int64, at Place)

	parts []operators.Part
	mu    sync.Mutex
}

func (s *ClassSink) Begin(_ context.Context, parts []operators.Part, _ []operators.Output) ([]string, error) {
	s.parts = parts
	if s.Prepare == nil {
		return nil, nil
	}
	return nil, s.Prepare()
}

func (s *ClassSink) Part(_ context.Context, i int) (operators.PartWriter, error) {
	return &classWriter{sink: s, at: Place{s.parts[i].Input(), s.parts[i].FirstRow()}}, nil
}

func (s *ClassSink) Commit(context.Context, map[string]string) error { return nil }
func (s *ClassSink) Abort()                                          {}

type classWriter struct {
	sink *ClassSink
	at   Place
}

func (w *classWriter) Write(_ arrow.Record, added []arrow.Array, keep *operators.Bitmap) error {
	class := added[len(added)-1].(*array.Int64).Int64Values()
	w.sink.mu.Lock()
	defer w.sink.mu.Unlock()
	for r, c := range class {
		if c >= 0 && (keep == nil || keep.Get(r)) {
			w.sink.Take(c, Place{w.at.Input, w.at.Row + int64(r)})
		}
	}
	w.at.Row += int64(len(class))
	return nil
}

func (w *classWriter) Close() error { return nil }
