package compare_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	_ "microrisk/operators/builtin"
	"microrisk/operators/protect"
	"microrisk/pipeline/compare"
	"microrisk/pipeline/session"
	"microrisk/pipeline/tables"
	"microrisk/schemas"
	"microrisk/schemas/advice"
)

var background = context.Background()

// base is the table of Miller 2005, 2.1.3.
const base = `row,column,n
A,E,23
A,F,3
A,G,37
A,H,18
B,E,1
B,F,15
B,G,12
B,H,119
C,E,54
C,F,43
C,G,8
C,H,4
D,E,19
D,F,16
D,G,22
D,H,10
`

func spec(t *testing.T, text string) compare.Spec {
	path := filepath.Join(t.TempDir(), "ready.csv")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o666))
	return compare.Spec{Source: tables.Source{Path: path, Columns: &protect.Columns{Count: "n"}}, Config: protect.Config{
		Table: []schemas.KeyVariable{{Name: "row"}, {Name: "column"}}, Rules: []protect.Rule{{Rule: "min", N: new(4)}}}, Replicates: 2}
}

func run(t *testing.T, s compare.Spec) *compare.Outcome {
	out, err := compare.Run(background, s, session.Options{})
	require.NoError(t, err)
	return out
}

// near compares a figure that must be there.
func near(t *testing.T, want float64, got *float64, off float64) {
	t.Helper()
	require.NotNil(t, got)
	require.InDelta(t, want, *got, off)
}

func TestBaseTable(t *testing.T) { // TV-M1, TV-M2
	s := spec(t, base)
	s.Config.Insider, s.Config.Beforehand = "off", "nothing" // as the source has it
	s.Methods = []string{"none", "network", "optimal", "rounding"}
	s.Bases = []int64{3, 5}
	out := run(t, s)
	require.Len(t, out.Rows, 5)
	none := out.Rows[0]
	require.Equal(t, compare.StatusUnsafe, none.Status)
	require.Contains(t, none.Note, "2 cells fail the audit")
	require.EqualValues(t, 2, *none.Recoverable)
	near(t, 303.581762, none.DTrue, 5e-7)
	require.EqualValues(t, 9, *none.DFTrue)
	near(t, 195.847810, none.DOmitted, 5e-7)
	near(t, 328.330216, none.DZero, 5e-7)
	near(t, 35.4876, none.LossOmitted, 5e-5)
	near(t, 8.1522, none.LossZero, 5e-5)
	require.EqualValues(t, 7, *none.DFOmitted)
	near(t, 2, none.LossUnity, 0)
	near(t, 4, none.LossFrequency, 0)
	require.EqualValues(t, 4, *none.Suppressed)
	require.Less(t, *none.Slack, 0.)

	optimal := out.Rows[2]
	require.Equal(t, compare.StatusOK, optimal.Status)
	require.Equal(t, "pass", optimal.Audit)
	require.True(t, *optimal.Proven)
	near(t, *optimal.LowerBound, optimal.Cost, 0)
	require.EqualValues(t, 4, *optimal.Hidden)
	near(t, 60.2236, optimal.LossOmitted, 5e-5) // AE, AF, BE and BF
	near(t, 31.0310, optimal.LossZero, 5e-5)
	near(t, 10.3057, optimal.LossImputed, 5e-5)
	near(t, 42, optimal.LossFrequency, 0)
	require.GreaterOrEqual(t, *optimal.Slack, 0.)
	require.True(t, *optimal.Additive)

	five := out.Rows[4]
	require.Equal(t, "base 5", five.Variant)
	require.EqualValues(t, 5, *five.Base)
	require.EqualValues(t, 0, *five.Hidden)
	require.Equal(t, *five.LossOmitted, *five.LossImputed)
	require.LessOrEqual(t, *five.MaxChange, 4.)
	near(t, 40, five.LossUnity, 0) // the least sum of changes that adds up
	require.Equal(t, []int64{1, 2, 5}, []int64{five.SAP[0].Known, five.SAP[1].Known, five.SAP[2].Known})
	near(t, 1./404, &none.SAP[0].MeanBefore, 1e-12) // who knows the one of B and E
}

func TestVariants(t *testing.T) {
	s := spec(t, base)
	s.Config.Rules, s.Least = nil, []int64{2, 4}
	s.Methods = []string{"hypercube"}
	s.Grid = filepath.Join(t.TempDir(), "grid.yaml")
	require.NoError(t, os.WriteFile(s.Grid, []byte(`- {method: optimal, cost: unity, margins: none}
- {method: rounding, base: 4, rules: [{rule: min, n: 10}]}
- {method: optimal, nodes: 3, margins: all, insider: off}
`), 0o666))
	var names []string
	var unsafe []int64
	for _, r := range run(t, s).Rows {
		names, unsafe = append(names, r.Method+" "+r.Variant), append(unsafe, *r.Unsafe)
		require.Equal(t, compare.StatusOK, r.Status)
	}
	require.Equal(
		t,
		[]string{"hypercube n 2", "hypercube n 4", "optimal cost unity, margins none", "rounding rules minimum frequency 10 (unsafe below 10), base 4",
			"optimal margins all, insider off, nodes 3"},
		names,
	)
	require.Equal(t, []int64{1, 2, 1, 4, 1}, unsafe)
}

// Methods that change values take what the comparison says of them, and are drawn anew for each replicate.
func TestChangesAreCompared(t *testing.T) {
	s := spec(t, base)
	s.Replicates = 3
	s.Methods = []string{"perturbation", "multiplicative", "partial", "adjustment", "abs", "optimal"}
	s.Config.Perturb, s.Config.SD = &schemas.Perturbation{Scheme: "random", Base: 3}, new(0.05)
	s.Grid = filepath.Join(t.TempDir(), "grid.yaml")
	require.NoError(
		t,
		os.WriteFile(s.Grid, []byte("- {method: perturbation, perturb: {scheme: conventional, base: 5}}\n- {method: optimal, view: intervals}\n"), 0o666),
	)
	runs := make(map[string]int)
	for _, r := range run(t, s).Rows {
		require.Contains(t, []string{compare.StatusOK, compare.StatusUnsafe}, r.Status, "%s: %s", r.Method, r.Note)
		require.NotEmpty(t, r.SAP, "%s: %s", r.Method, r.Note)
		if r.Method == "adjustment" { // nobody knows how far a cell has moved
			require.Zero(t, r.SAP[0].MeanAfter)
		}
		runs[r.Method+" "+r.Variant]++
	}
	require.Equal(t, map[string]int{"perturbation ": 3, "multiplicative ": 3, "partial ": 3, "adjustment ": 1, "abs ": 1, "optimal ": 1,
		"perturbation perturb conventional:base=5": 1, "optimal view intervals": 1}, runs)
}

// A failure is a row; methods that are not named and do not fit the table are none.
func TestFailuresAreRows(t *testing.T) {
	s := spec(t, "row,column,n\na,x,1\na,y,5\nb,x,7\nb,y,7\n")
	s.Config.Margins = "all"
	s.Config.Rules[0].N = new(8)
	s.Methods = []string{"hypercube", "rounding"}
	out := run(t, s)
	require.Equal(t, compare.StatusInfeasible, out.Rows[0].Status)
	require.Contains(t, out.Rows[0].Note, "cannot be protected")
	require.Nil(t, out.Rows[0].Hidden)
	require.EqualValues(t, 5, *out.Rows[0].Unsafe) // all four, and the total of a
	require.Nil(t, out.Rows[0].LossImputed)
	require.Equal(t, compare.StatusOK, out.Rows[1].Status)

	three := "row,column,sex,n\na,x,m,1\na,x,f,9\na,y,m,5\na,y,f,5\nb,x,m,7\nb,y,f,7\nb,x,f,3\nb,y,m,8\n"
	s = spec(t, three)
	s.Config.Table = append(s.Config.Table, schemas.KeyVariable{Name: "sex"})
	s.Config.Rules[0].N = new(2)
	s.Methods = []string{"network", "hypercube"}
	out = run(t, s)
	require.Equal(t, compare.StatusError, out.Rows[0].Status)
	require.Contains(t, out.Rows[0].Note, "two variables")
	s.Methods = nil
	out = run(t, s)
	require.NotEmpty(t, out.Rows)
	for _, r := range out.Rows {
		require.NotEqual(t, "network", r.Method)
		require.NotEqual(t, "hand", r.Method)
	}
	for _, m := range protect.Methods { // a method that protect has is compared
		require.True(t, m == "network" || s.Config.Lacks(m) || slices.ContainsFunc(out.Rows, func(r *compare.Row) bool { return r.Method == m }), m)
	}
	s.Seconds = 1e-9
	s.Methods = []string{"optimal", "rounding"}
	for _, r := range run(t, s).Rows {
		require.Equal(t, compare.StatusLimit, r.Status, r.Note)
		require.Contains(t, r.Note, "within 1e-09 s: allow more (seconds)")
		require.NotContains(t, r.Note, "deadline")
		require.Contains(t, r.Said(advice.OfFlags), "allow more (--limit)")
	}
}

func TestFiles(t *testing.T) {
	folder := t.TempDir()
	s := spec(t, base)
	s.Methods = []string{"none", "rounding"}
	s.Out, s.JSON, s.Page = filepath.Join(folder, "out.csv"), filepath.Join(folder, "out.json"), filepath.Join(folder, "out.html")
	out := run(t, s)
	text, err := os.ReadFile(s.Out)
	require.NoError(t, err)
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	require.Len(t, lines, 3)
	require.True(t, strings.HasSuffix(lines[0], "sap_5_before,sap_5_after,sap_5_most"), lines[0])

	text, err = os.ReadFile(s.JSON)
	require.NoError(t, err)
	var document struct {
		Warning string
		Runs    []map[string]any
	}
	require.NoError(t, json.Unmarshal(text, &document))
	require.Equal(t, compare.Warning, document.Warning)
	require.Len(t, document.Runs, 2)
	for name := range document.Runs[0] { // the file has every column
		require.True(t, name == "sap" || slices.Contains(strings.Split(lines[0], ","), name), name)
	}
	require.InDelta(t, *out.Rows[0].LossZero, document.Runs[0]["loss_pct_zero"], 1e-12)

	page, err := os.ReadFile(s.Page)
	require.NoError(t, err)
	valid(t, string(page))
	require.Contains(t, string(page), compare.Warning)
	require.Equal(t, 4, strings.Count(string(page), "<svg "))

	s.Out = s.Source.Path // never what is read
	_, err = compare.Run(background, s, session.Options{})
	require.True(t, session.IsSpec(err), err)
}

var tag = regexp.MustCompile(`<(/?)([a-zA-Z][a-zA-Z0-9]*)[^>]*?(/?)>`)

// valid finds elements of a page that do not end, ids that are there twice, and what a page that needs nothing else has not.
func valid(t *testing.T, page string) {
	body := regexp.MustCompile(`(?s)<style>.*?</style>`).ReplaceAllString(page, "")
	require.NotContains(t, page, "<script")
	require.NotContains(t, strings.ReplaceAll(page, `xmlns="http://www.w3.org/2000/svg"`, ""), "http")
	var open []string
	for _, m := range tag.FindAllStringSubmatch(body, -1) {
		switch name := m[2]; {
		case m[1] == "/":
			require.NotEmpty(t, open)
			require.Equal(t, open[len(open)-1], name)
			open = open[:len(open)-1]
		case m[3] == "/" || name == "meta":
		default:
			open = append(open, name)
		}
	}
	require.Empty(t, open)
	ids := regexp.MustCompile(` id="([^"]*)"`).FindAllStringSubmatch(body, -1)
	seen := make(map[string]bool)
	for _, id := range ids {
		require.False(t, seen[id[1]], id[1])
		seen[id[1]] = true
	}
	require.NotEmpty(t, ids)
}

func TestNamesAreEscaped(t *testing.T) {
	s := spec(t, strings.ReplaceAll(strings.ReplaceAll(base, "row,", "<b>row,"), "A,", "<i>A,"))
	s.Config.Table[0].Name = "<b>row"
	s.Methods = []string{"none"}
	s.Page = filepath.Join(t.TempDir(), "out.html")
	run(t, s)
	page, err := os.ReadFile(s.Page)
	require.NoError(t, err)
	valid(t, string(page))
	require.NotContains(t, string(page), "<b>row")
	require.NotContains(t, string(page), "<i>A")
}

func TestSumsOfAResponse(t *testing.T) {
	s := spec(t, "row,column,n,v\na,x,1,10.5\na,y,5,50.0\nb,x,7,70.0\nb,y,7,71.5\n")
	s.Source.Columns.Value = "v"
	s.Config.Decimals = 1
	s.Config.Rules[0].N = new(2)
	s.Methods = []string{"optimal", "rounding"}
	s.Bases = []int64{50}
	out := run(t, s)
	require.Equal(t, "v", out.Response)
	require.Nil(t, out.Rows[0].SAP)
	near(t, 202, out.Rows[0].LossValue, 1e-9) // all four
	near(t, 4, out.Rows[0].LossUnity, 0)
	require.LessOrEqual(t, *out.Rows[1].MaxChange, 4.9) // in units of the response, not of its last decimal
	require.Greater(t, *out.Rows[1].MaxChange, 0.)
}

func TestRefusals(t *testing.T) {
	for _, c := range []struct {
		change func(*compare.Spec)
		grid   string
		says   string
	}{
		{change: func(s *compare.Spec) { s.Methods = []string{"optimall"} }, says: "did you mean optimal?"},
		{change: func(s *compare.Spec) { s.Model = "row + colum" }, says: "colum"},
		{change: func(s *compare.Spec) { s.Config.Rules = []protect.Rule{{Rule: "contiguous"}}; s.Least = []int64{3} }, says: "n is that of the rule min"},
		{change: func(s *compare.Spec) { s.Config.Rules = nil }, says: "no rule says which cells disclose"},
		{change: func(s *compare.Spec) { s.Out = "out.txt" }, says: "cannot tell the format"},
		{change: func(s *compare.Spec) { s.Replicates = 1e6 }, says: "replicates"},
		{grid: "method: optimal", says: "the grid must be a list"},
		{grid: "- {method: optimal, width: 3}", says: `a method has no field "width"`},
		{grid: "- {method: best}", says: "grid.yaml:1"},
		{grid: "- {base: 5}", says: "is not named"},
		{grid: "- {method: rounding, base: 1}", says: "at least 2"},
		{grid: "[]", says: "the grid has no methods"},
		{grid: "- {method: optimal, table: [row]}", says: `no field "table"`},
	} {
		s := spec(t, base)
		if c.change != nil {
			c.change(&s)
		}
		if c.grid != "" {
			s.Grid = filepath.Join(t.TempDir(), "grid.yaml")
			require.NoError(t, os.WriteFile(s.Grid, []byte(c.grid), 0o666))
		}
		_, err := compare.Run(background, s, session.Options{})
		require.ErrorContains(t, err, c.says)
		require.True(t, session.IsSpec(err), err)
	}
	ended, cancel := context.WithCancel(background)
	cancel()
	_, err := compare.Run(ended, spec(t, base), session.Options{})
	require.ErrorIs(t, err, context.Canceled)
}

// Runs of a method that is left to chance are one group, with the spread of their figures.
func TestGroups(t *testing.T) {
	at := func(method string, replicate int64, loss float64) *compare.Row {
		return &compare.Row{Method: method, Variant: "base 3", Replicate: replicate, LossZero: &loss, Hidden: new(int64), Status: compare.StatusOK}
	}
	out := &compare.Outcome{Rows: []*compare.Row{at("random", 1, 2), at("random", 2, 6), at("random", 3, 1), at("rounding", 1, 4)}}
	out.Rows[2].Status = compare.StatusUnsafe
	groups := out.Groups()
	require.Len(t, groups, 2)
	require.Equal(t, "random, base 3", groups[0].Name())
	loss := func(r *compare.Row) *float64 { return r.LossZero }
	require.Equal(t, compare.Spread{Mean: 3, Low: 1, High: 6}, groups[0].Of(loss))
	require.Equal(t, "3 (1 to 6)", groups[0].Of(loss).Text(compare.Short))
	require.Equal(t, "4", groups[1].Of(loss).Text(compare.Short))
	require.Equal(t, compare.StatusUnsafe, groups[0].Status()) // one that fails is told
	require.True(t, groups[0].Of(compare.SAPAfter).Missing())
	require.Empty(t, groups[0].Of(compare.SAPAfter).Text(compare.Short))
}
