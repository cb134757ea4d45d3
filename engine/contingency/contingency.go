// Package contingency counts the combinations of key variables in microdata.
//
// A contingency table holds every distinct key that occurs, with the number of records that have it. Keys are packed
// into one or more 64-bit words of integer codes; code c of a variable stands for its category c, and the code after the last
// category stands for a missing value. Tables know no policy for missing values: whoever reads a table applies one.
//
// Counting goes in two steps. Each worker has a [Counter] and adds batches of rows to it, with provisional codes that
// are handed out as categories are met (0 is missing). At the end [Merge] brings all counters together, translates to final
// codes (categories in the order of their values, missing last) and sorts the classes by code, so that the table is the
// same whatever the order of rows, the number of workers and the size of batches.
//
// What does not fit in memory goes to a [Store]: a counter that has grown too large spills ([Counter.Spill]), and [Merge] sorts
// what was spilled within a given memory, range by range of the final key, as external sorting does (Knuth, The Art of Computer
// Programming 3, 5.4; distribution by splitters as in sample sort). The table that comes out is the same. If it is too large for memory
// it stays on disk, where rows are looked up by the [Block]: sorted, and merged with the classes in one reading.
package contingency

import (
	"slices"
	"strconv"
	"strings"
)

// A Key is one key variable of a [Request].
type Key struct {
	Name         string
	MissingCodes []string // values that count as missing besides null
	Levels       []string // declared categories; nil means those observed
}

// A Sum is a numeric column to be added up per class.
type Sum struct {
	Name   string
	Weight bool // values must be finite and positive, as sampling weights are
}

// A Request names a table: the key variables in order, and the columns to add up per class. A request without keys has
// one class, all records.
type Request struct {
	Keys []Key
	Sums []Sum
}

// A Variable of a finished table.
type Variable struct {
	Name       string
	Categories []string // label of each code, in the order of values; declared but unobserved ones included
	Order      Order    // of the values
}

// Missing is the code of a missing value.
func (v Variable) Missing() uint32 { return uint32(len(v.Categories)) }

// A Column gives the codes of one variable for a run of rows without a copy: row r has code Codes[Index[r]], or Null if
// bit Offset+r of Valid (least significant first, as Arrow has it) is 0. A nil Valid means that no row is null.
type Column struct {
	Index  []int32
	Valid  []byte
	Offset int
	Codes  []uint32
	Null   uint32
}

// ID is the canonical name of a request: two requests have the same ID exactly when they ask for the same table. The order of
// missing codes and of levels does not matter, the order of keys and sums does; declared levels, even none, differ from
// observed ones.
func (r Request) ID() string {
	var b strings.Builder
	set := func(values []string) {
		values = slices.Clone(values)
		slices.Sort(values)
		b.WriteByte('[')
		for _, v := range slices.Compact(values) {
			b.WriteString(strconv.Quote(v))
		}
		b.WriteByte(']')
	}
	for _, k := range r.Keys {
		b.WriteString("key ")
		b.WriteString(strconv.Quote(k.Name))
		set(k.MissingCodes)
		if k.Levels != nil {
			set(k.Levels)
		}
		b.WriteByte(';')
	}
	for _, s := range r.Sums {
		b.WriteString("sum ")
		b.WriteString(strconv.Quote(s.Name))
		b.WriteString(strconv.FormatBool(s.Weight))
		b.WriteByte(';')
	}
	return b.String()
}
