package protect

import (
	"fmt"
	"slices"
	"strings"

	"microrisk/engine/tabular"
	"microrisk/schemas"
)

// linkedForm is that of lists of variables.
type linkedForm struct{ to *[][]string }

// Read is a Form's.
func (l linkedForm) Read(d *schemas.Decoder, n *schemas.Node, path string, _ *schemas.Field) {
	*l.to = [][]string{}
	d.Items(n, path, "linked", func(_ int, item *schemas.Node, at string) {
		*l.to = append(*l.to, d.Texts(item, at, "the variables of a linked table"))
	})
}

// Write is a Form's.
func (l linkedForm) Write(*schemas.Field) (any, bool) {
	var list []any
	for _, names := range *l.to {
		var texts []any
		for _, name := range names {
			texts = append(texts, name)
		}
		list = append(list, texts)
	}
	return list, *l.to != nil
}

// Schema is a Form's.
func (l linkedForm) Schema(*schemas.Field) schemas.Ordered {
	return schemas.RawSchema(
		`"type": "array", "minItems": 2, "uniqueItems": true, "items": {"type": "array", "minItems": 1, "uniqueItems": true, "items": {"$ref": "#/$defs/text"}}`,
	)
}

// Check is a Form's.
func (l linkedForm) Check(*schemas.Checker, string, *schemas.Field) {}

// checkLinked tells what is wrong with the tables that are published together.
func (c *Config) checkLinked(k *schemas.Checker, path string) {
	if c.Linked == nil {
		return
	}
	names := schemas.VariableNames(c.Table)
	if len(names) > 32 {
		k.Add(path, "linked tables have %d variables; there can be 32", len(names))
		return
	}
	var all []uint32
	for i, list := range c.Linked {
		at := fmt.Sprintf("%s[%d]", path, i)
		set := uint32(0)
		for _, name := range list {
			v := slices.Index(names, name)
			switch {
			case v < 0:
				k.OneOf(at, "the variable", name, names)
			case set>>v&1 == 1:
				k.Add(at, "%s stands there twice", name)
			default:
				set |= 1 << v
			}
		}
		for j, other := range all {
			if set&^other == 0 || other&^set == 0 {
				k.Add(at, "one of the tables of %s and of %s has all cells of the other: name the larger one alone", strings.Join(c.Linked[j], ","),
					strings.Join(list, ","))
			}
		}
		all = append(all, set)
	}
	if circular(all) {
		k.Add(path, "the linked tables hang together in a circle, so that more can be worked out than from the totals that they share: link the table of all "+
			"variables of the circle, or publish fewer")
	}
	if len(c.Linked) < 2 {
		k.Add(path, "one table is linked with none: name others, or leave linked out")
	}
	for v, name := range names {
		if !slices.ContainsFunc(all, func(set uint32) bool { return set>>v&1 == 1 }) {
			k.Add(path, "no linked table has %s: leave it out of the table", name)
		}
	}
}

// circular tells whether tables over sets of variables can agree in all that they share, and yet be of no people: those that can be taken away
// one by one, each sharing with one other all that it shares with any, cannot (Graham 1979).
func circular(tables []uint32) bool {
	left := slices.Clone(tables)
	for len(left) > 1 {
		at := slices.IndexFunc(left, func(t uint32) bool {
			shared := uint32(0)
			for _, other := range left {
				if other != t {
					shared |= t & other
				}
			}
			return slices.ContainsFunc(left, func(other uint32) bool { return other != t && shared&^other == 0 })
		})
		if at < 0 {
			return true
		}
		left = slices.Delete(left, at, at+1)
	}
	return false
}

// linked are the tables that are published together, by bits of the variables; nil for one of all.
func (c *Config) linked() []uint32 {
	var list []uint32
	names := schemas.VariableNames(c.Table)
	for _, table := range c.Linked {
		set := uint32(0)
		for _, name := range table {
			set |= 1 << slices.Index(names, name)
		}
		list = append(list, set)
	}
	return list
}

// only is the table of the cells that linked tables have.
func (t *Table) only(tables []uint32) (*Table, error) {
	if tables == nil {
		return t, nil
	}
	of := &tabular.Grid{Tables: tables}
	var cells []int32
	var from []int
	for cell := range t.Grid.Cells() {
		if nodes := t.Grid.Nodes(cell); of.In(nodes) {
			cells, from = append(cells, nodes...), append(from, cell)
		}
	}
	grid, err := tabular.NewGrid(t.Grid.Trees, cells)
	if err != nil {
		return nil, err
	}
	grid.Tables = tables
	return t.of(grid, from), nil // both are in the order of nodes
}
