package recoding

import (
	"fmt"
	"math/bits"
	"slices"
)

// A margin of the key has, for all levels of its variables, whether no record is unique on it.
type marginTable struct {
	variables []int
	place     []int // of a level's place in the index, by variable
	free      []bool
}

// NoMSU is the rule that no record has a minimal sample unique of up to so many variables. It looks at the margins of just so many variables, which
// those of fewer are part of, each by its own levels: nodes need no tables.
func (l *Lattice) NoMSU(size int) (Rule, error) {
	if size < 1 {
		return Rule{}, fmt.Errorf("minimal sample uniques have at least 1 variable, not %d", size)
	}
	size = min(size, len(l.Variables))
	base := l.tables.base
	var margins []*marginTable
	for set := uint64(1)<<size - 1; bits.Len64(set) <= len(l.Variables); {
		m := &marginTable{}
		var variables []Variable
		var codes [][]uint32
		for s := set; s != 0; s &= s - 1 {
			v := bits.TrailingZeros64(s)
			m.variables = append(m.variables, v)
			variables = append(variables, l.Variables[v])
			f := l.fields[v]
			column := make([]uint32, len(base.counts))
			for i := range column {
				column[i] = uint32(base.keys[i*l.words+f.word] >> f.shift & f.mask)
			}
			codes = append(codes, column)
		}
		if err := m.fill(variables, codes, base.counts); err != nil {
			return Rule{}, err
		}
		margins = append(margins, m)
		low := set & -set // the next set of as many
		next := set + low
		set = next | (set^next)/low>>2
	}
	return Rule{Name: fmt.Sprintf("no minimal sample unique of up to %d variables", size), Rising: true, Node: func(n Node) bool {
		for _, m := range margins {
			at := 0
			for k, v := range m.variables {
				at += m.place[k] * int(n[v])
			}
			if !m.free[at] {
				return false
			}
		}
		return true
	}}, nil
}

// fill looks at all levels: above a combination of levels that is free all are.
func (m *marginTable) fill(variables []Variable, codes [][]uint32, counts []int64) error {
	sub, err := New(variables, codes, counts)
	if err != nil {
		return err
	}
	size := 1
	for _, v := range variables {
		m.place = append(m.place, size)
		size *= len(v.Levels)
	}
	m.free = make([]bool, size)
	n := make(Node, len(variables))
	for at := range m.free {
		free := false
		for k := range n {
			n[k] = uint8(at / m.place[k] % len(variables[k].Levels))
			free = free || n[k] > 0 && m.free[at-m.place[k]]
		}
		if !free {
			t, err := sub.table(n)
			if err != nil {
				return err
			}
			free = !slices.Contains(t.counts, 1)
		}
		m.free[at] = free
	}
	return nil
}
