package risk

import (
	"fmt"
	"math"
	"math/bits"
	"slices"

	"microrisk/engine/graph"
)

// A packer turns the codes of cells on some variables into one number, in lexicographic order of the codes. Where the levels are
// too many for 64 bits, the number so far is replaced by its rank among those that occur, part by part.
type packer struct {
	parts []part
}

type part struct {
	variables []int
	radix     []uint64
	ranks     []uint64 // the numbers that occur, ascending, if another part follows
}

// span is the number of values that the last part can have, 0 where it is 2^64 or more.
func (p *packer) span() uint64 {
	last := p.parts[len(p.parts)-1]
	n := uint64(1)
	if len(p.parts) > 1 {
		n = uint64(len(p.parts[len(p.parts)-2].ranks))
	}
	for _, r := range last.radix {
		hi, lo := bits.Mul64(n, r)
		if hi != 0 {
			return 0
		}
		n = lo
	}
	return n
}

const absent = math.MaxUint64 // the packed number of codes that do not occur

// newPacker packs the variables of c. columns are those of all variables; they are the cells that are meant to occur.
func newPacker(c graph.Set, levels []int, columns [][]uint32, cells int) *packer {
	p := &packer{parts: []part{{}}}
	size := uint64(1)
	for v := range c.Vertices() {
		r := uint64(levels[v])
		if hi, lo := bits.Mul64(size, r); hi == 0 && lo < 1<<63 {
			size = lo
		} else {
			keys := p.pack(columns, 0, cells, make([]uint64, cells))
			slices.Sort(keys)
			keys = slices.Compact(keys)
			p.parts[len(p.parts)-1].ranks = slices.Clip(keys)
			p.parts = append(p.parts, part{})
			size = uint64(max(1, len(keys))) * r
		}
		last := &p.parts[len(p.parts)-1]
		last.variables = append(last.variables, v)
		last.radix = append(last.radix, r)
	}
	return p
}

// pack writes the numbers of the cells lo..hi-1 to keys, absent for those that have none.
func (p *packer) pack(columns [][]uint32, lo, hi int, keys []uint64) []uint64 {
	keys = keys[:hi-lo]
	clear(keys)
	for _, t := range p.parts {
		for j, v := range t.variables {
			r := t.radix[j]
			for k, c := range columns[v][lo:hi] {
				keys[k] = keys[k]*r + uint64(c)
			}
		}
		if t.ranks == nil {
			continue
		}
		for k, key := range keys {
			if at, ok := slices.BinarySearch(t.ranks, key); ok {
				keys[k] = uint64(at)
			} else {
				return p.packWithGaps(columns, lo, hi, keys)
			}
		}
	}
	return keys
}

// packWithGaps is pack cell by cell, where some do not occur.
func (p *packer) packWithGaps(columns [][]uint32, lo, hi int, keys []uint64) []uint64 {
	for i := lo; i < hi; i++ {
		key := uint64(0)
		for _, t := range p.parts {
			for j, v := range t.variables {
				key = key*t.radix[j] + uint64(columns[v][i])
			}
			if t.ranks == nil {
				continue
			}
			at, ok := slices.BinarySearch(t.ranks, key)
			if !ok {
				key = absent
				break
			}
			key = uint64(at)
		}
		keys[i-lo] = key
	}
	return keys
}

// newMargin sums the counts of cells over the variables of c.
func newMargin(c graph.Set, levels []int, columns [][]uint32, counts []int64) Margin {
	p := newPacker(c, levels, columns, len(counts))
	keys := p.pack(columns, 0, len(counts), make([]uint64, len(counts)))
	var firsts []uint32
	m := Margin{Variables: c}
	if span := p.span(); span != 0 && span <= 2*uint64(len(counts))+1<<10 {
		firsts, m.Counts = denseSum(keys, counts, int(span))
	} else {
		firsts, m.Counts = sortedSum(keys, counts)
	}
	for v := range c.Vertices() {
		codes := make([]uint32, len(firsts))
		for i, f := range firsts {
			codes[i] = columns[v][f]
		}
		m.Codes = append(m.Codes, codes)
	}
	return m
}

// denseSum sums the counts of equal keys below span: for each key that occurs, ascending, the first cell that has it and the sum.
func denseSum(keys []uint64, counts []int64, span int) (firsts []uint32, sums []int64) {
	all := make([]int64, span)
	first := make([]uint32, span)
	n := 0
	for i, k := range keys {
		if all[k] == 0 {
			first[k] = uint32(i)
			n++
		}
		all[k] += counts[i]
	}
	firsts, sums = make([]uint32, 0, n), make([]int64, 0, n)
	for k, s := range all {
		if s != 0 {
			firsts, sums = append(firsts, first[k]), append(sums, s)
		}
	}
	return firsts, sums
}

// sortedSum is denseSum for keys of any size.
func sortedSum(keys []uint64, counts []int64) (firsts []uint32, sums []int64) {
	order := radixOrder(keys)
	for i, k := range order {
		if i > 0 && keys[k] == keys[order[i-1]] {
			sums[len(sums)-1] += counts[k]
		} else {
			firsts, sums = append(firsts, k), append(sums, counts[k])
		}
	}
	return slices.Clip(firsts), slices.Clip(sums)
}

// radixOrder is the stable ascending order of keys.
func radixOrder(keys []uint64) []uint32 {
	const digit = 11
	most := uint64(0)
	for _, k := range keys {
		most = max(most, k)
	}
	order := make([]uint32, len(keys))
	for i := range order {
		order[i] = uint32(i)
	}
	next := make([]uint32, len(keys))
	for shift := 0; shift < bits.Len64(most); shift += digit {
		var starts [1 << digit]uint32
		for _, k := range keys {
			starts[k>>shift&(1<<digit-1)]++
		}
		sum := uint32(0)
		for d, n := range starts {
			starts[d] = sum
			sum += n
		}
		for _, i := range order {
			d := keys[i] >> shift & (1<<digit - 1)
			next[starts[d]] = i
			starts[d]++
		}
		order, next = next, order
	}
	return order
}

// check tells what is wrong with a margin of a law of n records.
func (m *Margin) check(levels []int, n int64) error {
	if m.Variables == 0 || !graph.First(len(levels)).Contains(m.Variables) {
		return fmt.Errorf("its variables are not among the %d of the law", len(levels))
	}
	if len(m.Codes) != m.Variables.Len() {
		return fmt.Errorf("%d columns of codes for %d variables", len(m.Codes), m.Variables.Len())
	}
	j := 0
	for v := range m.Variables.Vertices() {
		if len(m.Codes[j]) != len(m.Counts) {
			return fmt.Errorf("%d codes of variable %d for %d counts", len(m.Codes[j]), v, len(m.Counts))
		}
		for i, c := range m.Codes[j] {
			if int64(c) >= int64(levels[v]) {
				return fmt.Errorf("code %d of variable %d in cell %d, want less than its %d levels", c, v, i, levels[v])
			}
		}
		j++
	}
	sum := int64(0)
	for i, f := range m.Counts {
		if f < 1 || f > n-sum {
			return fmt.Errorf("count %d in cell %d: counts must be at least 1 and sum to the %d records", f, i, n)
		}
		sum += f
		if i > 0 && !m.ascends(i) {
			return fmt.Errorf("cell %d does not follow the one before in order of codes", i)
		}
	}
	if sum != n {
		return fmt.Errorf("counts sum to %d, want the %d records", sum, n)
	}
	return nil
}

// ascends tells whether cell i comes after cell i-1.
func (m *Margin) ascends(i int) bool {
	for _, codes := range m.Codes {
		if codes[i] != codes[i-1] {
			return codes[i] > codes[i-1]
		}
	}
	return false
}
