package protection

import "slices"

// pair is a proof by two of the finest cells, where linear programs would be too large: one goes up as the other goes down, with all their
// totals but those that they share. It proves that a cell can move as far as it needs; where it finds none it proves nothing.
func (a *auditor) pair(holder int64, n Need) (w way, found bool) {
	up, down := max(n.Upper, n.Sliding), n.Lower
	free := func(c int32) bool { return a.hidden[c] && (holder == 0 || !a.knows(holder, c, n.Cell)) }
	best := -1
	for _, from := range a.below(n.Cell, free) {
		with := a.withTotals(from)
		a.partners(from, with, func(other int32) {
			others := a.withTotals(other)
			if _, inside := slices.BinarySearch(others, n.Cell); inside {
				return
			}
			var moving []int32
			for _, side := range []struct {
				own, others []int32
				up, down    int64
			}{{with, others, up, down}, {others, with, down, up}} {
				for _, c := range side.own {
					if _, shared := slices.BinarySearch(side.others, c); shared {
						continue
					}
					if !free(c) || a.up[c] < side.up || a.down[c] < side.down {
						return
					}
					moving = append(moving, c)
				}
			}
			if best < 0 || len(moving) < best {
				best = len(moving)
				slices.Sort(moving)
				w = way{down: down, up: up, below: moving, over: moving}
			}
		})
		if best >= 0 {
			break
		}
	}
	return w, best >= 0
}

// mostBelow is how many finest cells of a cell are tried.
const mostBelow = 16

// below are finest cells in a cell that are free, those first that can go down furthest.
func (a *auditor) below(cell int32, free func(int32) bool) []int32 {
	a.family()
	a.stamp++
	a.metCell[cell] = a.stamp
	list := []int32{cell}
	var leaves []int32
	for k := 0; k < len(list) && len(list) < a.System.Cells; k++ {
		if a.parts[list[k]] == nil {
			if free(list[k]) {
				leaves = append(leaves, list[k])
			}
			continue
		}
		for _, c := range a.parts[list[k]] {
			if a.metCell[c] != a.stamp {
				a.metCell[c] = a.stamp
				list = append(list, c)
			}
		}
	}
	slices.SortStableFunc(leaves, func(x, y int32) int { return int(max(-1, min(1, a.down[y]-a.down[x]))) })
	return leaves[:min(len(leaves), mostBelow)]
}

// finest is a cell without parts in a cell: at each level the part that can go down furthest. -1: there is none.
func (a *auditor) finest(cell int32) int32 {
	a.family()
	for range a.System.Cells {
		list := a.parts[cell]
		if list == nil {
			return cell
		}
		next := int32(-1)
		for _, c := range list {
			if next < 0 || a.down[c] > a.down[next] {
				next = c
			}
		}
		if next < 0 {
			return -1
		}
		cell = next
	}
	return -1
}

// withTotals are a cell and all totals that it is in, ascending.
func (a *auditor) withTotals(cell int32) []int32 {
	a.family()
	a.stamp++
	list := []int32{cell}
	a.metCell[cell] = a.stamp
	for k := 0; k < len(list); k++ {
		for _, t := range a.totals[list[k]] {
			if a.metCell[t] != a.stamp {
				a.metCell[t] = a.stamp
				list = append(list, t)
			}
		}
	}
	return sorted(list)
}

// mostPartners is how many cells are tried beside one.
const mostPartners = 256

// partners calls take for finest cells beside one: of the parts of its totals, the smallest totals first.
func (a *auditor) partners(from int32, with []int32, take func(other int32)) {
	order := slices.Clone(with)
	slices.SortStableFunc(order, func(x, y int32) int { return int(max(-1, min(1, a.Values[x]-a.Values[y]))) })
	seen := map[int32]bool{from: true}
	for _, total := range order {
		for _, part := range a.parts[total] {
			if _, own := slices.BinarySearch(with, part); own {
				continue
			}
			other := a.finest(part)
			if other < 0 || seen[other] {
				continue
			}
			seen[other] = true
			take(other)
			if len(seen) > mostPartners {
				return
			}
		}
	}
}

// family finds the totals of each cell, and the parts of each, once.
func (p *plan) family() {
	if p.totals != nil {
		return
	}
	p.totals, p.parts = make([][]int32, p.System.Cells), make([][]int32, p.System.Cells)
	for i := range p.System.Equations {
		e := &p.System.Equations[i]
		for _, c := range e.Parts {
			p.totals[c] = append(p.totals[c], e.Total)
		}
		p.parts[e.Total] = append(p.parts[e.Total], e.Parts...)
	}
}
