package local

import (
	"context"
	"fmt"
	"math/bits"
	"slices"
	"sync"
)

// An instance is a problem with its classes sorted by key, so that nothing depends on the order in which they came.
type instance struct {
	*Problem
	n       int
	from    []int32 // class of the problem
	counts  []int64
	lacks   []Set // variables that are missing; nil: none anywhere
	words   int
	keys    []uint64   // words a class
	masks   [][]uint64 // by variable, then word
	whole   []uint64   // all of them
	never   Set        // fixed variables
	records int64
}

func newInstance(p *Problem) (*instance, error) {
	if err := p.check(); err != nil {
		return nil, err
	}
	in := &instance{Problem: p, n: len(p.Counts), never: p.fixed()}
	in.place()
	in.from = make([]int32, in.n)
	packed := make([]uint64, in.n*in.words)
	for c := range in.n {
		in.from[c] = int32(c)
		in.pack(c, packed[c*in.words:])
	}
	key := func(c int32) []uint64 { return packed[int(c)*in.words : int(c+1)*in.words] }
	slices.SortFunc(in.from, func(a, b int32) int { return slices.Compare(key(a), key(b)) })
	in.keys = make([]uint64, 0, len(packed))
	in.counts = make([]int64, in.n)
	for i, c := range in.from {
		if i > 0 && slices.Equal(key(c), key(in.from[i-1])) {
			return nil, fmt.Errorf("classes %d and %d have the same key: keys must be distinct", in.from[i-1], c)
		}
		in.keys = append(in.keys, key(c)...)
		in.counts[i] = p.Counts[c]
		in.records += p.Counts[c]
	}
	anywhere := Set(0)
	lacks := make([]Set, in.n)
	for i, c := range in.from {
		lacks[i] = p.missing(int(c))
		anywhere |= lacks[i]
	}
	if anywhere != 0 {
		in.lacks = lacks
	}
	return in, nil
}

// place gives each variable its bits of the key, the first variable the highest ones. None is in two words.
func (in *instance) place() {
	used := 64
	for _, codes := range in.Codes {
		most := uint32(0)
		if len(codes) > 0 {
			most = slices.Max(codes)
		}
		need := max(1, bits.Len32(most))
		if used+need > 64 {
			in.words++
			used = 0
		}
		used += need
		m := make([]uint64, in.words)
		m[in.words-1] = (1<<need - 1) << (64 - used)
		in.masks = append(in.masks, m)
	}
	in.whole = make([]uint64, in.words)
	for v, m := range in.masks {
		in.masks[v] = append(m, make([]uint64, in.words-len(m))...)
		for w, b := range in.masks[v] {
			in.whole[w] |= b
		}
	}
}

func (in *instance) pack(c int, key []uint64) {
	for v, m := range in.masks {
		for w, b := range m {
			if b != 0 {
				key[w] |= uint64(in.Codes[v][c]) << bits.TrailingZeros64(b)
			}
		}
	}
}

// shown masks the words of a key where the variables of a set are cut.
func (in *instance) shown(cut Set) []uint64 {
	m := slices.Clone(in.whole)
	for v, mask := range in.masks {
		if cut.Has(v) {
			for w, b := range mask {
				m[w] &^= b
			}
		}
	}
	return m
}

// lack is the set of variables that class c misses.
func (in *instance) lack(c int) Set {
	if in.lacks == nil {
		return 0
	}
	return in.lacks[c]
}

// A grouping is the classes that agree where a set of variables is cut.
type grouping struct {
	cut    Set
	of     []int32 // group of each class; -1: it misses a variable that is shown
	groups int
}

// A grouper makes groupings, one after the other, in an open-addressing table.
type grouper struct {
	in    *instance
	slots []uint64 // generation, then group
	turn  uint32
	first []int32 // class by group
	bits  int
}

func newGrouper(in *instance) *grouper {
	b := bits.Len(uint(2*in.n)) + 1
	return &grouper{in: in, slots: make([]uint64, 1<<b), bits: b, first: make([]int32, in.n)}
}

func mix(h, w uint64) uint64 {
	hi, lo := bits.Mul64(h^w, 0x9E3779B97F4A7C15)
	return hi ^ lo
}

// group fills g for a set. (Knuth 1998, 6.4: linear probing.)
func (t *grouper) group(cut Set, g *grouping) {
	if t.turn++; t.turn == 0 {
		clear(t.slots)
		t.turn = 1
	}
	in, mask := t.in, t.in.shown(cut)
	g.cut, g.groups = cut, 0
	g.of = slices.Grow(g.of[:0], in.n)[:in.n]
	for c := range in.n {
		if in.lacks != nil && in.lacks[c]&^cut != 0 {
			g.of[c] = -1
			continue
		}
		key, h := in.keys[c*in.words:(c+1)*in.words], uint64(0x243F6A8885A308D3)
		for w, m := range mask {
			h = mix(h, key[w]&m)
		}
		for at := h >> (64 - t.bits); ; at = (at + 1) & (1<<t.bits - 1) {
			s := t.slots[at]
			if uint32(s>>32) != t.turn {
				t.slots[at] = uint64(t.turn)<<32 | uint64(g.groups)
				t.first[g.groups], g.of[c] = int32(c), int32(g.groups)
				g.groups++
				break
			}
			if id := int32(uint32(s)); in.same(int(t.first[id]), key, mask) {
				g.of[c] = id
				break
			}
		}
	}
}

func (in *instance) same(c int, key, mask []uint64) bool {
	other := in.keys[c*in.words : (c+1)*in.words]
	for w, m := range mask {
		if (other[w]^key[w])&m != 0 {
			return false
		}
	}
	return true
}

// sweep calls use with the groupings of sets in their order until it says that it has enough. They are made by several workers.
func (in *instance) sweep(ctx context.Context, sets []Set, o Options, use func(*grouping) (more bool)) error {
	workers := max(1, min(o.workers(), len(sets)))
	groupers, made := make([]*grouper, workers), make([]grouping, workers)
	for w := range groupers {
		groupers[w] = newGrouper(in)
	}
	for at := 0; at < len(sets); at += workers {
		if err := ctx.Err(); err != nil {
			return err
		}
		batch := sets[at:min(len(sets), at+workers)]
		var wg sync.WaitGroup
		for w, s := range batch[1:] {
			wg.Go(func() { groupers[w+1].group(s, &made[w+1]) })
		}
		groupers[0].group(batch[0], &made[0])
		wg.Wait()
		for w := range batch {
			if !use(&made[w]) {
				return nil
			}
		}
		o.tell(int64(at+len(batch)), int64(len(sets)))
	}
	return nil
}
