package contingency

import (
	"context"
	"fmt"
)

// Match finds the classes of table t in table in, which has variables of the same names in the same order: the class in it with the same
// categories, or -1 for none. Categories are the same if their labels are; missing matches missing. This joins tables that were
// counted from different files, whose codes differ.
func Match(ctx context.Context, t, in *Table) ([]int64, error) {
	if len(t.Variables) != len(in.Variables) {
		return nil, fmt.Errorf("tables of %d and of %d variables cannot be matched", len(t.Variables), len(in.Variables))
	}
	book, codes := &CodeBook{}, make([][]uint32, len(t.Variables))
	for v, variable := range t.Variables {
		other := in.Variables[v]
		if other.Name != variable.Name {
			return nil, fmt.Errorf("variable %d is %s in one table and %s in the other", v, variable.Name, other.Name)
		}
		book.Add(other.Name, other.Categories...)
		var err error
		if codes[v], err = book.Translation(variable); err != nil {
			return nil, err
		}
	}
	rows := 1 << 16
	if in.OnDisk() {
		rows = 1 << 22 // it is read anew for each
	}
	rows = min(rows, t.Classes())
	class := make([]int64, t.Classes())
	columns := make([]Column, len(t.Variables))
	own := make([]uint32, rows)
	block := in.NewBlock()
	for from := 0; from < t.Classes(); from += rows {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		n := min(rows, t.Classes()-from)
		for v := range columns {
			if columns[v].Index == nil {
				columns[v] = Column{Index: make([]int32, rows), Codes: codes[v]}
			}
			t.Codes(v, from, own[:n])
			for i, c := range own[:n] {
				columns[v].Index[i] = int32(c)
			}
		}
		if err := block.Add(n, columns); err != nil {
			return nil, err
		}
		if err := block.resolve(class[from:from+n], nil); err != nil {
			return nil, err
		}
	}
	return class, t.Err()
}
