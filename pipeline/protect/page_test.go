package protect_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"microrisk/operators/protectrecords"
	"microrisk/pipeline/page"
	"microrisk/pipeline/page/pagetest"
	"microrisk/pipeline/protect"
)

func shown(t *testing.T, o *protect.Outcome, reader string) string {
	t.Helper()
	p := o.Page(reader)
	text, err := p.HTML()
	require.NoError(t, err)
	pagetest.HTML(t, text)
	both := string(text) + string(p.Markdown())
	require.NotContains(t, both, "%!")
	return both
}

// The page of an outcome says what it found, whatever that was.
func TestPage(t *testing.T) {
	level := func(k int) []protectrecords.Level {
		return []protectrecords.Level{
			{Variable: "AGE", Level: k, Words: []string{"as it is", "bands of 5"}[k], Before: 90, Categories: 90 / (4*k + 1), Loss: 0.3 * float64(k)},
		}
	}
	number := func(x float64) *float64 { return &x }
	o := &protect.Outcome{
		Input: []string{"/secret/folder/survey.csv"}, Outcome: &protectrecords.Outcome{
			Key:       []string{"AGE"},
			Records:   1000,
			Target:    "k = 3",
			Suppress:  "records",
			Loss:      "cells",
			Variables: []protectrecords.Variable{{Name: "AGE", Levels: []string{"as it is", "bands of 5"}, Groups: []int{90, 18}}},
			Before:    protectrecords.Measures{Classes: 90, SampleUniques: 37, Unsafe: 41, Expected: number(3.5)},
			Nodes:     2,
			Checked:   2,
		}}
	require.Contains(t, shown(t, o, page.Office), "No: none of these changes meets the target.")
	o.Stopped = "time was up"
	require.Contains(t, shown(t, o, page.Office), "not all was tried")
	o.Best = []protectrecords.Release{{Levels: level(1), Loss: 0.3, Suppressed: 7, Measures: protectrecords.Measures{Expected: number(1)}}}
	o.Gap = number(0.25)
	text := shown(t, o, page.Office)
	require.Contains(t, text, "Not as it is; with the changes below the target is met.")
	require.Contains(t, text, "others could lose 20.0 % less at most")
	for gap, want := range map[float64]string{0: "none could lose less", 1e-5: "others could lose less than 0.05 % less"} {
		o.Gap = number(gap)
		require.Contains(t, shown(t, o, page.Office), want)
	}
	o.Best[0].Cells = map[string]int64{"AGE": 234}
	require.Contains(t, shown(t, o, page.Publication), "Together these are 234 of 1,000 values.")
	o.Best[0].Cells["AGE"] = 4
	require.Contains(t, shown(t, o, page.Office), "Together these are 4 of 1,000 values.")
	require.NotContains(t, shown(t, o, page.Publication), "Together")
	o.Best[0].Cells = nil
	require.Contains(t, text, "AGE bands of 5")
	require.Contains(t, text, "Of 7 records, all key values are taken out")
	o.Proven, o.Released = true, &protect.Released{Path: "/secret/out.csv", Records: 993, SampleUniques: 3, Met: true}
	o.Frontier = []protectrecords.Point{
		{What: "records below k = 3", Risk: 41, Levels: level(0), Proven: true},
		{What: "records below k = 3", Risk: 7, Loss: 0.3, Levels: level(1)},
	}
	text = shown(t, o, page.Office)
	require.Contains(t, text, "Yes, with the changes below")
	require.Contains(t, text, "proven that no other recoding")
	require.Contains(t, text, "<svg xmlns=", "the frontier is drawn")
	require.NotContains(t, text, "meets the target</text>", "it rests on suppression")
	public := shown(t, o, page.Publication)
	require.Contains(t, public, "fewer than 10")
	require.NotContains(t, public, "secret")
	for _, number := range []string{"37", ">41<", "| 41", "993", "0.7 %"} {
		require.NotContains(t, public, number)
	}
	share := number(0.9)
	o.Cost = &protect.Cost{
		Variables: []protect.VariableCost{{Variable: "AGE", Coarser: 12, Hidden: 3}},
		Means:     []protect.MeanCost{{Column: "WAGE", By: "AGE", Greatest: share, Of: "20-24"}},
		Pairs:     []protect.PairCost{{Variables: [2]string{"AGE", "SEX"}, Before: share}},
	}
	o.Implied = []protect.Implied{{Column: "BORN", Variable: "AGE", What: protect.ImpliedValues, Share: 0.99, Without: 0.2}}
	text = shown(t, o, page.Office)
	require.Contains(t, text, "But other columns tell what was made coarser or hidden, and the target does not look at them: BORN.")
	require.Contains(t, text, "WAGE")
	require.NotContains(t, text, "Yes, with the changes below")
	require.NotContains(t, shown(t, o, page.Publication), "WAGE")
	o.Implied = nil
	o.Released.Met, o.Released.Missed = false, []string{"k = 3"}
	require.Contains(t, shown(t, o, page.Office), "misses the target, judged from its file: k = 3")
	o.Released, o.Best = nil, []protectrecords.Release{{Levels: level(0)}}
	require.Contains(t, shown(t, o, page.Office), "Yes: the file meets the target as it is.")
	require.Contains(t, shown(t, o, page.Office), ">meets the target</text>")
}
