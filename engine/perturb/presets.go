package perturb

import (
	"fmt"
	"math"
)

// A Reading is one of two ways to read the weights of Barnardisation at Scotland's health statistics office.
type Reading string

// Readings, for a probability p of change.
const (
	ReadingA Reading = "A" // 2 and 3 change with probability p, half of it to each side, as 1 and 4 do to their one side
	ReadingB Reading = "B" // each side weighs p, against 1-p for staying
)

// ISD is Barnardisation as Scotland's health statistics office did it: counts from 1 to 4 stay, or move by one, but never to 0 or to 5;
// others stay. 1 becomes 2 and 4 becomes 3 with probability p, 0.2 there. It is biased at 1 and 4.
func ISD(p float64, reading Reading) (Kernel, error) {
	if err := checkProbability("the probability that a small count changes", p); err != nil {
		return nil, err
	}
	side := p / 2
	switch reading {
	case ReadingA:
	case ReadingB:
		side = p / (1 + p)
	default:
		return nil, fmt.Errorf("the reading is %q: it is one of A, B", reading)
	}
	return Matrix(fmt.Sprintf("Barnardisation of counts below 5 with p = %g, reading %s", p, reading), [][]Outcome{
		{{0, 1}}, {{1, 1 - p}, {2, p}},
		{{1, side}, {2, 1 - 2*side}, {3, side}}, {{2, side}, {3, 1 - 2*side}, {4, side}},
		{{3, p}, {4, 1 - p}}, {{5, 1}}})
}

// named is a kernel by another name.
type named struct {
	Kernel
	name string
}

func (k named) Name() string { return k.name }

// Census2000 is the rounding of the United States census of 2000: 0 stays, 1 to 7 become 4, larger counts the nearest multiple of 5.
func Census2000() Kernel {
	return named{small{last: 7, value: 4, rest: conventional{base: 5}}, "rounding of the census of 2000"}
}

// A Threshold suppresses cells of few respondents, and rounds the weighted values of others.
type Threshold struct {
	Few  int64   // cells of so many respondents or fewer are suppressed
	Base float64 // values are rounded to the nearest multiple of it, the middle of two up
}

// ABS are the rules of the Australian statistics office for health: cells of 3 respondents or fewer are suppressed, weighted values rounded
// to the nearest 100.
func ABS() Threshold { return Threshold{Few: 3, Base: 100} }

// Publish is what is published of a cell with so many respondents and a weighted value; published is false if it is suppressed. A negative
// number of respondents, and a value that is no finite number, are errors.
func (t Threshold) Publish(respondents int64, value float64) (rounded float64, published bool, err error) {
	switch {
	case respondents < 0:
		return 0, false, fmt.Errorf("a cell has %d respondents: it must have at least 0", respondents)
	case math.IsNaN(value) || math.IsInf(value, 0):
		return 0, false, fmt.Errorf("a cell has the weighted value %v: it must be a number", value)
	case respondents <= t.Few:
		return 0, false, nil
	}
	return t.Base * math.Floor(value/t.Base+0.5), true, nil
}

// Bounds are those of a value that is published as rounded: it is at least low and below high.
func (t Threshold) Bounds(rounded float64) (low, high float64) {
	return rounded - t.Base/2, rounded + t.Base/2
}
