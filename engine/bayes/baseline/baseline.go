// Package baseline has measures of disclosure risk that need no graphical model, to compare those of package risk with: the
// exchangeable models of the frequencies of a sample (Benedetti & Franconi 1998; Bethlehem, Keller & Pannekoek 1990; Pitman's, of
// Hoshino 2001) and Poisson log-linear models of its cells (Elamir & Skinner 2006). The data intrusion simulation of Skinner & Elliot
// 2002 is in package uniques.
//
//	h := baseline.Count(counts)
//	r, err := baseline.BenedettiFranconi(h, 0.01)
//	fmt.Println(r.CMSU)
package baseline

import (
	"fmt"
	"math"
	"slices"
)

// A Result of a baseline. What a method does not define is NaN; PUSU and CMSU are NaN without sample uniques.
type Result struct {
	PU   float64 // share of the population that is population unique
	PUSU float64 // share of sample uniques that are population unique
	CMSU float64 // mean of E[1/F] over sample uniques

	// Match is E[1/F] and Unique P(F = 1), 0 for f > 1: by frequency in the order of the histogram, by class where classes were given,
	// or by cell.
	Match, Unique []float64
}

// A Frequency is a number of cells of the same count.
type Frequency struct {
	F     int64 // records of each, at least 1
	Cells int64 // at least 1
}

// A Histogram has the frequencies of frequencies of a sample, ascending by F.
type Histogram []Frequency

// Count makes a histogram of the counts of occupied cells.
func Count(counts []int64) Histogram {
	sorted := slices.Clone(counts)
	slices.Sort(sorted)
	var h Histogram
	for _, f := range sorted {
		if n := len(h); n > 0 && h[n-1].F == f {
			h[n-1].Cells++
		} else {
			h = append(h, Frequency{F: f, Cells: 1})
		}
	}
	return h
}

// Records is the sum of all counts.
func (h Histogram) Records() int64 {
	n := int64(0)
	for _, f := range h {
		n += f.F * f.Cells
	}
	return n
}

// Occupied is the number of cells.
func (h Histogram) Occupied() int64 {
	n := int64(0)
	for _, f := range h {
		n += f.Cells
	}
	return n
}

// Uniques is the number of cells with one record.
func (h Histogram) Uniques() int64 {
	if len(h) > 0 && h[0].F == 1 {
		return h[0].Cells
	}
	return 0
}

// check wants frequencies and cells of at least 1, ascending.
func (h Histogram) check() error {
	for i, f := range h {
		if f.F < 1 || f.Cells < 1 || i > 0 && f.F <= h[i-1].F {
			return fmt.Errorf("frequency %d with %d cells: frequencies must ascend from 1, with at least one cell each", f.F, f.Cells)
		}
	}
	return nil
}

func checkFraction(fraction float64) error {
	if !(fraction > 0 && fraction <= 1) {
		return fmt.Errorf("the sampling fraction is %v, want above 0 and at most 1", fraction)
	}
	return nil
}

func checkPopulation(h Histogram, population float64) error {
	if err := h.check(); err != nil {
		return err
	}
	if n := h.Records(); !(population >= float64(n)) || math.IsInf(population, 1) {
		return fmt.Errorf("the population has %v people, want at least the %d of the sample", population, n)
	}
	return nil
}

// newResult has no values yet.
func newResult(n int) *Result {
	return &Result{PU: math.NaN(), PUSU: math.NaN(), CMSU: math.NaN(), Match: make([]float64, n), Unique: make([]float64, n)}
}

// byFrequency fills in PUSU and CMSU of a result by frequency.
func (r *Result) byFrequency(h Histogram) {
	if h.Uniques() > 0 {
		r.PUSU, r.CMSU = r.Unique[0], r.Match[0]
	}
}

// average fills in PUSU and CMSU of a result by class or cell.
func (r *Result) average(counts []int64) {
	n, unique, match := 0.0, 0.0, 0.0
	for i, f := range counts {
		if f == 1 {
			n++
			unique += r.Unique[i]
			match += r.Match[i]
		}
	}
	r.PUSU, r.CMSU = unique/n, match/n
}
