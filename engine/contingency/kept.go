package contingency

// Kept are the classes of a table that a policy of missing values keeps: those with a value of every variable that drops records
// without one.
type Kept struct {
	Classes int64 // classes that are kept
	Records int64 // their records
	Uniques int64 // those of one record
	Doubles int64 // those of two

	table   *Table
	dropped []uint64 // bit of each class; nil where none is dropped
}

// Keep finds the classes that have a value of each variable in drop, by position; nil keeps all. [Table.Err] tells whether a table on
// disk could be read.
func (t *Table) Keep(drop []bool) *Kept {
	k := &Kept{table: t}
	parts := scanCounts
	for v := range drop {
		if drop[v] {
			parts |= scanKeys
		}
	}
	err := t.scan(parts, func(c *chunk) error {
		if parts&scanKeys != 0 {
			k.drop(c, drop)
		}
		for i := range c.n {
			if k.Has(c.from + i) {
				k.count(c.count(i))
			}
		}
		return nil
	})
	if err != nil {
		t.disk.fail(err)
	}
	return k
}

func (k *Kept) count(n int64) {
	k.Classes++
	k.Records += n
	switch n {
	case 1:
		k.Uniques++
	case 2:
		k.Doubles++
	}
}

// drop marks the classes of a chunk that miss a value.
func (k *Kept) drop(c *chunk, drop []bool) {
	words := k.table.layout.words
	for v := range drop {
		if !drop[v] {
			continue
		}
		f, missing := k.table.layout.fields[v], uint64(k.table.Variables[v].Missing())
		for i := range c.n {
			if c.keys[i*words+f.word]>>f.shift&f.mask() != missing {
				continue
			}
			if k.dropped == nil {
				k.dropped = make([]uint64, (k.table.classes+63)/64)
			}
			k.dropped[(c.from+i)/64] |= 1 << ((c.from + i) % 64)
		}
	}
}

// All tells whether no class is dropped.
func (k *Kept) All() bool { return k.dropped == nil }

// Has tells whether class i is kept.
func (k *Kept) Has(i int) bool { return k.dropped == nil || k.dropped[i/64]>>(i%64)&1 == 0 }

// Count is the number of records of class i, 0 if it is dropped.
func (k *Kept) Count(i int) int64 {
	if !k.Has(i) {
		return 0
	}
	return k.table.Count(i)
}

// Counts are the records of all classes, 0 for those that are dropped.
func (k *Kept) Counts() []int64 {
	counts := make([]int64, k.table.classes)
	for i := range counts {
		counts[i] = k.Count(i)
	}
	return counts
}

// Table is the table of the kept classes, in memory wherever the whole one is; that itself where all are kept.
func (k *Kept) Table() (*Table, error) {
	if k.All() {
		return k.table, k.table.Err()
	}
	b := newBuilder(k.table.Variables, k.table.layout, len(k.table.sums), k.table.workers)
	entry := make([]uint64, k.table.layout.words+1+2*len(k.table.sums))
	err := k.table.scan(scanKeys|scanCounts|scanSums, func(c *chunk) error {
		for i := range c.n {
			if !k.Has(c.from + i) {
				continue
			}
			c.entry(i, k.table.layout.words, entry)
			if err := b.add(entry); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return b.table()
}

// MissingRecords is the number of records without a value of variable v.
func (t *Table) MissingRecords(v int) int64 {
	var n int64
	f, missing := t.layout.fields[v], uint64(t.Variables[v].Missing())
	err := t.scan(scanKeys|scanCounts, func(c *chunk) error {
		for i := range c.n {
			if c.keys[i*t.layout.words+f.word]>>f.shift&f.mask() == missing {
				n += c.count(i)
			}
		}
		return nil
	})
	if err != nil {
		t.disk.fail(err)
	}
	return n
}
