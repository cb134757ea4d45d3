package operators

import (
	"math"
	"slices"
)

// A Spread counts records by their scores: those with a score of 0 or none, then those of each band.
type Spread []Band

// A Band counts the records whose score is above one value and at most another; the first one, of 0 and 0, has those without a score too.
type Band struct {
	Above, Most float64
	Records     int64
}

// spreadEnds are the upper ends of the bands but for the last: 1, 2 and 5 times powers of ten.
var spreadEnds = func() []float64 {
	ends := []float64{0}
	for power := -6; power <= 6; power++ {
		for _, step := range []float64{1, 2, 5} {
			if power < 0 { // 0.2 and not 0.2000000001
				ends = append(ends, step/math.Pow10(-power))
				continue
			}
			ends = append(ends, step*math.Pow10(power))
		}
	}
	return ends
}()

func newSpread() Spread {
	s := make(Spread, len(spreadEnds)+1)
	for i := range s {
		if i > 0 {
			s[i].Above = spreadEnds[i-1]
		}
		if s[i].Most = math.Inf(1); i < len(spreadEnds) {
			s[i].Most = spreadEnds[i]
		}
	}
	return s
}

// add counts a record; a nil spread counts nothing.
func (s Spread) add(score float64) {
	if s == nil {
		return
	}
	if !(score > 0) {
		s[0].Records++
		return
	}
	i, _ := slices.BinarySearch(spreadEnds, score)
	s[i].Records++
}

// merged is the sum of two spreads.
func merged(a, b Spread) Spread {
	if a == nil {
		return slices.Clone(b)
	}
	for i := range b {
		a[i].Records += b[i].Records
	}
	return a
}

// Records is how many records are in the bands.
func (s Spread) Records() (n int64) {
	for _, b := range s {
		n += b.Records
	}
	return n
}
