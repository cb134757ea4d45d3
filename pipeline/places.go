package pipeline

import (
	"cmp"
	"context"
	"microrisk/operators"
	"sync"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
)

// A place is a row of one of several inputs.
type place struct {
	input int
	row   int64
}

func comparePlaces(p, q place) int {
	return cmp.Or(cmp.Compare(p.input, q.input), cmp.Compare(p.row, q.row))
}

// A classSink writes nothing: it tells the class of each record, the last column that is made.
type classSink struct {
	prepare func() error
	take    func(class int64, at place)

	parts []operators.Part
	mu    sync.Mutex
}

func (s *classSink) Begin(_ context.Context, parts []operators.Part, _ []operators.Output) ([]string, error) {
	s.parts = parts
	return nil, s.prepare()
}

func (s *classSink) Part(_ context.Context, i int) (operators.PartWriter, error) {
	return &classWriter{sink: s, at: place{s.parts[i].Input(), s.parts[i].FirstRow()}}, nil
}

func (s *classSink) Commit(context.Context, map[string]string) error { return nil }
func (s *classSink) Abort()                                          {}

type classWriter struct {
	sink *classSink
	at   place
}

func (w *classWriter) Write(_ arrow.Record, added []arrow.Array, keep *operators.Bitmap) error {
	class := added[len(added)-1].(*array.Int64).Int64Values()
	w.sink.mu.Lock()
	defer w.sink.mu.Unlock()
	for r, c := range class {
		if c >= 0 && (keep == nil || keep.Get(r)) {
			w.sink.take(c, place{w.at.input, w.at.row + int64(r)})
		}
	}
	w.at.row += int64(len(class))
	return nil
}

func (w *classWriter) Close() error { return nil }
