package uniques

import (
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestWildcardsAgree compares the two ways of counting a set with missing values that match everything, on keys of one word and of two.
func TestWildcardsAgree(t *testing.T) {
	for _, cards := range [][]int{{5, 40, 30, 7, 3}, {1 << 20, 40, 1 << 20, 1 << 20, 30}} {
		r := rand.New(rand.NewPCG(5, 6))
		f := file{cards: cards}
		for range 9000 {
			row := make([]uint32, len(cards))
			for v, c := range cards {
				row[v] = uint32(r.IntN(min(c, 60)))
				if r.IntN(40) == 0 {
					row[v] = uint32(c)
				}
			}
			f.rows = append(f.rows, row)
		}
		table := f.table(t)
		o := Options{Policies: slices.Repeat([]Policy{Wildcard}, len(cards))}
		if err := o.normalise(table); err != nil {
			t.Fatal(err)
		}
		p, err := newProblem(table, &o)
		if err != nil {
			t.Fatal(err)
		}
		e := newEvaluator(p)
		e.many = p.many
		found := 0
		for set := uint64(1); set < 1<<len(cards); set++ {
			var out [2][]uint64
			var open [2]bool
			for way, count := range []func(uint64, []uint64) bool{e.evaluateWild, e.slowWild} {
				e.mask = p.masks(set, e.mask)
				copy(e.known, p.base)
				out[way] = slices.Clone(p.base)
				open[way] = count(set, out[way])
			}
			if !slices.Equal(out[0], out[1]) || open[0] != open[1] {
				t.Errorf("%v: set %b: other classes are unique", cards, set)
			}
			if !slices.Equal(out[0], p.base) {
				found++
			}
		}
		if found < 8 {
			t.Errorf("%v: classes are unique on %d sets only", cards, found)
		}
	}
}

// slowWild finds the unique classes of a set among those that are complete on it: their own count is exact, then they are looked up
// among the incomplete classes, once per pattern of missingness on the set. With k above 1 compatibility is not
// transitive, so classes that are done still count.
func (e *evaluator) slowWild(set uint64, out []uint64) (open bool) {
	p, x := e.p, &e.wild
	e.missing(set)
	out0 := append([]uint64(nil), e.known...) // candidates are what is clear here and complete
	counted := e.known
	if p.k > 1 {
		copy(counted, p.base)
	}
	for rest := set; rest != 0; rest &= rest - 1 {
		v := bits.TrailingZeros64(rest)
		if w := p.ignored[v]; w != nil && p.k > 1 {
			for i := range w {
				counted[i] |= w[i]
			}
		}
	}
	groups := map[uint64][]uint32{}
	e.exact.reset(p, e.mask)
	var candidates []uint32
	for w := range counted {
		for live := ^counted[w]; live != 0; live &= live - 1 {
			b := bits.TrailingZeros64(live)
			i := uint32(w<<6 | b)
			if x.incomplete[w]>>b&1 == 1 {
				pattern := p.missingOf(i) & set
				groups[pattern] = append(groups[pattern], i)
				continue
			}
			e.exact.add(i, e.weightOf(i))
			if out0[w]>>b&1 == 0 && p.many[w]>>b&1 == 0 {
				candidates = append(candidates, i)
			}
		}
	}
	total := make([]uint32, len(candidates))
	for j, i := range candidates {
		total[j] = e.exact.count(i)
	}
	for pattern, members := range groups {
		x.masks = p.masks(set&^pattern, x.masks)
		if len(x.masks) == 0 {
			x.masks = append(x.masks, mask{})
		}
		e.exact.reset(p, x.masks)
		for _, i := range members {
			e.exact.add(i, e.weightOf(i))
		}
		for j, i := range candidates {
			if int64(total[j]) <= p.k {
				total[j] = min(total[j]+e.exact.count(i), uint32(p.k+1))
			}
		}
	}
	for j, i := range candidates {
		if int64(total[j]) <= p.k {
			out[i>>6] |= 1 << (i & 63)
		} else {
			open = true
		}
	}
	if !open {
		// A class that is incomplete on this set, or dominated by ignored values, has no minimal sample unique above it.
		return false
	}
	return true
}
