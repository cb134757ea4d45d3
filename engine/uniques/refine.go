package uniques

import (
	"context"
	"math/bits"
)

// Plain sets are the minimal sets of every class among the classes that are complete on them: missing values match nothing. No set
// is smaller where they match everything, so that a search for those begins with these.
type plainSets struct {
	from []int    // of each class, and the end
	sets []uint32 // by size
	at   []int    // of each class: the first set that no level has had
	held int64

	progress *progress
}

// plainBytes are those that a class takes.
const plainBytes = 16

// plainSets brings the sets of all classes, which stand on a sheet, into their order; nil where there is no memory for that.
func (p *problem) plainSets(ctx context.Context, workers int, order []int, on *sheet, place []uint32) (*plainSets, error) {
	s := &plainSets{held: plainBytes * int64(p.n)}
	if !p.budget.take(s.held) {
		return nil, nil
	}
	s.from, s.at = make([]int, p.n+1), make([]int, p.n)
	lists := make([]listing, workers) // of each worker, of some classes
	blocks := (p.n + blockClasses - 1) / blockClasses
	err := inParallel(ctx, workers, blocks, func(worker, b int) {
		from, to := b*blockClasses, min((b+1)*blockClasses, p.n)
		on.copy(place[from:to], &lists[worker])
		for i := from; i < to; i++ {
			s.from[i+1] = len(lists[worker].of(i - from))
		}
	})
	for i := range p.n {
		s.from[i+1] += s.from[i]
	}
	bytes := 4 * int64(s.from[p.n])
	if err != nil || !p.budget.take(bytes) {
		p.budget.give(s.held)
		return nil, err
	}
	s.held += bytes
	copy(s.at, s.from)
	s.sets = make([]uint32, s.from[p.n])
	variables := variablesOf(order)
	return s, inParallel(ctx, workers, blocks, func(worker, b int) {
		from, to := b*blockClasses, min((b+1)*blockClasses, p.n)
		on.copy(place[from:to], &lists[worker])
		for i := from; i < to; i++ {
			bySizes(s.sets[s.from[i]:s.from[i+1]], lists[worker].of(i-from), variables)
		}
	})
}

// variablesOf gives the variables of sets of places, eight places at a time.
func variablesOf(order []int) *[2][256]uint32 {
	var sets [2][256]uint32
	for b := range 256 {
		for j, v := range order {
			sets[j/8][b] |= uint32(b) >> (j % 8) & 1 << v
		}
	}
	return &sets
}

// bySizes writes sets of places to dst as sets of variables, by size.
func bySizes(dst, sets []uint32, variables *[2][256]uint32) {
	var count [nestedVariables + 2]int
	for _, set := range sets {
		count[bits.OnesCount32(set)+1]++
	}
	for size := 1; size < len(count); size++ {
		count[size] += count[size-1]
	}
	for _, set := range sets {
		size := bits.OnesCount32(set)
		dst[count[size]] = variables[0][set&0xff] | variables[1][set>>8&0xff]
		count[size]++
	}
}

// sow marks the candidates of a level: classes of which a set of it is one of the plain sets.
func (s *plainSets) sow(ctx context.Context, p *problem, o *Options, l *level, number []int32) error {
	blocks := (p.n + blockClasses - 1) / blockClasses
	for i := range l.count {
		number[l.set(i)] = int32(i)
		clear(l.refuted(i))
	}
	return inParallel(ctx, o.Workers, blocks, func(_, b int) {
		for i := b * blockClasses; i < min((b+1)*blockClasses, p.n); i++ {
			at := s.at[i]
			for ; at < s.from[i+1] && bits.OnesCount32(s.sets[at]) == l.size; at++ {
				l.refuted(int(number[s.sets[at]]))[i>>6] |= 1 << (i & 63)
			}
			s.at[i] = at
		}
	})
}

// refine goes up from the plain sets: a class that matches too many incomplete ones on one of them is a candidate for all larger ones.
func (p *problem) refine(ctx context.Context, o *Options, s *plainSets, t *tally) error {
	defer func() { p.budget.give(s.held) }()
	number := make([]int32, 1<<p.variables) // of each set in its level
	u := p.newAscent(o)
	u.room.twice, u.progress = true, s.progress
	u.before = func(l *level) error { return s.sow(ctx, p, o, l, number) }
	u.evaluate = (*evaluator).evaluatePlain
	return u.climb(ctx, o, t)
}

// evaluatePlain is evaluate where candidates are found already: those of the level, and those of smaller sets that were refuted there.
func (e *evaluator) evaluatePlain(l, below *level, i int) (open bool) {
	p, x, set := e.p, &e.wild, l.set(i)
	e.many = p.many
	below.known(p, set, 0, e.known)
	e.missing(set)
	x.fresh = grown(x.fresh, len(p.base))
	candidates := l.refuted(i)
	for rest := set; rest != 0 && below.size > 0; rest &= rest - 1 {
		sub, _ := below.find(set &^ (rest & -rest))
		for w, r := range below.refuted(sub) {
			candidates[w] |= r
		}
	}
	var any uint64
	for w, k := range e.known {
		candidates[w] &^= k | x.incomplete[w]
		any |= candidates[w]
	}
	copy(x.fresh, candidates)
	if any != 0 {
		e.refute(set)
	}
	out := l.done(i)
	for w, f := range x.fresh {
		out[w] = e.known[w] | f
		candidates[w] &^= f
	}
	return e.left(out)
}
