package fitting

import (
	"context"
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"
	"microrisk/engine/graph"
	"microrisk/engine/tabular"
	"pgregory.net/rapid"
)

var ctx = context.Background()

// t0 is the base table of the sources' examples.
var t0 = []float64{23, 3, 37, 18, 1, 15, 12, 119, 54, 43, 8, 4, 19, 16, 22, 10}

func TestMultiplicativeNoise(t *testing.T) { // TV-P2
	margins := []Margin{{[]int{0}, []float64{80, 145, 110, 70}}, {[]int{1}, []float64{100, 75, 80, 150}}}
	a, err := Proportional(ctx, tabular.Shape{4, 4}, t0, margins, Options{Tolerance: 1e-12 / 405})
	require.NoError(t, err)
	require.True(t, a.Converged)
	require.Equal(t, 39, a.Sweeps)
	require.InDeltaSlice(t, []float64{22.9332, 2.8193, 36.5892, 17.6583, 1.0061, 14.2237, 11.9740, 117.7962,
		55.8288, 41.8995, 8.2029, 4.0688, 20.2319, 16.0576, 23.2338, 10.4767}, a.Values, 1e-4)
}

func TestIndependenceOfT0(t *testing.T) { // TV-M2
	f, err := Independence(2).Fit(ctx, &Table{Shape: tabular.Shape{4, 4}, Counts: t0}, Options{})
	require.NoError(t, err)
	require.InDelta(t, 303.581762, f.G2, 5e-7)
	require.InDelta(t, 278.968987, f.X2, 5e-7)
	require.Equal(t, 9, f.DF)
	require.Equal(t, 16, f.Cells)
	omitted := make([]bool, 16)
	for _, cell := range []int{1, 2, 4, 6, 12, 13} { // AF, AG, BE, BG, DE, DF
		omitted[cell] = true
	}
	f, err = Independence(2).Fit(ctx, &Table{tabular.Shape{4, 4}, t0, omitted}, Options{})
	require.NoError(t, err)
	require.InDelta(t, 126.308377, f.G2, 5e-7)
	require.Equal(t, 3, f.DF)
}

// TestPublishedModels has what R's loglin gives for two of its tables, with all interactions of two variables; of the first its example's,
// which stops at a deviation of 0.1.
func TestPublishedModels(t *testing.T) {
	hair := &Table{Shape: tabular.Shape{4, 4, 2}, Counts: []float64{32, 36, 11, 9, 10, 5, 3, 2, 53, 66, 50, 34, 25, 29, 15, 14,
		10, 16, 10, 7, 7, 7, 7, 7, 3, 4, 30, 64, 5, 5, 8, 8}}
	f, err := TwoWay(3).Fit(ctx, hair, Options{Tolerance: 0.1 / 592})
	require.NoError(t, err)
	require.InDelta(t, 6.761258, f.G2, 5e-7)
	require.InDelta(t, 6.868292, f.X2, 5e-7)
	require.Equal(t, 9, f.DF)
	admissions := &Table{Shape: tabular.Shape{6, 2, 2}, Counts: []float64{512, 313, 89, 19, 353, 207, 17, 8, 120, 205, 202, 391,
		138, 279, 131, 244, 53, 138, 94, 299, 22, 351, 24, 317}}
	f, err = TwoWay(3).Fit(ctx, admissions, Options{})
	require.NoError(t, err)
	require.InDelta(t, 20.20428, f.G2, 5e-6)
	require.InDelta(t, 18.82431, f.X2, 5e-4)
	require.Equal(t, 5, f.DF)
}

func TestParse(t *testing.T) {
	names := []string{"A", "B", "age + sex", `q"`}
	for formula, want := range map[string]string{
		"A+B":                   "A + B",
		" B * A + A ":           "A*B",
		"A:B+`q\"`":             "A*B + `q\"`",
		"\"age + sex\" * A + B": "B + A*\"age + sex\"",
		"1":                     "1",
		"1+B":                   "B",
		"A*A":                   "A",
	} {
		m, err := Parse(formula, names)
		require.NoError(t, err, formula)
		require.Equal(t, want, m.Formula(names), formula)
		again, err := Parse(m.Formula(names), names)
		require.NoError(t, err)
		require.Equal(t, m, again)
	}
	for _, formula := range []string{"", "+", "A+", "A**B", "A+*B", "C", "\"A", "\"A\"B", "A B"} {
		_, err := Parse(formula, names)
		require.Error(t, err, formula)
	}
	var unknown *UnknownError
	_, err := Parse("A+AGE", names)
	require.ErrorAs(t, err, &unknown)
	require.Equal(t, "AGE", unknown.Name)
	m, err := Parse("1", []string{"0", "1"})
	require.NoError(t, err)
	require.Equal(t, Model{graph.Of(1)}, m)
	require.Equal(t, Model{graph.Of(0)}, TwoWay(1))
	require.Len(t, TwoWay(5), 10)
}

func TestRefusals(t *testing.T) {
	shape := tabular.Shape{2, 2}
	ones := []float64{1, 1, 1, 1}
	for name, margins := range map[string][]Margin{
		"other totals":   {{[]int{0}, []float64{1, 2}}, {[]int{1}, []float64{1, 3}}},
		"too few":        {{[]int{0}, []float64{1}}},
		"no variable":    {{[]int{2}, []float64{1, 1}}},
		"below 0":        {{[]int{0}, []float64{-1, 2}}},
		"not in order":   {{[]int{1, 0}, ones}},
		"not a number":   {{nil, []float64{math.NaN()}}},
		"without a cell": {{[]int{0}, []float64{1, 0}}, {[]int{0, 1}, []float64{0, 0, 1, 0}}},
	} {
		_, err := Proportional(ctx, shape, ones, margins, Options{})
		require.Error(t, err, name)
	}
	_, err := Proportional(ctx, shape, ones[:3], nil, Options{})
	require.Error(t, err)
	_, err = Independence(3).Fit(ctx, &Table{Shape: shape, Counts: ones}, Options{})
	require.Error(t, err)
	_, err = Independence(2).Fit(ctx, &Table{Shape: shape, Counts: []float64{1, -1, 1, 1}}, Options{})
	require.Error(t, err)
	_, err = Groups(ctx, ones, []Group{{[]int32{4}, 1}}, Options{})
	require.Error(t, err)
	ended, cancel := context.WithCancel(ctx)
	cancel()
	_, err = Independence(2).Fit(ended, &Table{Shape: shape, Counts: ones}, Options{})
	require.ErrorIs(t, err, context.Canceled)
	a, err := Groups(ctx, ones, []Group{{[]int32{0, 1}, 2}, {[]int32{1}, 5}}, Options{Sweeps: 50})
	require.NoError(t, err)
	require.False(t, a.Converged)
}

// designRank is the rank of the model over cells, by singular values.
func designRank(m Model, shape tabular.Shape, cells []int) int {
	if len(cells) == 0 {
		return 0
	}
	index := map[string]int{}
	var rows [][]int
	for _, cell := range cells {
		codes := tabular.Codes(shape, cell, make([]int, len(shape)))
		var row []int
		for _, s := range append(Model{0}, m...) {
			key := fmt.Sprint(uint64(s))
			for v := range s.Vertices() {
				key += fmt.Sprint(" ", codes[v])
			}
			if _, ok := index[key]; !ok {
				index[key] = len(index)
			}
			row = append(row, index[key])
		}
		rows = append(rows, row)
	}
	design := mat.NewDense(len(rows), len(index), nil)
	for i, row := range rows {
		for _, j := range row {
			design.Set(i, j, 1)
		}
	}
	var svd mat.SVD
	svd.Factorize(design, mat.SVDNone)
	rank := 0
	for _, s := range svd.Values(nil) {
		if s > 1e-9 {
			rank++
		}
	}
	return rank
}

// TestFits draws tables with cells of 0 and omitted ones, and models: margins fit, the rank is right, and the fit is a product of factors.
func TestFits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		shape := tabular.Shape(rapid.SliceOfN(rapid.IntRange(1, 3), 1, 4).Draw(t, "shape"))
		table := &Table{Shape: shape, Counts: make([]float64, shape.Cells()), Omitted: make([]bool, shape.Cells())}
		omits := rapid.Bool().Draw(t, "omits")
		for i := range table.Counts {
			table.Counts[i] = float64(rapid.IntRange(0, 5).Draw(t, "count"))
			table.Omitted[i] = omits && rapid.IntRange(0, 4).Draw(t, "omitted") == 0
		}
		sets := rapid.SliceOfN(rapid.Uint64Range(0, 1<<len(shape)-1), 0, 4).Draw(t, "generators")
		var generators []graph.Set
		for _, s := range sets {
			generators = append(generators, graph.Set(s))
		}
		m := NewModel(generators...)
		f, err := m.Fit(ctx, table, Options{Sweeps: 2000})
		require.NoError(t, err)
		var cells []int
		for i := range table.Counts {
			codes := tabular.Codes(shape, i, make([]int, len(shape)))
			inside := !table.Omitted[i]
			for _, margin := range m.margins(table) {
				of := make([]int, len(margin.Variables))
				for k, v := range margin.Variables {
					of[k] = codes[v]
				}
				inside = inside && margin.Want[tabular.Cell(shape.Of(margin.Variables), of)] > 0
			}
			require.Equal(t, inside, f.Means[i] > 0)
			if inside {
				cells = append(cells, i)
			} else {
				require.Zero(t, f.Means[i])
			}
		}
		require.Equal(t, len(cells), f.Cells)
		require.Equal(t, len(cells)-designRank(m, shape, cells), f.DF)
		if !f.Converged {
			return
		}
		fitted := (&Table{shape, f.Means, table.Omitted})
		for k, margin := range m.margins(table) {
			require.InDeltaSlice(t, margin.Want, m.margins(fitted)[k].Want, 1e-8)
		}
		if f.DF == 0 {
			require.InDelta(t, 0, f.G2, 1e-5)
		}
	})
}

// TestDecomposableIsClosed compares with n(AB) n(BC) / n(B).
func TestDecomposableIsClosed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		shape := tabular.Shape{3, 2, 4}
		counts := make([]float64, 24)
		for i := range counts {
			counts[i] = float64(rapid.IntRange(0, 9).Draw(t, "count"))
		}
		table := &Table{Shape: shape, Counts: counts}
		f, err := NewModel(graph.Of(0, 1), graph.Of(1, 2)).Fit(ctx, table, Options{})
		require.NoError(t, err)
		require.True(t, f.Converged)
		ab, bc, b := table.sums([]int{0, 1}), table.sums([]int{1, 2}), table.sums([]int{1})
		for i, e := range f.Means {
			if at := i / 4 % 2; b[at] > 0 {
				require.InDelta(t, ab[i/4]*bc[i%8]/b[at], e, 1e-9)
			} else {
				require.Zero(t, e)
			}
		}
	})
}

// TestDiagonalOmitted has the degrees of freedom of quasi-independence off the diagonal, (k-1)^2 - k, and of blocks that fall apart.
func TestDiagonalOmitted(t *testing.T) {
	table := &Table{tabular.Shape{5, 5}, make([]float64, 25), make([]bool, 25)}
	for i := range 25 {
		table.Counts[i] = float64(i + 1)
		table.Omitted[i] = i%6 == 0
	}
	f, err := Independence(2).Fit(ctx, table, Options{})
	require.NoError(t, err)
	require.Equal(t, 11, f.DF)
	for i := range 25 {
		table.Omitted[i] = i/5 < 2 != (i%5 < 2)
	}
	f, err = Independence(2).Fit(ctx, table, Options{})
	require.NoError(t, err)
	require.Equal(t, 13-(3+5), f.DF)
}

func BenchmarkProportional(b *testing.B) {
	shape := tabular.Shape{26, 12, 10, 2, 3}
	counts := make([]float64, shape.Cells())
	for i := range counts {
		counts[i] = float64(i * 7919 % 101)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := TwoWay(5).Fit(ctx, &Table{Shape: shape, Counts: counts}, Options{}); err != nil {
			b.Fatal(err)
		}
	}
}
