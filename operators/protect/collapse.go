package protect

import (
	"context"
	"fmt"
	"slices"

	"microrisk/engine/tabular"
	"microrisk/engine/tabular/detection"
	"microrisk/operators/tablefile"
)

// Again makes a table once more of what was read, with recodes in place of those of the config.
type Again func(ctx context.Context, recodes map[string]tablefile.Recodes) (*Table, error)

// A fold is a code of a hierarchy below which nothing is told apart.
type fold struct {
	node   int
	others []int // finest categories below it that recodes do not name
	wrong  error // if somebody is in one of these
}

// folds finds recodes that make of all codes below a code of a hierarchy that code itself, and lets the codes below it be.
func folds(tree *tabular.Tree, name string, made *tablefile.Recoding) ([]fold, error) {
	var list []fold
	for _, r := range made.List {
		node := tree.Find(tabular.Of(r.Code))
		if node < 0 || tree.Leaf(node) {
			continue
		}
		f := fold{node: node}
		met := make(map[string]bool)
		var below []string
		for n := range tree.Nodes {
			if !tree.Leaf(n) || !slices.Contains(tree.Path(n), node) {
				continue
			}
			code := tree.Nodes[n].Code.Label
			below, met[code] = append(below, code), true
			if !slices.Contains(r.Members, code) {
				f.others = append(f.others, n)
			}
		}
		f.wrong = fmt.Errorf("%s makes %q of %s, and the hierarchy of %s has that code above %s: make it of all of these, and of no others", name, r.Code,
			listed(r.Members), tree.Name, listed(below))
		for _, code := range r.Members {
			if !met[code] {
				return nil, f.wrong
			}
			made.New[code] = code
		}
		list = append(list, f)
	}
	return list, nil
}

// without is the table without the cells below folds of each tree.
func (t *Table) without(folds [][]fold) (*Table, error) {
	if !slices.ContainsFunc(folds, func(list []fold) bool { return len(list) > 0 }) {
		return t, nil
	}
	collapsed := make([][]int, len(folds))
	for v, list := range folds {
		for _, f := range list {
			collapsed[v] = append(collapsed[v], f.node)
			for cell := range t.Grid.Cells() {
				if t.Cells[cell].Records > 0 && slices.Contains(f.others, int(t.Grid.Nodes(cell)[v])) {
					return nil, f.wrong
				}
			}
		}
	}
	g := &tabular.Grid{Tables: t.Grid.Tables}
	places := make([][]int32, len(t.Grid.Trees)) // of old nodes, -1 for those that are gone
	for v, tree := range t.Grid.Trees {
		few := tabular.NewTree(tree.Name)
		places[v] = make([]int32, len(tree.Nodes))
		for n, node := range tree.Nodes[1:] {
			parent := places[v][node.Parent]
			if parent < 0 || slices.Contains(collapsed[v], node.Parent) {
				places[v][n+1] = -1
				continue
			}
			places[v][n+1] = int32(few.Add(node.Code, int(parent)))
		}
		g.Trees = append(g.Trees, few)
	}
	var cells []int32
	var from []int
	for cell := range t.Grid.Cells() {
		nodes := slices.Clone(t.Grid.Nodes(cell))
		for v := range nodes {
			nodes[v] = places[v][nodes[v]]
		}
		if !slices.Contains(nodes, -1) {
			cells, from = append(cells, nodes...), append(from, cell)
		}
	}
	grid, err := tabular.NewGrid(g.Trees, cells)
	if err != nil {
		return nil, err
	}
	grid.Tables = g.Tables
	few := t.of(grid, from)
	return few, nil
}

// of is the table of some of its cells, in a grid that has them in their order.
func (t *Table) of(grid *tabular.Grid, from []int) *Table {
	few := *t
	n := grid.Cells()
	few.Grid, few.Values, few.Cells, few.Sole = grid, make([]int64, n), make([]detection.Cell, n), make([]int64, n)
	if t.RecordKeys != nil {
		few.RecordKeys = make([]uint64, n)
	}
	if t.Status != nil {
		few.Status = make([]string, n)
	}
	if t.Lower != nil {
		few.Lower, few.Upper = make([]int64, n), make([]int64, n)
	}
	for i, cell := range from {
		few.Values[i], few.Cells[i], few.Sole[i] = t.Values[cell], t.Cells[cell], t.Sole[cell]
		if t.RecordKeys != nil {
			few.RecordKeys[i] = t.RecordKeys[cell]
		}
		if t.Status != nil {
			few.Status[i] = t.Status[cell]
		}
		if t.Lower != nil {
			few.Lower[i], few.Upper[i] = t.Lower[cell], t.Upper[cell]
		}
	}
	return &few
}
