package bayes

import "math/bits"

// A walker goes through a part of the tree of variable sets.
type walker struct {
	trie   *trie
	nodes  []node
	done   [][]int64  // counts that became final at each level
	counts *histogram // of the final cells of the path
	sums   []int64    // by rank, all 0 between uses
	bits   []uint64   // bit of each rank whose sum is not 0
	ranks  []uint32   // cells that are being merged
	values []int64
	ranks2 []uint32
	value2 []int64
	runs   []int
}

func newWalker(t *trie) *walker {
	most := 0
	for _, c := range t.codes {
		most = max(most, len(c))
	}
	return &walker{
		trie: t, nodes: make([]node, len(t.order)), done: make([][]int64, len(t.order)), counts: newHistogram(),
		sums: make([]int64, most), bits: make([]uint64, most/64+1),
	}
}

// undo takes the counts that became final at a level out of the histogram again, and keeps their memory.
func (w *walker) undo(level int, done []int64) {
	for _, c := range done {
		w.counts.remove(c)
	}
	w.done[level] = done
}

// totals makes the total of each group final.
func (w *walker) totals(n *node, done []int64) []int64 {
	for g := 1; g < len(n.starts); g++ {
		sum := int64(0)
		for _, c := range n.counts[n.starts[g-1]:n.starts[g]] {
			sum += c
		}
		w.counts.add(sum)
		done = append(done, sum)
	}
	return done
}

// take makes the child that has the variable of a level taken in: groups are split into runs of its codes.
func (w *walker) take(level int, n, child *node, done []int64) []int64 {
	codes, next := w.trie.codes[level], w.trie.next[level]
	ranks, counts, starts := child.ranks[:0], child.counts[:0], append(child.starts[:0], 0)
	for g := 1; g < len(n.starts); g++ {
		end := int(n.starts[g])
		for i := int(n.starts[g-1]); i < end; {
			code := codes[n.ranks[i]]
			j := i + 1
			for j < end && codes[n.ranks[j]] == code {
				j++
			}
			if j == i+1 {
				w.counts.add(n.counts[i])
				done = append(done, n.counts[i])
				i = j
				continue
			}
			for ; i < j; i++ {
				ranks, counts = append(ranks, next[n.ranks[i]]), append(counts, n.counts[i])
			}
			starts = append(starts, uint32(len(ranks)))
		}
	}
	child.ranks, child.counts, child.starts = ranks, counts, starts
	return done
}

// leave makes the child that has the variable of a level left out: cells of a group that are equal on the rest are merged.
func (w *walker) leave(level int, n, child *node, done []int64) []int64 {
	codes, next := w.trie.codes[level], w.trie.next[level]
	child.ranks, child.counts, child.starts = child.ranks[:0], child.counts[:0], append(child.starts[:0], 0)
	for g := 1; g < len(n.starts); g++ {
		from, to := n.starts[g-1], n.starts[g]
		ranks, counts := n.ranks[from:to], n.counts[from:to]
		at := len(child.ranks)
		switch {
		case codes[ranks[0]] == codes[ranks[len(ranks)-1]]:
			for _, r := range ranks {
				child.ranks = append(child.ranks, next[r])
			}
			child.counts = append(child.counts, counts...)
		case len(ranks) <= insertCells:
			insert(child, ranks, counts, next)
		default:
			w.merge(child, ranks, counts, next)
		}
		if len(child.ranks) == at+1 {
			w.counts.add(child.counts[at])
			done = append(done, child.counts[at])
			child.ranks, child.counts = child.ranks[:at], child.counts[:at]
			continue
		}
		child.starts = append(child.starts, uint32(len(child.ranks)))
	}
	return done
}

// insertCells is the largest number of cells that are merged by insertion.
const insertCells = 16

// insert adds cells to the end of a node one by one, sorted by their next rank, equal ones summed.
func insert(child *node, ranks []uint32, counts []int64, next []uint32) {
	at := len(child.ranks)
	for i, r := range ranks {
		r = next[r]
		j := len(child.ranks)
		for j > at && child.ranks[j-1] > r {
			j--
		}
		if j > at && child.ranks[j-1] == r {
			child.counts[j-1] += counts[i]
			continue
		}
		child.ranks, child.counts = append(child.ranks, r), append(child.counts, counts[i])
		if j < len(child.ranks)-1 {
			copy(child.ranks[j+1:], child.ranks[j:])
			copy(child.counts[j+1:], child.counts[j:])
			child.ranks[j], child.counts[j] = r, counts[i]
		}
	}
}

// merge adds many cells to the end of a node, sorted by their next rank, equal ones summed: by sums in an array where the ranks
// lie densely, else by merging runs that ascend.
func (w *walker) merge(child *node, ranks []uint32, counts []int64, next []uint32) {
	low, high := next[ranks[0]], next[ranks[0]]
	w.ranks, w.runs = w.ranks[:0], append(w.runs[:0], 0)
	for i, r := range ranks {
		r = next[r]
		if i > 0 && r <= w.ranks[i-1] {
			w.runs = append(w.runs, i)
		}
		w.ranks = append(w.ranks, r)
		low, high = min(low, r), max(high, r)
	}
	if int(high-low)/64 > 2*bits.Len(uint(len(w.runs)))*len(ranks) {
		w.mergeRuns(child, counts)
		return
	}
	for i, r := range w.ranks {
		w.sums[r] += counts[i]
		w.bits[r>>6] |= 1 << (r & 63)
	}
	for x := low >> 6; x <= high>>6; x++ {
		for word := w.bits[x]; word != 0; word &= word - 1 {
			r := x<<6 | uint32(bits.TrailingZeros64(word))
			child.ranks, child.counts = append(child.ranks, r), append(child.counts, w.sums[r])
			w.sums[r] = 0
		}
		w.bits[x] = 0
	}
}

// mergeRuns merges the ascending runs of w.ranks two by two.
func (w *walker) mergeRuns(child *node, counts []int64) {
	w.values = append(w.values[:0], counts...)
	for len(w.runs) > 1 {
		w.ranks2, w.value2 = w.ranks2[:0], w.value2[:0]
		runs := 0
		for i := 0; i < len(w.runs); i += 2 {
			start, middle, end := w.runs[i], len(w.ranks), len(w.ranks)
			if i+1 < len(w.runs) {
				middle = w.runs[i+1]
			}
			if i+2 < len(w.runs) {
				end = w.runs[i+2]
			}
			w.runs[runs] = len(w.ranks2)
			runs++
			w.mergeTwo(start, middle, end)
		}
		w.runs = w.runs[:runs]
		w.ranks, w.ranks2 = w.ranks2, w.ranks
		w.values, w.value2 = w.value2, w.values
	}
	child.ranks, child.counts = append(child.ranks, w.ranks...), append(child.counts, w.values...)
}

// mergeTwo adds the runs [a, middle) and [middle, end) to the end of w.ranks2, equal ranks summed.
func (w *walker) mergeTwo(a, middle, end int) {
	b := middle
	for a < middle && b < end {
		x, y := w.ranks[a], w.ranks[b]
		switch {
		case x < y:
			w.ranks2, w.value2 = append(w.ranks2, x), append(w.value2, w.values[a])
			a++
		case y < x:
			w.ranks2, w.value2 = append(w.ranks2, y), append(w.value2, w.values[b])
			b++
		default:
			w.ranks2, w.value2 = append(w.ranks2, x), append(w.value2, w.values[a]+w.values[b])
			a++
			b++
		}
	}
	w.ranks2, w.value2 = append(w.ranks2, w.ranks[a:middle]...), append(w.value2, w.values[a:middle]...)
	w.ranks2, w.value2 = append(w.ranks2, w.ranks[b:end]...), append(w.value2, w.values[b:end]...)
}
