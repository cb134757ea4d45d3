package uniques

import (
	"cmp"
	"context"
	"math/bits"
	"slices"
	"sync"
)

// Limits of the nested search: variables, and classes from which it is worth its while.
const (
	nestedVariables = 16
	nestedClasses   = 256
)

// fitsNested tells whether the nested search can do this problem at all.
func (p *problem) fitsNested() bool {
	return p.words == 1 && p.variables > 0 && p.variables <= nestedVariables && !p.anyWild
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

// A sheet has the minimal sets of the entries of a view, by block.
type sheet struct {
	view  *view
	code  []int32 // block by the code of the view's first variable, -1 where there is none
	start []int   // of each block
	lists []listing
	bytes int64
}

// of is the sets of an entry.
func (s *sheet) of(l *layout, x int) []uint32 {
	block := 0
	if s.code != nil {
		j := s.view.from
		block = int(s.code[s.view.keys[x]&l.part[j]>>l.shift[j]])
	}
	return s.lists[block].of(x - s.start[block])
}

// searchNested searches by blocks and tells whether there was memory for that; if not, nothing has been added to tally.
func (p *problem) searchNested(ctx context.Context, o *Options, tally *tally) (bool, error) {
	u := &outer{p: p, layout: p.newLayout(), total: latticeSize(p.variables, o.MaxSize)}
	u.progress = newProgress(o, u.total)
	for range o.Workers {
		u.nests = append(u.nests, &nest{
			p: p, limit: o.MaxSize, most: cmp.Or(o.lattice, latticeMost), layout: u.layout, stop: func() bool { return ctx.Err() != nil },
		})
	}
	defer func() { p.budget.give(u.held) }()
	views, ok := u.views(ctx)
	if !ok || ctx.Err() != nil {
		return ctx.Err() != nil, ctx.Err()
	}
	lower := &sheet{view: views[len(views)-1], lists: make([]listing, 1), start: make([]int, 1)}
	for j := len(views) - 1; j >= 0; j-- {
		s, err := u.search(ctx, views[j], lower)
		if s == nil || err != nil {
			return err != nil, err
		}
		u.give(lower.bytes)
		lower = s
	}
	for _, n := range u.nests {
		tally.r.Visits += n.lattice.visits
	}
	place := make([]uint32, p.n) // of each class
	for x, i := range views[0].origin {
		place[i] = uint32(x)
	}
	sets := func(class int) []uint32 { return lower.of(u.layout, int(place[class])) }
	if tally.lists.on && !tally.lists.addListings(p, u.layout.order, sets) {
		return false, nil
	}
	return true, tally.addListings(ctx, u.layout.order, sets)
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

// views makes the views that have sets, the first with an entry for each class.
func (u *outer) views(ctx context.Context) ([]*view, bool) {
	p, r := u.p, &u.nests[0].radix
	if !u.take(int64(p.n) * (viewBytes + 28)) {
		return nil, false
	}
	keys := make([]uint64, p.n)
	for j, v := range u.layout.order {
		f := p.fields[v]
		for i, k := range p.keys[f.word] {
			keys[i] |= k >> f.shift & (1<<f.bits - 1) << u.layout.shift[j]
		}
	}
	r.load(keys, ^uint64(0))
	r.sort(bits.Len64(u.layout.from[0]))
	first := &view{keys: append(keys[:0], r.keys...), origin: slices.Clone(r.ids), weight: make([]uint32, p.n)}
	for x, i := range first.origin {
		first.weight[x] = uint32(min(p.table.Count(p.class(int(i))), p.k+1))
	}
	list := []*view{first}
	for v := first; v.from < p.variables-1 && ctx.Err() == nil; {
		next := &view{}
		r.next(v, next, u.layout, p.k)
		if next.safe {
			break
		}
		if !u.take(int64(len(next.keys)) * viewBytes) {
			return nil, false
		}
		next.shrink()
		list = append(list, next)
		v = next
	}
	for j, v := range list {
		u.all += float64(len(v.keys)) * float64(int64(1)<<(p.variables-1-j))
	}
	return list, true
}

// shrink leaves out the room for what did not come.
func (v *view) shrink() {
	v.origin = nil // of an entry of the view before: nobody asks
	v.keys, v.weight = slices.Clone(v.keys), slices.Clone(v.weight)
}

// search searches the blocks of a view; nil when there is no memory for what they give.
func (u *outer) search(ctx context.Context, v *view, lower *sheet) (*sheet, error) {
	j := v.from
	s := &sheet{view: v, code: make([]int32, u.layout.part[j]>>u.layout.shift[j]+1)}
	var ends []int
	v.blocks(u.layout, func(a, b int) {
		s.code[v.keys[a]&u.layout.part[j]>>u.layout.shift[j]] = int32(len(s.start))
		s.start, ends = append(s.start, a), append(ends, b)
	})
	s.lists = make([]listing, len(ends))
	largest := make([]int, len(ends))
	for b := range largest {
		largest[b] = b
	}
	slices.SortStableFunc(largest, func(b, c int) int { return cmp.Compare(ends[c]-s.start[c], ends[b]-s.start[b]) })
	full := false
	err := inParallel(ctx, len(u.nests), len(ends), func(worker, i int) {
		b := largest[i]
		from, to := s.start[b], ends[b]
		l := u.nests[worker].outermost(v, lower, from, to)
		u.mutex.Lock()
		defer u.mutex.Unlock()
		bytes := int64(4 * (len(l.end) + len(l.sets)))
		full = full || !u.take(bytes)
		s.bytes += bytes
		if !full {
			s.lists[b] = listing{slices.Clone(l.end), slices.Clone(l.sets)}
		}
		u.tell(float64(to-from) * float64(int64(1)<<(u.p.variables-1-j)))
	})
	if err != nil {
		return nil, err
	}
	if full {
		return nil, nil
	}
	return s, nil
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

// outermost searches a block of a view of the outermost level, and adds what the view below has.
func (n *nest) outermost(v *view, lower *sheet, a, b int) *listing {
	if len(n.frames) == 0 {
		n.frames = append(n.frames, newFrame(n.p.variables))
	}
	f := n.frames[0]
	below := &f.lists[1]
	below.reset()
	for x := a; x < b; x++ {
		if lower.view != v && v.up != nil {
			below.sets = append(below.sets, lower.of(n.layout, int(v.up[x]))...)
		}
		below.close()
	}
	f.up = grown(f.up, b-a)
	for i := range f.up {
		f.up[i] = uint32(i)
	}
	block := view{from: v.from, keys: v.keys[a:b], weight: v.weight[a:b], up: f.up}
	n.block(0, f, &block, 0, &listing{}, below, 0, b-a)
	out := &f.lists[0]
	n.gather(f, &block, below, out, 0, b-a)
	return out
}
