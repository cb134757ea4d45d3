package uniques

import (
	"cmp"
	"math/bits"
	"slices"
)

// A gap is the classes that miss the same variables under Wildcard, or none.
type gap struct {
	set     uint64
	classes []uint32
	keys    []uint64 // of these, where they take one word
	weight  []uint32 // records of each, at most k+1; nil when k is 1
}

// gapsOf sorts the classes by what they miss under Wildcard.
func (p *problem) gapsOf() []gap {
	place := map[uint64]int{}
	var gaps []gap
	for i := range uint32(p.n) {
		set := p.missingOf(i)
		at, any := place[set]
		if !any {
			at = len(gaps)
			place[set] = at
			gaps = append(gaps, gap{set: set})
		}
		g := &gaps[at]
		g.classes = append(g.classes, i)
		if p.words == 1 {
			g.keys = append(g.keys, p.keys[0][i])
		}
		if p.weight != nil {
			g.weight = append(g.weight, p.weight[i])
		}
	}
	slices.SortFunc(gaps, func(a, b gap) int {
		return cmp.Or(cmp.Compare(len(a.classes), len(b.classes)), cmp.Compare(a.set, b.set))
	})
	return gaps
}

// word writes a word of the keys of the classes to dst, if it has not got them.
func (g *gap) word(p *problem, word int, dst []uint64) []uint64 {
	if g.keys != nil {
		return g.keys
	}
	dst = dst[:0]
	for _, i := range g.classes {
		dst = append(dst, p.keys[word][i])
	}
	return dst
}

// records of class number j of a gap, at most k+1; 1 where k is 1.
func (g *gap) records(j int) uint32 {
	if g.weight != nil {
		return g.weight[j]
	}
	return 1
}

// A part is the classes of a gap, which miss some of the variables of a set.
type part struct {
	missing uint64
	gap     int
}

// A group is the parts, from one place to another, that miss the same variables of a set.
type group struct {
	missing  uint64
	from, to int
	size     int
	reach    float64 // how many classes are likely to match, in proportion
}

// divide finds the groups of incomplete classes on a set, those first that most classes are likely to match, and tells whether there are any.
func (e *evaluator) divide(set uint64) bool {
	p, x := e.p, &e.wild
	x.parts, x.groups = x.parts[:0], x.groups[:0]
	for i := range p.gaps {
		if m := p.gaps[i].set & set; m != 0 {
			x.parts = append(x.parts, part{m, i})
		}
	}
	slices.SortFunc(x.parts, func(a, b part) int { return cmp.Or(cmp.Compare(a.missing, b.missing), cmp.Compare(a.gap, b.gap)) })
	for i, part := range x.parts {
		if i == 0 || part.missing != x.parts[i-1].missing {
			x.groups = append(x.groups, group{missing: part.missing, from: i})
		}
		g := &x.groups[len(x.groups)-1]
		g.to = i + 1
		g.size += len(p.gaps[part.gap].classes)
	}
	for i := range x.groups {
		g := &x.groups[i]
		g.reach = float64(g.size)
		for rest := g.missing; rest != 0; rest &= rest - 1 {
			g.reach *= p.parted[bits.TrailingZeros64(rest)]
		}
	}
	slices.SortFunc(x.groups, func(a, b group) int { return cmp.Or(cmp.Compare(b.reach, a.reach), cmp.Compare(a.missing, b.missing)) })
	return len(x.groups) > 0
}
