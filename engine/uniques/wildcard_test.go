package uniques

import (
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
			for way, count := range []func(uint64, []uint64) bool{e.evaluatePlain, e.evaluateWild} {
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
