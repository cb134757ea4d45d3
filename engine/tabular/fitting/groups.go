package fitting

import (
	"context"
	"fmt"
	"math"
)

// A Group is a set of cells and what they are to add up to, at least 0.
type Group struct {
	Cells []int32
	Want  float64
}

// Groups is iterative proportional fitting to sums over any sets of cells, met one after another; see Proportional. Sets that disagree, and
// ones whose cells are all 0, make that it does not converge. Errors: numbers that are no finite ones of at least 0, cells that are none; a
// context that ends.
func Groups(ctx context.Context, start []float64, groups []Group, o Options) (*Adjusted, error) {
	total, work := 0.0, 0
	for i, x := range start {
		if !(x >= 0) || math.IsInf(x, 1) {
			return nil, fmt.Errorf("cell %d of the start is %v: it must be at least 0, and finite", i, x)
		}
	}
	for k, g := range groups {
		if !(g.Want >= 0) || math.IsInf(g.Want, 1) {
			return nil, fmt.Errorf("group %d is to add up to %v: it must be at least 0, and finite", k, g.Want)
		}
		for _, c := range g.Cells {
			if c < 0 || int(c) >= len(start) {
				return nil, fmt.Errorf("group %d has the cell %d, of %d", k, c, len(start))
			}
		}
		total = max(total, g.Want)
		work += len(g.Cells)
	}
	x := append([]float64(nil), start...)
	a, err := sweep(ctx, []constraint{allGroups(groups)}, x, total, int64(work), o.withDefaults())
	if err != nil {
		return nil, err
	}
	a.Values = x
	return a, nil
}

type allGroups []Group

func (list allGroups) scale(x []float64) float64 {
	worst := 0.0
	for _, g := range list {
		sum := 0.0
		for _, c := range g.Cells {
			sum += x[c]
		}
		worst = max(worst, math.Abs(sum-g.Want))
		if sum > 0 {
			for _, c := range g.Cells {
				x[c] *= g.Want / sum
			}
		}
	}
	return worst
}
