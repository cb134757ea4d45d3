//go:build !nofigures

package figures

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
)

// ticks marks an axis that is long points long; labels are at least apart points from each other.
func (s *scale) ticks(long, apart float64) plot.ConstantTicks {
	var marks []plot.Tick
	switch s.kind {
	case logarithmic:
		marks = s.logTicks(int(long / apart))
	case logit:
		marks = s.logitTicks(long, apart)
	}
	labels := 0
	for _, t := range marks {
		if t.Label != "" {
			labels++
		}
	}
	if labels < 3 { // a short stretch of a logarithmic or logit scale is marked as if it were linear
		marks = nil
		values := *s
		values.kind, values.min, values.max = linear, s.value(s.min), s.value(s.max)
		for _, t := range values.linearTicks(min(6, int(long/apart))) {
			if p := s.position(t.Value); p >= s.min && p <= s.max {
				marks = append(marks, plot.Tick{Value: p, Label: t.Label})
			}
		}
	}
	return marks
}

// linearTicks are at multiples of 1, 2 or 5 times a power of ten.
func (s *scale) linearTicks(count int) []plot.Tick {
	rough := (s.max - s.min) / float64(max(count, 2))
	exponent := math.Floor(math.Log10(rough))
	step := math.Pow(10, exponent)
	decimals := int(-exponent)
	for _, factor := range []float64{1, 2, 5, 10} {
		if factor*step >= rough*(1-1e-9) {
			step *= factor
			if factor == 10 {
				decimals--
			}
			break
		}
	}
	var marks []plot.Tick
	slack := (s.max - s.min) * 1e-9
	// A stretch so narrow that its numbers cannot be told apart has no more ticks than others.
	for i := math.Ceil((s.min - slack) / step); i*step <= s.max+slack && len(marks) < 50; i++ {
		v := i * step
		marks = append(marks, plot.Tick{Value: min(max(v, s.min), s.max), Label: s.number(v, step, max(decimals, 0))})
	}
	return marks
}

// number writes a tick label, with a power of ten if the axis goes far or its ticks are very close.
func (s *scale) number(v, step float64, decimals int) string {
	if v == 0 {
		return "0"
	}
	largest := max(math.Abs(s.min), math.Abs(s.max))
	if decimals > 6 || largest >= 1e7 {
		digits := math.Ceil(math.Log10(largest/step)) + 1
		return power(v, int(min(max(digits, 1), 17)))
	}
	return thousands(strconv.FormatFloat(v, 'f', decimals, 64))
}

// power writes a number with so many digits, with a power of ten if it is very large or small.
func power(v float64, digits int) string {
	return minus(short(strconv.FormatFloat(v, 'g', digits, 64)))
}

// short writes 1e-7 rather than 1e-07, and 1 rather than 1e+00.
func short(text string) string {
	text = strings.Replace(text, "e+00", "", 1)
	text = strings.Replace(text, "e+0", "e", 1)
	text = strings.Replace(text, "e-0", "e-", 1)
	return strings.Replace(text, "e+", "e", 1)
}

// minus puts the sign that is as wide as a digit.
func minus(text string) string {
	if rest, negative := strings.CutPrefix(text, "-"); negative {
		return "−" + rest
	}
	return text
}

// thousands separates them.
func thousands(text string) string {
	whole, fraction, found := strings.Cut(strings.TrimPrefix(text, "-"), ".")
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	if found {
		whole += "." + fraction
	}
	if strings.HasPrefix(text, "-") {
		whole = "-" + whole
	}
	return minus(whole)
}

// logTicks are at powers of ten, and at 2 and 5 times these if there are few.
func (s *scale) logTicks(room int) []plot.Tick {
	first, last := math.Floor(s.min-1e-9), math.Ceil(s.max+1e-9)
	write := func(v float64) string {
		if s.min < -5 || s.max > 7 {
			return short(strconv.FormatFloat(v, 'e', -1, 64))
		}
		return thousands(strconv.FormatFloat(v, 'f', -1, 64))
	}
	decades := s.max - s.min
	every := 1.0
	for _, every = range []float64{1, 2, 3, 5, 10, 20, 50, 100, 200, 500} {
		if decades <= every*float64(min(max(room, 2), 9)) {
			break
		}
	}
	var marks []plot.Tick
	mark := func(exponent float64, factor int, label bool) {
		position := exponent + math.Log10(float64(factor))
		if position < s.min-1e-9 || position > s.max+1e-9 {
			return
		}
		t := plot.Tick{Value: min(max(position, s.min), s.max)}
		if label {
			// Written from the decimal text, so that 2e-3 is 0.002.
			v, err := strconv.ParseFloat(strconv.Itoa(factor)+"e"+strconv.Itoa(int(exponent)), 64)
			if err == nil {
				t.Label = write(v)
			}
		}
		marks = append(marks, t)
	}
	for e := first; e <= last; e++ {
		if major := math.Mod(e, every) == 0; major || every <= 5 {
			mark(e, 1, major)
		}
		if every > 1 || decades > 8 {
			continue
		}
		for factor := 2; factor < 10; factor++ {
			mark(e, factor, (factor == 2 || factor == 5) && 3*decades < float64(room))
		}
	}
	return marks
}

// logitTicks are at round shares, the roundest first, as many as there is room for.
func (s *scale) logitTicks(long, apart float64) []plot.Tick {
	var texts []string
	both := func(shares ...string) { // each, and 1 less it
		for _, text := range shares {
			texts = append(texts, text)
			if p, err := strconv.ParseFloat(text, 64); err == nil {
				texts = append(texts, strconv.FormatFloat(1-p, 'f', len(text)-len("0."), 64))
			}
		}
	}
	texts = append(texts, "0.5")
	both("0.1", "0.01", "0.001", "0.0001", "0.00001")
	for e := 6; e <= 300; e++ {
		texts = append(texts, "1e-"+strconv.Itoa(e)) // 1 less that is a row of nines
	}
	both("0.2", "0.3", "0.05", "0.02", "0.4", "0.005")
	var marks []plot.Tick
	var taken []float64
	for _, text := range texts {
		p, err := strconv.ParseFloat(text, 64)
		if err != nil {
			continue
		}
		position := s.position(p)
		if position < s.min-1e-9 || position > s.max+1e-9 {
			continue
		}
		at := (position - s.min) / (s.max - s.min) * long
		near := slices.ContainsFunc(taken, func(other float64) bool { return math.Abs(other-at) < apart })
		t := plot.Tick{Value: min(max(position, s.min), s.max)}
		if !near {
			taken = append(taken, at)
			t.Label = text
		}
		marks = append(marks, t)
	}
	return marks
}
