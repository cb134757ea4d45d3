package operators

import (
	"context"

	"github.com/apache/arrow/go/v17/arrow"

	"microrisk/engine/contingency"
)

// A table on disk is read from front to back to look rows up in it, so many rows are looked up at once: a worker holds a block of
// batches, locates all their rows, and then takes the batches through the scan.

// A diskTable is a table on disk, and the first step that looks rows up in it.
type diskTable struct {
	step  int
	table tableRef
}

// onDisk finds the tables on disk that a scan looks rows up in.
func (r *run) onDisk(s *scan) []diskTable {
	var list []diskTable
	seen := map[string]bool{}
	for i, st := range r.chain.steps {
		if !s.apply[i] || !st.fitted() {
			continue
		}
		for _, t := range st.tables {
			if !seen[t.id] && len(t.keys) > 0 && r.tables[t.id].OnDisk() {
				seen[t.id] = true
				list = append(list, diskTable{i, t})
			}
		}
	}
	return list
}

// blockRows is how many rows of a scan a worker holds at a time: their columns, keys and classes take its part of a quarter of the
// memory.
func (r *run) blockRows(s *scan) int64 {
	row := int64(8*len(s.wants) + 48*len(s.disk))
	return max(r.o.Memory/4/int64(r.o.Workers)/row, 1<<12)
}

// partsAtOnce is how many parts a worker takes at a time.
func (r *run) partsAtOnce(s *scan) int {
	if len(s.disk) == 0 || len(r.parts) == 0 {
		return 1
	}
	average := max(r.rows/int64(len(r.parts)), 1)
	share := max(len(r.parts)/r.o.Workers, 1) // leave something to the other workers
	return int(min(max(r.blockRows(s)/average, 1), int64(share)))
}

// A heldBatch waits in a block; one without a record stands for the end of its part.
type heldBatch struct {
	part   int
	offset int64
	record arrow.Record
	found  map[string]*located
}

// A block is the batches that a worker holds.
type block struct {
	w    *worker
	held []heldBatch
	rows int64
	out  PartWriter // of the part that is being written
	at   int        // that part
}

// takeBlocks reads the parts from first up to last and takes their batches through the scan, block by block.
func (w *worker) takeBlocks(ctx context.Context, first, last int, after func(rows int64) error) (err error) {
	b := &block{w: w, at: -1}
	defer b.release()
	limit := w.run.blockRows(w.scan)
	for p := first; p < last; p++ {
		err := w.read(ctx, w.run.parts[p], func(batch arrow.Record, offset int64) error {
			batch.Retain()
			b.held = append(b.held, heldBatch{p, offset, batch, map[string]*located{}})
			b.rows += batch.NumRows()
			if b.rows < limit {
				return nil
			}
			return b.flush(ctx, after)
		})
		if err != nil {
			return err
		}
		b.held = append(b.held, heldBatch{part: p})
	}
	return b.flush(ctx, after)
}

// flush locates the rows of all batches and takes these through the scan.
func (b *block) flush(ctx context.Context, after func(rows int64) error) error {
	for _, d := range b.w.scan.disk {
		if err := b.locate(ctx, d); err != nil {
			return err
		}
	}
	for i := range b.held {
		if err := b.take(ctx, &b.held[i], after); err != nil {
			return err
		}
	}
	b.held, b.rows = b.held[:0], 0
	return nil
}

// locate looks all rows up in a table on disk.
func (b *block) locate(ctx context.Context, d diskTable) error {
	w := b.w
	keys := w.run.tables[d.table.id].NewBlock()
	for i := range b.held {
		if h := &b.held[i]; h.record != nil {
			if err := b.add(ctx, h, d, keys.Add); err != nil {
				return err
			}
		}
	}
	class, count := make([]int64, b.rows), make([]int64, b.rows)
	if err := keys.Resolve(class, count); err != nil {
		return err
	}
	from := int64(0)
	for _, h := range b.held {
		if h.record == nil {
			continue
		}
		to := from + h.record.NumRows()
		h.found[d.table.id] = &located{class: class[from:to], count: count[from:to]}
		from = to
	}
	return nil
}

// add takes a batch up to the step that looks it up, and adds its keys.
func (b *block) add(ctx context.Context, h *heldBatch, d diskTable, keys func(rows int, cols []contingency.Column) error) (err error) {
	w, part := b.w, b.w.run.parts[h.part]
	defer w.guard(part, &err)
	defer w.free()
	w.part, w.offset, w.batch, w.rows = part, h.offset, h.record, int(h.record.NumRows())
	if err := w.process(ctx, d.step, h.found); err != nil {
		return inPart(part, err)
	}
	cols, err := w.columns(d.table)
	if err != nil {
		return inPart(part, err)
	}
	return keys(w.rows, cols)
}

// take takes a batch through the scan.
func (b *block) take(ctx context.Context, h *heldBatch, after func(rows int64) error) (err error) {
	w, part := b.w, b.w.run.parts[h.part]
	defer w.guard(part, &err)
	if w.sink != nil && b.at != h.part {
		if b.out, err = w.sink.Part(ctx, h.part); err != nil {
			return err
		}
		b.at = h.part
	}
	if h.record == nil {
		if b.out == nil {
			return nil
		}
		return b.out.Close()
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	w.part, w.offset = part, h.offset
	if err := w.takeBatch(ctx, h.record, b.out, h.found); err != nil {
		return err
	}
	rows := h.record.NumRows()
	h.record.Release()
	h.record, h.found = nil, nil
	return after(rows)
}

func (b *block) release() {
	for _, h := range b.held {
		if h.record != nil {
			h.record.Release()
		}
	}
}
