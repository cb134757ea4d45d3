package operators

import (
	"strings"

	"github.com/apache/arrow/go/v17/arrow"
)

// Nearest is the candidate that is most like a name: the same but for upper and lower case, or with the fewest edits, at most
// a third of its length; "" if there is none.
func Nearest(name string, candidates []string) string {
	best, least := "", len(name)/3+1
	for _, c := range candidates {
		d := edits(strings.ToLower(name), strings.ToLower(c))
		if d < least {
			best, least = c, d
		}
	}
	return best
}

// edits is the Levenshtein distance in bytes.
func edits(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, diagonal+1, row[j]+1)
		}
	}
	return row[len(b)]
}

// lookUp finds a column that an operator names.
func lookUp(operator string, in *arrow.Schema, name string) (arrow.Field, error) {
	fields, ok := in.FieldsByName(name)
	if ok {
		return fields[0], nil
	}
	names := make([]string, 0, in.NumFields())
	for _, f := range in.Fields() {
		names = append(names, f.Name)
	}
	return arrow.Field{}, &UnknownColumnError{Operator: operator, Column: name, Nearest: Nearest(name, names)}
}
