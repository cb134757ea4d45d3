package tabular

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"microrisk/engine/contingency"
	"microrisk/engine/perturb"
)

func TestShape(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := Shape(rapid.SliceOfN(rapid.IntRange(1, 5), 0, 5).Draw(t, "shape"))
		var variables []int
		for _, v := range rapid.Permutation(positions(len(s))).Draw(t, "order") {
			if rapid.Bool().Draw(t, "in") {
				variables = append(variables, v)
			}
		}
		into, margin := s.Into(variables), s.Of(variables)
		require.Len(t, into, s.Cells())
		before, codes := []int(nil), make([]int, len(s))
		for cell := range s.Cells() {
			Codes(s, cell, codes)
			require.Equal(t, cell, Cell(s, codes))
			if cell > 0 {
				require.Negative(t, slices.Compare(before, codes), "the first variable is the slowest")
			}
			before = slices.Clone(codes)
			sum, some := 0, []uint32{}
			for v, step := range s.Steps() {
				require.Less(t, codes[v], s[v])
				sum += codes[v] * step
			}
			require.Equal(t, cell, sum)
			for _, v := range variables {
				some = append(some, uint32(codes[v]))
			}
			require.Equal(t, Cell(margin, some), into[cell])
		}
	})
	require.True(t, Shape{3, 4}.Within(12))
	require.False(t, Shape{3, 4}.Within(11))
	require.False(t, Shape{math.MaxInt, math.MaxInt}.Within(1<<40))
	require.True(t, Shape{0, 7}.Within(1))
}

func positions(n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	return list
}

// Figures are found by their categories alone, however alike the texts are.
func TestFiguresAgainstMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 3).Draw(t, "variables")
		category := rapid.SampledFrom([]Category{Missing, Total, Of("Total"), Of("\x01"), Of(""), Of("a"), Of("a\x00b"), Of("\x00"), Of("b")})
		f, want := NewFigures(n), map[string]Figure{}
		var cells [][]Category
		for i := range rapid.IntRange(0, 40).Draw(t, "rows") {
			cell := rapid.SliceOfN(category, n, n).Draw(t, "cell")
			id := fmt.Sprintf("%#v", cell)
			_, twice := want[id]
			require.Equal(t, !twice, f.Add(cell, Exact(int64(i))))
			if !twice {
				want[id] = Exact(int64(i))
				cells = append(cells, cell)
			}
		}
		require.Equal(t, len(want), f.Len())
		for i, cell := range cells {
			got, ok := f.Find(cell)
			require.True(t, ok)
			require.Equal(t, want[fmt.Sprintf("%#v", cell)], got)
			require.Equal(t, got, f.Figure(i))
			require.Equal(t, cell, f.Cell(i, make([]Category, n)))
		}
		other := rapid.SliceOfN(category, n, n).Draw(t, "other")
		_, ok := want[fmt.Sprintf("%#v", other)]
		_, found := f.Find(other)
		require.Equal(t, ok, found)
		sorted := f.Sorted()
		require.True(t, slices.IsSortedFunc(sorted, func(i, j int) int { return slices.CompareFunc(cells[i], cells[j], Category.Compare) }))
		require.ElementsMatch(t, positions(f.Len()), sorted)
	})
}

// Noise depends on the identity of a cell: its bytes are what they always were.
func TestIdentity(t *testing.T) {
	of := func(names ...string) *Identity {
		var list []contingency.Variable
		for _, n := range names {
			list = append(list, contingency.Variable{Name: n})
		}
		return NewIdentity(list)
	}
	require.Equal(t, "A=north\x00H=h 1\x00S=\x01\x00", string(of("S", "A", "H").Of([]Category{Missing, Of("north"), Of("h 1")})))
	require.Equal(t, "A=north\x00", string(of("A", "S").Of([]Category{Of("north"), Total})))
	require.Equal(t, "A=Total\x00", string(of("A").Of([]Category{Of("Total")})))
	require.Empty(t, of("A", "B").Of([]Category{Total, Total}))
}

func TestCategory(t *testing.T) {
	v := contingency.Variable{Categories: []string{"x"}}
	require.Equal(t, Of("x"), CategoryOf(&v, 0))
	require.Equal(t, Missing, CategoryOf(&v, 1))
	require.Equal(t, "[missing, Total, x]", Words([]Category{Missing, Total, Of("x")}))
}

func TestHierarchy(t *testing.T) {
	categories := []Category{Of("1"), Of("2"), Of("3"), Missing}
	for want, h := range map[string]Hierarchy{
		"":                                  {{"low", []string{"1", "2"}}, {"all", []string{"low", "3"}}},
		`"2" has the label of a category`:   {{"2", []string{"1"}}},
		`"low" has no members`:              {{"low", nil}},
		`"low" has "4", which is no categ`:  {{"low", []string{"4"}}},
		`"all" has "low", which is no`:      {{"all", []string{"low"}}, {"low", []string{"1"}}},
		`"low" and "all" both have "1"`:     {{"low", []string{"1"}}, {"all", []string{"1", "2"}}},
		`"low" has the label of a category`: {{"low", []string{"1"}}, {"low", []string{"2"}}},
	} {
		err := h.Check(categories)
		if want == "" {
			require.NoError(t, err)
			continue
		}
		require.ErrorContains(t, err, want)
	}
	require.NoError(t, Hierarchy(nil).Check(nil))
}

func margin(t *testing.T, kernel perturb.Kernel, variables []int, rows map[string]Figure) *Margin {
	m := &Margin{Name: "m", Variables: variables, Kernel: kernel, Figures: NewFigures(len(variables))}
	for cell, f := range rows {
		var categories []Category
		if cell != "" {
			for _, label := range strings.Fields(cell) {
				categories = append(categories, Of(label))
			}
		}
		require.True(t, m.Add(categories, f))
	}
	return m
}

func TestBounds(t *testing.T) {
	base3, err := perturb.Random(3)
	require.NoError(t, err)
	m := margin(t, base3, []int{0, 1}, map[string]Figure{"a x": Exact(3), "b y": Interval(2, 9), "b x": Hidden()})
	categories := [][]Category{{Of("a"), Of("b")}, {Of("x"), Of("y")}}
	low, high, err := m.Bounds(categories)
	require.NoError(t, err)
	require.Equal(t, []int64{1, 0, 0, 2}, low)
	require.Equal(t, []int64{5, 2, NoLimit, 9}, high)
	require.False(t, m.Full())
	require.True(t, margin(t, perturb.None(), []int{0}, map[string]Figure{"a": Exact(0), "b": Exact(1)}).Full())
	require.False(t, margin(t, perturb.None(), []int{0}, map[string]Figure{"a": Exact(2), "b": Exact(1)}).Full())
	require.True(t, m.Add([]Category{Of("a"), Of("y")}, Exact(4)))
	_, _, err = m.Bounds(categories)
	var never *NeverError
	require.ErrorAs(t, err, &never)
	require.Equal(t, NeverError{[]Category{Of("a"), Of("y")}, 4}, *never)
}

func TestMergedCategories(t *testing.T) {
	table := &Table{
		Variables: []Variable{
			{Name: "A", Categories: []Category{Of("1"), Of("2"), Of("3")}, Merged: []Group{{"young", []string{"1", "2"}}, {"some", []string{"2", "3"}}}},
		},
	}
	m := margin(t, perturb.None(), []int{0}, map[string]Figure{"young": Exact(5)})
	list, groups, err := table.Published(m, 0)
	require.NoError(t, err)
	require.Equal(t, []Category{Of("young"), Of("3")}, list)
	require.Equal(t, [][]int{{0, 1}, {2}}, groups)
	table.Margins = append(table.Margins, m)
	require.NoError(t, table.Check())
	_, groups, err = table.Published(margin(t, perturb.None(), []int{0}, map[string]Figure{"1": Exact(5)}), 0)
	require.NoError(t, err)
	require.Nil(t, groups)
	_, _, err = table.Published(margin(t, perturb.None(), []int{0}, map[string]Figure{"young": Exact(5), "some": Exact(1)}), 0)
	require.ErrorContains(t, err, "some and young of A both have 2")
	_, _, err = table.Published(margin(t, perturb.None(), []int{0}, map[string]Figure{"young": Exact(5), "1": Exact(1)}), 0)
	require.ErrorContains(t, err, "1 of A is published by itself and in young")
}

func TestCheck(t *testing.T) {
	a := Variable{Name: "A", Categories: []Category{Of("1"), Missing}}
	random, err := perturb.Random(3)
	require.NoError(t, err)
	magnitudes := margin(t, random, []int{0}, nil)
	magnitudes.Measure = Magnitudes
	for want, table := range map[string]Table{
		"": {
			Variables: []Variable{a},
			Margins:   []*Margin{margin(t, random, []int{0}, map[string]Figure{"1": Exact(3)}), margin(t, random, nil, map[string]Figure{"": Exact(3)})},
		},
		`two variables have the name "A"`: {Variables: []Variable{a, a}},
		"the category 1 twice":            {Variables: []Variable{{Name: "A", Categories: []Category{Of("1"), Of("1")}}}},
		`the variable A: the group "g"`:   {Variables: []Variable{{Name: "A", Hierarchy: Hierarchy{{Label: "g"}}}}},
		"its variables are [1]":           {Variables: []Variable{a}, Margins: []*Margin{margin(t, random, []int{1}, nil)}},
		"figures are of 0 variables":      {Variables: []Variable{a}, Margins: []*Margin{{Name: "m", Variables: []int{0}, Figures: NewFigures(0)}}},
		"it has the category 2":           {Variables: []Variable{a}, Margins: []*Margin{margin(t, random, []int{0}, map[string]Figure{"2": Exact(3)})}},
		"magnitudes are not perturbed":    {Variables: []Variable{a}, Margins: []*Margin{magnitudes}},
	} {
		err := table.Check()
		if want == "" {
			require.NoError(t, err)
			continue
		}
		require.ErrorContains(t, err, want)
	}
}
