package evaluate

import "math"

// A ROC is the receiver operating characteristic of a score: as the threshold falls, the share of the true records and of the
// false ones that are at or above it.
type ROC struct {
	// The corners of the curve, from (0, 0) to (1, 1); both are nil if all records are true or all false. A set of tied records is
	// one step, and that is a diagonal if it has both kinds.
	FalsePositive, TruePositive []float64
	// Area under the curve, in [0, 1]: the chance that a true record has the higher score than a false one, a tie counting one
	// half (Mann and Whitney). NaN if all records are true or all false.
	Area float64
}

// NewROC is the curve of a score, where higher is riskier, for records that are risky in truth or not. It depends on the order of the
// scores only. It is an error if the lengths differ, or a score is NaN.
func NewROC(score []float64, truth []bool) (*ROC, error) {
	ties, err := rank(score, truth)
	if err != nil {
		return nil, err
	}
	records, positives := count(ties)
	negatives := records - positives
	if positives == 0 || negatives == 0 {
		return &ROC{Area: math.NaN()}, nil
	}
	r := &ROC{FalsePositive: []float64{0}, TruePositive: []float64{0}}
	var trueAbove, falseAbove int64 // records at or above the threshold
	var twice int64                 // pairs in the right order, times 2
	before := stepNone
	for i := len(ties) - 1; i >= 0; i-- {
		t := ties[i]
		negative := t.records - t.positive
		twice += negative * (2*trueAbove + t.positive)
		trueAbove += t.positive
		falseAbove += negative
		x, y := float64(falseAbove)/float64(negatives), float64(trueAbove)/float64(positives)
		if step := stepOf(t); step == before && step != stepDiagonal {
			last := len(r.FalsePositive) - 1
			r.FalsePositive[last], r.TruePositive[last] = x, y // no corner between two steps up, or two to the right
		} else {
			r.FalsePositive, r.TruePositive = append(r.FalsePositive, x), append(r.TruePositive, y)
			before = step
		}
	}
	r.Area = float64(twice) / 2 / float64(positives) / float64(negatives)
	return r, nil
}

// Kinds of step of a ROC curve.
const (
	stepNone = iota
	stepUp
	stepRight
	stepDiagonal
)

func stepOf(t tie) int {
	switch t.positive {
	case 0:
		return stepRight
	case t.records:
		return stepUp
	}
	return stepDiagonal
}

// Precision is the share of true records among the top[i] records with the highest scores, for each i; where records are tied for the
// last places, its expected value if these are given out at random. NaN if top[i] is below 1 or above the number of records; all are
// NaN if the lengths of score and truth differ, or a score is NaN.
func Precision(score []float64, truth []bool, top []int) []float64 {
	share := make([]float64, len(top))
	for i := range share {
		share[i] = math.NaN()
	}
	ties, err := rank(score, truth)
	if err != nil {
		return share
	}
	for i, m := range top {
		if m < 1 || m > len(score) {
			continue
		}
		places, found := int64(m), 0.0
		for j := len(ties) - 1; places > 0; j-- {
			t := ties[j]
			if t.records <= places {
				found += float64(t.positive)
			} else {
				found += float64(t.positive) * float64(places) / float64(t.records)
			}
			places -= min(places, t.records)
		}
		share[i] = found / float64(m)
	}
	return share
}
