// Package budget has one budget for memory and one for work. What is about to take much of either asks for it by name before it begins:
//
//	if err := b.Memory("the search of 6362 key combinations", 3<<30, "use fewer variables"); err != nil {
//		return err // the search of 6362 key combinations needs about 3 GiB of memory, the limit is 1 GiB: allow more, or use fewer variables
//	}
//
// What is refused is an error of one type for each, with the figures and the advice, so that who shows it can word it. A piece of advice is a
// string, or whatever Worded is told how to say.
package budget

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// A Budget is what a run, or a part of one, may take. The zero value has no limit of memory and the work of [Longest].
type Budget struct {
	Bytes int64         // of memory; 0 for no limit
	Work  time.Duration // of one processor; 0 for Longest
}

// What work is worth, on one processor of the year 2026.
const (
	Longest = 10 * time.Hour  // that is begun
	Minute  = 6e10            // steps of a minute: about what somebody waits for
	Hour    = 60 * Minute     // steps of an hour
	Step    = time.Nanosecond // that estimates of work count in
)

// A MemoryError says that something needs more memory than is allowed.
type MemoryError struct {
	What   string // that needs it
	Needs  int64  // bytes, about; never below Limit
	Limit  int64  // bytes
	Advice []any  // what can be done besides allowing more
}

// Error names the figures and all that can be done.
func (e *MemoryError) Error() string { return e.Worded(inWords) }

// Worded is the text, its advice as say words it.
func (e *MemoryError) Worded(say func(part any) string) string {
	needs, limit := sizes(e.Needs, e.Limit)
	return fmt.Sprintf("%s needs about %s of memory, the limit is %s: %s", e.What, needs, limit, either(append([]any{"allow more"}, e.Advice...), say))
}

// Memory refuses what needs more bytes than there are.
func (b Budget) Memory(what string, needs int64, advice ...any) error {
	if b.Bytes <= 0 || needs <= b.Bytes {
		return nil
	}
	return &MemoryError{what, needs, b.Bytes, advice}
}

// Beyond is the error of something that does not fit, whatever its estimate says.
func (b Budget) Beyond(what string, needs int64, advice ...any) error {
	return &MemoryError{what, max(needs, b.Bytes), b.Bytes, advice}
}

// Less is the budget without what is held already. Nothing left is one byte: 0 would be no limit.
func (b Budget) Less(held int64) Budget {
	if b.Bytes > 0 {
		b.Bytes = max(1, b.Bytes-held)
	}
	return b
}

// A WorkError says that something is estimated to take more work than is begun.
type WorkError struct {
	What   string
	Needs  time.Duration // of one processor
	Limit  time.Duration
	Advice []any
}

// Error names the figures and all that can be done.
func (e *WorkError) Error() string { return e.Worded(inWords) }

// Worded is the text, its advice as say words it.
func (e *WorkError) Worded(say func(part any) string) string {
	return fmt.Sprintf("%s estimated to take %.3g hours of one processor, more than %.3g: %s", e.What, e.Needs.Hours(), e.Limit.Hours(), either(e.Advice, say))
}

// Steps refuses what is estimated to take more steps than are begun. What ends in is or are: "4 tables are".
func (b Budget) Steps(what string, steps float64, advice ...any) error {
	limit := b.Work
	if limit <= 0 {
		limit = Longest
	}
	if steps <= float64(limit/Step) {
		return nil
	}
	return &WorkError{what, time.Duration(min(steps*float64(Step), 1<<62)), limit, advice}
}

// either lists what can be done: a, b, or c.
func either(list []any, say func(part any) string) string {
	words := make([]string, len(list))
	for i, x := range list {
		words[i] = say(x)
	}
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + ", or " + words[len(words)-1]
}

// inWords is advice as it is written.
func inWords(part any) string { return fmt.Sprint(part) }

// Size is a number of bytes in words, to three digits.
func Size(n int64) string { return size(n, 3) }

func size(n int64, digits int) string {
	x, units := float64(n), "KMGTPE"
	for i := range len(units) {
		if x /= 1024; x < 1000 || i == len(units)-1 {
			return strconv.FormatFloat(x, 'g', max(digits, len(strconv.Itoa(int(x)))), 64) + " " + units[i:i+1] + "iB"
		}
	}
	return ""
}

// sizes are two sizes in as many digits as tell them apart.
func sizes(a, b int64) (string, string) {
	digits := 3
	for ; digits < 12 && a != b && size(a, digits) == size(b, digits); digits++ {
	}
	return size(a, digits), size(b, digits)
}
