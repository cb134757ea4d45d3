package operators

import (
	"sync/atomic"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
)

// Batches are records that are made one after the other.
type Batches interface {
	Schema() *arrow.Schema
	Next() (arrow.Record, error) // nil after the last one; it is not called again after that, nor after an error
	Close()                      // nobody reads them any more
}

// ReadBatches reads batches, and closes them when it is released.
func ReadBatches(b Batches) array.RecordReader {
	r := &batchReader{batches: b}
	r.references.Store(1)
	return r
}

type batchReader struct {
	batches    Batches
	references atomic.Int64
	current    arrow.Record
	err        error
	ended      bool
}

func (r *batchReader) Retain() { r.references.Add(1) }

func (r *batchReader) Release() {
	if r.references.Add(-1) == 0 {
		r.drop()
		r.batches.Close()
	}
}

func (r *batchReader) drop() {
	if r.current != nil {
		r.current.Release()
		r.current = nil
	}
}

func (r *batchReader) Schema() *arrow.Schema { return r.batches.Schema() }
func (r *batchReader) Record() arrow.Record  { return r.current }
func (r *batchReader) Err() error            { return r.err }

func (r *batchReader) Next() bool {
	r.drop()
	if r.ended {
		return false
	}
	r.current, r.err = r.batches.Next()
	r.ended = r.current == nil || r.err != nil
	return !r.ended
}
