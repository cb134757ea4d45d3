package contingency

import (
	"slices"
	"sort"

	"golang.org/x/sync/errgroup"
)

// A Block gathers rows to be looked up together in a table on disk, which is read once from front to back for all of them. It takes 20
// bytes a row, and 16 more for each word of 64 bits that a packed key has, while it is resolved. It is not safe for concurrent use; several
// blocks of one table are. (Of a table in memory it works too, at the cost of a Lookup.)
type Block struct {
	table  *Table
	packer packer
	rows   int
	slabs  [][]uint64 // entries of the words of the key and the row
	free   [][]uint64 // kept, as sorted is, from one Resolve to the next
	sorted []uint64
	class  []int64 // of a table in memory
}

// slabEntries is the number of entries in a slab of a block.
const slabEntries = 1 << 15

// NewBlock returns an empty block.
func (t *Table) NewBlock() *Block { return &Block{table: t} }

// Rows is the number of rows added since the block was empty.
func (b *Block) Rows() int { return b.rows }

// Add packs the keys of rows rows behind those added before. cols has one Column a variable, of final codes, as for [Table.Lookup];
// nothing of it is kept. After an error the block must not be used any more.
func (b *Block) Add(rows int, cols []Column) error {
	t := b.table
	if t.disk == nil {
		b.class = append(b.class, make([]int64, max(0, rows))...)
		if err := t.Lookup(rows, cols, b.class[b.rows:]); err != nil {
			return err
		}
		b.rows += rows
		return nil
	}
	if err := check(rows, len(t.Variables), cols); err != nil {
		return err
	}
	p := &b.packer
	p.prepare(&t.layout, rows, cols, true)
	for from := 0; from < rows; from += chunkRows {
		n := min(chunkRows, rows-from)
		if err := p.pack(&t.layout, cols, from, n); err != nil {
			return err
		}
		b.addChunk(n)
	}
	return nil
}

// addChunk takes packed keys over, without those that no class can have.
func (b *Block) addChunk(n int) {
	stride := b.table.layout.words + 1
	last := len(b.slabs) - 1
	if last < 0 || cap(b.slabs[last])-len(b.slabs[last]) < n*stride {
		slab := make([]uint64, 0, slabEntries*stride)
		if n := len(b.free); n > 0 {
			slab, b.free = b.free[n-1], b.free[:n-1]
		}
		b.slabs = append(b.slabs, slab)
		last++
	}
	slab := b.slabs[last]
	for r := range n {
		if b.packer.any && b.packer.outside[r] {
			continue
		}
		for w := range stride - 1 {
			slab = append(slab, b.packer.words[w][r])
		}
		slab = append(slab, uint64(b.rows+r))
	}
	b.slabs[last] = slab
	b.rows += n
}

// Resolve writes the class of each row to class and its number of records to count, in the order in which rows were added, -1 and 0 for
// a key that is not in the table. It empties the block, whether it succeeds or not.
func (b *Block) Resolve(class, count []int64) error {
	if len(count) < b.rows {
		return errShort
	}
	return b.resolve(class, count)
}

func (b *Block) resolve(class, count []int64) error {
	rows, slabs := b.rows, slices.Clone(b.slabs)
	defer func() {
		for _, slab := range b.slabs {
			b.free = append(b.free, slab[:0])
		}
		b.rows, b.slabs, b.class = 0, nil, b.class[:0]
	}()
	if len(class) < rows {
		return errShort
	}
	for r := range rows {
		class[r] = -1
	}
	if count != nil {
		clear(count[:rows])
	}
	if b.table.disk == nil {
		for r, c := range b.class {
			if class[r] = c; c >= 0 && count != nil {
				count[r] = b.table.Count(int(c))
			}
		}
		return nil
	}
	s := &sorter{words: b.table.layout.words, stride: b.table.layout.words + 1, entries: b.sorted}
	total := 0
	for _, slab := range slabs {
		total += len(slab) / s.stride
	}
	s.sample(slabs, min(total/bucketEntries, 4096))
	s.makeGuide()
	workers := goroutines(b.table.workers)
	if err := s.scatter(b.table.disk.keys.file.store.ctx, slabs, total, workers); err != nil {
		return err
	}
	b.sorted = s.entries
	return b.merge(s, workers, class, count)
}

// merge finds the rows of each bucket among the classes. A worker takes neighbouring buckets, so that it reads forwards.
func (b *Block) merge(s *sorter, workers int, class, count []int64) error {
	buckets := len(s.bounds) - 1
	step := max(1, (buckets+4*workers-1)/(4*workers))
	var g errgroup.Group
	g.SetLimit(workers)
	for first := 0; first < buckets; first += step {
		g.Go(func() error {
			parts := scanKeys
			if count != nil {
				parts |= scanCounts
			}
			f := finder{reader: b.table.reader(findFences*fenceClasses, parts), class: class, count: count}
			var spare []uint64
			for i := first; i < min(first+step, buckets); i++ {
				rows := s.entries[s.bounds[i]*s.stride : s.bounds[i+1]*s.stride]
				if len(spare) < len(rows) {
					spare = make([]uint64, len(rows))
				}
				s.sortEntries(rows, spare[:len(rows)], s.stride)
				if err := f.find(rows); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return g.Wait()
}

// findFences is the largest number of fences whose classes a finder reads at a time.
const findFences = 32

// A finder goes through sorted rows and classes side by side.
type finder struct {
	reader *reader
	class  []int64
	count  []int64 // may be nil
	at     int     // in the chunk: no class before it is looked for any more
}

func (f *finder) find(rows []uint64) error {
	t := f.reader.table
	words := t.layout.words
	stride := words + 1
	if len(rows) == 0 || t.classes == 0 {
		return nil
	}
	c := &f.reader.chunk
	from := 0 // the fence before the last row's place
	for i := 0; i < len(rows); {
		key := rows[i : i+words]
		from = t.disk.fence(key, words, from)
		if at := from * fenceClasses; at < c.from || at >= c.from+c.n {
			if err := f.readAt(from, rows[i:]); err != nil {
				return err
			}
		} else {
			f.at = max(f.at, at-c.from)
		}
		f.at = f.place(key, words)
		found := f.at < c.n && equal(c.keys[f.at*words:(f.at+1)*words], key)
		for ; i < len(rows) && equal(rows[i:i+words], key); i += stride {
			if !found {
				continue
			}
			row := rows[i+words]
			f.class[row] = int64(c.from + f.at)
			if f.count != nil {
				f.count[row] = c.count(f.at)
			}
		}
	}
	return nil
}

// fence is the last fence that is not above the key, searched from one on; 0 when the key comes before all classes.
func (d *disk) fence(key []uint64, words, from int) int {
	n := len(d.fences) / words
	above := func(i int) bool { return slices.Compare(d.fences[i*words:(i+1)*words], key) > 0 }
	reach := 1
	for from+reach < n && !above(from+reach) {
		from += reach
		reach *= 2
	}
	return from + sort.Search(min(reach, n-from)-1, func(i int) bool { return above(from + 1 + i) })
}

// readAt reads classes from a fence on: many if the rows that follow are near to each other.
func (f *finder) readAt(fence int, rows []uint64) error {
	t := f.reader.table
	words := t.layout.words
	stride := words + 1
	left := len(rows) / stride
	near := min(left, findFences)
	span := t.disk.fence(rows[(near-1)*stride:(near-1)*stride+words], words, fence) - fence + 1
	n := 1
	switch {
	case span > 4*near: // most fences would be read for nothing
	case near == left:
		n = min(findFences, span)
	default:
		n = findFences
	}
	f.at = 0
	first := fence * fenceClasses
	return f.reader.read(first, min(n*fenceClasses, t.classes-first))
}

// place is the first class in the chunk, from f.at on, that is not below the key.
func (f *finder) place(key []uint64, words int) int {
	c := &f.reader.chunk
	at := f.at
	if words == 1 {
		k := key[0]
		for end := min(at+16, c.n); at < end; at++ {
			if c.keys[at] >= k {
				return at
			}
		}
	}
	end := min(c.n, (at/fenceClasses+2)*fenceClasses)
	return at + sort.Search(end-at, func(i int) bool { return slices.Compare(c.keys[(at+i)*words:(at+i+1)*words], key) >= 0 })
}
