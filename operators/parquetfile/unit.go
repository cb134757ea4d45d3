package parquetfile

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/apache/arrow/go/v17/arrow"

	"microrisk/operators"
	"microrisk/schemas"
)

// A unit is what becomes one stretch of an output: the row group of an input, or some parts of another source together.
type unit struct {
	sink    *Sink
	index   int
	output  int
	first   int // number of its first part
	parts   []*partWriter
	started bool // under Sink.mu

	full []*encoded // under Sink.mu: row groups of another source that wait for the unit's turn

	mu      sync.Mutex // several parts are written at the same time, but encoded one after the other
	encoder *encoder
	turn    int // part that is being encoded
}

// made is what there is to write of a unit.
type made struct {
	before   []*encoded // full row groups that precede added, of another source
	added    *encoded
	original *encoded // rewritten chunks of the input, nil for those of the file itself
	rows     int64
}

func (m *made) size() int {
	n := len(m.added.data)
	for _, e := range m.before {
		n += len(e.data)
	}
	if m.original != nil {
		n += len(m.original.data)
	}
	return n
}

// A partWriter takes the rows of one part.
type partWriter struct {
	unit    *unit
	part    operators.Part
	turn    int
	ctx     context.Context
	started bool // under Sink.mu
	rows    int64
	kept    int64
	keep    *operators.Bitmap // of the whole part, nil while all rows stay
	waiting []heldBatch
	closed  bool
}

// A heldBatch waits for the parts before.
type heldBatch struct {
	arrays []arrow.Array
	rows   int
	keep   *operators.Bitmap
}

// Write takes the next rows of the part.
func (w *partWriter) Write(rows arrow.Record, added []arrow.Array, keep *operators.Bitmap) error {
	n, err := w.batchRows(rows, added, keep)
	if err != nil {
		return fmt.Errorf("%s: %w", w.part, err)
	}
	if w.rows+int64(n) > w.part.Rows() && w.unit.sink.source != nil {
		return fmt.Errorf("%s: more than its %d rows were handed over", w.part, w.part.Rows())
	}
	w.remember(n, keep)
	arrays := w.arrange(rows, added)
	u := w.unit
	u.mu.Lock()
	defer u.mu.Unlock()
	if w.turn != u.turn {
		for _, a := range arrays {
			a.Retain()
		}
		w.waiting = append(w.waiting, heldBatch{arrays, n, copyOf(keep)})
		return nil
	}
	if err := w.drain(); err != nil {
		return err
	}
	return w.encode(arrays, n, keep)
}

func (w *partWriter) batchRows(rows arrow.Record, added []arrow.Array, keep *operators.Bitmap) (int, error) {
	n := -1
	see := func(m int) error {
		if n >= 0 && n != m {
			return fmt.Errorf("a batch has columns of %d and of %d rows", n, m)
		}
		n = m
		return nil
	}
	var err error
	if rows != nil && (rows.NumCols() > 0 || rows.NumRows() > 0) {
		err = see(int(rows.NumRows()))
	}
	for _, a := range added {
		err = errors.Join(err, see(a.Len()))
	}
	if keep != nil {
		err = errors.Join(err, see(keep.Len()))
	}
	return max(n, 0), err
}

// remember notes which rows of the part stay.
func (w *partWriter) remember(n int, keep *operators.Bitmap) {
	if keep == nil && w.keep == nil {
		w.rows += int64(n)
		w.kept += int64(n)
		return
	}
	if w.keep == nil {
		w.keep = operators.NewBitmap(int(max(w.part.Rows(), w.rows+int64(n))))
		for i := range w.rows {
			w.keep.Set(int(i))
		}
	}
	for i := range n {
		if keep == nil || keep.Get(i) {
			if k := int(w.rows) + i; k < w.keep.Len() {
				w.keep.Set(k)
			}
			w.kept++
		}
	}
	w.rows += int64(n)
}

// arrange puts the arrays in the order of the columns that are encoded.
func (w *partWriter) arrange(rows arrow.Record, added []arrow.Array) []arrow.Array {
	s := w.unit.sink
	if s.source != nil {
		return added
	}
	arrays := make([]arrow.Array, 0, len(s.out))
	old, new := 0, 0
	for _, o := range s.out {
		if o.Input {
			arrays = append(arrays, rows.Column(old))
			old++
		} else {
			arrays = append(arrays, added[new])
			new++
		}
	}
	return arrays
}

func (w *partWriter) encode(arrays []arrow.Array, rows int, keep *operators.Bitmap) error {
	u := w.unit
	if len(arrays) != len(u.sink.fields) {
		return fmt.Errorf("%s: %d columns instead of %d were handed over", w.part, len(arrays), len(u.sink.fields))
	}
	if len(arrays) == 0 {
		return nil
	}
	err := guard(func() error { return u.encoding().write(arrays, rows, keep) })
	if err != nil {
		return fmt.Errorf("%s: %w", w.part, err)
	}
	if full := u.encoder.takeFull(); full != nil {
		return u.sink.pass(w.ctx, u, full)
	}
	return nil
}

func (u *unit) encoding() *encoder {
	if u.encoder == nil {
		limit := int64(maxGroupRows)
		if u.sink.source != nil {
			limit = 0
		}
		u.encoder = newEncoder(u.sink.fields, u.sink.formats, u.sink.codec, limit)
	}
	return u.encoder
}

// release gives up what waits.
func (w *partWriter) release() {
	for _, b := range w.waiting {
		for _, a := range b.arrays {
			a.Release()
		}
	}
	w.waiting = nil
}

func copyOf(keep *operators.Bitmap) *operators.Bitmap {
	if keep == nil {
		return nil
	}
	b := operators.NewBitmap(keep.Len())
	for i := range keep.Len() {
		if keep.Get(i) {
			b.Set(i)
		}
	}
	return b
}

// drain encodes what has waited.
func (w *partWriter) drain() error {
	defer w.release()
	for _, b := range w.waiting {
		if err := w.encode(b.arrays, b.rows, b.keep); err != nil {
			return err
		}
	}
	return nil
}

// Close ends the part; the last one of a unit completes it.
func (w *partWriter) Close() error {
	u := w.unit
	u.mu.Lock()
	if w.closed {
		u.mu.Unlock()
		return nil
	}
	w.closed = true
	err := u.advance()
	done := err == nil && u.turn == len(u.parts)
	u.mu.Unlock()
	if err == nil && u.sink.source != nil && w.rows != w.part.Rows() && len(u.sink.fields) > 0 {
		err = fmt.Errorf("%s: %d of its %d rows were handed over", w.part, w.rows, w.part.Rows())
	}
	if err != nil || !done {
		return err
	}
	m, err := u.complete()
	if err != nil {
		return err
	}
	return u.sink.deliver(u, m)
}

// advance encodes the parts whose turn it is.
func (u *unit) advance() error {
	for u.turn < len(u.parts) && u.parts[u.turn].closed {
		if err := u.parts[u.turn].drain(); err != nil {
			return err
		}
		u.turn++
	}
	return nil
}

func (u *unit) complete() (*made, error) {
	m := &made{}
	for _, w := range u.parts {
		m.rows += w.kept
	}
	w := u.parts[0]
	if u.sink.source != nil && len(u.sink.fields) == 0 && w.rows == 0 {
		m.rows = w.part.Rows() // nothing is added: no rows need be handed over
	}
	err := guard(func() (err error) {
		if m.added, err = u.encoding().finish(); err == nil {
			m.before = u.encoder.takeFull()
		}
		return err
	})
	u.encoder = nil
	if err != nil {
		return nil, fmt.Errorf("%s: encoding: %w", w.part, err)
	}
	if p, ok := w.part.(*part); ok && u.sink.source != nil && w.keep != nil && w.kept > 0 && w.kept < p.rows {
		l, err := u.layout(p.file)
		if err == nil {
			m.original, err = p.rewrite(w.keep, l.newLeaf, u.sink.codec)
		}
		if err != nil {
			return nil, &schemas.InputError{Location: p.Location(), Err: err}
		}
	}
	return m, nil
}

// layout is that of the rows of an input in the output.
func (u *unit) layout(f *file) (*layout, error) {
	if u.sink.put != nil { // of many inputs only few are looked at
		return u.sink.arrange(f)
	}
	return u.sink.outputs[u.output].layouts[f], nil
}

// pass takes row groups of a unit that is not complete: they are written if it is the unit's turn, and wait otherwise. It waits
// while too much does.
func (s *Sink) pass(ctx context.Context, u *unit, groups []*encoded) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, g := range groups {
		u.full = append(u.full, g)
		s.bytes += len(g.data)
	}
	if err := s.await(ctx, u, (*unit).underWay); err != nil {
		return err
	}
	for u.index == s.next && !s.writing && len(u.full) > 0 && s.err == nil && !s.ended {
		full := u.full
		u.full, s.writing = nil, true
		s.mu.Unlock()
		err := s.outputs[u.output].appendGroups(full)
		s.mu.Lock()
		s.writing, s.err = false, err
		for _, g := range full {
			s.bytes -= len(g.data)
		}
		s.changed.Broadcast()
	}
	return s.err
}

// underWay tells whether all parts of the unit have been started, so that it does not wait for a worker that waits for it.
func (u *unit) underWay() bool {
	for _, w := range u.parts {
		if !w.started {
			return false
		}
	}
	return true
}
