package contingency

// A hashed table waits for memory at nearly every record once it is larger than the caches. Where many records have keys of their own it is
// quicker to put keys aside, and to sort them by the many.

const (
	sortedFrom   = 1 << 16 // classes from which sorting may pay
	sortedShare  = 8       // and one in so many records has a class of its own
	mostRuns     = 8       // before they are made one
	keyDigitBits = 11
)

// sortedKeys is how many keys are sorted together.
var sortedKeys = 1 << 20

// A sorted table has keys of one word that are put aside, and runs of those that have been sorted.
type sorted struct {
	keys, spare []uint64
	runs        [][]uint64 // keys and counts, by key; a key may be in several
	bits        uint       // of a key
}

// toSorted turns the hashed table into a sorted one.
func (c *Counter) toSorted() {
	s := &sorted{keys: make([]uint64, 0, sortedKeys), spare: make([]uint64, sortedKeys), bits: uint(c.layout.low)}
	var run []uint64
	for p := range c.table.part {
		run = append(run, c.table.compact(p)...)
		c.table.part[p] = partition{}
	}
	by := sorter{words: 1, stride: 2}
	by.sortEntries(run, make([]uint64, len(run)), 2)
	s.runs = append(s.runs, run)
	c.sorted = s
}

// toHashed turns the sorted table into a hashed one, for what a sorted one does not do.
func (c *Counter) toHashed() {
	s := c.sorted
	c.sorted = nil
	s.flush()
	for _, run := range s.runs {
		for i := 0; i < len(run); i += 2 {
			c.table.at(run[i : i+1])[0] += run[i+1]
		}
	}
}

// pays tells whether the hashed table of so many records should be a sorted one.
func (h *hashed) pays(records int64) bool {
	used := int64(0)
	for p := range h.part {
		used += int64(h.part[p].used)
	}
	return used >= sortedFrom && used > records/sortedShare
}

// add counts one record for each key.
func (s *sorted) add(keys []uint64) {
	for len(keys) > 0 {
		n := min(len(keys), cap(s.keys)-len(s.keys))
		s.keys = append(s.keys, keys[:n]...)
		if keys = keys[n:]; len(s.keys) == cap(s.keys) {
			s.flush()
		}
	}
}

// flush sorts the keys that were put aside, and makes a run of them.
func (s *sorted) flush() {
	if len(s.keys) == 0 {
		return
	}
	in := sortKeys(s.keys, s.spare[:len(s.keys)], s.bits)
	distinct := 1
	for i, k := range in[1:] {
		if k != in[i] {
			distinct++
		}
	}
	run := make([]uint64, 0, 2*distinct)
	last, n := in[0], uint64(0)
	for _, k := range in {
		if k != last {
			run = append(run, last, n)
			last, n = k, 0
		}
		n++
	}
	s.runs = append(s.runs, append(run, last, n))
	if s.keys = s.keys[:0]; len(s.runs) > mostRuns {
		s.runs = [][]uint64{merged(s.runs)}
	}
}

// merged is one run of several.
func merged(runs [][]uint64) []uint64 {
	if len(runs) == 1 {
		return runs[0]
	}
	half := (len(runs) + 1) / 2
	return mergedRuns(merged(runs[:half]), merged(runs[half:]))
}

// mergedRuns has the counts of both.
func mergedRuns(a, b []uint64) []uint64 {
	out := make([]uint64, len(a)+len(b))
	n := 0
	for len(a) > 0 && len(b) > 0 {
		x, y := a[0], b[0]
		switch {
		case x < y:
			out[n], out[n+1] = x, a[1]
			a = a[2:]
		case x > y:
			out[n], out[n+1] = y, b[1]
			b = b[2:]
		default:
			out[n], out[n+1] = x, a[1]+b[1]
			a, b = a[2:], b[2:]
		}
		n += 2
	}
	n += copy(out[n:], a)
	n += copy(out[n:], b)
	return out[:n]
}

// sortKeys sorts keys of so many bits by their digits, the least significant first; the result is one of both slices.
func sortKeys(keys, spare []uint64, bits uint) []uint64 {
	const most = (64 + keyDigitBits - 1) / keyDigitBits
	digits := min(max((bits+keyDigitBits-1)/keyDigitBits, 1), most)
	var at [most][1 << keyDigitBits]uint32
	for _, k := range keys {
		for d := range digits {
			at[d][k>>(d*keyDigitBits)&(1<<keyDigitBits-1)]++
		}
	}
	for d := range digits {
		shift := d * keyDigitBits
		if at[d][keys[0]>>shift&(1<<keyDigitBits-1)] == uint32(len(keys)) {
			continue // all have the same digit
		}
		sum := uint32(0)
		for i := range at[d] {
			at[d][i], sum = sum, sum+at[d][i]
		}
		place := &at[d]
		for _, k := range keys {
			digit := k >> shift & (1<<keyDigitBits - 1)
			spare[place[digit]] = k
			place[digit]++
		}
		keys, spare = spare, keys
	}
	return keys
}

// words is how many the table holds.
func (s *sorted) words() int64 {
	n := int64(cap(s.keys) + cap(s.spare))
	for _, run := range s.runs {
		n += int64(cap(run))
	}
	return n
}
