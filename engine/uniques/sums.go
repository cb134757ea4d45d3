package uniques

import (
	"context"
	"math/bits"
)

// A sums is one worker's sums over the sets of one class after the other, which are sets of places in an order of the variables, and its
// integer totals by size.
type sums struct {
	order  []int
	counts []counts // by size: categories and total
	sets   listing  // of some classes
	number []uint32 // by size: sets of the class
	lanes  []uint64 // by size: two words of byte lanes, a place each
	with   []uint32 // of one size, by place
	at     []int    // of the class's category, by place
	share  []float64
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

// addSheet adds the sets of all classes, which stand on a sheet, each at its place.
func (t *tally) addSheet(ctx context.Context, order []int, s *sheet, place []uint32) error {
	t.start()
	var workers []*sums
	for range t.o.Workers {
		l := &sums{
			order: order, counts: make([]counts, t.o.MaxSize+1), number: make([]uint32, t.o.MaxSize+1), lanes: make([]uint64, 2*t.o.MaxSize+2),
			at: make([]int, len(order)), with: make([]uint32, len(order)), share: make([]float64, len(order)),
		}
		for size := range l.counts {
			l.counts[size].categories = make([]int64, t.first[t.p.variables])
		}
		workers = append(workers, l)
	}
	err := inParallel(ctx, t.o.Workers, (t.p.n+blockClasses-1)/blockClasses, func(worker, b int) {
		l := workers[worker]
		from, to := b*blockClasses, min((b+1)*blockClasses, t.p.n)
		s.copy(place[from:to], &l.sets)
		for class := from; class < to; class++ {
			l.add(t, class, l.sets.of(class-from))
		}
	})
	for size := 1; size <= t.o.MaxSize; size++ {
		for w, l := range workers {
			t.workers[w].categories, l.counts[size].categories = l.counts[size].categories, t.workers[w].categories
			t.workers[w].total = l.counts[size].total
		}
		t.endLevel(size)
	}
	return err
}

// add adds the sets of a class, size by size as a search by size does.
func (l *sums) add(t *tally, class int, sets []uint32) {
	if len(sets) == 0 {
		return
	}
	var sizes uint32
	for _, s := range sets {
		size := bits.OnesCount32(s)
		sizes |= 1 << size
		l.number[size]++
		l.lanes[2*size] += placeLanes[s&0xff]
		l.lanes[2*size+1] += placeLanes[s>>8&0xff]
	}
	for j, v := range l.order {
		l.at[j] = t.first[v] + t.p.code(class, v)
	}
	clear(l.share)
	id := t.p.class(class)
	records := t.p.table.Count(id)
	smallest := bits.TrailingZeros32(sizes)
	var score, is float64
	for ; sizes != 0; sizes &= sizes - 1 {
		size := bits.TrailingZeros32(sizes)
		if len(sets) > lanesMost {
			l.long(size, sets)
		} else {
			l.short(size)
		}
		n := int64(l.number[size])
		l.number[size], l.lanes[2*size], l.lanes[2*size+1] = 0, 0, 0
		weight := t.weight[size]
		score += float64(n) * weight
		is += float64(n) * t.factor[size]
		total := &l.counts[size]
		total.total += n * records
		at, share := l.at[:len(l.with)], l.share[:len(l.with)]
		for j, m := range l.with {
			total.categories[at[j]] += int64(m) * records
			share[j] += float64(m) * weight
		}
	}
	r := t.r
	r.Score[id], r.IS[id], r.Count[id], r.MinSize[id] = score, is, int32(len(sets)), int32(smallest)
	if r.Share != nil {
		for j, v := range l.order {
			r.Share[v][id] = l.share[j]
		}
	}
}

// short takes the sets of one size by place from the lanes.
func (l *sums) short(size int) {
	low := l.lanes[2*size]
	for j := range l.with {
		if j == 8 {
			low = l.lanes[2*size+1]
		}
		l.with[j] = uint32(low & 0xff)
		low >>= 8
	}
}

// long counts the sets of one size by place where there may be too many for the lanes.
func (l *sums) long(size int, sets []uint32) {
	clear(l.with)
	for _, s := range sets {
		if bits.OnesCount32(s) == size {
			for ; s != 0; s &= s - 1 {
				l.with[bits.TrailingZeros32(s)]++
			}
		}
	}
}
