package command

import (
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// screen is the width that tables fit in.
const screen = 80

// A cell of a table; numbers stand to the right, text to the left.
type cell struct {
	text  string
	right bool
}

func left(s string) cell  { return cell{printable(s), false} }
func right(s string) cell { return cell{s, true} }

// table lays cells out in columns, two spaces apart, each line after the indent. The first column gives way when a line is too
// long for the screen.
func table(indent string, rows [][]cell) string {
	var widths []int
	for _, row := range rows {
		for i, c := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], utf8.RuneCountInString(c.text))
		}
	}
	total := len(indent) - 2
	for _, w := range widths {
		total += w + 2
	}
	if over := total - screen; over > 0 && len(widths) > 2 && notes(rows, len(widths)) {
		last := len(widths) - 1
		room := max(widths[last]-over, min(widths[last], 20))
		widths[last], total = room, total-widths[last]+room
		rows = wrapNotes(rows, last, room)
	}
	if over := total - screen; over > 0 && len(widths) > 0 {
		widths[0] = max(widths[0]-over, min(widths[0], 16))
	}
	var b strings.Builder
	for _, row := range rows {
		line := indent
		for i, c := range row {
			text := shorten(c.text, widths[i])
			gap := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(text))
			if i > 0 {
				line += "  "
			}
			if c.right {
				line += gap + text
			} else {
				line += text + gap
			}
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	return b.String()
}

// notes tells whether the last of several columns has text.
func notes(rows [][]cell, columns int) bool {
	for _, row := range rows {
		if len(row) == columns && row[columns-1].right {
			return false
		}
	}
	return true
}

// wrapNotes breaks text of the last column into lines of at most room characters.
func wrapNotes(rows [][]cell, last, room int) [][]cell {
	var out [][]cell
	for _, row := range rows {
		if len(row) <= last || utf8.RuneCountInString(row[last].text) <= room {
			out = append(out, row)
			continue
		}
		lines, line := []string{}, ""
		for _, word := range strings.Fields(row[last].text) {
			if line != "" && utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > room {
				lines, line = append(lines, line), ""
			}
			if line != "" {
				line += " "
			}
			line += word
		}
		for i, text := range append(lines, line) {
			next := make([]cell, last+1)
			if i == 0 {
				copy(next, row)
			}
			next[last] = cell{text, false}
			out = append(out, next)
		}
	}
	return out
}

// shorten takes the middle out of text that is longer than n characters: both ends of a path or a name tell something.
func shorten(s string, n int) string {
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

// printable keeps text from moving the cursor.
func printable(s string) string {
	if strings.IndexFunc(s, func(r rune) bool { return !unicode.IsPrint(r) }) < 0 && utf8.ValidString(s) {
		return s
	}
	return strconv.Quote(s)
}

// count writes a whole number with thousands separators.
func count(n int64) string {
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

// figure writes a number with as many digits as a reader wants: whole ones in full, others with four significant digits.
func figure(x float64) string {
	switch {
	case x == math.Trunc(x) && math.Abs(x) < 1e15:
		return count(int64(x))
	case math.Abs(x) >= 1e15 || math.Abs(x) < 1e-4:
		return strconv.FormatFloat(x, 'g', 4, 64)
	case math.Abs(x) >= 1000:
		whole := math.Trunc(x)
		tenths := strconv.FormatFloat(math.Abs(x-whole), 'f', 1, 64)
		if tenths == "1.0" {
			return count(int64(whole) + int64(math.Copysign(1, x)))
		}
		return count(int64(whole)) + tenths[1:]
	}
	digits := max(0, 3-int(math.Floor(math.Log10(math.Abs(x)))))
	text := strconv.FormatFloat(x, 'f', digits, 64)
	if strings.Contains(text, ".") {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	return text
}

// figures writes numbers of one column with the same digits after the point.
func figures(list []float64) []string {
	digits := 0
	for _, x := range list {
		_, after, _ := strings.Cut(figure(x), ".")
		if !strings.ContainsAny(after, "e") {
			digits = max(digits, len(after))
		}
	}
	digits = min(digits, 3)
	out := make([]string, len(list))
	for i, x := range list {
		if out[i] = figure(x); strings.ContainsAny(out[i], "e") {
			continue
		}
		scale := math.Pow10(digits)
		whole, part := math.Modf(math.Round(x*scale) / scale)
		out[i] = count(int64(whole))
		if digits > 0 {
			out[i] += strconv.FormatFloat(math.Abs(part), 'f', digits, 64)[1:]
		}
	}
	return out
}

// percent writes a part of a hundred: what is there is never none, and what is not all is never all.
func percent(x float64) string {
	switch {
	case x > 0 && x < 0.05:
		return "<0.1 %"
	case x < 100-1e-9 && x >= 99.95: // a share that is 100 may be off by its last digits
		return ">99.9 %"
	}
	return strconv.FormatFloat(x, 'f', 1, 64) + " %"
}

func partOf(n, of int64) string {
	if of == 0 {
		return percent(0)
	}
	text := percent(100 * (float64(n) / float64(of)))
	if n < of && text == percent(100) {
		return percent(99.99)
	}
	return text
}

// plural is a counted noun.
func plural(n int64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return count(n) + " " + many
}
