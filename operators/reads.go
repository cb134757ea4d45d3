package operators

import "slices"

// Reads are the names of the input's columns that operators of the chain look at, in the order of the input.
func (c *Chain) Reads() []string {
	used := map[int]bool{}
	for _, s := range c.steps {
		for _, id := range s.reads {
			used[id] = true
		}
		for _, t := range s.tables {
			for _, id := range slices.Concat(t.keys, t.sums) {
				used[id] = true
			}
		}
	}
	var names []string
	for id, column := range c.columns {
		if used[id] && column.step < 0 {
			names = append(names, column.field.Name)
		}
	}
	return names
}
