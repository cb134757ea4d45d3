package operators

import (
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"

	"microrisk/schemas"
)

// tabulatedLines is what Tabulate makes, one line a row.
func tabulatedLines(t *testing.T, o Tabulate, rows ...string) ([]string, *schemas.TabulateSummary, error) {
	t.Helper()
	mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
	t.Cleanup(func() { mem.AssertSize(t, 0) })
	_, report, err := table(t, mem, lines(t, mem, 3, "S H", rows...), Options{}, o)
	if err != nil {
		return nil, nil, err
	}
	r := report.Operators[0].Tables.Tables(mem)
	defer r.Release()
	out := []string{}
	for i := range int(r.NumRows()) {
		var parts []string
		for _, c := range r.Columns() {
			if c.IsNull(i) {
				parts = append(parts, "_")
			} else {
				parts = append(parts, Text(c, i))
			}
		}
		out = append(out, strings.Join(parts, " "))
	}
	return out, report.Operators[0].Summary.(*schemas.TabulateSummary), nil
}

var tabulateRows = []string{"m good", "m good", "f bad", "m _", "f bad", "f bad"}

func TestTabulate(t *testing.T) {
	config := schemas.Tabulate{Cells: variables("S", "H"), Path: "t.csv"}
	out, s, err := tabulatedLines(t, Tabulate{Config: config}, tabulateRows...)
	require.NoError(t, err)
	require.Equal(t, []string{"f bad 3", "m good 2", "m _ 1"}, out)
	require.EqualValues(t, 6, s.Records)

	config.Margins, config.Missing = true, schemas.MissingDrop
	out, s, err = tabulatedLines(t, Tabulate{Config: config}, tabulateRows...)
	require.NoError(t, err)
	require.Equal(t, []string{"Total Total 5", "Total bad 3", "Total good 2", "f Total 3", "f bad 3", "m Total 2", "m good 2"}, out)
	require.EqualValues(t, 5, s.Records)

	config.Empty = true
	out, _, err = tabulatedLines(t, Tabulate{Config: config}, tabulateRows...)
	require.NoError(t, err)
	require.Equal(t, []string{"Total Total 5", "Total bad 3", "Total good 2", "f Total 3", "f bad 3", "f good 0", "m Total 2", "m bad 0", "m good 2"}, out)

	config.Perturb = &schemas.Perturbation{Scheme: "conventional", Base: 5}
	config.Empty = false
	out, _, err = tabulatedLines(t, Tabulate{Config: config}, tabulateRows...)
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
		config := schemas.Tabulate{Cells: variables(names...), Margins: true, Path: "t.csv", Perturb: &schemas.Perturbation{Scheme: "random", Base: 5}}
		out, _, err := tabulatedLines(t, Tabulate{Config: config, Secret: []byte(secret)}, rows...)
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
	config := schemas.Tabulate{Cells: variables("S", "H"), Path: "t.csv", Perturb: &schemas.Perturbation{Scheme: "random", Base: 5}}
	_, report, err := table(t, memory.DefaultAllocator, lines(t, memory.DefaultAllocator, 3, "S H", rows...), Options{}, Tabulate{Config: config})
	require.NoError(t, err)
	require.Len(t, report.Warnings, 1)
	config.Margins = true
	_, _, err = tabulatedLines(t, Tabulate{Config: config}, "Total a")
	require.ErrorContains(t, err, "names totals")
}
