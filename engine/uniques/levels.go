package uniques

import (
	"context"
	"math/bits"
	"sync"
	"sync/atomic"
)

// A level holds the sets of one size, in lexicographic order of their variables, each with a bitmap of the classes that are
// done on it: not candidates for any larger set, as they are unique on this one already (or ignored on it).
type level struct {
	size int
	sets []uint64
	done [][]uint64
	open []bool // whether any class can still have a minimal sample unique above this set
	at   map[uint64]int
}

// searchUp goes through the lattice of sets by size. A set is looked at only if all its subsets are open, and on it only the
// classes that are done on none of its subsets are counted: a class that is unique on a subset shares its values with nobody.
func (p *problem) searchUp(ctx context.Context, o *Options, tally *tally) error {
	below := &level{sets: []uint64{0}, done: [][]uint64{p.base}, open: []bool{true}, at: map[uint64]int{0: 0}}
	progress := newProgress(o, latticeSize(p.variables, o.MaxSize))
	var spare [][]uint64
	workers := make([]*evaluator, o.Workers)
	for i := range workers {
		workers[i] = newEvaluator(p)
	}
	if err := p.makeCovers(ctx, o, workers); err != nil {
		return err
	}
	for size := 1; size <= o.MaxSize; size++ {
		l := below.next(p.variables)
		if len(l.sets) == 0 {
			break
		}
		progress.add(max(0, binomial(p.variables, size)-int64(len(l.sets))))
		for i := range l.sets {
			if n := len(spare); n > 0 {
				l.done[i], spare = spare[n-1], spare[:n-1]
			} else {
				l.done[i] = make([]uint64, len(p.base))
			}
		}
		err := inParallel(ctx, o.Workers, len(l.sets), func(worker, i int) {
			l.open[i] = workers[worker].evaluate(l, below, i)
			progress.add(1)
		})
		if err != nil {
			return err
		}
		if err := tally.addLevel(ctx, l, below); err != nil {
			return err
		}
		if size > 1 {
			spare = append(spare, below.release(true)...)
		}
		spare = append(spare, l.release(false)...)
		below = l
	}
	for _, e := range workers {
		tally.r.Visits += e.visits
	}
	return nil
}

// next lists the sets one larger than those of l that have no closed subset.
func (l *level) next(variables int) *level {
	n := &level{size: l.size + 1, at: map[uint64]int{}}
	for i, s := range l.sets {
		if !l.open[i] {
			continue
		}
		for v := bits.Len64(s); v < variables; v++ {
			set := s | 1<<v
			if !l.allOpen(set, s) {
				continue
			}
			n.at[set] = len(n.sets)
			n.sets = append(n.sets, set)
		}
	}
	n.done = make([][]uint64, len(n.sets))
	n.open = make([]bool, len(n.sets))
	return n
}

// allOpen tells whether all subsets of a set one smaller than it are open, save one that is known to be.
func (l *level) allOpen(set, save uint64) bool {
	for rest := set; rest != 0; rest &= rest - 1 {
		sub := set &^ (rest & -rest)
		if sub == save {
			continue
		}
		i, ok := l.at[sub]
		if !ok || !l.open[i] {
			return false
		}
	}
	return true
}

// release gives bitmaps back: those of closed sets, which no larger set will ask for, or all.
func (l *level) release(all bool) (spare [][]uint64) {
	for i, done := range l.done {
		if done != nil && (all || !l.open[i]) {
			spare = append(spare, done)
			l.done[i] = nil
		}
	}
	return spare
}

// known writes the classes that are done on some subset of set to dst, words from to from+len(dst) of the bitmap.
func (l *level) known(p *problem, set uint64, from int, dst []uint64) {
	first := true
	for rest := set; rest != 0; rest &= rest - 1 {
		sub := l.done[l.at[set&^(rest&-rest)]][from : from+len(dst)]
		if first {
			copy(dst, sub)
			first = false
			continue
		}
		for i, w := range sub {
			dst[i] |= w
		}
	}
	if l.size == 0 {
		if ignored := p.ignored[bits.TrailingZeros64(set)]; ignored != nil {
			for i := range dst {
				dst[i] |= ignored[from+i]
			}
		}
	}
}

// inParallel calls f for 0 to n-1 on some goroutines, until done or ctx ends.
func inParallel(ctx context.Context, workers, n int, f func(worker, i int)) error {
	var next atomic.Int64
	var group sync.WaitGroup
	for w := range min(workers, n) {
		group.Add(1)
		go func() {
			defer group.Done()
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= n {
					return
				}
				f(w, i)
			}
		}()
	}
	group.Wait()
	return ctx.Err()
}

// A progress adds sets up and reports them.
type progress struct {
	mutex       sync.Mutex
	report      func(done, total int64)
	done, total int64
}

func newProgress(o *Options, total int64) *progress {
	return &progress{report: o.Progress, total: total}
}

func (p *progress) add(sets int64) {
	if p.report == nil {
		return
	}
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.done = min(p.done+sets, p.total)
	p.report(p.done, p.total)
}
