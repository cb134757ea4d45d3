package recode

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"sort"
	"strconv"
	"unicode/utf8"

	"github.com/apache/arrow/go/v17/arrow"

	"microrisk/operators"
)

// recoding turns the words of a recode into a function on values of the type, and tells the type of what it makes.
func recoding(c Column, t arrow.DataType) (func(values arrow.Array, i int, text string) (string, bool), arrow.DataType, error) {
	banded, clamped := c.Width != 0 || len(c.Cuts) > 0, c.Bottom != nil || c.Top != nil
	kinds := 0
	for _, is := range []bool{c.Map != nil, c.Truncate != 0, banded || clamped} {
		if is {
			kinds++
		}
	}
	switch {
	case kinds != 1:
		return nil, nil, errors.New("say one of map, truncate, or bands (width or cuts, bottom, top)")
	case arrow.IsNested(t.ID()):
		return nil, nil, fmt.Errorf("a column of type %s is nested, it cannot be recoded", t)
	case c.Other != nil && c.Map == nil:
		return nil, nil, errors.New("other goes with map")
	case c.Map != nil:
		return mapping(c), arrow.BinaryTypes.String, nil
	case c.Truncate != 0:
		if c.Truncate < 0 {
			return nil, nil, fmt.Errorf("truncate is %d: it must be a number of characters, at least 1", c.Truncate)
		}
		if operators.IsNumber(t) || !operators.HasEquality(t) {
			return nil, nil, fmt.Errorf("a column of type %s cannot be truncated: use width to band numbers", t)
		}
		return truncation(c.Truncate), arrow.BinaryTypes.String, nil
	case !operators.IsNumber(t) && !operators.IsText(t):
		return nil, nil, fmt.Errorf("a column of type %s has no numbers to band", t)
	}
	b := bands{Column: c, whole: operators.IsInteger(t) || operators.IsText(t)}
	if err := b.check(); err != nil {
		return nil, nil, err
	}
	b.steps = newDecimalSteps(b.Origin, b.Width)
	if banded {
		return b.band, arrow.BinaryTypes.String, nil
	}
	if b.whole && !b.wholeEnds() {
		return nil, nil, errors.New("bottom and top of a column of whole numbers must be whole numbers")
	}
	return b.clamp, t, nil
}

func mapping(c Column) func(arrow.Array, int, string) (string, bool) {
	return func(_ arrow.Array, _ int, text string) (string, bool) {
		to, ok := c.Map[text]
		switch {
		case ok:
		case c.Other != nil:
			to = *c.Other
		default:
			return text, true
		}
		return to, to != ""
	}
}

func truncation(n int) func(arrow.Array, int, string) (string, bool) {
	return func(_ arrow.Array, _ int, text string) (string, bool) {
		end := 0
		for range n {
			if end >= len(text) {
				break
			}
			_, size := utf8.DecodeRuneInString(text[end:])
			end += size
		}
		return text[:end], true
	}
}

// bands puts numbers into bands. Bands of whole numbers are named by their first and last number (20-24), those of other numbers
// as half-open intervals ([0.5,1)). Widths, cuts and values are taken as the decimals that they are written as: 0.3 is in [0.3,0.4).
type bands struct {
	Column
	whole bool // the column has whole numbers
	steps decimalSteps
}

func (b bands) check() error {
	finite := func(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }
	switch {
	case b.Width != 0 && len(b.Cuts) > 0:
		return errors.New("say width or cuts, not both")
	case !finite(b.Width) || b.Width < 0:
		return fmt.Errorf("width is %g: it must be a finite number above 0", b.Width)
	case !finite(b.Origin):
		return fmt.Errorf("origin is %g: it must be a finite number", b.Origin)
	case b.Origin != 0 && b.Width == 0:
		return errors.New("origin goes with width")
	case b.Bottom != nil && !finite(*b.Bottom), b.Top != nil && !finite(*b.Top):
		return errors.New("bottom and top must be finite numbers")
	case b.Bottom != nil && b.Top != nil && *b.Bottom >= *b.Top:
		return fmt.Errorf("bottom %g must be below top %g", *b.Bottom, *b.Top)
	}
	for i, c := range b.Cuts {
		if !finite(c) || i > 0 && c <= b.Cuts[i-1] {
			return fmt.Errorf("cuts %v must be finite and ascending", b.Cuts)
		}
	}
	return nil
}

// wholeEnds tells whether all ends of bands are whole numbers.
func (b bands) wholeEnds() bool {
	ends := append([]float64{b.Width, b.Origin}, b.Cuts...)
	if b.Bottom != nil {
		ends = append(ends, *b.Bottom)
	}
	if b.Top != nil {
		ends = append(ends, *b.Top)
	}
	for _, e := range ends {
		if e != math.Trunc(e) || math.Abs(e) > 1<<53 {
			return false
		}
	}
	return true
}

// band is the name of the value's band.
func (b bands) band(values arrow.Array, i int, text string) (string, bool) {
	x, ok := operators.DecimalNumber(values, i)
	switch {
	case !ok || math.IsInf(x, 0):
		return text, true
	case math.IsNaN(x):
		return "", false
	}
	if name, ok := b.wholeBand(text); ok {
		return name, true
	}
	below := belowOf(values, x, text)
	whole := b.whole && b.wholeEnds() && x == math.Trunc(x)
	if b.Bottom != nil && below(*b.Bottom) {
		return "<" + numeral(*b.Bottom), true
	}
	if b.Top != nil && !below(*b.Top) {
		return above(*b.Top, whole), true
	}
	low, high := math.Inf(-1), math.Inf(1)
	if b.Width != 0 {
		if low, high = b.steps.around(x, below); low == high { // narrower than what floating-point numbers tell apart
			return numeral(x), true
		}
	} else {
		n := sort.Search(len(b.Cuts), func(i int) bool { return below(b.Cuts[i]) })
		if n > 0 {
			low = b.Cuts[n-1]
		}
		if n < len(b.Cuts) {
			high = b.Cuts[n]
		}
	}
	if b.Bottom != nil {
		low = math.Max(low, *b.Bottom)
	}
	if b.Top != nil {
		high = math.Min(high, *b.Top)
	}
	return between(low, high, whole), true
}

// wholeBand is the band of a whole number beyond those that floating point tells apart, computed in whole numbers.
func (b bands) wholeBand(text string) (string, bool) {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || !b.whole || b.Width == 0 || b.Bottom != nil || b.Top != nil || !b.wholeEnds() || n > -1<<52 && n < 1<<52 {
		return "", false
	}
	width, past := int64(b.Width), new(big.Int)
	past.Mod(past.Sub(big.NewInt(n), big.NewInt(int64(b.Origin))), big.NewInt(width)) // Euclidean: 0 or more
	low := new(big.Int).Sub(big.NewInt(n), past)
	high := new(big.Int).Add(low, big.NewInt(width-1))
	switch {
	case width == 1:
		return low.String(), true
	case n < 0:
		return low.String() + " to " + high.String(), true
	}
	return low.String() + "-" + high.String(), true
}

func between(low, high float64, whole bool) string {
	switch {
	case math.IsInf(low, -1):
		return "<" + numeral(high)
	case math.IsInf(high, 1):
		return above(low, whole)
	case !whole:
		return "[" + numeral(low) + "," + numeral(high) + ")"
	case high == low+1:
		return numeral(low)
	case low < 0:
		return numeral(low) + " to " + numeral(high-1)
	}
	return numeral(low) + "-" + numeral(high-1)
}

func above(x float64, whole bool) string {
	if whole {
		return numeral(x) + "+"
	}
	return ">=" + numeral(x)
}

func numeral(x float64) string {
	if x == 0 {
		return "0" // not -0
	}
	if math.Abs(x) < 1e15 {
		return strconv.FormatFloat(x, 'f', -1, 64)
	}
	return strconv.FormatFloat(x, 'g', -1, 64)
}

// clamp brings values below the bottom, or above the top, to it.
func (b bands) clamp(values arrow.Array, i int, text string) (string, bool) {
	x, ok := operators.DecimalNumber(values, i)
	if !ok || math.IsNaN(x) {
		return text, true
	}
	below := belowOf(values, x, text)
	switch {
	case b.Bottom != nil && below(*b.Bottom):
		return numeral(*b.Bottom), true
	case b.Top != nil && !below(*b.Top):
		return numeral(*b.Top), true
	}
	return text, true
}
