package protection

import (
	"cmp"
	"slices"

	"microrisk/engine/tabular"
)

// implied marks equations that follow from the others: where a total is split in two ways, and the parts of each way are split in the
// other, one of the two splits follows. Of these the one with more cells that are in three equations or more is left out, so that two-way
// tables with one hierarchy become networks.
func implied(s *tabular.System) []bool {
	of := s.Of()
	split := make([][]int32, s.Cells) // equations by their totals
	for e := range s.Equations {
		t := s.Equations[e].Total
		split[t] = append(split[t], int32(e))
	}
	order := upwards(s, split)
	count := make([]int, s.Cells)
	for cell, list := range of {
		count[cell] = len(list)
	}
	overfull := func(e int32) int {
		n := 0
		s.Equations[e].Each(func(cell int32, _ int64) {
			if count[cell] > 2 {
				n++
			}
		})
		return n
	}
	dropped, locked := make([]bool, len(s.Equations)), make([]bool, len(s.Equations))
	for _, total := range order {
		list := slices.Clone(split[total])
		slices.SortStableFunc(list, func(e, f int32) int { return cmp.Compare(overfull(f), overfull(e)) })
		for _, e := range list {
			for _, f := range list {
				if e == f || locked[e] || dropped[e] {
					continue
				}
				uses, ok := square(s, split, e, f)
				if !ok {
					continue
				}
				dropped[e] = true
				s.Equations[e].Each(func(cell int32, _ int64) { count[cell]-- })
				for _, u := range uses {
					locked[u] = true
				}
			}
		}
	}
	return dropped
}

// upwards are the cells that are totals, each after all totals among its parts.
func upwards(s *tabular.System, split [][]int32) []int32 {
	var order []int32
	done := make([]bool, s.Cells)
	var visit func(cell int32)
	visit = func(cell int32) {
		if done[cell] {
			return
		}
		done[cell] = true
		for _, e := range split[cell] {
			for _, p := range s.Equations[e].Parts {
				visit(p)
			}
		}
		if len(split[cell]) > 0 {
			order = append(order, cell)
		}
	}
	for cell := range s.Cells {
		visit(int32(cell))
	}
	return order
}

// square tells whether equation e follows from f, which has the same total, and from splits of their parts: those of e's parts and those of
// f's parts have the same parts, each once. It names the equations it follows from.
func square(s *tabular.System, split [][]int32, e, f int32) (uses []int32, ok bool) {
	owner := make(map[int32]int32) // equations that split parts of f, and 1, by their parts
	for _, q := range s.Equations[f].Parts {
		for _, g := range split[q] {
			for _, r := range s.Equations[g].Parts {
				owner[r] = g + 1
			}
		}
	}
	met := make(map[int32]bool)
	used := make(map[int32]int) // how many of its parts were met
	uses = []int32{f}
	for _, p := range s.Equations[e].Parts {
		at := slices.IndexFunc(split[p], func(h int32) bool {
			return !slices.ContainsFunc(s.Equations[h].Parts, func(r int32) bool { return owner[r] == 0 })
		})
		if at < 0 {
			return nil, false
		}
		h := split[p][at]
		uses = append(uses, h)
		for _, r := range s.Equations[h].Parts {
			if met[r] {
				return nil, false
			}
			met[r] = true
			used[owner[r]-1]++
		}
	}
	splitters := make(map[int32]bool)
	for g, n := range used {
		total := s.Equations[g].Total
		if n != len(s.Equations[g].Parts) || splitters[total] {
			return nil, false
		}
		splitters[total] = true
		uses = append(uses, g)
	}
	if len(splitters) != len(s.Equations[f].Parts) || slices.Contains(uses, e) {
		return nil, false
	}
	return uses, true
}
