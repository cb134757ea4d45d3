package recoding

import (
	"math/bits"
	"slices"
	"sync"
)

// A merger adds up the records of equal keys, by open addressing.
type merger struct {
	words  int
	slots  []int32 // row + 1
	shift  uint
	keys   []uint64
	counts []int64
}

// room makes empty slots for so many rows more.
func (m *merger) room(rows int) {
	size := bits.Len(uint(max(rows, 8)*2 - 1))
	m.shift = uint(64 - size)
	if cap(m.slots) < 1<<size {
		m.slots = make([]int32, 1<<size)
	}
	m.slots = m.slots[:1<<size]
	clear(m.slots)
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

// hash of a key of one word.
func hash(key uint64) uint64 {
	h := key * spread
	return (h ^ h>>29) * spread
}

// A change is what becomes of some bits of a word, a field's or those of several next to each other.
type change struct {
	field
	to []uint64 // in their place
}

// widest is how many bits of fields are changed at once, at most.
const widest = 12

// changes are those from the levels of one node to those of another, with the bits of each word that stay; a table of so many rows is changed by them.
func (l *Lattice) changes(from, to Node, rows int) (list []change, stay []uint64, err error) {
	stay = slices.Repeat([]uint64{^uint64(0)}, l.words)
	most := min(widest, bits.Len(uint(rows))-4)
	for v := 0; v < len(to); {
		first, width := v, 0
		changed := false
		for ; v < len(to) && l.fields[v].word == l.fields[first].word; v++ {
			more := bits.Len64(l.fields[v].mask)
			if v > first && width+more > most {
				break
			}
			width += more
			changed = changed || from[v] != to[v]
		}
		if !changed {
			continue
		}
		c := change{field: field{l.fields[first].word, l.fields[first].shift, 1<<width - 1}, to: []uint64{0}}
		stay[c.word] &^= c.mask << c.shift
		for w := first; w < v; w++ { // each field after the ones before
			up, err := l.above(w, int(from[w]), int(to[w]))
			if err != nil {
				return nil, nil, err
			}
			f := l.fields[w]
			below := c.to
			size := 1 << (f.shift - c.shift)
			c.to = make([]uint64, size*len(up))
			for code, g := range up {
				for i, x := range below {
					c.to[code*size+i] = x | uint64(g)<<f.shift
				}
			}
		}
		list = append(list, c)
	}
	return list, stay, nil
}

// Tables of many rows are merged in two parts, each by a goroutine: what the parts are depends on the table alone.
const manyRows = 1 << 14

// few rows are merged at once, with others of the leading variable.
const fewRows = 1 << 10

// merge makes the table of a coarser node.
func (l *Lattice) merge(from *table, n Node) (*table, error) {
	rows := len(from.counts)
	changes, stay, err := l.changes(from.node, n, rows)
	if err != nil {
		return nil, err
	}
	up, err := l.above(l.lead, int(from.node[l.lead]), int(n[l.lead]))
	if err != nil {
		return nil, err
	}
	l.merged += int64(rows)
	lead := func(row int) uint32 {
		f := l.fields[l.lead]
		return up[from.keys[row*l.words+f.word]>>f.shift&f.mask]
	}
	parts := halved(rows, lead)
	for len(l.room) < len(parts)-1 {
		l.room = append(l.room, newMerger(l.words, 0))
	}
	var group sync.WaitGroup
	for part, m := range l.room[:len(parts)-1] {
		group.Go(func() {
			m.keys, m.counts = m.keys[:0], m.counts[:0]
			for start, stop := parts[part], parts[part+1]; start < stop; {
				end := min(start+fewRows, stop)
				for end < stop && lead(end-1) == lead(end) {
					end++
				}
				m.merge(from, changes, stay, start, end)
				start = end
			}
		})
	}
	group.Wait()
	to := &table{node: slices.Clone(n)}
	size := 0
	for _, m := range l.room[:len(parts)-1] {
		size += len(m.counts)
	}
	to.keys, to.counts = make([]uint64, 0, size*l.words), make([]int64, 0, size)
	for _, m := range l.room[:len(parts)-1] {
		to.keys, to.counts = append(to.keys, m.keys...), append(to.counts, m.counts...)
	}
	return to, nil
}

// halved are the ends of the parts that rows are merged in, where the leading variable has another group.
func halved(rows int, lead func(row int) uint32) []int {
	middle := rows / 2
	if rows > manyRows {
		for middle < rows && lead(middle-1) == lead(middle) {
			middle++
		}
		if middle < rows {
			return []int{0, middle, rows}
		}
	}
	return []int{0, rows}
}

// merge adds up rows of a table whose keys are not among those that were added up before.
func (m *merger) merge(from *table, changes []change, stay []uint64, start, end int) {
	m.room(end - start)
	if m.words > 1 {
		row := make([]uint64, m.words)
		for i := start; i < end; i++ {
			key := from.keys[i*m.words : (i+1)*m.words]
			for w, x := range key {
				row[w] = x & stay[w]
			}
			for _, c := range changes {
				row[c.word] |= c.to[key[c.word]>>c.shift&c.mask]
			}
			m.add(row, from.counts[i])
		}
		return
	}
	keys, counts := m.keys, m.counts
	slots, last := m.slots, uint64(len(m.slots)-1)
	for i := start; i < end; i++ {
		was := from.keys[i]
		key := was & stay[0]
		for k := range changes {
			c := &changes[k]
			key |= c.to[was>>c.shift&c.mask]
		}
		for at := hash(key) >> m.shift; ; at = (at + 1) & last {
			row := slots[at]
			if row == 0 {
				keys, counts = append(keys, key), append(counts, from.counts[i])
				slots[at] = int32(len(counts))
				break
			}
			if keys[row-1] == key {
				counts[row-1] += from.counts[i]
				break
			}
		}
	}
	m.keys, m.counts = keys, counts
}
