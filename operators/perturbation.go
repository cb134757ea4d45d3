package operators

import (
	"cmp"
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
	case "noise":
		return perturb.Noise(), nil
	case "normal":
		return normal(p).Kernel()
	case "isd":
		return perturb.ISD(usual(p.Change, schemas.UsualChange), perturb.Reading(cmp.Or(p.Reading, string(perturb.ReadingA))))
	case "census2000":
		return perturb.Census2000(), nil
	}
	return nil, fmt.Errorf("there is no scheme %q: it is one of %v", p.Scheme, schemas.Schemes)
}

// normal is normal noise of counts.
func normal(p *schemas.Perturbation) perturb.Normal {
	return perturb.Normal{SD: usual(p.SD, 0), Proportional: usual(p.Proportional, 0), Reach: usual(p.Reach, schemas.UsualReach),
		Negative: perturb.Negative(cmp.Or(p.Negative, string(perturb.Refuse)))}
}

// usual is a number, or what is meant where it is not said.
func usual(x *float64, meant float64) float64 {
	if x == nil {
		return meant
	}
	return *x
}
