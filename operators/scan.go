package operators

import (
	"context"
	"fmt"
	"math"
	"strings"
	"sync/atomic"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"microrisk/engine/contingency"
	"microrisk/schemas"
	"microrisk/schemas/advice"
)

// A scan is one pass over the source: what is read, applied and counted in it.
type scan struct {
	chain  *Chain
	number int // 1, 2, ... count; chain.stages+1 writes
	final  bool
	apply  []bool // steps to apply
	count  []int  // steps whose tables are counted
	wants  []Want
	coded  map[int]int // position in a batch of an input column that is read coded
	plain  map[int]int // and of one that is read as it is
	sink   []int       // positions of the columns that the sink asked for
	disk   []diskTable // tables on disk that rows are looked up in, in the order of the steps
	id     int         // position of the column that names records, -1 for none
	times  int         // position of the column with the number of records a row stands for, -1 for none
}

// plan works out what scan n needs, from the last step back to the first.
func (c *Chain) plan(n int, sinkReads []string, times string) *scan {
	s := &scan{chain: c, number: n, final: n > c.stages, apply: make([]bool, len(c.steps)), coded: map[int]int{}, plain: map[int]int{}, id: -1, times: -1}
	needed := map[int]bool{}
	codedInputs, plainInputs := map[int]bool{}, map[int]bool{}
	need := func(id int, coded bool) {
		needed[id] = true
		if c.columns[id].step >= 0 {
			return
		}
		if coded && HasEquality(c.columns[id].field.Type) {
			codedInputs[id] = true
		} else {
			plainInputs[id] = true
		}
	}
	if s.final {
		for _, id := range c.output {
			if c.columns[id].step >= 0 {
				need(id, true)
			}
		}
	}
	for i := len(c.steps) - 1; i >= 0; i-- {
		st := &c.steps[i]
		counted := st.fitted() && st.stage == n
		if counted {
			s.count = append([]int{i}, s.count...)
		} else if st.stage < n {
			s.apply[i] = st.plan.Filters && (s.final || len(s.count) > 0)
			for _, id := range st.adds {
				s.apply[i] = s.apply[i] || needed[id]
			}
			if s.final && st.fitted() {
				s.apply[i] = true
			}
		}
		if counted || s.apply[i] && st.fitted() {
			for _, t := range st.tables {
				for _, id := range t.keys {
					need(id, true)
				}
				for _, id := range t.sums {
					if counted {
						need(id, false)
					}
				}
			}
		}
		if s.apply[i] {
			for _, id := range st.reads {
				need(id, true)
			}
		}
	}
	for id := range c.columns {
		if codedInputs[id] {
			s.coded[id] = len(s.wants)
			s.wants = append(s.wants, Want{c.columns[id].field.Name, true})
		}
		if plainInputs[id] {
			s.plain[id] = len(s.wants)
			s.wants = append(s.wants, Want{c.columns[id].field.Name, false})
		}
	}
	for _, name := range sinkReads {
		s.sink = append(s.sink, s.want(name))
	}
	if times != "" {
		s.times = s.want(times)
	}
	return s
}

// want is the position of an input column that is read as it is.
func (s *scan) want(name string) int {
	for i, w := range s.wants {
		if w == (Want{Name: name}) {
			return i
		}
	}
	s.wants = append(s.wants, Want{Name: name})
	return len(s.wants) - 1
}

// A worker takes batches through a scan. It belongs to one goroutine.
type worker struct {
	run      *run
	scan     *scan
	mem      memory.Allocator
	counters map[string]*contingency.Counter
	coders   map[string][]*coder // by table
	sink     Sink
	written  *atomic.Int64      // rows written by all workers
	top      map[int][]RiskyRow // by step

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
	rows := Rows{}
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
		w.rank(i, ranked, rows.Class[0])
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

// columns gives a table's key variables in the batch.
func (w *worker) columns(t tableRef) ([]contingency.Column, error) {
	coders := w.coders[t.id]
	if coders == nil {
		coders = w.run.coders(t)
		w.coders[t.id] = coders
	}
	cols := make([]contingency.Column, len(coders))
	for v, id := range t.keys {
		a, err := w.array(id, true)
		if err != nil {
			return nil, err
		}
		if cols[v], err = coders[v].column(a); err != nil {
			return nil, err
		}
	}
	return cols, nil
}

func (w *worker) countTable(t tableRef) error {
	if w.counted[t.id] || w.run.tables[t.id] != nil { // for another operator, in this scan or before
		return nil
	}
	w.counted[t.id] = true
	counter := w.counters[t.id]
	if counter == nil {
		counter = contingency.NewCounter(len(t.keys), len(t.sums))
		w.counters[t.id] = counter
	}
	cols, err := w.columns(t)
	if err != nil {
		return err
	}
	times, err := w.multiplicities()
	if err != nil {
		return err
	}
	var first error
	for v, c := range cols {
		first = earlier(first, w.declared(w.coders[t.id][v].domain, c, times))
	}
	sums := make([][]float64, len(t.sums))
	for k, id := range t.sums {
		a, err := w.array(id, false)
		if err != nil {
			return err
		}
		sums[k], err = w.numbers(a, t.request.Sums[k])
		first = earlier(first, err)
	}
	if first != nil {
		return first
	}
	return counter.Add(w.rows, cols, times, sums)
}

// declared finds a row whose value is not among the declared levels of a key variable.
func (w *worker) declared(d *domain, c contingency.Column, times []int64) error {
	if d.levels == nil {
		return nil
	}
	others := d.undeclared(c.Codes)
	if others == nil {
		return nil
	}
	for r := range w.rows {
		bit := c.Offset + r
		if times != nil && times[r] == 0 || c.Valid != nil && c.Valid[bit>>3]>>(bit&7)&1 == 0 {
			continue
		}
		if text, other := others[c.Codes[c.Index[r]]]; other {
			return w.rowError(
				r,
				schemas.Contradiction(
					"levels",
					d.key.Name,
					"key variable %q has the value %q, which is not among its levels (%s)",
					d.key.Name,
					text,
					strings.Join(d.key.Levels, ", "),
				),
			)
		}
	}
	return nil
}

// multiplicities says how many records each row stands for, 0 for those out of the selection; nil means 1 each.
func (w *worker) multiplicities() ([]int64, error) {
	if w.scan.times < 0 && w.active == nil {
		return nil, nil
	}
	times := make([]int64, w.rows)
	if w.scan.times < 0 {
		for r := range times {
			times[r] = 1
		}
	} else {
		a, name := w.batch.Column(w.scan.times), w.scan.wants[w.scan.times].Name
		for r := range times {
			n, ok := Integer(a, r)
			if !ok || n < 0 {
				return nil, w.rowErrorf(r, "the count %q is %s: it must be a whole number, 0 or more", name, Shown(a, r))
			}
			times[r] = n
		}
	}
	if w.active != nil {
		for r := range times {
			if !w.active.Get(r) {
				times[r] = 0
			}
		}
	}
	return times, nil
}

// largestValue is the largest value that is added up: sums are exact.
const largestValue = 1e18

// numbers are the values of a column to be added up; a null counts as 0 unless it is a weight.
func (w *worker) numbers(a arrow.Array, sum contingency.Sum) ([]float64, error) {
	x := make([]float64, w.rows)
	for r := range x {
		if w.active != nil && !w.active.Get(r) {
			continue
		}
		v, ok := Number(a, r)
		switch {
		case sum.Weight && (!ok || !(v > 0) || math.IsInf(v, 1)):
			var way advice.Advice
			if !ok || v == 0 {
				way = advice.Advice{Spec: "; leave such records out by a range (select), or say weight: {column: " + sum.Name + ", zero: drop}",
					Flags: "; leave such records out by a range (--select), or say --zero-weight drop, with the weight " + sum.Name}
			}
			return nil, w.valueErrorf(r, sum.Name, "the weight %q is %s: a weight must be a finite number above 0%s", sum.Name, Shown(a, r), way)
		case ok && (math.IsNaN(v) || math.IsInf(v, 0)):
			return nil, w.valueErrorf(r, sum.Name, "%q is %s: it cannot be added up", sum.Name, Shown(a, r))
		case math.Abs(v) > largestValue:
			return nil, w.valueErrorf(r, sum.Name, "%q is %s: values up to 1e18 can be added up exactly", sum.Name, Shown(a, r))
		}
		x[r] = v
	}
	return x, nil
}

// row is the number in its input of row r of the batch.
func (w *worker) row(r int) int64 { return w.part.FirstRow() + w.offset + int64(r) }

// locate finds the class of each row in a table, -1 for those out of the selection.
func (w *worker) locate(t tableRef, counts bool) (*located, error) {
	table, f := w.run.tables[t.id], w.found[t.id]
	if f == nil {
		cols, err := w.columns(t)
		if err != nil {
			return nil, err
		}
		f = &located{class: make([]int64, w.rows)}
		if err := table.Lookup(w.rows, cols, f.class); err != nil {
			return nil, err
		}
		w.found[t.id] = f
	}
	if !f.chosen {
		f.chosen = true
		for r, c := range f.class {
			if w.active != nil && !w.active.Get(r) {
				f.class[r] = -1
			} else if c < 0 && w.scan.times < 0 {
				return nil, w.rowErrorf(r, "its key was not there when the file was counted: the input has changed during the run")
			}
		}
	}
	if counts && f.count == nil {
		f.count = make([]int64, w.rows)
		for r, c := range f.class {
			if c >= 0 {
				f.count[r] = table.Count(int(c))
			}
		}
	}
	return f, nil
}
