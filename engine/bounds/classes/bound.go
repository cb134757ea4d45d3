package classes

import (
	"context"
	"errors"
	"math"

	"microrisk/engine/bounds"
)

// every is after how many classes it is asked whether the run is over.
const every = 1 << 10

// above bounds classes from above: by what tables have in their cells, less what other classes of the cells have at least.
func (s *system) above(ctx context.Context, low, high []int64) error {
	for i := range high {
		high[i] = NoLimit
	}
	cell := make([]int, len(low))
	for _, t := range s.tables {
		if err := ctx.Err(); err != nil {
			return err
		}
		more := map[string]int{} // cells that the table does not list
		sums := make([]int64, len(t.low))
		var key []byte
		for i := range low {
			key = t.key(key, s.p.Codes, t.variables, i)
			c, ok := t.at[string(key)]
			if !ok {
				if c, ok = more[string(key)]; !ok {
					c = len(sums)
					more[string(key)], sums = c, append(sums, 0)
				}
			}
			cell[i] = c
			sums[c] += low[i]
		}
		for i, c := range cell {
			most := t.unlisted
			if c < len(t.high) {
				most = t.high[c]
			}
			if sums[c] > most {
				return s.over(t, cell, i, most, sums[c])
			}
			high[i] = min(high[i], less(most, sums[c]-low[i]))
		}
	}
	return nil
}

// over is the error of a table whose cell has fewer people than classes in it.
func (s *system) over(t *table, cell []int, class int, most, least int64) error {
	e := &ContradictionError{Margin: t.margin, Other: Sample, Variables: t.variables, High: most, OtherHigh: NoLimit}
	for i, c := range cell {
		if c == cell[class] {
			e.OtherLow += s.p.Counts[i]
		}
	}
	if e.OtherLow <= most { // not by the records alone
		e.Other, e.OtherLow = Others, least
	}
	if c := cell[class]; c < len(t.low) {
		e.Low = t.low[c]
	}
	for _, v := range t.variables {
		e.Codes = append(e.Codes, s.p.Codes[v][class])
	}
	return e
}

// below bounds classes from below, and tells whether any has more than its records: of the people in a cell of the first table those are
// taken off who may differ from the class on the variables of another, and so on, until all variables are asked about.
func (s *system) below(ctx context.Context, low, high []int64) (more bool, err error) {
	all := set(0)
	for _, t := range s.tables {
		all |= t.over
	}
	if all != set(math.MaxUint64)>>(64-s.p.Variables) {
		return false, nil
	}
	x := &chain{system: s, least: make([]int64, len(s.tables)), all: all}
	for i := range low {
		if i%every == 0 && ctx.Err() != nil {
			return false, ctx.Err()
		}
		if high[i] == low[i] {
			continue
		}
		n, err := x.of(i, low[i])
		if err != nil {
			return false, err
		}
		if n > high[i] {
			return false, &ContradictionError{
				Margin:    x.first,
				Other:     Others,
				Variables: all.variables(),
				Codes:     s.class(i),
				High:      high[i],
				OtherLow:  n,
				OtherHigh: NoLimit,
			}
		}
		if n > low[i] {
			low[i], more = n, true
		}
	}
	return more, nil
}

// class are the codes of one.
func (s *system) class(i int) []uint32 {
	var codes []uint32
	for v := range s.p.Codes {
		codes = append(codes, s.p.Codes[v][i])
	}
	return codes
}

// A chain of tables bounds a class from below.
type chain struct {
	*system
	least []int64 // what the class's cell of each table has at least
	all   set
	first int // margin that it began with
	key   []byte
}

// of is the bound of a class, or some number up to another that is known.
func (x *chain) of(class int, known int64) (int64, error) {
	covered, n := set(0), int64(0)
	for i, t := range x.tables {
		x.key = t.key(x.key, x.p.Codes, t.variables, class)
		x.least[i], _ = t.bounds(x.key)
		// The one that binds is small: whoever is in the class is in it.
		if t.over != 0 && (covered == 0 || x.least[i] < n) {
			covered, n, x.first = t.over, x.least[i], t.margin
		}
	}
	for covered != x.all && n > known {
		best, next := int64(NoLimit), set(0)
		tried := map[set]int64{}
		for i, t := range x.tables {
			if t.over&^covered == 0 {
				continue
			}
			over := t.over & covered
			most, ok := tried[over]
			if !ok {
				m, err := x.margin(over)
				if err != nil {
					return 0, err
				}
				x.key = m.key(x.key, x.p.Codes, m.variables, class)
				_, most = m.bounds(x.key)
				tried[over] = most
			}
			if loss := less(most, x.least[i]); loss < best {
				best, next = loss, t.over
			}
		}
		if best == NoLimit {
			return known, nil
		}
		n -= best
		covered |= next
	}
	return n, nil
}

// wholeCells is how many cells a table may have that is bounded as a whole.
const wholeCells = 1 << 13

// shuttle narrows bounds of a small table by those of all its cells.
func (s *system) shuttle(ctx context.Context, low, high []int64) error {
	codes, cells := make([][]uint32, s.p.Variables), 1 // codes of each variable, as they are met
	at := make([]map[uint32]int, s.p.Variables)
	meet := func(v int, list []uint32) {
		for _, c := range list {
			if _, ok := at[v][c]; !ok {
				at[v][c] = len(codes[v])
				codes[v] = append(codes[v], c)
			}
		}
	}
	for v := range codes {
		at[v] = map[uint32]int{}
		meet(v, s.p.Codes[v])
		listed := false
		for _, t := range s.tables {
			for j, w := range t.variables {
				if w == v {
					meet(v, t.codes[j])
					listed = true
				}
			}
		}
		if !listed {
			return nil // there may be categories that nothing tells of
		}
		if cells *= len(codes[v]); cells > wholeCells || cells == 0 {
			return nil
		}
	}
	r := &bounds.Release{}
	for v := range codes {
		r.Levels = append(r.Levels, len(codes[v]))
	}
	for _, t := range s.tables {
		if t.unlisted > 0 && !t.whole {
			return nil // as above
		}
		r.Margins = append(r.Margins, t.dense(codes))
	}
	if len(r.Margins) == 0 || len(low) == 0 {
		return nil
	}
	own := &table{variables: setOf(nil).variables(), at: map[string]int{}, unlisted: NoLimit, low: low, high: high}
	for v := range codes {
		own.variables = append(own.variables, v)
	}
	var key []byte
	for i := range low {
		key = own.key(key, s.p.Codes, own.variables, i)
		own.at[string(key)] = i
	}
	r.Margins = append(r.Margins, own.dense(codes))
	b, err := bounds.Shuttle(ctx, r, bounds.Options{})
	var bad *bounds.InfeasibleError
	if errors.As(err, &bad) {
		return s.infeasible(bad, codes)
	}
	if err != nil {
		return err
	}
	for i := range low {
		cell := 0
		for v := range codes {
			cell = cell*len(codes[v]) + at[v][s.p.Codes[v][i]]
		}
		low[i], high[i] = max(low[i], b.Low[cell]), min(high[i], b.High[cell])
	}
	return nil
}

// dense is a table as package bounds wants it.
func (t *table) dense(codes [][]uint32) bounds.Margin {
	m := bounds.Margin{Variables: t.variables}
	size := 1
	cell := make([][]uint32, len(t.variables))
	places := make([]int, len(t.variables))
	for j, v := range t.variables {
		size *= len(codes[v])
		cell[j], places[j] = make([]uint32, 1), j
	}
	var key []byte
	for i := range size {
		rest := i
		for j := len(t.variables) - 1; j >= 0; j-- {
			list := codes[t.variables[j]]
			cell[j][0] = list[rest%len(list)]
			rest /= len(list)
		}
		key = t.key(key, cell, places, 0)
		low, high := t.bounds(key)
		m.Low, m.High = append(m.Low, low), append(m.High, high)
	}
	return m
}

// infeasible is what is wrong with a table that was bounded as a whole.
func (s *system) infeasible(bad *bounds.InfeasibleError, codes [][]uint32) error {
	e := &ContradictionError{Margin: Others, Other: Others, Variables: bad.Variables, OtherHigh: NoLimit}
	if bad.Margin >= 0 && bad.Margin < len(s.tables) {
		e.Margin = s.tables[bad.Margin].margin
	}
	for k, v := range bad.Variables {
		e.Codes = append(e.Codes, codes[v][bad.Cell[k]])
	}
	return e
}
