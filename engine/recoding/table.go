package recoding

import (
	"fmt"
	"math/bits"
	"slices"
	"sync"
)

// A table has the classes of a node: packed keys, and the records of each.
type table struct {
	node   Node
	keys   []uint64 // words each
	counts []int64
	used   uint64 // when it was last taken
}

func (t *table) bytes() int64 { return int64(len(t.keys)+len(t.counts)) * 8 }

// fill makes the base table.
func (l *Lattice) fill(codes [][]uint32, counts []int64, sensitive []uint32) error {
	l.sums = make([][][]int64, len(l.Variables))
	for v := range l.Variables {
		for _, level := range l.Variables[v].Levels {
			l.sums[v] = append(l.sums[v], make([]int64, len(level.Size)))
		}
	}
	if l.levels > 0 && len(sensitive) != len(counts) {
		return fmt.Errorf("there are sensitive values of %d classes, want %d", len(sensitive), len(counts))
	}
	base := &table{node: make(Node, len(l.Variables))}
	m := newMerger(l.words, len(counts))
	row := make([]uint64, l.words)
	for i, n := range counts {
		if n < 1 {
			return fmt.Errorf("class %d has %d records, want at least 1", i, n)
		}
		clear(row)
		for v := range codes {
			code := codes[v][i]
			if int(code) >= len(l.Variables[v].Levels[0].Group) {
				return fmt.Errorf("class %d has the code %d of %s, which has %d values", i, code, l.Variables[v].Name, len(l.Variables[v].Levels[0].Group))
			}
			for k := range l.Variables[v].Levels {
				l.sums[v][k][l.Variables[v].Levels[k].Group[code]] += n
			}
			f := l.fields[v]
			row[f.word] |= uint64(l.Variables[v].Levels[0].Group[code]) << f.shift
		}
		if l.levels > 0 {
			if int(sensitive[i]) >= l.levels {
				return fmt.Errorf("class %d has the sensitive value %d of %d", i, sensitive[i], l.levels)
			}
			f := l.fields[len(l.Variables)]
			row[f.word] |= uint64(sensitive[i]) << f.shift
		}
		m.add(row, n)
		l.Records += n
	}
	base.keys, base.counts = m.rows()
	l.tables = &cache{base: base}
	return nil
}

// A merger adds up the records of equal keys, by open addressing.
type merger struct {
	words  int
	slots  []int32 // row + 1
	shift  uint
	keys   []uint64
	counts []int64
}

// again makes an empty merger of the room of an old one.
func (m *merger) again(rows int) {
	size := bits.Len(uint(max(rows, 8)*2 - 1))
	m.shift = uint(64 - size)
	if cap(m.slots) < 1<<size {
		m.slots = make([]int32, 1<<size)
	}
	m.slots = m.slots[:1<<size]
	clear(m.slots)
	m.keys, m.counts = m.keys[:0], m.counts[:0]
}

func newMerger(words, rows int) *merger {
	size := bits.Len(uint(max(rows, 8)*2 - 1))
	return &merger{words: words, slots: make([]int32, 1<<size), shift: uint(64 - size)}
}

const spread = 0x9e3779b97f4a7c15

// add adds records to a key, and is its row.
func (m *merger) add(row []uint64, n int64) int32 {
	if m.words == 1 {
		return m.one(row[0], hash(row[0]), n)
	}
	h := uint64(0)
	for _, w := range row {
		h = (h ^ w) * spread
		h ^= h >> 29
	}
	h *= spread
	for at := h >> m.shift; ; at = (at + 1) & uint64(len(m.slots)-1) {
		i := m.slots[at]
		if i == 0 {
			m.keys, m.counts = append(m.keys, row...), append(m.counts, n)
			m.slots[at] = int32(len(m.counts))
			if 2*len(m.counts) > len(m.slots) {
				m.grow()
			}
			return int32(len(m.counts)) - 1
		}
		if slices.Equal(m.keys[(int(i)-1)*m.words:int(i)*m.words], row) {
			m.counts[i-1] += n
			return i - 1
		}
	}
}

func (m *merger) grow() {
	keys, counts := m.keys, m.counts
	*m = *newMerger(m.words, 2*len(counts))
	for i, n := range counts {
		if m.words == 1 {
			m.one(keys[i], hash(keys[i]), n)
		} else {
			m.add(keys[i*m.words:(i+1)*m.words], n)
		}
	}
}

// one is add for keys of one word.
func (m *merger) one(key, h uint64, n int64) int32 {
	for at := h >> m.shift; ; at = (at + 1) & uint64(len(m.slots)-1) {
		i := m.slots[at]
		if i == 0 {
			m.keys, m.counts = append(m.keys, key), append(m.counts, n)
			m.slots[at] = int32(len(m.counts))
			if 2*len(m.counts) > len(m.slots) {
				m.grow()
			}
			return int32(len(m.counts)) - 1
		}
		if m.keys[i-1] == key {
			m.counts[i-1] += n
			return i - 1
		}
	}
}

func (m *merger) rows() (keys []uint64, counts []int64) { return m.keys, m.counts }

// table is that of a node, merged from the smallest one that is finer.
func (l *Lattice) table(n Node) (*table, error) {
	from := l.tables.finer(n)
	if slices.Equal(from.node, n) {
		return from, nil
	}
	to, err := l.merge(from, n)
	if err != nil {
		return nil, err
	}
	l.tables.keep(to)
	return to, nil
}

// A change is what becomes of the field of a variable.
type change struct {
	field
	up []uint32
}

// Tables of many rows are merged in two halves of the keys, each by a goroutine: the order of the rows depends on the table alone.
const (
	manyRows = 1 << 15
	halves   = 2
)

// merge makes the table of a coarser node.
func (l *Lattice) merge(from *table, n Node) (*table, error) {
	var changes []change
	for v, level := range n {
		if level == from.node[v] {
			continue
		}
		up, err := l.above(v, int(from.node[v]), int(level))
		if err != nil {
			return nil, err
		}
		changes = append(changes, change{l.fields[v], up})
	}
	rows := len(from.counts)
	l.merged += int64(rows)
	parts := 1
	if rows > manyRows && l.words == 1 {
		parts = halves
	}
	for len(l.room) < parts {
		l.room = append(l.room, newMerger(l.words, 0))
	}
	var group sync.WaitGroup
	for part, m := range l.room[1:parts] {
		group.Go(func() { m.merge(from, changes, uint64(part+1), uint64(parts)) })
	}
	l.room[0].merge(from, changes, 0, uint64(parts))
	group.Wait()
	to := &table{node: slices.Clone(n)}
	size := 0
	for _, m := range l.room[:parts] {
		size += len(m.counts)
	}
	to.keys, to.counts = make([]uint64, 0, size*l.words), make([]int64, 0, size)
	for _, m := range l.room[:parts] {
		to.keys, to.counts = append(to.keys, m.keys...), append(to.counts, m.counts...)
	}
	return to, nil
}

// merge adds up the rows of a table whose keys, changed, are of a part.
func (m *merger) merge(from *table, changes []change, part, parts uint64) {
	m.again(len(from.counts) / int(parts))
	if m.words == 1 {
		for i, key := range from.keys {
			for _, c := range changes {
				code := key >> c.shift & c.mask
				key ^= (code ^ uint64(c.up[code])) << c.shift
			}
			if h := hash(key); h%parts == part {
				m.one(key, h, from.counts[i])
			}
		}
		return
	}
	row := make([]uint64, m.words)
	for i, count := range from.counts {
		copy(row, from.keys[i*m.words:])
		for _, c := range changes {
			code := row[c.word] >> c.shift & c.mask
			row[c.word] ^= (code ^ uint64(c.up[code])) << c.shift
		}
		m.add(row, count)
	}
}

// hash of a key of one word.
func hash(key uint64) uint64 {
	h := key * spread
	return (h ^ h>>29) * spread
}

// tableMemory is how many bytes of tables are kept, besides the base table.
const tableMemory = 256 << 20

// A cache keeps the tables that were used last.
type cache struct {
	base  *table
	list  []*table
	bytes int64
	clock uint64
}

// finer is the smallest table that is as fine as a node, or finer.
func (c *cache) finer(n Node) *table {
	best := c.base
	for _, t := range c.list {
		if len(t.counts) < len(best.counts) && t.node.Finer(n) {
			best = t
		}
	}
	c.clock++
	best.used = c.clock
	return best
}

// mostTables is how many tables are kept: each is looked at for every node.
const mostTables = 512

func (c *cache) keep(t *table) {
	c.clock++
	t.used = c.clock
	c.list = append(c.list, t)
	c.bytes += t.bytes()
	for len(c.list) > mostTables || c.bytes > tableMemory && len(c.list) > 1 {
		oldest := 0
		for i, x := range c.list {
			if x.used < c.list[oldest].used {
				oldest = i
			}
		}
		c.bytes -= c.list[oldest].bytes()
		c.list[oldest] = c.list[len(c.list)-1]
		c.list = c.list[:len(c.list)-1]
	}
}
