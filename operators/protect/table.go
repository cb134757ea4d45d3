package protect

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
	"slices"

	"microrisk/engine/tabular"
	"microrisk/engine/tabular/detection"
	"microrisk/engine/tabular/protection"
	"microrisk/operators/tablefile"
)

// MaxUnits is the largest value of a cell, in units.
const MaxUnits = 1 << 53

// A Table is what is to be protected. Slices are by cell of the grid.
type Table struct {
	Grid       *tabular.Grid
	Response   string // "" for counts
	Decimals   int    // of values, which are whole numbers of units of the last one
	Values     []int64
	Cells      []detection.Cell // what rules look at; Total is the sum of absolute contributions
	Sole       []int64          // who the only contributor of a cell is, from 1; 0 for a cell with none or several
	Status     []string         // what a ready-made table says of cells: a word of detection, or ""; nil for none
	Lower      []int64          // needed levels that a ready-made table says; nil for none
	Upper      []int64
	Recodes    []Recoded // what was merged before cells were counted
	RecordKeys []uint64  // sums of the keys of records, by which noise of people is drawn; nil for none
	Again      Again     // makes it with other recodes; nil where nothing was kept to make it of
}

// A Recoded variable has other codes than the records.
type Recoded struct {
	Variable string
	List     []tablefile.Recode
}

// size is the absolute value of a cell.
func (t *Table) size(cell int) int64 { return max(t.Values[cell], -t.Values[cell]) }

// Level is the protection that a cell needs on both sides where no rule says more.
func (t *Table) Level(cell int) int64 {
	return detection.ShareLevel(t.size(cell), detection.DefaultRange)
}

// Needs are those of cells that disclose, by what findings say of them; with a sliding width, that alone.
func (t *Table) Needs(findings []detection.Finding, sliding *int) []protection.Need {
	var list []protection.Need
	for cell, f := range findings {
		if !f.Status.Primary() {
			continue
		}
		n := protection.Need{Cell: int32(cell), Lower: f.Lower, Upper: f.Upper}
		if sliding != nil {
			n = protection.Need{Cell: int32(cell), Sliding: int64(*sliding)}
		}
		list = append(list, n)
	}
	return list
}

// Text is a value as people write it.
func (t *Table) Text(units int64) string { return decimal(units, t.Decimals) }

func decimal(units int64, decimals int) string {
	if decimals == 0 {
		return fmt.Sprint(units)
	}
	sign, u := "", uint64(units)
	if units < 0 {
		sign, u = "-", uint64(-units)
	}
	one := uint64(math.Pow10(decimals))
	return fmt.Sprintf("%s%d.%0*d", sign, u/one, decimals, u%one)
}

// An adder adds cells up from the finest ones.
type adder struct {
	table *Table
	most  int // of the largest contributions that are kept
	above [][]int32
	own   map[int32]int64 // of one contributor, by cell
	// Of weighted records, by leaf cell: rounded when all are there, so that totals are the sums of what is rounded.
	weighted, absolute map[int32]float64
}

func newAdder(grid *tabular.Grid, most int) *adder {
	n := grid.Cells()
	return &adder{table: &Table{Grid: grid, Values: make([]int64, n), Cells: make([]detection.Cell, n), Sole: make([]int64, n)}, most: most,
		above: make([][]int32, n), own: make(map[int32]int64), weighted: make(map[int32]float64), absolute: make(map[int32]float64)}
}

// totals are the cells that a leaf cell is in, itself too.
func (a *adder) totals(leaf int) []int32 {
	if a.above[leaf] != nil {
		return a.above[leaf]
	}
	nodes := slices.Clone(a.table.Grid.Nodes(leaf))
	var list []int32
	var walk func(v int)
	walk = func(v int) {
		if v == len(nodes) {
			list = append(list, int32(a.table.Grid.Find(nodes)))
			return
		}
		own := nodes[v]
		for n := int(own); n >= 0; n = a.table.Grid.Trees[v].Nodes[n].Parent {
			nodes[v] = int32(n)
			walk(v + 1)
		}
		nodes[v] = own
	}
	walk(0)
	a.above[leaf] = list
	return list
}

// A share is what equal records gave to a leaf cell.
type share struct {
	leaf    int
	records int64
	each    int64    // the value of a record
	weight  *float64 // of all these records together; nil if they have none
	heavy   bool     // weights stand for contributors
}

// records adds records that are contributors themselves.
func (a *adder) records(s share) error {
	value, err := a.value(s)
	if err != nil {
		return err
	}
	times, part := s.records, int64(0)
	if s.heavy {
		whole := math.Floor(*s.weight)
		times, part = int64(min(whole, float64(math.MaxInt32))), int64(math.Round(math.Abs(float64(s.each))*(*s.weight-whole)))
	}
	for _, cell := range a.totals(s.leaf) {
		c := &a.table.Cells[cell]
		a.put(c, max(s.each, -s.each), times)
		if part > 0 {
			a.put(c, part, 1)
		}
		if err := a.contribute(cell, s.records, s.records, value, int64(s.leaf)+1); err != nil {
			return err
		}
	}
	return nil
}

// holder adds all that a contributor gave, to leaf cells: shares of as many records. who is from 1.
func (a *adder) holder(who int64, list []share) error {
	clear(a.own)
	for _, s := range list {
		value, err := a.value(s)
		if err != nil {
			return err
		}
		all, err := product(s.each, s.records)
		if err != nil {
			return a.wrong(int32(s.leaf), err)
		}
		for _, cell := range a.totals(s.leaf) {
			a.own[cell] += all
			if err := a.contribute(cell, s.records, 0, value, 0); err != nil {
				return err
			}
		}
	}
	for cell, size := range a.own {
		c := &a.table.Cells[cell]
		c.Contributors++
		a.put(c, max(size, -size), 1)
		if a.table.Sole[cell] = who; c.Contributors > 1 {
			a.table.Sole[cell] = 0
		}
	}
	return nil
}

// contribute adds to a cell's figures.
func (a *adder) contribute(cell int32, records, contributors, value, who int64) error {
	c := &a.table.Cells[cell]
	c.Records += records
	if contributors > 0 {
		c.Contributors += contributors
		if a.table.Sole[cell] = who; c.Contributors > 1 {
			a.table.Sole[cell] = 0
		}
	}
	a.table.Values[cell] += value
	c.Total += max(value, -value)
	if c.Total > MaxUnits {
		return a.wrong(cell, errTooLarge)
	}
	return nil
}

// put takes equal contributions among the largest.
func (a *adder) put(c *detection.Cell, size, times int64) {
	at, _ := slices.BinarySearchFunc(c.Top, size, func(x, y int64) int {
		if x >= y {
			return -1
		}
		return 1
	})
	for range min(times, int64(a.most-at)) {
		c.Top = slices.Insert(c.Top, at, size)
	}
	c.Top = c.Top[:min(len(c.Top), a.most)]
}

func (a *adder) wrong(cell int32, err error) error {
	return fmt.Errorf("the cell %s: %w", tabular.Words(a.table.Grid.Codes(int(cell))), err)
}

var errTooLarge = errors.New("its value is beyond 2^53 units; take fewer decimals, or a response in thousands")

// value is what a share adds to the values of cells at once: nothing if it is weighted, which is added to its leaf cell.
func (a *adder) value(s share) (int64, error) {
	if s.weight != nil {
		x := float64(s.each) * *s.weight
		a.weighted[int32(s.leaf)] += x
		a.absolute[int32(s.leaf)] += math.Abs(x)
		return 0, nil
	}
	value, err := product(s.each, s.records)
	if err != nil {
		return 0, a.wrong(int32(s.leaf), err)
	}
	return value, nil
}

// finish rounds what is weighted.
func (a *adder) finish() error {
	for leaf, x := range a.weighted {
		value, absolute := math.Round(x), math.Round(a.absolute[leaf])
		if absolute > MaxUnits {
			return a.wrong(leaf, errTooLarge)
		}
		for _, cell := range a.totals(int(leaf)) {
			a.table.Values[cell] += int64(value)
			if a.table.Cells[cell].Total += int64(absolute); a.table.Cells[cell].Total > MaxUnits {
				return a.wrong(cell, errTooLarge)
			}
		}
	}
	return nil
}

// product is a value times a number of records.
func product(each, times int64) (int64, error) {
	hi, lo := bits.Mul64(uint64(max(each, -each)), uint64(times))
	if hi != 0 || lo > MaxUnits {
		return 0, errTooLarge
	}
	if each < 0 {
		return -int64(lo), nil
	}
	return int64(lo), nil
}
