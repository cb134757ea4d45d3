package uniques

import (
	"context"
	"math"
	"math/bits"
)

// blockWords is the size of the blocks of classes that a level is added up for, in words of the bitmaps.
const (
	blockWords   = 16
	blockClasses = blockWords * 64
)

// A tally turns the minimal sample uniques found into scores and contributions. It counts them in integers, per class, size and
// variable, and multiplies by the weights once per size, so that no order of work can change a figure.
type tally struct {
	p       *problem
	o       *Options
	r       *Result
	weight  []float64 // times scale
	scale   float64   // see weights
	factor  []float64 // (K-s)! by size
	workers []*counts
	first   []int   // place of each variable's categories in counts.categories
	total   []int64 // minimal sample uniques of records, by size
	lists   listBuilder
}

// A counts is one worker's scratch and integer totals of a level.
type counts struct {
	lanes      []uint64 // byte lanes, a variable each: minimal sample uniques of a class that contain it
	variable   []uint32 // the same when bytes have been emptied into it, [class of the block][variable]
	known      [blockWords]uint64
	categories []int64 // minimal sample uniques of records, by variable and category
	total      int64
}

func newTally(p *problem, o *Options, r *Result) *tally {
	t := &tally{p: p, o: o, r: r}
	t.weight, t.scale = weights(o.Score, p.variables, o.MaxSize)
	t.first = make([]int, p.variables+1)
	for v := range p.variables {
		t.first[v+1] = t.first[v] + p.codes[v]
	}
	t.factor, _ = weights(Factorial, p.variables, o.MaxSize)
	t.total = make([]int64, p.variables+1)
	t.lists.init(o, r, p.n)
	return t
}

// reset takes back what has been added.
func (t *tally) reset() {
	r := t.r
	clear(r.Score)
	clear(r.IS)
	clear(r.Count)
	clear(r.MinSize)
	for v := range r.Categories {
		clear(r.Categories[v])
	}
	for v := range r.Share {
		clear(r.Share[v])
	}
	r.Visits = 0
	*t = *newTally(t.p, t.o, r)
}

func (t *tally) lanes() int { return (t.p.variables + 7) / 8 }

func (t *tally) newCounts() *counts {
	return &counts{
		lanes:      make([]uint64, blockClasses*t.lanes()),
		variable:   make([]uint32, blockClasses*t.p.variables),
		categories: make([]int64, t.first[t.p.variables]),
	}
}

func (t *tally) start() {
	if t.workers == nil {
		for range t.o.Workers {
			t.workers = append(t.workers, t.newCounts())
		}
	}
}

// addLevel adds the minimal sample uniques of one size: the classes done on a set of l but on none of its subsets below.
func (t *tally) addLevel(ctx context.Context, l, below *level) error {
	t.start()
	t.lists.startLevel(l)
	blocks := (len(t.p.base) + blockWords - 1) / blockWords
	err := inParallel(ctx, t.o.Workers, blocks, func(worker, b int) {
		t.addBlock(t.workers[worker], l, below, b)
	})
	t.endLevel(l.size)
	return err
}

// addBlock adds one block of classes.
func (t *tally) addBlock(c *counts, l, below *level, block int) {
	from := block * blockWords
	known := c.known[:min(blockWords, len(t.p.base)-from)]
	lanes := t.lanes()
	add := make([]uint64, lanes)
	pending := 0
	any := false
	for i := range l.count {
		set := l.set(i)
		below.known(t.p, set, from, known)
		done := l.done(i)[from : from+len(known)]
		found := false
		for w, k := range known {
			fresh := done[w] &^ k
			if fresh == 0 {
				continue
			}
			if !found {
				found = true
				spreadSet(set, add)
			}
			for ; fresh != 0; fresh &= fresh - 1 {
				class := (w<<6 | bits.TrailingZeros64(fresh)) * lanes
				for j, x := range add {
					c.lanes[class+j] += x
				}
			}
		}
		if !found {
			continue
		}
		any = true
		if pending++; pending == 255 {
			c.empty(t, len(known)*64)
			pending = 0
		}
	}
	if !any {
		return
	}
	c.empty(t, len(known)*64)
	n := min(len(known)*64, t.p.n-from*64)
	for j := range n {
		row := c.variable[j*t.p.variables : (j+1)*t.p.variables]
		t.addClass(c, from*64+j, l.size, row)
	}
	t.lists.addBlock(t.p, l, below, c, block)
	clear(c.variable)
}

// spreadSet puts a 1 into the byte lane of each variable of a set.
func spreadSet(set uint64, lanes []uint64) {
	clear(lanes)
	for ; set != 0; set &= set - 1 {
		v := bits.TrailingZeros64(set)
		lanes[v/8] |= 1 << (v % 8 * 8)
	}
}

// empty adds the byte lanes to the wide counts, before they can overflow.
func (c *counts) empty(t *tally, classes int) {
	lanes, variables := t.lanes(), t.p.variables
	for j := range classes {
		for l := range lanes {
			x := c.lanes[j*lanes+l]
			if x == 0 {
				continue
			}
			c.lanes[j*lanes+l] = 0
			for v := l * 8; x != 0; v++ {
				c.variable[j*variables+v] += uint32(x & 0xff)
				x >>= 8
			}
		}
	}
}

// addClass adds a class's minimal sample uniques of one size to its figures; with[v] of them contain variable v.
func (t *tally) addClass(c *counts, class, size int, with []uint32) {
	var sum uint64
	for _, n := range with {
		sum += uint64(n)
	}
	if sum == 0 {
		return
	}
	n := sum / uint64(size) // every set has that many variables
	id := t.p.class(class)
	r := t.r
	r.Score[id] += float64(n) * t.weight[size]
	r.IS[id] += float64(n) * t.factor[size]
	r.Count[id] = int32(min(uint64(r.Count[id])+n, math.MaxInt32))
	if r.MinSize[id] == 0 {
		r.MinSize[id] = int32(size)
	}
	records := t.p.table.Count(id)
	c.total += int64(n) * records
	for v, m := range with {
		if m == 0 {
			continue
		}
		c.categories[t.first[v]+t.p.code(class, v)] += int64(m) * records
		if r.Share != nil {
			r.Share[v][id] += float64(m) * t.weight[size]
		}
	}
}

// endLevel brings the workers' integer totals together.
func (t *tally) endLevel(size int) {
	for v := range t.p.variables {
		for code := range t.p.codes[v] {
			var n int64
			for _, c := range t.workers {
				n += c.categories[t.first[v]+code]
				c.categories[t.first[v]+code] = 0
			}
			if n == 0 {
				continue
			}
			t.r.Categories[v][code] += float64(n) * t.weight[size]
		}
	}
	for _, c := range t.workers {
		t.total[size] += c.total
		c.total = 0
	}
}

// emptySet records that the empty set is the minimal sample unique of every class.
func (t *tally) emptySet() {
	for i := range t.p.n {
		id := t.p.class(i)
		t.r.Score[id] = t.weight[0]
		t.r.IS[id] = t.factor[0]
		t.r.Count[id] = 1
	}
	t.total[0] = t.p.records
	t.lists.emptySet(t.p)
}

// finish makes the file's figures and turns shares into percent.
func (t *tally) finish() {
	r := t.r
	r.BySize = t.total[1:]
	for s, n := range t.total {
		if n != 0 {
			r.FileScore += float64(n) * t.weight[s]
			r.FileIS += float64(n) * t.factor[s]
		}
	}
	for v := range r.Variables {
		for _, x := range r.Categories[v] {
			r.Variables[v] += x
		}
	}
	for v := range r.Categories {
		r.Variables[v] /= t.scale
		for code := range r.Categories[v] {
			r.Categories[v][code] /= t.scale
		}
	}
	r.FileScore /= t.scale
	// A share takes the scores as they are before they are scaled.
	_ = inParallel(context.Background(), t.o.Workers, len(r.Share), func(_, v int) {
		share := r.Share[v]
		for i, score := range r.Score {
			if score == 0 {
				share[i] = math.NaN()
			} else {
				share[i] = 100 * share[i] / score
			}
		}
	})
	for i := range r.Score {
		r.Score[i] /= t.scale
	}
	t.lists.finish(t.p)
}
