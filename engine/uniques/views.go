package uniques

import (
	"cmp"
	"math/bits"
	"slices"
)

// A view has the distinct keys of some classes on the variables from one place of an order on, ascending: those before are left out. The
// variables' fields stand in the keys in that order, the first on top.
type view struct {
	from   int
	keys   []uint64
	weight []uint32 // records of each key, at most k+1
	origin []uint32 // an entry of the first view with that key
	up     []uint32 // the entry of the next view
	safe   bool     // whether every key has more than k records
}

// A layout is the order of the variables in the keys of views.
type layout struct {
	order []int    // variables
	part  []uint64 // bits of each place's variable
	from  []uint64 // bits of the variables from a place on
	shift []uint8  // lowest bit of each place's variable
}

// newLayout puts the variables first that split the classes best.
func (p *problem) newLayout() *layout {
	l := &layout{order: p.bySplit(), part: make([]uint64, p.variables), from: make([]uint64, p.variables+1), shift: make([]uint8, p.variables)}
	at := uint8(0)
	for j := p.variables - 1; j >= 0; j-- {
		f := p.fields[l.order[j]]
		l.part[j], l.shift[j] = (1<<f.bits-1)<<at, at
		l.from[j] = l.from[j+1] | l.part[j]
		at += f.bits
	}
	return l
}

// bySplit orders the variables by the mean size of the blocks that they split the classes into.
func (p *problem) bySplit() []int {
	size := p.blockSizes()
	order := make([]int, p.variables)
	for v := range order {
		order[v] = v
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(size[a], size[b]) })
	return order
}

// blockSizes gives for each variable the mean size of the block that a class lies in, times the number of classes.
func (p *problem) blockSizes() []float64 {
	size := make([]float64, p.variables)
	for v := range size {
		count := make([]int, p.codes[v])
		f := p.fields[v]
		for _, k := range p.keys[f.word] {
			count[k>>f.shift&(1<<f.bits-1)]++
		}
		for _, n := range count {
			size[v] += float64(n) * float64(n)
		}
	}
	return size
}

// A radix sorts keys with a number each, by some bits.
type radix struct {
	keys, spareKeys []uint64
	ids, spareIDs   []uint32
}

const radixBits = 11

// load takes keys in, numbered from 0.
func (r *radix) load(keys []uint64, mask uint64) {
	n := len(keys)
	if cap(r.keys) < n {
		r.keys, r.spareKeys, r.ids, r.spareIDs = make([]uint64, n), make([]uint64, n), make([]uint32, n), make([]uint32, n)
	}
	r.keys, r.spareKeys, r.ids, r.spareIDs = r.keys[:n], r.spareKeys[:n], r.ids[:n], r.spareIDs[:n]
	for i, k := range keys {
		r.keys[i], r.ids[i] = k&mask, uint32(i)
	}
}

// sort orders by the lower bits.
func (r *radix) sort(width int) {
	passes := (width + radixBits - 1) / radixBits
	for pass := range passes {
		// The digits are of about the same length.
		low, high := width*pass/passes, width*(pass+1)/passes
		var starts [1 << radixBits]uint32
		mask := uint64(1)<<(high-low) - 1
		for _, k := range r.keys {
			starts[k>>low&mask&(1<<radixBits-1)]++
		}
		sum := uint32(0)
		for i, n := range starts[:mask+1] {
			starts[i] = sum
			sum += n
		}
		for i, k := range r.keys {
			to := &starts[k>>low&mask&(1<<radixBits-1)]
			r.spareKeys[*to], r.spareIDs[*to] = k, r.ids[i]
			*to++
		}
		r.keys, r.spareKeys, r.ids, r.spareIDs = r.spareKeys, r.keys, r.spareIDs, r.ids
	}
}

// next makes the view without the first variable of a view.
func (r *radix) next(v, out *view, l *layout, k int64) {
	r.load(v.keys, l.from[v.from+1])
	r.sort(bits.Len64(l.from[v.from+1]))
	v.up = grown(v.up, len(v.keys))
	out.from, out.keys, out.weight, out.origin, out.safe = v.from+1, out.keys[:0], out.weight[:0], out.origin[:0], true
	last := -1
	for i, key := range r.keys {
		id := r.ids[i]
		id0 := id
		if last < 0 || key != out.keys[last] {
			last++
			out.keys = append(out.keys, key)
			out.weight = append(out.weight, v.weight[id])
			if v.origin != nil {
				id0 = v.origin[id]
			}
			out.origin = append(out.origin, id0)
		} else {
			out.weight[last] = uint32(min(int64(out.weight[last])+int64(v.weight[id]), k+1))
		}
		v.up[id] = uint32(last)
	}
	for _, w := range out.weight {
		out.safe = out.safe && int64(w) > k
	}
}

// grown is a slice of a length, whatever it held.
func grown[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}

// blocks calls f for every run of keys that are equal in the view's first variable.
func (v *view) blocks(l *layout, f func(from, to int)) {
	part := l.part[v.from]
	for from := 0; from < len(v.keys); {
		to := from + 1
		for to < len(v.keys) && (v.keys[to]^v.keys[from])&part == 0 {
			to++
		}
		f(from, to)
		from = to
	}
}
