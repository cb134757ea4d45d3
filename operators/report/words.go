package report

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Shorten takes the middle out of text that is longer than n characters: both ends of a path or a name tell something.
func Shorten(s string, n int) string {
	r := []rune(s)
	if len(r) <= n {
		return s
	}
	if n < 3 {
		return string(r[:n])
	}
	head := (n - 1) / 2
	return string(r[:head]) + "…" + string(r[len(r)-(n-1-head):])
}

// Printable keeps text from moving the cursor.
func Printable(s string) string {
	if strings.IndexFunc(s, func(r rune) bool { return !unicode.IsPrint(r) }) < 0 && utf8.ValidString(s) {
		return s
	}
	return strconv.Quote(s)
}

// Count writes a whole number with thousands separators.
func Count(n int64) string {
	s := strconv.FormatInt(n, 10)
	sign := ""
	if n < 0 {
		sign, s = "-", s[1:]
	}
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return sign + s
}

// Figure writes a number with as many digits as a reader wants: whole ones in full, others with four significant digits.
func Figure(x float64) string {
	switch {
	case x == math.Trunc(x) && math.Abs(x) < 1e15:
		return Count(int64(x))
	case math.Abs(x) >= 1e15 || math.Abs(x) < 1e-4:
		return strconv.FormatFloat(x, 'g', 4, 64)
	case math.Abs(x) >= 1000:
		whole := math.Trunc(x)
		tenths := strconv.FormatFloat(math.Abs(x-whole), 'f', 1, 64)
		if tenths == "1.0" {
			return Count(int64(whole) + int64(math.Copysign(1, x)))
		}
		return Count(int64(whole)) + tenths[1:]
	}
	digits := max(0, 3-int(math.Floor(math.Log10(math.Abs(x)))))
	text := strconv.FormatFloat(x, 'f', digits, 64)
	if strings.Contains(text, ".") {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	return text
}

// Figures writes numbers of one column with the same digits after the point.
func Figures(list []float64) []string {
	digits := 0
	for _, x := range list {
		_, after, _ := strings.Cut(Figure(x), ".")
		if !strings.ContainsAny(after, "e") {
			digits = max(digits, len(after))
		}
	}
	digits = min(digits, 3)
	out := make([]string, len(list))
	for i, x := range list {
		if out[i] = Figure(x); strings.ContainsAny(out[i], "e") {
			continue
		}
		scale := math.Pow10(digits)
		whole, part := math.Modf(math.Round(x*scale) / scale)
		out[i] = Count(int64(whole))
		if digits > 0 {
			out[i] += strconv.FormatFloat(math.Abs(part), 'f', digits, 64)[1:]
		}
	}
	return out
}

// Percent writes a part of a hundred: what is there is never none, and what is not all is never all.
func Percent(x float64) string {
	switch {
	case x > 0 && x < 0.05:
		return "<0.1 %"
	case x < 100-1e-9 && x >= 99.95: // a share that is 100 may be off by its last digits
		return ">99.9 %"
	}
	return strconv.FormatFloat(x, 'f', 1, 64) + " %"
}

func PartOf(n, of int64) string {
	if of == 0 {
		return Percent(0)
	}
	text := Percent(100 * (float64(n) / float64(of)))
	if n < of && text == Percent(100) {
		return Percent(99.99)
	}
	return text
}

// Plural is a counted noun.
func Plural(n int64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return Count(n) + " " + many
}

func Value(value *string) string {
	if value == nil {
		return "(missing)"
	}
	if s := *value; s == "" || s != strings.TrimSpace(s) || strings.HasPrefix(s, `"`) || strings.HasPrefix(s, "(") {
		return strconv.Quote(s) // what would not be seen, or taken for something else
	}
	return Printable(*value)
}

// Joined puts parts of a note together, those that are empty left out.
func Joined(parts ...string) string {
	text := ""
	for _, p := range parts {
		switch {
		case p == "":
		case text == "":
			text = p
		default:
			text += "; " + p
		}
	}
	return text
}

// OfRecords says of how many records a figure is, where some were dropped for missing values.
func OfRecords(records, dropped int64) string {
	if dropped == 0 {
		return ""
	}
	return fmt.Sprintf("of %s of %s records", Count(records), Count(records+dropped))
}
