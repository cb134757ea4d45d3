package contingency

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// A part of a table is the table of its records, with the categories that they have.
func TestPart(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawMicrodata(t)
		whole, err := m.count(1, 1, 1, false, true)
		require.NoError(t, err)
		var classes []int
		for i := range whole.Classes() {
			if i%3 != 1 {
				classes = append(classes, i)
			}
		}
		variables, all := []int{}, make([]bool, len(m.variables))
		for v := range m.variables {
			variables, all[v] = append(variables, v), v%2 == 1
		}
		part, err := whole.Part(context.Background(), classes, variables, all)
		require.NoError(t, err)
		require.Equal(t, len(classes), part.Classes())
		for n, i := range classes {
			require.Equal(t, whole.Count(i), part.Count(n))
			require.Equal(t, whole.Sum(i, 0), part.Sum(n, 0))
			for v := range m.variables {
				require.Equal(t, label(whole, i, v), label(part, n, v))
			}
		}
		for v := range m.variables {
			if all[v] {
				require.Equal(t, whole.Variables[v].Categories, part.Variables[v].Categories)
				continue
			}
			for c, there := range part.Observed(v)[:len(part.Variables[v].Categories)] {
				require.True(t, there, "category %d of variable %d", c, v)
			}
		}
	})
}

// label is the category of a variable, or that it is missing.
func label(t *Table, class, v int) string {
	if c := int(t.Code(class, v)); c < len(t.Variables[v].Categories) {
		return t.Variables[v].Categories[c]
	}
	return fmt.Sprint("missing ", v)
}
