package tabular

import "slices"

// A System is the cells of a table, or of several that share cells, and the equations that hold among their values.
type System struct {
	Cells     int
	Equations []Equation
}

// An Equation says that a cell is the sum of others.
type Equation struct {
	Total int32
	Parts []int32
}

// Of are the equations that each cell is in, by their numbers.
func (s *System) Of() [][]int32 {
	size := make([]int32, s.Cells)
	all := 0
	for _, e := range s.Equations {
		size[e.Total]++
		for _, p := range e.Parts {
			size[p]++
		}
		all += 1 + len(e.Parts)
	}
	block, of := make([]int32, 0, all), make([][]int32, s.Cells)
	for i, n := range size {
		of[i] = block[len(block) : len(block) : len(block)+int(n)]
		block = block[:len(block)+int(n)]
	}
	for e := range s.Equations {
		s.Equations[e].Each(func(cell int32, _ int64) { of[cell] = append(of[cell], int32(e)) })
	}
	return of
}

// Splits are the equations that have each cell as their total, by their numbers; nil for one without parts.
func (s *System) Splits() [][]int32 {
	splits := make([][]int32, s.Cells)
	for e := range s.Equations {
		total := s.Equations[e].Total
		splits[total] = append(splits[total], int32(e))
	}
	return splits
}

// Each calls f for each cell of an equation, the total first, with its sign: -1 of the total, 1 of parts. Their sum is 0.
func (e *Equation) Each(f func(cell int32, sign int64)) {
	f(e.Total, -1)
	for _, p := range e.Parts {
		f(p, 1)
	}
}

// Imbalance is the sum of the parts less the total.
func (e *Equation) Imbalance(values []int64) int64 {
	sum := int64(0)
	e.Each(func(cell int32, sign int64) { sum += sign * values[cell] })
	return sum
}

// Broken are the equations that do not hold among values, by their numbers, where each may be off by so much for each of its cells.
func (s *System) Broken(values []int64, tolerance int64) []int {
	var list []int
	for i := range s.Equations {
		e := &s.Equations[i]
		if off := e.Imbalance(values); max(off, -off) > tolerance*int64(1+len(e.Parts)) {
			list = append(list, i)
		}
	}
	return list
}

// Components parts the chosen cells: two are in one if they are in one equation, or hang together by others. The cells of each ascend, and
// the components are in the order of their first cells.
func (s *System) Components(chosen []bool) [][]int32 {
	root := make([]int32, s.Cells)
	for i := range root {
		root[i] = int32(i)
	}
	find := func(i int32) int32 {
		for root[i] != i {
			root[i] = root[root[i]]
			i = root[i]
		}
		return i
	}
	for i := range s.Equations {
		first := int32(-1)
		s.Equations[i].Each(func(cell int32, _ int64) {
			switch {
			case !chosen[cell]:
			case first < 0:
				first = cell
			default:
				a, b := find(first), find(cell)
				root[max(a, b)] = min(a, b)
			}
		})
	}
	var list [][]int32
	number := make(map[int32]int)
	for i := range chosen {
		if !chosen[i] {
			continue
		}
		r := find(int32(i))
		at, met := number[r]
		if !met {
			at = len(list)
			number[r] = at
			list = append(list, nil)
		}
		list[at] = append(list[at], int32(i))
	}
	return list
}

// Union is a system over the cells of several, where cell i of system k is cell number[k][i] of the union; equal equations are one.
func Union(cells int, systems []*System, number [][]int32) *System {
	u := &System{Cells: cells}
	seen := make(map[string]bool)
	for k, s := range systems {
		for _, e := range s.Equations {
			x := Equation{number[k][e.Total], make([]int32, len(e.Parts))}
			for i, p := range e.Parts {
				x.Parts[i] = number[k][p]
			}
			slices.Sort(x.Parts)
			if key := x.key(); !seen[key] {
				seen[key] = true
				u.Equations = append(u.Equations, x)
			}
		}
	}
	return u
}

func (e *Equation) key() string {
	b := make([]byte, 0, 4+4*len(e.Parts))
	e.Each(func(cell int32, _ int64) { b = append(b, byte(cell), byte(cell>>8), byte(cell>>16), byte(cell>>24)) })
	return string(b)
}
