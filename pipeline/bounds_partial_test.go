package pipeline

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"microrisk/pipeline/bounds"
	"microrisk/pipeline/link"
	"microrisk/pipeline/released"
	"microrisk/pipeline/session"
	"microrisk/schemas"
)

// Counts that were not published: null, a sign for it, or <N; bounds come from the margins.
func TestBoundsOfSuppressedCounts(t *testing.T) {
	for name, c := range map[string]struct {
		table string
		spec  bounds.Spec
		want  string
	}{
		"null": {
			"A,B,count\nTotal,Total,10\n1,Total,4\n2,Total,6\nTotal,x,7\nTotal,y,3\n1,x,\n1,y,\n2,x,\n2,y,\n", bounds.Spec{}, "1,x,1,4 1,y,0,3 2,x,3,6 2,y,0,3",
		},
		"signs": {
			"A,B,count\nTotal,Total,10\n1,Total,4\n2,Total,6\nTotal,x,7\nTotal,y,3\n1,x,..\n1,y,<3\n2,x,x\n2,y,x\n", bounds.Spec{Suppressed: []string{"x", "..", "<3"}},
			"1,x,2,4 1,y,0,2 2,x,3,5 2,y,1,3",
		},
		"other total": {"A,B,count\nAll,All,10\n1,All,4\n2,All,6\nAll,x,7\nAll,y,3\n1,x,\n1,y,0\n2,x,\n2,y,\n", bounds.Spec{Totals: []string{"All"}},
			"1,x,4,4 1,y,0,0 2,x,3,3 2,y,3,3"},
		"intervals": {"A,lower,upper,exact\n1,2,5,false\n2,0,,false\n", bounds.Spec{}, "1,2,5 2,0,"},
	} {
		t.Run(name, func(t *testing.T) {
			inFolder(t, map[string]string{"t.csv": c.table})
			c.spec.Tables, c.spec.Out = []string{"t.csv"}, "b.csv"
			_, err := bounds.Run(t.Context(), c.spec, session.Options{})
			require.NoError(t, err)
			var got []string
			for _, row := range table(t, "b.csv")[1:] {
				got = append(got, strings.Join(row[:len(row)-1], ","))
			}
			assert.Equal(t, c.want, strings.Join(got, " "))
		})
	}
	for want, c := range map[string]struct {
		table string
		spec  bounds.Spec
	}{
		`t.csv has A = "total": is that a margin?`:                       {"A,count\ntotal,3\n1,3\n", bounds.Spec{}},
		`the count of [A = 1] is no whole number of at least 0 but "x"`:  {"A,count\n1,x\n", bounds.Spec{}},
		`has an upper end that is no whole number of at least the lower`: {"A,lower,upper\n1,3,2\n", bounds.Spec{}},
		`the columns lower and upper and the column count`:               {"A,lower,upper,count\n1,3,4,4\n", bounds.Spec{}},
		"feasible tables cannot be counted":                              {"A,count\n1,\n", bounds.Spec{Count: true}},
	} {
		inFolder(t, map[string]string{"t.csv": c.table})
		c.spec.Tables, c.spec.Out = []string{"t.csv"}, "b.csv"
		_, err := bounds.Run(t.Context(), c.spec, session.Options{})
		assert.ErrorContains(t, err, want)
	}
	// A category that looks like a margin is one, if another word is said to stand for margins.
	inFolder(t, map[string]string{"t.csv": "A,count\nall,3\n1,4\nTotal,7\n"})
	o, err := bounds.Run(t.Context(), bounds.Spec{Tables: []string{"t.csv"}, Totals: []string{"Total"}, Out: "b.csv"}, session.Options{})
	require.NoError(t, err)
	assert.Equal(t, 2, o.Cells)
}

// Two margins of 2 and 1, 2 and 1: two tables, which are counted and listed; a third of them is not listed where fewer are asked for.
func TestBoundsCountsAndListsTables(t *testing.T) {
	inFolder(t, map[string]string{"a.csv": "A,count\n1,2\n2,1\n", "b.csv": "B,count\nx,2\ny,1\n"})
	s := bounds.Spec{Tables: []string{"a.csv", "b.csv"}, Out: "b.out.csv", Count: true, List: "list.csv"}
	o, err := bounds.Run(t.Context(), s, session.Options{})
	require.NoError(t, err)
	assert.Equal(t, int64(2), o.Tables)
	assert.True(t, o.AllTables)
	assert.Equal(t, "table,A,B,count\n1,1,x,1\n1,1,y,1\n1,2,x,1\n1,2,y,0\n2,1,x,2\n2,1,y,0\n2,2,x,0\n2,2,y,1\n", read(t, "list.csv"))
	s.Most = 1
	o, err = bounds.Run(t.Context(), s, session.Options{})
	require.NoError(t, err)
	assert.Equal(t, int64(1), o.Tables)
	assert.False(t, o.AllTables)
	require.Len(t, o.Warnings, 1)
	s.List = "a.csv"
	_, err = bounds.Run(t.Context(), s, session.Options{})
	require.ErrorContains(t, err, "a.csv")
	assert.Equal(t, "A,count\n1,2\n2,1\n", read(t, "a.csv"))
}

// A margin of merged categories beside one of all: the merged count bounds its members.
func TestBoundsOfMergedCategories(t *testing.T) {
	inFolder(t, map[string]string{"ab.csv": "A,B,count\nyoung,x,3\nyoung,y,1\nold,x,2\nold,y,0\n", "a.csv": "A,count\n1,4\n2,0\n3,2\n"})
	s := bounds.Spec{
		Tables: []string{"ab.csv", "a.csv"},
		Out:    "b.csv",
		Merged: []released.MergedCategory{{Variable: "A", Name: "young", Members: []string{"1", "2"}}, {Variable: "A", Name: "old", Members: []string{"3"}}},
	}
	_, err := bounds.Run(t.Context(), s, session.Options{})
	require.NoError(t, err)
	assert.Equal(t, "A,B,lower,upper,exact\n1,x,3,3,true\n1,y,1,1,true\n2,x,0,0,true\n2,y,0,0,true\n3,x,2,2,true\n3,y,0,0,true\n", read(t, "b.csv"))
	for want, merged := range map[string][]released.MergedCategory{
		"which no table has":   {{Variable: "Z", Name: "q", Members: []string{"1"}}},
		"is declared twice":    {{Variable: "A", Name: "young", Members: []string{"1"}}, {Variable: "A", Name: "young", Members: []string{"2"}}},
		"name what that merge": {{Variable: "A", Name: "young", Members: []string{"old"}}, {Variable: "A", Name: "old", Members: []string{"3"}}},
		"both have 2":          {{Variable: "A", Name: "young", Members: []string{"1", "2"}}, {Variable: "A", Name: "old", Members: []string{"2", "3"}}},
	} {
		s.Merged = merged
		_, err := bounds.Run(t.Context(), s, session.Options{})
		assert.ErrorContains(t, err, want)
	}
}

// Tables perturbed in different ways, each by its own scheme, for bounds and for linkage.
func TestTablesWithSchemesOfTheirOwn(t *testing.T) {
	inFolder(
		t,
		map[string]string{"r3.csv": "A,published\n1,3\n2,6\n", "r5.csv": "A,published\n1,5\n2,5\n", "s.csv": "A,B\n1,x\n2,x\n", "u.csv": "A,C\n1,x\n2,x\n"},
	)
	own := []released.PerturbedTable{
		{Path: "r3.csv", Scheme: schemas.Perturbation{Scheme: "conventional", Base: 3}},
		{Path: "r5.csv", Scheme: schemas.Perturbation{Scheme: "conventional", Base: 5}},
	}
	_, err := bounds.Run(t.Context(), bounds.Spec{Perturbed: own, Out: "b.csv"}, session.Options{})
	require.NoError(t, err)
	assert.Equal(t, "A,lower,upper,exact\n1,3,4,false\n2,5,7,false\n", read(t, "b.csv"))
	o, err := link.Run(t.Context(), link.Spec{A: []string{"s.csv"}, B: []string{"u.csv"}, PopulationSize: 20, Perturbed: own, Out: "l.csv"}, session.Options{})
	require.NoError(t, err)
	for i, want := range [][2]int64{{3, 4}, {5, 7}} {
		assert.Equal(t, want, [2]int64{o.Classes[i].Low, o.Classes[i].High})
	}
	own[0].Scheme.Base = 4
	_, err = bounds.Run(t.Context(), bounds.Spec{Perturbed: own, Out: "b.csv"}, session.Options{})
	require.ErrorContains(t, err, "r3.csv: ")
}

// A variable that is in no table, and categories that a table leaves empty, are declared.
func TestBoundsOfDeclaredLevels(t *testing.T) {
	inFolder(t, map[string]string{"t.csv": "A,count\na,3\nb,2\n"})
	o, err := bounds.Run(t.Context(), bounds.Spec{Exact: []string{"t.csv"}, Out: "b.csv",
		Levels: []schemas.KeyVariable{{Name: "Q", Levels: []string{"x", "y"}}, {Name: "A", Levels: []string{"a", "b", "c"}}}}, session.Options{})
	require.NoError(t, err)
	assert.Equal(t, 6, o.Cells)
	var got []string
	for _, row := range table(t, "b.csv")[1:] {
		got = append(got, strings.Join(row[:len(row)-1], ","))
	}
	assert.Equal(t, "a,x,0,3 a,y,0,3 b,x,0,2 b,y,0,2 c,x,0,0 c,y,0,0", strings.Join(got, " "))
	_, err = bounds.Run(
		t.Context(),
		bounds.Spec{Exact: []string{"t.csv"}, Out: "b.csv", Levels: []schemas.KeyVariable{{Name: "A", Levels: []string{"a"}}}},
		session.Options{},
	)
	assert.ErrorContains(t, err, `a table has A = "b", which is not among its levels (a)`)
}

// Figures 4 to 6 of Smith 2011: a suppressed unique that its margins give away; one without its margins, which can be any number; and one
// with others beside it, which can be 0 or 1, so that there are two tables.
func TestThesisSuppressions(t *testing.T) {
	counts := [][]string{
		{"0", "3", "0", "1", "4"},
		{"0", "1", "0", "0", "1"},
		{"4", "1", "0", "2", "7"},
		{"1", "0", "7", "1", "9"},
		{"5", "5", "7", "4", "21"},
	}
	names := func(i int) string {
		if i == 4 {
			return "Total"
		}
		return strconv.Itoa(i + 1)
	}
	for figure, c := range map[string]struct {
		stars [][2]int
		want  string // bounds of the unique
		count int64  // possible tables, 0 if they cannot be counted
	}{
		"4": {[][2]int{{1, 1}}, "1,1", 1},
		"5": {[][2]int{{1, 1}, {1, 4}, {4, 1}, {4, 4}}, "0,", 0},
		"6": {[][2]int{{0, 1}, {0, 3}, {1, 1}, {1, 3}}, "0,1", 2},
	} {
		t.Run(figure, func(t *testing.T) {
			text := "row,column,count\n"
			for i, line := range counts {
				for j, n := range line {
					if slices.Contains(c.stars, [2]int{i, j}) {
						n = "*"
					}
					text += names(i) + "," + names(j) + "," + n + "\n"
				}
			}
			inFolder(t, map[string]string{"t.csv": text})
			o, err := bounds.Run(
				t.Context(),
				bounds.Spec{Exact: []string{"t.csv"}, Suppressed: []string{"*"}, Out: "b.csv", Count: c.count > 0},
				session.Options{},
			)
			require.NoError(t, err)
			for _, row := range table(t, "b.csv")[1:] {
				if row[0] == "2" && row[1] == "2" {
					assert.Equal(t, c.want, row[2]+","+row[3])
				}
			}
			if c.count > 0 {
				assert.Equal(t, c.count, o.Tables)
				assert.True(t, o.AllTables)
			}
		})
	}
}
