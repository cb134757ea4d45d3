package tabular

import (
	"cmp"
	"slices"

	"microrisk/engine/contingency"
)

// An Identity makes the bytes that, with a secret, the noise of a cell depends on: the same for the same cell of any table, whatever
// else the table has and in whatever order. It is for one goroutine.
//
//	identity = part...                  by the names of the variables
//	part     = name "=" category 0      totals are left out
type Identity struct {
	variables []contingency.Variable
	order     []int
	bytes     []byte
}

// NewIdentity is for cells of some variables, of which the names matter.
func NewIdentity(variables []contingency.Variable) *Identity {
	n := &Identity{variables: variables, order: make([]int, len(variables))}
	for v := range n.order {
		n.order[v] = v
	}
	slices.SortFunc(n.order, func(a, b int) int { return cmp.Compare(variables[a].Name, variables[b].Name) })
	return n
}

// Of is the identity of a cell, good until the next call.
func (n *Identity) Of(cell []Category) []byte {
	b := n.bytes[:0]
	for _, v := range n.order {
		if cell[v].Kind != KindTotal {
			b = append(append(append(append(b, n.variables[v].Name...), '='), cell[v].code()...), 0)
		}
	}
	n.bytes = b
	return b
}
