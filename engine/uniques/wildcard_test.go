package uniques

import (
	"context"
	"errors"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"microrisk/engine/budget"
)

// gappedFile has independent variables, of at most 60 values each, with a share of missing values.
func gappedFile(rows int, share float64, cards ...int) file {
	r := rand.New(rand.NewPCG(5, 6))
	f := file{cards: cards}
	for range rows {
		row := make([]uint32, len(cards))
		for v, c := range cards {
			row[v] = uint32(min(r.IntN(min(c, 60)), r.IntN(min(c, 60))))
			if r.Float64() < share {
				row[v] = uint32(c)
			}
		}
		f.rows = append(f.rows, row)
	}
	return f
}

// TestWildcardsAgree compares the counts of a set with missing values that match everything with a slow way, on keys of one word and of two.
func TestWildcardsAgree(t *testing.T) {
	for _, cards := range [][]int{{5, 40, 30, 7, 3}, {1 << 20, 40, 1 << 20, 1 << 20, 30}} {
		table := gappedFile(9000, .025, cards...).table(t)
		for k := int64(1); k <= 3; k++ {
			o := Options{Policies: slices.Repeat([]Policy{Wildcard}, len(cards)), Threshold: k}
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
					t.Errorf("%v, threshold %d: set %b: other classes are unique", cards, k, set)
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
}

// TestWildcardsAreBrute compares both ways of searching with the definition, on small files that miss values everywhere, and in other
// orders of their rows.
func TestWildcardsAreBrute(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		f := drawFile(rt, 6)
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "gaps"), 1))
		share := rapid.SampledFrom([]float64{.02, .1, .3}).Draw(rt, "share")
		for _, row := range f.rows {
			for v := range row {
				if r.Float64() < share {
					row[v] = uint32(f.cards[v])
				}
			}
		}
		o := drawOptions(rt, len(f.cards))
		mixed := rapid.Bool().Draw(rt, "mixed")
		o.Threshold = rapid.Int64Range(1, 3).Draw(rt, "k")
		o.Policies = slices.Repeat([]Policy{Wildcard}, len(f.cards))
		for v := range o.Policies {
			if mixed && r.IntN(3) == 0 {
				o.Policies[v] = Policy(r.IntN(4))
			}
		}
		for _, o.direction = range []direction{nested, upwards} {
			o.lattice = r.IntN(2) * (1 + r.IntN(9))
			table := f.table(t)
			res, err := Search(context.Background(), table, o)
			if err != nil {
				rt.Fatal(err)
			}
			checkAgainstBrute(rt, f, f.classes(t, table), res, o)
			r.Shuffle(len(f.rows), func(i, j int) { f.rows[i], f.rows[j] = f.rows[j], f.rows[i] })
		}
	})
}

// TestWildcardsByBlocks compares the search that begins with the nested one with the upward one, on files that are large enough for
// blocks within blocks.
func TestWildcardsByBlocks(t *testing.T) {
	for _, cards := range [][]int{{3, 50, 7, 40, 2, 5}, {9, 9, 9, 2, 3, 4, 2, 60, 5}, {60, 700, 1, 30}} {
		for _, share := range []float64{.02, .2} {
			f := gappedFile(7000, share, cards...)
			table := f.table(t)
			wild := slices.Repeat([]Policy{Wildcard}, len(cards))
			mixed := slices.Clone(wild)
			mixed[0], mixed[1], mixed[2] = Ignore, Category, Drop
			for _, o := range []Options{
				{Policies: wild}, {Policies: wild, Threshold: 2}, {Policies: wild, Threshold: 3, MaxSize: 3},
				{Policies: mixed}, {Policies: mixed, Threshold: 3}, {Policies: mixed, Threshold: 2, MaxSize: 2, Score: LatticeLimited},
			} {
				o.Contributions, o.MSUs, o.direction = true, true, upwards
				want := search(t, table, o)
				o.direction = nested
				for _, o.Workers = range []int{1, 3} {
					if got := search(t, table, o); !sameBits(want, got) {
						t.Errorf("%v %+v: another result: %v MSUs by size, upwards %v", cards, o, got.BySize, want.BySize)
					}
				}
			}
		}
	}
}

// TestWildcardsKeepMemory has limits under which the search from plain sets gives up and another takes its place, or that are refused.
func TestWildcardsKeepMemory(t *testing.T) {
	f := gappedFile(3000, .05, 30, 5, 20, 7, 9)
	table := f.table(t)
	for _, k := range []int64{1, 2} {
		o := Options{Policies: slices.Repeat([]Policy{Wildcard}, len(f.cards)), Threshold: k, MSUs: true, Contributions: true, direction: upwards}
		want := search(t, table, o)
		o.direction, o.Workers = nested, 2
		done := 0
		for o.Memory = 1 << 12; o.Memory <= 1<<24; o.Memory += o.Memory / 8 {
			got, err := Search(context.Background(), table, o)
			var short *budget.MemoryError
			switch {
			case errors.As(err, &short):
				if done > 0 {
					t.Errorf("%d bytes are refused, though less was enough", o.Memory)
				}
			case err != nil:
				t.Fatal(err)
			default:
				done++
				if !sameBits(want, got) {
					t.Errorf("%d bytes: another result", o.Memory)
				}
			}
		}
		if done == 0 {
			t.Error("all is refused")
		}
	}
}

// TestWildcardsStop cancels a search in each of its parts, and looks at its progress.
func TestWildcardsStop(t *testing.T) {
	f := gappedFile(4000, .05, 30, 5, 20, 7, 9, 3, 4)
	table := f.table(t)
	o := Options{Policies: slices.Repeat([]Policy{Wildcard}, len(f.cards)), Workers: 2, direction: nested}
	last, calls := int64(0), 0
	o.Progress = func(done, total int64) {
		if done < last || done > total || total != 127 {
			t.Errorf("%d of %d after %d", done, total, last)
		}
		last = done
		calls++
	}
	search(t, table, o)
	if last != 127 {
		t.Errorf("ended at %d", last)
	}
	for _, at := range []int{1, calls / 4, calls / 2, calls * 3 / 4} {
		t.Run(fmt.Sprint(at), func(t *testing.T) {
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			n := 0
			o.Progress = func(done, total int64) {
				if n++; n == at {
					cancel()
				}
			}
			if _, err := Search(ctx, table, o); !errors.Is(err, context.Canceled) {
				t.Errorf("error is %v", err)
			}
		})
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
