package contingency

import (
	"context"
	"errors"
	"fmt"
)

// Part is the table of some classes of a table in memory, over some of its variables, by position, in the order given, with the sums.
// Variables have only the categories that are observed in it, but those for which whole is true.
func (t *Table) Part(ctx context.Context, classes, variables []int, whole []bool) (*Table, error) {
	if t.disk != nil {
		return nil, errors.New("contingency: a part of a table that is not in memory")
	}
	vars, codes := make([]Variable, len(variables)), make([][]uint32, len(variables))
	for j, v := range variables {
		if v < 0 || v >= len(t.Variables) {
			return nil, fmt.Errorf("contingency: variable %d of a table of %d", v, len(t.Variables))
		}
		vars[j], codes[j] = t.observed(classes, v, whole[j])
	}
	l, err := layoutOf(vars)
	if err != nil {
		return nil, err
	}
	stride := l.words + 1 + 2*len(t.sums)
	slab := make([]uint64, len(classes)*stride)
	for n, i := range classes {
		if n%checkedEntries == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		entry := slab[n*stride : (n+1)*stride]
		for j, v := range variables {
			entry[l.fields[j].word] |= uint64(codes[j][t.Code(i, v)]) << l.fields[j].shift
		}
		entry[l.words] = uint64(t.Count(i))
		for s := range t.sums {
			entry[l.words+1+2*s], entry[l.words+2+2*s] = t.sums[s][i].hi, t.sums[s][i].lo
		}
	}
	return assemble(ctx, vars, l, len(t.sums), t.workers, [][]uint64{slab})
}

// observed is a variable with the categories that some classes have, and what becomes of its codes.
func (t *Table) observed(classes []int, v int, whole bool) (Variable, []uint32) {
	old := t.Variables[v]
	there := make([]bool, int(old.Missing())+1)
	for _, i := range classes {
		there[t.Code(i, v)] = true
	}
	out, codes := old, make([]uint32, len(there))
	out.Categories = nil
	for c, category := range old.Categories {
		codes[c] = uint32(len(out.Categories))
		if whole || there[c] {
			out.Categories = append(out.Categories, category)
		}
	}
	codes[old.Missing()] = out.Missing()
	return out, codes
}
