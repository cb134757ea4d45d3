package tabulate

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"microrisk/operators"
	"microrisk/operators/operatortest"
	"microrisk/operators/sap"
	"microrisk/schemas"
)

// tabulatedLines is what Tabulate makes, one line a row.
func tabulatedLines(t *testing.T, o Operator, rows ...string) ([]string, *Summary, error) {
	t.Helper()
	mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
	t.Cleanup(func() { mem.AssertSize(t, 0) })
	_, report, err := operatortest.Table(t, mem, operatortest.Lines(t, mem, 3, "S H", rows...), operators.Options{}, o)
	if err != nil {
		return nil, nil, err
	}
	r := report.Operators[0].Fitted.(operators.Tabled).Tables(mem)
	defer r.Release()
	out := []string{}
	for i := range int(r.NumRows()) {
		var parts []string
		for _, c := range r.Columns() {
			if c.IsNull(i) {
				parts = append(parts, "_")
			} else {
				parts = append(parts, operators.Text(c, i))
			}
		}
		out = append(out, strings.Join(parts, " "))
	}
	return out, report.Operators[0].Summary.(*Summary), nil
}

var tabulateRows = []string{"m good", "m good", "f bad", "m _", "f bad", "f bad"}

func TestTabulate(t *testing.T) {
	config := Config{Cells: operatortest.Variables("S", "H"), Path: "t.csv"}
	out, s, err := tabulatedLines(t, Operator{Config: config}, tabulateRows...)
	require.NoError(t, err)
	require.Equal(t, []string{"f bad 3", "m good 2", "m _ 1"}, out)
	require.EqualValues(t, 6, s.Records)

	config.Margins, config.Missing = true, schemas.MissingDrop
	out, s, err = tabulatedLines(t, Operator{Config: config}, tabulateRows...)
	require.NoError(t, err)
	require.Equal(t, []string{"Total Total 5", "Total bad 3", "Total good 2", "f Total 3", "f bad 3", "m Total 2", "m good 2"}, out)
	require.EqualValues(t, 5, s.Records)

	config.Empty = true
	out, _, err = tabulatedLines(t, Operator{Config: config}, tabulateRows...)
	require.NoError(t, err)
	require.Equal(t, []string{"Total Total 5", "Total bad 3", "Total good 2", "f Total 3", "f bad 3", "f good 0", "m Total 2", "m bad 0", "m good 2"}, out)

	config.Perturb = &schemas.Perturbation{Scheme: "conventional", Base: 5}
	config.Empty = false
	out, _, err = tabulatedLines(t, Operator{Config: config}, tabulateRows...)
	require.NoError(t, err)
	require.Equal(t, []string{"Total Total 5", "Total bad 5", "f Total 5", "f bad 5"}, out, "what is published as 0 looks like what is empty")
}

// The same cell is published alike wherever it is, with the same secret; without one, by chance each time.
func TestTabulateByChance(t *testing.T) {
	var rows []string
	for i := range 300 {
		rows = append(rows, []string{"m", "f", "x"}[i*7%3]+" "+string(rune('a'+i*i%17)))
	}
	of := func(secret string, names ...string) map[string]string {
		config := Config{Cells: operatortest.Variables(names...), Margins: true, Path: "t.csv", Perturb: &schemas.Perturbation{Scheme: "random", Base: 5}}
		out, _, err := tabulatedLines(t, Operator{Config: config, Chance: chance(t, secret)}, rows...)
		require.NoError(t, err)
		cells := map[string]string{}
		for _, line := range out {
			parts := strings.Fields(line)
			key := map[string]string{}
			for i, name := range names {
				key[name] = parts[i]
			}
			cells[key["S"]+"|"+key["H"]] = parts[len(names)]
		}
		return cells
	}
	first := of("one", "S", "H")
	require.Equal(t, first, of("one", "H", "S"), "in any order of variables")
	require.NotEqual(t, first, of("two", "S", "H"))
	for cell, value := range of("one", "S") {
		require.Equal(t, first[cell+"Total"], value, "and in other tables")
	}
	config := Config{Cells: operatortest.Variables("S", "H"), Path: "t.csv", Perturb: &schemas.Perturbation{Scheme: "random", Base: 5}}
	_, report, err := operatortest.Table(
		t,
		memory.DefaultAllocator,
		operatortest.Lines(t, memory.DefaultAllocator, 3, "S H", rows...),
		operators.Options{},
		Operator{Config: config},
	)
	require.NoError(t, err)
	require.Len(t, report.Warnings, 1)
	config.Margins = true
	_, _, err = tabulatedLines(t, Operator{Config: config}, "Total a")
	require.ErrorContains(t, err, "names totals")
}

// Rows come in order, each total before its parts, for any number of variables.
func TestTabulatedRowsAreInOrder(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		names := []string{"A", "B", "C"}[:rapid.IntRange(1, 3).Draw(rt, "variables")]
		var rows []string
		for range rapid.IntRange(1, 30).Draw(rt, "rows") {
			var values []string
			for range names {
				values = append(values, rapid.SampledFrom([]string{"a", "b", "c", "_"}).Draw(rt, "value"))
			}
			rows = append(rows, strings.Join(values, " "))
		}
		config := Config{
			Cells:   operatortest.Variables(names...),
			Margins: rapid.Bool().Draw(rt, "margins"),
			Empty:   rapid.Bool().Draw(rt, "empty"),
			Path:    "t.csv",
		}
		_, report, err := operatortest.Table(
			t,
			memory.DefaultAllocator,
			operatortest.Lines(t, memory.DefaultAllocator, 7, strings.Join(names, " "), rows...),
			operators.Options{},
			Operator{Config: config},
		)
		require.NoError(rt, err)
		f := report.Operators[0].Fitted.(*tabulated)
		for i := 1; i < len(f.values); i++ {
			require.True(rt, f.before(int32(i-1), int32(i)), "row %d", i)
		}
	})
}

// Margins are refused before they take more memory than is allowed, and end soon after the context does.
func TestTabulateWithinMemory(t *testing.T) {
	var rows []string
	for i := range 3000 {
		rows = append(rows, fmt.Sprintf("%d %d %d %d %d %d %d %d", i, i*7%3000, i*11%3000, i*13%3000, i*17%3000, i*19%3000, i*23%3000, i*29%3000))
	}
	names := strings.Fields("A B C D E F G I")
	source := operatortest.Lines(t, memory.DefaultAllocator, 1000, strings.Join(names, " "), rows...)
	config := Config{Cells: operatortest.Variables(names...), Path: "t.csv"}
	_, _, err := operatortest.Table(t, memory.DefaultAllocator, source, operators.Options{Memory: 16 << 20}, Operator{Config: config})
	require.NoError(t, err)
	config.Margins = true
	_, _, err = operatortest.Table(t, memory.DefaultAllocator, source, operators.Options{Memory: 16 << 20}, Operator{Config: config})
	require.ErrorContains(t, err, "rows or more needs about")
	require.ErrorContains(t, err, "leave margins or empty cells out")

	config.Empty, config.Cells = true, operatortest.Variables("A", "B")
	_, _, err = operatortest.Table(t, memory.DefaultAllocator, source, operators.Options{Memory: 16 << 20}, Operator{Config: config})
	require.ErrorContains(t, err, "a table of 9000000 rows or more needs about")

	config.Empty, config.Cells = false, operatortest.Variables(names...)
	chain, err := operators.NewChain(source.Schema(), Operator{Config: config})
	require.NoError(t, err)
	for _, last := range []int64{1, 256} { // while rows are made, while they are sorted
		ctx, cancel := context.WithCancel(t.Context())
		_, err = chain.Run(ctx, source, nil, operators.Options{Progress: func(stage string, done, _ int64) {
			if stage == "tabulating" && done == last {
				cancel()
			}
		}})
		require.ErrorIs(t, err, context.Canceled)
		cancel()
	}
}

// Where nobody can be published as somebody, all cells are, whether or not there is somebody: an absent row means 0 as published.
func TestTabulateWhereZeroIsPublished(t *testing.T) {
	mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
	_, report, err := operatortest.Table(t, mem, operatortest.Lines(t, mem, 3, "A B", "a x", "b y"), operators.Options{}, Operator{Config: Config{
		Cells: []schemas.KeyVariable{
			{Name: "A"},
			{Name: "B"},
		}, Path: "t.csv", Perturb: &schemas.Perturbation{Scheme: "matrix", Matrix: [][]schemas.Outcome{{{Count: 1, Probability: 1}}, {{Count: 0, Probability: 1}}}}}})
	require.NoError(t, err)
	require.EqualValues(t, 2, report.Operators[0].Summary.(*Summary).Rows, "of the four cells the two without anybody")
}

// A file without rows has no margins, and that is no division by zero.
func TestSAPOfNobodyWithMargins(t *testing.T) {
	mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
	_, report, err := operatortest.Table(
		t,
		mem,
		operatortest.Lines(t, mem, 3, "A B"),
		operators.Options{},
		sap.Operator{Config: sap.Config{Cells: []schemas.KeyVariable{{Name: "A"}, {Name: "B", Levels: []string{"x", "y"}}},
			Known: []int64{0, 1}, Release: sap.Release{Margins: []sap.Margin{{Variables: []string{"B"}}}}}},
	)
	require.NoError(t, err)
	require.NotNil(t, report)
}

// A category that names totals could not be told from a margin.
func TestTabulateRefusesTotal(t *testing.T) {
	mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
	_, _, err := operatortest.Table(
		t,
		mem,
		operatortest.Lines(t, mem, 3, "A", "Total", "b"),
		operators.Options{},
		Operator{Config: Config{Cells: []schemas.KeyVariable{{Name: "A"}}, Path: "t.csv"}},
	)
	require.ErrorContains(t, err, `the category "Total", which names totals`)
}

func chance(t *testing.T, secret string) *operators.Chance {
	c, err := operators.NewChance(schemas.People{}, []byte(secret))
	require.NoError(t, err)
	return c
}
