package recode

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/apache/arrow/go/v17/arrow/array"

	"microrisk/schemas"
	"microrisk/schemas/advice"
)

// odd counts the rows of a column of text whose values are no numbers, where numbers are recoded.
type odd struct {
	who, from string

	mu      sync.Mutex
	done    bool
	numbers int64            // rows with a number
	rows    map[string]int64 // by value, up to oddMost
	more    int64            // rows with other values
}

const (
	oddMost   = 1000
	emptyText = "\x00empty" // an empty text, which "" cannot stand for
)

// look counts rows; texts has the text of each value of their dictionary that is no number.
func (o *odd) look(indices *array.Int32, texts []string) {
	if o == nil || texts == nil {
		return
	}
	counts := make([]int64, len(texts))
	numbers := int64(0)
	for i, k := range indices.Int32Values() {
		if indices.IsNull(i) || k < 0 || int(k) >= len(texts) {
			continue
		}
		if texts[k] == "" {
			numbers++
		} else {
			counts[k]++
		}
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.done {
		return
	}
	o.numbers += numbers
	for k, n := range counts {
		if _, known := o.rows[texts[k]]; n > 0 && (known || len(o.rows) < oddMost) {
			o.rows[texts[k]] += n
		} else {
			o.more += n
		}
	}
}

// An oddity is what was counted, for another process to add.
type oddity struct {
	Numbers, More int64
	Rows          map[string]int64
}

func (o *odd) noticed() *oddity {
	if o == nil {
		return nil
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	return &oddity{o.numbers, o.more, maps.Clone(o.rows)}
}

func (o *odd) notice(other *oddity) {
	if o == nil || other == nil {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.numbers, o.more = o.numbers+other.Numbers, o.more+other.More
	for text, n := range other.Rows {
		o.rows[text] += n
	}
}

func (o *odd) remark() (string, error) {
	if o == nil {
		return "", nil
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.done = true
	total := o.more
	for _, n := range o.rows {
		total += n
	}
	if total == 0 {
		return "", nil
	}
	values := slices.SortedFunc(maps.Keys(o.rows), func(a, b string) int { return cmp.Or(cmp.Compare(o.rows[b], o.rows[a]), cmp.Compare(a, b)) })
	var words []string
	for _, v := range values[:min(len(values), 5)] {
		if v == emptyText {
			v = ""
		}
		words = append(words, strconv.Quote(v))
	}
	list := strings.Join(words, ", ")
	if o.numbers == 0 {
		return "", &schemas.SpecError{Problems: []schemas.Problem{{Path: "operators",
			Message: advice.Textf(
				"%s: no row has a number in the column of text %q (its values are such as %s): bands and ends are of numbers; use map or truncate",
				o.who,
				o.from,
				list,
			)}}}
	}
	return fmt.Sprintf(
		"%s: %d rows have values of %q that are no numbers (such as %s): they stay as they are, beside the bands; say what they mean by missing_codes, or by a map",
		o.who,
		total,
		o.from,
		list,
	), nil
}
