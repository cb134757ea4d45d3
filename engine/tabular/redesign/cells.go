package redesign

import (
	"slices"

	"microrisk/engine/tabular"
	"microrisk/engine/tabular/detection"
)

// Cells is a judge of cells that are added up, as if nobody contributed to several of them: right for records that are contributors
// themselves, and for hierarchies whatever contributors are. unsafe is asked of every cell of a redesigned table that is not empty, and looks
// at so many of the largest contributions at most.
func Cells(g *tabular.Grid, cells []detection.Cell, most int, unsafe func(c *detection.Cell) bool) Judge {
	j := &judge{grid: g, cells: cells, unsafe: unsafe, most: most, step: make([]int64, len(g.Trees))}
	all := int64(1)
	for v := len(g.Trees) - 1; v >= 0; v-- {
		j.step[v] = all
		all *= int64(len(g.Trees[v].Nodes))
	}
	return j.judge
}

type judge struct {
	grid   *tabular.Grid
	cells  []detection.Cell
	unsafe func(c *detection.Cell) bool
	most   int
	step   []int64
	at     map[int64]int32 // of merged cells
	merged []detection.Cell
	first  []int32 // the cell that a merged one has first
}

func (j *judge) judge(d Design) (Verdict, error) {
	if j.at == nil {
		j.at = make(map[int64]int32, len(j.cells))
	}
	clear(j.at)
	j.merged, j.first = j.merged[:0], j.first[:0]
	nested := make([]bool, len(d))
	for v, t := range j.grid.Trees {
		nested[v] = t.Depth() > 1
	}
cells:
	for cell := range j.cells {
		c := &j.cells[cell]
		if c.Records == 0 {
			continue
		}
		place := int64(0)
		for v, node := range j.grid.Nodes(cell) {
			to := d[v][node]
			if nested[v] && to != node {
				continue cells // it is not told apart, and its total is there
			}
			place += int64(to) * j.step[v]
		}
		at, met := j.at[place]
		if !met {
			j.at[place] = int32(len(j.merged))
			j.merged, j.first = append(j.merged, *c), append(j.first, int32(cell))
			continue
		}
		merge(&j.merged[at], c, j.most)
	}
	var v Verdict
	v.Cells = len(j.merged)
	for i := range j.merged {
		if !j.unsafe(&j.merged[i]) {
			continue
		}
		nodes := slices.Clone(j.grid.Nodes(int(j.first[i])))
		for k := range nodes {
			nodes[k] = d[k][nodes[k]]
		}
		v.Unsafe = append(v.Unsafe, nodes)
	}
	return v, nil
}

// merge adds a cell to another, as if nobody contributed to both, and keeps so many of the largest contributions.
func merge(to, c *detection.Cell, most int) {
	to.Records += c.Records
	to.Contributors += c.Contributors
	to.Total += c.Total
	if most == 0 {
		return
	}
	top := append(slices.Clone(to.Top), c.Top...)
	slices.SortFunc(top, func(a, b int64) int { return int(max(-1, min(1, b-a))) })
	to.Top = top[:min(len(top), most)]
}
