package pipeline

import (
	"cmp"
	"context"
	"math"
	"sync"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"microrisk/engine/contingency"
	"microrisk/operators"
	"microrisk/operators/suda"
	"microrisk/schemas"
)

// A place is a row of one of several inputs.
type place struct {
	input int
	row   int64
}

func comparePlaces(p, q place) int {
	return cmp.Or(cmp.Compare(p.input, q.input), cmp.Compare(p.row, q.row))
}

// A linked is a sample that is to be linked: the table of its key, and where its records are.
type linked struct {
	role   string
	job    *job
	count  *counting
	table  *contingency.Table
	inputs []string
	first  []place // the first record of each class
}

// openLinked opens a sample with a key.
func openLinked(ctx context.Context, role string, spec *schemas.Spec, o Options) (*linked, error) {
	if progress := o.Progress; progress != nil {
		o.Progress = func(stage string, done, total int64) {
			if stage == "writing" { // nothing is: the scan that would write finds the records
				stage = "finding records of"
			}
			progress(stage+" "+role, done, total)
		}
	}
	j, err := openToLook(ctx, spec, suda.Config{}, o)
	if err != nil {
		return nil, inRole(role, err)
	}
	l := &linked{role: role, job: j, inputs: j.source.Inputs(), count: &counting{requests: keyRequest(*spec.Key), classes: true}}
	if j.chain, err = j.bind(true, append(operatorsOf(spec, &companions{}), l.count)...); err != nil {
		j.source.Close()
		return nil, inRole(role, err)
	}
	return l, nil
}

func (l *linked) Close() { l.job.source.Close() }

// read counts the sample, and finds the first record of each class.
func (l *linked) read(ctx context.Context) error {
	sink := &classSink{prepare: func() error {
		l.table = l.count.tables[0]
		l.first = make([]place, l.table.Classes())
		for i := range l.first {
			l.first[i] = place{math.MaxInt, 0}
		}
		return nil
	}, take: func(class int64, at place) {
		if comparePlaces(at, l.first[class]) < 0 {
			l.first[class] = at
		}
	}}
	_, err := l.job.chain.Run(ctx, l.job.source, sink, l.job.chainOptions())
	if err != nil {
		return inRole(l.role, err)
	}
	return nil
}

// records finds all records of some classes, in no order.
func (l *linked) records(ctx context.Context, wanted map[int64]bool) (map[int64][]place, error) {
	found := map[int64][]place{}
	sink := &classSink{prepare: func() error { return nil }, take: func(class int64, at place) {
		if wanted[class] {
			found[class] = append(found[class], at)
		}
	}}
	if _, err := l.job.chain.Run(ctx, l.job.source, sink, l.job.chainOptions()); err != nil {
		return nil, inRole(l.role, err)
	}
	return found, nil
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
