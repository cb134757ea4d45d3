package linkage

import (
	"fmt"
	"slices"

	"microrisk/engine/perturb"
)

// An evidence is what a published table says of each class of the overlap.
type evidence struct {
	table  *Table
	places []int // of the overlap's variables in the overlap that the table has too
	lacks  bool  // the table lacks variables of the overlap: it bounds from above only
	people int64
	all    int64 // records counted, of a sampled table

	low, high map[key]int64 // of the cells listed, collapsed
	listed    map[key]int64 // cells listed in each
	published map[key]int64 // their published counts, where each is one cell
	cells     int64         // cells of the table in each collapsed one, listed or not
	zeroHigh  int64         // bounds of a cell that is not listed
	zeroLow   int64
	unseen    bool // each collapsed cell may have more cells, of categories that nobody lists, and people in them
	only      bool // each collapsed cell is one published cell

	members  map[key][]int64 // published counts of the cells listed, to be convolved; nil if that is not asked for
	classes  float64         // classes of the overlap in each collapsed cell
	convolve bool
}

// weigh prepares what a table says.
func (p *Problem) weigh(t *Table) (*evidence, error) {
	e := &evidence{
		table:     t,
		people:    p.People,
		low:       map[key]int64{},
		high:      map[key]int64{},
		listed:    map[key]int64{},
		published: map[key]int64{},
		cells:     1,
		classes:   1,
	}
	var common []int
	for j, v := range p.Overlap {
		if _, has := slices.BinarySearch(t.Variables, v); has {
			common = append(common, v)
			e.places = append(e.places, j)
		} else {
			e.lacks = true
			e.classes *= float64(p.Levels[v])
		}
	}
	for _, v := range t.Variables {
		if !slices.Contains(common, v) {
			if e.cells > (1<<40)/int64(p.Levels[v]) {
				return nil, fmt.Errorf("%s has too many cells", t.Name)
			}
			e.cells *= int64(p.Levels[v])
		}
	}
	e.only = e.cells == 1
	if t.Sample {
		e.all = t.records()
		e.published = t.collapse(common)
		return e, nil
	}
	e.zeroLow, e.zeroHigh, _ = t.Kernel.Bounds(0)
	for _, v := range t.Variables {
		e.unseen = e.unseen || e.zeroHigh > 0 && p.open(v) && !slices.Contains(common, v)
	}
	e.only = e.only && !e.unseen
	// How many cells nobody lists is not known, so that no splits can be counted over them.
	if e.convolve = p.Convolve && !e.unseen && (!e.lacks || e.only); e.convolve && !e.only {
		e.members = map[key][]int64{}
	}
	for i, k := range t.keys(common) {
		low, high, _ := t.Kernel.Bounds(t.Count[i])
		e.low[k] = add(e.low[k], low)
		e.high[k] = add(e.high[k], high)
		e.listed[k]++
		e.published[k] = t.Count[i]
		if e.members != nil {
			e.members[k] = append(e.members[k], t.Count[i])
		}
	}
	return e, nil
}

// of is what the table says of a class: bounds on F, and a fact for the posterior, nil for none.
func (e *evidence) of(class key) (low, high int64, f *fact) {
	k := class.part(e.places)
	if e.table.Sample {
		count := e.published[k]
		high = e.people - (e.all - count)
		if e.lacks {
			return 0, high, nil
		}
		return count, high, &fact{records: e.all, count: count}
	}
	absent := e.cells - e.listed[k]
	low, high = e.low[k], e.high[k]
	if absent > 0 {
		low = add(low, absent*e.zeroLow)
		if e.zeroHigh > (1<<60)/absent {
			high = unlimited
		} else {
			high = add(high, absent*e.zeroHigh)
		}
	}
	if e.unseen {
		high = unlimited
	}
	switch {
	case e.lacks && len(e.places) == 0:
		// Nothing of the overlap is in the table: it bounds nobody more than N does.
		return 0, unlimited, nil
	case e.lacks && e.convolve:
		f = &fact{kernel: e.table.Kernel, published: e.published[k], within: e.classes}
	case e.only && !e.lacks:
		f = &fact{kernel: e.table.Kernel, published: e.published[k]}
	case e.convolve:
		parts := slices.Sorted(slices.Values(e.members[k]))
		f = &fact{kernel: e.table.Kernel, parts: fmt.Sprint(parts), absent: absent, members: &parts}
	}
	if e.lacks {
		low = 0
	}
	return low, high, f
}

// A fact is an observation whose probability depends on F.
type fact struct {
	records, count int64 // a sample of so many has so many of the class; records is 0 for a published cell
	kernel         perturb.Kernel
	published      int64    // the cell's count
	within         float64  // the cell sums so many classes of the overlap; 0: the class itself
	parts          string   // the class sums published cells, in words, to tell facts apart; "" for others
	members        *[]int64 // these cells
	absent         int64    // and so many of 0
}

// String tells facts apart.
func (f fact) String() string {
	if f.kernel == nil {
		return fmt.Sprint("sample ", f.records, f.count)
	}
	return fmt.Sprint(f.kernel.Name(), f.published, f.within, f.parts, f.absent)
}
