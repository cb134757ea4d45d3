package command

import (
	"slices"
	"strings"
	"unicode/utf8"

	"microrisk/operators/report"
)

// screen is the width that tables fit in.
const screen = 80

// table lays cells out in columns, two spaces apart, each line after the indent. The first column gives way when a line is too
// long for the screen.
func table(indent string, rows [][]report.Cell) string {
	var widths []int
	for _, row := range rows {
		for i, c := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], utf8.RuneCountInString(c.Text))
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
		rows = wrapCells(rows, last, room)
	}
	if over := total - screen; over > 0 && len(widths) > 0 {
		widths[0] = max(widths[0]-over, min(widths[0], 16))
	}
	var b strings.Builder
	for _, row := range rows {
		line := indent
		for i, c := range row {
			text := report.Shorten(c.Text, widths[i])
			gap := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(text))
			if i > 0 {
				line += "  "
			}
			if c.Right {
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
func notes(rows [][]report.Cell, columns int) bool {
	for _, row := range rows {
		if len(row) == columns && row[columns-1].Right {
			return false
		}
	}
	return true
}

// wrapCells breaks text of a column into lines of at most room characters: between words, and within those that are longer.
func wrapCells(rows [][]report.Cell, at, room int) [][]report.Cell {
	var out [][]report.Cell
	for _, row := range rows {
		if len(row) <= at || utf8.RuneCountInString(row[at].Text) <= room {
			out = append(out, row)
			continue
		}
		out = append(out, hang(row, at, wrapParts(strings.Fields(row[at].Text), room))...)
	}
	return out
}

// hang is a row with several lines in a column, and nothing beside the second and later ones.
func hang(row []report.Cell, at int, lines []string) (rows [][]report.Cell) {
	for i, text := range lines {
		next := make([]report.Cell, at+1)
		if i == 0 {
			next = slices.Clone(row)
		}
		next[at] = report.Cell{Text: text}
		rows = append(rows, next)
	}
	return rows
}

// wrapParts puts parts on lines of at most room characters, with a blank between those on one; a part that is longer than a line is
// broken.
func wrapParts(parts []string, room int) []string {
	var lines []string
	line := ""
	for _, part := range parts {
		if line != "" && utf8.RuneCountInString(line)+1+utf8.RuneCountInString(part) > room {
			lines, line = append(lines, line), ""
		}
		if line != "" {
			line += " "
		}
		for line += part; utf8.RuneCountInString(line) > room; {
			r := []rune(line)
			lines, line = append(lines, string(r[:room])), string(r[room:])
		}
	}
	return append(lines, line)
}
