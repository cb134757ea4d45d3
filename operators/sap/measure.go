package sap

import (
	"context"
	"errors"
	"maps"
	"math"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"microrisk/engine/attribution"
	"microrisk/operators"
)

// areasAtOnce is how many tables a worker takes at a time, at most: fewer where there are few, as they may be large.
const areasAtOnce = 256

// workForSmallest is the work, in steps of a nanosecond, for the smallest number of people known, of each table and of all: a minute,
// and some more.
var (
	workForSmallest    = 6e10
	workForAllSmallest = 1e12
)

// makeRoom is for what is said of tables and classes.
func (f *fit) makeRoom() {
	areas, classes := len(f.first)-1, f.table.Classes()
	f.need, f.people, f.smallest = make([]int32, classes), make([]int64, areas), make([]int64, areas)
	for range f.known {
		f.sap = append(f.sap, make([]float64, areas))
		f.zeros = append(f.zeros, make([]float64, areas))
		if f.joint {
			f.cellOf = append(f.cellOf, make([]float64, classes))
		} else {
			f.target = append(f.target, make([]float64, classes))
		}
	}
	if f.joint {
		f.halfWidth = make([]float64, areas)
	}
}

// measure goes through all tables.
func (f *fit) measure(ctx context.Context, env operators.Env) error {
	areas := len(f.first) - 1
	atOnce := int64(min(areasAtOnce, max(1, areas/256)))
	if f.joint {
		atOnce = 1
	}
	var next, done atomic.Int64
	var mutex sync.Mutex
	f.large = map[int64][]float64{}
	group, ctx := errgroup.WithContext(ctx)
	env.Progress("measuring tables", 0, int64(areas))
	for range max(1, env.Workers) {
		w := newTableWorker(f)
		group.Go(func() error {
			defer func() {
				mutex.Lock()
				defer mutex.Unlock()
				maps.Copy(f.large, w.found)
			}()
			for {
				from := int(next.Add(atOnce) - atOnce)
				if from >= areas {
					return nil
				}
				to := min(areas, from+int(atOnce))
				for a := from; a < to; a++ {
					if err := ctx.Err(); err != nil {
						return err
					}
					if err := w.measure(ctx, a); err != nil {
						return err
					}
				}
				env.Progress("measuring tables", done.Add(int64(to-from)), int64(areas))
			}
		})
	}
	return group.Wait()
}

// A tableWorker measures tables, one after the other.
type tableWorker struct {
	*fit
	table attribution.Table
	names *identity
	at    []int               // cells of the area's classes, -1 for those dropped
	cells []int               // those that are not
	found map[int64][]float64 // for large

	totalLower int64 // the least total that the published one implies
}

func newTableWorker(f *fit) *tableWorker {
	m := f.layout.cells
	return &tableWorker{fit: f, names: newIdentity(f), found: map[int64][]float64{},
		table: attribution.Table{Counts: make([]int64, m), Lower: make([]int64, m), Upper: make([]int64, m), Impossible: f.impossible}}
}

// measure does one table.
func (w *tableWorker) measure(ctx context.Context, a int) error {
	if err := w.count(ctx, a); err != nil {
		return err
	}
	from := int(w.first[a])
	if w.joint {
		return w.release(ctx, a, from)
	}
	err := w.single(ctx, a, from)
	if err != nil && ctx.Err() == nil {
		return w.names.where(a, err)
	}
	return err
}

// count fills in a table, and the bounds that its published counts imply.
func (w *tableWorker) count(ctx context.Context, a int) error {
	from, to := int(w.first[a]), int(w.first[a+1])
	clear(w.table.Counts)
	w.people[a] = 0
	w.at, w.cells = w.at[:0], w.cells[:0]
	for i := from; i < to; i++ {
		cell := -1
		if w.area[i] == int32(a) {
			cell = w.layout.cell(i)
		}
		w.at = append(w.at, cell)
		if cell < 0 {
			w.area[i] = -1 // dropped; the class belongs to no other area
			continue
		}
		w.cells = append(w.cells, cell)
		w.table.Counts[cell] = w.fit.table.Count(i)
		w.people[a] += w.table.Counts[cell]
	}
	if err := w.possible(a); err != nil {
		return err
	}
	return w.publish(ctx, a)
}

// possible refuses people in cells that are said to be impossible.
func (w *tableWorker) possible(a int) error {
	for _, cell := range w.cells {
		if w.impossible != nil && w.impossible[cell] && w.table.Counts[cell] > 0 {
			return w.names.where(
				a,
				wronglySaid("%s is among the impossible combinations, and the data has %d of it", w.names.words(cell), w.table.Counts[cell]),
			)
		}
	}
	return nil
}

// single measures a table that is released alone, or with its total.
func (w *tableWorker) single(ctx context.Context, a, from int) error {
	sound, err := w.table.Check()
	if err != nil {
		return err
	}
	sap, err := sound.SAP(ctx, w.known)
	if err != nil {
		return err
	}
	zeros, err := sound.Expected(ctx, w.known)
	if err != nil {
		return err
	}
	for k := range w.known {
		w.sap[k][a], w.zeros[k][a] = sap[k], zeros[k]
	}
	n, ok, err := sound.Smallest(ctx, w.threshold, min(workForSmallest, workForAllSmallest/float64(len(w.people))))
	switch {
	case errors.Is(err, attribution.ErrTooMuch):
		w.smallest[a] = attribution.NotFound
	case err != nil:
		return err
	case ok:
		w.smallest[a] = n
	default:
		w.smallest[a] = attribution.Never
	}
	targets, err := sound.Targets(ctx, w.cells, w.known)
	if err != nil {
		return err
	}
	next := 0
	for j, cell := range w.at {
		if cell < 0 {
			continue
		}
		w.need[from+j] = -1
		if n, ok := sound.Need(cell); ok && n <= math.MaxInt32 {
			if w.need[from+j] = int32(n); n > largeNeed {
				if w.found[int64(from+j)], err = sound.Cell(cell, w.known); err != nil {
					return err
				}
			}
		}
		for k := range w.known {
			w.target[k][from+j] = targets[k][next]
		}
		next++
	}
	return nil
}

// publish fills in the bounds that the published counts imply.
func (w *tableWorker) publish(ctx context.Context, a int) error {
	b := w.bound
	for cell, c := range w.table.Counts {
		if cell%4096 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if b.Config.Release.BaseTable == "none" {
			break
		}
		j, there := w.names.published(a, cell, b.table, c)
		low, high, ok := b.table.Bounds(j)
		if !ok || c < low || c > high {
			return w.names.wrong(a, "the count of "+w.names.words(cell), b.table, c, j, there)
		}
		w.table.Lower[cell], w.table.Upper[cell] = low, high
	}
	k := b.kernel
	w.table.TotalUpper = attribution.NoTotal
	switch b.Config.Release.Total {
	case "exact":
		w.table.TotalUpper, w.totalLower = w.people[a], w.people[a]
		if b.Published == nil {
			break
		}
		// The file need not have the total; what it has is the true one, or perturbed like the cells.
		j, there := w.names.published(a, -1, k, w.people[a])
		low, high, ok := k.Bounds(j)
		if n := w.people[a]; there && j != n && (!ok || n < low || n > high) {
			return w.names.wrong(a, "the total", k, n, j, there)
		}
	case "same":
		j, there := w.names.published(a, -1, k, w.people[a])
		low, high, ok := k.Bounds(j)
		if n := w.people[a]; !ok || n < low || n > high {
			return w.names.wrong(a, "the total", k, n, j, there)
		}
		w.table.TotalUpper, w.totalLower = high, low
	}
	return nil
}
