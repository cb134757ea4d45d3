package protect

import "microrisk/engine/recoding"

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
