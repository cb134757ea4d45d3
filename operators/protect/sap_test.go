package protect

import (
	"context"
	"math/bits"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"microrisk/engine/tabular"
	"microrisk/engine/tabular/detection"
)

// bySubsets is SAP of a row of two counts for each number of people known, over all subsets of them: somebody who knows s is left with nobody
// in a cell if no row that is possible has more there.
func bySubsets(counts [2]int64, possible [][2]int64) []float64 {
	n := counts[0] + counts[1]
	shown, all := make([]float64, n+1), make([]float64, n+1)
	for subset := range uint(1) << n {
		first := int64(bits.OnesCount(subset & (1<<counts[0] - 1)))
		s := [2]int64{first, int64(bits.OnesCount(subset)) - first}
		var most [2]int64
		for _, x := range possible {
			if x[0] >= s[0] && x[1] >= s[1] {
				most = [2]int64{max(most[0], x[0]), max(most[1], x[1])}
			}
		}
		all[s[0]+s[1]]++
		if most[0] == s[0] || most[1] == s[1] {
			shown[s[0]+s[1]]++
		}
	}
	for k := range shown {
		shown[k] /= all[k]
	}
	return shown
}

// wholeTables are all tables of two rows of two counts up to most, with their sums: the total, rows, columns, cells.
func wholeTables(most int64) (list [][9]int64) {
	n := most + 1
	for i := range n * n * n * n {
		x := [4]int64{i % n, i / n % n, i / n / n % n, i / n / n / n}
		list = append(list, [9]int64{x[0] + x[1] + x[2] + x[3], x[0] + x[1], x[2] + x[3], x[0] + x[2], x[1] + x[3], x[0], x[1], x[2], x[3]})
	}
	return list
}

// What is left of the attribution risk where values were changed: the figures of cells have every table that the same could have been published
// of; SAP is that of all subsets of people by those of a row, and no more than by all tables.
func TestAttributionOfChangedTablesAgainstAllTables(t *testing.T) {
	const most = 11
	keys := [9][]int32{{0, 0}, {1, 0}, {2, 0}, {0, 1}, {0, 2}, {1, 1}, {1, 2}, {2, 1}, {2, 2}}
	everything := wholeTables(most)
	rapid.Check(t, func(t *rapid.T) {
		counts := rapid.SliceOfN(rapid.IntRange(0, 4), 4, 4).Filter(func(l []int) bool { return l[0]+l[1]+l[2]+l[3] > 0 }).Draw(t, "counts")
		table := twoByTwo(t, counts)
		p := &Protected{Table: table, Config: &Config{}, Published: slices.Clone(table.Values), Hidden: make([]bool, len(table.Values)),
			Findings: make([]detection.Finding, len(table.Values))}
		p.Way = rapid.SampledFrom([]*Way{{Method: "abs", Base: 4, few: 1}, {Method: "multiplicative", factor: 0.3}, {Method: "multiplicative", factor: 0.6},
			{Method: "adjustment"}}).Draw(t, "way")
		same := func(k int, x int64) bool { return true } // whether the kth sum could be x
		var ofEmpty func(x int64) bool
		switch p.Way.Method {
		case "abs":
			public := func(x int64) (bool, int64) { return x > 0 && x <= 1, (x + 2) / 4 * 4 }
			for cell, x := range table.Values {
				p.Hidden[cell], p.Published[cell] = public(x)
			}
			published := func(y int64) func(x int64) bool {
				return func(x int64) bool { h, z := public(x); return !h && z == y }
			}
			ofEmpty = published(0)
			same = func(k int, x int64) bool {
				cell := table.Grid.Find(keys[k])
				if cell < 0 {
					return ofEmpty(x)
				}
				if p.Hidden[cell] {
					return x == 1
				}
				return published(p.Published[cell])(x)
			}
		case "multiplicative":
			could := func(x, y int64) bool {
				return float64(x)*(1-p.Way.factor) <= float64(y)+0.5 && float64(x)*(1+p.Way.factor) >= float64(y)-0.5
			}
			for cell, x := range table.Values {
				f := rapid.Float64Range(1-p.Way.factor, 1+p.Way.factor).Draw(t, "factor")
				p.Published[cell] = int64(float64(x)*f + 0.5)
			}
			ofEmpty = func(x int64) bool { return could(x, 0) }
			same = func(k int, x int64) bool {
				if cell := table.Grid.Find(keys[k]); cell >= 0 {
					return could(x, p.Published[cell])
				}
				return ofEmpty(x)
			}
		default:
			kept := rapid.Bool().Draw(t, "margins kept")
			for cell := range p.Findings {
				if p.Findings[cell].Status = detection.Safe; kept && !table.Grid.Leaf(cell) {
					p.Findings[cell].Status = detection.Protected
				}
			}
			same = func(k int, x int64) bool {
				cell := table.Grid.Find(keys[k])
				return !kept || k > 4 || x == 0 && cell < 0 || cell >= 0 && x == table.Values[cell]
			}
		}
		figures, empty, err := p.changedFigures()
		require.NoError(t, err)
		figure := func(k int) tabular.Figure {
			if cell := table.Grid.Find(keys[k]); cell >= 0 {
				return figures[cell]
			}
			return empty
		}
		var whole [2][][2]int64 // rows of tables that are possible
		rows, err := p.Attribution(context.Background(), &SAP{Area: "a", Known: []int64{0, 1, 2, 3, 4, 5, 6, 7, 8}})
		require.NoError(t, err)
		require.Len(t, rows, 2)
		for _, x := range everything {
			if is := func() bool {
				for k, v := range x {
					if !same(k, v) {
						return false
					}
				}
				return true
			}(); !is {
				continue
			}
			for k, v := range x {
				f := figure(k)
				if k < 5 && table.Grid.Find(keys[k]) < 0 {
					continue // nothing is asked of an area or a column that nobody is in
				}
				require.True(t, f.Low <= v && v <= f.High, "%v is possible, and the sum %d is said to be %v", x, k, f)
			}
			whole[0], whole[1] = append(whole[0], [2]int64{x[5], x[6]}), append(whole[1], [2]int64{x[7], x[8]})
		}
		for a, row := range rows {
			c := [2]int64{int64(counts[2*a]), int64(counts[2*a+1])}
			require.Equal(t, c[0]+c[1], row.People)
			if row.People == 0 {
				continue
			}
			var alone [][2]int64
			first, second, total := figure(5+2*a), figure(6+2*a), figure(1+a)
			for x := int64(0); x <= 2*most; x++ {
				for y := int64(0); y <= 2*most; y++ {
					if x >= first.Low && x <= first.High && y >= second.Low && y <= second.High && x+y >= total.Low && x+y <= total.High {
						alone = append(alone, [2]int64{x, y})
					}
				}
			}
			after, all := bySubsets(c, alone), bySubsets(c, whole[a])
			for n := range row.People + 1 {
				require.InDelta(t, after[n], row.After[n], 1e-12, "%v by %s, %d known", counts, p.Way.Method, n)
				require.LessOrEqual(t, row.After[n], all[n]+1e-12, "%v by %s, %d known", counts, p.Way.Method, n)
			}
			hidden := 0
			for k := range 2 {
				if cell := table.Grid.Find(keys[5+2*a+k]); cell >= 0 && p.Hidden[cell] {
					hidden++
				}
			}
			require.Equal(t, hidden, row.Hidden)
		}
	})
}
