package uniques

import (
	"context"
	"math/bits"
	"slices"

	"microrisk/engine/contingency"
)

// A problem is a table prepared for the search: the classes that are not dropped, numbered from 0, with their keys packed anew.
type problem struct {
	table     *contingency.Table
	variables int
	k         int64 // threshold
	n         int   // classes searched
	ids       []int // class of the table for each, nil when none is dropped
	records   int64
	codes     []int // number of codes of each variable, missing included

	fields []field
	words  int
	keys   [][]uint64 // keys[w][i]: word w of the key of class i

	base   []uint64 // bit i set beyond the last class
	many   []uint64 // classes of more than k records, and bits beyond the last class
	weight []uint32 // records of each class, at most k+1; nil when k is 1

	ignored [][]uint64 // ignored[v]: classes that miss v under Ignore; nil when there are none
	wild    [][]uint64 // wild[v]: classes that miss v under Wildcard; nil when there are none
	anyWild bool
	gaps    []gap     // the incomplete ones under Wildcard
	parted  []float64 // into how many blocks each variable parts the classes, where anyWild
	budget  *meter

	covers     []*cover // by the variables of coverOrder that they leave out; nil when there are none
	coverOrder []int
}

// A field is the place of a variable in the packed keys.
type field struct {
	word  int
	shift uint8
	bits  uint8
}

func (f field) mask() uint64 { return (1<<f.bits - 1) << f.shift }

// policy of variable v.
func (o *Options) policy(v int) Policy {
	if o.Policies == nil {
		return Category
	}
	return o.Policies[v]
}

func newProblem(t *contingency.Table, o *Options) (*problem, error) {
	p := &problem{table: t, variables: len(t.Variables), k: o.Threshold, n: t.Classes(), records: t.Records(), budget: &meter{limit: o.Memory}}
	p.place(o.Workers)
	p.drop(o)
	size := (p.n + 63) / 64
	p.base = make([]uint64, size)
	if p.n%64 != 0 {
		p.base[size-1] = ^uint64(0) << (p.n % 64)
	}
	p.many = append([]uint64(nil), p.base...)
	if p.k > 1 {
		p.weight = make([]uint32, p.n)
	}
	for i := range p.n {
		c := t.Count(p.class(i))
		if c > p.k {
			p.many[i>>6] |= 1 << (i & 63)
		}
		if p.weight != nil {
			p.weight[i] = uint32(min(c, p.k+1))
		}
	}
	p.pack(o.Workers)
	p.ignored = p.missing(o, Ignore)
	p.wild = p.missing(o, Wildcard)
	for _, w := range p.wild {
		p.anyWild = p.anyWild || w != nil
	}
	if p.anyWild {
		p.gaps, p.parted = p.gapsOf(), p.blockSizes()
		for v, size := range p.parted {
			p.parted[v] = float64(p.n) * float64(p.n) / size
		}
	}
	return p, nil
}

// class is the table's class of class i of the search.
func (p *problem) class(i int) int {
	if p.ids == nil {
		return i
	}
	return p.ids[i]
}

// recordsOf class i, at most k+1.
func (p *problem) recordsOf(i uint32) uint32 {
	if p.weight != nil {
		return p.weight[i]
	}
	return 1 + uint32(p.many[i>>6]>>(i&63)&1)
}

// place gives every variable a field that holds the largest of its codes that occurs.
func (p *problem) place(workers int) {
	p.fields = make([]field, p.variables)
	p.codes = make([]int, p.variables)
	p.words = 1
	used := 0
	largest := make([]uint32, p.variables)
	_ = inParallel(context.Background(), workers, p.variables, func(_, v int) {
		codes := make([]uint32, chunk)
		for from := 0; from < p.n; from += chunk {
			part := codes[:min(chunk, p.n-from)]
			p.table.Codes(v, from, part)
			largest[v] = max(largest[v], slices.Max(part))
		}
	})
	for v := range p.fields {
		p.codes[v] = int(p.table.Variables[v].Missing()) + 1
		need := bits.Len32(largest[v])
		if used+need > 64 {
			p.words++
			used = 0
		}
		p.fields[v] = field{p.words - 1, uint8(used), uint8(need)}
		used += need
	}
}

const chunk = 4096

// drop leaves out classes that miss a variable of policy Drop.
func (p *problem) drop(o *Options) {
	var dropped []bool
	codes := make([]uint32, chunk)
	for v := range p.variables {
		if o.policy(v) != Drop {
			continue
		}
		if dropped == nil {
			dropped = make([]bool, p.n)
		}
		for from := 0; from < p.n; from += chunk {
			part := codes[:min(chunk, p.n-from)]
			p.table.Codes(v, from, part)
			for i, c := range part {
				if int(c) == p.codes[v]-1 {
					dropped[from+i] = true
				}
			}
		}
	}
	any := false
	for i, d := range dropped {
		if d {
			any = true
			p.records -= p.table.Count(i)
		}
	}
	if !any {
		return
	}
	p.ids = []int{}
	for i, d := range dropped {
		if !d {
			p.ids = append(p.ids, i)
		}
	}
	p.n = len(p.ids)
}

// pack fills the keys.
func (p *problem) pack(workers int) {
	p.keys = make([][]uint64, p.words)
	for w := range p.keys {
		p.keys[w] = make([]uint64, p.n)
	}
	if p.ids == nil {
		_ = inParallel(context.Background(), workers, (p.n+chunk-1)/chunk, func(_, b int) {
			var codes [chunk]uint32
			from := b * chunk
			part := codes[:min(chunk, p.n-from)]
			for v, f := range p.fields {
				p.table.Codes(v, from, part)
				key := p.keys[f.word][from : from+len(part)]
				for i, c := range part {
					key[i] |= uint64(c) << (f.shift & 63)
				}
			}
		})
	}
	for i, id := range p.ids {
		for v, f := range p.fields {
			p.keys[f.word][i] |= uint64(p.table.Code(id, v)) << f.shift
		}
	}
}

// code of class i of the search on variable v.
func (p *problem) code(i, v int) int {
	f := p.fields[v]
	return int(p.keys[f.word][i] >> f.shift & (1<<f.bits - 1))
}

// missing marks the classes that miss each variable of a policy.
func (p *problem) missing(o *Options, policy Policy) [][]uint64 {
	out := make([][]uint64, p.variables)
	for v := range out {
		if o.policy(v) != policy {
			continue
		}
		for i := range p.n {
			if p.code(i, v) == p.codes[v]-1 {
				if out[v] == nil {
					out[v] = make([]uint64, len(p.base))
				}
				out[v][i>>6] |= 1 << (i & 63)
			}
		}
	}
	return out
}

// A mask is the part of a set of variables that lies in one word of the keys.
type mask struct {
	word int
	bits uint64
}

// masks of a set of variables; none for the empty set.
func (p *problem) masks(set uint64, dst []mask) []mask {
	dst = dst[:0]
	for ; set != 0; set &= set - 1 {
		f := p.fields[bits.TrailingZeros64(set)]
		if n := len(dst); n > 0 && dst[n-1].word == f.word {
			dst[n-1].bits |= f.mask()
		} else if f.bits > 0 {
			dst = append(dst, mask{f.word, f.mask()})
		}
	}
	return dst
}
