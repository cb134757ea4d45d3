package operators

import (
	"fmt"

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
