package loss

import (
	"context"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"microrisk/engine/graph"
	"microrisk/engine/tabular"
	"microrisk/engine/tabular/fitting"
	"pgregory.net/rapid"
)

var ctx = context.Background()

func categories(letters string) []tabular.Category {
	var list []tabular.Category
	for _, c := range strings.Fields(letters) {
		list = append(list, tabular.Of(c))
	}
	return list
}

// full is the grid of all combinations of the finest categories.
func full(t require.TestingT, trees ...*tabular.Tree) *tabular.Grid {
	var leaves []int32
	nodes := make([]int32, len(trees))
	var add func(v int)
	add = func(v int) {
		if v == len(trees) {
			leaves = append(leaves, nodes...)
			return
		}
		for n := range trees[v].Nodes {
			if trees[v].Leaf(n) {
				nodes[v] = int32(n)
				add(v + 1)
			}
		}
	}
	add(0)
	g, err := tabular.NewGrid(trees, leaves)
	require.NoError(t, err)
	return g
}

// t0Grid has the rows A to D and columns E to H.
func t0Grid(t require.TestingT) *tabular.Grid {
	return full(t, tabular.Flat("row", categories("A B C D")...), tabular.Flat("column", categories("E F G H")...))
}

// values puts a table with its margins last in the order of a grid, where they are first.
func values(rows [][]float64) []float64 {
	var list []float64
	n := len(rows)
	for i := range rows {
		row := rows[(i+n-1)%n]
		list = append(append(list, row[len(row)-1]), row[:len(row)-1]...)
	}
	return list
}

var (
	t0    = values([][]float64{{23, 3, 37, 18, 81}, {1, 15, 12, 119, 147}, {54, 43, 8, 4, 109}, {19, 16, 22, 10, 67}, {97, 77, 79, 151, 404}})
	noise = values([][]float64{{23, 2, 38, 17, 81}, {1, 14, 11, 119, 147}, {54, 42, 8, 5, 110}, {18, 17, 23, 10, 67}, {98, 77, 79, 150, 403}})
	near  = values([][]float64{{25, 5, 35, 20, 80}, {0, 15, 10, 120, 145}, {55, 45, 10, 5, 110}, {20, 15, 20, 10, 65}, {95, 75, 80, 150, 405}})
	draw  = values([][]float64{{25, 5, 40, 15, 80}, {5, 15, 15, 120, 150}, {55, 40, 5, 5, 110}, {20, 15, 25, 10, 65}, {100, 80, 80, 150, 400}})
	adds  = values([][]float64{{25, 5, 35, 15, 80}, {0, 15, 10, 120, 145}, {55, 40, 10, 5, 110}, {20, 15, 25, 10, 70}, {100, 75, 80, 150, 405}})
)

// hide marks cells of T0.
func hide(g *tabular.Grid, cells string) []bool {
	hidden := make([]bool, g.Cells())
	for _, c := range strings.Fields(cells) {
		hidden[g.Find([]int32{int32(c[0]-'A') + 1, int32(c[1]-'E') + 1})] = true
	}
	return hidden
}

const pattern = "AF AG BE BG DE DF" // the source's

func TestOwnMeasures(t *testing.T) { // TV-M1
	g := t0Grid(t)
	for _, c := range []struct {
		name             string
		published        []float64
		unity, frequency Sum
	}{
		{"noise", noise, Sum{10, 14}, Sum{189, 950}},
		{"conventional, base 5", near, Sum{22, 35}, Sum{545, 2145}},
		{"random, base 5", draw, Sum{31, 50}, Sum{688, 3821}},
		{"controlled, base 5", adds, Sum{25, 40}, Sum{628, 2392}},
	} {
		table := &Table{Grid: g, True: t0, Published: c.published}
		require.NoError(t, table.Check())
		require.Equal(t, c.unity, table.Changed(nil), c.name)
		require.Equal(t, c.frequency, table.Changed(t0), c.name)
		changes := table.Changes()
		require.Equal(t, Sum{16, 25}, changes.Cells)
		require.Equal(t, Sum{c.unity.Interior / 16, c.unity.All / 25}, changes.Mean)
	}
	hidden := &Table{Grid: g, True: t0, Published: t0, Hidden: hide(g, pattern)}
	require.Equal(t, Sum{6, 6}, hidden.Suppressed(nil))
	require.Equal(t, Sum{88, 88}, hidden.Suppressed(t0))
	hidden.Hidden = hide(g, "AF BE")
	require.Equal(t, Sum{2, 2}, hidden.Suppressed(nil))
	require.Equal(t, Sum{4, 4}, hidden.Suppressed(t0))
	require.Zero(t, hidden.Changed(nil))
}

func TestRedesign(t *testing.T) { // TV-M1, T-DIS
	disease := tabular.Flat("disease", categories("No Yes")...)
	before := []*tabular.Tree{tabular.Flat("age", categories("0-16 17-24 25-35")...), disease}
	after := []*tabular.Tree{tabular.Flat("age", categories("0-16 17-35")...), disease}
	counts := values([][]float64{{72, 12, 84}, {75, 3, 78}, {89, 1, 90}, {236, 16, 252}})
	gone := Gone(before, after)
	g := full(t, before...)
	require.Equal(t, Sum{4, 6}, Collapsed(g, gone, nil))
	require.Equal(t, Sum{168, 336}, Collapsed(g, gone, counts))
}

func TestChangesAndBalance(t *testing.T) {
	g := t0Grid(t)
	c := (&Table{Grid: g, True: t0, Published: draw}).Changes()
	require.Equal(t, Sum{4, 4}, c.Largest)
	b := (&Table{Grid: g, True: t0, Published: t0}).Balance()
	require.Equal(t, Balance{Equations: 10}, b)
	b = (&Table{Grid: g, True: t0, Published: near}).Balance() // row A 85 of 80, column E 100 of 95
	require.Equal(t, 10, b.Equations)
	require.InDelta(t, 5, b.Largest, 0)
	b = (&Table{Grid: g, True: t0, Published: near, Hidden: hide(g, pattern)}).Balance()
	require.Equal(t, 4, b.Equations) // row C, column H, and both of the margins
	for _, list := range [][]float64{t0[:3], nil} {
		require.Error(t, (&Table{Grid: g, True: list, Published: t0}).Check())
	}
	require.Error(t, (&Table{Grid: g, True: t0, Published: values([][]float64{{math.NaN(), 3, 37, 18, 81}, {1, 15, 12, 119, 147},
		{54, 43, 8, 4, 109}, {19, 16, 22, 10, 67}, {97, 77, 79, 151, 404}})}).Check())
}

func TestModelBased(t *testing.T) { // TV-M2
	g := t0Grid(t)
	barnard := append([]float64(nil), t0...)
	for cell, x := range map[string]float64{"AF": 4, "BE": 1, "CH": 4} {
		barnard[g.Find([]int32{int32(cell[0]-'A') + 1, int32(cell[1]-'E') + 1})] = x
	}
	for _, c := range []struct {
		name      string
		published []float64
		g2, loss  float64
		digits    float64
	}{
		{"noise", noise, 308.559563, 1.6397, 5e-7},
		{"conventional", near, 302.034532, .5097, 5e-7},
		{"random", draw, 286.378969, 5.6666, 5e-7},
		{"controlled", adds, 306.479004, .9544, 5e-7},
		{"barnardised", barnard, 300.5840, .9875, 5e-5},
	} {
		a, err := (&Table{Grid: g, True: t0, Published: c.published}).Analyse(ctx, fitting.Independence(2), fitting.Options{})
		require.NoError(t, err)
		require.InDelta(t, 303.581762, a.True.G2, 5e-7)
		require.InDelta(t, 278.968987, a.True.X2, 5e-7)
		require.Equal(t, 9, a.True.DF)
		require.Len(t, a.Protected, 1)
		require.InDelta(t, c.g2, a.Protected[0].G2, c.digits, c.name)
		require.InDelta(t, c.loss, a.Protected[0].Loss, 5e-5, c.name)
		require.Equal(t, Shown, a.Protected[0].Treatment)
		require.Equal(t, 9, a.Protected[0].DF)
	}
	for _, c := range []struct {
		cells string
		df    int
		g2    [3]float64 // omitted, zero, imputed; 0: not in the source
		loss  [3]float64
	}{
		{pattern, 3, [3]float64{126.308377, 364.377880, 303.568146}, [3]float64{58.3940, 20.0263, .0045}},
		{"AE AF BE BF", 5, [3]float64{120.753850, 397.786099, 272.295427}, [3]float64{60.2236, 31.0310, 10.3057}},
		{"AF BE", 7, [3]float64{195.847810, 328.330216, 0}, [3]float64{35.4876, 8.1522, 0}},
	} {
		a, err := (&Table{Grid: g, True: t0, Published: t0, Hidden: hide(g, c.cells)}).Analyse(ctx, fitting.Independence(2), fitting.Options{})
		require.NoError(t, err)
		require.Len(t, a.Protected, 3)
		for k, d := range a.Protected {
			require.Equal(t, Treatment(k+1), d.Treatment)
			require.True(t, d.Converged)
			require.Equal(t, []int{c.df, 9, 9}[k], d.DF)
			if c.g2[k] > 0 {
				require.InDelta(t, c.g2[k], d.G2, 5e-7, c.cells)
				require.InDelta(t, c.loss[k], d.Loss, 5e-5, c.cells)
			}
		}
	}
}

func TestImputedCells(t *testing.T) { // TV-M2
	g := t0Grid(t)
	for _, want := range []map[string]float64{
		{"AF": 2.9050, "AG": 37.0950, "BE": 1.0950, "BG": 11.9050, "DE": 18.9050, "DF": 16.0950},
		{"AE": 14.8571, "AF": 11.1429, "BE": 9.1429, "BF": 6.8571},
	} {
		cells := ""
		for cell := range want {
			cells += cell + " "
		}
		table := &Table{Grid: g, True: t0, Published: t0, Hidden: hide(g, cells)}
		values, met, err := table.Impute(ctx, fitting.Options{})
		require.NoError(t, err)
		require.True(t, met)
		for cell, x := range want {
			require.InDelta(t, x, values[g.Find([]int32{int32(cell[0]-'A') + 1, int32(cell[1]-'E') + 1})], 5e-5)
		}
	}
}

// TestAll has the means over designs of tables that the source gives, with the numbers of tables that were inferred for them.
func TestAll(t *testing.T) { // 8.5
	most, ten := []int{3, 5, 2, 6, 11, 4}, []int{3, 5, 2, 6, 11, 5}
	for _, c := range []struct {
		means  []float64
		tables []int
		all    float64
	}{
		{[]float64{11.62, 13.53, 11.26, 12.44, 11.29, 12.85}, most, 12.11},
		{[]float64{14.35, 17.56, 11.77, 13.45, 14.38, 13.93}, most, 14.49},
		{[]float64{16.02, 20.83, 22.80, 17.09, 19.32, 15.97}, ten, 18.52},
		{[]float64{10.85, 14.39, 23.45, 19.52, 16.69, 16.80}, most, 16.75},
		{[]float64{14.20, 18.75, 23.45, 21.80, 23.35, 17.36}, most, 20.66},
		{[]float64{17.64, 20.21, 22.80, 27.03, 24.71, 16.70}, ten, 22.41},
		{[]float64{.001, .004, .003, .019, .005, .006}, most, .007},
		{[]float64{.027, .013, .016, .029, .010, .003}, most, .015},
		{[]float64{.057, .057, .252, .057, .038, .096}, ten, .069},
		{[]float64{.004, .004, .013, .009, .005, .007}, most, .006},
	} {
		require.InDelta(t, c.all, Mean(c.means, c.tables), .01)
	}
	some, ten := []int{2, 3, 1, 4, 7, 2}, []int{2, 3, 1, 4, 7, 3}
	for _, c := range []struct {
		means  []float64
		tables []int
		all    float64
	}{
		{[]float64{14.15, 16.13, 4.51, 13.27, 12.76, 12.00}, some, 13.03},
		{[]float64{12.86, 17.45, 28.88, 23.44, 21.58, 18.87}, some, 20.50},
		{[]float64{13.68, 16.84, 4.51, 15.52, 13.15, 12.00}, some, 13.71},
		{[]float64{15.83, 18.56, 4.51, 14.52, 16.16, 12.00}, some, 15.12},
		{[]float64{14.50, 23.12, 28.88, 26.22, 29.60, 18.87}, some, 25.11},
		{[]float64{15.23, 18.43, 4.51, 17.80, 16.33, 12.00}, some, 15.78},
		{[]float64{18.16, 23.67, 26.56, 19.17, 21.80, 16.03}, ten, 20.56},
		{[]float64{19.48, 23.86, 26.56, 32.59, 30.76, 15.91}, ten, 26.53},
		{[]float64{17.98, 23.13, 26.56, 20.40, 21.67, 16.03}, ten, 20.67},
	} {
		require.InDelta(t, c.all, Mean(c.means, c.tables), .013)
	}
	require.True(t, math.IsNaN(Mean([]float64{1}, []int{0})))
}

func TestRefusals(t *testing.T) {
	g := t0Grid(t)
	table := &Table{Grid: g, True: t0, Published: t0}
	_, err := table.Analyse(ctx, fitting.NewModel(graph.Of(0, 1)), fitting.Options{})
	require.ErrorContains(t, err, "as many parameters")
	below := append([]float64(nil), t0...)
	below[g.Find([]int32{1, 2})] = -1
	_, err = (&Table{Grid: g, True: t0, Published: below}).Analyse(ctx, fitting.Independence(2), fitting.Options{})
	require.ErrorContains(t, err, "[A, F]")
	even := make([]float64, g.Cells())
	for cell := range even {
		if g.Leaf(cell) {
			even[cell] = 2
		}
	}
	a, err := (&Table{Grid: g, True: even, Published: t0}).Analyse(ctx, fitting.Independence(2), fitting.Options{})
	require.NoError(t, err)
	require.True(t, math.IsNaN(a.Protected[0].Loss))
	// Rounded margins that leave less than nothing for a hidden cell.
	low := append([]float64(nil), t0...)
	low[g.Find([]int32{1, 0})] = 10
	_, met, err := (&Table{Grid: g, True: t0, Published: low, Hidden: hide(g, pattern)}).Impute(ctx, fitting.Options{Sweeps: 100})
	require.NoError(t, err)
	require.False(t, met)
}

// TestHierarchies draws tables of three variables, one with groups: what is imputed meets all published totals, and it is the truth where
// nothing else meets them.
func TestHierarchies(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		area := tabular.NewTree("area")
		north, south := area.Add(tabular.Of("north"), 0), area.Add(tabular.Of("south"), 0)
		for i, code := range strings.Fields("a b c d e") {
			area.Add(tabular.Of(code), []int{north, south}[i%2])
		}
		g := full(t, area, tabular.Flat("sex", categories("F M")...), tabular.Flat("age", categories("1 2 3")...))
		counts, hidden, exact := make([]int64, g.Cells()), make([]bool, g.Cells()), make([]float64, g.Cells())
		for cell := range counts {
			if g.Leaf(cell) {
				counts[cell] = rapid.Int64Range(0, 6).Draw(t, "count")
			}
			hidden[cell] = rapid.IntRange(0, 5).Draw(t, "hidden") == 0
		}
		require.NoError(t, g.Sum(counts))
		for cell, x := range counts {
			exact[cell] = float64(x)
		}
		table := &Table{Grid: g, True: exact, Published: exact, Hidden: hidden}
		values, met, err := table.Impute(ctx, fitting.Options{Sweeps: 3000})
		require.NoError(t, err)
		if !met {
			return // on its way to a 0
		}
		whole := append([]float64(nil), values...)
		for cell := range whole {
			if !g.Leaf(cell) {
				whole[cell] = 0
				continue
			}
			require.GreaterOrEqual(t, values[cell], 0.)
		}
		for cell := range whole {
			if g.Leaf(cell) {
				table.eachTotal(cell, func(total int) {
					if total != cell {
						whole[total] += whole[cell]
					}
				})
			}
		}
		for cell := range whole {
			if !hidden[cell] {
				require.InDelta(t, exact[cell], whole[cell], 1e-6)
			}
		}
		a, err := table.Analyse(ctx, fitting.Independence(3), fitting.Options{})
		if err != nil {
			require.ErrorContains(t, err, "as many parameters")
			return
		}
		if len(a.Protected) == 1 {
			require.InDelta(t, a.True.G2, a.Protected[0].G2, 1e-12)
		}
	})
}

// BenchmarkAnalyse has a table of 26 areas, 12 deciles and two sexes, of which a tenth is hidden.
func BenchmarkAnalyse(b *testing.B) {
	list := func(n int) []tabular.Category {
		var c []tabular.Category
		for i := range n {
			c = append(c, tabular.Of(string(rune('A'+i))))
		}
		return c
	}
	g := full(b, tabular.Flat("area", list(26)...), tabular.Flat("decile", list(12)...), tabular.Flat("sex", list(2)...))
	counts, values, hidden := make([]int64, g.Cells()), make([]float64, g.Cells()), make([]bool, g.Cells())
	for cell := range counts {
		if g.Leaf(cell) {
			counts[cell] = int64(cell * 7919 % 103)
			hidden[cell] = cell%10 == 0
		}
	}
	require.NoError(b, g.Sum(counts))
	for cell, x := range counts {
		values[cell] = float64(x)
	}
	table := &Table{Grid: g, True: values, Published: values, Hidden: hidden}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := table.Analyse(ctx, fitting.Independence(3), fitting.Options{}); err != nil {
			b.Fatal(err)
		}
	}
}
