package uniques

import (
	"cmp"
	"math/bits"
	"slices"
)

// lists holds the minimal sample uniques of all classes in one piece: those of class i are sets[offset[i]:offset[i+1]].
type lists struct {
	offset []int64
	sets   []uint64
}

// MSUs appends the minimal sample uniques of class i to dst as sets of variables (bit v for variable v), by size and then key
// order. The search must have been asked for them.
func (r *Result) MSUs(i int, dst []uint64) []uint64 {
	if r.msus.offset == nil {
		return dst
	}
	return append(dst, r.msus.sets[r.msus.offset[i]:r.msus.offset[i+1]]...)
}

// A listBuilder keeps the sets block by block and size by size, and sorts them by class at the end.
type listBuilder struct {
	on     bool
	r      *Result
	levels []listLevel
	found  []found // from a downward search
	empty  bool

	byClass func(class int, dst []uint64) []uint64 // from a nested search
}

// A listLevel holds the sets of one size: those of the first class of a block, then of the second, and so on.
type listLevel struct {
	blocks [][]uint64
	counts [][]uint32 // by block and class of the block
}

func (b *listBuilder) init(o *Options, r *Result, classes int) {
	b.on, b.r = o.MSUs, r
	if b.on {
		r.msus.offset = make([]int64, len(r.Count)+1)
	}
}

func (b *listBuilder) startLevel(l *level) {
	if b.on {
		b.levels = append(b.levels, listLevel{})
		n := (l.room.words + blockWords - 1) / blockWords
		b.levels[len(b.levels)-1].blocks = make([][]uint64, n)
		b.levels[len(b.levels)-1].counts = make([][]uint32, n)
	}
}

// addBlock keeps the sets of a block; c.variable holds how many contain each variable.
func (b *listBuilder) addBlock(p *problem, l, below *level, c *counts, block int) {
	if !b.on {
		return
	}
	from := block * blockWords
	known := c.known[:min(blockWords, len(p.base)-from)]
	count := make([]uint32, len(known)*64)
	place := make([]int, len(count))
	total := 0
	for j := range count {
		sum := 0
		for _, n := range c.variable[j*p.variables : (j+1)*p.variables] {
			sum += int(n)
		}
		count[j] = uint32(sum / l.size)
		place[j] = total
		total += int(count[j])
	}
	// The sets are held twice in the end: here, and by class.
	if !p.budget.take(int64(16*total + 12*len(count))) {
		return
	}
	sets := make([]uint64, total)
	for i := range l.count {
		set := l.set(i)
		below.known(p, set, from, known)
		for w, k := range known {
			for fresh := l.done(i)[from+w] &^ k; fresh != 0; fresh &= fresh - 1 {
				j := w<<6 | bits.TrailingZeros64(fresh)
				sets[place[j]] = set
				place[j]++
			}
		}
	}
	last := &b.levels[len(b.levels)-1]
	last.blocks[block], last.counts[block] = sets, count
}

// addListings keeps the sets of all classes, of places in an order of the variables, and tells whether there is memory for them.
func (b *listBuilder) addListings(p *problem, order []int, sets func(class int) []uint32) bool {
	b.byClass = func(class int, dst []uint64) []uint64 {
		from := len(dst)
		for _, s := range sets(class) {
			var set uint64
			for ; s != 0; s &= s - 1 {
				set |= 1 << order[bits.TrailingZeros32(s)]
			}
			dst = append(dst, set)
		}
		slices.SortFunc(dst[from:], compareSets)
		return dst
	}
	total := 0
	for i := range p.n {
		total += len(sets(i))
	}
	return p.budget.take(8 * int64(total))
}

func (b *listBuilder) emptySet(p *problem) { b.empty = true }

// finish puts the sets of each class together.
func (b *listBuilder) finish(p *problem) {
	if !b.on {
		return
	}
	m := &b.r.msus
	var total int64
	for i, n := range b.r.Count {
		m.offset[i] = total
		total += int64(n)
	}
	m.offset[len(b.r.Count)] = total
	m.sets = make([]uint64, total)
	if b.empty {
		return
	}
	for i := 0; b.byClass != nil && i < p.n; i++ {
		at := m.offset[p.class(i)]
		b.byClass(i, m.sets[at:at])
	}
	filled := make([]int32, len(b.r.Count))
	slices.SortFunc(b.found, func(x, y found) int {
		return cmp.Or(cmp.Compare(x.class, y.class), compareSets(uint64(x.set), uint64(y.set)))
	})
	for _, f := range b.found {
		id := p.class(int(f.class))
		m.sets[m.offset[id]+int64(filled[id])] = uint64(f.set)
		filled[id]++
	}
	for l := range b.levels {
		level := &b.levels[l]
		for block, sets := range level.blocks {
			at := 0
			for j, n := range level.counts[block] {
				if n == 0 {
					continue
				}
				id := p.class(block*blockClasses + j)
				copy(m.sets[m.offset[id]+int64(filled[id]):], sets[at:at+int(n)])
				filled[id] += int32(n)
				at += int(n)
			}
		}
		level.blocks, level.counts = nil, nil
	}
}

// compareSets orders sets of variables by size, then by their variables.
func compareSets(a, b uint64) int {
	return cmp.Or(cmp.Compare(bits.OnesCount64(a), bits.OnesCount64(b)), cmp.Compare(bits.Reverse64(b), bits.Reverse64(a)))
}
