package recode

import (
	"math"
	"strconv"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"

	"microrisk/engine/contingency"
	"microrisk/operators"
)

// belowOf tells whether value x, with that text, is below an end of a band. Numerals are compared exactly, floating-point numbers as they
// are: of two decimals with up to 15 digits the order is the same.
func belowOf(a arrow.Array, x float64, text string) func(end float64) bool {
	if t := operators.ValueType(a.DataType()); arrow.IsFloating(t.ID()) || !operators.PlainDecimal(text) {
		return func(end float64) bool { return x < end }
	}
	text = strings.TrimPrefix(text, "+")
	return func(end float64) bool {
		return contingency.CompareNumerals(text, strconv.FormatFloat(end, 'f', -1, 64)) < 0
	}
}

// decimalSteps are the decimals origin + n width, for whole n.
type decimalSteps struct {
	origin, width float64
	o, w          int64 // the same in units of 10^-digits; w is 0 if they do not fit
	unit          float64
}

func newDecimalSteps(origin, width float64) decimalSteps {
	s := decimalSteps{origin: origin, width: width}
	for digits := range 16 {
		unit := math.Pow10(digits)
		o, okO := scaled(origin, digits)
		w, okW := scaled(width, digits)
		if okO && okW {
			s.o, s.w, s.unit = o, w, unit
			return s
		}
	}
	return s
}

// scaled is the shortest decimal that stands for x, in units of 10^-digits, if it is whole and exact.
func scaled(x float64, digits int) (int64, bool) {
	text := strconv.FormatFloat(x, 'f', -1, 64)
	whole, rest, _ := strings.Cut(text, ".")
	if len(rest) > digits {
		return 0, false
	}
	n, err := strconv.ParseInt(whole+rest+strings.Repeat("0", digits-len(rest)), 10, 64)
	return n, err == nil && n > -1<<53 && n < 1<<53
}

// at is the decimal with number n, rounded once.
func (s decimalSteps) at(n float64) float64 {
	if k := float64(s.o) + n*float64(s.w); s.w != 0 && math.Abs(k) < 1<<53 {
		return k / s.unit
	}
	return s.origin + n*s.width
}

// around are the steps next to x: low is not above it, high is.
func (s decimalSteps) around(x float64, below func(end float64) bool) (low, high float64) {
	n := math.Floor((x - s.origin) / s.width)
	for range 4 { // the quotient is off by one at most, but for numbers beyond 2^53
		switch {
		case below(s.at(n)):
			n--
		case !below(s.at(n + 1)):
			n++
		default:
			return s.at(n), s.at(n + 1)
		}
	}
	return s.at(n), s.at(n + 1)
}
