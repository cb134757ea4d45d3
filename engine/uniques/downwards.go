package uniques

import (
	"context"
	"math/bits"
	"slices"
	"sync"
	"sync/atomic"
)

// Limits of the downward search: bits of the whole key, variables, and bytes of its counts.
const (
	downwardBits      = 26
	downwardVariables = 30
	downwardBytes     = 1 << 29
)

const (
	stripes    = 64
	stripeRoom = 1 << 9
)

// keptBytes is what a minimal sample unique takes that is listed.
const keptBytes = 32

// A found is a minimal sample unique: a class and its set.
type found struct{ class, set uint32 }

// A downSearch goes through the lattice from the whole key down, depth first, every set once: a subset is reached by leaving out its missing
// variables in ascending order. A key that occurs once on a set is minimal when every line through it along a
// variable holds another key, which the table of the set shows by itself. Sets without unique keys are skipped with all below.
type downSearch struct {
	ctx      context.Context
	stop     context.CancelFunc
	p        *problem
	limit    int
	progress *progress
	lists    bool

	row   int      // words of counts per class and size: two 32-bit lanes each, a variable a lane
	count []uint64 // [class][size-1][row]
	locks [stripes]sync.Mutex
	kept  [stripes][]found
	spots chan struct{} // free goroutines
	group sync.WaitGroup
	idle  sync.Pool

	visits atomic.Int64 // sets
}

// A downWorker is one goroutine's scratch: a table for every depth, and what it found, by stripe of classes.
type downWorker struct {
	tables []*denseTable
	found  [stripes][]found
	sets   int64
}

// fitsDownwards tells whether the downward search can do this problem at all.
func (p *problem) fitsDownwards(o *Options) bool {
	width := 0
	for _, f := range p.fields {
		width += int(f.bits)
	}
	plain := p.k == 1 && !p.anyWild
	for _, w := range p.ignored {
		plain = plain && w == nil
	}
	counts := int64(p.n) * int64(o.MaxSize) * int64(p.variables+1) / 2 * 8
	return plain && width <= downwardBits && 1<<width <= max(1<<20, 64*p.n) && p.variables <= downwardVariables && counts <= downwardBytes &&
		(o.Memory <= 0 || counts+downTables(width, o.Workers) <= o.Memory)
}

// downTables is about what the tables of a downward search take: a top one, and one of each smaller width for each worker.
func downTables(width, workers int) int64 { return int64(2*workers+1) * 5 << width }

func (p *problem) searchDown(ctx context.Context, o *Options, t *tally) error {
	s := &downSearch{ctx: ctx, p: p, limit: o.MaxSize, progress: newProgress(o, latticeSize(p.variables, p.variables)), lists: o.MSUs}
	s.row = (p.variables + 1) / 2
	s.count = make([]uint64, p.n*s.limit*s.row)
	s.spots = make(chan struct{}, o.Workers)
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	s.ctx, s.stop = ctx, stop
	fields := make([]denseField, p.variables)
	width := 0
	for v, f := range p.fields {
		fields[v] = denseField{v, width, int(f.bits)}
		width += int(f.bits)
	}
	p.budget.take(int64(len(s.count))*8 + downTables(width, o.Workers))
	top := newDenseTable(width)
	for i := range p.n {
		key := 0
		for v := range fields {
			key |= p.code(i, v) << fields[v].at
		}
		top.occurs[key>>6] |= 1 << (key & 63)
		top.many[key>>6] |= p.many[i>>6] >> (i & 63) & 1 << (key & 63)
		top.class[key] = uint32(i)
	}
	s.idle.New = func() any { return &downWorker{tables: make([]*denseTable, p.variables+1)} }
	s.spots <- struct{}{}
	s.group.Add(1)
	go s.run(top, fields, 0)
	s.group.Wait()
	if p.budget.full.Load() {
		return p.budget.err(0)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	t.r.Visits = s.visits.Load()
	t.addCounts(ctx, s)
	return ctx.Err()
}

// run searches below one set on a goroutine of its own.
func (s *downSearch) run(d *denseTable, fields []denseField, first int) {
	defer s.group.Done()
	w := s.idle.Get().(*downWorker)
	s.visit(w, d, fields, first)
	for stripe := range w.found {
		s.drain(w, stripe)
	}
	s.done(w)
	s.idle.Put(w)
	<-s.spots
}

// visit reports the minimal keys of a set and goes on to the sets that leave out one more variable, of position first or later.
func (s *downSearch) visit(w *downWorker, d *denseTable, fields []denseField, first int) {
	if s.ctx.Err() != nil {
		return
	}
	var set uint32
	for _, f := range fields {
		set |= 1 << f.variable
	}
	if w.sets++; w.sets == 1024 {
		s.done(w)
	}
	wanted := fields
	if len(fields) > s.limit {
		wanted = nil
	}
	any := d.minimal(wanted, func(class uint32) {
		if wanted == nil {
			return
		}
		stripe := int(uint64(class) * stripes / uint64(s.p.n))
		w.found[stripe] = append(w.found[stripe], found{class, set})
		if len(w.found[stripe]) == stripeRoom {
			s.drain(w, stripe)
		}
	})
	if !any || len(fields) == 1 {
		return
	}
	room := make([]denseField, 0, len(fields))
	for j := first; j < len(fields); j++ {
		f := fields[j]
		width := d.width - f.width
		rest := append(room[:0], fields[:j]...)
		for _, g := range fields[j+1:] {
			rest = append(rest, denseField{g.variable, g.at - f.width, g.width})
		}
		if width >= 10 && len(fields)-j > 3 {
			select {
			case s.spots <- struct{}{}:
				next := newDenseTable(max(width, d.width-1))
				d.without(f, next)
				s.group.Add(1)
				go s.run(next, slices.Clone(rest), j)
				continue
			default:
			}
		}
		depth := len(rest)
		if w.tables[depth] == nil || 1<<max(width, d.width-1) > cap(w.tables[depth].class) {
			w.tables[depth] = newDenseTable(max(width, d.width-1))
		}
		next := w.tables[depth]
		next.resize(max(width, d.width-1))
		d.without(f, next)
		s.visit(w, next, rest, j)
	}
}

// done reports the sets that a worker has been through.
func (s *downSearch) done(w *downWorker) {
	s.progress.add(w.sets)
	s.visits.Add(w.sets)
	w.sets = 0
}

// without writes the margin that leaves out a variable to out.
func (d *denseTable) without(f denseField, out *denseTable) {
	if f.width == 0 {
		out.resize(d.width)
		copy(out.occurs, d.occurs)
		copy(out.many, d.many)
		copy(out.class, d.class)
		return
	}
	d.project(f.at, out)
	for range f.width - 1 {
		out.project(f.at, out)
	}
}

// drain adds what a worker has found in one stripe of classes to the counts.
func (s *downSearch) drain(w *downWorker, stripe int) {
	s.locks[stripe].Lock()
	defer s.locks[stripe].Unlock()
	for _, f := range w.found[stripe] {
		size := bits.OnesCount32(f.set)
		row := s.count[(int(f.class)*s.limit+size-1)*s.row:][:s.row]
		for set := f.set; set != 0; set &= set - 1 {
			v := bits.TrailingZeros32(set)
			row[v>>1] += 1 << (v & 1 * 32)
		}
	}
	if s.lists {
		// Each is held by its stripe, by all stripes together, and as a set.
		if !s.p.budget.take(int64(keptBytes * len(w.found[stripe]))) {
			s.stop()
			return
		}
		s.kept[stripe] = append(s.kept[stripe], w.found[stripe]...)
	}
	w.found[stripe] = w.found[stripe][:0]
}

// addCounts adds the counts of a downward search, size by size as the upward search does.
func (t *tally) addCounts(ctx context.Context, s *downSearch) {
	t.start()
	blocks := (t.p.n + blockClasses - 1) / blockClasses
	for size := 1; size <= s.limit; size++ {
		// A cancelled context is the caller's to see.
		_ = inParallel(ctx, t.o.Workers, blocks, func(worker, b int) {
			with := make([]uint32, t.p.variables)
			for i := b * blockClasses; i < min((b+1)*blockClasses, t.p.n); i++ {
				row := s.count[(i*s.limit+size-1)*s.row:][:s.row]
				for v := range with {
					with[v] = uint32(row[v>>1] >> (v & 1 * 32))
				}
				t.addClass(t.workers[worker], i, size, with)
			}
		})
		t.endLevel(size)
	}
	if s.lists {
		t.lists.found = slices.Concat(s.kept[:]...)
	}
}
