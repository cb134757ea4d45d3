package protection

import (
	"encoding/binary"
	"math"
	"slices"

	"microrisk/engine/program"
)

// A side of an interval.
type side uint8

const (
	above side = iota
	below
	width // both together
)

// An attack is what one attacker tries at one end of a cell's interval.
type attack struct {
	need   Need
	holder int64 // 0 for somebody outside
	side   side
}

// amount is what he must be able to reach.
func (a *attack) amount() int64 {
	return [...]int64{a.need.Upper, a.need.Lower, a.need.Sliding}[a.side]
}

// ways are the attacks of an attacker on a need.
func ways(n Need, holder int64) []attack {
	var list []attack
	if n.Upper > 0 {
		list = append(list, attack{n, holder, above})
	}
	if n.Lower > 0 {
		list = append(list, attack{n, holder, below})
	}
	if n.Sliding > max(n.Lower, n.Upper) {
		list = append(list, attack{n, holder, width})
	}
	return list
}

// fraction is what a hidden cell's reach is counted in where cells are hidden in part.
const fraction = 20 // bits

// violated is by how much a row has to be less than 1 to be worth adding.
const violated = 1e-4

// separate lets an attacker try a master's solution, and is the rows that he asks for; none if he is content. Where z is nil, cells are
// hidden wholly, as in the pattern, and rows hold what they promise; else by z, by column of the master.
func (s *search) separate(a attack, hidden []bool, z []float64) ([]program.Row, error) {
	cells, _ := s.region(a.need.Cell, hidden, a.holder, -1)
	area := s.area(cells)
	want, shift := a.amount(), 0
	if z != nil {
		for shift = fraction; want > math.MaxInt64>>(shift+2); {
			shift--
		}
		for j, c := range cells {
			share := 1.0
			if at := s.column[c]; at >= 0 {
				share = z[at]
			}
			area.up[j] = int64(float64(min(area.up[j], want)<<shift) * share)
			area.down[j] = int64(float64(min(area.down[j], want)<<shift) * share)
		}
	}
	want <<= shift
	e := area.attacker(&effort{ctx: s.ctx})
	column := area.column(a.need.Cell)
	sum := make(map[int32]float64) // coefficients by cell
	reached := int64(0)
	for _, up := range []bool{true, false} {
		if up && a.side == below || !up && a.side == above {
			continue
		}
		moved, _, err := e.reach(column, up, want)
		if err != nil {
			return nil, err
		}
		if reached += min(moved, want); reached >= want-want>>14 && (z != nil || reached >= want) {
			return nil, nil
		}
		s.add(sum, a, up, area, e.potentials())
	}
	return s.rowOf(sum, a, hidden, z), nil
}

// add adds what each cell can do across the rows' potentials, if it is hidden.
func (s *search) add(sum map[int32]float64, a attack, up bool, area *area, g []float64) {
	d := make(map[int32]float64)
	for i, e := range area.equation {
		if v := snapped(g[i]) * float64(area.sign[i]); v != 0 {
			s.System.Equations[e].Each(func(c int32, sign int64) { d[c] -= v * float64(sign) })
		}
	}
	need := float64(a.amount())
	reach := func(c int32, d float64, end int64) {
		if end == infinite {
			sum[c] += need
		} else {
			sum[c] += min(need, d*float64(end))
		}
	}
	k := a.need.Cell
	if up {
		d[k]++
	} else {
		d[k]--
	}
	for c, v := range d {
		switch {
		case !s.free[c] || a.holder != 0 && s.sole(c) == a.holder && c != k:
		case v > 0 && (c != k || up):
			reach(c, v, s.up[c])
		case v < 0 && (c != k || !up):
			reach(c, -v, s.down[c])
		}
	}
}

// snapped is a dual without its rounding error: any figures will do for rows that are right, but neat ones make neat rows.
func snapped(v float64) float64 {
	if r := math.Round(v*2520) / 2520; math.Abs(v-r) < 1e-7 {
		return r
	}
	return v
}

// rowOf is the row that coefficients make: at least 1 in sum. It is nil if it asks for nothing, or the solution has it already.
func (s *search) rowOf(sum map[int32]float64, a attack, hidden []bool, z []float64) []program.Row {
	need := float64(a.amount())
	rest := need
	var cells []int32
	for c, v := range sum {
		if s.primary[c] {
			continue
		}
		if v > 0 {
			cells = append(cells, c)
		}
	}
	slices.Sort(cells)
	for _, n := range s.needs { // in order, for the same sum every time
		rest -= min(need, sum[n.Cell])
	}
	if rest <= 1e-9*need {
		return nil
	}
	row := program.Row{Low: 1, High: program.Infinity}
	has := 0.0
	for _, c := range cells {
		v := min(1, sum[c]/rest*(1+1e-9))
		if v > 1-1e-7 {
			v = 1
		}
		at := s.column[c]
		row.Terms = append(row.Terms, program.Term{Column: int(at), Value: v})
		switch {
		case z != nil:
			has += v * z[at]
		case hidden[c]:
			has += v
		}
	}
	if has > 1-violated {
		return nil
	}
	return []program.Row{row}
}

// keep adds a row to the master, unless it is there.
func (s *search) keep(row program.Row) bool {
	key := make([]byte, 0, 12*len(row.Terms))
	for _, t := range row.Terms {
		key = binary.LittleEndian.AppendUint32(key, uint32(t.Column))
		key = binary.LittleEndian.AppendUint64(key, math.Float64bits(t.Value))
	}
	if s.keys[string(key)] {
		return false
	}
	s.keys[string(key)] = true
	s.rows = append(s.rows, row)
	return true
}

// covers asks for what every equation with a primary cell asks for by itself: another hidden cell, one that is not the same holder's,
// and cells that can move as far as is needed.
func (s *search) covers() {
	of := s.System.Of()
	for _, n := range s.needs {
		for _, e := range of[n.Cell] {
			s.cover(n.Cell, e, 0)
			for _, h := range s.rivals(n.Cell, e) {
				s.cover(n.Cell, e, h)
			}
		}
		list := ways(n, 0)
		s.attacks = append(s.attacks, list...)
		for _, a := range list {
			for _, e := range of[n.Cell] {
				s.single(a, e)
			}
		}
	}
}

// rivals are the holders who know a cell of an equation, other than the cell's own.
func (s *search) rivals(cell, e int32) []int64 {
	if s.o.Insider == InsiderOff {
		return nil
	}
	var list []int64
	s.System.Equations[e].Each(func(c int32, _ int64) {
		if h := s.sole(c); s.free[c] && h != 0 && h != s.sole(cell) {
			list = append(list, h)
		}
	})
	slices.Sort(list)
	return slices.Compact(list)
}

// cover asks for a hidden cell in an equation besides a primary one, not a holder's.
func (s *search) cover(cell, e int32, holder int64) {
	row := program.Row{Low: 1, High: program.Infinity}
	has := false
	s.System.Equations[e].Each(func(c int32, _ int64) {
		switch {
		case c == cell || holder != 0 && s.sole(c) == holder:
		case s.primary[c]:
			has = true
		case s.column[c] >= 0:
			row.Terms = append(row.Terms, program.Term{Column: int(s.column[c]), Value: 1})
		}
	})
	if !has {
		slices.SortFunc(row.Terms, func(x, y program.Term) int { return x.Column - y.Column })
		s.keep(row)
	}
}

// single asks for cells in one equation that can move as far as an attack needs.
func (s *search) single(a attack, e int32) {
	own := 0.0
	s.System.Equations[e].Each(func(c int32, sign int64) {
		if c == a.need.Cell {
			own = float64(sign)
		}
	})
	area := &area{equation: []int32{e}, sign: []int64{1}}
	sum := make(map[int32]float64)
	for _, up := range []bool{true, false} {
		switch {
		case up && a.side != below:
			s.add(sum, a, up, area, []float64{own})
		case !up && a.side != above:
			s.add(sum, a, up, area, []float64{-own})
		}
	}
	for _, row := range s.rowOf(sum, a, s.primary, nil) {
		s.keep(row)
	}
}
