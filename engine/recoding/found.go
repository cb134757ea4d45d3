package recoding

import (
	"math"
	"slices"
	"time"
)

// Options say what is searched for.
type Options struct {
	Rule         Rule
	Suppressed   int64 // records that may be suppressed
	Loss         Loss
	Alternatives int           // how many of the next best are wanted besides the best
	Checks       int           // tables that may be made, 0: no end; the same answer on every machine
	Time         time.Duration // 0: no end
	Progress     func(checked int, best, bound float64)
	Figures      *Figures // that learn of each recoding whose table is made; nil: none do
	// Judge, if it is given, judges nodes in place of Loss, whose Bound is then one of what Judge says, and of Rule, which tells the records that are
	// not safe: the loss of a release and whether it is one. worst is the loss that it must be below to count, nil for any.
	Judge func(o *Outcome, worst []float64) (loss []float64, safe bool, err error)
	// Least, if it is given, is at most what Judge says, and tells it with less work: who may lose least is judged first.
	Least func(o *Outcome) (float64, error)
}

// A Release is a recoding that is safe.
type Release struct {
	*Outcome
	Loss []float64
}

// A Found is what a search ended with.
type Found struct {
	Best    []Release // the best first; none: no recoding that was looked at is safe
	Bound   []float64 // no safe recoding loses less
	Proven  bool      // the first is the best, and the others are the next ones
	Nodes   float64   // of the lattice
	Checked int       // nodes whose table was made
	Pruned  bool      // what is safe was inferred from other nodes
	Stopped string    // why the search ended before it was done: "" for not
	Nearest *Outcome  // where none is safe: the coarsest recoding
}

// Gap is how far the best loss may lie above the least, relatively; NaN where none was found.
func (f *Found) Gap() float64 {
	switch {
	case len(f.Best) == 0:
		return math.NaN()
	case f.Proven || f.Best[0].Loss[0] <= f.Bound[0]:
		return 0
	case f.Bound[0] <= 0:
		return math.Inf(1)
	}
	return f.Best[0].Loss[0]/f.Bound[0] - 1
}

// order puts releases in order: by loss, then by the sum of their levels, then by the levels.
func order(a, b Release) int {
	if c := compare(a.Loss, b.Loss); c != 0 {
		return c
	}
	if c := a.Node.Height() - b.Node.Height(); c != 0 {
		return c
	}
	return slices.Compare(a.Node, b.Node)
}

// offer puts a release among the best: those that have a finer one at no more loss are no alternatives.
func (s *searcher) offer(r Release) {
	for _, b := range s.found.Best {
		if slices.Equal(b.Node, r.Node) || b.Node.Finer(r.Node) && compare(b.Loss, r.Loss) <= 0 {
			return
		}
	}
	s.found.Best = slices.DeleteFunc(s.found.Best, func(b Release) bool { return r.Node.Finer(b.Node) && compare(r.Loss, b.Loss) <= 0 })
	at, _ := slices.BinarySearchFunc(s.found.Best, r, order)
	s.found.Best = slices.Insert(s.found.Best, at, r)
	if most := s.o.Alternatives + 1 + spare; len(s.found.Best) > most {
		s.found.Best = s.found.Best[:most]
	}
}

// spare is how many more are kept, in case a finer one takes the place of several.
const spare = 64
