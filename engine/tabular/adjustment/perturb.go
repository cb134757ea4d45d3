package adjustment

import (
	"fmt"
	"math"

	"microrisk/engine/perturb"
	"microrisk/engine/tabular"
)

// A Perturbed table is what is published in the place of true values.
type Perturbed struct {
	Values []int64
	// Imbalance is the largest difference between a published total and the sum of its published parts, Equation one that has it; 0 and -1
	// if the table adds up.
	Imbalance int64
	Equation  int
}

// Perturb publishes every cell by itself, totals too, by a kernel: additive noise, conventional rounding, random rounding and so on. The
// table does not add up any more, by Imbalance at worst. Errors: *CellError for a count below 0, laws that Check of perturb refuses.
func Perturb(s *tabular.System, counts []int64, k perturb.Kernel, d Draws) (*Perturbed, error) {
	return perturbed(s, counts, k, d, func(int32) bool { return true })
}

// PerturbParts publishes the cells that are no totals by a kernel, such as Barnardisation of small counts, and adds them up: the table adds up.
// Margins move little then, so that whoever has overlapping tables may undo it. Errors: those of Perturb; equations that do not follow
// from the sums of the finest cells.
func PerturbParts(s *tabular.System, counts []int64, k perturb.Kernel, d Draws) (*Perturbed, error) {
	if err := checkCells(s, len(counts)); err != nil {
		return nil, err
	}
	splits := s.Splits()
	p, err := perturbed(s, counts, k, d, func(cell int32) bool { return len(splits[cell]) == 0 })
	if err != nil {
		return nil, err
	}
	if err := addUp(s, p.Values); err != nil {
		return nil, err
	}
	if p.judge(s); p.Equation >= 0 {
		return nil, fmt.Errorf("equation %d does not hold when the cells that are no totals are added up: it is not of their sums", p.Equation)
	}
	return p, nil
}

func perturbed(s *tabular.System, counts []int64, k perturb.Kernel, d Draws, which func(cell int32) bool) (*Perturbed, error) {
	if err := checkCells(s, len(counts)); err != nil {
		return nil, err
	}
	p := &Perturbed{Values: make([]int64, len(counts))}
	checked := make(map[int64]bool)
	for cell, x := range counts {
		if x < 0 {
			return nil, cellError(int32(cell), "has the count %d: counts are at least 0", x)
		}
		if !which(int32(cell)) {
			continue
		}
		if !checked[x] {
			if err := perturb.Check(k, x); err != nil {
				return nil, err
			}
			checked[x] = true
		}
		p.Values[cell] = perturb.Draw(k, x, d(int32(cell), 0))
	}
	p.judge(s)
	return p, nil
}

// judge finds the largest imbalance.
func (p *Perturbed) judge(s *tabular.System) {
	p.Imbalance, p.Equation = 0, -1
	for e := range s.Equations {
		off := s.Equations[e].Imbalance(p.Values)
		if off = max(off, -off); off > p.Imbalance {
			p.Imbalance, p.Equation = off, e
		}
	}
}

// A Noise is additive noise of magnitudes: of a normal law, given that it goes no further than Reach standard deviations, rounded to units.
type Noise struct {
	SD           float64 // in units, at least 0
	Proportional float64 // and so many times the value's size in addition; not both 0
	Reach        float64 // 1 to perturb.MaxReach
}

// Add gives every cell noise by itself, totals too; values of 0 stay, and none changes its sign: noise that could do that is refused, with the
// cell. The table does not add up any more.
func (n Noise) Add(s *tabular.System, values []int64, d Draws) (*Perturbed, error) {
	switch {
	case !(n.SD >= 0 && n.Proportional >= 0 && n.SD+n.Proportional > 0) || math.IsInf(n.SD+n.Proportional, 0):
		return nil, fmt.Errorf("noise of %v units and %v times the value: both are at least 0, and one is above it", n.SD, n.Proportional)
	case !(n.Reach >= 1 && n.Reach <= perturb.MaxReach):
		return nil, fmt.Errorf("the noise reaches %v standard deviations: it must be from 1 to %d, such as 4", n.Reach, perturb.MaxReach)
	}
	if err := checkCells(s, len(values)); err != nil {
		return nil, err
	}
	p := &Perturbed{Values: make([]int64, len(values))}
	for cell, x := range values {
		if x == 0 {
			continue
		}
		size := math.Abs(float64(x))
		sd := n.SD + n.Proportional*size
		switch {
		case size > 1<<53:
			return nil, cellError(int32(cell), "has the value %d, where 2^53 is the largest", x)
		case sd*n.Reach > size+0.5:
			return nil, cellError(int32(cell), "has the value %d: noise of standard deviation %g that reaches %g of them could change its sign; take less",
				x, sd, n.Reach)
		}
		p.Values[cell] = x + int64(math.Round(sd*perturb.Standard(d(int32(cell), 0), n.Reach)))
		if (p.Values[cell] < 0) != (x < 0) {
			p.Values[cell] = 0 // by the half unit of rounding
		}
	}
	p.judge(s)
	return p, nil
}
