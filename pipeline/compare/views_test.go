package compare_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"microrisk/pipeline/compare"
	"microrisk/pipeline/session"
)

// ran is a run with a loss by each treatment, and of the method itself.
func ran(table int64, series string, n, base int64, omitted, zero, imputed, own float64) *compare.Row {
	r := &compare.Row{ID: table, Design: "2-D", Method: series, Series: series, Replicate: 1, N: &n, Rules: fmt.Sprint("at least ", n), Hidden: new(int64),
		LossOmitted: &omitted, LossZero: &zero, LossImputed: &imputed, LossUnity: &own, Status: compare.StatusOK}
	if base > 0 {
		r.Base, r.Variant = &base, fmt.Sprint("base ", base)
	}
	r.Variant += fmt.Sprint(" n ", n)
	return r
}

func viewOf(t *testing.T, out *compare.Outcome, name, title string) *compare.View {
	list := out.Views()
	at := slices.IndexFunc(list, func(v *compare.View) bool { return v.Name == name && strings.Contains(v.Title, title) })
	require.GreaterOrEqual(t, at, 0, "%s %s", name, title)
	return list[at]
}

// Three tables of two designs, worked out by hand: 3 has no run with n 5, and is left out where that is a column.
func TestViewsByHand(t *testing.T) {
	out := &compare.Outcome{Rows: []*compare.Row{
		ran(1, "optimal", 3, 0, 10, 20, 1, 4), ran(1, "optimal", 5, 0, 30, 50, 2, 8), ran(1, "rounding", 3, 3, 6, 6, 6, 20),
		ran(2, "optimal", 3, 0, 50, 10, 3, 6), ran(2, "optimal", 5, 0, 70, 90, 6, 9), ran(2, "rounding", 3, 3, 2, 2, 2, 30),
		ran(3, "optimal", 3, 0, 90, 90, 8, 11), ran(3, "rounding", 3, 3, 4, 4, 4, 40),
	}}
	for _, r := range out.Rows[6:] {
		r.Design = "3-D"
	}
	out.Rows[3].Status = compare.StatusUnsafe
	v := viewOf(t, out, compare.ByN, "optimal")
	require.Equal(t, []string{"at least 3", "at least 5"}, v.Columns)
	require.Equal(t, 1, v.LeftOut)
	require.Len(t, v.Rows, 2)
	for i, design := range []string{"2-D", compare.All} {
		r := v.Rows[i]
		require.Equal(t, design, r.Design)
		require.Equal(t, 2, r.Tables)
		near(t, 30, r.Cells[0].Omitted, 1e-12) // (10 + 50) / 2
		near(t, 15, r.Cells[0].Zero, 1e-12)
		near(t, 2, r.Cells[0].Imputed, 1e-12)
		near(t, 5, r.Cells[0].Unity, 1e-12)
		near(t, 1, r.Cells[0].Low, 0)
		near(t, 50, r.Cells[0].High, 0)
		require.Equal(t, 1, r.Cells[0].Unsafe)
		near(t, 4, r.Cells[1].Imputed, 1e-12)
		require.Equal(t, "50 / 70 / 4", r.Cells[1].Text())
		require.Zero(t, r.Cells[1].Unsafe)
	}
	v = viewOf(t, out, compare.RoundOrHide, "Rounding to 3, and hiding below 3")
	require.Equal(t, []string{"rounding", "optimal"}, v.Columns)
	require.Zero(t, v.LeftOut)
	require.Equal(t, []int{2, 1, 3}, []int{v.Rows[0].Tables, v.Rows[1].Tables, v.Rows[2].Tables})
	near(t, 4, v.Rows[0].Cells[0].Zero, 1e-12) // (6 + 2) / 2
	near(t, 4, v.Rows[1].Cells[0].Zero, 1e-12)
	near(t, 8, v.Rows[1].Cells[1].Imputed, 1e-12)
	near(t, 4, v.Rows[2].Cells[1].Imputed, 1e-12) // (1 + 3 + 8) / 3: each table counts once, whatever its design
	require.Equal(t, "4", v.Rows[2].Cells[0].Text())
	require.Nil(t, (&compare.Outcome{Rows: out.Rows[:3]}).Views(), "one table")
	for _, v := range out.Views() {
		require.NotEqual(t, compare.Hierarchies, v.Name)
		require.NotEqual(t, compare.RoundOrChange, v.Name)
	}
}

// Means over tables are of the means over each table's runs.
func TestViewsOfRunsByChance(t *testing.T) {
	out := &compare.Outcome{}
	for table, losses := range [][]float64{{1, 3}, {10, 20, 30, 40}} {
		for i, loss := range losses {
			r := ran(int64(table)+1, "barnard:probability=0.6", 3, 0, loss, loss, loss, loss)
			r.Method, r.Scheme, r.Replicate = "perturbation", "barnard", int64(i)+1
			out.Rows = append(out.Rows, r)
		}
		out.Rows = append(out.Rows, ran(int64(table)+1, "rounding", 3, 5, 7, 7, 7, 7))
	}
	v := viewOf(t, out, compare.RoundOrChange, "at least 3")
	require.Equal(t, []string{"rounding, base 5", "barnard:probability=0.6"}, v.Columns)
	cell := v.Rows[len(v.Rows)-1].Cells[1]
	near(t, 13.5, cell.Imputed, 1e-12) // (2 + 25) / 2
	near(t, 1, cell.Low, 0)
	near(t, 40, cell.High, 0)
}

// What a run over several tables says of them together is what its own rows add up to.
func TestViewsOfARun(t *testing.T) {
	dir := t.TempDir()
	in := func(name, text string) string {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666))
		return filepath.Join(dir, name)
	}
	s := spec(t, base)
	second := in("second.csv", strings.NewReplacer("A,E,23", "A,E,2", "C,G,8", "C,G,3", "D,H,10", "D,H,57").Replace(base))
	third := in("third.csv", strings.NewReplacer("row,", "place,", "B,F,15", "B,F,2", "C,H,4", "C,H,31").Replace(base))
	tree := in("tree.csv", "code,parent\nnorth,\nsouth,\nA,north\nB,north\nC,south\nD,south\n")
	s.Tables = in(
		"tables.yaml",
		fmt.Sprintf("- {table: [row, column], file: %q}\n- {table: [place, column], file: %q, hierarchies: {place: %q}}\n", second, third, tree),
	)
	s.Methods, s.Bases, s.Least = []string{"optimal", "hypercube", "modular", "rounding"}, []int64{3, 5}, []int64{3, 5}
	s.Grid = in("grid.yaml", "- {method: perturbation, perturb: {scheme: barnard, probability: 0.6}, rules: [{rule: min, n: 3}]}\n")
	s.Out, s.Over, s.JSON, s.Page = filepath.Join(dir, "o.csv"), filepath.Join(dir, "v.csv"), filepath.Join(dir, "o.json"), filepath.Join(dir, "o.html")
	out := run(t, s)
	require.EqualValues(t, 3, out.Count())
	require.Equal(t, []string{"row", "column", "place"}, out.Variables)
	require.Len(t, out.Rows, 3*(3*2+2*2+2), "three ways that hide by two rules, rounding by two of each, and two replicates")
	views := out.Views()
	names := make(map[string]int)
	for _, v := range views {
		names[v.Name]++
		for i := range v.Columns {
			byHand(t, out, v, i)
		}
	}
	require.Equal(t, map[string]int{compare.ByN: 3, compare.ByBase: 2, compare.Hierarchies: 2, compare.RoundOrHide: 2, compare.RoundOrChange: 1}, names)
	require.Equal(t, 1, viewOf(t, out, compare.Hierarchies, "n 3").Rows[0].Tables)

	text, err := os.ReadFile(s.JSON)
	require.NoError(t, err)
	var document struct {
		Views []*compare.View `json:"views"`
	}
	require.NoError(t, json.Unmarshal(text, &document))
	require.Equal(t, views, document.Views)
	text, err = os.ReadFile(s.Over)
	require.NoError(t, err)
	cells := 0
	for _, v := range views {
		cells += len(v.Rows) * len(v.Columns)
	}
	require.Equal(t, cells+1, strings.Count(string(text), "\n"))
	text, err = os.ReadFile(s.Page)
	require.NoError(t, err)
	for _, v := range views {
		require.Contains(t, string(text), "<h3>"+v.Title+"</h3>")
	}
}

// byHand works a column of a view out from the rows of the run.
func byHand(t *testing.T, out *compare.Outcome, v *compare.View, column int) {
	sums, runs, losses := make(map[int64]float64), make(map[int64]float64), 0.0
	for _, r := range out.Rows {
		n := fmt.Sprint("n ", *r.N)
		base := ""
		if r.Base != nil {
			base = fmt.Sprint("base ", *r.Base)
		}
		own := map[string]bool{
			compare.ByN:           strings.HasSuffix(v.Title, ": "+r.Series) && n == v.Columns[column],
			compare.ByBase:        strings.HasSuffix(v.Title, ": "+r.Series+", "+n) && base == v.Columns[column],
			compare.Hierarchies:   strings.HasSuffix(v.Title, n) && r.Series == v.Columns[column] && r.Hierarchical,
			compare.RoundOrHide:   r.Series == v.Columns[column] && strings.HasSuffix(v.Title, fmt.Sprint("hiding below ", *r.N)) && (base == "" || *r.Base == *r.N),
			compare.RoundOrChange: strings.HasSuffix(v.Title, n) && v.Columns[column] == strings.TrimSuffix(r.Series+", "+base, ", "),
		}[v.Name]
		if own && r.LossZero != nil {
			sums[r.ID] += *r.LossZero
			runs[r.ID]++
		}
	}
	for id, sum := range sums {
		losses += sum / runs[id]
	}
	all := v.Rows[len(v.Rows)-1]
	require.Equal(t, compare.All, all.Design)
	if v.LeftOut == 0 {
		require.Len(t, sums, all.Tables, v.Title)
		near(t, losses/float64(len(sums)), all.Cells[column].Zero, 1e-9)
	}
}

func TestListsOfTablesThatAreNone(t *testing.T) {
	for text, says := range map[string]string{
		"[]":                                     "there are no tables",
		"- {table: []}":                          "a table has no variables",
		"- {file: x.csv}":                        "table",
		"- {table: [row, column], method: hand}": `no field "method"`,
		"- {table: [row, none]}":                 "none",
		"- {table: [row, column], file: no.csv}": "no.csv",
	} {
		s := spec(t, base)
		s.Tables = filepath.Join(t.TempDir(), "tables.yaml")
		require.NoError(t, os.WriteFile(s.Tables, []byte(text), 0o666))
		_, err := compare.Run(background, s, session.Options{})
		require.ErrorContains(t, err, says, text)
		require.True(t, says == "no.csv" || session.IsSpec(err), err)
	}
	s := spec(t, base)
	s.Over = "views.csv"
	_, err := compare.Run(background, s, session.Options{})
	require.ErrorContains(t, err, "views are of several tables")
	s = spec(t, base)
	s.Tables = filepath.Join(t.TempDir(), "tables.yaml")
	require.NoError(t, os.WriteFile(s.Tables, []byte("- {table: [row, column]}"), 0o666))
	s.JSON = s.Tables // a list that is read is not written
	_, err = compare.Run(background, s, session.Options{})
	require.Error(t, err)
}
