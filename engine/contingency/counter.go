package contingency

import (
	"errors"
	"fmt"
	"math"
)

// Sizes of a dense table, in bits of the key: up to denseAlways it is cheaper than hashing for any number of rows; up to
// denseMost it pays once there are enough rows to fill it.
const (
	denseAlways = 12
	denseMost   = 21
)

var errRecords = errors.New("contingency: more than 2^63-1 records")

// A Counter counts keys of provisional codes. One worker has one Counter; it is not safe for concurrent use.
type Counter struct {
	variables int
	sums      int
	layout    layout
	records   int64 // spilled ones included
	since     int64 // records at the last spill
	spilled   spilled
	packer    packer
	table     hashed
	dense     []uint64 // dense[key*(1+2*sums)]: count, then sums; nil while the table is hashed
	sorted    *sorted  // nil while the table is hashed, or dense
	row       []uint64 // count and sums of one row
}

// NewCounter returns an empty counter of keys of the given number of variables, with the given number of sums per class.
func NewCounter(variables, sums int) *Counter {
	return &Counter{variables: variables, sums: sums}
}

// Add counts rows records. cols has one Column a variable, of provisional codes (0 missing, the others handed out from 1
// upwards; a code may be larger than any before, the counter widens its keys). times, when not nil, says how many records
// each row stands for (a row of 0 is left out, a negative one is an error). sums has one slice a sum, one value a row: value
// times multiplicity is rounded once to a multiple of 2^-32 and added exactly; NaN, infinite values and sums past 2^95 are
// errors. After an error the counter must not be used any more.
func (c *Counter) Add(rows int, cols []Column, times []int64, sums [][]float64) error {
	if err := c.checkBatch(rows, cols, times, sums); err != nil {
		return err
	}
	if rows == 0 {
		return nil
	}
	if err := c.fit(rows, cols); err != nil {
		return err
	}
	switch plain := times == nil && c.sums == 0; {
	case plain && c.dense == nil && c.sorted == nil && c.layout.words == 1 && c.table.pays(c.records-c.since):
		c.toSorted()
	case !plain && c.sorted != nil:
		c.toHashed()
	}
	c.packer.prepare(&c.layout, rows, cols, false)
	for from := 0; from < rows; from += chunkRows {
		n := min(chunkRows, rows-from)
		if err := c.packer.pack(&c.layout, cols, from, n); err != nil {
			return err
		}
		if times == nil && c.sums == 0 {
			if c.records > math.MaxInt64-int64(n) {
				return errRecords
			}
			c.records += int64(n)
			c.countRows(n)
			continue
		}
		if err := c.addRows(from, n, times, sums); err != nil {
			return err
		}
	}
	return nil
}

func (c *Counter) checkBatch(rows int, cols []Column, times []int64, sums [][]float64) error {
	if c.variables > maxVariables {
		return fmt.Errorf("contingency: %d key variables, at most %d are possible", c.variables, maxVariables)
	}
	if err := check(rows, c.variables, cols); err != nil {
		return err
	}
	if len(sums) != c.sums {
		return fmt.Errorf("contingency: a batch with %d sums for a counter of %d", len(sums), c.sums)
	}
	if times != nil && len(times) < rows {
		return fmt.Errorf("contingency: %d multiplicities for %d rows", len(times), rows)
	}
	for s := range sums {
		if len(sums[s]) < rows {
			return fmt.Errorf("contingency: %d values of sum %d for %d rows", len(sums[s]), s, rows)
		}
	}
	return nil
}

// fit widens the layout where the codes of a batch need it and chooses between the dense and the hashed table.
func (c *Counter) fit(rows int, cols []Column) error {
	wider := c.layout.fields == nil
	widths := make([]uint8, c.variables)
	for v := range cols {
		if c.layout.fields != nil {
			widths[v] = c.layout.fields[v].bits
		}
		need := width(largest(&cols[v], rows))
		if need <= widths[v] {
			continue
		}
		if c.layout.fields != nil { // headroom, so that a dictionary that grows does not re-key at every step
			need = min(need+1, 32)
		}
		widths[v] = need
		wider = true
	}
	if wider {
		if c.sorted != nil {
			c.toHashed()
		}
		c.rekey(newLayout(widths))
	}
	if l := &c.layout; c.dense == nil && c.sorted == nil && l.words == 1 && l.low <= denseMost {
		size := int64(1) << l.low
		if l.low <= denseAlways || (c.records-c.since+int64(rows))*4 >= size*int64(1+2*c.sums) {
			c.toDense()
		}
	}
	return nil
}

// rekey moves everything counted so far to a new layout.
func (c *Counter) rekey(l layout) {
	old, was, dense := c.table, c.layout, c.dense
	c.layout = l
	c.dense = nil
	c.table = newHashed(l.words, 1+2*c.sums)
	c.row = make([]uint64, 1+2*c.sums)
	if was.fields == nil {
		return
	}
	key := make([]uint64, l.words)
	move := func(from []uint64, value []uint64) {
		clear(key)
		for v := range l.fields {
			key[l.fields[v].word] |= uint64(was.code(from, v)) << l.fields[v].shift
		}
		copy(c.table.at(key), value)
	}
	eachDense(dense, 1+2*c.sums, func(k uint64, value []uint64) { move([]uint64{k}, value) })
	old.each(move)
}

// toDense turns the hashed table into a dense one.
func (c *Counter) toDense() {
	stride := 1 + 2*c.sums
	c.dense = make([]uint64, stride<<c.layout.low)
	c.table.each(func(key, value []uint64) { copy(c.dense[int(key[0])*stride:], value) })
	c.table = newHashed(1, stride)
}

func eachDense(dense []uint64, stride int, f func(key uint64, value []uint64)) {
	for at := 0; at < len(dense); at += stride {
		if dense[at] != 0 {
			f(uint64(at/stride), dense[at:at+stride])
		}
	}
}

// countRows counts n packed rows, one record each.
func (c *Counter) countRows(n int) {
	switch {
	case c.dense != nil:
		dense := c.dense
		for _, k := range c.packer.words[0][:n] {
			dense[k]++
		}
	case c.sorted != nil:
		c.sorted.add(c.packer.words[0][:n])
	case c.layout.words == 1:
		c.table.count1(c.packer.words[0][:n])
	default:
		key := make([]uint64, c.layout.words)
		for r := range n {
			for w := range key {
				key[w] = c.packer.words[w][r]
			}
			c.table.at(key)[0]++
		}
	}
}

// addRows counts n packed rows with multiplicities or sums.
func (c *Counter) addRows(from, n int, times []int64, sums [][]float64) error {
	stride := 1 + 2*c.sums
	key := make([]uint64, c.layout.words)
	for r := range n {
		many := int64(1)
		if times != nil {
			many = times[from+r]
		}
		if many < 0 {
			return fmt.Errorf("contingency: row %d of the batch has multiplicity %d", from+r, many)
		}
		if many == 0 {
			continue
		}
		if c.records > math.MaxInt64-many {
			return errRecords
		}
		c.records += many
		c.row[0] = uint64(many)
		for s := range sums {
			x, err := newFixed(sums[s][from+r], many)
			if err != nil {
				return fmt.Errorf("%w (row %d of the batch, sum %d)", err, from+r, s)
			}
			c.row[1+2*s], c.row[2+2*s] = x.hi, x.lo
		}
		var value []uint64
		if c.dense != nil {
			at := int(c.packer.words[0][r]) * stride
			value = c.dense[at : at+stride]
		} else {
			for w := range key {
				key[w] = c.packer.words[w][r]
			}
			value = c.table.at(key)
		}
		if !addValues(value, c.row) {
			return fmt.Errorf("%w (row %d of the batch)", errSum, from+r)
		}
	}
	return nil
}

// addValues adds count and sums of from to those of to; false when a sum overflows.
func addValues(to, from []uint64) bool {
	to[0] += from[0] // cannot overflow: the records of the whole table fit int64
	for s := 1; s < len(from); s += 2 {
		x, ok := fixed{to[s], to[s+1]}.plus(fixed{from[s], from[s+1]})
		if !ok {
			return false
		}
		to[s], to[s+1] = x.hi, x.lo
	}
	return true
}

// Bytes is the memory that the counter holds.
func (c *Counter) Bytes() int64 {
	n := int64(cap(c.dense)) + c.table.capacity()
	if c.sorted != nil {
		n += c.sorted.words()
	}
	for v := range c.packer.shifted {
		n += int64(cap(c.packer.shifted[v]))
	}
	return 8 * (n + int64(len(c.packer.words))*chunkRows)
}
