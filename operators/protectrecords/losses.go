package protectrecords

import (
	"math"

	"microrisk/engine/recoding"
)

// losses by name.
var losses = []recoding.Loss{recoding.Cells{}, recoding.Cells{Spread: true}, recoding.Entropy{}, recoding.Granularity{}, recoding.Precision{},
	recoding.Height{}, recoding.Discernibility{}, recoding.ClassSize{}, recoding.Divergence{}}

// LossNames are the words for losses.
func LossNames() []string {
	var names []string
	for _, l := range losses {
		names = append(names, l.Name())
	}
	return names
}

func lossNamed(name string) recoding.Loss {
	for _, l := range losses {
		if l.Name() == name {
			return l
		}
	}
	return losses[0]
}

// Meanings of safe for a record with suppressed cells.
const (
	FitClass    = "class"
	FitOwn      = "own"
	FitWildcard = "wildcard"
)

// Fits are the meanings.
var Fits = []string{FitClass, FitOwn, FitWildcard}

// LossesOf are those of a release that have a meaning for what is suppressed, by name.
func (p *Search) LossesOf(best *Release) (map[string]float64, error) {
	out := map[string]float64{}
	if p.Suppress != SuppressCells {
		var safe func(recoding.Class) bool
		if p.Suppress == SuppressRecords {
			rule, err := p.Rule(1)
			if err != nil {
				return nil, err
			}
			safe = rule.Safe
		}
		o, err := p.Lattice.Outcome(best.Node, safe)
		if err != nil {
			return nil, err
		}
		for _, l := range losses {
			if x := l.Of(p.Lattice, o); len(x) == 1 && !math.IsNaN(x[0]) && !math.IsInf(x[0], 0) {
				out[l.Name()] = x[0]
			}
		}
		return out, nil
	}
	for _, l := range losses {
		if cells, is := l.(recoding.Cells); is {
			if p.cut == nil || p.cut.result == nil {
				out[l.Name()] = cells.Bound(p.Lattice, best.Node)[0]
				continue
			}
			k := cutter{p: p, loss: cells}
			out[l.Name()] = cells.Suppressed(p.Lattice, best.Node, k.kept(best.Node, p.cut))[0]
		}
	}
	return out, nil
}
