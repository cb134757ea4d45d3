package tables_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"microrisk/operators/audit"
	"microrisk/operators/protect"
	"microrisk/operators/recode"
	"microrisk/pipeline"
	"microrisk/pipeline/session"
	"microrisk/pipeline/tables"
	"microrisk/schemas"
)

// run protects the records of a file.
func run(ctx interface {
	require.TestingT
	Helper()
}, source string, c *protect.Config) (*protect.Summary, error) {
	ctx.Helper()
	spec := &schemas.Spec{Source: schemas.Source{Path: []string{source}}, Operators: []schemas.Operator{{Config: c}}}
	o, err := pipeline.Run(background, spec, session.Options{})
	if err != nil {
		return nil, err
	}
	return o.Summary.Operators["protect"].(*protect.Summary), nil
}

func variables(names ...string) []schemas.KeyVariable {
	var list []schemas.KeyVariable
	for _, n := range names {
		list = append(list, schemas.KeyVariable{Name: n})
	}
	return list
}

// read is a table by its cells: the columns after the first so many.
func read(t require.TestingT, path string, keys int) map[string]map[string]string {
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	rows, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
	require.NoError(t, err)
	cells := make(map[string]map[string]string)
	for _, row := range rows[1:] {
		cell := make(map[string]string)
		for i, name := range rows[0][keys:] {
			cell[name] = row[keys+i]
		}
		cells[strings.Join(row[:keys], "|")] = cell
	}
	return cells
}

// internal is the internal table of a folder.
func internal(t require.TestingT, folder string, keys int) map[string]map[string]string {
	out := filepath.Join(folder, "cells.csv")
	spec := &schemas.Spec{Source: schemas.Source{Path: []string{filepath.Join(folder, "cells.parquet")}}, Sink: schemas.Sink{Path: out},
		Operators: []schemas.Operator{{Config: &recode.Config{{Name: "_", From: "status", Truncate: 1, Keep: new(false)}}}}}
	_, err := pipeline.Run(background, spec, session.Options{})
	require.NoError(t, err)
	return read(t, out, keys)
}

// A record of the oracle.
type record struct {
	area, sex, holder string
	value             int64 // hundredths
	weight            float64
}

var parents = map[string]string{"n1": "north", "n2": "north", "s1": "south"}

// expected adds records up cell by cell, by what the specification says.
func expected(list []record, weighted, heavy, held bool) map[string]map[string]string {
	type sums struct {
		count  int
		value  float64
		shares []float64
		by     map[string]float64
	}
	all := make(map[string]*sums)
	leaf := make(map[string]float64) // values of the finest cells
	for _, r := range list {
		if weighted {
			leaf[r.area+"|"+r.sex] += float64(r.value) * r.weight
		} else {
			leaf[r.area+"|"+r.sex] += float64(r.value)
		}
		for _, area := range []string{r.area, parents[r.area], "Total"} {
			for _, sex := range []string{r.sex, "Total"} {
				s := all[area+"|"+sex]
				if s == nil {
					s = &sums{by: make(map[string]float64)}
					all[area+"|"+sex] = s
				}
				s.count++
				w := 1.0
				if weighted {
					w = r.weight
				}
				s.by[r.holder] += float64(r.value)
				for ; heavy && w > 0; w-- {
					s.shares = append(s.shares, math.Round(float64(r.value)*min(w, 1)))
				}
				if !heavy {
					s.shares = append(s.shares, float64(r.value))
				}
			}
		}
	}
	cells := make(map[string]map[string]string)
	text := func(v float64) string { return strconv.FormatFloat(math.Round(v)/100, 'f', 2, 64) }
	for key, v := range leaf { // rounded once, and then added up
		area, sex, _ := strings.Cut(key, "|")
		for _, area := range []string{area, parents[area], "Total"} {
			for _, sex := range []string{sex, "Total"} {
				all[area+"|"+sex].value += math.Round(v)
			}
		}
	}
	for key, s := range all {
		c := map[string]string{"count": fmt.Sprint(s.count), "contributors": fmt.Sprint(s.count), "value": text(s.value)}
		shares := s.shares
		if held {
			shares = slices.Collect(maps.Values(s.by))
			c["contributors"] = fmt.Sprint(len(s.by))
		}
		slices.Sort(shares)
		slices.Reverse(shares)
		shares = append(shares, 0, 0)
		for k := range 2 {
			if c[fmt.Sprint("top_", k+1)] = text(shares[k]); k >= len(shares)-2 {
				c[fmt.Sprint("top_", k+1)] = ""
			}
		}
		cells[key] = c
	}
	return cells
}

// What rules look at is what the records add up to, however the records are held and weighed.
func TestCellsAgainstRecords(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "area.hrc"), []byte("north\n@n1\n@n2\nsouth\n@s1\n"), 0o666))
	rapid.Check(t, func(t *rapid.T) {
		weighted, held := rapid.Bool().Draw(t, "weighted"), rapid.Bool().Draw(t, "held")
		heavy := weighted && !held && rapid.Bool().Draw(t, "heavy")
		var list []record
		var text strings.Builder
		text.WriteString("area,sex,holder,value,weight\n")
		for range rapid.IntRange(1, 25).Draw(t, "records") {
			r := record{rapid.SampledFrom([]string{"n1", "n2", "s1"}).Draw(t, "area"), rapid.SampledFrom([]string{"f", "m"}).Draw(t, "sex"),
				rapid.SampledFrom([]string{"a", "b", "c", "d"}).Draw(t, "holder"), rapid.Int64Range(0, 400).Draw(t, "value"), 1}
			if weighted {
				r.weight = float64(rapid.IntRange(1, 12).Draw(t, "weight")) / 4
			}
			if heavy { // records of one value and cell are taken together, so that their weights are whole together
				r.weight = math.Ceil(r.weight)
			}
			list = append(list, r)
			fmt.Fprintf(&text, "%s,%s,%s,%s,%v\n", r.area, r.sex, r.holder, strconv.FormatFloat(float64(r.value)/100, 'f', -1, 64), r.weight)
		}
		source := filepath.Join(dir, "records.csv")
		require.NoError(t, os.WriteFile(source, []byte(text.String()), 0o666))
		c := &protect.Config{
			Table:       variables("area", "sex"),
			Hierarchies: map[string]string{"area": filepath.Join(dir, "area.hrc")},
			Response:    "value",
			Decimals:    2,
			Rules:       []protect.Rule{{Rule: "min", N: new(1)}},
			Method:      "none",
			Out:         filepath.Join(dir, "public.csv"),
			Inside:      filepath.Join(dir, "inside"),
		}
		if held {
			c.Contributor = "holder"
		}
		if weighted {
			c.Weight, c.TotalOnly = "weight", !heavy
		}
		s, err := run(t, source, c)
		require.NoError(t, err)
		require.Zero(t, s.Hidden)
		got := internal(t, c.Inside, 2)
		want := expected(list, weighted, heavy, held)
		require.Len(t, got, len(want))
		for key, w := range want {
			for column, v := range w {
				require.Equal(t, v, got[key][column], "%s of %s in\n%s", column, key, text.String())
			}
		}
		// What is published is the truth where nothing is hidden.
		for key, cell := range read(t, c.Out, 2) {
			require.Equal(t, want[key]["value"], cell["value"])
		}
	})
}

// Nothing in a public file tells the rule, its parameters, the method, or a hidden value.
func TestPublicFileLeaksNothing(t *testing.T) {
	dir := t.TempDir()
	var text strings.Builder
	text.WriteString("area,sex,value,holder\n")
	for i := range 400 {
		fmt.Fprintf(&text, "area%d,%s,%d,h%d\n", i%20, []string{"f", "m"}[i/20%2], 100003+7919*(i*i%997), i%60)
	}
	source := filepath.Join(dir, "records.csv")
	require.NoError(t, os.WriteFile(source, []byte(text.String()), 0o666))
	for _, ending := range []string{"csv", "parquet", "arrow"} {
		c := &protect.Config{
			Table:       variables("area", "sex"),
			Response:    "value",
			Contributor: "holder",
			Rules:       []protect.Rule{{Rule: "p%", P: new(37.25)}, {Rule: "min", N: new(9)}},
			Method:      "optimal",
			Cost:        "contributors",
			Out:         filepath.Join(dir, "public."+ending),
			Inside:      filepath.Join(dir, "inside"),
			Margins:     "none",
		}
		s, err := run(t, source, c)
		require.NoError(t, err)
		require.Positive(t, s.Hidden)
		public, err := os.ReadFile(c.Out)
		require.NoError(t, err)
		hidden := 0
		for key, cell := range internal(t, c.Inside, 2) {
			if cell["published"] != "" {
				continue
			}
			hidden++
			v, err := strconv.ParseInt(cell["value"], 10, 64)
			require.NoError(t, err)
			require.NotContains(t, string(public), cell["value"], key)
			for _, form := range [][]byte{binary64(v), binary64big(v)} {
				require.False(t, bytes.Contains(public, form), "the value of %s is in the file", key)
			}
		}
		require.Equal(t, s.Hidden, hidden)
		for _, word := range []string{"37.25", "optimal", "contributors", "unsafe", "secondary", "holder", "inside", "p%"} {
			require.NotContains(t, string(public), word)
		}
	}
}

// The files of a run are the same for any number of workers.
func TestProtectIsDeterministic(t *testing.T) {
	dir := t.TempDir()
	var text strings.Builder
	text.WriteString("area,sex,age\n")
	for i := range 900 {
		fmt.Fprintf(&text, "a%d,%d,%d\n", i*i%17, i%2, i*i*i%11)
	}
	source := filepath.Join(dir, "records.csv")
	require.NoError(t, os.WriteFile(source, []byte(text.String()), 0o666))
	var before []byte
	for _, workers := range []int{1, 2, 5} {
		c := &protect.Config{Table: variables("area", "sex", "age"), Rules: []protect.Rule{{Rule: "min", N: new(3)}}, Solver: "embedded", Nodes: new(20),
			Out: filepath.Join(dir, "public.parquet"), Inside: filepath.Join(dir, "inside")}
		spec := &schemas.Spec{Source: schemas.Source{Path: []string{source}}, Operators: []schemas.Operator{{Config: c}}}
		_, err := pipeline.Run(background, spec, session.Options{Workers: workers})
		require.NoError(t, err)
		public, err := os.ReadFile(c.Out)
		require.NoError(t, err)
		if before != nil {
			require.Equal(t, before, public)
		}
		before = public
	}
}

// A protected table passes the audit of its own files, and fails it when a hidden cell is given away.
func TestAudit(t *testing.T) {
	dir := t.TempDir()
	source := filepath.Join(dir, "table.csv")
	require.NoError(t, os.WriteFile(source, []byte(baseTable), 0o666))
	c := &protect.Config{
		Table:   variables("v1", "v2"),
		Rules:   []protect.Rule{{Rule: "min", N: new(5)}},
		Margins: "all",
		Out:     filepath.Join(dir, "public.csv"),
		Inside:  filepath.Join(dir, "inside"),
	}
	s, err := tables.Protect(background, source, c, &protect.Columns{Count: "n"}, session.Options{})
	require.NoError(t, err)
	require.Equal(t, 3, s.Unsafe)
	require.Equal(t, int64(76), s.Cost, "TV-N2, plus and minus 30 per cent: secondaries of 76 people")
	require.True(t, s.Proven)
	try := func() (*audit.Audit, error) {
		return tables.RunAudit(background, tables.AuditSpec{Public: c.Out, Truth: c.Inside}, session.Options{})
	}
	a, err := try()
	require.NoError(t, err)
	require.Equal(t, 8, a.Hidden)
	require.Empty(t, a.Report.Failed())
	out := filepath.Join(dir, "found.csv")
	_, err = tables.RunAudit(background, tables.AuditSpec{Public: c.Out, Truth: c.Inside, Out: out, All: true}, session.Options{})
	require.NoError(t, err)
	// A hidden cell is not empty, as empty ones are not in files: each interval of TV-N2 is that of parts of at least 1.
	for key, want := range map[string]string{"A|F": "1 17 pass", "B|E": "1 18 pass", "C|H": "1 11 pass", "A|E": "6 23 ", "A|H": "11 21 ", "B|F": "1 " +
		"17 ", "B|G": "9 19 ", "C|G": "1 11 "} {
		cell := read(t, out, 2)[key]
		require.Equal(t, want, cell["lower"]+" "+cell["upper"]+" "+cell["audit"], "TV-N2, the pattern of 84: %s", key)
	}
	_, err = tables.RunAudit(background, tables.AuditSpec{Public: c.Out, Truth: c.Inside, Out: out, Config: protect.Config{Beforehand: "nothing"}},
		session.Options{})
	require.NoError(t, err)
	for key, want := range map[string]string{"A|F": "0 18", "B|E": "0 20", "C|H": "0 12"} {
		cell := read(t, out, 2)[key]
		require.Equal(t, want, cell["lower"]+" "+cell["upper"], "TV-N2, the pattern of 84: %s", key)
	}
	public, err := os.ReadFile(c.Out)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(c.Out, bytes.Replace(public, []byte("A,H,,x"), []byte("A,H,18,"), 1), 0o666))
	a, err = try()
	require.NoError(t, err)
	require.NotEmpty(t, a.Report.Failed(), "one cell less is hidden")
	require.NoError(t, os.WriteFile(c.Out, bytes.Replace(public, []byte("A,E,,x"), []byte("A,E,24,"), 1), 0o666))
	_, err = try()
	require.ErrorContains(t, err, "1 published values are not the true ones")
}

// What attackers do not know beforehand need not be hidden from them: an audit by what they do know finds it.
func TestBeforehand(t *testing.T) {
	dir := t.TempDir()
	source := filepath.Join(dir, "table.csv")
	require.NoError(t, os.WriteFile(source, []byte("a,b,n\nx,1,1\nx,2,1\ny,1,1\ny,2,1\n"), 0o666))
	c := &protect.Config{Table: variables("a", "b"), Rules: []protect.Rule{{Rule: "min", N: new(2)}}, Insider: "off", Solver: "embedded",
		Out: filepath.Join(dir, "public.csv"), Inside: filepath.Join(dir, "inside")}
	_, err := tables.Protect(background, source, c, &protect.Columns{Count: "n"}, session.Options{})
	require.ErrorContains(t, err, "cannot be protected", "four ones and their total of 4: whoever knows that none is empty knows all")
	c.Beforehand = "nothing"
	_, err = tables.Protect(background, source, c, &protect.Columns{Count: "n"}, session.Options{})
	require.NoError(t, err)
	a, err := tables.RunAudit(background, tables.AuditSpec{Public: c.Out, Truth: c.Inside}, session.Options{})
	require.NoError(t, err)
	require.Empty(t, a.Report.Failed())
	a, err = tables.RunAudit(background, tables.AuditSpec{Public: c.Out, Truth: c.Inside, Config: protect.Config{Beforehand: "occupied"}}, session.Options{})
	require.NoError(t, err)
	require.Len(t, a.Report.Failed(), 4)
}

// T0 of Miller 2005, table 2.1.3.
const baseTable = `v1,v2,n
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

// Sums of rounded parts may be off by half a unit for each cell, or by what is said.
func TestReadyTablesTolerance(t *testing.T) {
	dir := t.TempDir()
	source := filepath.Join(dir, "table.csv")
	for off, refused := range map[string]bool{"10.0": false, "10.1": false, "10.2": true} { // two parts and a total: 0.15
		require.NoError(t, os.WriteFile(source, []byte("v1,v\na,4.0\nb,6.0\nTotal,"+off+"\n"), 0o666))
		for _, tolerance := range []*float64{nil, new(0.0), new(5.0)} {
			c := &protect.Config{
				Table:    variables("v1"),
				Decimals: 1,
				Rules:    []protect.Rule{{Rule: "concentration", Unknown: "v1", P: new(100.0)}},
				Method:   "none",
				Out:      filepath.Join(dir, "public.csv"),
				Inside:   filepath.Join(dir, "inside"),
			}
			_, err := tables.Protect(background, source, c, &protect.Columns{Value: "v", Tolerance: tolerance}, session.Options{})
			want := refused && tolerance == nil || off != "10.0" && tolerance != nil && *tolerance == 0
			require.Equal(t, want, err != nil, "%s %v %v", off, tolerance, err)
			if want {
				require.ErrorContains(t, err, "does not add up")
			}
		}
	}
}

// What a table must not be, and what is said of it.
func TestReadyTablesRefuse(t *testing.T) {
	for name, c := range map[string]struct {
		text, says string
		columns    protect.Columns
		rules      []protect.Rule
	}{
		"not additive":         {baseTable + "Total,Total,405\n", "[Total, Total] is 405, and its parts add up to 404", protect.Columns{Count: "n"}, nil},
		"count 0 with a value": {"v1,v2,n,v\nA,E,0,5\nA,F,5,7\n", "n is 0, and v is not", protect.Columns{Count: "n", Value: "v"}, nil},
		"no value":             {"v1,v2,n,v\nA,E,4,\nA,F,5,7\n", "it has no v", protect.Columns{Count: "n", Value: "v"}, nil},
		"max beyond the value": {"v1,v2,n,v\nA,E,4,5\nA,F,5,7\n", "more than its value (v)", protect.Columns{Count: "n", Value: "n", Max: "v"}, nil},
		"negative count":       {strings.Replace(baseTable, ",23", ",-23", 1), "n is -23", protect.Columns{Count: "n"}, nil},
		"no number":            {strings.Replace(baseTable, ",23", ",many", 1), "n is", protect.Columns{Count: "n"}, nil},
		"twice":                {baseTable + "A,E,23\n", "has the cell [A, E] twice", protect.Columns{Count: "n"}, nil},
		"no such column":       {baseTable, `there is no column "m"; did you mean "n"?`, protect.Columns{Count: "m"}, nil},
		"p% without max":       {baseTable, "the rule p% needs the largest contribution", protect.Columns{Count: "n", Value: "n"}, []protect.Rule{{Rule: "p%"}}},
		"three largest":        {baseTable, "the rule dominance needs the 3 largest", protect.Columns{Count: "n", Value: "n"}, []protect.Rule{{Rule: "dominance"}}},
		"totals alone":         {"v1,v2,n\nTotal,Total,4\n", "has totals of v1 alone", protect.Columns{Count: "n"}, nil},
		"odd status":           {"v1,v2,n,s\nA,E,4,sure\n", `its status is "sure"`, protect.Columns{Count: "n", Status: "s"}, nil},
		"fraction":             {strings.Replace(baseTable, ",23", ",23.5", 1), "is no whole number", protect.Columns{Count: "n"}, nil},
		"a flat table of levels": {
			"v1,v2,n\nTotal,Total,8\nnorth,Total,8\na,Total,8\nb,Total,0\nnorth,x,8\na,x,8\n", "If codes have subtotals among them", protect.Columns{Count: "n"}, nil,
		},
		"further decimals": {"v1,v2,n\nA,E,0.125\nB,E,2\n", "0.125 has more than 0 decimals", protect.Columns{Value: "n"}, []protect.Rule{{Rule: "contiguous"}}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			source := filepath.Join(dir, "table.csv")
			require.NoError(t, os.WriteFile(source, []byte(c.text), 0o666))
			rules := c.rules
			if rules == nil {
				rules = []protect.Rule{{Rule: "min", N: new(5)}}
			}
			out := filepath.Join(dir, "public.csv")
			_, err := tables.Protect(
				background,
				source,
				&protect.Config{Table: variables("v1", "v2"), Rules: rules, Out: out, Inside: filepath.Join(dir, "inside")},
				&c.columns,
				session.Options{},
			)
			require.ErrorContains(t, err, c.says)
			require.NoFileExists(t, out)
			require.NoDirExists(t, filepath.Join(dir, "inside"))
		})
	}
}

// A table that cannot be made safe is not published, and the error says why.
func TestUnsafeTablesAreNotPublished(t *testing.T) {
	dir := t.TempDir()
	source := filepath.Join(dir, "table.csv")
	require.NoError(t, os.WriteFile(source, []byte("v1,v2,n\nA,E,9\nA,F,0\nB,E,8\nB,F,2\n"), 0o666))
	for method, says := range map[string]string{
		"optimal": "cannot be protected: in the sum of", "none": "nothing is published: anybody knows [Total, F] exactly", "hand": "anybody knows [B, F] exactly",
	} {
		c := &protect.Config{
			Table:   variables("v1", "v2"),
			Rules:   []protect.Rule{{Rule: "min"}},
			Margins: "all",
			Method:  method,
			Out:     filepath.Join(dir, "public.csv"),
			Inside:  filepath.Join(dir, "inside"),
		}
		*c = c.For(method) // margins are looked at by one of them
		_, err := tables.Protect(background, source, c, &protect.Columns{Count: "n"}, session.Options{})
		require.ErrorContains(t, err, says)
		require.NoFileExists(t, c.Out)
	}
}

// A status of a ready-made table makes cells unsafe, or keeps them from being hidden; it does not make safe what a rule finds.
func TestStatusesOfReadyTables(t *testing.T) {
	dir := t.TempDir()
	source := filepath.Join(dir, "table.csv")
	text := strings.NewReplacer("n\n", "n,s\n", "B,E,1\n", "B,E,1,P\n", "C,H,4\n", "C,H,4,S\n", "A,E,23\n", "A,E,23,U\n", "D,E,19\n", "D,E,19,protected\n").
		Replace(baseTable)
	text = regexp.MustCompile(`(?m)^(\w,\w,\d+)$`).ReplaceAllString(text, "$1,")
	require.NoError(t, os.WriteFile(source, []byte(text), 0o666))
	c := &protect.Config{Table: variables("v1", "v2"), Rules: []protect.Rule{{Rule: "min", N: new(5)}}, Margins: "none",
		Out: filepath.Join(dir, "public.csv"), Inside: filepath.Join(dir, "inside")}
	_, err := tables.Protect(background, source, c, &protect.Columns{Count: "n", Status: "s"}, session.Options{})
	require.NoError(t, err)
	cells := internal(t, c.Inside, 2)
	for key, want := range map[string]string{"B|E": "unsafe_frequency", "C|H": "unsafe_frequency", "A|E": "unsafe_manual", "D|E": "protected"} {
		require.Equal(t, want, cells[key]["status"], key)
	}
}

// What is hidden by hand stays hidden, and what is protected by hand is not hidden, whatever method goes on.
func TestSaidByHand(t *testing.T) {
	dir := t.TempDir()
	source, said := filepath.Join(dir, "table.csv"), filepath.Join(dir, "said.csv")
	require.NoError(t, os.WriteFile(source, []byte(baseTable), 0o666))
	require.NoError(t, os.WriteFile(said, []byte("v1,v2,set,reason,name\nD,G,hidden,asked for,A. B.\nA,E,protected,,\nC,H,safe,,\n"), 0o666))
	for _, method := range []string{"optimal", "hypercube", "network", "modular"} {
		c := &protect.Config{Table: variables("v1", "v2"), Rules: []protect.Rule{{Rule: "min", N: new(5)}}, Margins: "all", Method: method, Overrides: said,
			Out: filepath.Join(dir, "public.csv"), Inside: filepath.Join(dir, "inside")}
		_, err := tables.Protect(background, source, c, &protect.Columns{Count: "n"}, session.Options{})
		require.NoError(t, err, method)
		cells := internal(t, c.Inside, 2)
		for key, want := range map[string]string{"D|G": "secondary_manual", "A|E": "protected", "C|H": "safe_manual", "B|E": "unsafe_frequency"} {
			if key == "C|H" && cells[key]["status"] == "secondary" {
				continue // safe, but it may be hidden for others
			}
			require.Equal(t, want, cells[key]["status"], "%s %s", method, key)
			require.Equal(t, key == "D|G" || key == "B|E", cells[key]["published"] == "", "%s %s", method, key)
		}
		text, err := os.ReadFile(filepath.Join(c.Inside, "log.json"))
		require.NoError(t, err)
		require.Contains(t, string(text), "asked for")
	}
}

// The log is what an audit reads.
func TestLog(t *testing.T) {
	dir := t.TempDir()
	source := filepath.Join(dir, "table.csv")
	require.NoError(t, os.WriteFile(source, []byte(baseTable), 0o666))
	c := &protect.Config{
		Table:  variables("v1", "v2"),
		Rules:  []protect.Rule{{Rule: "min", N: new(5), Inclusive: true}},
		Method: "rounding",
		Base:   5,
		Out:    filepath.Join(dir, "public.csv"),
		Inside: filepath.Join(dir, "inside"),
	}
	s, err := tables.Protect(background, source, c, &protect.Columns{Count: "n"}, session.Options{})
	require.NoError(t, err)
	require.Equal(t, int64(40), s.Cost, "TV-P5")
	text, err := os.ReadFile(filepath.Join(c.Inside, "log.json"))
	require.NoError(t, err)
	var l protect.Log
	require.NoError(t, json.Unmarshal(text, &l))
	require.Equal(t, []string{"minimum frequency 5 (unsafe up to 5)"}, l.Rules)
	require.Equal(t, &protect.LoggedRounds{Base: 5, Changed: 23, Controlled: true}, l.Rounding)
	a, err := tables.RunAudit(background, tables.AuditSpec{Public: c.Out, Truth: c.Inside}, session.Options{})
	require.NoError(t, err)
	require.Empty(t, a.Report.Failed())
	require.Equal(t, 23, a.Changed)
}

// Where values may be negative no cell has an end beforehand; values of many digits are audited all the same.
func TestNegativeValues(t *testing.T) {
	dir := t.TempDir()
	source := filepath.Join(dir, "table.csv")
	text := "v1,v2,v3,n,x\n"
	for i, row := range strings.Split(strings.TrimSpace(baseTable), "\n")[1:] {
		f := strings.Split(row, ",")
		for k, v3 := range []string{"p", "q"} {
			text += fmt.Sprintf("%s,%s,%s,%s,%d.%06d\n", f[0], f[1], v3, f[2], 1000*(i-3)*(k+1), i*i*i)
		}
	}
	require.NoError(t, os.WriteFile(source, []byte(strings.ReplaceAll(text, ",0.000027", ",-0.000027")), 0o666))
	for _, method := range []string{"hypercube", "optimal"} {
		c := &protect.Config{Table: variables("v1", "v2", "v3"), Rules: []protect.Rule{{Rule: "min", N: new(5)}}, Absolute: true, Decimals: 6, Method: method,
			Margins: "none", Out: filepath.Join(dir, method+".csv"), Inside: filepath.Join(dir, method)}
		s, err := tables.Protect(background, source, c, &protect.Columns{Count: "n", Value: "x"}, session.Options{})
		require.NoError(t, err)
		require.Equal(t, 7, s.Unsafe, "three cells by both values of v3, and one of their totals")
		a, err := tables.RunAudit(background, tables.AuditSpec{Public: c.Out, Truth: c.Inside}, session.Options{})
		require.NoError(t, err)
		require.Empty(t, a.Report.Failed())
	}
}
