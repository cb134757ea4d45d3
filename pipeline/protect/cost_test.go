package protect_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"microrisk/operators/hierarchy"
	"microrisk/pipeline/protect"
	"microrisk/pipeline/session"
	"microrisk/schemas"

	"microrisk/operators/protectrecords"
)

// counted are ten people whose ages tell their regions; one has no wage.
const counted = "20,n,10,1980\n20,n,20,1980\n21,n,30,1979\n21,n,,1979\n30,s,50,1970\n30,s,60,1970\n31,s,70,1969\n31,s,81,1969\n32,n,5,1968\n32,n,7,1968\n"

// inBands protects these people with ages in bands of ten and regions as they are.
func inBands(t *testing.T, rows, target, suppress string) *protect.Outcome {
	t.Helper()
	inFolder(t, map[string]string{"in.csv": "age,region,wage,born\n" + rows})
	return protected(t, target, suppress, nil)
}

func protected(t *testing.T, target, suppress string, change func(s *protect.Spec)) *protect.Outcome {
	t.Helper()
	s := protect.Spec{
		Spec: &schemas.Spec{Source: schemas.Source{Path: []string{"in.csv"}}, Key: &schemas.Key{Variables: []schemas.KeyVariable{{Name: "age"},
			{Name: "region"}}}},
		Ask: protectrecords.Ask{Suppress: suppress, Checks: 100}, Out: "out.csv", Means: []string{"wage"},
	}
	for _, f := range []string{"age=10", "age=levels:1..1", "region=levels:0..0"} {
		require.NoError(t, hierarchy.ParseFlag(&s.Hierarchies, f))
	}
	require.NoError(t, s.Target.Say(target))
	if change != nil {
		change(&s)
	}
	out, err := protect.Run(t.Context(), s, session.Options{})
	require.NoError(t, err)
	require.NotEmpty(t, out.Best)
	return out
}

// By hand: of bands and regions there are 4 (20-, n), 4 (30-, s) and 2 (30-, n), so V is sqrt(16/24 + 4/36 + 16/24 - 1).
func TestCostOfBands(t *testing.T) {
	c := inBands(t, counted, "k=2", protectrecords.SuppressNone).Cost
	zero := 0.0
	assert.Equal(t, []protect.VariableCost{
		{Variable: "age", Before: 5, After: 2, Coarser: 10, Variation: &zero},
		{Variable: "region", Before: 2, After: 2, Variation: &zero},
	}, c.Variables)
	require.Len(t, c.Pairs, 1)
	assert.InDelta(t, 1, *c.Pairs[0].Before, 1e-12)
	assert.InDelta(t, 2./3, *c.Pairs[0].After, 1e-12)
	assert.InDelta(t, 1./3, c.Pairs[0].Lost(), 1e-12)
	assert.Zero(t, *c.Pairs[0].Variation)
	assert.Len(t, c.Losses, len(protectrecords.LossNames()))
	assert.Equal(t, 10./3, c.Losses["class-size"])
	assert.Equal(t, 16.+16+4, c.Losses["discernibility"])
	for _, m := range c.Means {
		assert.Zero(t, *m.Greatest)
	}
}

// At k = 4 the two of (30-, n) are hidden: 8 records are left, half of each band and region.
func TestCostOfHiddenRecords(t *testing.T) {
	c := inBands(t, counted, "k=4", protectrecords.SuppressRecords).Cost
	require.Len(t, c.Variables, 2)
	for i, coarser := range []int64{8, 0} {
		v := c.Variables[i]
		assert.Equal(t, []int64{coarser, 2, 2}, []int64{v.Coarser, v.Hidden, int64(v.After)})
		assert.InDelta(t, .1, *v.Variation, 1e-12)
	}
	assert.InDelta(t, .2, *c.Pairs[0].Variation, 1e-12)
	assert.Equal(t, 1.0, *c.Pairs[0].After)
	require.Len(t, c.Means, 2)
	age := c.Means[0]
	require.Len(t, age.Groups, 2)
	assert.Equal(t, []float64{20, 20, 273. / 6, 261. / 4}, []float64{*age.Groups[0].Before, *age.Groups[0].After, *age.Groups[1].Before, *age.Groups[1].After})
	assert.Equal(t, []int64{3, 3, 6, 4}, []int64{age.Groups[0].Were, age.Groups[0].Are, age.Groups[1].Were, age.Groups[1].Are})
	assert.InDelta(t, 261./4/(273./6)-1, *age.Greatest, 1e-12)
	assert.Equal(t, "30-39", age.Of)
	assert.Equal(t, "region", c.Means[1].By)
	assert.Equal(t, []float64{72. / 5, 20}, []float64{*c.Means[1].Groups[0].Before, *c.Means[1].Groups[0].After}) // of n
}

// Missing values that were there are no categories, and are not hidden: of the others two are, the regions of records that lack their ages.
func TestCostOfMissingValues(t *testing.T) {
	inFolder(t, map[string]string{"in.csv": "age,region,wage\n20,n,1\n20,n,2\n20,n,3\n,n,4\n,s,5\n30,s,6\n30,s,7\n"})
	out := protected(t, "k=2", protectrecords.SuppressCells, func(s *protect.Spec) {
		s.Hierarchies = nil
		for _, f := range []string{"age=levels:0..0", "region=levels:0..0"} {
			require.NoError(t, hierarchy.ParseFlag(&s.Hierarchies, f))
		}
	})
	age, region := out.Cost.Variables[0], out.Cost.Variables[1]
	assert.Equal(t, []int64{2, 2, 0, 0}, []int64{int64(age.Before), int64(age.After), age.Coarser, age.Hidden})
	assert.Equal(t, []int64{2, 2, 0, 2}, []int64{int64(region.Before), int64(region.After), region.Coarser, region.Hidden})
	assert.InDelta(t, 3./5-4./7, *region.Variation, 1e-12)
}

// The year of birth tells age in years, a column of chance and one of other values for each record do not; without it nothing is told.
func TestImpliedColumns(t *testing.T) {
	var b strings.Builder
	for i := range 120 {
		fields := strings.Split(strings.Split(counted, "\n")[i%10], ",")
		born := fields[3]
		if i == 75 {
			born = "1969" // once wrong
		}
		fmt.Fprintf(&b, "%d,%s,%s,%s,%d,%d,%s\n", 1000+i, fields[0], fields[1], born, 7*i*i%5, 100+i, fields[3])
	}
	inFolder(t, map[string]string{"in.csv": "id,age,region,nearly,chance,wage,born\n" + b.String()})
	out := protected(t, "k=10", protectrecords.SuppressNone, nil)
	require.Len(t, out.Implied, 2)
	assert.Equal(t, protect.Implied{Column: "born", Variable: "age", What: protect.ImpliedValues, Share: 1, Without: out.Implied[1].Without, Always: true},
		out.Implied[1])
	assert.Equal(t, "nearly", out.Implied[0].Column)
	assert.False(t, out.Implied[0].Always)
	assert.InDelta(t, 119./120, out.Implied[0].Share, 1e-12)
	assert.Contains(t, strings.Join(out.Warnings, "\n"), "born stays in the release and tells what was made coarser or hidden of age: leave it out (--drop born)")
	hidden := protected(t, "k=40", protectrecords.SuppressRecords, nil)
	told := map[string]bool{}
	for _, x := range hidden.Implied {
		told[x.Column+" "+x.Variable+" "+x.What] = true
	}
	assert.True(t, told["born region "+protect.ImpliedHidden], told)
	without := protected(t, "k=10", protectrecords.SuppressNone, func(s *protect.Spec) { s.Drop = []string{"born", "nearly", "id"} })
	assert.Empty(t, without.Implied)
	assert.Empty(t, without.Warnings)
	text, err := os.ReadFile("out.csv")
	require.NoError(t, err)
	assert.True(t, strings.HasPrefix(string(text), "age,region,chance,wage\n"), string(text[:40]))
}

// The number of a household tells a region that is hidden of one member; that of a person tells nothing, as no other record has it.
func TestImpliedByHousehold(t *testing.T) {
	var b strings.Builder
	for i := range 200 {
		household := i / 4
		fmt.Fprintf(&b, "%d,%d,%d,%s,1\n", i, household, 20+i%4, string(rune('a'+household%7)))
	}
	inFolder(t, map[string]string{"in.csv": "person,household,age,region,wage\n" + b.String()})
	out := protected(t, "k=30", protectrecords.SuppressRecords, nil)
	require.Positive(t, out.Best[0].Suppressed)
	require.Len(t, out.Implied, 1)
	assert.Equal(t, []string{"household", "region", protect.ImpliedHidden}, []string{out.Implied[0].Column, out.Implied[0].Variable, out.Implied[0].What})
	assert.Equal(t, 1.0, out.Implied[0].Share)
}

// Columns that cannot be left out, or have no means, are told before the search.
func TestColumnsOfReleases(t *testing.T) {
	for want, change := range map[string]func(s *protect.Spec){
		`did you mean "born"`:   func(s *protect.Spec) { s.Drop = []string{"bron"} },
		"age is a key variable": func(s *protect.Spec) { s.Drop = []string{"age"} },
		"is judged by born": func(s *protect.Spec) {
			s.Drop, s.Target = []string{"born"}, protectrecords.Target{Distinct: 2, Sensitive: "born"}
		},
		"which is no number":      func(s *protect.Spec) { s.Means = []string{"name"} },
		"or left out":             func(s *protect.Spec) { s.Drop = []string{"wage"} },
		"are compared with those": func(s *protect.Spec) { s.Out = "" },
	} {
		inFolder(t, map[string]string{"in.csv": "age,region,wage,born,name\n20,n,1,1980,x\n20,n,1,1980,y\n"})
		s := protect.Spec{Spec: &schemas.Spec{Source: schemas.Source{Path: []string{"in.csv"}}, Key: &schemas.Key{Variables: []schemas.KeyVariable{{Name: "age"}}}},
			Out: "out.csv", Means: []string{"wage"}, Ask: protectrecords.Ask{Target: protectrecords.Target{K: 2}}}
		change(&s)
		_, err := protect.Run(t.Context(), s, session.Options{})
		require.ErrorContains(t, err, want)
		require.NoFileExists(t, "out.csv")
	}
}

// Who may make categories coarser besides does not lose more than who hides cells of the file as it is: recodings are not chosen by the first look at
// their cells.
func TestBothLoseNoMoreThanCells(t *testing.T) {
	for seed, rows := range map[uint64]int{0: 150, 41: 60, 66: 60, 7: 300} {
		inFolder(t, map[string]string{"in.csv": toProtect(seed, rows), "places.csv": places})
		loss := func(levels ...string) float64 {
			s := protection(t, "k=3", protectrecords.SuppressCells)
			s.Release, s.Out, s.JSON = "", "", ""
			for _, f := range levels {
				require.NoError(t, hierarchy.ParseFlag(&s.Hierarchies, f))
			}
			out, err := protect.Run(t.Context(), s, session.Options{})
			require.NoError(t, err)
			for i := 1; i < len(out.Best); i++ {
				require.LessOrEqual(t, out.Best[i-1].Loss, out.Best[i].Loss)
			}
			require.LessOrEqual(t, len(out.Best), 4)
			return out.Best[0].Loss
		}
		require.LessOrEqual(t, loss(), loss("age=levels:0..0", "place=levels:0..0", "sex=levels:0..0")+1e-12, seed)
	}
}
