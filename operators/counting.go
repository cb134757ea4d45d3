package operators

import (
	"math"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"

	"microrisk/engine/contingency"
	"microrisk/schemas"
	"microrisk/schemas/advice"
)

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
