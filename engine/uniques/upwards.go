package uniques

import (
	"context"
)

// An ascent goes through the lattice of sets by size. A set is looked at only if all its subsets are open, and on it only the
// classes that are done on none of its subsets are counted: a class that is unique on a subset shares its values with nobody.
type ascent struct {
	p        *problem
	room     *room
	workers  []*evaluator
	progress *progress
	before   func(l *level) error // is called with a level that has its sets
	evaluate func(e *evaluator, l, below *level, i int) (open bool)
}

func (p *problem) newAscent(o *Options) *ascent {
	u := &ascent{p: p, room: newRoom(p), workers: make([]*evaluator, o.Workers)}
	u.progress = newProgress(o, latticeSize(p.variables, o.MaxSize))
	for i := range u.workers {
		u.workers[i] = newEvaluator(p)
		p.budget.take(min(p.scratchBytes(), p.budget.part(int64(4*o.Workers), p.scratchBytes())))
	}
	return u
}

func (p *problem) searchUp(ctx context.Context, o *Options, tally *tally) error {
	u := p.newAscent(o)
	if err := p.makeCovers(ctx, o, u.workers); err != nil {
		return err
	}
	u.evaluate = (*evaluator).evaluate
	return u.climb(ctx, o, tally)
}

func (u *ascent) climb(ctx context.Context, o *Options, tally *tally) error {
	p, room := u.p, u.room
	below := &level{room: room, count: 1, pieces: []*piece{{sets: []uint64{0}, done: p.base, open: []bool{true}}}, slots: []uint32{1}}
	for size := 1; size <= o.MaxSize; size++ {
		open := below.count
		l := below.next(p.variables)
		if l == nil {
			return p.budget.err(p.needsFrom(size-1, open, o.MaxSize))
		}
		if l.count == 0 {
			break
		}
		if u.before != nil {
			if err := u.before(l); err != nil {
				return err
			}
		}
		u.progress.add(max(0, binomial(p.variables, size)-int64(l.count)))
		err := inParallel(ctx, o.Workers, l.count, func(worker, i int) {
			l.setOpen(i, u.evaluate(u.workers[worker], l, below, i))
			u.progress.add(1)
		})
		if err != nil {
			return err
		}
		if err := tally.addLevel(ctx, l, below); err != nil {
			return err
		}
		if p.budget.full.Load() {
			return p.budget.err(0)
		}
		if size > 1 {
			below.release()
		}
		if !l.settle() {
			return p.budget.err(p.needsFrom(size, l.count, o.MaxSize))
		}
		below = l
	}
	for _, e := range u.workers {
		tally.r.Visits += e.visits
	}
	return nil
}
