package local

import (
	"context"
	"slices"
)

// pair serves rows that no single record with cut cells can: the row is cut on one variable, and others on another, where they differ from
// it in these two alone.
func (b *blanks) pair(ctx context.Context, o Options) error {
	if !slices.ContainsFunc(b.lacking, func(n int64) bool { return n > 0 }) {
		return nil
	}
	var twos []Set
	for _, s := range b.costs.order {
		if s.size() == 2 && s&b.never == 0 {
			twos = append(twos, s)
		}
	}
	cuts := make([][]Set, b.n) // of records that are cut
	for _, x := range b.parts {
		cuts[x.Class] = append(cuts[x.Class], x.Cut)
	}
	var members [][]int32
	return b.sweep(ctx, twos, o, func(g *grouping) bool {
		members = slices.Grow(members[:0], g.groups)[:g.groups]
		clear(members)
		for c, id := range g.of {
			if b.lacking[c] > 0 && b.left[c] > 0 && members[id] == nil {
				members[id] = []int32{}
			}
		}
		for c, id := range g.of {
			if members[id] != nil {
				members[id] = append(members[id], int32(c))
			}
		}
		first := g.cut & -g.cut
		for c, id := range g.of {
			for b.lacking[c] > 0 && b.left[c] > 0 {
				if !b.pairUp(int32(c), first, g.cut&^first, members[id], cuts) && !b.pairUp(int32(c), g.cut&^first, first, members[id], cuts) {
					break
				}
			}
		}
		return true
	})
}

// pairUp cuts mine of a record of class c and theirs of as many others as it lacks; false: there are too few.
func (b *blanks) pairUp(c int32, mine, theirs Set, members []int32, cuts [][]Set) bool {
	have, spare := int64(0), int64(0)
	for _, d := range members {
		differ := b.differ(c, d)
		if differ&^mine == 0 {
			have += b.counts[d]
			continue
		}
		for _, s := range cuts[d] {
			if differ&^(mine|s) == 0 {
				have++
			}
		}
		if b.lacking[d] == 0 {
			spare += b.left[d]
		}
	}
	need := max(0, b.K-have)
	if need > spare {
		return false
	}
	cut := func(d int32, s Set) {
		b.parts = append(b.parts, Part{Class: int(d), Records: 1, Cut: s})
		cuts[d] = append(cuts[d], s)
		b.left[d]--
	}
	cut(c, mine)
	for _, d := range members {
		for need > 0 && b.lacking[d] == 0 && b.left[d] > 0 && b.differ(c, d)&^mine != 0 {
			cut(d, theirs)
			need--
		}
	}
	return true
}
