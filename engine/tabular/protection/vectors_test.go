package protection

import (
	"math/bits"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"microrisk/engine/tabular"
)

// riskyTable is Figure 2 of Smith 2011.
var riskyTable = []int64{0, 3, 0, 1, 0, 1, 0, 0, 4, 1, 0, 2, 1, 0, 7, 1}

// Figures 2 and 4 to 6 of Smith 2011: a unique that is published; one hidden that its margins give away; one hidden with its margins, which
// can be any number; and one with others beside it, which can be 0 or 1.
func TestSuppressionsOfSmith(t *testing.T) {
	g, table := table(t, []*tabular.Tree{flat("row", 4, 'A'), flat("column", 4, 'E')}, riskyTable)
	for i, name := range []string{"A.", "B.", "C.", "D.", ".E", ".F", ".G", ".H"} {
		require.Equal(t, []int64{4, 1, 7, 9, 5, 5, 7, 4}[i], table.Values[named(t, g, name)[0]], name)
	}
	require.Equal(t, int64(21), table.Values[0])
	for name, c := range map[string]struct {
		hidden  []string
		want    map[string]Interval
		verdict Verdict
	}{
		"2": {nil, map[string]Interval{"BF": {1, 1}}, Exact},
		"4": {[]string{"BF"}, map[string]Interval{"BF": {1, 1}}, Exact},
		"5": {[]string{"BF", "B.", ".F", ".."}, map[string]Interval{"BF": {0, tabular.NoLimit}, "B.": {0, tabular.NoLimit}, ".F": {4, tabular.NoLimit},
			"..": {20, tabular.NoLimit}}, Pass},
		"6": {[]string{"AF", "AH", "BF", "BH"}, map[string]Interval{"AF": {3, 4}, "AH": {0, 1}, "BF": {0, 1}, "BH": {0, 1}}, Pass},
	} {
		t.Run(name, func(t *testing.T) {
			if c.hidden != nil {
				intervals(t, g, table, c.hidden, c.want)
			}
			cells := named(t, g, c.hidden...)
			r, err := Audit(ctx, table, pattern(g.Cells(), cells...), []Need{{Cell: named(t, g, "BF")[0]}}, InsiderExact)
			require.NoError(t, err)
			require.Equal(t, c.verdict, r.Findings[0].Verdict)
			require.Equal(t, c.want["BF"], r.Findings[0].Interval)
		})
	}
}

// Figure 3 of Smith 2011: the first two rows are one. Whoever sees that alone knows of the unique that it is one of four.
func TestRecodingOfSmith(t *testing.T) {
	rows := flat("row", 1, 'I')
	for i, parent := range []int{1, 1, 0, 0} {
		rows.Add(tabular.Of(string(rune('A'+i))), parent)
	}
	g, table := table(t, []*tabular.Tree{rows, flat("column", 4, 'E')}, riskyTable)
	for i, want := range []int64{0, 4, 0, 1, 5, 4, 1, 0, 2, 7, 1, 0, 7, 1, 9, 5, 5, 7, 4, 21} {
		name := "ICD."[i/5:i/5+1] + "EFGH."[i%5:i%5+1]
		require.Equal(t, want, table.Values[named(t, g, name)[0]], name)
	}
	intervals(t, g, table, []string{"AE", "AF", "AG", "AH", "A.", "BE", "BF", "BG", "BH", "B."}, map[string]Interval{"AE": {0, 0}, "AF": {0, 4},
		"AG": {0, 0}, "AH": {0, 1}, "A.": {0, 5}, "BE": {0, 0}, "BF": {0, 4}, "BG": {0, 0}, "BH": {0, 1}, "B.": {0, 5}})
}

// Figure 8 of Smith 2011: the cells of Figure 6 are changed, the unique to 0, and all margins stay. It is the other one of the two tables
// that Figure 6 leaves; of counts that everybody knows to be at most 1 off, the unique can be either.
func TestAdjustmentOfSmith(t *testing.T) {
	trees := []*tabular.Tree{flat("row", 4, 'A'), flat("column", 4, 'E')}
	g, before := table(t, trees, riskyTable)
	_, after := table(t, trees, []int64{0, 4, 0, 0, 0, 0, 0, 1, 4, 1, 0, 2, 1, 0, 7, 1})
	hidden := named(t, g, "AF", "AH", "BF", "BH")
	left, err := Intervals(ctx, before, pattern(g.Cells(), hidden...), hidden)
	require.NoError(t, err)
	for i, cell := range hidden {
		require.Equal(t, left[i].Low+left[i].High-before.Values[cell], after.Values[cell], "the other end")
	}
	known := &Table{System: before.System, Values: before.Values, Low: make([]int64, g.Cells()), High: make([]int64, g.Cells())}
	all := make([]bool, g.Cells())
	for cell, x := range after.Values {
		if g.Margin(cell) || !slices.Contains(hidden, int32(cell)) {
			require.Equal(t, before.Values[cell], x)
		}
		if known.Low[cell], known.High[cell] = x, x; !g.Margin(cell) {
			known.Low[cell], known.High[cell], all[cell] = max(x-1, 0), x+1, true
		}
	}
	r, err := Audit(ctx, known, all, []Need{{Cell: named(t, g, "BF")[0]}}, InsiderOff)
	require.NoError(t, err)
	require.Equal(t, Interval{0, 1}, r.Findings[0].Interval)
	require.Equal(t, Pass, r.Findings[0].Verdict)
}

// The rounded table of Smith 2011: every count is within 1 of its multiple of 3, and with all margins three of the four zeros come back.
func TestRoundingOfSmith(t *testing.T) {
	g, table := table(t, []*tabular.Tree{flat("row", 3, 'A'), flat("column", 3, 'D')}, []int64{1, 3, 0, 4, 0, 0, 3, 2, 0})
	table.Low, table.High = make([]int64, g.Cells()), make([]int64, g.Cells())
	for cell, x := range table.Values {
		multiple := (x + 1) / 3 * 3
		table.Low[cell], table.High[cell] = max(multiple-1, 0), multiple+1
	}
	all := make([]bool, g.Cells())
	var cells []int32
	for cell := range all {
		all[cell] = true
		if g.Leaf(cell) {
			cells = append(cells, int32(cell))
		}
	}
	got, err := Intervals(ctx, table, all, cells)
	require.NoError(t, err)
	require.Equal(t, []Interval{{0, 1}, {2, 3}, {0, 0}, {3, 4}, {0, 1}, {0, 0}, {3, 4}, {2, 3}, {0, 0}}, got)
}

// optima are all patterns of finest cells that cost so much, are safe, and have no safe one below them in cost, by the oracle.
func optima(t *testing.T, g *tabular.Grid, table *Table, needs []Need, cost []int64, most int64) []string {
	base := make([]bool, g.Cells())
	for _, n := range needs {
		base[n.Cell] = true
	}
	var cells []int32
	for c := range base {
		if g.Leaf(c) && !base[c] {
			cells = append(cells, int32(c))
		}
	}
	var list []string
	sums := make([]int64, 1<<len(cells))
	hidden := make([]bool, g.Cells())
	for m := range sums {
		if m > 0 {
			sums[m] = sums[m&(m-1)] + cost[cells[bits.TrailingZeros(uint(m))]]
		}
		if sums[m] > most {
			continue
		}
		copy(hidden, base)
		var all []int32
		for i, c := range cells {
			hidden[c] = m>>i&1 == 1
		}
		if !possible(table, hidden, needs) || !accepted(table, hidden, needs, InsiderOff) {
			continue
		}
		for c, h := range hidden {
			if h {
				all = append(all, int32(c))
			}
		}
		require.Equal(t, most, sums[m], "%v is cheaper", names(g, all))
		list = append(list, strings.Join(names(g, all), " "))
	}
	slices.Sort(list)
	return list
}

// The optima of TV-N2 are those that it says, and as many.
func TestOptimaOfTVN2(t *testing.T) {
	g, table := t0(t)
	exact := func(cells ...string) (list []Need) {
		for _, c := range named(t, g, cells...) {
			list = append(list, Need{Cell: c})
		}
		return list
	}
	share := func(cells ...string) []Need { return percent(table, 30, named(t, g, cells...)...) }
	one, two, three := []string{"BE"}, []string{"AF", "BE"}, []string{"AF", "BE", "CH"}
	units := units(g.Cells())
	for _, c := range []struct {
		needs []Need
		cost  []int64
		most  int64
		want  []string
	}{
		{exact(two...), table.Values, 38, []string{"AE AF BE BF"}},
		{share(two...), table.Values, 38, []string{"AE AF BE BF"}},
		{exact(two...), units, 2, []string{"AE AF BE BF"}},
		{share(two...), units, 2, []string{"AE AF BE BF"}},
		{exact(one...), table.Values, 41, []string{"AE AF BE BF"}},
		{share(one...), table.Values, 41, []string{"AE AF BE BF"}},
		{exact(one...), units, 3, nil},
		{share(one...), units, 3, nil},
		{exact(three...), table.Values, 69, []string{"AE AF BE BG CG CH DF DH"}},
		{share(three...), table.Values, 76, []string{"AE AF AH BE BF BG CG CH"}},
		{exact(three...), units, 3, []string{"AE AF BE BH CF CH", "AF AH BE BF CE CH"}},
		{share(three...), units, 4, nil},
	} {
		got := optima(t, g, table, c.needs, c.cost, c.most)
		switch {
		case c.want != nil:
			require.Equal(t, c.want, got)
		case len(c.needs) == 1:
			require.Len(t, got, 9, "rectangles")
		default:
			require.Len(t, got, 7)
			require.Contains(t, got, "AE AF AH BE BF CE CH")
		}
	}
	double := []Need{{named(t, g, "AF")[0], 3, 3, 0}, {named(t, g, "BE")[0], 1, 1, 0}}
	require.Equal(t, []string{"AE AF BE BF DE DF"}, optima(t, g, table, double, table.Values, 73))
}

// The source's own pattern of TV-N2, and the pattern of cost 77: what they are enough for, and what they cost.
func TestPatternsOfTVN2(t *testing.T) {
	g, table := t0(t)
	for _, c := range []struct {
		pattern, primaries string
		value              int64
		failing            []string // where 30 per cent are needed
	}{
		{"AF AG BE BG DE DF", "AF BE", 88, nil},
		{"AE AF BE BG CG CH DF DH", "AF BE CH", 77, []string{"CH"}},
	} {
		cells := named(t, g, strings.Fields(c.pattern)...)
		sum := int64(0)
		for _, cell := range cells {
			sum += table.Values[cell]
		}
		require.Equal(t, c.value, sum)
		primaries := named(t, g, strings.Fields(c.primaries)...)
		var exact []Need
		for _, cell := range primaries {
			exact = append(exact, Need{Cell: cell})
		}
		hidden := pattern(g.Cells(), cells...)
		r, err := Audit(ctx, table, hidden, exact, InsiderExact)
		require.NoError(t, err)
		require.Empty(t, r.Failed())
		r, err = Audit(ctx, table, hidden, percent(table, 30, primaries...), InsiderExact)
		require.NoError(t, err)
		var failing []string
		for _, f := range r.Failed() {
			require.Equal(t, Under, f.Verdict)
			failing = append(failing, names(g, []int32{f.Need.Cell})...)
		}
		require.Equal(t, c.failing, failing)
	}
}

// TV-N4: a table for each combination of levels and each parent one level up; all its cells are in the sub-table of that class.
func TestGroupsOfTVN4(t *testing.T) {
	tree := tabular.NewTree("v")
	for i := range 3 {
		tree.Add(tabular.Of(string(rune('a'+i))), 0)
	}
	for _, parent := range []int{1, 1, 2, 2} {
		tree.Add(tabular.Of(string(rune('a'+len(tree.Nodes)))), parent)
	}
	var cells []int32
	for a := range tree.Nodes {
		for b := range tree.Nodes {
			cells = append(cells, int32(a), int32(b))
		}
	}
	g, err := tabular.NewGrid([]*tabular.Tree{tree, tree}, cells)
	require.NoError(t, err)
	list := subTables(g)
	groups := make(map[[2]int]map[[2]int]bool) // by levels, the parents
	for cell := range g.Cells() {
		var level, parent [2]int
		class := 0
		for v, n := range g.Nodes(cell) {
			node := tree.Nodes[n]
			level[v], parent[v] = node.Level, node.Parent
			class += max(node.Level-1, 0)
		}
		if groups[level] == nil {
			groups[level] = make(map[[2]int]bool)
		}
		groups[level][parent] = true
		first := slices.IndexFunc(list, func(s *subTable) bool { return slices.Contains(s.cells, int32(cell)) })
		require.Equal(t, class, list[first].class)
		for v, p := range list[first].parents {
			require.Equal(t, int32(max(parent[v], 0)), p)
		}
	}
	byClass := make([]int, 5)
	for level, parents := range groups {
		require.Len(t, parents, max(level[0], 1)*max(level[1], 1), level)
		byClass[level[0]+level[1]] += len(parents)
	}
	require.Equal(t, []int{1, 2, 5, 4, 4}, byClass)
}
