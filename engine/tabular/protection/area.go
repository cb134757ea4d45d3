package protection

import "slices"

// An area is cells that may move while all others stay, and the equations among them.
type area struct {
	cells    []int32 // by column, ascending
	down, up []int64 // how far each may move
	rows     [][]entry
	equation []int32 // of each row
	sign     []int64 // of each row: its equation is so many times the row
}

// An entry is a cell of a row, by its column.
type entry struct {
	column int32
	sign   int64
}

// An attacker finds how far a column of an area can be moved, up or down, and the columns that move then; nil where these are not known.
// It need not go further than wanted.
type attacker interface {
	reach(column int32, up bool, want int64) (moved int64, columns []int32, err error)
	// changed is told that a column can move further, or less far.
	changed(column int32)
	// potentials are the rows' duals of the last reach: no column can be moved further than they tell.
	potentials() []float64
}

// area makes one of the cells, which ascend. Rows that are equal are one.
func (p *plan) area(cells []int32) *area {
	a := &area{cells: cells, down: make([]int64, len(cells)), up: make([]int64, len(cells))}
	p.stamp++
	var list []int32
	for j, cell := range cells {
		p.place[cell] = int32(j) + 1
		a.down[j], a.up[j] = p.down[cell], p.up[cell]
		for _, e := range p.of[cell] {
			if p.met[e] != p.stamp {
				p.met[e] = p.stamp
				list = append(list, e)
			}
		}
	}
	slices.Sort(list)
	first := make(map[int32][]int32) // rows by their first columns
	for _, e := range list {
		row, sign := p.row(e)
		c := row[0].column
		if slices.ContainsFunc(first[c], func(i int32) bool { return slices.Equal(a.rows[i], row) }) {
			continue
		}
		first[c] = append(first[c], int32(len(a.rows)))
		a.rows = append(a.rows, row)
		a.equation = append(a.equation, e)
		a.sign = append(a.sign, sign)
	}
	for _, cell := range cells {
		p.place[cell] = 0
	}
	return a
}

// row is an equation among the cells that have a place, by column, and its sign: the row's first entry is 1, so that equal rows are equal.
func (p *plan) row(e int32) (row []entry, sign int64) {
	p.System.Equations[e].Each(func(cell int32, sign int64) {
		if at := p.place[cell]; at > 0 {
			row = append(row, entry{at - 1, sign})
		}
	})
	slices.SortFunc(row, func(x, y entry) int { return int(x.column - y.column) })
	sign = row[0].sign
	for i := range row {
		row[i].sign *= sign
	}
	return row, sign
}

// column is the place of a cell in an area.
func (a *area) column(cell int32) int32 {
	at, _ := slices.BinarySearch(a.cells, cell)
	return int32(at)
}

// region are the chosen cells that hang together with a cell, within so many steps from cell to equation to cell (negative: any number), but
// for those whose one contributor is the holder. whole tells whether there are no others.
func (p *plan) region(cell int32, chosen []bool, holder int64, steps int) (cells []int32, whole bool) {
	p.stamp++
	cells = []int32{cell}
	p.metCell[cell] = p.stamp
	for begin := 0; begin < len(cells); steps-- {
		if steps == 0 {
			return sorted(cells), false
		}
		end := len(cells)
		for ; begin < end; begin++ {
			for _, e := range p.of[cells[begin]] {
				if p.met[e] == p.stamp {
					continue
				}
				p.met[e] = p.stamp
				p.System.Equations[e].Each(func(c int32, _ int64) {
					if chosen[c] && p.metCell[c] != p.stamp && (holder == 0 || !p.knows(holder, c, cell)) {
						p.metCell[c] = p.stamp
						cells = append(cells, c)
					}
				})
			}
		}
	}
	return sorted(cells), true
}

func sorted(cells []int32) []int32 {
	slices.Sort(cells)
	return cells
}

// attacker is the network of an area, or else its linear program.
func (a *area) attacker(effort *effort) attacker {
	if n := newNetwork(a); n != nil {
		return n
	}
	return newLinear(a, effort)
}
