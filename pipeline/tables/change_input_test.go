package tables_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"microrisk/operators/protect"
	"microrisk/pipeline"
	"microrisk/pipeline/session"
	"microrisk/pipeline/tables"
	"microrisk/schemas"
)

// groupFile has 300 groups of 1 to 9 people, each of which is a category of two variables.
func groupFile(t *testing.T, dir string) string {
	var text strings.Builder
	text.WriteString("id,key,g,h\n")
	id := 0
	for g := range 300 {
		for range 1 + g%9 {
			fmt.Fprintf(&text, "p%d,%d,g%d,h%d\n", id, id*id*7919%(1<<30), g, g*7%300)
			id++
		}
	}
	path := filepath.Join(dir, "groups.csv")
	require.NoError(t, os.WriteFile(path, []byte(text.String()), 0o666))
	return path
}

// The same people get the same noise in every protected table, and in those of tabulate; by cells about half of the groups differ.
func TestProtectByPeople(t *testing.T) {
	dir := t.TempDir()
	source := groupFile(t, dir)
	secret := filepath.Join(dir, "secret")
	require.NoError(t, os.WriteFile(secret, []byte("a secret of an office, kept in a file"), 0o600))
	of := func(variable string, people schemas.People) map[string]map[string]string {
		c := &protect.Config{
			Table:  variables(variable),
			Rules:  []protect.Rule{{Rule: "min", N: new(1)}},
			Method: "perturbation",
			Out:    filepath.Join(dir, "public.csv"),
			Inside: filepath.Join(dir, "inside"),
			Changing: protect.Changing{Secret: secret,
				Perturb: &schemas.Perturbation{Scheme: "normal", SD: new(2.), Negative: "reflect", People: people}},
		}
		_, err := run(t, source, c)
		require.NoError(t, err)
		return read(t, c.Out, 1)
	}
	for _, people := range []schemas.People{{}, {By: "people", RecordID: "id"}, {By: "people", RecordKey: "key"}} {
		first, second, differ := of("g", people), of("h", people), 0
		for g := range 300 {
			if first[fmt.Sprint("g", g)]["value"] != second[fmt.Sprint("h", g*7%300)]["value"] {
				differ++
			}
		}
		if people.ByPeople() {
			require.Zero(t, differ)
			require.Equal(t, first["Total"], second["Total"])
		} else {
			require.Greater(t, differ, 150)
		}
	}
}

// A response has normal noise, within its reach; the rules of an office round weighted values.
func TestChangesOfResponses(t *testing.T) {
	dir := t.TempDir()
	source := filepath.Join(dir, "records.csv")
	var text strings.Builder
	text.WriteString("a,b,v,w\n")
	for i := range 200 {
		fmt.Fprintf(&text, "a%d,b%d,%d.%02d,%d.5\n", i%4, i*i%5, 100+i*i%900, i%100, 20+i%9)
	}
	require.NoError(t, os.WriteFile(source, []byte(text.String()), 0o666))
	config := func() *protect.Config {
		return &protect.Config{Table: variables("a", "b"), Rules: []protect.Rule{{Rule: "min", N: new(4)}}, Out: filepath.Join(dir, "public.csv"),
			Inside: filepath.Join(dir, "inside")}
	}
	audited := func(c *protect.Config) map[string]map[string]string {
		_, err := run(t, source, c)
		require.NoError(t, err)
		a, err := tables.RunAudit(background, tables.AuditSpec{Public: c.Out, Truth: c.Inside}, session.Options{})
		require.NoError(t, err)
		require.NoError(t, a.Passed())
		return read(t, c.Out, 2)
	}
	c := config()
	c.Response, c.Decimals, c.Method = "v", 2, "perturbation"
	c.Rules = append(c.Rules, protect.Rule{Rule: "p%", P: new(10.)})
	c.Perturb = &schemas.Perturbation{Scheme: "normal", SD: new(5.), Proportional: new(0.02), Reach: new(3.)}
	public := audited(c)
	for key, cell := range internal(t, c.Inside, 2) {
		x, _ := strconv.ParseFloat(cell["value"], 64)
		y, _ := strconv.ParseFloat(public[key]["value"], 64)
		require.InDelta(t, x, y, 3*(5+0.02*x)+0.01, key)
	}
	for _, method := range []string{"adjustment", "partial", "multiplicative"} {
		c = config()
		c.Response, c.Decimals, c.Method = "v", 2, method
		if method == "multiplicative" {
			c.SD = new(0.05)
		} else {
			c.Margins = "none"
		}
		audited(c)
	}
	c = config()
	c.Weight, c.Method, c.Decimals = "w", "abs", 1
	public = audited(c)
	for key, cell := range internal(t, c.Inside, 2) {
		x, _ := strconv.ParseFloat(cell["value"], 64)
		n, _ := strconv.Atoi(cell["count"])
		switch p, there := public[key]; {
		case n <= 3:
			require.Equal(t, map[string]string{"value": "", "symbol": "x"}, p)
		case !there:
			require.Less(t, x, 50.)
		default:
			y, _ := strconv.ParseFloat(p["value"], 64)
			require.Zero(t, int64(y)%100)
			require.InDelta(t, x, y, 50)
		}
	}
}

// Linked tables, and tables with subtotals, are changed as one.
func TestChangesOfLinkedTables(t *testing.T) {
	dir := t.TempDir()
	source := filepath.Join(dir, "persons.csv")
	persons(t, source, nil)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "area.hrc"), []byte("north\n@a0\n@a1\nsouth\n@a2\n@a3\n"), 0o666))
	for name, c := range changing() {
		if name == "noise" || name == "barnard" || name == "isd" || name == "multiplicative" {
			continue // totals undo small noise
		}
		if name == "random" {
			c.Perturb = &schemas.Perturbation{Scheme: "random", Base: 10} // subtotals undo base 3 in some cells
		}
		for _, linked := range [][][]string{nil, {{"area", "sex"}, {"area", "age"}}} {
			c.Linked, c.Hierarchies = linked, map[string]string{"area": filepath.Join(dir, "area.hrc")}
			if linked == nil && (name == "partial" || name == "adjustment") {
				c.Hierarchies = nil // which takes long
			}
			if linked != nil {
				c.Table = nil
			}
			_, err := publish(t, dir, source, c, true, session.Options{})
			require.NoError(t, err, name)
			a, err := tables.RunAudit(
				background,
				tables.AuditSpec{Public: filepath.Join(dir, "public.csv"), Truth: filepath.Join(dir, "inside")},
				session.Options{},
			)
			require.NoError(t, err, name)
			require.NoError(t, a.Passed(), name)
		}
	}
}

func TestChangesRefuse(t *testing.T) {
	dir := t.TempDir()
	source := filepath.Join(dir, "persons.csv")
	persons(t, source, nil)
	scheme := func(p schemas.Perturbation) protect.Config {
		return protect.Config{Method: "perturbation", Changing: protect.Changing{Perturb: &p}}
	}
	linked := func(c protect.Config) protect.Config {
		c.Linked = [][]string{{"area", "sex"}, {"area", "age"}}
		return c
	}
	matrix := func(rows ...[]schemas.Outcome) protect.Config {
		return scheme(schemas.Perturbation{Scheme: "matrix", Matrix: rows})
	}
	people := func(p schemas.People) protect.Config { return scheme(schemas.Perturbation{Scheme: "noise", People: p}) }
	weighted, secret := scheme(schemas.Perturbation{Scheme: "random", Base: 3}), scheme(schemas.Perturbation{Scheme: "conventional", Base: 3})
	weighted.Weight, secret.Secret = "age", source
	unasked := scheme(schemas.Perturbation{Scheme: "noise"})
	unasked.Method = "adjustment"
	multiplied := protect.Config{Method: "multiplicative", Changing: protect.Changing{SD: new(0.05)}}
	half := []schemas.Outcome{{Count: 1, Probability: 0.5}}
	for says, c := range map[string]protect.Config{
		"the table is not safe with the method abs":                        {Method: "abs"}, // hidden totals of 3 tell that each of 3 parts is 1
		"perturbation has no scheme":                                       {Method: "perturbation"},
		"perturb belongs to method: perturbation":                          unasked,
		"sd belongs to method: multiplicative":                             {Method: "abs", Changing: protect.Changing{SD: new(1.)}},
		"spread belongs to method: partial":                                {Changing: protect.Changing{Spread: new(1.)}},
		"view belongs to method: none, optimal":                            {Method: "rounding", Changing: protect.Changing{View: "intervals"}},
		"secret belongs to method: perturbation, multiplicative, partial":  {Method: "adjustment", Changing: protect.Changing{Secret: source}},
		"multiplicative noise is of one table of all variables":            linked(multiplied),
		"linked tables have no finest cells in common":                     linked(scheme(schemas.Perturbation{Scheme: "isd"})),
		"multiplicative noise has no standard deviation":                   {Method: "multiplicative"},
		"their product must be below 1":                                    {Method: "multiplicative", Changing: protect.Changing{SD: new(0.25)}},
		"noise would make a count negative":                                scheme(schemas.Perturbation{Scheme: "normal", SD: new(3.)}),
		"0 is published as other counts, and a protected table":            matrix([]schemas.Outcome{{Count: 1, Probability: 1}}),
		"the probabilities of the true count 1 sum to 0.5":                 matrix([]schemas.Outcome{{Probability: 1}}, half),
		"record_id is of noise by people; say by: people":                  people(schemas.People{RecordID: "id"}),
		`there is no column "ID"`:                                          people(schemas.People{By: "people", RecordID: "ID"}),
		"keys are whole numbers from 0 to 2^53":                            people(schemas.People{By: "people", RecordKey: "id"}),
		"random is of counts; a response, or weighted counts, take normal": weighted,
		"the scheme conventional leaves nothing to chance; leave secret":   secret,
	} {
		t.Run(says, func(t *testing.T) {
			_, err := publish(t, dir, source, c, false, session.Options{})
			require.ErrorContains(t, err, says)
			require.NoFileExists(t, filepath.Join(dir, "public.csv"))
			require.NoDirExists(t, filepath.Join(dir, "inside"))
		})
	}
	// What only the data tell.
	small := filepath.Join(dir, "small.csv")
	require.NoError(t, os.WriteFile(small, []byte("a,v\nx,1\nx,2\ny,90\n"), 0o666))
	c := protect.Config{
		Table:    variables("a"),
		Response: "v",
		Method:   "perturbation",
		Rules:    []protect.Rule{{Rule: "min"}},
		Out:      filepath.Join(dir, "public.csv"),
		Inside:   filepath.Join(dir, "inside"),
		Changing: protect.Changing{Perturb: &schemas.Perturbation{Scheme: "normal", SD: new(2.)}},
	}
	_, err := run(t, small, &c)
	require.ErrorContains(t, err, "the cell [x] has the value 3: noise of standard deviation 2 that reaches 4 of them could change its sign")
	// Noise by people needs people.
	table := filepath.Join(dir, "table.csv")
	require.NoError(t, os.WriteFile(table, []byte(baseTable), 0o666))
	c = protect.Config{Table: variables("v1", "v2"), Method: "perturbation", Rules: []protect.Rule{{Rule: "min"}}, Out: c.Out, Inside: c.Inside,
		Changing: protect.Changing{Perturb: &schemas.Perturbation{Scheme: "noise", People: schemas.People{By: "people", RecordID: "id"}}}}
	_, err = tables.Protect(background, table, &c, &protect.Columns{Count: "n"}, session.Options{})
	require.ErrorContains(t, err, "a ready-made table has none")
	c.Method, c.Perturb, c.Table = "partial", nil, variables("v1", "lower")
	spec := &schemas.Spec{Source: schemas.Source{Path: []string{table}}, Operators: []schemas.Operator{{Config: &c}}}
	_, err = pipeline.Run(background, spec, session.Options{})
	require.ErrorContains(t, err, "lower is a name of a column of intervals; rename the variable")
	require.NoFileExists(t, c.Out)
}

// A table that does not tell how many records its cells have is nothing for abs, which hides cells of few.
func TestAbsNeedsRecords(t *testing.T) {
	dir := t.TempDir()
	source := filepath.Join(dir, "table.csv")
	require.NoError(t, os.WriteFile(source, []byte("a,b,v\nx,p,100\nx,q,2\ny,p,300\ny,q,40\n"), 0o666))
	c := protect.Config{Method: "abs", Table: variables("a", "b"), Out: filepath.Join(dir, "public.csv"),
		Inside: filepath.Join(dir, "inside")}
	c.Rules = []protect.Rule{{Rule: "p%"}}
	_, err := tables.Protect(background, source, &c, &protect.Columns{Value: "v", Max: "v"}, session.Options{})
	require.ErrorContains(t, err, "needs the number of records of each cell: name its column (--count)")
	require.True(t, session.IsSpec(err))
	require.NoFileExists(t, c.Out)
}
