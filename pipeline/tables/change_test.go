package tables_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"microrisk/operators/protect"
	"microrisk/pipeline"
	"microrisk/pipeline/session"
	"microrisk/pipeline/tables"
	"microrisk/schemas"
)

// changing are methods that change values, or publish intervals, of counts.
func changing() map[string]protect.Config {
	scheme := func(text string) protect.Changing {
		p, err := schemas.ParseScheme(text)
		if err != nil {
			panic(err)
		}
		return protect.Changing{Perturb: p}
	}
	return map[string]protect.Config{
		"random":         {Method: "perturbation", Changing: scheme("random:base=3")},
		"noise":          {Method: "perturbation", Table: variables("area", "age"), Changing: scheme("noise")},
		"normal":         {Method: "perturbation", Changing: scheme("normal:sd=1.5:reach=3:negative=reflect")},
		"barnard":        {Method: "perturbation", Table: variables("area", "age"), Changing: scheme("barnard:probability=0.6")},
		"isd":            {Method: "perturbation", Changing: scheme("isd")},
		"adjustment":     {Method: "adjustment", Margins: "none"},
		"partial":        {Method: "partial", Margins: "none"},
		"multiplicative": {Method: "multiplicative", Changing: protect.Changing{SD: new(0.15625), Reach: new(3.)}},
		"abs":            {Method: "abs", Table: variables("area", "age")}, // by sex too the rule gives some away
		"view":           {Method: "optimal", Margins: "none", Changing: protect.Changing{View: "intervals"}},
	}
}

// scheme protects the base table by a scheme, with nothing unsafe in it, and gives its cells.
func schemed(t *testing.T, c protect.Config, text string) map[string]map[string]string {
	dir := t.TempDir()
	source := filepath.Join(dir, "table.csv")
	require.NoError(t, os.WriteFile(source, []byte(baseTable), 0o666))
	p, err := schemas.ParseScheme(text)
	require.NoError(t, err)
	c.Method, c.Perturb, c.Table, c.Rules = "perturbation", p, variables("v1", "v2"), []protect.Rule{{Rule: "min", N: new(1)}}
	c.Out, c.Inside = filepath.Join(dir, "public.csv"), filepath.Join(dir, "inside")
	_, err = tables.Protect(background, source, &c, &protect.Columns{Count: "n"}, session.Options{})
	require.NoError(t, err)
	_, err = tables.RunAudit(background, tables.AuditSpec{Public: c.Out, Truth: c.Inside}, session.Options{})
	require.NoError(t, err)
	return read(t, c.Out, 2)
}

// at is the table as its source writes it: rows of cells, a total at the end of each and a row of totals at the end.
func at(cells map[string]map[string]string) string {
	var lines []string
	for _, row := range []string{"A", "B", "C", "D", "Total"} {
		var line []string
		for _, column := range []string{"E", "F", "G", "H", "Total"} {
			v := cells[row+"|"+column]["value"]
			if v == "" {
				v = "0" // it has no row
			}
			line = append(line, v)
		}
		lines = append(lines, strings.Join(line, ","))
	}
	return strings.Join(lines, " ")
}

const truth = "23,3,37,18,81 1,15,12,119,147 54,43,8,4,109 19,16,22,10,67 97,77,79,151,404"

// Schemes that leave nothing to chance.
func TestVectorsOfSchemes(t *testing.T) {
	for scheme, want := range map[string]string{
		"conventional:base=5":         "25,5,35,20,80 0,15,10,120,145 55,45,10,5,110 20,15,20,10,65 95,75,80,150,405", // TV-P3
		"conventional:base=3":         "24,3,36,18,81 0,15,12,120,147 54,42,9,3,108 18,15,21,9,66 96,78,78,150,405",
		"conventional:base=10:tie=up": "20,0,40,20,80 0,20,10,120,150 50,40,10,0,110 20,20,20,10,70 100,80,80,150,400",
		"census2000":                  "25,4,35,20,80 4,15,10,120,145 55,45,10,4,110 20,15,20,10,65 95,75,80,150,405", // TV-P7
	} {
		require.Equal(t, want, at(schemed(t, protect.Config{}, scheme)), scheme)
	}
}

// numbers are those of a table.
func numbers(text string) (list []int) {
	for row := range strings.SplitSeq(text, " ") {
		for v := range strings.SplitSeq(row, ",") {
			n, _ := strconv.Atoi(v)
			list = append(list, n)
		}
	}
	return list
}

// What is left to chance is one of the possible outcomes: TV-P1, TV-P4 and TV-P6.
func TestVectorsOfChance(t *testing.T) {
	x := numbers(truth)
	for range 5 {
		noise, random, isd := numbers(at(schemed(t, protect.Config{}, "noise"))), numbers(at(schemed(t, protect.Config{}, "random:base=5"))),
			numbers(at(schemed(t, protect.Config{}, "isd")))
		for i := range x {
			require.InDelta(t, x[i], noise[i], 1)
			require.Zero(t, random[i]%5)
			require.Less(t, max(random[i]-x[i], x[i]-random[i]), 5)
			row, column := i/5, i%5
			switch {
			case row == 4 || column == 4:
				sum := 0
				for j := range x {
					if j/5 < 4 && j%5 < 4 && (row == 4 || j/5 == row) && (column == 4 || j%5 == column) {
						sum += isd[j]
					}
				}
				require.Equal(t, sum, isd[i], "totals are sums")
			case x[i] == 3:
				require.Contains(t, []int{2, 3, 4}, isd[i])
			case x[i] == 1:
				require.Contains(t, []int{1, 2}, isd[i])
			case x[i] == 4:
				require.Contains(t, []int{3, 4}, isd[i])
			default:
				require.Equal(t, x[i], isd[i])
			}
		}
		require.Contains(t, []int{402, 403, 404, 405, 406}, isd[24])
	}
	own := schemed(t, protect.Config{Changing: protect.Changing{Totals: "own"}}, "isd")
	require.Equal(t, "404", own["Total|Total"]["value"], "a total of its own is no small count")
}

// persons are records "id,area,sex,age" of which a few cells are small.
func persons(t *testing.T, path string, r *rand.Rand) []string {
	lines := []string{"id,area,sex,age"}
	fixed := rand.New(rand.NewPCG(7, 7))
	for i := range 400 {
		lines = append(lines, fmt.Sprintf("p%d,a%d,%s,%d", i, fixed.IntN(4), []string{"f", "m"}[fixed.IntN(2)], min(fixed.IntN(5), fixed.IntN(5))))
	}
	if r != nil {
		r.Shuffle(len(lines)-1, func(i, j int) { lines[i+1], lines[j+1] = lines[j+1], lines[i+1] })
	}
	require.NoError(t, os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o666))
	return lines
}

// publish protects the people of a file, by a secret that is kept.
func publish(t *testing.T, dir, source string, c protect.Config, secret bool, o session.Options) ([]byte, error) {
	if c.Table == nil {
		c.Table = variables("area", "sex", "age")
	}
	c.Rules = []protect.Rule{{Rule: "min", N: new(6)}}
	if c.Out == "" {
		c.Out = filepath.Join(dir, "public.csv")
	}
	c.Inside = filepath.Join(dir, "inside")
	if protect.Looks(c.Method, "solver") {
		c.Solver = "embedded"
	}
	if secret && (c.Method == "perturbation" || c.Method == "multiplicative" || c.Method == "partial") {
		c.Secret = filepath.Join(dir, "secret")
		require.NoError(t, os.WriteFile(c.Secret, []byte("0123456789abcdef0123456789abcdef"), 0o600))
	}
	spec := &schemas.Spec{Source: schemas.Source{Path: []string{source}}, Operators: []schemas.Operator{{Config: &c}}}
	if _, err := pipeline.Run(background, spec, o); err != nil {
		return nil, err
	}
	text, err := os.ReadFile(c.Out)
	require.NoError(t, err)
	return text, nil
}

// keys is the number of variables of a table of persons.
func keys(c protect.Config) int {
	if c.Table == nil {
		return 3
	}
	return len(c.Table)
}

// fresh is a public table by a secret that is made, and is safe: noise that totals undo is drawn again.
func fresh(t *testing.T, dir, source string, c protect.Config) []byte {
	for range 50 {
		text, err := publish(t, dir, source, c, false, session.Options{})
		if err == nil {
			return text
		}
		require.ErrorContains(t, err, "the table is not safe")
	}
	t.Fatal("no table is safe")
	return nil
}

// The same records and the same secret make the same table, in whatever order they are read and by however many; another secret another one.
func TestChangesAreDeterministic(t *testing.T) {
	dir := t.TempDir()
	source := filepath.Join(dir, "people.csv")
	for name, c := range changing() {
		if name == "isd" {
			continue // counts above 4 are known, and nothing is published
		}
		t.Run(name, func(t *testing.T) {
			var before []byte
			for i, workers := range []int{1, 3, 2} {
				persons(t, source, rand.New(rand.NewPCG(1, uint64(i))))
				text, err := publish(t, dir, source, c, true, session.Options{Workers: workers})
				require.NoError(t, err)
				if before != nil {
					require.Equal(t, string(before), string(text))
				}
				before = text
			}
			if c.Method != "perturbation" && c.Method != "multiplicative" && c.Method != "partial" {
				return
			}
			one, other := fresh(t, dir, source, c), fresh(t, dir, source, c)
			require.NotEqual(t, string(one), string(other), "a secret that nobody knows is made for each table")
		})
	}
}

// A table is published only if its files pass the audit, by the verb as by the operator, which find the same.
func TestAuditOfChanges(t *testing.T) {
	dir := t.TempDir()
	source := filepath.Join(dir, "people.csv")
	persons(t, source, nil)
	for name, c := range changing() {
		t.Run(name, func(t *testing.T) {
			_, err := publish(t, dir, source, c, true, session.Options{})
			if name == "isd" {
				require.ErrorContains(t, err, "the table is not safe with the method perturbation")
				return
			}
			require.NoError(t, err)
			public, inside := filepath.Join(dir, "public.csv"), filepath.Join(dir, "inside")
			first := verbAndOperator(t, public, inside, name == "partial" || name == "view")
			n := keys(c)
			for key, cell := range internal(t, inside, n) { // as the audit before publishing found
				if found := read(t, first, n)[key]; cell["audit"] != "" {
					require.Equal(t, cell["audit_lower"]+","+cell["audit_upper"], found["lower"]+","+found["upper"], key)
				}
			}
		})
	}
}

// Nothing in a public file tells the method, its parameters, the secret, or a hidden value; the secret that was made is in the log alone.
func TestPublicFilesOfChangesLeakNothing(t *testing.T) {
	dir := t.TempDir()
	source := filepath.Join(dir, "people.csv")
	persons(t, source, nil)
	for name, c := range changing() {
		if name == "isd" {
			continue
		}
		for _, ending := range []string{"csv", "parquet", "arrow"} {
			c.Out = filepath.Join(dir, name+"."+ending)
			public := fresh(t, dir, source, c)
			words := []string{
				"random",
				"noise",
				"normal",
				"barnard",
				"adjust",
				"partial",
				"multipl",
				"abs",
				"optimal",
				"0.15625",
				"unsafe",
				"secondary",
				"secret",
				"inside",
				"rule",
				"spread",
				"scheme",
				"seed",
			}
			text, err := os.ReadFile(filepath.Join(dir, "inside", "log.json"))
			require.NoError(t, err)
			log := &protect.Log{}
			require.NoError(t, json.Unmarshal(text, log))
			if chance := c.Method == "perturbation" || c.Method == "multiplicative" || c.Method == "partial"; chance {
				require.Len(t, log.Change.Secret, 32, "128 bits")
				raw, err := hex.DecodeString(log.Change.Secret)
				require.NoError(t, err)
				words = append(words, log.Change.Secret, string(raw))
			}
			for _, word := range words {
				require.False(t, bytes.Contains(public, []byte(word)), "%s tells %q", c.Out, word)
			}
			if ending != "csv" {
				continue
			}
			for key, cell := range read(t, c.Out, keys(c)) {
				if cell["symbol"] != "" {
					require.Empty(t, cell["value"], key)
				}
				require.Subset(t, []string{"value", "symbol", "lower", "upper"}, slices.Collect(maps.Keys(cell)))
			}
		}
	}
}

// What a published table says against its truth is found out.
func TestAuditOfChangesFindsWhatIsWrong(t *testing.T) {
	dir := t.TempDir()
	source, public, inside := filepath.Join(dir, "people.csv"), filepath.Join(dir, "public.csv"), filepath.Join(dir, "inside")
	persons(t, source, nil)
	cells := changing()
	// change puts other values into the row of an unsafe cell.
	change := func(name, column string, value func(inside, cell map[string]string) string) error {
		_, err := publish(t, dir, source, cells[name], true, session.Options{})
		require.NoError(t, err)
		text, err := os.ReadFile(public)
		require.NoError(t, err)
		lines := strings.Split(string(text), "\n")
		header := strings.Split(lines[0], ",")
		all := internal(t, inside, keys(cells[name]))
		for _, key := range slices.Sorted(maps.Keys(all)) {
			cell := all[key]
			if n, _ := strconv.Atoi(cell["value"]); n < 3 {
				continue // everybody knows that it is at least 1
			}
			for i, line := range lines {
				parts := strings.Split(line, ",")
				if cell["audit"] == "" || !strings.HasPrefix(line, strings.ReplaceAll(key, "|", ",")+",") {
					continue
				}
				for j, c := range header {
					if c == column {
						parts[j] = value(cell, read(t, public, keys(cells[name]))[key])
						lines[i] = strings.Join(parts, ",")
						require.NoError(t, os.WriteFile(public, []byte(strings.Join(lines, "\n")), 0o666))
						a, err := tables.RunAudit(background, tables.AuditSpec{Public: public, Truth: inside}, session.Options{})
						if err != nil {
							return err
						}
						return a.Passed()
					}
				}
			}
		}
		t.Fatal("no unsafe cell is in the file")
		return nil
	}
	true_ := func(inside, _ map[string]string) string { return inside["value"] }
	require.ErrorContains(t, change("adjustment", "value", true_), "is not the sum of its parts")
	require.ErrorContains(
		t,
		change("random", "value", func(_, c map[string]string) string { return c["value"] + "1" }),
		"is none that was made of the true one",
	)
	require.ErrorContains(t, change("noise", "value", func(_, c map[string]string) string { return "500" }), "is none that was made of the true one by noise")
	require.ErrorContains(t, change("partial", "lower", true_), "the table is not safe")
	require.ErrorContains(t, change("partial", "upper", func(in, _ map[string]string) string { n, _ := strconv.Atoi(in["value"]); return fmt.Sprint(n - 1) }),
		"does not have its true value")
	require.ErrorContains(t, change("view", "lower", true_), "the table is not safe")
	require.ErrorContains(t, change("view", "lower", func(_, _ map[string]string) string { return "many" }), "is no number")
}

// A published interval has the true value and what its cell needs, tables that are adjusted add up, and what is published passes.
func TestChangesOfAnyTable(t *testing.T) {
	dir := t.TempDir()
	source := filepath.Join(dir, "table.csv")
	rapid.Check(t, func(t *rapid.T) {
		var text strings.Builder
		text.WriteString("v1,v2,n\n")
		for _, v1 := range []string{"a", "b", "c"} {
			for _, v2 := range []string{"x", "y", "z"} {
				fmt.Fprintf(&text, "%s,%s,%d\n", v1, v2, rapid.IntRange(0, 12).Draw(t, v1+v2))
			}
		}
		require.NoError(t, os.WriteFile(source, []byte(text.String()), 0o666))
		name := rapid.SampledFrom([]string{"random", "noise", "normal", "adjustment", "partial", "multiplicative", "abs", "view"}).Draw(t, "method")
		c := changing()[name]
		c.Table, c.Rules = variables("v1", "v2"), []protect.Rule{{Rule: "min", N: new(4)}}
		if protect.Looks(c.Method, "solver") {
			c.Solver = "embedded"
		}
		c.Out, c.Inside = filepath.Join(dir, "public.csv"), filepath.Join(dir, "inside")
		if rapid.Bool().Draw(t, "sliding") && protect.Looks(name, "sliding") {
			c.Sliding = new(2)
		}
		if _, err := tables.Protect(background, source, &c, &protect.Columns{Count: "n"}, session.Options{}); err != nil {
			require.Regexp(t, "not safe|cannot be protected|needs|has to move|zeros of the table", err.Error())
			return
		}
		a, err := tables.RunAudit(background, tables.AuditSpec{Public: c.Out, Truth: c.Inside}, session.Options{})
		require.NoError(t, err, text.String())
		require.NoError(t, a.Passed())
		sums := make(map[string]int)
		public := read(t, c.Out, 2)
		for key, cell := range internal(t, c.Inside, 2) {
			value, _ := strconv.Atoi(cell["value"])
			p := public[key]
			require.NotEqual(t, "0", p["value"], "what became 0 looks like what is empty")
			if p["lower"] != "" {
				low, _ := strconv.Atoi(p["lower"])
				require.LessOrEqual(t, low, value)
			}
			if p["upper"] != "" {
				high, _ := strconv.Atoi(p["upper"])
				require.GreaterOrEqual(t, high, value)
			}
			if v, _ := strconv.Atoi(p["value"]); !strings.Contains(key, "Total") {
				v1, v2, _ := strings.Cut(key, "|")
				for _, total := range []string{v1 + "|Total", "Total|" + v2, "Total|Total"} {
					sums[total] += v
				}
			}
		}
		if name == "adjustment" || name == "multiplicative" {
			for key, sum := range sums {
				if v, _ := strconv.Atoi(public[key]["value"]); v != sum {
					t.Fatalf("%s is %d, its parts are %d: %s", key, v, sum, text.String())
				}
			}
		}
	})
}
