// Package evaluate judges risk scores against a population that is known.
//
// A large file is taken for the population: samples are drawn from it, each is scored as if the rest were unknown, and the scores
// are compared with the truth: whether a record's class has one person (population unique), or 1/F.
//
//	s, err := evaluate.NewSelector([]int64{rows}, evaluate.Design{Fraction: 0.01}, seed, repetition)
//	for row := range rows {
//		if s.Take(0) {
//			// row is in the sample
//		}
//	}
//	roc, err := evaluate.NewROC(score, unique)
//	plot, err := evaluate.NewLogitRank(ctx, score, unique, 0, 0)
//	fmt.Println(roc.Area, plot.Slope)
//
// Sources: Smith 2011, chapter 8; Copas 1999 (the logit rank plot); Cleveland 1979 (loess); Knuth, The Art of Computer Programming,
// volume 2, section 3.4.2 (selection sampling).
package evaluate

import (
	"fmt"
	"math"
	"slices"
)

// A Comparison is a mean over samples.
type Comparison struct {
	Mean float64 // NaN if N is 0
	SE   float64 // standard error of the mean; NaN for fewer than two values
	N    int     // values, or pairs of values
}

// Paired is the mean of a[i] - b[i], where i is a sample that both scores were tried on. Pairs with NaN in either are left out, and
// so is what one slice has beyond the other's end.
func Paired(a, b []float64) Comparison {
	n := min(len(a), len(b))
	difference := make([]float64, 0, n)
	for i := range n {
		if !math.IsNaN(a[i]) && !math.IsNaN(b[i]) {
			difference = append(difference, a[i]-b[i])
		}
	}
	return Mean(difference)
}

// Mean is the mean of the values that are not NaN.
func Mean(values []float64) Comparison {
	var c Comparison
	sum := 0.0
	for _, v := range values {
		if !math.IsNaN(v) {
			sum += v
			c.N++
		}
	}
	c.Mean = sum / float64(c.N)
	squares := 0.0
	for _, v := range values {
		if !math.IsNaN(v) {
			squares += (v - c.Mean) * (v - c.Mean)
		}
	}
	c.SE = standardError(squares, c.N)
	return c
}

// standardError is that of the mean of n values whose squared distances from it sum to squares.
func standardError(squares float64, n int) float64 {
	if n < 2 {
		return math.NaN()
	}
	return math.Sqrt(squares / float64(n-1) / float64(n))
}

// A tie is a set of records with the same score.
type tie struct {
	records  int64
	positive int64 // of these, how many are true
}

// rank puts records with the same score together; ties ascend by score. The order of the records makes no difference.
func rank(score []float64, truth []bool) ([]tie, error) {
	if len(score) != len(truth) {
		return nil, fmt.Errorf("%d scores, but the truth of %d records", len(score), len(truth))
	}
	positives := 0
	for i, s := range score {
		if math.IsNaN(s) {
			return nil, fmt.Errorf("record %d has no score", i)
		}
		if truth[i] {
			positives++
		}
	}
	// The two classes are sorted apart, as plain numbers, and merged: faster than sorting records.
	positive := make([]float64, 0, positives)
	negative := make([]float64, 0, len(score)-positives)
	for i, s := range score {
		if truth[i] {
			positive = append(positive, s)
		} else {
			negative = append(negative, s)
		}
	}
	slices.Sort(positive)
	slices.Sort(negative)
	ties := make([]tie, 0, len(score))
	for i, j := 0, 0; i < len(positive) || j < len(negative); {
		var s float64
		if j == len(negative) || i < len(positive) && positive[i] < negative[j] {
			s = positive[i]
		} else {
			s = negative[j]
		}
		var t tie
		for ; i < len(positive) && positive[i] == s; i++ {
			t.positive++
			t.records++
		}
		for ; j < len(negative) && negative[j] == s; j++ {
			t.records++
		}
		ties = append(ties, t)
	}
	return ties, nil
}

// count is the number of records, and of those that are true.
func count(ties []tie) (records, positives int64) {
	for _, t := range ties {
		records += t.records
		positives += t.positive
	}
	return records, positives
}

// finite tells of the first value that is not a finite number.
func finite(what string, values []float64) error {
	for i, v := range values {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Errorf("%s %d is %v, not a finite number", what, i, v)
		}
	}
	return nil
}
