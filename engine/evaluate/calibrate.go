package evaluate

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sort"
)

// DefaultBins is how many bins Calibrate makes unless told.
const DefaultBins = 20

// A Bin is a set of records with estimates next to each other.
type Bin struct {
	Estimate float64 // mean estimate
	Observed float64 // mean truth
	SE       float64 // standard error of the mean truth; NaN for one record
	Count    int     // records, at least 1
}

// A point is one record's pair of values.
type point struct{ x, y float64 }

// sortPoints sorts by x, then y, so that no sum depends on the order of the records.
func sortPoints(points []point) {
	slices.SortFunc(points, func(a, b point) int {
		if c := cmp.Compare(a.x, b.x); c != 0 {
			return c
		}
		return cmp.Compare(a.y, b.y)
	})
}

// Calibrate is the reliability curve of an estimate: at most bins bins (DefaultBins if bins is 0) of equal count, by estimate. A set
// of records with the same estimate is never split: it goes where its middle falls. Bins without a record are left out, so that a
// score with few values has fewer bins; without records there are none. truth is what the estimate is of: 1/F of each record, or 1 and
// 0 for population unique or not. It is an error if the lengths differ, a value is not a finite number, or bins is below 0.
func Calibrate(estimate, truth []float64, bins int) ([]Bin, error) {
	if bins == 0 {
		bins = DefaultBins
	}
	if bins < 0 {
		return nil, fmt.Errorf("%d bins", bins)
	}
	if len(estimate) != len(truth) {
		return nil, fmt.Errorf("%d estimates, but the truth of %d records", len(estimate), len(truth))
	}
	if err := finite("estimate", estimate); err != nil {
		return nil, err
	}
	if err := finite("truth", truth); err != nil {
		return nil, err
	}
	points := make([]point, len(estimate))
	for i := range points {
		points[i] = point{estimate[i], truth[i]}
	}
	sortPoints(points)
	var result []Bin
	start, number := 0, -1 // of the bin that is being filled
	for i := 0; i < len(points); {
		end := i + 1
		for end < len(points) && points[end].x == points[i].x {
			end++
		}
		// The middle is at most len - 1/2 of len: the quotient is below 1.
		at := int(float64(bins) * (float64(i+end) / 2 / float64(len(points))))
		if at != number && i > start {
			result = append(result, bin(points[start:i]))
			start = i
		}
		number = at
		i = end
	}
	if start < len(points) {
		result = append(result, bin(points[start:]))
	}
	return result, nil
}

func bin(points []point) Bin {
	n := float64(len(points))
	b := Bin{Count: len(points)}
	for _, p := range points {
		b.Estimate += p.x / n
		b.Observed += p.y / n
	}
	squares := 0.0
	for _, p := range points {
		squares += (p.y - b.Observed) * (p.y - b.Observed)
	}
	b.SE = standardError(squares, b.Count)
	return b
}

// Loess smooths y against x by local lines, at the places given. The line at a place is fitted to the span share of the points that
// are nearest to it, at least two, with tricube weights (1 - (d/h)^3)^3, where d is the distance and h that of the farthest of them
// (Cleveland 1979, without robustness steps). Points with a value that is not a finite number are left out. The result is NaN where
// the line is not defined: all weight is on one value of x, other than the place itself. All are NaN if the lengths of x and y differ,
// or span is not above 0; a span above 1 is taken as 1.
func Loess(x, y, at []float64, span float64) []float64 {
	fit := make([]float64, len(at))
	for i := range fit {
		fit[i] = math.NaN()
	}
	if len(x) != len(y) || !(span > 0) {
		return fit
	}
	points := make([]point, 0, len(x))
	for i := range x {
		if sum := x[i] + y[i]; !math.IsNaN(sum) && !math.IsInf(x[i], 0) && !math.IsInf(y[i], 0) {
			points = append(points, point{x[i], y[i]})
		}
	}
	if len(points) == 0 {
		return fit
	}
	sortPoints(points)
	// A little is added because 0.3 times 10 points, say, may come out below 3.
	near := max(min(int(min(span, 1)*float64(len(points))+1e-7), len(points)), min(2, len(points)))
	for i, place := range at {
		if !math.IsNaN(place) && !math.IsInf(place, 0) {
			fit[i] = local(points, near, place)
		}
	}
	return fit
}

// local is the line through the nearest points, at a place.
func local(points []point, near int, place float64) float64 {
	first := sort.Search(len(points)-near, func(i int) bool { return place-points[i].x <= points[i+near].x-place })
	window := points[first : first+near]
	width := max(math.Abs(place-window[0].x), math.Abs(window[near-1].x-place))
	if width == 0 { // more points at the place than are wanted: all of these count, not just some
		sum, n := 0.0, 0
		for i := sort.Search(len(points), func(i int) bool { return points[i].x >= place }); i < len(points) && points[i].x == place; i++ {
			sum += points[i].y
			n++
		}
		return sum / float64(n)
	}
	var total, meanX, meanY float64
	low, high := math.Inf(1), math.Inf(-1) // of x with weight
	for _, p := range window {
		if w := tricube(p.x-place, width); w > 0 {
			total += w
			meanX += w * (p.x - place)
			meanY += w * p.y
			low, high = min(low, p.x), max(high, p.x)
		}
	}
	if total == 0 || low == high && low != place {
		return math.NaN()
	}
	meanX /= total
	meanY /= total
	if low == high {
		return meanY
	}
	var spread, common float64
	for _, p := range window {
		if w := tricube(p.x-place, width); w > 0 {
			d := p.x - place - meanX
			spread += w * d * d
			common += w * d * (p.y - meanY)
		}
	}
	return meanY - meanX*common/spread
}

func tricube(distance, width float64) float64 {
	d := math.Abs(distance) / width
	if d >= 1 {
		return 0
	}
	rest := 1 - d*d*d
	return rest * rest * rest
}
