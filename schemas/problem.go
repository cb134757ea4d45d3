package schemas

import (
	"fmt"
	"slices"
	"strings"

	"microrisk/schemas/advice"
)

// A Problem is one thing that is wrong with a spec: what is wrong, then what would be right.
type Problem struct {
	Path    string // of the field, as key.variables[2]
	Line    int    // of the spec's text, from 1; 0 when it has none
	Column  int
	Message advice.Text
}

// A SpecError lists all that is wrong with a spec.
type SpecError struct {
	Name     string // of the file, "" when the spec was made by a program or by flags
	Problems []Problem
}

// Error has one line a problem, with its place in the text where there is one.
func (e *SpecError) Error() string { return e.Worded(advice.OfSpec) }

// Worded is the text, its advice as say words it.
func (e *SpecError) Worded(say func(part any) string) string {
	lines := make([]string, len(e.Problems))
	for i, p := range e.Problems {
		if p.Line > 0 {
			lines[i] = fmt.Sprintf("%s:%d:%d: %s", e.Name, p.Line, p.Column, say(p.Message))
		} else {
			lines[i] = say(p.Message)
		}
	}
	return strings.Join(lines, "\n")
}

// AsError is nil without problems; they are sorted by their place in the text.
func AsError(name string, problems []Problem) error {
	if len(problems) == 0 {
		return nil
	}
	slices.SortStableFunc(problems, func(a, b Problem) int {
		if a.Line != b.Line {
			return a.Line - b.Line
		}
		return a.Column - b.Column
	})
	return &SpecError{name, problems}
}

// Nearest is the known name that a mistyped one most likely stands for, "" when none is near.
func Nearest(name string, known []string) string {
	best, least := "", 1+max(1, len([]rune(name))/3)
	for _, k := range known {
		if strings.EqualFold(k, name) {
			return k
		}
		if d := Distance(name, k); d < least {
			best, least = k, d
		}
	}
	return best
}

// longWord is the number of bytes of a word that are compared: time grows with the product of two lengths.
const longWord = 200

// Distance counts the insertions, deletions, replacements and swaps of neighbours that turn one word into the other, their case left out.
// Of words longer than longWord the beginnings are compared, and how many bytes follow.
func Distance(a, b string) int {
	more := max(len(a)-longWord, 0) - max(len(b)-longWord, 0)
	a, b = a[:min(len(a), longWord)], b[:min(len(b), longWord)]
	return editDistance(strings.ToLower(a), strings.ToLower(b)) + max(more, -more)
}

// editDistance counts the insertions, deletions, replacements and swaps of neighbours that turn a into b.
func editDistance(a, b string) int {
	s, t := []rune(a), []rune(b)
	before, last, row := make([]int, len(t)+1), make([]int, len(t)+1), make([]int, len(t)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(s); i++ {
		row[0] = i
		for j := 1; j <= len(t); j++ {
			cost := 1
			if s[i-1] == t[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && s[i-1] == t[j-2] && s[i-2] == t[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(t)]
}

// instead is advice: the nearest known name, or all of them.
func instead(name string, known []string) string {
	if n := Nearest(name, known); n != "" {
		return fmt.Sprintf("did you mean %s?", n)
	}
	return "known are " + strings.Join(known, ", ")
}
