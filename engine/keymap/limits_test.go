package keymap

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"microrisk/engine/budget"
)

func partition(t *testing.T, labels ...int) Partition {
	t.Helper()
	p, err := NewPartition(labels)
	require.NoError(t, err)
	return p
}

// A block has two bytes: more than 256 of them are told apart.
func TestManyBlocks(t *testing.T) {
	const k = 1000
	halves, shifted, ones := make([]int, k), make([]int, k), make([]int, k)
	for i := range k {
		halves[i], shifted[i], ones[i] = i/2, (i+1)/4, i
	}
	p, q := partition(t, halves...), partition(t, shifted...)
	require.Equal(t, k/2, p.Size())
	require.Equal(t, 251, q.Size())
	require.Equal(t, k, partition(t, ones...).Size())
	for i := range k {
		require.Equal(t, i/2, p.Block(i))
	}
	require.True(t, partition(t, ones...).Refines(p))
	require.Equal(t, 1, Join(p, q).Size()) // each merges every second boundary of the other
	for i := range k {
		shifted[i] = i / 3
	}
	shifted[k-1] = shifted[k-2]
	sixths := make([]int, k)
	for i := range k {
		sixths[i] = i / 6
	}
	require.Equal(t, partition(t, sixths...), Join(p, partition(t, shifted...)))
	for i := range k { // more than 256 blocks in a join that is neither
		halves[i], shifted[i] = i, i
	}
	halves[1], shifted[999] = 0, 998
	joined := Join(partition(t, halves...), partition(t, shifted...))
	require.Equal(t, k-2, joined.Size())
	require.Equal(t, k-3, joined.Block(999))
}

func TestMostSinks(t *testing.T) {
	_, err := NewPartition(make([]int, MaxSinks))
	require.NoError(t, err)
	_, err = NewPartition(make([]int, MaxSinks+1))
	require.EqualError(t, err, "65537 smallest categories, at most 65536 can be told apart: draw the variable with fewer")
	d := Drawing{Nodes: make([]string, MaxSinks+1)}
	for i := range d.Nodes {
		d.Nodes[i] = fmt.Sprint(i)
	}
	_, err = NewGraph(d)
	require.ErrorContains(t, err, "at most 65536 can be told apart")
	d.Nodes = d.Nodes[1:]
	_, err = NewGraph(d)
	require.NoError(t, err)
}

// Limits are what may be used, not what may not be reached.
func TestLimitsOfClosures(t *testing.T) {
	observed := []Partition{partition(t, 0, 0, 1, 2), partition(t, 0, 1, 1, 2), partition(t, 0, 0, 1, 2)}
	enough := Limits{Nodes: 3, Budget: budget.Budget{Bytes: 24}} // three harmonizations of four sinks, two bytes each
	closure, err := Closure(context.Background(), "X", observed, enough)
	require.NoError(t, err)
	require.Len(t, closure, 3)
	few := enough
	few.Nodes = 2
	_, err = Closure(context.Background(), "X", observed, few)
	require.EqualError(
		t,
		err,
		"X: its 2 categorizations of 4 smallest categories have more than 2 harmonizations: match fewer forms at once, or allow more (max_nodes)",
	)
	few = enough
	few.Budget.Bytes = 23
	_, err = Closure(context.Background(), "X", observed, few)
	require.ErrorContains(t, err, "X: harmonizing 2 categorizations of 4 smallest categories")
}

func TestLongPrevalences(t *testing.T) {
	_, err := ParsePrevalence("0." + strings.Repeat("1", 98))
	require.NoError(t, err)
	_, err = ParsePrevalence("0." + strings.Repeat("1", 99))
	require.Error(t, err)
	for _, text := range []string{"1.5", "0.", "1.", ".5", "", "1.01", "-0", "1e-1", "0,5", "0.5 "} {
		_, err = ParsePrevalence(text)
		require.Error(t, err, text)
	}
}

func TestNothingToSum(t *testing.T) {
	for _, sum := range []func([]Node, []Run, int, Sizes) (string, bool){
		func(n []Node, r []Run, all int, s Sizes) (string, bool) {
			x, cut := Area(n, r, all, s)
			return x.RatString(), cut
		},
		func(n []Node, r []Run, all int, s Sizes) (string, bool) {
			x, cut := Continuous(n, r, all, s)
			return x.RatString(), cut
		},
	} {
		text, cut := sum(nil, nil, 0, Sizes{})
		require.Equal(t, "0", text)
		require.False(t, cut)
		text, _ = sum(nil, nil, 7, Sizes{})
		require.Equal(t, "0", text)
	}
}

func TestSharedKeysInOrderAndBounded(t *testing.T) {
	held := [][]int{{1, 3}, {0, 2}, {0, 3}, {0, 1, 2}, {}}
	keys, err := SharedKeys(held, 4, 1)
	require.NoError(t, err)
	var sets [][]int
	for _, k := range keys {
		sets = append(sets, k.Variables)
	}
	require.Equal(t, [][]int{{0, 1, 2}, {0, 2}, {0, 3}, {1, 3}, {0}, {1}, {3}}, sets)
	held = nil
	for form := range 17 { // what all but one of 17 variables have in common are all sets of them
		var vars []int
		for v := range 17 {
			if v != form {
				vars = append(vars, v)
			}
		}
		held = append(held, vars)
	}
	_, err = SharedKeys(held, 17, 1)
	require.EqualError(t, err, "forms share more than 100000 sets of variables: match fewer forms at once, or fewer variables")
}

func TestEditsSayWhatIsGone(t *testing.T) {
	old := Drawing{Nodes: []string{"a", "b", "c"}, Edges: [][2]string{{"a", "b"}}}
	err := CheckEdit(old, Drawing{Nodes: []string{"a", "b"}})
	require.EqualError(t, err, "categorizations of before would not hold any more: category c is gone; edge a > b is gone")
	require.NoError(t, CheckEdit(Drawing{}, old))
}

func TestAdditionsThatAreRefused(t *testing.T) {
	d := Drawing{Nodes: []string{"a", "b", "ab"}, Edges: [][2]string{{"ab", "a"}, {"ab", "b"}}}
	for says, a := range map[string]Addition{
		"category ab is there already":                                  {ID: "ab", Whole: []string{"a", "b"}},
		`category x: a new category is called "b", which is`:            {ID: "x", Split: []Split{{"a", "b", "c"}}},
		`category x: a new category is called "", which is`:             {ID: "x", Inside: "a"},
		`category : a new category is called "", which is`:              {Whole: []string{"a"}, Split: []Split{{"b", "c", "d"}}},
		"category x: a is named twice":                                  {ID: "x", Whole: []string{"a", "a"}},
		"category x: ab is no smallest category: they are a, b":         {ID: "x", Whole: []string{"ab"}},
		"category x: what lies inside one category has no others in it": {ID: "x", Inside: "a", Whole: []string{"b"}, Rest: "y"},
		"category x: nothing is said of what it has in common":          {ID: "x"},
	} {
		more, existing, err := d.Add(a)
		require.ErrorContains(t, err, says)
		require.Equal(t, d, more)
		require.Empty(t, existing)
	}
	_, _, err := Drawing{}.Add(Addition{ID: "x", Whole: []string{"a"}})
	require.ErrorContains(t, err, "the variable has no categories yet")
}

// What no form has makes no harmonization.
func TestObservationsOfNoForms(t *testing.T) {
	q := Query{Target: partition(t, 0, 1, 2), Observed: func(Partition) bool { return true }, Limits: Limits{Nodes: 10}, Match: []Observation{
		{partition(t, 0, 0, 1), 0}, {partition(t, 0, 1, 1), 2},
	}}
	nodes, err := q.Nodes(context.Background())
	require.NoError(t, err)
	require.Equal(t, []Node{{Partition: partition(t, 0, 1, 1), Size: 2, Forms: 2, Support: 2, Observed: true}}, nodes)
}

func TestSupportersWithTheTarget(t *testing.T) {
	target, node, form := partition(t, 0, 0, 1), partition(t, 0, 1, 1), partition(t, 0, 1, 1)
	require.Equal(t, []bool{false}, Supporters(target, node, []Partition{form})) // the target has a boundary that the node lacks
	require.Equal(t, []bool{true}, Supporters(node, node, []Partition{form}))
}

func TestDrawingsThatAreRefused(t *testing.T) {
	for says, d := range map[string]Drawing{
		"no categories":                          {},
		"category a stands twice":                {Nodes: []string{"a", "a"}},
		"edge a > c: there is no category c":     {Nodes: []string{"a", "b"}, Edges: [][2]string{{"a", "c"}}},
		"edge c > b: there is no category c":     {Nodes: []string{"a", "b"}, Edges: [][2]string{{"c", "b"}}},
		"edge a > b stands twice":                {Nodes: []string{"a", "b"}, Edges: [][2]string{{"a", "b"}, {"a", "b"}}},
		"are parts of themselves: b > c > b":     {Nodes: []string{"a", "b", "c"}, Edges: [][2]string{{"a", "b"}, {"b", "c"}, {"c", "b"}}},
		"are parts of themselves: a > a":         {Nodes: []string{"a"}, Edges: [][2]string{{"a", "a"}}},
		"parts b and c of a overlap: both reach": {Nodes: []string{"a", "b", "c"}, Edges: [][2]string{{"b", "c"}, {"a", "b"}, {"a", "c"}}},
	} {
		_, err := NewGraph(d)
		require.ErrorContains(t, err, says)
	}
}

func TestOrdersThatAreRefused(t *testing.T) {
	g, err := NewGraph(Drawing{Nodes: []string{"a", "b", "c", "ab"}, Edges: [][2]string{{"ab", "a"}, {"ab", "b"}}})
	require.NoError(t, err)
	require.NoError(t, g.Runs([]string{"c", "b", "a"}))
	require.EqualError(t, g.Runs([]string{"a", "b"}), "the order of categories lacks c")
	require.EqualError(t, g.Runs([]string{"a", "b", "c", "ab"}), "the order of categories has ab, which is no smallest category or stands twice")
	require.EqualError(t, g.Runs([]string{"a", "b", "c", "a"}), "the order of categories has a, which is no smallest category or stands twice")
	require.EqualError(t, g.Runs([]string{"a", "b", "c", "d"}), "the order of categories has d, which is no smallest category or stands twice")
	require.EqualError(t, g.Runs([]string{"b", "c", "a"}), "category ab is no run of the ordered categories: it has b and a, and not all between")
}

func TestLongListsAreCut(t *testing.T) {
	require.Equal(t, "a, b, c, d, e", some(strings.Split("abcde", "")))
	require.Equal(t, "a, b, c, d, e and 1 more", some(strings.Split("abcdef", "")))
}

func TestNamesOfBands(t *testing.T) {
	require.Equal(t, "0p5-inf", Band{0.5, math.Inf(1)}.ID())
	require.Equal(t, "minf-m5", Band{math.Inf(-1), -5}.ID())
	_, _, err := Intervals([]Band{{0, 1}, {1, 2}}, map[Band]string{{0, 1}: "1-2"})
	require.EqualError(t, err, "two bands are called 1-2: 0-1 and 1-2")
}

// Serials go on after the greatest that was given, and of two codes of one categorization the first stays.
func TestCodesGoOn(t *testing.T) {
	g, err := NewGraph(Drawing{Nodes: []string{"a", "b", "c"}})
	require.NoError(t, err)
	p, q, r := partition(t, 0, 0, 1), partition(t, 0, 1, 1), partition(t, 0, 1, 0)
	for range 20 {
		codes := g.Codes(map[string]Partition{"C2.999": p, "C2.1000": q, "C2.998": q}, []Partition{r}, nil)
		require.Equal(t, map[Partition]string{Any: AnyCode, p: "C2.999", q: "C2.1000", r: "C2.1001"}, codes)
	}
}

// Look-ups by edges among more nodes than a word has bits.
func TestLookupsInLargeGraphs(t *testing.T) {
	const n = 7
	var observed []Partition
	for i := range n { // boundaries are indexed by the sets of categorizations that have them
		labels, at := []int{0}, 0
		for set := 1; set < 1<<n; set++ {
			at += set >> i & 1
			labels = append(labels, at)
		}
		observed = append(observed, partition(t, labels...))
	}
	closure, err := Closure(context.Background(), "X", observed, Limits{Nodes: 1000})
	require.NoError(t, err)
	require.Len(t, closure, 127)
	g, err := Harmonizations(context.Background(), closure)
	require.NoError(t, err)
	for i, p := range observed {
		for j, q := range observed {
			at := g.Lookup(slices.Index(g.Nodes, p), slices.Index(g.Nodes, q))
			require.Equal(t, Join(p, q), g.Nodes[at], "%d %d", i, j)
		}
	}
}
