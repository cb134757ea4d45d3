package margins

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"microrisk/engine/bounds"
	"microrisk/engine/graph"
	"microrisk/engine/tabular"
	"microrisk/engine/tabular/fitting"
	"pgregory.net/rapid"
)

var ctx = context.Background()

// czech is the table of Edwards & Havranek 1985: 1,841 car workers, six binary risk factors, A fastest.
var czech = []int64{
	44, 40, 112, 67, 129, 145, 12, 23, 35, 12, 80, 33, 109, 67, 7, 9,
	23, 32, 70, 66, 50, 80, 7, 13, 24, 25, 73, 57, 51, 63, 7, 16,
	5, 7, 21, 9, 9, 17, 1, 4, 4, 3, 11, 8, 14, 17, 5, 2,
	7, 3, 14, 14, 9, 16, 2, 3, 4, 0, 13, 11, 5, 14, 4, 4,
}

// czechTable has the variables F to A.
func czechTable() *Table { return &Table{Levels: []int{2, 2, 2, 2, 2, 2}, Counts: czech} }

// letters names a margin of the Czech table.
func letters(margins [][]int) string {
	var words []string
	for _, m := range margins {
		word := []byte{}
		for _, v := range m {
			word = append(word, byte('F'-v))
		}
		slices.Sort(word)
		words = append(words, "["+string(word)+"]")
	}
	slices.Sort(words)
	return fmt.Sprint(words)
}

// release has the margins of a table as they are.
func release(t *Table, margins [][]int) *bounds.Release {
	r := &bounds.Release{Levels: t.Levels}
	shape := tabular.Shape(t.Levels)
	for _, m := range margins {
		sums := make([]int64, shape.Of(m).Cells())
		for cell, to := range shape.Into(m) {
			sums[to] += t.Counts[cell]
		}
		r.Margins = append(r.Margins, bounds.Margin{Variables: m, Low: sums, High: sums})
	}
	return r
}

// cliques are those of a graph over some of the variables.
func cliques(g *graph.Graph, variables []int) [][]int {
	if len(variables) == 0 {
		return [][]int{{}}
	}
	var list [][]int
	for _, c := range g.Cliques() {
		m := []int{}
		for v := range c.Vertices() {
			m = append(m, variables[v])
		}
		list = append(list, m)
	}
	slices.SortFunc(list, slices.Compare)
	return list
}

// TestCzech has what Dobra & Fienberg 2000 found by going through all decomposable graphs of the table: for the three cells with counts of 1
// and 2 the tightest bounds are [0, 3], [0, 6] and [0, 3], in 31 models, which share a margin of five variables; 30 more, which share
// another, have bounds that are at most 5 wide. They call these ACDEF and ABCDE, with the letters in the other order than in their table
// of bounds, which TestCzechBounds has.
func TestCzech(t *testing.T) {
	table := czechTable()
	width := map[string]int64{}
	tightest, narrow := 0, 0
	graph.EachDecomposable(6, func(g *graph.Graph) bool {
		if g.Size() == 15 {
			return true // the table itself
		}
		margins := cliques(g, []int{0, 1, 2, 3, 4, 5})
		low, high, ok := bounds.Frechet(ctx, release(table, margins))
		require.True(t, ok)
		name, least := letters(margins), int64(1<<60)
		for _, cell := range []int{38, 47, 54} {
			least = min(least, high[cell]-low[cell])
		}
		switch {
		case least < 3:
			t.Error("tighter bounds: ", name)
		case least == 3:
			tightest++
			require.Equal(t, [3]int64{3, 6, 3}, [3]int64{high[38], high[47], high[54]})
			require.Contains(t, name, "[ABCDF]")
		case least <= 5:
			narrow++
			require.Contains(t, name, "[BCDEF]")
		}
		width[name] = least
		return true
	})
	require.Equal(t, 31, tightest)
	require.Equal(t, 30, narrow)
	f, err := Search(ctx, table, Rule{1, 2, 6}, Options{})
	require.NoError(t, err)
	require.True(t, f.Complete)
	require.Equal(t, 3, f.Small)
	require.Len(t, f.Sets, f.Found)
	on := []string{}
	for _, s := range f.Sets {
		require.GreaterOrEqual(t, width[letters(s.Margins)], int64(6))
		on = append(on, letters(s.Margins))
	}
	// Of the other four margins of five variables any two may go out together.
	five := []string{"[ABCDE]", "[ABCEF]", "[ABDEF]", "[ACDEF]"}
	for i, m := range five {
		for _, o := range five[i+1:] {
			require.Contains(t, on, "["+m+" "+o+"]")
		}
	}
	require.Equal(t, 22, f.Found)
	require.Equal(t, "[[ABCEF] [ACDEF]]", on[0])
	require.InDelta(t, 12.225562, f.Sets[0].Deviance, 5e-7)
	require.Equal(t, 16, f.Sets[0].DF)
}

// TestCzechBounds has the upper bounds that Dobra & Fienberg 2000 print for the margins BF, ABCE and ADE, whose lower bounds are all 0.
func TestCzechBounds(t *testing.T) {
	low, high, ok := bounds.Frechet(ctx, release(czechTable(), [][]int{{0, 4}, {1, 3, 4, 5}, {1, 2, 5}}))
	require.True(t, ok)
	require.Equal(t, make([]int64, 64), low)
	require.Equal(t, []int64{
		88, 62, 224, 117, 261, 246, 25, 38, 88, 62, 224, 117, 261, 151, 25, 38, 58, 60, 170, 148, 115, 173, 20, 36, 58, 60, 170, 148, 115, 173, 20, 36,
		88, 62, 126, 117, 134, 134, 25, 38, 88, 62, 126, 117, 134, 134, 25, 38, 58, 60, 126, 126, 115, 134, 20, 36, 58, 60, 126, 126, 115, 134, 20, 36,
	}, high)
}

// within tells whether each margin of a set is in one of another.
func within(a, b [][]int) bool {
	for _, m := range a {
		if !slices.ContainsFunc(b, func(o []int) bool {
			return !slices.ContainsFunc(m, func(v int) bool { return !slices.Contains(o, v) })
		}) {
			return false
		}
	}
	return true
}

// everySet has all sets of margins of decomposable graphs over some of the variables that have several categories.
func everySet(levels []int) [][][]int {
	var list [][][]int
	for s := range graph.Set(1 << len(levels)) {
		variables := slices.Collect(s.Vertices())
		if slices.ContainsFunc(variables, func(v int) bool { return levels[v] == 1 }) {
			continue
		}
		graph.EachDecomposable(len(variables), func(g *graph.Graph) bool {
			list = append(list, cliques(g, variables))
			return true
		})
	}
	return list
}

// wideBy tells whether a release is safe, by searches for the bounds of each cell.
func wideBy(t require.TestingT, table *Table, r Rule, margins [][]int) bool {
	b, err := bounds.Sharp(ctx, release(table, margins), bounds.Options{})
	require.NoError(t, err)
	require.True(t, b.Sharp)
	for cell, x := range table.Counts {
		if x >= r.From && x <= r.To && b.High[cell]-b.Low[cell] < r.Width {
			return false
		}
	}
	return true
}

func drawTable(t *rapid.T, variables int, most int64) (*Table, Rule) {
	table := &Table{Levels: rapid.SliceOfN(rapid.SampledFrom([]int{2, 2, 2, 3, 1}), variables, variables).Draw(t, "levels")}
	table.Counts = rapid.SliceOfN(rapid.Int64Range(0, most), tabular.Shape(table.Levels).Cells(), -1).Draw(t, "counts")
	table.Counts = table.Counts[:tabular.Shape(table.Levels).Cells()]
	from := rapid.Int64Range(0, 2).Draw(t, "from")
	return table, Rule{from, from + rapid.Int64Range(0, 2).Draw(t, "more"), rapid.Int64Range(1, 8).Draw(t, "width")}
}

// TestFrontierByEnumeration goes through all sets, and bounds each by search; what is safe stays so with less; and the loss is the deviance
// of the model as iterative proportional fitting has it.
func TestFrontierByEnumeration(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		table, rule := drawTable(t, rapid.IntRange(1, 4).Draw(t, "variables"), rapid.Int64Range(1, 9).Draw(t, "most"))
		var safe, unsafe [][][]int
		for _, margins := range everySet(table.Levels) {
			if wideBy(t, table, rule, margins) {
				safe = append(safe, margins)
			} else {
				unsafe = append(unsafe, margins)
			}
		}
		for _, a := range unsafe {
			for _, b := range safe {
				require.False(t, within(a, b), "a part of what is safe")
			}
		}
		var want []string
		for i, a := range safe {
			if !slices.ContainsFunc(safe, func(b [][]int) bool { return within(a, b) && !within(b, a) }) {
				want = append(want, fmt.Sprint(safe[i]))
			}
		}
		f, err := Search(ctx, table, rule, Options{})
		require.NoError(t, err)
		require.True(t, f.Complete)
		var got []string
		for k, s := range f.Sets {
			got = append(got, fmt.Sprint(s.Margins))
			if k > 0 {
				require.GreaterOrEqual(t, s.Deviance, f.Sets[k-1].Deviance)
			}
			checkDeviance(t, table, s)
		}
		require.Equal(t, len(want), f.Found)
		require.ElementsMatch(t, want, got)
		if len(got) > 1 {
			some, err := Search(ctx, table, rule, Options{Most: 1})
			require.NoError(t, err)
			require.Equal(t, f.Sets[:1], some.Sets)
			require.Equal(t, f.Found, some.Found)
		}
		checkClimbs(t, table, rule, f)
	})
}

func checkDeviance(t *rapid.T, table *Table, s Set) {
	var generators []graph.Set
	for _, m := range s.Margins {
		generators = append(generators, graph.Of(m...))
	}
	counts := make([]float64, len(table.Counts))
	full := true
	for i, x := range table.Counts {
		counts[i] = float64(x)
		full = full && x > 0
	}
	fit, err := fitting.NewModel(generators...).Fit(ctx, &fitting.Table{Shape: table.Levels, Counts: counts}, fitting.Options{})
	require.NoError(t, err)
	require.InDelta(t, fit.G2, s.Deviance, 1e-7)
	if full {
		require.Equal(t, fit.DF, s.DF)
	}
}

// checkClimbs tells that what is found by climbing is on the frontier.
func checkClimbs(t *rapid.T, table *Table, rule Rule, f *Frontier) {
	p, err := newProblem(table, rule)
	require.NoError(t, err)
	keep := newKeeper(p, 0)
	require.NoError(t, p.climb(ctx, 100, keep))
	for _, k := range keep.sorted() {
		s := p.set(&k.state, k.deviance)
		require.True(t, slices.ContainsFunc(f.Sets, func(o Set) bool { return fmt.Sprint(o.Margins) == fmt.Sprint(s.Margins) }))
	}
	require.Equal(t, len(f.Sets) > 0, keep.found > 0)
}

// TestFiveVariables is the same with all 822 graphs of five variables, and those of fewer, bounded by formulas that package bounds checks.
func TestFiveVariables(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		table, rule := drawTable(t, 5, 6)
		type one struct {
			margins [][]int
			safe    bool
		}
		var list []one
		for k, margins := range everySet(table.Levels) {
			low, high, ok := bounds.Frechet(ctx, release(table, margins))
			require.True(t, ok)
			safe := true
			for cell, x := range table.Counts {
				safe = safe && (x < rule.From || x > rule.To || high[cell]-low[cell] >= rule.Width)
			}
			if k%997 == 0 {
				require.Equal(t, wideBy(t, table, rule, margins), safe)
			}
			list = append(list, one{margins, safe})
		}
		f, err := Search(ctx, table, rule, Options{})
		require.NoError(t, err)
		on := map[string]bool{}
		for _, s := range f.Sets {
			on[fmt.Sprint(s.Margins)] = true
		}
		for _, x := range list { // each safe set is within one of the frontier, each of which is safe, and within no other
			if on[fmt.Sprint(x.margins)] {
				require.True(t, x.safe)
			}
			inside := 0
			for _, s := range f.Sets {
				if within(x.margins, s.Margins) {
					inside++
				}
			}
			require.Equal(t, x.safe, inside > 0)
			if on[fmt.Sprint(x.margins)] {
				require.Equal(t, 1, inside)
			}
		}
	})
}

func TestRefusals(t *testing.T) {
	good := Rule{1, 2, 3}
	for name, c := range map[string]struct {
		table Table
		rule  Rule
	}{
		"no category": {Table{[]int{0}, nil}, good},
		"lengths":     {Table{[]int{2}, []int64{1}}, good},
		"below 0":     {Table{[]int{2}, []int64{1, -1}}, good},
		"from":        {Table{[]int{2}, []int64{1, 1}}, Rule{-1, 2, 3}},
		"to":          {Table{[]int{2}, []int64{1, 1}}, Rule{2, 1, 3}},
		"width":       {Table{[]int{2}, []int64{1, 1}}, Rule{1, 2, 0}},
		"cells":       {Table{[]int{5000, 5000}, nil}, good},
		"variables":   {Table{[]int{2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2}, nil}, good},
	} {
		_, err := Search(ctx, &c.table, c.rule, Options{})
		require.Error(t, err, name)
	}
	f, err := Search(ctx, &Table{[]int{2}, []int64{1, 1}}, good, Options{})
	require.NoError(t, err)
	require.Zero(t, f.Found) // two people: even their number tells too much
	f, err = Search(ctx, &Table{[]int{2, 1}, []int64{5, 6}}, good, Options{})
	require.NoError(t, err)
	require.Equal(t, [][]int{{0}}, f.Sets[0].Margins) // nothing is small
	for _, levels := range [][]int{nil, {1, 1}} {
		f, err = Search(ctx, &Table{levels, []int64{2}}, good, Options{})
		require.NoError(t, err)
		require.Zero(t, f.Found)
	}
	ended, cancel := context.WithCancel(ctx)
	cancel()
	_, err = Search(ended, eight(5), good, Options{})
	require.ErrorIs(t, err, context.Canceled)
}

// eight is a table of eight variables.
func eight(most int64) *Table {
	t := &Table{Levels: []int{2, 3, 2, 2, 3, 2, 2, 2}, Counts: make([]int64, 576)}
	for i := range t.Counts {
		t.Counts[i] = int64(i*7919%1009) % most
	}
	return t
}

// BenchmarkEightVariables has rules that leave only small margins, middle ones and nearly all.
func BenchmarkEightVariables(b *testing.B) {
	for _, width := range []int64{3, 10, 30, 100, 300} {
		b.Run(fmt.Sprint("width=", width), func(b *testing.B) {
			for b.Loop() {
				f, err := Search(ctx, eight(40), Rule{1, 2, width}, Options{Most: 10})
				require.NoError(b, err)
				b.ReportMetric(float64(f.Found), "sets")
			}
		})
	}
}

func BenchmarkTenVariables(b *testing.B) {
	t := &Table{Levels: []int{2, 3, 2, 2, 3, 2, 2, 2, 2, 2}, Counts: make([]int64, 2304)}
	for i := range t.Counts {
		t.Counts[i] = int64(i*7919%1009) % 9
	}
	for b.Loop() {
		f, err := Search(ctx, t, Rule{1, 2, 10}, Options{})
		require.NoError(b, err)
		b.ReportMetric(float64(f.Found), "sets")
		b.ReportMetric(f.Sets[0].Deviance, "deviance")
	}
}
