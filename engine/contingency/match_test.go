package contingency

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Two tables with other categories in other orders are matched by their labels.
func TestMatch(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 1))
	for round := range 200 {
		variables := 1 + random.IntN(3)
		if round%20 == 0 {
			variables = 12 // keys of several words
		}
		draw := func() (*Table, map[string]int64) {
			var list []Variable
			for v := range variables {
				variable := Variable{Name: fmt.Sprint("v", v)}
				for _, c := range random.Perm(6)[:1+random.IntN(5)] {
					variable.Categories = append(variable.Categories, fmt.Sprint("c", c))
				}
				if v == 0 && variables == 12 {
					for c := range 70_000 {
						variable.Categories = append(variable.Categories, fmt.Sprint("more", c))
					}
				}
				list = append(list, variable)
			}
			codes := make([][]uint32, variables)
			counts := make([]int64, 1+random.IntN(60))
			for i := range counts {
				counts[i] = 1
				for v := range codes {
					codes[v] = append(codes[v], uint32(random.IntN(min(len(list[v].Categories), 5)+1)))
				}
			}
			table, err := New(list, codes, counts)
			require.NoError(t, err)
			of := map[string]int64{}
			for i := range table.Classes() {
				of[labels(table, i)] = int64(i)
			}
			return table, of
		}
		a, _ := draw()
		b, of := draw()
		class, err := Match(t.Context(), a, b)
		require.NoError(t, err)
		for i, got := range class {
			want, ok := of[labels(a, i)]
			if !ok {
				want = -1
			}
			require.Equal(t, want, got, labels(a, i))
		}
	}
}

func labels(t *Table, class int) string {
	text := ""
	for v, variable := range t.Variables {
		if c := t.Code(class, v); c == variable.Missing() {
			text += "missing|"
		} else {
			text += "=" + variable.Categories[c] + "|"
		}
	}
	return text
}

func TestMatchRefuses(t *testing.T) {
	one, err := New([]Variable{{Name: "a", Categories: []string{"x"}}}, [][]uint32{{0}}, []int64{1})
	require.NoError(t, err)
	other, err := New([]Variable{{Name: "b", Categories: []string{"x"}}}, [][]uint32{{0}}, []int64{1})
	require.NoError(t, err)
	_, err = Match(t.Context(), one, other)
	assert.ErrorContains(t, err, "a in one table and b in the other")
	two, err := New([]Variable{{Name: "a", Categories: nil}, {Name: "b", Categories: nil}}, [][]uint32{{0}, {0}}, []int64{1})
	require.NoError(t, err)
	_, err = Match(t.Context(), one, two)
	assert.Error(t, err)
}
