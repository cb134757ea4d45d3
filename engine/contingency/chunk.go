package contingency

// A chunk is a run of classes of a table, wherever it lies.
type chunk struct {
	from     int
	n        int
	keys     []uint64
	counts32 []uint32 // one of the two is nil
	counts64 []int64
	sums     [][]fixed
	rows     []uint64 // sums of a table on disk, class by class
	each     int      // sums a class
}

func (c *chunk) count(i int) int64 {
	if c.counts64 != nil {
		return c.counts64[i]
	}
	return int64(c.counts32[i])
}

func (c *chunk) sum(i, s int) fixed {
	if c.sums != nil {
		return c.sums[s][i]
	}
	at := 2 * (i*c.each + s)
	return fixed{c.rows[at], c.rows[at+1]}
}

// Parts of a class that a scan reads.
const (
	scanKeys = 1 << iota
	scanCounts
	scanSums
)

// scanWords is the size of the buffers that classes are read to from disk, in words of 64 bits.
const scanWords = 1 << 16

// scan calls f for all classes in order. A chunk is good until f returns.
func (t *Table) scan(parts int, f func(c *chunk) error) error {
	if t.disk == nil {
		return f(&chunk{n: t.classes, keys: t.keys, counts32: t.counts32, counts64: t.counts64, sums: t.sums})
	}
	most := max(1, scanWords/(t.layout.words+1+2*len(t.sums)))
	r := t.reader(most, parts)
	for from := 0; from < t.classes; from += most {
		if err := r.read(from, min(most, t.classes-from)); err != nil {
			return err
		}
		if err := f(&r.chunk); err != nil {
			return err
		}
	}
	return nil
}

// A reader reads classes from disk to buffers of its own.
type reader struct {
	table *Table
	parts int
	chunk chunk
}

func (t *Table) reader(most, parts int) *reader {
	most = min(most, t.classes)
	r := &reader{table: t, parts: parts, chunk: chunk{each: len(t.sums)}}
	if parts&scanKeys != 0 {
		r.chunk.keys = make([]uint64, most*t.layout.words)
	}
	if parts&scanCounts != 0 && t.disk.counts.width == 4 {
		r.chunk.counts32 = make([]uint32, most)
	} else if parts&scanCounts != 0 {
		r.chunk.counts64 = make([]int64, most)
	}
	if parts&scanSums != 0 {
		r.chunk.rows = make([]uint64, most*2*len(t.sums))
	}
	return r
}

// read makes the chunk the classes from to from+n.
func (r *reader) read(from, n int) error {
	c, d := &r.chunk, r.table.disk
	c.from, c.n = from, n
	if r.parts&scanKeys != 0 {
		c.keys = c.keys[:n*r.table.layout.words]
		if err := d.keys.read(bytesOf(c.keys), from); err != nil {
			return err
		}
	}
	if c.counts32 != nil {
		c.counts32 = c.counts32[:n]
		if err := d.counts.read(bytesOf(c.counts32), from); err != nil {
			return err
		}
	}
	if c.counts64 != nil {
		c.counts64 = c.counts64[:n]
		if err := d.counts.read(bytesOf(c.counts64), from); err != nil {
			return err
		}
	}
	if len(c.rows) > 0 {
		c.rows = c.rows[:n*2*c.each]
		return d.sums.read(bytesOf(c.rows), from)
	}
	return nil
}

// entry copies class i of the chunk, whose keys have so many words: key, count, sums.
func (c *chunk) entry(i, words int, to []uint64) {
	copy(to, c.keys[i*words:(i+1)*words])
	to[words] = uint64(c.count(i))
	for s := range (len(to) - words - 1) / 2 {
		x := c.sum(i, s)
		to[words+1+2*s], to[words+2+2*s] = x.hi, x.lo
	}
}
