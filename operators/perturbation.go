package operators

import (
	"cmp"
	"fmt"
	"slices"

	"microrisk/engine/contingency"
	"microrisk/engine/perturb"
	"microrisk/schemas"
)

// MostCells is how many cells a table of all categories can have.
const MostCells = 1 << 20

// Kernel is a scheme of the spec as a kernel.
func Kernel(p *schemas.Perturbation) (perturb.Kernel, error) {
	switch p.Scheme {
	case "", "none":
		return perturb.None(), nil
	case "conventional":
		return perturb.Conventional(p.Base, perturb.Tie(p.Tie))
	case "random":
		if p.Probability != nil {
			return perturb.RandomFixed(p.Base, *p.Probability)
		}
		return perturb.Random(p.Base)
	case "barnard":
		if p.Probability == nil {
			return nil, fmt.Errorf("barnard has no probability with which a count stays")
		}
		return perturb.Barnard(*p.Probability)
	case "small":
		return perturb.SmallCounts(p.Last, p.Value, p.Base, perturb.Tie(p.Tie))
	case "matrix":
		rows := make([][]perturb.Outcome, len(p.Matrix))
		for i, row := range p.Matrix {
			for _, o := range row {
				rows[i] = append(rows[i], perturb.Outcome{Count: o.Count, P: o.Probability})
			}
		}
		return perturb.Matrix("matrix", rows)
	}
	return nil, fmt.Errorf("there is no scheme %q: it is one of %v", p.Scheme, schemas.Schemes)
}

// ByName orders variables by their names, as they go into the identity of a cell, so that this does not depend on how the table was
// asked for.
func ByName(t *contingency.Table) []int {
	order := make([]int, len(t.Variables))
	for v := range order {
		order[v] = v
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(t.Variables[a].Name, t.Variables[b].Name) })
	return order
}

// AppendIdentity adds a variable and its category to the identity of a cell, on which, with the secret, its noise depends.
func AppendIdentity(b []byte, name, category string) []byte {
	return append(append(append(append(b, name...), '='), category...), 0)
}
