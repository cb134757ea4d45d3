package contingency

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"sync"
)

// A Table is a finished contingency table. It is immutable and safe for concurrent use. Classes are numbered from 0 in the
// lexicographic order of their codes, first variable first. The classes of a large one may lie on disk, see [Merge]; reading
// them in their order is then fast, and [Table.Err] tells whether all could be read.
type Table struct {
	Variables []Variable

	layout   layout
	classes  int
	records  int64
	keys     []uint64 // layout.words words a class
	counts32 []uint32 // one of the two is nil
	counts64 []int64
	sums     [][]fixed // sums[s][class]
	workers  int       // goroutines of what is done with the table; 0 means GOMAXPROCS
	disk     *disk     // where the classes are if not in keys, counts and sums

	once  sync.Once
	index index
}

// New makes a table from the codes of its classes, codes[v][i] for class i, in any order (equal keys are added together).
// Counts of 0 are left out; a negative count and a code beyond the variable's missing code are errors.
func New(variables []Variable, codes [][]uint32, counts []int64) (*Table, error) {
	return newTable(variables, codes, counts, 0)
}

// Of makes a table over the same variables as New does, with the goroutines of this one.
func (t *Table) Of(codes [][]uint32, counts []int64) (*Table, error) {
	return newTable(t.Variables, codes, counts, t.workers)
}

// goroutines is how many there may be.
func goroutines(workers int) int {
	if workers <= 0 {
		return runtime.GOMAXPROCS(0)
	}
	return workers
}

func newTable(variables []Variable, codes [][]uint32, counts []int64, workers int) (*Table, error) {
	l, err := layoutOf(variables)
	if err != nil {
		return nil, err
	}
	if len(codes) != len(variables) {
		return nil, fmt.Errorf("contingency: codes of %d variables for a table of %d", len(codes), len(variables))
	}
	for v := range codes {
		if len(codes[v]) != len(counts) {
			return nil, fmt.Errorf("contingency: %d codes of variable %q for %d counts", len(codes[v]), variables[v].Name, len(counts))
		}
		for i, c := range codes[v] {
			if c > variables[v].Missing() {
				return nil, fmt.Errorf(
					"contingency: code %d of class %d is beyond the %d categories of variable %q",
					c,
					i,
					len(variables[v].Categories),
					variables[v].Name,
				)
			}
		}
	}
	stride := l.words + 1
	slab := make([]uint64, len(counts)*stride)
	var records int64
	used := 0
	for i, n := range counts {
		if n < 0 {
			return nil, fmt.Errorf("contingency: class %d has count %d", i, n)
		}
		if n == 0 {
			continue
		}
		if records > math.MaxInt64-n {
			return nil, errRecords
		}
		records += n
		entry := slab[used*stride : (used+1)*stride]
		for v := range codes {
			entry[l.fields[v].word] |= uint64(codes[v][i]) << l.fields[v].shift
		}
		entry[l.words] = uint64(n)
		used++
	}
	return assemble(context.Background(), variables, l, 0, workers, [][]uint64{slab[:used*stride]})
}

// Classes is the number of distinct keys.
func (t *Table) Classes() int { return t.classes }

// Records is the number of records counted.
func (t *Table) Records() int64 { return t.records }

// Sums is the number of columns added up per class.
func (t *Table) Sums() int { return len(t.sums) }

// Count is the number of records in class i, at least 1.
func (t *Table) Count(i int) int64 {
	if t.disk != nil {
		return t.disk.count(i)
	}
	if t.counts64 != nil {
		return t.counts64[i]
	}
	return int64(t.counts32[i])
}

// Code is the code of class i on variable v.
func (t *Table) Code(i, v int) uint32 {
	f := t.layout.fields[v]
	if t.disk != nil {
		var code [1]uint32
		t.disk.codes(f, i, code[:])
		return code[0]
	}
	return uint32(t.keys[i*t.layout.words+f.word] >> f.shift & f.mask())
}

// Codes writes the codes of classes from, from+1, ... on variable v to dst; dst must not reach beyond the last class.
func (t *Table) Codes(v, from int, dst []uint32) {
	if len(dst) == 0 {
		return
	}
	f, words, mask := t.layout.fields[v], t.layout.words, t.layout.fields[v].mask()
	if t.disk != nil {
		t.disk.codes(f, from, dst)
		return
	}
	keys := t.keys[from*words : (from+len(dst))*words]
	if words == 1 {
		for i, k := range keys {
			dst[i] = uint32(k >> f.shift & mask)
		}
		return
	}
	for i := range dst {
		dst[i] = uint32(keys[i*words+f.word] >> f.shift & mask)
	}
}

// Sum is the exact total of sum s over class i, rounded once to float64.
func (t *Table) Sum(i, s int) float64 {
	if t.disk != nil {
		return t.disk.sum(i, s).float()
	}
	return t.sums[s][i].float()
}

// SumModulo is the total of sum s over class i modulo 2^64, to the last digit, where its values are whole numbers; exact is false if the
// total is none. Keys of records for noise add up so: a float64 holds one of up to 53 bits exactly.
func (t *Table) SumModulo(i, s int) (whole uint64, exact bool) {
	if t.disk != nil {
		return t.disk.sum(i, s).modulo()
	}
	return t.sums[s][i].modulo()
}

// SumOver is the exact total of sum s over all classes for which keep is true (all, if keep is nil), rounded once to float64.
func (t *Table) SumOver(s int, keep func(i int) bool) float64 {
	var a accumulator
	err := t.scan(scanSums, func(c *chunk) error {
		for i := range c.n {
			if keep == nil || keep(c.from+i) {
				a.add(c.sum(i, s))
			}
		}
		return nil
	})
	if err != nil {
		t.disk.fail(err)
		return 0
	}
	return a.float()
}

// Margin is the table over some of the variables, by position, in the order given. A position out of range or named twice
// a sum that passes 2^95 and a context that ends are errors. The margin is in memory, wherever the table is.
func (t *Table) Margin(ctx context.Context, variables ...int) (*Table, error) {
	vars := make([]Variable, len(variables))
	seen := make(map[int]bool, len(variables))
	for i, v := range variables {
		if v < 0 || v >= len(t.Variables) {
			return nil, fmt.Errorf("contingency: margin over variable %d of a table of %d", v, len(t.Variables))
		}
		if seen[v] {
			return nil, fmt.Errorf("contingency: margin over variable %q twice", t.Variables[v].Name)
		}
		seen[v] = true
		vars[i] = t.Variables[v]
	}
	l, err := layoutOf(vars)
	if err != nil {
		return nil, err
	}
	// Counting into a small table first leaves little to sort.
	values := 1 + 2*len(t.sums)
	table := newHashed(l.words, values)
	key := make([]uint64, l.words)
	value := make([]uint64, values)
	err = t.scan(scanKeys|scanCounts|scanSums, func(c *chunk) error {
		for i := range c.n {
			if i%checkedEntries == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
			clear(key)
			whole := c.keys[i*t.layout.words : (i+1)*t.layout.words]
			for j, v := range variables {
				key[l.fields[j].word] |= uint64(t.layout.code(whole, v)) << l.fields[j].shift
			}
			value[0] = uint64(c.count(i))
			for s := range t.sums {
				x := c.sum(i, s)
				value[1+2*s], value[2+2*s] = x.hi, x.lo
			}
			if !addValues(table.at(key), value) {
				return errSum
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	slabs := make([][]uint64, 0, parts)
	for p := range table.part {
		slabs = append(slabs, table.compact(p))
	}
	return assemble(ctx, vars, l, len(t.sums), t.workers, slabs)
}

// Bytes is the memory that the table holds, without the labels of its variables.
func (t *Table) Bytes() int64 {
	n := 8*int64(cap(t.keys)) + 4*int64(cap(t.counts32)) + 8*int64(cap(t.counts64))
	for s := range t.sums {
		n += 16 * int64(cap(t.sums[s]))
	}
	if t.disk != nil {
		n += t.disk.held()
	}
	return n + t.index.bytes.Load()
}
