package protect

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"microrisk/engine/tabular"
)

// recoded are the codes of a variable of a ready-made table, as its recodes have them.
func (r *reader) recoded(v int) ([]tabular.Category, error) {
	list := r.codes[v].list
	from, is := r.Recodes[r.Trees[v].Name]
	if !is {
		return list, nil
	}
	tree := r.Trees[v]
	total := func(code tabular.Category) bool { // of a hierarchy, which a recode may not name
		node := tree.Find(code)
		return r.given[v] && node >= 0 && !tree.Leaf(node)
	}
	var texts []string
	for _, code := range list {
		if code.Kind == tabular.Value && !total(code) {
			texts = append(texts, code.Label)
		}
	}
	made, err := from.Of(texts, r.Config.Total)
	if err != nil {
		return nil, err
	}
	if r.given[v] {
		if r.below[v], err = folds(tree, from.Name, made); err != nil {
			return nil, err
		}
	}
	r.made = append(r.made, Recoded{r.Trees[v].Name, made.List})
	list = slices.Clone(list)
	for i, code := range list {
		if code.Kind == tabular.Value && !total(code) {
			list[i] = tabular.Of(made.New[code.Label])
		}
	}
	return list, nil
}

// twice finds a cell that is there twice before codes become one.
func (r *reader) twice() error {
	if len(r.Recodes) == 0 {
		return nil // it is found when cells are placed
	}
	met := make(map[string]bool, len(r.rows))
	for _, x := range r.rows {
		key := make([]byte, 0, 4*len(x.nodes))
		cell := make([]tabular.Category, len(x.nodes))
		for v, code := range x.nodes {
			key, cell[v] = binary.LittleEndian.AppendUint32(key, uint32(code)), r.codes[v].list[code]
		}
		if met[string(key)] {
			return fmt.Errorf("%s has the cell %s twice", r.Name, tabular.Words(cell))
		}
		met[string(key)] = true
	}
	return nil
}

// A merging knows how many rows became each cell.
type merging struct {
	any  bool
	rows []int32   // besides the first; nil without recodes
	of   [][]int32 // how many codes became each node, by variable
}

func (r *reader) merging(cells int) *merging {
	m := &merging{}
	if len(r.Recodes) == 0 {
		return m
	}
	m.rows = make([]int32, cells)
	for v, tree := range r.Trees {
		m.of = append(m.of, make([]int32, len(tree.Nodes)))
		for _, node := range r.nodes[v] {
			m.of[v][node]++
		}
	}
	return m
}

func (m *merging) add(cell int) {
	m.any = true
	m.rows[cell]++
}

// lacks tells whether the table does not have all rows of which a cell is made.
func (m *merging) lacks(cell int, nodes []int32) bool {
	if m.rows == nil {
		return false
	}
	all := int32(1)
	for v, node := range nodes {
		all *= max(m.of[v][node], 1)
	}
	return m.rows[cell]+1 < all
}

// merge adds a row to a cell that several codes became, as if nobody contributed to several of them but who is the only one in each.
func (r *reader) merge(t *Table, cell int, x raw) error {
	c := &t.Cells[cell]
	again := x.sole != 0 && x.sole == t.Sole[cell] // he is one, with both
	switch {
	case c.Records == 0:
		t.Sole[cell] = x.sole
	case x.cell.Records > 0 && !again:
		t.Sole[cell] = 0
	}
	c.Records += x.cell.Records
	if !again {
		c.Contributors += x.cell.Contributors
	}
	c.Total += x.cell.Total
	if t.Values[cell] += x.value; c.Total > MaxUnits || c.Records > MaxUnits {
		return fmt.Errorf("%s: the cell %s: %w", r.Name, tabular.Words(t.Grid.Codes(cell)), errors.New("its value is beyond 2^53 units; take fewer decimals"))
	}
	most := max(len(c.Top), len(x.cell.Top))
	if again && most > 0 {
		c.Top = append([]int64{c.Top[0] + x.cell.Top[0]}, make([]int64, most-1)...)
		return nil
	}
	c.Top = append(slices.Clone(c.Top), x.cell.Top...)
	slices.SortFunc(c.Top, func(a, b int64) int { return int(max(-1, min(1, b-a))) })
	c.Top = c.Top[:most]
	return nil
}
