package released

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"

	"microrisk/engine/tabular"
	"microrisk/operators"
	"microrisk/pipeline/session"
	"microrisk/schemas"
)

// intervalColumns are those of the least and the largest count, -1 and -1 for a table of counts.
func intervalColumns(schema *arrow.Schema) [2]int {
	low, high := schema.FieldIndices("lower"), schema.FieldIndices("upper")
	if len(low) == 0 || len(high) == 0 {
		return [2]int{-1, -1}
	}
	return [2]int{low[0], high[0]}
}

// Declare takes the categories of variables, also of those that no table has. What a table covers and does not list is empty in it.
func (t *Tables) Declare(levels []schemas.KeyVariable) error {
	for _, l := range levels {
		v := t.variable(l.Name)
		for _, c := range t.Variables[v].Categories {
			if c.Kind == tabular.KindMissing || !slices.Contains(l.Levels, c.Label) {
				return session.Wrong(
					schemas.Contradiction(
						"levels",
						l.Name,
						"a table has %s = %q, which is not among its levels (%s)",
						l.Name,
						c.Label,
						strings.Join(l.Levels, ", "),
					),
				)
			}
		}
		for _, c := range l.Levels {
			t.see(v, tabular.Of(c))
		}
	}
	return nil
}

// isTotal tells whether a text stands for a margin.
func (t *Tables) isTotal(text string) bool {
	if t.Totals == nil {
		return text == tabular.TotalCode
	}
	return slices.Contains(t.Totals, text)
}

// looksLikeTotal tells whether a category may be meant as a margin.
func looksLikeTotal(text string) bool {
	return slices.Contains([]string{"total", "totals", "all", "sum", "overall", "grand total", "_t"}, strings.ToLower(strings.TrimSpace(text)))
}

var errCount = errors.New("is no whole number of at least 0")

// countOf is the count of a row, or what is known of it where it was not published.
func (t *Tables) countOf(r arrow.Record, row, count int, limits [2]int) (tabular.Figure, error) {
	if limits[0] >= 0 {
		low, ok := operators.Integer(r.Column(limits[0]), row)
		if !ok || low < 0 {
			return tabular.Figure{}, fmt.Errorf("has a lower end that %w", errCount)
		}
		high, ok := operators.Integer(r.Column(limits[1]), row)
		switch {
		case r.Column(limits[1]).IsNull(row):
			high = tabular.NoLimit
		case !ok || high < low:
			return tabular.Figure{}, errors.New("has an upper end that is no whole number of at least the lower one")
		}
		return tabular.Interval(low, high), nil
	}
	a := r.Column(count)
	if n, ok := operators.Integer(a, row); ok && n >= 0 {
		return tabular.Exact(n), nil
	}
	if !t.Intervals {
		return tabular.Figure{}, errCount
	}
	if a.IsNull(row) {
		return tabular.Hidden(), nil
	}
	text := strings.TrimSpace(operators.Text(a, row))
	if slices.Contains(t.Suppressed, text) {
		if n, ok := below(text); ok {
			return tabular.Interval(0, n-1), nil
		}
		return tabular.Hidden(), nil
	}
	if n, err := strconv.ParseInt(text, 10, 64); err == nil && n >= 0 { // a column is text where some of its counts are
		return tabular.Exact(n), nil
	}
	if _, err := strconv.ParseFloat(text, 64); err == nil {
		return tabular.Figure{}, errCount
	}
	return tabular.Figure{}, fmt.Errorf("%w but %q: if it was not published, say so (suppressed)", errCount, text)
}

// below reads <N.
func below(text string) (int64, bool) {
	digits, ok := strings.CutPrefix(text, "<")
	if !ok {
		return 0, false
	}
	n, err := strconv.ParseInt(strings.TrimSpace(digits), 10, 64)
	return n, err == nil && n >= 1
}
