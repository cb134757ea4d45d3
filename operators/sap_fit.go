package operators

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"microrisk/engine/attribution"
	"microrisk/engine/contingency"
	"microrisk/engine/perturb"
)

// mostLooks is how often a cell may be looked at: some minutes.
const mostLooks = 2e10

// mostCells is how many cells a table can have.
const mostCells = 1 << 20

// A sapFit is the making of a sapFitted.
type sapFit struct {
	*sapFitted
	table      *contingency.Table
	layout     *layout
	first      []int32 // of each area, its first class; one more at the end
	byCodes    [][]uint32
	impossible []bool
	key        perturb.Key
	known      []int64
	threshold  float64
	smallest   []int64 // of each area, -1 for none
	zeros      [][]float64
	margins    []marginLayout // released besides the tables
	seed       uint64         // of estimates
	estimated  atomic.Bool    // SAP of a table was estimated
	unsharp    atomic.Bool    // bounds were not the tightest
	halfWidth  []float64      // of each area, the greatest of its intervals; nil without margins
}

func (b *sapBound) fit(ctx context.Context, tables []*contingency.Table, env Env) (Fitted, error) {
	t := tables[0]
	f := &sapFit{sapFitted: &sapFitted{bound: b}, table: t, known: b.Config.Known, threshold: 0.5}
	if b.Config.Threshold != nil {
		f.threshold = *b.Config.Threshold
	}
	if err := f.fits(env.Memory); err != nil {
		return nil, err
	}
	var err error
	if f.layout, err = newLayout(t, b.by, b.Config.Missing); err != nil {
		return nil, err
	}
	if work := float64(f.layout.cells) * float64(t.Classes()); work > mostLooks {
		return nil, fmt.Errorf("tables of %d cells, of which %d in all have people, would take hours: take fewer or coarser variables", f.layout.cells, t.Classes())
	}
	if f.impossible, err = f.layout.impossible(b.Config.Impossible); err != nil {
		return nil, err
	}
	if f.margins, err = f.layout.margins(b.Config.Release.Margins); err != nil {
		return nil, err
	}
	f.seed = env.Seed
	if err := f.findAreas(); err != nil {
		return nil, err
	}
	f.makeKey(env)
	if err := f.measure(ctx, env); err != nil {
		return nil, err
	}
	f.fit = f
	f.summary = f.summarise(env)
	return f.sapFitted, t.Err()
}

// fits tells whether the table and what is made of it go into the memory that is allowed.
func (f *sapFit) fits(limit int64) error {
	classes := int64(f.table.Classes())
	needs := classes * int64(8+8*len(f.known))
	if !f.table.OnDisk() {
		needs += f.table.Bytes()
	}
	if limit > 0 && (f.table.OnDisk() || needs > limit) {
		return fmt.Errorf("the tables of %d cells that are not empty need about %s of memory, the limit is %s: allow more, or take coarser cells", classes, mebibytes(max(needs, limit)), mebibytes(limit))
	}
	return nil
}

// makeKey is what cells are perturbed by where nothing else is said.
func (f *sapFit) makeKey(env Env) {
	b := f.bound
	switch {
	case b.Secret != nil:
		f.key = perturb.KeyOf(b.Secret)
	case b.Published == nil && b.Config.Release.Random():
		f.key = perturb.KeyOf(fmt.Appendf(nil, "microrisk seed %d", env.Seed))
		env.Warn(fmt.Sprintf("%s: the published counts are made anew by the run's seed, which anybody can know; give the secret that they were published by, or the counts that were published, for what really is released", b.prefix))
	}
}

// findAreas finds the classes of each table.
func (f *sapFit) findAreas() error {
	b, t := f.bound, f.table
	f.area = make([]int32, t.Classes())
	declared := b.by > 0
	for _, v := range b.Config.By {
		declared = declared && v.Levels != nil
	}
	if declared || b.by == 0 {
		return f.allAreas()
	}
	codes := make([]uint32, b.by)
	before := make([]uint32, b.by)
	f.byCodes = make([][]uint32, b.by)
	for i := range t.Classes() {
		missing := false
		for v := range codes {
			codes[v] = t.Code(i, v)
			missing = missing || codes[v] == t.Variables[v].Missing()
		}
		if missing {
			f.area[i] = -1
			continue
		}
		if len(f.first) == 0 || !slices.Equal(codes, before) {
			f.first = append(f.first, int32(i))
			for v, c := range codes {
				f.byCodes[v] = append(f.byCodes[v], c)
			}
			copy(before, codes)
		}
		f.area[i] = int32(len(f.first) - 1)
	}
	f.closeAreas()
	return nil
}

// allAreas makes a table of every combination of declared levels; of no variables there is one.
func (f *sapFit) allAreas() error {
	b, t := f.bound, f.table
	areas := 1
	for v := range b.by {
		areas *= max(1, len(t.Variables[v].Categories))
		if areas > math.MaxInt32 {
			return fmt.Errorf("the levels of by have more than %d combinations", math.MaxInt32)
		}
	}
	f.byCodes = make([][]uint32, b.by)
	for v := range b.by {
		f.byCodes[v] = make([]uint32, areas)
	}
	for a := range areas {
		rest := a
		for v := b.by - 1; v >= 0; v-- {
			n := len(t.Variables[v].Categories)
			f.byCodes[v][a] = uint32(rest % n)
			rest /= n
		}
	}
	next := 0
	for i := range t.Classes() {
		a := 0
		missing := false
		for v := range b.by {
			c := t.Code(i, v)
			missing = missing || c == t.Variables[v].Missing()
			a = a*len(t.Variables[v].Categories) + int(c)
		}
		if missing {
			f.area[i] = -1
			continue
		}
		for ; next <= a; next++ {
			f.first = append(f.first, int32(i))
		}
		f.area[i] = int32(a)
	}
	for ; next < areas; next++ {
		f.first = append(f.first, int32(t.Classes()))
	}
	f.closeAreas()
	return nil
}

func (f *sapFit) closeAreas() { f.first = append(f.first, int32(f.table.Classes())) }

// areasAtOnce is how many tables a worker takes at a time.
const areasAtOnce = 256

// measure goes through all tables.
func (f *sapFit) measure(ctx context.Context, env Env) error {
	areas, classes := len(f.first)-1, f.table.Classes()
	f.need, f.people, f.smallest = make([]int32, classes), make([]int64, areas), make([]int64, areas)
	for range f.known {
		f.sap = append(f.sap, make([]float64, areas))
		f.zeros = append(f.zeros, make([]float64, areas))
		if f.margins != nil {
			f.halfWidth = make([]float64, areas)
			f.cellOf = append(f.cellOf, make([]float64, classes))
		} else {
			f.target = append(f.target, make([]float64, classes))
		}
	}
	var next, done atomic.Int64
	group, ctx := errgroup.WithContext(ctx)
	env.Progress("measuring tables", 0, int64(areas))
	for range max(1, env.Workers) {
		w := newTableWorker(f)
		group.Go(func() error {
			for {
				from := int(next.Add(areasAtOnce) - areasAtOnce)
				if from >= areas {
					return nil
				}
				if err := ctx.Err(); err != nil {
					return err
				}
				to := min(areas, from+areasAtOnce)
				for a := from; a < to; a++ {
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
	*sapFit
	table attribution.Table
	names *identity
	at    []int // cells of the area's classes

	totalLower int64 // the least total that the published one implies
}

func newTableWorker(f *sapFit) *tableWorker {
	m := f.layout.cells
	return &tableWorker{sapFit: f, names: newIdentity(f),
		table: attribution.Table{Counts: make([]int64, m), Lower: make([]int64, m), Upper: make([]int64, m), Impossible: f.impossible}}
}

// measure does one table.
func (w *tableWorker) measure(ctx context.Context, a int) error {
	from, to := int(w.first[a]), int(w.first[a+1])
	clear(w.table.Counts)
	w.at = w.at[:0]
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
		w.table.Counts[cell] = w.sapFit.table.Count(i)
		w.people[a] += w.table.Counts[cell]
	}
	if err := w.publish(a); err != nil {
		return err
	}
	if w.margins != nil {
		w.smallest[a] = -1
		return w.release(ctx, a, from)
	}
	sap, err := w.table.SAP(w.known)
	if err != nil {
		return w.names.where(a, err)
	}
	zeros, err := w.table.Expected(w.known)
	if err != nil {
		return w.names.where(a, err)
	}
	for k := range w.known {
		w.sap[k][a], w.zeros[k][a] = sap[k], zeros[k]
	}
	w.smallest[a] = -1
	n, ok, err := w.table.Smallest(w.threshold)
	if err != nil {
		return w.names.where(a, err)
	}
	if ok {
		w.smallest[a] = n
	}
	return w.classes(from, a)
}

// classes measures the cells of the area's records.
func (w *tableWorker) classes(from, a int) error {
	for j, cell := range w.at {
		if cell < 0 {
			continue
		}
		w.need[from+j] = -1
		if n, ok := w.table.Need(cell); ok && n <= math.MaxInt32 {
			w.need[from+j] = int32(n)
		}
		target, err := w.table.Target(cell, w.known)
		if err != nil {
			return w.names.where(a, err)
		}
		for k := range w.known {
			w.target[k][from+j] = target[k]
		}
	}
	return nil
}

// publish fills in the bounds that the published counts imply.
func (w *tableWorker) publish(a int) error {
	b := w.bound
	k := b.kernel
	for cell, c := range w.table.Counts {
		j := w.names.published(a, cell, c)
		low, high, ok := k.Bounds(j)
		if !ok || c < low || c > high {
			return w.names.where(a, fmt.Errorf("the count %d of %s cannot have been published as %d by %s", c, w.names.words(cell), j, k.Name()))
		}
		w.table.Lower[cell], w.table.Upper[cell] = low, high
	}
	w.table.TotalUpper = attribution.NoTotal
	switch b.Config.Release.Total {
	case "exact":
		w.table.TotalUpper, w.totalLower = w.people[a], w.people[a]
	case "same":
		j := w.names.published(a, -1, w.people[a])
		low, high, ok := k.Bounds(j)
		if n := w.people[a]; !ok || n < low || n > high {
			return w.names.where(a, fmt.Errorf("the total %d cannot have been published as %d by %s", n, j, k.Name()))
		}
		w.table.TotalUpper, w.totalLower = high, low
	}
	return nil
}
