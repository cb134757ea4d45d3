package operators

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"microrisk/engine/contingency"
	"microrisk/schemas"
)

// A worker takes batches through a scan. It belongs to one goroutine.
type worker struct {
	run      *run
	scan     *scan
	parts    []Part // of the scan
	mem      memory.Allocator
	counters map[string]*contingency.Counter
	coders   map[string][]*coder // by table
	sink     Sink
	written  *atomic.Int64      // rows written by all workers
	top      map[int][]RiskyRow // by step
	spread   map[int]Spread     // by step

	// of the current batch
	part    Part
	offset  int64 // of its first row in the part
	rows    int
	batch   arrow.Record
	made    map[int]arrow.Array // columns made by operators
	found   map[string]*located // by table
	counted map[string]bool     // tables that have counted the batch
	active  *Bitmap             // rows in the selection so far, nil for all
	keep    *Bitmap             // rows that stay in the output, nil for all
	release []arrow.Array
}

// A located is where the rows of a batch are in a table.
type located struct {
	class, count []int64 // count is nil for a table in memory until it is asked for
	chosen       bool    // rows out of the selection have class -1 already
}

// process takes the batch through the steps of the scan before step until. found has what is known already of tables on disk.
func (w *worker) process(ctx context.Context, until int, found map[string]*located) error {
	w.made, w.found, w.counted, w.active, w.keep = map[int]arrow.Array{}, found, map[string]bool{}, nil, nil
	c := w.scan.chain
	next := 0
	var first error // about a row: another table may have one about an earlier row
	for i := range c.steps[:until] {
		if next < len(w.scan.count) && w.scan.count[next] == i {
			next++
			for _, t := range c.steps[i].tables {
				err := w.countTable(t)
				if first = earlier(first, err); first != nil && first == err && !isRowError(err) {
					return err
				}
			}
		}
		if w.scan.apply[i] {
			if err := w.applyStep(ctx, i); err != nil {
				return earlier(first, err)
			}
		}
	}
	return first
}

func (w *worker) free() {
	for _, a := range w.release {
		a.Release()
	}
	w.release = w.release[:0]
}

// array gives a column of the batch, coded if its type has equality and coded is asked for.
func (w *worker) array(id int, coded bool) (arrow.Array, error) {
	col := w.scan.chain.columns[id]
	if col.step < 0 {
		if pos, ok := w.scan.coded[id]; ok && coded {
			return w.batch.Column(pos), nil
		}
		return w.batch.Column(w.scan.plain[id]), nil
	}
	a, ok := w.made[id]
	if !ok {
		return nil, fmt.Errorf("column %q is not there yet", col.field.Name)
	}
	if !coded || !HasEquality(a.DataType()) || a.DataType().ID() == arrow.DICTIONARY {
		return a, nil
	}
	d, err := Code(w.mem, a)
	if err != nil {
		return nil, err
	}
	w.release = append(w.release, d)
	return d, nil
}

func (w *worker) applyStep(ctx context.Context, i int) error {
	st := &w.scan.chain.steps[i]
	rows := Rows{Chosen: w.active}
	fields, arrays := make([]arrow.Field, len(st.reads)), make([]arrow.Array, len(st.reads))
	for k, id := range st.reads {
		a, err := w.array(id, true)
		if err != nil {
			return err
		}
		fields[k], arrays[k] = arrow.Field{Name: st.plan.Reads[k], Type: a.DataType(), Nullable: true}, a
	}
	rows.Batch = array.NewRecord(arrow.NewSchema(fields, nil), arrays, int64(w.rows))
	defer rows.Batch.Release()
	fitted := st.plan.Apply
	if st.fitted() {
		fitted = w.run.fitted[i]
		for _, t := range st.tables {
			if len(t.keys) == 0 { // its only class is known
				rows.Class, rows.Count = append(rows.Class, nil), append(rows.Count, nil)
				continue
			}
			f, err := w.locate(t, st.plan.Counts)
			if err != nil {
				return err
			}
			rows.Class, rows.Count = append(rows.Class, f.class), append(rows.Count, f.count)
		}
	}
	columns, keep, err := fitted.Apply(ctx, w.mem, rows)
	for _, a := range columns {
		if a != nil {
			w.release = append(w.release, a)
		}
	}
	if err == nil {
		err = st.plan.fits(columns, keep, w.rows)
	}
	if at := new(RowError); errors.As(err, &at) {
		err = w.rowError(at.Row, schemas.OfColumn(at.Column, at.Err))
	}
	if err != nil {
		return st.plan.named(err)
	}
	for k, a := range columns {
		w.made[st.adds[k]] = a
	}
	if keep != nil {
		w.active = and(w.active, keep)
		w.run.chosen[i].Add(int64(w.active.Count()))
		if !st.plan.KeepRows {
			w.keep = and(w.keep, keep)
		}
	}
	if ranked, ok := fitted.(Ranked); ok && w.scan.final {
		w.rank(i, ranked, rows.Class[rankedTable(ranked)])
	}
	return nil
}

func and(a, b *Bitmap) *Bitmap {
	if a == nil {
		return b
	}
	both := NewBitmap(a.n)
	copy(both.bits, a.bits)
	both.And(b)
	return both
}
