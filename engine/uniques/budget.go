package uniques

import (
	"sync/atomic"

	"microrisk/engine/budget"
)

// A meter counts the bytes that a search holds besides table and result. Whoever is about to hold more takes them first.
type meter struct {
	limit int64 // 0 for none
	held  atomic.Int64
	full  atomic.Bool // somebody asked for more than there was
}

// take asks for bytes, and tells whether they are there. What was refused is not held.
func (b *meter) take(bytes int64) bool {
	if held := b.held.Add(bytes); b.limit > 0 && held > b.limit {
		b.held.Add(-bytes)
		b.full.Store(true)
		return false
	}
	return true
}

func (b *meter) give(bytes int64) { b.held.Add(-bytes) }

// part is a share of the limit, at least 1; most where there is none.
func (b *meter) part(of, most int64) int64 {
	if b.limit <= 0 {
		return most
	}
	return max(1, min(b.limit/of, most))
}

// err is what a full budget means: needs is the least that the search is known to take.
func (b *meter) err(needs int64) error {
	return budget.Budget{Bytes: b.limit}.Beyond("the search", max(needs, b.held.Load(), b.limit+1))
}

// Bytes of a set of variables in a level besides its bitmap: the set, whether it is open; and its place in the index of open sets.
const (
	setBytes   = 9
	indexBytes = 12
)

// Bytes is about the memory that a search holds at most, besides table and result: keys, and the sets and bitmaps of the two widest
// levels of the lattice. Sets that are closed early make it less.
func Bytes(classes, variables, maxSize int) int64 {
	if maxSize <= 0 || maxSize > variables {
		maxSize = variables
	}
	sets := make([]float64, maxSize+1)
	for s := range sets {
		sets[s] = float64(binomial(variables, s))
	}
	return levelBytes(classes, sets) + 32*int64(classes)
}

// levelBytes is what the largest two neighbouring levels of so many sets take.
func levelBytes(classes int, sets []float64) int64 {
	bitmap := float64((classes + 63) / 64 * 8)
	most := 0.0
	for s := 1; s < len(sets); s++ {
		most = max(most, sets[s-1]*(bitmap+setBytes+indexBytes)+sets[s]*(bitmap+setBytes))
	}
	return int64(min(most, 1<<62))
}

// needsFrom is what a search takes from a level on that has so many open sets. Of all sets of one size the share that has no closed
// subset does not grow with the size.
func (p *problem) needsFrom(size, open, maxSize int) int64 {
	share := float64(open) / float64(binomial(p.variables, size))
	sets := []float64{float64(open)}
	for s := size + 1; s <= maxSize; s++ {
		sets = append(sets, share*float64(binomial(p.variables, s)))
	}
	return levelBytes(p.n, sets) + 32*int64(p.n)
}

// scratchBytes is about what one worker of an upward search holds for itself.
func (p *problem) scratchBytes() int64 {
	each := int64(40)
	if p.k > 1 || p.anyWild {
		each = 160
	}
	return each * int64(p.n)
}

// fits compares the memory of a search with what is allowed, and takes less workers where their scratch would need too much.
func (o *Options) fits(p *problem, way direction) error {
	if o.Memory <= 0 || way == downwards { // which is chosen where it fits
		return nil
	}
	for o.Workers > 1 && int64(o.Workers)*p.scratchBytes() > o.Memory/4 {
		o.Workers--
	}
	if err := (budget.Budget{Bytes: o.Memory}).Memory("the search", Bytes(p.n, p.variables, o.MaxSize)); err != nil {
		return err
	}
	each := int64(32)
	if p.anyWild {
		each += 12 // gaps
	}
	p.budget.take(min(each*int64(p.n), o.Memory))
	return nil
}
