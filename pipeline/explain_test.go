package pipeline

import (
	"fmt"
	"math/bits"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"microrisk/engine/contingency"
	"microrisk/engine/uniques"
)

// The search for one record goes another way than that for all, so each is the other's oracle.
func TestExplanationAgreesWithSearch(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		variables := rapid.IntRange(1, 6).Draw(t, "variables")
		rows := rapid.IntRange(1, 14).Draw(t, "rows")
		policies := make([]uniques.Policy, variables)
		list := make([]contingency.Variable, variables)
		codes := make([][]uint32, variables)
		e := Explanation{MaxSize: rapid.IntRange(1, variables).Draw(t, "max_size")}
		for v := range list {
			policies[v] = uniques.Policy(rapid.IntRange(0, int(uniques.Drop)).Draw(t, "policy"))
			list[v] = contingency.Variable{Name: fmt.Sprint("v", v), Categories: []string{"a", "b", "c"}}
			e.Variables = append(e.Variables, list[v].Name)
			codes[v] = rapid.SliceOfN(rapid.Uint32Range(0, 3), rows, rows).Draw(t, "codes")
		}
		table, err := contingency.New(list, codes, slices.Repeat([]int64{1}, rows))
		require.NoError(t, err)
		all, err := uniques.Search(t.Context(), table, uniques.Options{Policies: policies, MaxSize: e.MaxSize, MSUs: true, Workers: 1})
		require.NoError(t, err)
		class := rapid.IntRange(0, table.Classes()-1).Draw(t, "class")
		require.NoError(t, e.compare(t.Context(), table, class, policies))

		require.Equal(t, all.Frequency[class], e.Frequency)
		var want [][]int
		for _, set := range all.MSUs(class, nil) {
			want = append(want, positions(set))
		}
		require.Equal(t, want, e.MSUs)
	})
}

func TestMinimalHittingSets(t *testing.T) {
	for name, c := range map[string]struct {
		given []uint64
		limit int
		want  []uint64
	}{
		"nothing to meet":   {nil, 3, []uint64{0}},
		"nothing meets":     {[]uint64{0}, 3, nil},
		"one set":           {[]uint64{0b101}, 3, []uint64{0b001, 0b100}},
		"disjoint":          {[]uint64{0b0011, 0b1100}, 3, []uint64{0b0101, 0b1001, 0b0110, 0b1010}},
		"triangle":          {[]uint64{0b011, 0b110, 0b101}, 3, []uint64{0b011, 0b101, 0b110}},
		"within a limit":    {[]uint64{0b001, 0b010, 0b100}, 2, nil},
		"smaller ones stay": {[]uint64{0b001, 0b111}, 2, []uint64{0b001}},
	} {
		t.Run(name, func(t *testing.T) {
			slices.SortFunc(c.given, bySize)
			got, err := minimalHittingSets(t.Context(), c.given, c.limit)
			require.NoError(t, err)
			require.Equal(t, c.want, got)
			for _, set := range got {
				require.LessOrEqual(t, bits.OnesCount64(set), c.limit)
			}
		})
	}
}
