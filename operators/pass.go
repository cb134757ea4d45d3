package operators

import (
	"context"
	"sync"
	"sync/atomic"

	"microrisk/engine/contingency"
)

// scan takes all parts through a scan, on all workers.
func (r *run) scan(ctx context.Context, s *scan, name string, sink Sink) ([]*worker, error) {
	var next, done, written atomic.Int64
	s.disk = r.onDisk(s)
	inOrder := r.inOrder(s)
	parts := r.parts
	if sink == nil && !inOrder && len(s.disk) == 0 {
		parts = divided(parts, s.wants, r.o.Workers)
	}
	workers := make([]*worker, min(r.o.Workers, max(len(parts), 1)))
	if inOrder {
		workers = workers[:1]
	}
	var group sync.WaitGroup
	failure := newFirstFailure()
	r.o.Progress(name, 0, r.rows)
	step := int64(r.partsAtOnce(s))
	for i := range workers {
		w := &worker{
			run:      r,
			scan:     s,
			parts:    parts,
			mem:      r.o.Allocator,
			counters: map[string]*contingency.Counter{},
			coders:   map[string][]*coder{},
			top:      map[int][]RiskyRow{},
			spread:   map[int]Spread{},
			sink:     sink,
			written:  &written,
		}
		workers[i] = w
		after := func(rows int64) error {
			r.o.Progress(name, done.Add(rows), r.rows)
			return w.spill(len(workers))
		}
		take := w.takePart
		if len(s.disk) > 0 {
			take = w.takeBlocks
		}
		group.Go(func() {
			for {
				first := int(next.Add(step) - step)
				if first >= len(parts) {
					return
				}
				ctx, ok := failure.begin(ctx, first)
				if !ok {
					return
				}
				failure.end(first, take(ctx, first, min(first+int(step), len(parts)), after))
			}
		})
	}
	group.Wait()
	r.report.Written = written.Load()
	if failure.err != nil {
		return workers, failure.err
	}
	return workers, r.checkFound(s)
}

// PieceRows is how many rows a piece of a part has at least: each begins with its column chunks' dictionaries.
const PieceRows = 1 << 17

// divided are pieces of parts, where there are too few for the workers. A part keeps two of them busy as it is, one that reads ahead and one that
// counts.
func divided(parts []Part, want []Want, workers int) []Part {
	const each = 4 // pieces of a worker, as some take longer
	if 2*len(parts) >= workers {
		return parts
	}
	var rows int64
	for _, p := range parts {
		rows += p.Rows()
	}
	var out []Part
	for _, p := range parts {
		d, ok := p.(Divisible)
		n := min(p.Rows()/PieceRows, int64(workers*each)*p.Rows()/max(rows, 1))
		if !ok || n < 2 {
			out = append(out, p)
			continue
		}
		out = append(out, d.Divide(want, int(n))...)
	}
	return out
}

// inOrder starts the operators of a scan that look at rows in their order, and tells whether there are any.
func (r *run) inOrder(s *scan) bool {
	any := false
	for i, step := range r.chain.steps {
		if !s.apply[i] || !step.plan.InOrder {
			continue
		}
		any = true
		fitted := r.fitted[i]
		if fitted == nil {
			fitted = step.plan.Apply
		}
		if f, ok := fitted.(Starting); ok {
			f.Start()
		}
	}
	return any
}
