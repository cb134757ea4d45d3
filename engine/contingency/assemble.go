package contingency

import (
	"context"
	"math"
	"math/bits"
	"slices"

	"golang.org/x/sync/errgroup"
)

// bucketEntries is the size of the buckets that entries are sorted in: a bucket and its copy fit the second-level cache.
const bucketEntries = 8192

// checkedEntries is after how many entries the context is looked at.
const checkedEntries = 1 << 20

// A sorter brings entries from many slabs into order, as a parallel sample sort: buckets between splitters drawn from the
// data, so that skewed keys do no harm, each sorted by radix, equal keys added together.
type sorter struct {
	words, stride int
	splitters     []uint64 // keys, words each
	guide         []uint16 // with keys of one word: the number of splitters below each value of their leading bits
	guideShift    int
	bounds        []int // entries of bucket b are bounds[b] to bounds[b+1]
	entries       []uint64
	distinct      []int // entries of each bucket after equal ones are added
}

// assemble makes the table of entries (words of the key, count, sums) from slabs, which are used up.
func assemble(ctx context.Context, variables []Variable, l layout, sums, workers int, slabs [][]uint64) (*Table, error) {
	made := workers
	workers = goroutines(workers)
	s := &sorter{words: l.words, stride: l.words + 1 + 2*sums}
	total := 0
	for _, slab := range slabs {
		total += len(slab) / s.stride
	}
	s.sample(slabs, min(total/bucketEntries, 4096))
	s.makeGuide()
	if err := s.scatter(ctx, slabs, total, workers); err != nil {
		return nil, err
	}
	if err := s.sortBuckets(ctx, workers); err != nil {
		return nil, err
	}
	t, err := s.table(ctx, variables, l, sums, workers)
	if t != nil {
		t.workers = made
	}
	return t, err
}

// sample draws splitters for n+1 buckets.
func (s *sorter) sample(slabs [][]uint64, n int) {
	if n == 0 {
		return
	}
	var keys []uint64
	total := 0
	for _, slab := range slabs {
		total += len(slab) / s.stride
	}
	step := max(1, total/(n*32))
	at := step / 2
	for _, slab := range slabs {
		for ; at < len(slab)/s.stride; at += step {
			keys = append(keys, slab[at*s.stride:at*s.stride+s.words]...)
		}
		at -= len(slab) / s.stride
	}
	s.sortEntries(keys, make([]uint64, len(keys)), s.words)
	m := len(keys) / s.words
	for b := 1; b <= n; b++ {
		i := b * m / (n + 1) * s.words
		s.splitters = append(s.splitters, keys[i:i+s.words]...)
	}
}

// guideBits is the number of leading bits of a key that narrow the search for its bucket.
const guideBits = 12

func (s *sorter) makeGuide() {
	if s.words != 1 || len(s.splitters) == 0 {
		return
	}
	s.guideShift = max(0, bits.Len64(s.splitters[len(s.splitters)-1])-guideBits)
	s.guide = make([]uint16, 1<<guideBits+1)
	at := 0
	for q := range s.guide {
		for at < len(s.splitters) && s.splitters[at]>>s.guideShift < uint64(q) {
			at++
		}
		s.guide[q] = uint16(at)
	}
}

// bucket is the number of splitters that are not above the key.
func (s *sorter) bucket(key []uint64) int {
	if s.words == 1 {
		if len(s.guide) == 0 {
			return 0
		}
		k := key[0]
		q := min(k>>(s.guideShift&63), 1<<guideBits-1)
		at, n := int(s.guide[q]), int(s.guide[q+1]-s.guide[q])
		for n > 0 {
			half := n >> 1
			if s.splitters[at+half] <= k {
				at += half + 1
				n -= half + 1
			} else {
				n = half
			}
		}
		return at
	}
	at, end := 0, len(s.splitters)/s.words
	for at < end {
		mid := (at + end) / 2
		if slices.Compare(s.splitters[mid*s.words:(mid+1)*s.words], key) <= 0 {
			at = mid + 1
		} else {
			end = mid
		}
	}
	return at
}

// scatter moves the entries of all slabs to their buckets.
func (s *sorter) scatter(ctx context.Context, slabs [][]uint64, total, workers int) error {
	buckets := len(s.splitters)/s.words + 1
	ids := make([][]uint16, len(slabs))
	starts := make([][]int, len(slabs))
	var g errgroup.Group
	g.SetLimit(workers)
	for i, slab := range slabs {
		g.Go(func() error {
			n := len(slab) / s.stride
			ids[i] = make([]uint16, n)
			starts[i] = make([]int, buckets)
			for e := range n {
				if e%checkedEntries == 0 && ctx.Err() != nil {
					return ctx.Err()
				}
				b := s.bucket(slab[e*s.stride : e*s.stride+s.words])
				ids[i][e] = uint16(b)
				starts[i][b]++
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	s.bounds = make([]int, buckets+1)
	at := 0
	for b := range buckets {
		s.bounds[b] = at
		for i := range slabs {
			n := starts[i][b]
			starts[i][b] = at
			at += n
		}
	}
	s.bounds[buckets] = at
	if cap(s.entries) < total*s.stride {
		s.entries = make([]uint64, total*s.stride)
	}
	s.entries = s.entries[:total*s.stride]
	for i, slab := range slabs {
		g.Go(func() error {
			next := starts[i]
			for e, b := range ids[i] {
				if e%checkedEntries == 0 && ctx.Err() != nil {
					return ctx.Err()
				}
				to := next[b] * s.stride
				next[b]++
				copy(s.entries[to:to+s.stride], slab[e*s.stride:(e+1)*s.stride])
			}
			slabs[i], ids[i] = nil, nil
			return nil
		})
	}
	return g.Wait()
}

// sortBuckets sorts each bucket and adds equal keys together at its front.
func (s *sorter) sortBuckets(ctx context.Context, workers int) error {
	buckets := len(s.bounds) - 1
	s.distinct = make([]int, buckets)
	var g errgroup.Group
	g.SetLimit(workers)
	step := max(1, buckets/(8*workers))
	for first := 0; first < buckets; first += step {
		g.Go(func() error {
			var spare []uint64
			for b := first; b < min(first+step, buckets); b++ {
				if err := ctx.Err(); err != nil {
					return err
				}
				bucket := s.entries[s.bounds[b]*s.stride : s.bounds[b+1]*s.stride]
				if len(spare) < len(bucket) {
					spare = make([]uint64, len(bucket))
				}
				s.sortEntries(bucket, spare[:len(bucket)], s.stride)
				n, err := s.collapse(bucket)
				if err != nil {
					return err
				}
				s.distinct[b] = n
			}
			return nil
		})
	}
	return g.Wait()
}

// collapse adds entries of equal keys together and returns their number.
func (s *sorter) collapse(bucket []uint64) (int, error) {
	n := 0
	for at := 0; at < len(bucket); at += s.stride {
		entry := bucket[at : at+s.stride]
		if n > 0 {
			last := bucket[(n-1)*s.stride : n*s.stride]
			if equal(last[:s.words], entry[:s.words]) {
				if !addValues(last[s.words:], entry[s.words:]) {
					return 0, errSum
				}
				continue
			}
		}
		copy(bucket[n*s.stride:(n+1)*s.stride], entry)
		n++
	}
	return n, nil
}

// table copies the sorted entries to their final places.
func (s *sorter) table(ctx context.Context, variables []Variable, l layout, sums, workers int) (*Table, error) {
	total := 0
	starts := make([]int, len(s.distinct))
	for b, n := range s.distinct {
		starts[b] = total
		total += n
	}
	t := &Table{Variables: variables, layout: l, classes: total}
	t.keys = make([]uint64, total*s.words)
	wide := false
	for b, n := range s.distinct {
		for i := range n {
			count := s.entries[(s.bounds[b]+i)*s.stride+s.words]
			wide = wide || count > math.MaxUint32
			t.records += int64(count)
		}
	}
	if wide {
		t.counts64 = make([]int64, total)
	} else {
		t.counts32 = make([]uint32, total)
	}
	t.sums = make([][]fixed, sums)
	for i := range t.sums {
		t.sums[i] = make([]fixed, total)
	}
	var g errgroup.Group
	g.SetLimit(workers)
	step := max(1, len(starts)/(4*workers))
	for first := 0; first < len(starts); first += step {
		g.Go(func() error {
			for b := first; b < min(first+step, len(starts)); b++ {
				if err := ctx.Err(); err != nil {
					return err
				}
				for i := range s.distinct[b] {
					t.set(starts[b]+i, s.entries[(s.bounds[b]+i)*s.stride:][:s.stride])
				}
			}
			return nil
		})
	}
	return t, g.Wait()
}

// set writes an entry to class i.
func (t *Table) set(i int, entry []uint64) {
	w := t.layout.words
	copy(t.keys[i*w:], entry[:w])
	if t.counts64 != nil {
		t.counts64[i] = int64(entry[w])
	} else {
		t.counts32[i] = uint32(entry[w])
	}
	for s := range t.sums {
		t.sums[s][i] = fixed{entry[w+1+2*s], entry[w+2+2*s]}
	}
}
