package recoding

import (
	"cmp"
	"fmt"
	"slices"
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
	l.lead = l.leading()
	l.tables = &cache{base: base}
	var err error
	base.keys, base.counts, err = l.sorted(m.keys, m.counts)
	return err
}

// leading is the variable with the most groups: rows of tables are in the order of its hierarchy, those of a group of any level together.
func (l *Lattice) leading() int {
	lead := 0
	for v := range l.sums {
		if len(l.sums[v][0]) > len(l.sums[lead][0]) {
			lead = v
		}
	}
	return lead
}

// sorted are the rows of a table in the order of the leading variable.
func (l *Lattice) sorted(keys []uint64, counts []int64) ([]uint64, []int64, error) {
	up, err := l.above(l.lead, 0, 0)
	if err != nil {
		return nil, nil, err
	}
	groups := make([]uint32, len(up))
	for g := range groups {
		groups[g] = uint32(g)
	}
	for level := range l.Variables[l.lead].Levels { // the coarsest last, each in the order of the one before
		up, err := l.above(l.lead, 0, level)
		if err != nil {
			return nil, nil, err
		}
		slices.SortStableFunc(groups, func(a, b uint32) int { return cmp.Compare(up[a], up[b]) })
	}
	f := l.fields[l.lead]
	next := make([]int, len(groups)+1)
	for i := range counts {
		next[keys[i*l.words+f.word]>>f.shift&f.mask]++
	}
	at := 0
	for _, g := range groups {
		n := next[g]
		next[g] = at
		at += n
	}
	toKeys, toCounts := make([]uint64, len(keys)), make([]int64, len(counts))
	for i, n := range counts {
		row := keys[i*l.words : (i+1)*l.words]
		g := row[f.word] >> f.shift & f.mask
		copy(toKeys[next[g]*l.words:], row)
		toCounts[next[g]] = n
		next[g]++
	}
	return toKeys, toCounts, nil
}

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
