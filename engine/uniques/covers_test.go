package uniques

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestCoversChangeNothing searches small files upwards with covers, which are otherwise for large ones.
func TestCoversChangeNothing(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		f := drawFile(rt, 8)
		o := drawOptions(rt, len(f.cards))
		o.Threshold, o.direction, o.covers = 0, upwards, 1
		table := f.table(t)
		r, err := Search(context.Background(), table, o)
		if err != nil {
			rt.Fatal(err)
		}
		checkAgainstBrute(rt, f, f.classes(t, table), r, o)
	})
}

// TestCountersAgree compares the ways of counting a set: by small keys, by parts and by the exact table.
func TestCountersAgree(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	f := file{cards: []int{3, 50, 7, 400, 1, 2}}
	for range 20000 {
		row := make([]uint32, len(f.cards))
		for v, c := range f.cards {
			row[v] = uint32(r.IntN(c+1) * r.IntN(c+1) / (c + 1))
		}
		f.rows = append(f.rows, row)
	}
	o := Options{}
	table := f.table(t)
	if err := o.normalise(table); err != nil {
		t.Fatal(err)
	}
	p, err := newProblem(table, &o)
	if err != nil {
		t.Fatal(err)
	}
	e := newEvaluator(p)
	e.many = p.many
	count := func(set uint64, f func(live int, out []uint64)) []uint64 {
		out := make([]uint64, len(p.base))
		copy(e.known, p.base)
		e.mask = append(p.masks(set, nil), mask{})[:1]
		f(p.n, out)
		return out
	}
	for set := uint64(0); set < 1<<len(f.cards); set++ {
		small := count(set, func(live int, out []uint64) { e.countSmall(live, e.smallKey(e.mask[0].bits), out) })
		parts := count(set, e.countParts)
		exact := count(set, func(live int, out []uint64) {
			e.rest = appendClear(e.rest[:0], e.known)
			e.resolve(out)
		})
		for w := range small {
			if small[w] != parts[w] || small[w] != exact[w] {
				t.Fatalf("set %b, word %d: %x by small keys, %x by parts, %x by the exact table", set, w, small[w], parts[w], exact[w])
			}
		}
	}
}

// TestCoversOfLongKeys has keys that entries of the parts cannot hold: of nearly one word, and of several.
func TestCoversOfLongKeys(t *testing.T) {
	for _, width := range []int{9, 16} {
		r := rand.New(rand.NewPCG(uint64(width), 5))
		f := file{cards: slices.Repeat([]int{1 << width}, 7)}
		for range 20000 {
			hidden := [2]int{int(r.ExpFloat64() * 8), r.IntN(30)}
			row := make([]uint32, len(f.cards))
			for v := range row {
				if r.IntN(4) > 0 {
					row[v] = uint32(hidden[v%2]*(v+1)*977) % uint32(f.cards[v])
				} else {
					row[v] = uint32(r.IntN(3)) << (width - 2)
				}
			}
			f.rows = append(f.rows, row)
		}
		table := f.table(t)
		o := Options{Contributions: true, MSUs: true, direction: upwards, covers: math.MaxInt}
		plain := search(t, table, o)
		o.covers, o.Workers = 1, 3
		if covered := search(t, table, o); !sameBits(plain, covered) {
			t.Errorf("%d bits: covers change the result", 7*width)
		}
		o.direction, o.Threshold, o.covers = chosen, 1, 0
		if again := search(t, table, o); !sameBits(plain, again) {
			t.Errorf("%d bits: the search chosen gives another result", 7*width)
		}
		if plain.BySize[0] == 0 || plain.BySize[2] == 0 {
			t.Errorf("%d bits: the file has too few minimal sample uniques to tell anything: %v", 7*width, plain.BySize)
		}
	}
}
