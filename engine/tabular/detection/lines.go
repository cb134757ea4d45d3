package detection

import (
	"fmt"
	"math"
	"slices"
)

// A Line is the counts of all categories of one variable, where the others are fixed.
type Line []int64

// AcrossCells is the across-cells test of a line of counts (Miller 2005, 2.2): nobody who takes himself, and up to Coalition others, away
// from the line may know a remaining one to within P per cent, or, of categories that are no numbers, his category.
type AcrossCells struct {
	P         float64
	Coalition int64
}

// Check finds figures that make no sense.
func (r AcrossCells) Check() error {
	if r.Coalition < 1 {
		return fmt.Errorf("the coalition of the across-cells test is %d; it must be at least 1, one person by himself", r.Coalition)
	}
	return percentage("p of the across-cells test", r.P, 99.999999)
}

// A Band is the numbers of a category, both ends in it.
type Band struct{ Low, High float64 }

// A Break is why a line fails: after Removed people were taken away, all others are in the categories from First to Last.
type Break struct {
	First, Last int
	Removed     int64
}

// Ordered tests a line whose categories are bands of numbers, in ascending order; nil if it passes. A line of nobody passes.
func (r AcrossCells) Ordered(line Line, bands []Band) *Break {
	k := sum(line)
	if k == 0 {
		return nil
	}
	most := min(r.Coalition, k-1)
	for i := range line {
		inside := int64(0)
		last := -1
		for j := i; j < len(line); j++ {
			inside += line[j]
			if line[j] > 0 {
				last = j
			}
			// Windows that begin and end with somebody are all: others have the same people.
			if line[i] == 0 || last != j || k-inside > most {
				continue
			}
			if !r.wide(bands[i].Low, bands[j].High) {
				return &Break{i, j, k - inside}
			}
		}
	}
	return nil
}

// wide tells whether no number is within p per cent of all from low to high: high (1 - p) > low (1 + p).
func (r AcrossCells) wide(low, high float64) bool {
	return math.IsInf(high, 1) || 100*(high-low) > r.P*(high+low)
}

// Unordered tests a line whose categories are only different: two at least must remain. Nil if it passes.
func (r AcrossCells) Unordered(line Line) *Break {
	k := sum(line)
	if k == 0 {
		return nil
	}
	at := 0
	for i, n := range line {
		if n > line[at] {
			at = i
		}
	}
	if others := k - line[at]; others <= r.Coalition {
		return &Break{at, at, others}
	}
	return nil
}

// Contiguous is the simplified across-cells test (Miller 2005, 2.2): a line of somebody passes if it has three neighbouring cells that are not
// empty, or two of more than one each. It presumes categories of which two are wide enough, and one attacker.
func Contiguous(line Line) bool {
	if sum(line) == 0 {
		return true
	}
	for i := range line {
		if i+2 < len(line) && line[i] > 0 && line[i+1] > 0 && line[i+2] > 0 || i+1 < len(line) && line[i] > 1 && line[i+1] > 1 {
			return true
		}
	}
	return false
}

// Concentration is the p% sensitive-cell rule (Miller 2005, 2.3): a line along the unknown variable fails if at least P per cent of its people
// are in one category of those that are sensitive.
type Concentration struct {
	P float64
}

// Check finds figures that make no sense.
func (r Concentration) Check() error { return percentage("p of the concentration rule", r.P, 100) }

// Category is the first category in which too many are; -1 for none. A nil sensitive is all.
func (r Concentration) Category(line Line, sensitive []bool) int {
	k, p := sum(line), scaled(r.P)
	for i, n := range line {
		if n > 0 && (sensitive == nil || sensitive[i]) && !less(100_000_000, n, p, k) {
			return i
		}
	}
	return -1
}

func sum(line Line) int64 {
	total := int64(0)
	for _, n := range line {
		total += n
	}
	return total
}

// CheckBands finds bands that are none, or out of order.
func CheckBands(bands []Band) error {
	for i, b := range bands {
		if math.IsNaN(b.Low) || math.IsNaN(b.High) || b.Low < 0 || b.High < b.Low {
			return fmt.Errorf("a band from %v to %v is none; the across-cells test is for numbers of at least 0", b.Low, b.High)
		}
		if i > 0 && b.Low < bands[i-1].High {
			return fmt.Errorf("the band from %v begins before the one to %v ends", b.Low, bands[i-1].High)
		}
	}
	if slices.ContainsFunc(bands, func(b Band) bool { return math.IsInf(b.Low, 0) }) {
		return fmt.Errorf("a band begins nowhere")
	}
	return nil
}
