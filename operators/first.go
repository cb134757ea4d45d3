package operators

import (
	"context"
	"errors"
	"math"
	"sync"

	"microrisk/schemas"
	"microrisk/schemas/advice"
)

// A rowError is about a row of a part.
type rowError struct{ *schemas.InputError }

func (e *rowError) Unwrap() error { return e.InputError }

// rowError says in which row of the current batch an error is.
func (w *worker) rowError(r int, err error) error {
	return &rowError{&schemas.InputError{Location: schemas.Location{Unit: "row", Number: w.row(r)}, Err: err}}
}

// rowErrorf makes a rowError about row r of the current batch.
func (w *worker) rowErrorf(r int, format string, args ...any) error {
	return w.rowError(r, advice.Errorf(format, args...))
}

// valueErrorf makes a rowError about a column of row r of the current batch; the text names the column.
func (w *worker) valueErrorf(r int, column, format string, args ...any) error {
	return w.rowError(r, schemas.OfColumn(column, advice.Errorf(format, args...)))
}

// earlier is the error about the earlier row; one that is about no row comes before all that are.
func earlier(a, b error) error {
	var x, y *rowError
	switch {
	case a == nil:
		return b
	case b == nil || !errors.As(a, &x):
		return a
	case !errors.As(b, &y) || y.Number < x.Number:
		return b
	}
	return a
}

// A firstFailure keeps the failure of the first part that fails, whichever worker is the first to meet one: parts before it are read to
// their end, those after it are given up. So an error names the same row for any number of workers.
type firstFailure struct {
	mu      sync.Mutex
	part    int
	err     error
	running map[int]context.CancelFunc
}

func newFirstFailure() *firstFailure {
	return &firstFailure{part: math.MaxInt, running: map[int]context.CancelFunc{}}
}

// begin gives a part its context; false if a part before it has failed.
func (f *firstFailure) begin(ctx context.Context, part int) (context.Context, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if part > f.part {
		return nil, false
	}
	ctx, cancel := context.WithCancel(ctx)
	f.running[part] = cancel
	return ctx, true
}

// end takes what became of a part.
func (f *firstFailure) end(part int, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.running[part]()
	delete(f.running, part)
	if err == nil || part > f.part {
		return
	}
	f.part, f.err = part, err
	for p, cancel := range f.running {
		if p > part {
			cancel()
		}
	}
}

func isRowError(err error) bool {
	var r *rowError
	return errors.As(err, &r)
}
