package uniques

import (
	"context"
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"microrisk/engine/budget"
	"time"
)

// An EstimateError says that a search was not begun because it would take over an hour.
type EstimateError struct {
	Work    budget.WorkError // of each of the workers given
	Visits  float64          // classes counted, over all sets
	MaxSize int              // the largest size limit whose search takes about a minute, at least 1
}

// Unwrap gives the error of the budget.
func (e *EstimateError) Unwrap() error { return &e.Work }

func (e *EstimateError) Error() string {
	return fmt.Sprintf("uniques: the search would take about %v (%.2g counts of classes); with a size limit of %d it takes about a minute, or force it",
		e.Work.Needs.Round(time.Minute), e.Visits, e.MaxSize)
}

const (
	longest   = budget.Hour   // that a search may take of each worker unless forced
	unsampled = budget.Minute // at most that is not worth an estimate
	advised   = budget.Minute // of the search that is proposed instead
)

// nests takes the nested search where upwards was chosen, if that is worth its while.
func (p *problem) nests(o *Options, way direction) direction {
	if way == upwards && o.direction == chosen && p.n >= nestedClasses && p.fitsNested() {
		return nested
	}
	return way
}

// plan chooses the direction of the search and refuses one that takes too long. It depends on the number of workers only in
// whether it refuses.
func (p *problem) plan(ctx context.Context, o *Options) (direction, error) {
	fits := p.fitsDownwards(o)
	switch {
	case o.direction == upwards, o.direction == downwards && fits, o.direction == nested && p.fitsNested():
		return o.direction, nil
	}
	down, other := math.Inf(1), p.nests(o, upwards)
	if fits {
		down = p.cellsDown() * cellSteps
	}
	visits := make([]float64, o.MaxSize+1) // by size
	for s := 1; s <= o.MaxSize; s++ {
		visits[s] = float64(binomial(p.variables, s)) * float64(p.n)
	}
	up := p.steps(other, visits)
	workers := float64(o.Workers)
	if up < unsampled || down < up/4 && down < unsampled {
		if down < up/4 {
			return downwards, nil
		}
		return upwards, nil
	}
	share, err := p.sample(ctx, o, other)
	if err != nil {
		return chosen, err
	}
	for s := range visits {
		visits[s] *= share[s]
	}
	up = p.steps(other, visits)
	way := upwards
	if down < up {
		way = downwards
	}
	if o.Force || min(up, down) <= longest*workers {
		return way, nil
	}
	e := &EstimateError{
		Work:    budget.WorkError{What: "the search is", Needs: time.Duration(min(min(up, down)/workers, math.MaxInt64/2)), Limit: time.Hour},
		MaxSize: 1,
	}
	for _, v := range visits {
		e.Visits += v
	}
	for s := 2; s <= o.MaxSize && p.steps(other, visits[:s+1]) <= advised*workers; s++ {
		e.MaxSize = s
	}
	return chosen, e
}

// cellsDown is the number of cells of all margins, prod (1 + 2^bits).
func (p *problem) cellsDown() float64 {
	cells := 1.0
	for _, f := range p.fields {
		cells *= 1 + math.Ldexp(1, int(f.bits))
	}
	return cells
}

// Sizes of the sample: classes, sets of each size, and comparisons of variables in all.
const (
	sampleClasses  = 64
	sampleSets     = 24
	sampleCompares = 1e9
)

// sample estimates, for each size, the mean share of classes that an upward search counts on a set: those that agree with some other class on every
// subset one smaller, which follows from the largest sets of variables on which they agree with others. Missing values count
// as categories. What a way of searching counts together is one class.
func (p *problem) sample(ctx context.Context, o *Options, way direction) ([]float64, error) {
	n := int(min(max(sampleCompares/float64(p.n)/float64(p.variables), 4), sampleClasses, float64(p.n)))
	agree := make([][]uint64, n)
	err := inParallel(ctx, o.Workers, n, func(_, j int) {
		i := int((float64(j) + .5) / float64(n) * float64(p.n))
		agree[j] = p.agreements(ctx, i)
	})
	if err != nil {
		return nil, err
	}
	share, merged := make([]float64, o.MaxSize+1), p.newMerged(way)
	err = inParallel(ctx, o.Workers, o.MaxSize, func(_, s int) {
		size := s + 1
		r := rand.New(rand.NewPCG(uint64(size), 1))
		live := 0.0
		for range sampleSets {
			var set uint64
			for _, v := range r.Perm(p.variables)[:size] {
				set |= 1 << v
			}
			each := merged.share(set)
			for _, masks := range agree {
				if liveOn(set, masks) {
					live += each
				}
			}
		}
		share[size] = live / float64(sampleSets*n)
	})
	return share, err
}

// liveOn tells whether every subset one smaller than a set lies within one of some masks.
func liveOn(set uint64, masks []uint64) bool {
	for rest := set; rest != 0; rest &= rest - 1 {
		sub := set &^ (rest & -rest)
		within := false
		for _, m := range masks {
			if sub&^m == 0 {
				within = true
				break
			}
		}
		if !within {
			return false
		}
	}
	return true
}

// agreements lists the sets of variables on which class i agrees with another class (or with a second record of its own),
// without those that lie within another.
func (p *problem) agreements(ctx context.Context, i int) []uint64 {
	seen := map[uint64]bool{}
	if p.many[i>>6]>>(i&63)&1 == 1 {
		return []uint64{^uint64(0)}
	}
	last := uint64(0)
	met := p.newAgreed()
	packed := p.words == 1 && met.top != ^uint64(0)
	for j := range p.n {
		if j&0xfffff == 0 && ctx.Err() != nil {
			return nil
		}
		if j == i || packed && met.again(p.keys[0][i]^p.keys[0][j]) {
			continue
		}
		var set uint64
		for v, f := range p.fields {
			if (p.keys[f.word][i]^p.keys[f.word][j])&f.mask() == 0 {
				set |= 1 << v
			}
		}
		if set != last {
			seen[set] = true
			last = set
		}
	}
	var masks []uint64
	for m := range seen {
		masks = append(masks, m)
	}
	return largest(masks)
}

// An agreed remembers sets of fields in which two keys of one word differed, to pass over most of those that are met again.
type agreed struct {
	top, below uint64 // the highest bit of each field, and the others
	sets       [256]uint64
}

func (p *problem) newAgreed() *agreed {
	a := &agreed{}
	for _, f := range p.fields {
		if f.bits > 0 {
			a.top |= 1 << (f.shift + f.bits - 1)
		}
		a.below |= f.mask()
	}
	a.below &^= a.top
	for i := range a.sets {
		a.sets[i] = ^uint64(0) // no set, but where all 64 bits are fields of their own
	}
	return a
}

// again tells whether keys with such a difference have surely been met before, and remembers it. A sum carries into the highest bit of each field
// that differs below it.
func (a *agreed) again(difference uint64) bool {
	set := (difference&a.below + a.below | difference) & a.top
	at := &a.sets[set*mix>>56]
	if *at == set {
		return true
	}
	*at = set
	return false
}

// largest keeps the masks that do not lie within another.
func largest(masks []uint64) []uint64 {
	bySize := make([][]uint64, 65)
	for _, m := range masks {
		bySize[bits.OnesCount64(m)] = append(bySize[bits.OnesCount64(m)], m)
	}
	var kept []uint64
	for s := 64; s >= 0; s-- {
		larger := len(kept)
		for _, m := range bySize[s] {
			within := false
			for _, k := range kept[:larger] {
				if m&^k == 0 {
					within = true
					break
				}
			}
			if !within {
				kept = append(kept, m)
			}
		}
	}
	return kept
}
