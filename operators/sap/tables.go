package sap

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"microrisk/engine/attribution"
	"microrisk/operators"
)

// Tables is a Tabled's: the values of by, as text; people (N), cells; sap_<n> and expected_zeros_<n> for each n; smallest_known, the
// smallest n whose SAP comes to the threshold, null if none does, or it takes too much work to find it.
func (f *fitted) Tables(mem memory.Allocator) arrow.Record {
	s := f.fit
	c := &operators.Columns{Mem: mem, Rows: len(f.people)}
	for v, codes := range s.byCodes {
		variable := &s.table.Variables[v]
		c.Texts(variable.Name, func(a int) string { return variable.Categories[codes[a]] })
	}
	c.Wholes("people", func(a int) int64 { return f.people[a] })
	c.Wholes("cells", func(int) int64 { return int64(s.layout.cells) })
	for k, n := range s.known {
		c.Numbers(fmt.Sprintf("sap_%d", n), func(a int) float64 { return f.sap[k][a] })
	}
	for k, n := range s.known {
		c.Numbers(fmt.Sprintf("expected_zeros_%d", n), func(a int) float64 { return s.zeros[k][a] })
	}
	c.WholesOrNull("smallest_known", func(a int) (int64, bool) { return s.smallest[a], s.smallest[a] >= 0 })
	return c.Record()
}

// summarise makes sap's part of the summary.
func (f *fit) summarise(env operators.Env) *Summary {
	b := f.bound
	s := &Summary{Known: f.known, Tables: int64(len(f.people)), Cells: int64(f.layout.cells), By: []string{},
		Riskiest: []TableSummary{}, Scheme: b.kernel.Name(), BaseTable: b.Config.Release.BaseTable, Total: b.Config.Release.Total, Margins: []MarginSummary{}, Exact: !f.estimated.Load(), LowerBound: f.unsharp.Load(), Threshold: f.threshold, Distribution: []Distribution{}, SmallestKnown: []SmallestKnown{}}
	if len(f.halfWidth) > 0 {
		s.HalfWidth = slices.Max(f.halfWidth)
	}
	if s.Total == "" {
		s.Total = "none"
	}
	if s.BaseTable == "" {
		s.BaseTable = "same"
	}
	for i, m := range b.Config.Release.Margins {
		s.Margins = append(s.Margins, MarginSummary{Variables: m.Variables, Scheme: b.margins[i].Name()})
	}
	described := b.key.Describe(f.table)
	for _, v := range described[:b.by] {
		s.By = append(s.By, v.Name)
	}
	s.Variables = described[b.by:]
	most := slices.Max(f.known)
	for _, n := range f.people {
		s.Records += n
		if n == 0 {
			s.EmptyTables++
		} else if n < most {
			s.SmallTables++
		}
	}
	s.Dropped = f.table.Records() - s.Records
	for k, n := range f.known {
		s.Distribution = append(s.Distribution, distribution(n, f.sap[k]))
	}
	counts := map[int64]int64{}
	for _, n := range f.smallest {
		counts[n]++
	}
	for _, n := range slices.Sorted(maps.Keys(counts)) {
		if n >= 0 {
			s.SmallestKnown = append(s.SmallestKnown, SmallestKnown{Known: &n, Tables: counts[n]})
		}
	}
	if counts[attribution.Never] > 0 {
		s.SmallestKnown = append(s.SmallestKnown, SmallestKnown{Tables: counts[attribution.Never]})
	}
	if s.NotFound = counts[attribution.NotFound]; s.NotFound > 0 {
		env.Warn("%s: there are too many people and cells to find the smallest number of people known for %s: it is null", b.prefix, tablesInWords(s.NotFound))
	}
	s.Riskiest = f.riskiest()
	if s.LowerBound {
		env.Warn("%s: the tightest bounds of some cells were not found: SAP is at least what is said", b.prefix)
	}
	if !s.Exact {
		env.Warn(
			"%s: for some tables SAP is an estimate from %d random orders of their people, to within %.2g (95 %% intervals)",
			b.prefix,
			attribution.DefaultSamples,
			s.HalfWidth,
		)
	}
	if s.SmallTables > 0 {
		env.Warn("%s: %s fewer than %d people, where SAP is that of knowing everybody", b.prefix, have(s.SmallTables), most)
	}
	if s.Records == 0 {
		env.Warn("%s: no record is in a table: the input has none, none was chosen, or all were dropped", b.prefix)
	}
	return s
}

func tablesInWords(n int64) string {
	if n == 1 {
		return "1 table"
	}
	return fmt.Sprintf("%d tables", n)
}

func have(n int64) string {
	if n == 1 {
		return "1 table has"
	}
	return fmt.Sprintf("%d tables have", n)
}

// mostRiskiest is how many tables a summary names.
const mostRiskiest = 5

// riskiest are the tables with the greatest SAP: at the largest n, or where that is equal at the next smaller one; then those with the
// most people. Nobody is at risk in a table of nobody.
func (f *fit) riskiest() []TableSummary {
	order := make([]int, len(f.known)) // of n, the largest first
	for k := range order {
		order[k] = k
	}
	slices.SortFunc(order, func(j, k int) int { return cmp.Compare(f.known[k], f.known[j]) })
	riskier := func(a, b int) int {
		for _, k := range order {
			if c := cmp.Compare(f.sap[k][b], f.sap[k][a]); c != 0 {
				return c
			}
		}
		return cmp.Or(cmp.Compare(f.people[b], f.people[a]), cmp.Compare(a, b))
	}
	var top []int
	for a, n := range f.people {
		if n == 0 || f.sap[order[0]][a] == 0 || len(top) == mostRiskiest && riskier(a, top[mostRiskiest-1]) > 0 {
			continue
		}
		at, _ := slices.BinarySearchFunc(top, a, riskier)
		top = slices.Insert(top, at, a)
		top = top[:min(len(top), mostRiskiest)]
	}
	out := []TableSummary{}
	for _, a := range top {
		t := TableSummary{By: []string{}, People: f.people[a]}
		for v := range f.bound.by {
			t.By = append(t.By, f.table.Variables[v].Categories[f.byCodes[v][a]])
		}
		for k := range f.known {
			t.SAP = append(t.SAP, f.sap[k][a])
		}
		out = append(out, t)
	}
	return out
}

// distribution counts the tables in bands of their SAP (Smith 2011, table 1).
func distribution(n int64, sap []float64) Distribution {
	d := Distribution{Known: n, Bands: make([]int64, 10)}
	for _, x := range sap {
		d.Mean += x / float64(len(sap))
		d.Greatest = max(d.Greatest, x)
		switch x {
		case 0:
			d.Zero++
			continue
		case 1:
			d.One++
			continue
		}
		band := 0
		for band < 9 && x > float64(band+1)/10 {
			band++
		}
		d.Bands[band]++
	}
	d.Mean = min(d.Mean, 1)
	return d
}
