package uniques

import (
	"cmp"
	"context"
	"math/bits"
	"slices"
)

// Most of what an upward search looks at are classes that share their values with others on larger sets too. A cover spares that: for a set C of
// variables it has one representative of every combination on C that occurs, and marks those that stand for several records. On a
// subset S of C only representatives need counting: records that are equal on C are equal on S, and none
// of them is unique on any subset. Covers are made from one another, from the whole key down, for all C that leave out some of the
// variables with the most categories.
type cover struct {
	size    int      // representatives
	without []uint64 // classes that are not representatives, and bits beyond the last class
	many    []uint64 // representatives of several records, and bits beyond the last class
}

const (
	coverKept    = 3         // variables, of the fewest categories, that every cover keeps
	coverMost    = 9         // variables that covers may leave out, at most: there are 2^9 covers then
	coverClasses = 2048      // with fewer classes covers cost more than they spare
	coverMerging = .95       // share of classes that must be left when the best variable is left out
	coverBytes   = 192 << 20 // memory of all covers, about
)

// makeCovers makes the covers of a problem; none where they do not apply.
func (p *problem) makeCovers(ctx context.Context, o *Options, workers []*evaluator) error {
	order, droppable := p.droppable()
	if p.k > 1 || droppable < 1 || p.n < cmp.Or(o.covers, coverClasses) {
		return nil
	}
	most := int(p.budget.part(8, coverBytes))
	for droppable > 1 && 16*len(p.base)<<droppable > most {
		droppable--
	}
	if bytes := 16 * len(p.base) << droppable; bytes > most || !p.budget.take(int64(bytes)) {
		p.budget.full.Store(false) // the search goes on without them
		return nil
	}
	order = order[:droppable]
	p.coverOrder = order
	p.covers = make([]*cover, 1<<droppable)
	p.covers[0] = &cover{size: p.n, without: p.base, many: p.many}
	for size := 1; size <= droppable; size++ {
		var drops []int
		for d := range p.covers {
			if bits.OnesCount(uint(d)) == size {
				drops = append(drops, d)
			}
		}
		err := inParallel(ctx, len(workers), len(drops), func(worker, i int) {
			p.covers[drops[i]] = workers[worker].makeCover(drops[i])
		})
		if err != nil {
			return err
		}
		if size == 1 && !p.merging() {
			p.covers = nil
			p.budget.give(int64(16 * len(p.base) << droppable))
			break
		}
	}
	return nil
}

// droppable is the variables, those of the most categories first, and how many of them covers may leave out.
func (p *problem) droppable() (order []int, most int) {
	order = make([]int, p.variables)
	for v := range order {
		order[v] = v
	}
	slices.SortStableFunc(order, func(a, b int) int { return p.codes[b] - p.codes[a] })
	return order, min(p.variables-coverKept, coverMost)
}

// merging tells whether leaving out one variable brings enough classes together. Where it does not, most classes are unique on small sets
// and leave the search early, so that covers cost more than they spare.
func (p *problem) merging() bool {
	smallest := p.n
	for i := range p.coverOrder {
		smallest = min(smallest, p.covers[1<<i].size)
	}
	return float64(smallest) <= coverMerging*float64(p.n)
}

// makeCover makes the cover that leaves out some variables of p.coverOrder from the smallest one that leaves out one less.
func (e *evaluator) makeCover(drop int) *cover {
	p := e.p
	var from *cover
	for rest := drop; rest != 0; rest &= rest - 1 {
		if c := p.covers[drop&^(rest&-rest)]; from == nil || c.size < from.size {
			from = c
		}
	}
	set := ^uint64(0) >> (64 - p.variables)
	for i, v := range p.coverOrder {
		if drop>>i&1 == 1 {
			set &^= 1 << v
		}
	}
	c := &cover{without: make([]uint64, len(p.base)), many: slices.Clone(p.base)}
	for w := range c.without {
		c.without[w] = ^uint64(0)
	}
	copy(e.known, from.without)
	e.many = from.many
	e.mask = p.masks(set, e.mask)
	if len(e.mask) == 0 {
		e.mask = append(e.mask, mask{})
	}
	e.visits += int64(from.size)
	e.represent(from.size, c)
	for _, w := range c.without {
		c.size += bits.OnesCount64(^w)
	}
	return c
}

// cover is the smallest cover of a set, nil if that is the whole key or there are none.
func (p *problem) cover(set uint64) *cover {
	if p.covers == nil {
		return nil
	}
	drop := 0
	for i, v := range p.coverOrder {
		if set>>v&1 == 0 {
			drop |= 1 << i
		}
	}
	if drop == 0 {
		return nil
	}
	return p.covers[drop]
}

// narrow leaves the representatives to be counted only, and tells whether any of them could be unique.
func (c *cover) narrow(e *evaluator) bool {
	known := e.known
	without, many := c.without[:len(known)], c.many[:len(known)]
	var candidates uint64
	for w := range known {
		k := known[w] | without[w]
		known[w] = k
		candidates |= ^k &^ many[w]
	}
	e.many = many
	return candidates != 0
}
