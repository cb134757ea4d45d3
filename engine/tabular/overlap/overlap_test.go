package overlap_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"microrisk/engine/tabular"
	"microrisk/engine/tabular/overlap"
)

// A made table has some people by areas and by bands of ages; ages are the finest categories.
type made struct {
	areas, bands [][]int
	only         []int // ages of its people; nil for all
}

// table counts the people by area and age.
func (m made) table(t require.TestingT, people [][]int) (overlap.Table, []int64) {
	area, age := tabular.NewTree("area"), tabular.NewTree("age")
	nA, nB := len(people), len(people[0])
	whole := overlap.All(nB)
	if m.only != nil {
		whole = overlap.SetOf(nB, m.only...)
	}
	sets := [][]overlap.Set{{overlap.All(nA)}, {whole}}
	for i, x := range m.areas {
		area.Add(tabular.Of(fmt.Sprint(i)), 0)
		sets[0] = append(sets[0], overlap.SetOf(nA, x...))
	}
	for i, x := range m.bands {
		age.Add(tabular.Of(fmt.Sprint(i)), 0)
		sets[1] = append(sets[1], overlap.SetOf(nB, x...))
	}
	count := func(a, b overlap.Set) (n int64) {
		for _, i := range a.Members() {
			for _, k := range b.Members() {
				n += int64(people[i][k])
			}
		}
		return n
	}
	var cells []int32
	for a := range area.Nodes {
		for b := range age.Nodes {
			if count(sets[0][a], sets[1][b]) > 0 {
				cells = append(cells, int32(a), int32(b))
			}
		}
	}
	g, err := tabular.NewGrid([]*tabular.Tree{area, age}, cells)
	require.NoError(t, err)
	values := make([]int64, g.Cells())
	for c := range values {
		n := g.Nodes(c)
		values[c] = count(sets[0][n[0]], sets[1][n[1]])
	}
	return overlap.Table{Grid: g, Sets: sets, Of: []int{0, 1}}, values
}

// bands cuts n ages into bands at some ages.
func bands(n int, cuts ...int) (list [][]int) {
	from := 0
	for _, to := range append(cuts, n) {
		var b []int
		for ; from < to; from++ {
			b = append(b, from)
		}
		list = append(list, b)
	}
	return list
}

func TestBandsThatDifferByAYear(t *testing.T) {
	people := [][]int{{3, 4, 5, 6, 1, 9}, {2, 2, 2, 2, 2, 2}}
	five, values := made{areas: bands(2, 1), bands: bands(6, 5)}.table(t, people)
	four, others := made{areas: bands(2, 1), bands: bands(6, 4)}.table(t, people)
	s, err := overlap.Join([]overlap.Table{five, four})
	require.NoError(t, err)
	found := make(map[string]int64)
	for _, g := range s.Groups {
		v := values
		of := five
		if g.Of.Table == 1 {
			v, of = others, four
		}
		less := int64(0)
		for _, r := range g.Less {
			less += [][]int64{values, others}[r.Table][r.Cell]
		}
		found[fmt.Sprint(tabular.Words(of.Grid.Codes(g.Of.Cell)), g.Rest.Members())] = v[g.Of.Cell] - less
	}
	require.Equal(t, map[string]int64{"[Total, 0][4]": 3, "[0, 0][4]": 1, "[1, 0][4]": 2}, found, "the people of one year, each once")
}

// All sums of a joint system hold, and groups are the people that they say.
func TestSumsAgainstPeople(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const areas, ages = 3, 5
		people := make([][]int, areas)
		for a := range people {
			people[a] = rapid.SliceOfN(rapid.SampledFrom([]int{0, 0, 1, 2, 5}), ages, ages).Draw(t, "people")
		}
		people[0][0]++
		var tables []overlap.Table
		var values [][]int64
		cut := func(n int) [][]int {
			var at []int
			for i := 1; i < n; i++ {
				if rapid.Bool().Draw(t, "cut") {
					at = append(at, i)
				}
			}
			return bands(n, at...)
		}
		for range rapid.IntRange(2, 3).Draw(t, "tables") {
			m := made{areas: cut(areas), bands: cut(ages)}
			if rapid.IntRange(0, 3).Draw(t, "only") == 0 {
				m.only, m.bands = []int{0, 1, 2}, [][]int{{0}, {1, 2}}
			}
			x, v := m.table(t, people)
			tables, values = append(tables, x), append(values, v)
		}
		s, err := overlap.Join(tables)
		require.NoError(t, err)
		all := make([]int64, s.System.Cells)
		for i, cells := range s.Cells {
			for c, n := range cells {
				all[n] = values[i][c]
			}
		}
		for _, g := range s.Groups {
			v := values[g.Of.Table][g.Of.Cell]
			for _, r := range g.Less {
				v -= values[r.Table][r.Cell]
			}
			require.GreaterOrEqual(t, v, int64(0))
			all[g.Cell] = v
			if g.Variable == 1 { // counted by people
				area := tables[g.Of.Table].Sets[0][tables[g.Of.Table].Grid.Nodes(g.Of.Cell)[0]]
				want := int64(0)
				for _, a := range area.Members() {
					for _, k := range g.Rest.Members() {
						want += int64(people[a][k])
					}
				}
				require.Equal(t, want, v)
			}
		}
		require.Empty(t, s.Broken(all, 0))
		for i, cells := range s.Cells { // the same people, the same unknown
			for c, n := range cells {
				require.Equal(t, values[i][c], all[n])
			}
		}
	})
}

func TestSets(t *testing.T) {
	a, b := overlap.SetOf(10, 1, 9), overlap.SetOf(10, 1, 2)
	require.Equal(t, []int{1, 2, 9}, a.Union(b).Members())
	require.Equal(t, []int{9}, a.Less(b).Members())
	require.True(t, a.Meets(b))
	require.False(t, a.Within(b))
	require.True(t, a.Within(overlap.All(10)))
	require.Equal(t, 10, overlap.All(10).Size())
}
