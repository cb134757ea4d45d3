package uniques

import (
	"context"
	"math/bits"
)

// A listed is one worker's sums over the sets of one class after the other, by size, and its integer totals by size.
type listed struct {
	counts []counts // by size: categories and total
	lanes  []uint64 // by size: two words of byte lanes, a place each
	with   []uint32 // of one size, by variable

	touched uint32 // means nothing
}

// placeLanes puts each bit of a byte into the lane of a byte.
var placeLanes = func() (lanes [256]uint64) {
	for b := range lanes {
		for i := range 8 {
			lanes[b] |= uint64(b>>i&1) << (8 * i)
		}
	}
	return lanes
}()

// lanesMost is the number of sets that byte lanes can count.
const lanesMost = 255

// addListings adds the minimal sample uniques of all classes: sets of places in an order of the variables.
func (t *tally) addListings(ctx context.Context, order []int, sets func(class int) []uint32) error {
	t.start()
	var workers []*listed
	for range t.o.Workers {
		l := &listed{counts: make([]counts, t.o.MaxSize+1), lanes: make([]uint64, 2*t.o.MaxSize+2), with: make([]uint32, t.p.variables)}
		for size := range l.counts {
			l.counts[size].categories = make([]int64, t.first[t.p.variables])
		}
		workers = append(workers, l)
	}
	blocks := (t.p.n + blockClasses - 1) / blockClasses
	err := inParallel(ctx, t.o.Workers, blocks, func(worker, b int) {
		var lists [64][]uint32 // looked up together, as each is far from the last
		for from := b * blockClasses; from < min((b+1)*blockClasses, t.p.n); from += len(lists) {
			several := lists[:min(len(lists), t.p.n-from)]
			for j := range several {
				several[j] = sets(from + j)
			}
			workers[worker].touch(several)
			for j, list := range several {
				if len(list) > 0 {
					workers[worker].add(t, from+j, order, list)
				}
			}
		}
	})
	if err != nil {
		return err
	}
	for size := 1; size <= t.o.MaxSize; size++ {
		for w, l := range workers {
			t.workers[w].categories, l.counts[size].categories = l.counts[size].categories, t.workers[w].categories
			t.workers[w].total = l.counts[size].total
		}
		t.endLevel(size)
	}
	return nil
}

// touch brings lists into the cache.
func (l *listed) touch(lists [][]uint32) {
	for _, list := range lists {
		if len(list) > 0 {
			l.touched += list[0] + list[len(list)-1]
		}
	}
}

// add adds the sets of a class, size by size as a search by size does.
func (l *listed) add(t *tally, class int, order []int, sets []uint32) {
	var sizes uint32
	for _, s := range sets {
		size := bits.OnesCount32(s)
		sizes |= 1 << size
		l.lanes[2*size] += placeLanes[s&0xff]
		l.lanes[2*size+1] += placeLanes[s>>8&0xff]
	}
	for ; sizes != 0; sizes &= sizes - 1 {
		size := bits.TrailingZeros32(sizes)
		if len(sets) > lanesMost {
			l.long(order, size, sets)
		} else {
			low := l.lanes[2*size]
			for j, v := range order {
				if j == 8 {
					low = l.lanes[2*size+1]
				}
				l.with[v] = uint32(low & 0xff)
				low >>= 8
			}
		}
		l.lanes[2*size], l.lanes[2*size+1] = 0, 0
		t.addClass(&l.counts[size], class, size, l.with)
	}
}

// long counts the sets of one size by variable where there may be too many for the lanes.
func (l *listed) long(order []int, size int, sets []uint32) {
	clear(l.with)
	for _, s := range sets {
		if bits.OnesCount32(s) == size {
			for ; s != 0; s &= s - 1 {
				l.with[order[bits.TrailingZeros32(s)]]++
			}
		}
	}
}
