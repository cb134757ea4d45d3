package bayes

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"microrisk/engine/graph"
)

// MaxSubsets is the largest number of variables for which Subsets scores all sets.
const MaxSubsets = 24

// Subsets scores all 2^K variable sets and returns them by their bits: element c is Log(c), to the last bit. The slice is the
// caller's. workers are goroutines, at most 0 for GOMAXPROCS. Errors: more than MaxSubsets variables, a context that ends.
//
// The sets are the leaves of a binary tree that takes variable after variable in or out. A node has the table over the variables
// taken in and those to come, its cells grouped by the former and sorted by the latter: to take a variable in splits groups, to
// leave it out merges cells. A group of one cell is final, its count goes to the histogram of counts and the cell is never looked
// at again.
func (s *Scores) Subsets(ctx context.Context, workers int) ([]float64, error) {
	k := s.data.Variables()
	if k > MaxSubsets {
		return nil, fmt.Errorf("all sets of %d variables are too many to score, the most is %d variables", k, MaxSubsets)
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	t := newTrie(s)
	root := t.root()
	t.free.Store(int64(workers - 1))
	stop := context.AfterFunc(ctx, func() { t.stopped.Store(true) })
	defer stop()
	w := t.walker()
	w.walk(0, 0, &root)
	t.running.Wait()
	if t.stopped.Load() {
		return nil, ctx.Err()
	}
	return t.out, nil
}

// SubsetsBytes is about the memory that Subsets takes with the given number of workers, its result included.
func (s *Scores) SubsetsBytes(workers int) int64 {
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	k, n := int64(s.data.Variables()), int64(s.data.Cells())
	perWalker := 12*n*min(k, 8) + 16*n + 12*histogramSmall
	return 8<<min(k, 40) + 8*k*n + 12*n + int64(workers)*perWalker
}

// A trie has what all walkers share. Variables are taken in an order of their own. The rank of a cell at a level is the place of
// its codes on the variables from there on among those that occur, in lexicographic order.
type trie struct {
	scores  *Scores
	order   []int      // variable of each level
	codes   [][]uint32 // codes[i][rank]: the code on the variable of level i
	next    [][]uint32 // next[i][rank]: the rank at level i+1
	first   []uint32   // rank of each cell at level 0
	out     []float64
	pool    sync.Pool
	free    atomic.Int64 // walkers that may still be started
	running sync.WaitGroup
	stopped atomic.Bool
}

// A node has the cells of groups of at least two, group by group, in each by ascending rank, all ranks of a group different.
type node struct {
	ranks  []uint32
	counts []int64
	starts []uint32 // of each group, and the end of the last
}

func newTrie(s *Scores) *trie {
	d := s.data
	k, n := d.Variables(), d.Cells()
	t := &trie{scores: s, order: entropyOrder(d), codes: make([][]uint32, k), next: make([][]uint32, k)}
	t.out = make([]float64, 1<<k)
	t.pool.New = func() any { return newWalker(t) }
	rank := make([]uint32, n) // of each cell at the level below
	cells := make([]uint32, n)
	sorted := make([]uint32, n)
	for i := range cells {
		cells[i] = uint32(i)
	}
	for i := k - 1; i >= 0; i-- {
		codes := observed(d.Codes[t.order[i]], d.Levels[t.order[i]])
		sortByCode(sorted, cells, codes)
		var c, x []uint32
		for j, cell := range sorted {
			code, below := codes[cell], rank[cell]
			if j == 0 || code != c[len(c)-1] || below != x[len(x)-1] {
				c, x = append(c, code), append(x, below)
			}
			rank[cell] = uint32(len(c) - 1)
		}
		t.codes[i], t.next[i] = c, x
		cells, sorted = sorted, cells
	}
	t.first = rank
	return t
}

// entropyOrder lists the variables with the most informative first: their sets resolve the most cells, the soonest.
func entropyOrder(d *Data) []int {
	entropy := make([]float64, d.Variables())
	for v, codes := range d.Codes {
		sums := map[uint32]int64{}
		for i, c := range codes {
			sums[c] += d.Counts[i]
		}
		list := make([]int64, 0, len(sums))
		for _, n := range sums {
			list = append(list, n)
		}
		slices.Sort(list)
		for _, n := range list {
			entropy[v] -= float64(n) * math.Log(float64(n))
		}
	}
	order := make([]int, d.Variables())
	for v := range order {
		order[v] = v
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case entropy[a] > entropy[b]:
			return -1
		case entropy[a] < entropy[b]:
			return 1
		}
		return 0
	})
	return order
}

// observed is codes, or their ranks among those that occur where there are many more levels than cells.
func observed(codes []uint32, levels int) []uint32 {
	if levels <= 4*len(codes)+1024 {
		return codes
	}
	list := slices.Clone(codes)
	slices.Sort(list)
	list = slices.Compact(list)
	ranks := make([]uint32, len(codes))
	for i, c := range codes {
		at, _ := slices.BinarySearch(list, c)
		ranks[i] = uint32(at)
	}
	return ranks
}

// sortByCode writes cells to sorted by their codes, those of the same code in the order they have.
func sortByCode(sorted, cells, codes []uint32) {
	if len(cells) == 0 {
		return
	}
	at := make([]uint32, slices.Max(codes)+2)
	for _, c := range codes {
		at[c+1]++
	}
	for c := 1; c < len(at); c++ {
		at[c] += at[c-1]
	}
	for _, cell := range cells {
		sorted[at[codes[cell]]] = cell
		at[codes[cell]]++
	}
}

// root is the whole table as one group. (Of a table of one cell the group is smaller than others are; it does no harm.)
func (t *trie) root() node {
	d := t.scores.data
	distinct := 0
	if len(t.codes) > 0 {
		distinct = len(t.codes[0])
	} else if d.Cells() > 0 {
		distinct = 1
	}
	if distinct == 0 {
		return node{}
	}
	r := node{ranks: make([]uint32, distinct), counts: make([]int64, distinct), starts: []uint32{0, uint32(distinct)}}
	for i := range r.ranks {
		r.ranks[i] = uint32(i)
	}
	for i, n := range d.Counts {
		r.counts[t.first[i]] += n
	}
	return r
}

func (t *trie) walker() *walker {
	return t.pool.Get().(*walker)
}

// spawnCells is the smallest number of cells for which another walker is started.
const spawnCells = 256

// walk scores all sets below a node: mask are the variables taken in so far.
func (w *walker) walk(level int, mask graph.Set, n *node) {
	t := w.trie
	if t.stopped.Load() {
		return
	}
	if level == len(t.order) {
		w.leaf(mask)
		return
	}
	child, done := &w.nodes[level], w.done[level][:0]
	in := mask.With(t.order[level])
	if level == len(t.order)-1 {
		// Every cell of a group differs from the others on the last variable, and on nothing else.
		for _, c := range n.counts {
			w.counts.add(c)
		}
		w.leaf(in)
		for _, c := range slices.Backward(n.counts) {
			w.counts.remove(c)
		}
		done = w.totals(n, done)
		w.leaf(mask)
		w.undo(level, done)
		return
	}
	done = w.take(level, n, child, done)
	w.descend(level+1, in, child)
	w.undo(level, done)
	done = w.leave(level, n, child, w.done[level][:0])
	w.walk(level+1, mask, child)
	w.undo(level, done)
}

// descend walks on in another goroutine if one is free and the work is worth it, else in this one.
func (w *walker) descend(level int, mask graph.Set, n *node) {
	t := w.trie
	if len(n.ranks) < spawnCells || level > len(t.order)-3 || !take(&t.free) {
		w.walk(level, mask, n)
		return
	}
	other := t.walker()
	w.counts.copyTo(other.counts)
	own := node{ranks: slices.Clone(n.ranks), counts: slices.Clone(n.counts), starts: slices.Clone(n.starts)}
	t.running.Go(func() {
		other.walk(level, mask, &own)
		other.counts.clear()
		t.pool.Put(other)
		t.free.Add(1)
	})
}

func take(free *atomic.Int64) bool {
	for {
		n := free.Load()
		if n <= 0 {
			return false
		}
		if free.CompareAndSwap(n, n-1) {
			return true
		}
	}
}

// leaf scores one set.
func (w *walker) leaf(mask graph.Set) {
	if mask == 0 {
		return
	}
	s := w.trie.scores
	score := s.score(mask, w.counts)
	w.trie.out[mask] = score
	if s.flat != nil {
		s.store(mask, score)
	}
}
