package keymap

import (
	"encoding/csv"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	engine "microrisk/engine/keymap"
	"microrisk/operators/recode"
	"microrisk/operators/sap"
	"microrisk/pipeline"
	"microrisk/pipeline/keymap/repository"
	"microrisk/pipeline/link"
	"microrisk/pipeline/session"
	"microrisk/schemas"
	"microrisk/schemas/specfile"
)

// bridgeForms is a repository with a target and others that are coded differently.
var bridgeForms = map[string]string{
	"microrisk-keymap.yaml": "schema: microrisk/keymap/config@1\n",
	"variables/age.yaml": `schema: microrisk/keymap/variable@1
name: Age in years
scale: interval
assumed_levels: 100
nodes:
  - {id: 0-16, lo: 0, hi: 16}
  - {id: 16-40, lo: 16, hi: 40}
  - {id: 40-65, lo: 40, hi: 65}
  - {id: 65-120, lo: 65, hi: 120}
  - {id: 0-40, lo: 0, hi: 40}
  - {id: 0-18, lo: 0, hi: 18}
  - {id: 18-40, lo: 18, hi: 40}
`,
	"variables/sex.yaml": "schema: microrisk/keymap/variable@1\nname: Sex\nnodes: [{id: f, label: Same}, {id: m, label: Same}]\n",
	"variables/region.yaml": `schema: microrisk/keymap/variable@1
name: Region
nodes: [{id: n1}, {id: n2}, {id: s1}, {id: s2}, {id: west}, {id: north, label: The north}]
edges: [[north, n1], [north, n2]]
`,
	"variables/town.yaml": "schema: microrisk/keymap/variable@1\nname: Town\nassumed_levels: 50\nnodes: [{id: all}]\n",
	"forms/a.yaml": `schema: microrisk/keymap/form@1
name: A
variables:
  Age in years: {categories: [], column: age, missing_codes: ["-9", "99"]}
  Sex: {categories: [f, m], column: sex, values: {f: ["1"], m: ["2", "3"]}}
  Region: {categories: [n1, n2, s1, s2, west], column: region, missing_codes: ["?"]}
  Town: {categories: [], column: town, missing_codes: [x]}
`,
	"forms/b.yaml": `schema: microrisk/keymap/form@1
name: B
variables:
  Age in years: {categories: [0-16, 16-40, 40-65, 65-120], column: AGE, missing_codes: [none]}
  Sex: {categories: [f, m], column: SEX, values: {f: [female], m: [male]}}
  Region: {categories: [north, s1, s2, west], column: AREA, values: {north: [N], s1: ["1"], s2: ["2"], west: [W]}}
  Town: {categories: [], column: TOWN}
`,
	"forms/c.yaml": "schema: microrisk/keymap/form@1\nname: C\nvariables:\n  Age in years: {categories: [0-40, 40-65, 65-120], column: AGE}\n" +
		"  Sex: {categories: [f, m]}\n",
}

func bridgeFolder(t *testing.T, more map[string]string) *Environment {
	t.Helper()
	t.Chdir(t.TempDir())
	for path, text := range bridgeForms {
		if other, changed := more[path]; changed {
			text = other
		}
		require.NoError(t, os.MkdirAll(filepath.Join("forms", filepath.Dir(path)), 0o777))
		require.NoError(t, os.WriteFile(filepath.Join("forms", path), []byte(text), 0o666))
	}
	r, err := repository.Open("forms")
	require.NoError(t, err)
	require.Empty(t, r.Findings)
	return New(r, false, engine.Limits{})
}

func answersOf(t *testing.T, e *Environment, target string, match ...string) []Answer {
	t.Helper()
	q := Question{Target: target}
	for _, name := range match {
		q.Match = append(q.Match, e.Form(name))
	}
	a, err := e.Ask(t.Context(), q)
	require.NoError(t, err)
	list, err := a.Answers()
	require.NoError(t, err)
	return list
}

func rowsOf(t *testing.T, path string) []map[string]string {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	all, err := csv.NewReader(strings.NewReader(string(text))).ReadAll()
	require.NoError(t, err)
	var rows []map[string]string
	for _, line := range all[1:] {
		row := make(map[string]string)
		for i, name := range all[0] {
			row[name] = line[i]
		}
		rows = append(rows, row)
	}
	return rows
}

// The spec of a key runs, and every record is in the category that it has by hand, whatever the types of the columns are.
func TestBridgeSpecRuns(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 3))
	for _, kind := range []string{"whole", "fractions", "whole with codes"} {
		t.Run(kind, func(t *testing.T) {
			forms := map[string]string{}
			if kind == "whole" || kind == "fractions" {
				forms["forms/a.yaml"] = strings.Replace(bridgeForms["forms/a.yaml"], `, missing_codes: ["-9", "99"]`, "", 1)
			}
			e := bridgeFolder(t, forms)
			text := "id,age,sex,region,town\n"
			var ages []float64
			for i := range 300 {
				age := float64(r.IntN(95))
				switch {
				case kind == "fractions":
					age += .5
				case kind == "whole":
				case i%10 == 1:
					age = []float64{-9, 99}[r.IntN(2)]
				}
				ages = append(ages, age)
				cell := strconv.FormatFloat(age, 'f', -1, 64)
				text += fmt.Sprintf("%d,%s,%d,%s,%s\n", i, cell, 1+r.IntN(3), []string{"n1", "n2", "s1", "west", "?"}[r.IntN(5)], []string{"x", "y", "z"}[r.IntN(3)])
			}
			require.NoError(t, os.WriteFile("data.csv", []byte(text), 0o666))
			answers := answersOf(t, e, "A", "B", "C")
			b, err := e.Bridge(t.Context(), answers, "A", "data.csv", false, session.Options{})
			require.NoError(t, err)
			s := b.Spec()
			read, err := specfile.Decode("s.yaml", s.YAML())
			require.NoError(t, err)
			o, err := pipeline.Run(t.Context(), read, session.Options{})
			require.NoError(t, err)
			require.Equal(t, []string{"data.risk.csv"}, o.Outputs)
			require.Len(t, o.Summary.Warnings, 2)
			require.Contains(t, o.Summary.Warnings[1], "the figures are of age, region, sex as recoded")
			size := map[string]int{}
			for _, a := range Keys(answers) {
				size[KeyColumn(a.Name)] = a.Node.Size
			}
			for _, v := range o.Summary.Key.Variables {
				if n, bounded := size[v.Name]; bounded && n != engine.Unbounded {
					assert.LessOrEqual(t, int(v.Categories), n, v.Name)
				}
			}
			for i, row := range rowsOf(t, "data.risk.csv") {
				want := ageBand(ages[i], kind == "fractions")
				if kind == "whole with codes" && (ages[i] == 99 || ages[i] == -9) {
					want = ""
				}
				require.Equal(t, want, row["Age_in_years_key"], ages[i])
				require.Equal(t, map[string]string{"1": "Same", "2": "Same (m)", "3": "Same (m)"}[row["sex"]], row["Sex_key"])
				require.Equal(t, map[string]string{"n1": "The north", "n2": "The north", "s1": "s1", "west": "west", "?": ""}[row["region"]], row["Region_key"])
			}
		})
	}
}

// Levels of the key reach operators that name the variables without them: cells that no record is in are cells, and tables tables.
func TestBridgeLevelsReachSAP(t *testing.T) {
	e := bridgeFolder(t, nil)
	text := "age,sex,region,town\n"
	for i := range 60 {
		text += fmt.Sprintf("%d,1,%s,y\n", i, []string{"n1", "s1", "west"}[i%3])
	}
	require.NoError(t, os.WriteFile("data.csv", []byte(text), 0o666))
	b, err := e.Bridge(t.Context(), answersOf(t, e, "A", "B"), "A", "data.csv", false, session.Options{})
	require.NoError(t, err)
	written := strings.Replace(string(b.Spec().YAML()), "  - suda\n",
		"  - suda\n  - sap: {by: [Sex_key], cells: [Region_key, Age_in_years_key], known: [2], release: {scheme: conventional, base: 3}}\n", 1)
	s, err := specfile.Decode("s.yaml", []byte(written))
	require.NoError(t, err)
	o, err := pipeline.Run(t.Context(), s, session.Options{})
	require.NoError(t, err)
	made := o.Summary.Operators["sap"].(*sap.Summary)
	require.EqualValues(t, 2, made.Tables, "that of m has nobody in it")
	require.EqualValues(t, 1, made.EmptyTables)
	require.EqualValues(t, 4*4, made.Cells, "no record is in s2, nor in 65-119")
}

func ageBand(age float64, fractions bool) string {
	names := []string{"0-15", "16-39", "40-64", "65-119"}
	if fractions {
		names = []string{"[0,16)", "[16,40)", "[40,65)", "[65,120)"}
	}
	for i, hi := range []float64{16, 40, 65, 120} {
		if age < hi {
			return names[i]
		}
	}
	return ""
}

// A column of text may have whole numbers and fractions: they share their bands.
func TestBridgeText(t *testing.T) {
	e := bridgeFolder(t, map[string]string{"forms/a.yaml": "schema: microrisk/keymap/form@1\nname: A\nvariables:\n" +
		"  Age in years: {categories: [], column: age, missing_codes: [none]}\n"})
	require.NoError(t, os.WriteFile("data.csv", []byte("age\nnone\n17.5\n17\n3\n3.5\n119.5\n"), 0o666))
	b, err := e.Bridge(t.Context(), answersOf(t, e, "A", "B"), "A", "data.csv", false, session.Options{})
	require.NoError(t, err)
	_, err = pipeline.Run(t.Context(), b.Spec(), session.Options{})
	require.NoError(t, err)
	var got []string
	for _, row := range rowsOf(t, "data.risk.csv") {
		got = append(got, row["Age_in_years_key"])
	}
	require.Equal(t, []string{"", "16-39", "16-39", "0-15", "0-15", "65-119"}, got)
}

// What the repository leaves open, and what data have in no category, is said before anything is written.
func TestBridgeRefuses(t *testing.T) {
	form := "schema: microrisk/keymap/form@1\nname: A\nvariables:\n"
	for name, c := range map[string]struct{ form, data, says string }{
		"no column":          {form + "  Sex: {categories: [f, m]}\n", "sex\nf\n", `write column: NAME below it in forms/a.yaml`},
		"column not there":   {form + "  Sex: {categories: [f, m], column: sx}\n", "sex\nf\n", `data.csv has no column "sx", which forms/a.yaml names; did you mean "sex"?`},
		"column is taken":    {form + "  Sex: {categories: [f, m], column: sex}\n", "sex,Sex_key\nf,1\n", `would be called "Sex_key", like a column of data.csv`},
		"values wanted":      {form + "  Sex: {column: sex}\n", "sex\nf\n", `its values are written in, and the answer C2.001 has categories: write below values: in forms/a.yaml`},
		"floating":           {form + "  Town: {column: town}\n", "town\n1.5\n", "cannot be a key variable as it is"},
		"in no category":     {form + "  Sex: {categories: [f, m], column: sex}\n", "sex\nf\nq\nq\nz\n", `in 3 rows the column "sex" has a value in no category: "q" (2 rows), "z" (1 row); say in forms/a.yaml`},
		"a label is no code": {form + "  Sex: {categories: [f, m], column: sex}\n", "sex\nf\nSame\n", `"Same" (1 row)`},
		"below and above":    {form + "  Age in years: {column: age}\n", "age\n-1\n120\n120\n5\n", `"120" (2 rows), "-1" (1 row)`},
		"fractions beyond":   {form + "  Age in years: {column: age}\n", "age\n-0.5\n5.5\n", `"<0" (1 row)`},
		"no numbers":         {form + "  Age in years: {column: age}\n", "age\nold\n5\n", `"old" (1 row)`},
	} {
		t.Run(name, func(t *testing.T) {
			e := bridgeFolder(t, map[string]string{"forms/a.yaml": c.form})
			require.NoError(t, os.WriteFile("data.csv", []byte(c.data), 0o666))
			_, err := e.Bridge(t.Context(), answersOf(t, e, "A", "B"), "A", "data.csv", false, session.Options{})
			require.ErrorContains(t, err, c.says)
		})
	}
}

// Two samples of one population, coded differently: linking them by the recodes is linking both after recoding by hand.
func TestBridgeLinksAsByHand(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 2))
	for round := range 6 {
		e := bridgeFolder(t, nil)
		a, b, handA, handB := "age,sex,region,town\n", "AGE,SEX,AREA,TOWN\n", "K1,K2,K3,K4\n", "K1,K2,K3,K4\n"
		for range 300 {
			age, sex, region, town := float64(r.IntN(90)), r.IntN(2), r.IntN(5), r.IntN(4)
			hand := fmt.Sprintf("%s,%d,%s,%d\n", ageBand(age, false), sex, []string{"north", "north", "s1", "s2", "west"}[region], town)
			if r.IntN(3) == 0 {
				a += fmt.Sprintf("%v,%d,%s,%d\n", age, 1+sex, []string{"n1", "n2", "s1", "s2", "west"}[region], town)
				handA += hand
			}
			if r.IntN(3) == 0 {
				if round%2 == 0 {
					age += .25
				}
				b += fmt.Sprintf("%v,%s,%s,%d\n", age, []string{"female", "male"}[sex], []string{"N", "N", "1", "2", "W"}[region], town)
				handB += hand
			}
		}
		for path, text := range map[string]string{"a.csv": a, "b.csv": b, "ha.csv": handA, "hb.csv": handB} {
			require.NoError(t, os.WriteFile(path, []byte(text), 0o666))
		}
		answers := answersOf(t, e, "A", "B")
		require.Len(t, Keys(answers), 4)
		key := &schemas.Key{}
		for _, v := range Keys(answers) {
			key.Variables = append(key.Variables, schemas.KeyVariable{Name: KeyColumn(v.Name)})
		}
		s := link.Spec{A: []string{"a.csv"}, B: []string{"b.csv"}, Key: key, PopulationSize: 300, AllowEmpty: true}
		for form, to := range map[string]*[]recode.Column{"A": &s.RecodeA, "B": &s.RecodeB} {
			made, err := e.Bridge(t.Context(), answers, form, map[string]string{"A": "a.csv", "B": "b.csv"}[form], true, session.Options{})
			require.NoError(t, err)
			root, err := specfile.Parse("recodes", recode.ColumnsYAML(made.Recodes()))
			require.NoError(t, err)
			*to, err = recode.DecodeColumns("recodes", root)
			require.NoError(t, err)
		}
		got, err := link.Run(t.Context(), s, session.Options{})
		require.NoError(t, err)
		want, err := link.Run(t.Context(), link.Spec{A: []string{"ha.csv"}, B: []string{"hb.csv"}, PopulationSize: 300}, session.Options{})
		require.NoError(t, err)
		for _, pair := range [][2]any{{want.Unique, got.Unique}, {want.Total.Pairs, got.Total.Pairs}, {want.Samples, got.Samples},
			{len(want.Classes), len(got.Classes)}} {
			require.Equal(t, pair[0], pair[1])
		}
		require.InDelta(t, want.Total.ExpectedUnique, got.Total.ExpectedUnique, 1e-9)
		require.InDelta(t, want.Total.ExpectedPairs, got.Total.ExpectedPairs, 1e-9)
		matches := func(o *link.Outcome) map[[2]int64]float64 {
			found := make(map[[2]int64]float64)
			for _, c := range o.Classes {
				found[[2]int64{c.First[0].Row, c.First[1].Row}] = c.Correct
			}
			return found
		}
		require.InDeltaMapValues(t, matches(want), matches(got), 1e-9)
	}
}
