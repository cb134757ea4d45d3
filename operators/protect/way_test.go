package protect

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"microrisk/engine/contingency"
	"microrisk/engine/perturb"
	"microrisk/engine/tabular"
	"microrisk/engine/tabular/adjustment"
	"microrisk/engine/tabular/detection"
	"microrisk/engine/tabular/protection"
)

// twoByTwo is a table of four counts, of which all totals are there, and none of empty cells.
func twoByTwo(t require.TestingT, counts []int) *Table {
	trees := []*tabular.Tree{tabular.Flat("a", tabular.Of("0"), tabular.Of("1")), tabular.Flat("b", tabular.Of("0"), tabular.Of("1"))}
	var cells []int32
	for i, n := range counts {
		if n > 0 {
			cells = append(cells, int32(1+i/2), int32(1+i%2))
		}
	}
	grid, err := tabular.NewGrid(trees, cells)
	require.NoError(t, err)
	table := &Table{Grid: grid, Values: make([]int64, grid.Cells()), Cells: make([]detection.Cell, grid.Cells()), Sole: make([]int64, grid.Cells())}
	for i, n := range counts {
		if n > 0 {
			table.Values[grid.Find([]int32{int32(1 + i/2), int32(1 + i%2)})] = int64(n)
		}
	}
	require.NoError(t, grid.Sum(table.Values))
	return table
}

// What the audit of a perturbed table says of a cell lies within what trying all tables says: what passes is safe.
func TestAuditOfPerturbedTablesAgainstAllTables(t *testing.T) {
	kernels := []perturb.Kernel{perturb.Noise(), perturb.Census2000()}
	for _, k := range []func() (perturb.Kernel, error){
		func() (perturb.Kernel, error) { return perturb.Random(3) },
		func() (perturb.Kernel, error) { return perturb.Conventional(3, "") },
		func() (perturb.Kernel, error) { return perturb.ISD(0.2, perturb.ReadingA) },
		func() (perturb.Kernel, error) { return perturb.Barnard(0.5) },
		func() (perturb.Kernel, error) {
			return perturb.Normal{SD: 1, Reach: 2, Negative: perturb.Reflect}.Kernel()
		},
	} {
		made, err := k()
		require.NoError(t, err)
		kernels = append(kernels, made)
	}
	rapid.Check(t, func(t *rapid.T) {
		counts := rapid.SliceOfN(rapid.IntRange(0, 6), 4, 4).Filter(func(l []int) bool { return l[0]+l[1]+l[2]+l[3] > 0 }).Draw(t, "counts")
		table := twoByTwo(t, counts)
		w := &Way{Method: "perturbation", kernel: rapid.SampledFrom(kernels).Draw(t, "kernel"), sums: rapid.Bool().Draw(t, "sums")}
		g := &Given{Values: make([]int64, len(table.Values)), Hidden: make([]bool, len(table.Values))}
		var needs []protection.Need
		for cell, x := range table.Values {
			g.Values[cell] = perturb.Draw(w.kernel, x, rapid.Float64Range(0, 0.999).Draw(t, "u"))
			needs = append(needs, protection.Need{Cell: int32(cell), Lower: 1, Upper: 1})
		}
		if w.sums {
			require.NoError(t, table.Grid.Sum(g.Values))
		}
		width := rapid.IntRange(1, 4).Draw(t, "width")
		r, err := w.Audit(context.Background(), table, g, &Attack{Needs: needs, Sliding: &width})
		require.NoError(t, err)
		low, high := make([]int64, len(table.Values)), make([]int64, len(table.Values))
		for cell := range low {
			low[cell] = math.MaxInt64
		}
		finest := []int{}
		for cell := range table.Values {
			if table.Grid.Leaf(cell) {
				finest = append(finest, cell)
			}
		}
		try := make([]int64, len(table.Values))
		var each func(i int)
		each = func(i int) {
			if i < len(finest) {
				for try[finest[i]] = 0; try[finest[i]] <= 12; try[finest[i]]++ {
					each(i + 1)
				}
				return
			}
			all := append([]int64(nil), try...)
			require.NoError(t, table.Grid.Sum(all))
			for cell, x := range all {
				if !w.sums || table.Grid.Leaf(cell) {
					if l, h, ok := w.kernel.Bounds(g.Values[cell]); !ok || x < l || x > h {
						return
					}
				}
			}
			for cell, x := range all {
				low[cell], high[cell] = min(low[cell], x), max(high[cell], x)
			}
		}
		each(0)
		for _, f := range r.Findings {
			cell := f.Need.Cell
			if f.Verdict == protection.Pass {
				require.GreaterOrEqual(t, high[cell]-low[cell], int64(width))
			}
			require.LessOrEqual(t, low[cell], f.Low)
			require.GreaterOrEqual(t, high[cell], f.High)
			// A table of two variables is a network, whose intervals are the true ones.
			require.Equal(t, high[cell]-low[cell] >= int64(width), f.Verdict == protection.Pass, "cell %d of %v published as %v by %s", cell, table.Values,
				g.Values, w.kernel.Name())
		}
	})
}

// The bounds of noise of a response are those of trying all values.
func TestBoundsOfNoiseOfResponses(t *testing.T) {
	for _, n := range []adjustment.Noise{{SD: 2, Reach: 3}, {Proportional: 0.2, Reach: 4}, {SD: 1, Proportional: 0.1, Reach: 2.5}} {
		w := &Way{Method: "perturbation", noise: &n}
		for y := int64(-60); y <= 60; y++ {
			low, high := int64(math.MaxInt64), int64(math.MinInt64)
			for x := int64(-400); x <= 400; x++ {
				far := int64(math.Round((n.SD + n.Proportional*math.Abs(float64(x))) * n.Reach))
				if same := y == 0 || x == 0 || (x < 0) == (y < 0); same && x-far <= y && y <= x+far {
					low, high = min(low, x), max(high, x)
				}
			}
			gotLow, gotHigh := w.noised(y)
			require.LessOrEqual(t, gotLow, low, "%v, %d", n, y)
			require.GreaterOrEqual(t, gotHigh, high, "%v, %d", n, y)
			if y != 0 {
				require.InDelta(t, low, gotLow, 1, "%v, %d", n, y)
				require.InDelta(t, high, gotHigh, 1, "%v, %d", n, y)
			}
		}
	}
}

// A value that was made is within its bounds, and a table that is adjusted is judged by how far its cells went.
func TestBoundsHaveTheTruth(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		table := twoByTwo(t, rapid.SliceOfN(rapid.IntRange(1, 900), 4, 4).Draw(t, "counts"))
		key := perturb.KeyOf([]byte(rapid.StringN(1, 8, 8).Draw(t, "secret")))
		draws := adjustment.ByName(key, table.names())
		n := adjustment.Noise{Proportional: rapid.Float64Range(0.001, 0.2).Draw(t, "proportional"), Reach: 4}
		made, err := n.Add(table.Grid.System(), table.Values, draws)
		require.NoError(t, err)
		w := &Way{Method: "perturbation", noise: &n}
		for cell, y := range made.Values {
			low, high := w.noised(y)
			require.LessOrEqual(t, low, table.Values[cell])
			require.GreaterOrEqual(t, high, table.Values[cell])
		}
	})
	table := twoByTwo(t, []int{5, 7, 9, 2})
	values := append([]int64(nil), table.Values...)
	leaf := func(a, b int32) int32 { return int32(table.Grid.Find([]int32{a, b})) }
	for cell, by := range map[int32]int64{leaf(1, 1): 2, leaf(1, 2): -2, leaf(2, 1): -2, leaf(2, 2): 2} {
		values[cell] += by
	}
	r, err := moved(
		table,
		values,
		[]protection.Need{{Cell: leaf(1, 1), Lower: 9, Upper: 2}, {Cell: leaf(1, 2), Lower: 3, Upper: 1}, {Cell: 0, Lower: 1, Upper: 1}},
	)
	require.NoError(t, err)
	var verdicts []protection.Verdict
	for _, f := range r.Findings {
		verdicts = append(verdicts, f.Verdict)
	}
	require.Equal(t, []protection.Verdict{protection.Pass, protection.Under, protection.Exact}, verdicts)
	require.Contains(t, (&Way{Method: "adjustment"}).Failure(table, r.Findings[1]), "nearer to its value than its level")
	r, err = moved(table, values, []protection.Need{{Cell: leaf(1, 1), Lower: 2, Upper: 3}})
	require.NoError(t, err)
	require.Equal(t, protection.Under, r.Findings[0].Verdict, "up by less than what is needed above")
	values[0]++
	_, err = moved(table, values, nil)
	require.ErrorContains(t, err, "adds up")
}

// A cell is called the same in every table; where a code is below two parents, its path tells.
func TestNamesOfCells(t *testing.T) {
	table := twoByTwo(t, []int{1, 2, 3, 4})
	same := tabular.NewIdentity([]contingency.Variable{{Name: "b"}, {Name: "a"}}).Of([]tabular.Category{tabular.Of("1"), tabular.Of("0")})
	require.Equal(t, string(same), string(table.names()(int32(table.Grid.Find([]int32{1, 2})))))
	tree := tabular.NewTree("a")
	for _, parent := range []string{"north", "south"} {
		tree.Add(tabular.Of("other"), tree.Add(tabular.Of(parent), 0))
	}
	grid, err := tabular.NewGrid([]*tabular.Tree{tree}, []int32{2, 4})
	require.NoError(t, err)
	names := (&Table{Grid: grid}).names()
	met := make(map[string]bool)
	for cell := range grid.Cells() {
		met[string(names(int32(cell)))] = true
	}
	require.Len(t, met, 5)
}

// Everybody knows that abs hides counts of 3 or fewer and no others: a hidden total of three hidden parts is 3, and each of them 1.
func TestAbsIsKnownToHideFewRecords(t *testing.T) {
	for _, c := range []struct {
		counts []int
		want   protection.Verdict
	}{{[]int{1, 2, 400, 300}, protection.Pass}, {[]int{1, 1, 400, 300}, protection.Pass}} {
		table := twoByTwo(t, c.counts)
		require.Equal(t, c.want, verdictOfAbs(t, table, 1, 1), c.counts)
	}
	trees := []*tabular.Tree{
		tabular.Flat("a", tabular.Of("0"), tabular.Of("1")), tabular.Flat("b", tabular.Of("0"), tabular.Of("1"), tabular.Of("2")),
	}
	grid, err := tabular.NewGrid(trees, []int32{1, 1, 1, 2, 1, 3, 2, 1, 2, 2, 2, 3})
	require.NoError(t, err)
	table := &Table{Grid: grid, Values: make([]int64, grid.Cells()), Cells: make([]detection.Cell, grid.Cells()), Sole: make([]int64, grid.Cells())}
	for b, n := range []int64{1, 1, 1} {
		table.Values[grid.Find([]int32{1, int32(b + 1)})], table.Values[grid.Find([]int32{2, int32(b + 1)})] = n, 100
	}
	require.NoError(t, grid.Sum(table.Values))
	require.Equal(t, protection.Exact, verdictOfAbs(t, table, 1, 1))
}

// What passes the audit of abs nobody finds out who lists all tables with the same cells hidden.
func TestAbsAgainstEnumeration(t *testing.T) {
	const most = 9 // of a cell; far below the base, so that only what is hidden tells tables apart
	public := func(x [4]int) (hidden [9]bool, all [9]int) {
		all = [9]int{x[0] + x[1] + x[2] + x[3], x[0] + x[1], x[2] + x[3], x[0] + x[2], x[1] + x[3], x[0], x[1], x[2], x[3]}
		for i, n := range all {
			hidden[i] = n > 0 && n <= 3
		}
		return hidden, all
	}
	possible := make(map[[9]bool]*[9]map[int]bool)
	var tables [][4]int
	for i := range (most + 1) * (most + 1) * (most + 1) * (most + 1) {
		x := [4]int{i % 10, i / 10 % 10, i / 100 % 10, i / 1000}
		hidden, all := public(x)
		if possible[hidden] == nil {
			possible[hidden] = &[9]map[int]bool{}
		}
		for cell, n := range all {
			if possible[hidden][cell] == nil {
				possible[hidden][cell] = make(map[int]bool)
			}
			possible[hidden][cell][n] = true
		}
		if max(x[0], x[1], x[2], x[3]) < 5 && min(x[0], x[1], x[2], x[3]) > 0 {
			tables = append(tables, x)
		}
	}
	keys := [9][]int32{{0, 0}, {1, 0}, {2, 0}, {0, 1}, {0, 2}, {1, 1}, {1, 2}, {2, 1}, {2, 2}}
	passed, refused := 0, 0
	for _, x := range tables {
		hidden, _ := public(x)
		table := twoByTwo(t, x[:])
		for cell := range hidden {
			if !hidden[cell] {
				continue
			}
			if verdictOfAbs(t, table, keys[cell]...) == protection.Pass {
				passed++
				require.Greater(t, len(possible[hidden][cell]), 1, "%v %v", x, keys[cell])
			} else {
				refused++
			}
		}
	}
	require.Positive(t, passed)
	require.Positive(t, refused)
}

// A response that is the number of records tells as much as counts do; weighted counts do not.
func TestAbsKnowsCountsByTheirValues(t *testing.T) {
	w, err := wayOf(&Config{Method: "abs", Decimals: 1}, true)
	require.NoError(t, err)
	table := twoByTwo(t, []int{10, 20, 4000, 3000})
	table.Decimals = 1
	for cell, x := range table.Values {
		table.Cells[cell].Records = x / 10
	}
	require.EqualValues(t, 30, w.fewOf(table))
	table.Values[0]++
	require.Zero(t, w.fewOf(table))
}

// verdictOfAbs is what an audit of a table that abs made says of a cell.
func verdictOfAbs(t *testing.T, table *Table, nodes ...int32) protection.Verdict {
	w, err := wayOf(&Config{Method: "abs"}, false)
	require.NoError(t, err)
	g := &Given{Values: make([]int64, len(table.Values)), Hidden: make([]bool, len(table.Values))}
	for cell, x := range table.Values {
		g.Hidden[cell], g.Values[cell] = x <= 3, (x+50)/100*100
	}
	need := protection.Need{Cell: int32(table.Grid.Find(nodes)), Lower: 1, Upper: 1}
	r, err := w.Audit(context.Background(), table, g, &Attack{Needs: []protection.Need{need}, Beforehand: "occupied"})
	require.NoError(t, err)
	return r.Findings[0].Verdict
}

// A parameter that is said twice, also by its short name, is an error.
func TestParametersOfRulesOnce(t *testing.T) {
	for text, name := range map[string]string{"min:n=3,n=4": "n", "across:c=1,coalition=2": "coalition", "min:n=3,inclusive,inclusive": "inclusive"} {
		_, err := ParseRule(text)
		require.EqualError(t, err, "says "+name+" twice", text)
	}
}

// The bounds of multiplied values are those of trying all values and factors; factors near 1 leave a small count as it is, which is not safe.
func TestBoundsOfMultipliedValues(t *testing.T) {
	for _, factor := range []float64{0.08, 0.25, 0.5} {
		w := &Way{Method: "multiplicative", factor: factor}
		for y := int64(1); y <= 40; y++ {
			low, high := int64(math.MaxInt64), int64(0)
			for x := int64(1); x <= 200; x++ {
				if float64(x)*(1-factor) <= float64(y)+0.5 && float64(x)*(1+factor) >= float64(y)-0.5 {
					low, high = min(low, x), max(high, x)
				}
			}
			table := twoByTwo(t, []int{int(low), 1, 1, 1})
			gotLow, gotHigh, ok := w.bounds(table, table.Grid.Find([]int32{1, 1}), y)
			require.True(t, ok)
			require.Equal(t, [2]int64{low, high}, [2]int64{gotLow, gotHigh}, "%v, %d", factor, y)
		}
	}
	table := twoByTwo(t, []int{1, 4, 6, 5})
	g := &Given{Values: slices.Clone(table.Values), Hidden: make([]bool, len(table.Values))}
	need := []protection.Need{{Cell: int32(table.Grid.Find([]int32{1, 1})), Lower: 1, Upper: 1}}
	for factor, want := range map[float64]protection.Verdict{0.08: protection.Exact, 0.5: protection.Pass} {
		w := &Way{Method: "multiplicative", factor: factor}
		r, err := w.Audit(context.Background(), table, g, &Attack{Needs: need})
		require.NoError(t, err)
		require.Equal(t, want, r.Findings[0].Verdict)
	}
}
