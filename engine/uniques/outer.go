package uniques

import (
	"cmp"
	"context"
	"math/bits"
	"slices"
	"sync"
	"sync/atomic"
)

// Limits of the nested search: variables, and classes from which it is worth its while.
const (
	nestedVariables = 16
	nestedClasses   = 256
)

// fitsNested tells whether the nested search can do this problem at all.
func (p *problem) fitsNested() bool {
	return p.words == 1 && p.variables > 0 && p.variables <= nestedVariables
}

// An outer is the outermost level of a nested search: its blocks go to the workers.
type outer struct {
	p      *problem
	layout *layout
	nests  []*nest
	held   int64

	mutex       sync.Mutex
	progress    *progress
	total, told int64
	done, all   float64
}

// searchNested searches by blocks and tells whether there was memory for that; if not, nothing has been added to tally. Where missing
// values match everything it gives the sets found without that, and adds nothing either.
func (p *problem) searchNested(ctx context.Context, o *Options, tally *tally) (plain *plainSets, done bool, err error) {
	u := &outer{p: p, layout: p.newLayout(), total: latticeSize(p.variables, o.MaxSize)}
	u.progress = newProgress(o, u.total)
	if p.anyWild {
		u.progress.rounds = 2
	}
	for range o.Workers {
		u.nests = append(u.nests, &nest{
			p: p, limit: o.MaxSize, most: cmp.Or(o.lattice, latticeMost), layout: u.layout, stop: func() bool { return ctx.Err() != nil },
		})
	}
	defer func() { p.budget.give(u.held) }()
	views, ok := u.views(ctx)
	if !ok || ctx.Err() != nil {
		return nil, ctx.Err() != nil, ctx.Err()
	}
	var lower *sheet
	for j := len(views) - 1; j > 0; j-- {
		s, err := u.sheet(ctx, views[j], lower)
		if s == nil || err != nil {
			return nil, err != nil, err
		}
		if lower != nil {
			u.give(lower.bytes)
		}
		lower = s
	}
	return u.first(ctx, views[0], lower, tally)
}

// first searches the first view, whose entries are the classes, and adds their sets to tally.
func (u *outer) first(ctx context.Context, v *view, lower *sheet, tally *tally) (plain *plainSets, done bool, err error) {
	s, err := u.sheet(ctx, v, lower)
	if s == nil || err != nil {
		return nil, err != nil, err
	}
	if lower != nil {
		u.give(lower.bytes)
	}
	place := make([]uint32, u.p.n) // of each class
	for x, i := range v.origin {
		place[i] = uint32(x)
	}
	tally.r.Visits = u.visits()
	if u.p.anyWild {
		plain, err = u.p.plainSets(ctx, tally.o.Workers, u.layout.order, s, place)
		if plain != nil {
			plain.progress = u.progress
		}
		return plain, plain != nil || err != nil, err
	}
	if tally.lists.on && !tally.lists.addListings(u.p, u.layout.order, func(class int) []uint32 { return s.of(place[class]) }) {
		return nil, false, nil
	}
	return nil, true, tally.addSheet(ctx, u.layout.order, s, place)
}

func (u *outer) visits() (visits int64) {
	for _, n := range u.nests {
		visits += n.lattice.visits
	}
	return visits
}

// take asks for bytes that the search gives back at its end.
func (u *outer) take(bytes int64) bool {
	if !u.p.budget.take(bytes) {
		return false
	}
	u.held += bytes
	return true
}

func (u *outer) give(bytes int64) {
	u.held -= bytes
	u.p.budget.give(bytes)
}

// viewBytes is what an entry of a view takes, sorting included.
const viewBytes = 20

// views makes the views that have sets, the first with an entry for each class. While that is sorted, the others are made from the classes as
// they are.
func (u *outer) views(ctx context.Context) ([]*view, bool) {
	p, r := u.p, &u.nests[0].radix
	if !u.take(int64(p.n) * (viewBytes + 28 + 32)) {
		return nil, false
	}
	all := u.classes(ctx)
	sorted := make(chan *view)
	go func() { sorted <- all.sorted(u.layout) }()
	list, fits := []*view{nil}, true
	for v := all; v.from < p.variables-1 && ctx.Err() == nil; {
		next := &view{}
		r.next(v, next, u.layout, p.k)
		if next.safe {
			break
		}
		if fits = u.take(int64(len(next.keys)) * viewBytes); !fits {
			break
		}
		next.shrink()
		list = append(list, next)
		v = next
	}
	list[0] = <-sorted
	if !fits {
		return nil, false
	}
	if all.up != nil {
		list[0].up = make([]uint32, p.n)
		for x, i := range list[0].origin {
			list[0].up[x] = all.up[i]
		}
	}
	for j, v := range list {
		u.all += float64(len(v.keys)) * float64(int64(1)<<(p.variables-1-j))
	}
	return list, true
}

// classes is the first view with the classes in their own order.
func (u *outer) classes(ctx context.Context) *view {
	p := u.p
	v := &view{keys: make([]uint64, p.n), weight: make([]uint32, p.n)}
	// What is missing when the context ends is nobody's to see.
	_ = inParallel(ctx, len(u.nests), (p.n+blockClasses-1)/blockClasses, func(_, b int) {
		from, to := b*blockClasses, min((b+1)*blockClasses, p.n)
		keys := v.keys[from:to]
		for j, variable := range u.layout.order {
			f := p.fields[variable]
			for i, k := range p.keys[f.word][from:to] {
				keys[i] |= k >> (f.shift & 63) & (1<<f.bits - 1) << (u.layout.shift[j] & 63)
			}
		}
		for i := range keys {
			v.weight[from+i] = p.recordsOf(uint32(from + i))
		}
	})
	return v
}

// sorted is a view with its entries in the order of their keys; of each, origin is where it was.
func (v *view) sorted(l *layout) *view {
	var r radix
	r.load(v.keys, ^uint64(0))
	r.sort(bits.Len64(l.from[v.from]))
	s := &view{from: v.from, keys: r.keys, origin: r.ids, weight: make([]uint32, len(v.weight))}
	for x, i := range s.origin {
		s.weight[x] = v.weight[i]
	}
	return s
}

// shrink leaves out the room for what did not come.
func (v *view) shrink() {
	v.origin = nil // of an entry of the view before: nobody asks
	v.keys, v.weight = slices.Clone(v.keys), slices.Clone(v.weight)
}

// sheet searches the blocks of a view; nil when there is no memory for what they give.
func (u *outer) sheet(ctx context.Context, v *view, lower *sheet) (*sheet, error) {
	if !u.take(int64(4 * len(v.keys))) {
		return nil, nil
	}
	s := newSheet(len(v.keys))
	var starts, ends []int
	v.blocks(u.layout, func(a, b int) { starts, ends = append(starts, a), append(ends, b) })
	largest := make([]int, len(ends))
	for b := range largest {
		largest[b] = b
	}
	slices.SortStableFunc(largest, func(b, c int) int { return cmp.Compare(ends[c]-starts[c], ends[b]-starts[b]) })
	writers := make([]writer, len(u.nests))
	var full atomic.Bool
	err := inParallel(ctx, len(u.nests), len(ends), func(worker, i int) {
		from, to := starts[largest[i]], ends[largest[i]]
		if full.Load() || !u.block(&writers[worker], u.nests[worker], s, v, lower, from, to) {
			full.Store(true)
			return
		}
		u.mutex.Lock()
		defer u.mutex.Unlock()
		u.tell(float64(to-from) * float64(int64(1)<<(u.p.variables-1-v.from)))
	})
	if full.Load() {
		s = nil
	}
	return s, err
}

// block writes the sets of a block of a view to its sheet, and tells whether there was memory for them.
func (u *outer) block(w *writer, n *nest, s *sheet, v *view, lower *sheet, from, to int) bool {
	below, found := n.outermost(v, lower, from, to)
	for x := from; x < to; x++ {
		if !s.add(w, u, x, below.of(x-from), found.of(x-from), 1<<v.from) {
			return false
		}
	}
	return true
}

// tell reports the progress when so much of the work is done.
func (u *outer) tell(work float64) {
	u.done += work
	sets := min(int64(float64(u.total)*(u.done/u.all)), u.total) - u.told
	if sets > 0 {
		u.told += sets
		u.progress.add(sets)
	}
}

// outermost searches a block of a view of the outermost level. It gives the sets of the view below, and those that begin at the view's first
// variable, without that.
func (n *nest) outermost(v *view, lower *sheet, a, b int) (below, found *listing) {
	if len(n.frames) == 0 {
		n.frames = append(n.frames, newFrame(n.p.variables))
	}
	f := n.frames[0]
	n.below.reset()
	if lower != nil {
		lower.copy(v.up[a:b], &n.below)
	}
	n.block(0, f, v, 0, nil, source{&n.below, true, a}, a, b)
	return &n.below, &f.child
}
