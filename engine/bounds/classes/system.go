package classes

import (
	"context"
	"encoding/binary"
	"slices"
)

// A table has cells over some variables, found by their codes.
type table struct {
	over      set
	variables []int
	at        map[string]int
	codes     [][]uint32
	low, high []int64
	unlisted  int64 // the most that a cell has that is not listed
	whole     bool
	margin    int // that it is of; Population for the size of the population
}

// key writes the codes of a cell, or of a class, on the variables of a table.
func (t *table) key(b []byte, codes [][]uint32, places []int, i int) []byte {
	b = b[:0]
	for _, j := range places {
		b = binary.LittleEndian.AppendUint32(b, codes[j][i])
	}
	return b
}

// bounds are those of a cell by its key.
func (t *table) bounds(key []byte) (low, high int64) {
	if i, ok := t.at[string(key)]; ok {
		return t.low[i], t.high[i]
	}
	return 0, t.unlisted
}

// places are the positions of the variables of one table among those of another.
func (t *table) places(among []int) []int {
	list := make([]int, len(t.variables))
	for j, v := range t.variables {
		list[j] = slices.Index(among, v)
	}
	return list
}

// A system is a problem made ready.
type system struct {
	p      *Problem
	tables []*table
	shared map[set]*table // what the tables together say of the margins over what two of them have in common
}

func newSystem(p *Problem) *system {
	s := &system{p: p, shared: make(map[set]*table)}
	for i := range p.Margins {
		m := &p.Margins[i]
		t := &table{over: setOf(m.Variables), variables: m.Variables, at: make(map[string]int, len(m.Low)), codes: m.Codes, low: slices.Clone(m.Low),
			high: slices.Clone(m.High), unlisted: m.Unlisted, whole: m.Whole, margin: i}
		s.tables = append(s.tables, t)
		var key []byte
		places := t.places(m.Variables)
		for c := range m.Low {
			key = t.key(key, t.codes, places, c)
			t.at[string(key)] = c
		}
	}
	if p.Population > 0 {
		s.tables = append(s.tables, &table{at: map[string]int{"": 0}, low: []int64{p.Population}, high: []int64{p.Population}, whole: true, margin: Population})
	}
	return s
}

// sums are those of a table over some of its variables.
func (t *table) sums(over set) *table {
	if over == t.over {
		return t
	}
	s := &table{over: over, variables: over.variables(), at: make(map[string]int), whole: t.whole, margin: t.margin}
	s.codes = make([][]uint32, len(s.variables))
	places := s.places(t.variables)
	rest := int64(0) // of cells that are not listed
	if t.unlisted > 0 && !t.whole {
		rest = NoLimit
	}
	s.unlisted = rest
	var key []byte
	for c := range t.low {
		key = s.key(key, t.codes, places, c)
		i, ok := s.at[string(key)]
		if !ok {
			i = len(s.low)
			s.at[string(key)] = i
			s.low, s.high = append(s.low, 0), append(s.high, rest)
			for j, place := range places {
				s.codes[j] = append(s.codes[j], t.codes[place][c])
			}
		}
		s.low[i], s.high[i] = s.low[i]+t.low[c], plus(s.high[i], t.high[c])
	}
	if over == 0 && len(s.low) == 0 { // a table without cells
		s.at[""], s.low, s.high = 0, []int64{0}, []int64{rest}
	}
	return s
}

// passes is how often tables are tightened by each other at most.
const passes = 4

// tighten narrows cells that are not known exactly, by totals: those of a table over some of their variables.
func (s *system) tighten(ctx context.Context) error {
	for range passes {
		moved := false
		for _, t := range s.tables {
			if slices.Equal(t.low, t.high) {
				continue
			}
			for _, total := range s.tables {
				if total == t || total.over&^t.over != 0 {
					continue
				}
				if err := ctx.Err(); err != nil {
					return err
				}
				by, err := t.tighten(total)
				if err != nil {
					return err
				}
				moved = moved || by
			}
		}
		if !moved {
			return nil
		}
	}
	return nil
}

func (t *table) tighten(total *table) (moved bool, err error) {
	sums := t.sums(total.over)
	places, own := total.places(t.variables), sums.places(sums.variables)
	var key []byte
	for i := range sums.low {
		key = sums.key(key, sums.codes, own, i)
		if low, high := total.bounds(key); sums.low[i] > high || low > sums.high[i] {
			return false, contradiction(sums, i, total.margin, low, high)
		}
	}
	wasLow, wasHigh := slices.Clone(t.low), slices.Clone(t.high)
	for c := range t.low {
		if wasLow[c] == wasHigh[c] {
			continue
		}
		key = total.key(key, t.codes, places, c)
		low, high := total.bounds(key)
		if sums != t { // what is left to the cell
			i := sums.at[string(key)]
			high = less(high, sums.low[i]-wasLow[c])
			if sums.high[i] == NoLimit || wasHigh[c] == NoLimit {
				low = 0
			} else {
				low -= sums.high[i] - wasHigh[c]
			}
		}
		if high < t.high[c] {
			t.high[c], moved = high, true
		}
		if low > t.low[c] {
			t.low[c], moved = low, true
		}
	}
	return moved, nil
}

// contradiction of a cell with what others say of it.
func contradiction(t *table, cell, other int, low, high int64) error {
	e := &ContradictionError{Margin: t.margin, Other: other, Variables: t.variables, Low: t.low[cell], High: t.high[cell], OtherLow: low, OtherHigh: high}
	for j := range t.variables {
		e.Codes = append(e.Codes, t.codes[j][cell])
	}
	return e
}

// agree finds tables that contradict each other in what two of them have in common.
func (s *system) agree(ctx context.Context) error {
	for i, t := range s.tables {
		for _, other := range s.tables[:i+1] {
			if err := ctx.Err(); err != nil {
				return err
			}
			if _, err := s.margin(t.over & other.over); err != nil {
				return err
			}
		}
	}
	return nil
}

// margin is what the tables together say of the margin over some variables, which at least one of them has.
func (s *system) margin(over set) (*table, error) {
	if t := s.shared[over]; t != nil {
		return t, nil
	}
	var all *table
	var parts []*table
	for _, t := range s.tables {
		if over&^t.over != 0 {
			continue
		}
		part := t.sums(over)
		if parts = append(parts, part); all == nil {
			all = part.clone()
		} else if err := all.meet(part, parts); err != nil {
			return nil, err
		}
	}
	s.shared[over] = all
	return all, nil
}

// clone is a table that can be changed.
func (t *table) clone() *table {
	c := *t
	c.low, c.high, c.codes = slices.Clone(t.low), slices.Clone(t.high), slices.Clone(t.codes)
	for j := range c.codes {
		c.codes[j] = slices.Clone(c.codes[j])
	}
	c.at = make(map[string]int, len(t.at))
	for key, i := range t.at {
		c.at[key] = i
	}
	return &c
}

// meet takes what another table over the same variables says besides; parts are all tables that were taken.
func (t *table) meet(other *table, parts []*table) error {
	own := t.places(t.variables)
	var key []byte
	for i := range other.low {
		if key = other.key(key, other.codes, own, i); !t.has(key) {
			t.at[string(key)] = len(t.low)
			t.low, t.high = append(t.low, 0), append(t.high, t.unlisted)
			for j := range t.codes {
				t.codes[j] = append(t.codes[j], other.codes[j][i])
			}
		}
	}
	for i := range t.low {
		key = t.key(key, t.codes, own, i)
		low, high := other.bounds(key)
		if low <= t.high[i] && t.low[i] <= high {
			t.low[i], t.high[i] = max(t.low[i], low), min(t.high[i], high)
			continue
		}
		for _, part := range parts { // one of them contradicts by itself
			if l, h := part.bounds(key); l > high || low > h {
				t.low[i], t.high[i], t.margin = low, high, other.margin
				return contradiction(t, i, part.margin, l, h)
			}
		}
	}
	t.unlisted = min(t.unlisted, other.unlisted)
	return nil
}

func (t *table) has(key []byte) bool {
	_, ok := t.at[string(key)]
	return ok
}
