// Package recoding finds the least change of key variables after which a release is safe: the same coarser categories for all records. The
// recodings of a key are the nodes of a lattice, a level of its hierarchy for each variable; the table of a node is merged from that of a finer one,
// never counted from the file.
//
//	l, err := recoding.New([]recoding.Variable{{Name: "age", Levels: levels, Most: 4}}, codes, counts)
//	found, err := l.Search(ctx, recoding.Options{Rule: recoding.K(5), Most: 100, Loss: recoding.Entropy{}})
//
// Sources: Samarati 2001 (the lattice), Sweeney 2002 (k-anonymity, precision), Iyengar 2002 (granularity), Gionis & Tassa 2009 (non-uniform entropy),
// Bayardo & Agrawal 2005 (discernibility), LeFevre, DeWitt & Ramakrishnan 2005 (margins prune), Kohlmayer et al. 2012 (chains).
package recoding

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
	"slices"
)

// A Variable of the key with its hierarchy.
type Variable struct {
	Name   string
	Levels []Level // each a coarser partition than the one before; level 0 has a group for each value
	Weight float64 // of its loss, at least 0
	Least  int     // the lowest level that may be taken
	Most   int     // the highest
}

// A Level is a partition of the values of a variable.
type Level struct {
	Group []uint32 // of each code
	Names []string // of each group
	Size  []int    // values of the hierarchy in each group, in the file or not; nil: as many as codes
}

// A Node has the level of each variable.
type Node []uint8

// String is the levels, with blanks.
func (n Node) String() string {
	text := ""
	for i, l := range n {
		if i > 0 {
			text += " "
		}
		text += fmt.Sprint(l)
	}
	return text
}

// Finer tells whether no variable is at a higher level than in the other node.
func (n Node) Finer(than Node) bool {
	for v, l := range n {
		if l > than[v] {
			return false
		}
	}
	return true
}

// Height is the sum of the levels.
func (n Node) Height() int {
	sum := 0
	for _, l := range n {
		sum += int(l)
	}
	return sum
}

// A Lattice has all recodings of a key, and its table. It is not safe for concurrent use.
type Lattice struct {
	Variables []Variable
	Records   int64

	domain  []float64              // D: values of each variable's hierarchy
	sums    [][][]int64            // records of each group, by variable and level
	same    [][]bool               // by variable and level: the partition is that of the level before
	fields  []field                // of a packed key; the last one is that of the sensitive values, if there are any
	words   int                    // of a packed key
	lead    int                    // the variable that tables are in the order of
	levels  int                    // of sensitive values; 0: there are none
	up      map[step][]uint32      // groups of one level to those of a coarser one
	figures map[string][][]float64 // of single variables and levels
	least   map[string][]float64   // of groups in a coarser one
	tables  *cache
	room    []*merger // of the merges, by part
	merged  int64     // rows of tables that were merged
}

// A step goes up from one level of a variable to another.
type step struct{ variable, from, to int }

// A field is where the code of a variable stands in a key.
type field struct {
	word, shift int
	mask        uint64
}

// mostLevels is how many levels a hierarchy may have.
const mostLevels = 255

// New makes the lattice of a table: codes[v][i] is the code of class i on variable v, and counts[i] its records, at least 1; equal keys may be there
// more than once. Errors: levels that are no partitions or do not nest, codes without a group, weights and levels out of range.
func New(variables []Variable, codes [][]uint32, counts []int64) (*Lattice, error) {
	return NewSensitive(variables, codes, counts, nil, 0)
}

// NewSensitive is New with a value below values of each class that intruders must not learn; classes differ by it, too.
func NewSensitive(variables []Variable, codes [][]uint32, counts []int64, sensitive []uint32, values int) (*Lattice, error) {
	l := &Lattice{Variables: slices.Clone(variables), up: map[step][]uint32{}, figures: map[string][][]float64{}, least: map[string][]float64{},
		levels: values}
	if len(variables) == 0 {
		return nil, errors.New("a recoding needs key variables")
	}
	if len(codes) != len(variables) {
		return nil, fmt.Errorf("there are codes of %d variables, want %d", len(codes), len(variables))
	}
	at := 0
	place := func(levels int) {
		width := max(1, bits.Len(uint(max(levels, 1)-1)))
		if at/64 != (at+width-1)/64 {
			at = (at/64 + 1) * 64
		}
		l.fields = append(l.fields, field{at / 64, at % 64, 1<<width - 1})
		at += width
	}
	for v := range variables {
		if err := l.check(v); err != nil {
			return nil, err
		}
		place(len(variables[v].Levels[0].Group))
		if len(codes[v]) != len(counts) {
			return nil, fmt.Errorf("there are codes of %d classes of %s, want %d", len(codes[v]), variables[v].Name, len(counts))
		}
	}
	if values > 0 {
		place(values)
	}
	l.words = (at + 63) / 64
	return l, l.fill(codes, counts, sensitive)
}

// check finds what is wrong with the hierarchy of a variable.
func (l *Lattice) check(v int) error {
	x := &l.Variables[v]
	if len(x.Levels) == 0 || len(x.Levels) > mostLevels {
		return fmt.Errorf("%s has %d levels, want 1 to %d", x.Name, len(x.Levels), mostLevels)
	}
	if !(x.Weight >= 0) || math.IsInf(x.Weight, 1) {
		return fmt.Errorf("the weight of %s is %v: it must be a number of at least 0", x.Name, x.Weight)
	}
	if x.Least < 0 || x.Least > x.Most || x.Most >= len(x.Levels) {
		return fmt.Errorf("%s may be at levels %d to %d: its levels are 0 to %d", x.Name, x.Least, x.Most, len(x.Levels)-1)
	}
	codes := len(x.Levels[0].Group)
	same := make([]bool, len(x.Levels))
	for k := range x.Levels {
		level := &x.Levels[k]
		if len(level.Group) != codes {
			return fmt.Errorf("level %d of %s has groups of %d values, want %d", k, x.Name, len(level.Group), codes)
		}
		groups := len(level.Names)
		for _, g := range level.Group {
			groups = max(groups, int(g)+1)
		}
		if level.Size == nil {
			level.Size = make([]int, groups)
			for _, g := range level.Group {
				level.Size[g]++
			}
		}
		if len(level.Size) < groups {
			return fmt.Errorf("level %d of %s has the sizes of %d groups, want %d", k, x.Name, len(level.Size), groups)
		}
		if k == 0 {
			continue
		}
		if _, err := l.above(v, k-1, k); err != nil {
			return err
		}
		back := map[uint32]uint32{}
		same[k] = true
		for code, g := range level.Group {
			below := x.Levels[k-1].Group[code]
			if first, seen := back[g]; seen && first != below {
				same[k] = false
				break
			}
			back[g] = below
		}
	}
	domain := 0
	for _, n := range x.Levels[0].Size {
		domain += n
	}
	l.domain, l.same = append(l.domain, float64(domain)), append(l.same, same)
	return nil
}

// above are the groups of a level that those of a finer one lie in.
func (l *Lattice) above(v, from, to int) ([]uint32, error) {
	if up, made := l.up[step{v, from, to}]; made {
		return up, nil
	}
	fine, coarse := &l.Variables[v].Levels[from], &l.Variables[v].Levels[to]
	groups := 0
	for _, g := range fine.Group {
		groups = max(groups, int(g)+1)
	}
	const none = math.MaxUint32
	up := slices.Repeat([]uint32{none}, groups)
	for code, g := range fine.Group {
		switch to := coarse.Group[code]; up[g] {
		case none:
			up[g] = to
		case to:
		default:
			return nil, fmt.Errorf("the levels of %s do not nest: %s of level %d lies in two groups of level %d", l.Variables[v].Name, name(fine, g), from, to)
		}
	}
	l.up[step{v, from, to}] = up
	return up, nil
}

func name(l *Level, group uint32) string {
	if int(group) < len(l.Names) {
		return l.Names[group]
	}
	return fmt.Sprintf("group %d", group)
}

// Nodes is the number of recodings, +Inf beyond what can be told. Levels that part the values as the level before does count once.
func (l *Lattice) Nodes() float64 {
	n := 1.0
	for v := range l.Variables {
		n *= float64(len(l.allowed(v)))
	}
	return n
}

// allowed are the levels of a variable that a search looks at.
func (l *Lattice) allowed(v int) []uint8 {
	x := &l.Variables[v]
	list := []uint8{uint8(x.Least)}
	for k := x.Least + 1; k <= x.Most; k++ {
		if !l.same[v][k] {
			list = append(list, uint8(k))
		}
	}
	return list
}

// Bottom is the finest recoding that is allowed.
func (l *Lattice) Bottom() Node {
	n := make(Node, len(l.Variables))
	for v := range n {
		n[v] = uint8(l.Variables[v].Least)
	}
	return n
}

// Top is the coarsest recoding that is allowed.
func (l *Lattice) Top() Node {
	n := make(Node, len(l.Variables))
	for v := range n {
		levels := l.allowed(v)
		n[v] = levels[len(levels)-1]
	}
	return n
}

// Merged is how many rows of tables have been merged.
func (l *Lattice) Merged() int64 { return l.merged }
