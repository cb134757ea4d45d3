package risk

import (
	"math/bits"
	"slices"
	"sort"

	"microrisk/engine/graph"
)

// An index finds the cell of a margin that a cell of any sample falls in: through a table of all possible cells where that is small,
// else through sorted numbers cut into buckets.
type index struct {
	*packer
	table   []int32  // position by number, -1 where there is none; nil if too large
	keys    []uint64 // numbers of the cells, ascending
	buckets []uint32 // where the keys of each value of key >> shift begin
	shift   uint
}

// newIndex indexes cells in ascending order of their codes; columns[v] are the codes of variable v, nil for those not in c.
func newIndex(c graph.Set, levels []int, columns [][]uint32, cells int) *index {
	x := &index{packer: newPacker(c, levels, columns, cells)}
	keys := x.pack(columns, 0, cells, make([]uint64, cells))
	if span := x.span(); span != 0 && span <= 4*uint64(cells)+1<<14 {
		x.table = make([]int32, span)
		for i := range x.table {
			x.table[i] = -1
		}
		for i, k := range keys {
			x.table[k] = int32(i)
		}
		return x
	}
	x.keys = keys
	most := uint64(0)
	if cells > 0 {
		most = keys[cells-1]
	}
	x.shift = uint(max(0, bits.Len64(most)-bits.Len(uint(cells))-1))
	x.buckets = make([]uint32, most>>x.shift+2)
	b := uint64(0)
	for i, k := range keys {
		for ; b <= k>>x.shift; b++ {
			x.buckets[b] = uint32(i)
		}
	}
	for ; b < uint64(len(x.buckets)); b++ {
		x.buckets[b] = uint32(cells)
	}
	return x
}

// indexMargin indexes the cells of a margin.
func indexMargin(m *Margin, levels []int) *index {
	columns := make([][]uint32, len(levels))
	j := 0
	for v := range m.Variables.Vertices() {
		columns[v] = m.Codes[j]
		j++
	}
	return newIndex(m.Variables, levels, columns, len(m.Counts))
}

// find writes to at the positions of the cells lo..hi-1 of a sample, -1 for those that are not there. keys is working space.
func (x *index) find(columns [][]uint32, lo, hi int, keys []uint64, at []int32) {
	keys = x.pack(columns, lo, hi, keys)
	if x.table != nil {
		for i, k := range keys {
			at[i] = -1
			if k < uint64(len(x.table)) {
				at[i] = x.table[k]
			}
		}
		return
	}
	for i, k := range keys {
		at[i] = -1
		b := k >> x.shift
		if b >= uint64(len(x.buckets)-1) { // also the number of a cell that cannot be there, the largest of all
			continue
		}
		from, to := int(x.buckets[b]), int(x.buckets[b+1])
		if to-from > 8 {
			from += sort.Search(to-from, func(j int) bool { return x.keys[from+j] >= k })
		}
		for ; from < to && x.keys[from] <= k; from++ {
			if x.keys[from] == k {
				at[i] = int32(from)
				break
			}
		}
	}
}

// cellsOf indexes the cells of a sample by all variables, whatever their order. order[p] is the cell at position p.
func cellsOf(levels []int, columns [][]uint32, cells int) (x *index, order []uint32) {
	c := graph.First(len(levels))
	p := newPacker(c, levels, columns, cells)
	order = radixOrder(p.pack(columns, 0, cells, make([]uint64, cells)))
	sorted := make([][]uint32, len(levels))
	for v := range sorted {
		sorted[v] = make([]uint32, cells)
		for i, o := range order {
			sorted[v][i] = columns[v][o]
		}
	}
	return newIndex(c, levels, sorted, cells), order
}

// distinct are the different values of a list, ascending, and the number of each element's value among them.
func distinct(list []int64) (values []int64, number []int32) {
	values = slices.Clone(list)
	slices.Sort(values)
	values = slices.Clip(slices.Compact(values))
	number = make([]int32, len(list))
	if len(values) > 0 && values[len(values)-1] < int64(4*len(list)+1024) {
		table := make([]int32, values[len(values)-1]+1)
		for i, v := range values {
			table[v] = int32(i)
		}
		for i, v := range list {
			number[i] = table[v]
		}
		return values, number
	}
	for i, v := range list {
		at, _ := slices.BinarySearch(values, v)
		number[i] = int32(at)
	}
	return values, number
}
