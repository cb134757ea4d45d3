package pipeline_test

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"microrisk/operators/mc3"
	"microrisk/pipeline"
	"microrisk/pipeline/session"
	"microrisk/schemas"
)

// An mc3Case is a random file with what mc3 is asked about it.
type mc3Case struct {
	microdata // policies are category and drop
	levels    [][]string
	weights   []float64
	sampling  schemas.Sampling
	asked     mc3.Config
	values    [][]string // of the categories of each variable, in order; missing is "\x00" and last
	class     []int      // of each row in table.classes, -1 when it is dropped
	table     *mc3Table
	graphs    []*mc3Graph // all decomposable ones
	fixed     *mc3Graph
	fraction  float64
}

func pick[T any](t *rapid.T, what string, of ...T) T { return rapid.SampledFrom(of).Draw(t, what) }

func drawMC3(t *rapid.T) *mc3Case {
	c := &mc3Case{}
	k, n := rapid.IntRange(1, 4).Draw(t, "k"), rapid.IntRange(0, 40).Draw(t, "n")
	c.rows = make([][]*string, n)
	dropping := rapid.IntRange(0, 3).Draw(t, "dropping") == 0
	for v := range k {
		c.drawVariable(t, v, dropping)
	}
	c.drawSampling(t)
	c.drawAsked(t)
	return c
}

// drawVariable adds a column.
func (c *mc3Case) drawVariable(t *rapid.T, v int, dropping bool) {
	x := oracleVariable{name: []string{"A", "b.c", "Ü", "D_4"}[v], policy: schemas.MissingCategory, number: rapid.Bool().Draw(t, "number")}
	if dropping && rapid.Bool().Draw(t, "drop") {
		x.policy = schemas.MissingDrop
	}
	pool := []string{"Z", "a", "x,y", "é"}
	if x.number {
		pool = []string{"-7", "0", "3", "10"}
	}
	size := rapid.IntRange(1, 4).Draw(t, "categories")
	rare, like, of := rapid.IntRange(0, 6).Draw(t, "missing"), rapid.IntRange(0, 2).Draw(t, "like") == 0 && v > 0, 0
	if v > 0 {
		of = rapid.IntRange(0, v-1).Draw(t, "of")
	}
	for i := range c.rows {
		cell := &pool[rapid.IntRange(0, size-1).Draw(t, "cell")]
		if y := c.rows[i][of%max(1, len(c.rows[i])):]; like && len(y) > 0 && y[0] != nil && rapid.IntRange(0, 5).Draw(t, "differs") > 0 {
			cell = &pool[int((*y[0])[len(*y[0])-1])%size] // depends on another column
		}
		if rare > 3 && rapid.IntRange(0, 2*rare).Draw(t, "null") == 0 {
			cell = nil
		}
		c.rows[i] = append(c.rows[i], cell)
	}
	var levels []string
	if rapid.IntRange(0, 2).Draw(t, "declared") == 0 {
		levels = slices.Clone(pool[:max(size, rapid.IntRange(1, 4).Draw(t, "levels"))])
		if rapid.Bool().Draw(t, "turned") {
			slices.Reverse(levels)
		}
	}
	switch rapid.IntRange(0, 5).Draw(t, "codes") {
	case 0:
		x.codes = []string{"99", "N/A"}
	case 1:
		x.codes = []string{pool[size-1]}
		levels = slices.DeleteFunc(levels, func(s string) bool { return s == pool[size-1] })
	}
	if len(levels) == 0 {
		levels = nil
	}
	c.levels = append(c.levels, levels)
	c.variables = append(c.variables, x)
}

func (c *mc3Case) drawSampling(t *rapid.T) {
	n := len(c.rows)
	switch pick(t, "sampling", "fraction", "fraction", "population", "weight") {
	case "fraction":
		c.fraction = pick(t, "fraction", 0.02, 0.1, 0.3, 0.75, 1)
		c.sampling.Fraction = c.fraction
	case "population":
		c.sampling.PopulationSize = max(1, int64(n+pick(t, "others", 0, 1, 7, 50, 300, 2000)))
	case "weight":
		c.sampling.Weight = "w"
		c.weights = []float64{}
		w := pick(t, "w", 1, 1.5, 2, 17.25, 40) // weights that differ are refused
		for range c.rows {
			c.weights = append(c.weights, w)
		}
	}
}

func (c *mc3Case) drawAsked(t *rapid.T) {
	m, k := &c.asked, len(c.variables)
	c.graphs = decomposable(k)
	m.PriorPrecision = rapid.SliceOfNDistinct(rapid.SampledFrom([]float64{0.02, 0.3, 1, 2.5, 7, 64}), 1, 2, rapid.ID[float64]).Draw(t, "precision")
	m.Search = pick(t, "search", "", "exact", "exact", "fixed", "occam", "anneal", "mc3")
	if m.Search != "fixed" {
		m.EdgePenalty = pick(t, "penalty", 0, 0, 0.5, 3)
	}
	m.Estimator = pick(t, "estimator", "", "gamma", "gamma", "poisson", "poisson", "exact", "montecarlo")
	m.SetMatch = m.Estimator == "poisson" && rapid.Bool().Draw(t, "set")
	m.RelativeRisk = rapid.IntRange(0, 2).Draw(t, "relative") == 0
	if m.RelativeRisk && rapid.Bool().Draw(t, "ordinal") {
		m.Ordinal = []string{c.variables[rapid.IntRange(0, k-1).Draw(t, "which")].name}
	}
	whole := func(x int) *int { return &x }
	switch m.Search {
	case "fixed":
		c.fixed = pick(t, "graph", c.graphs...)
		var names []string
		for _, v := range c.variables {
			names = append(names, v.name)
		}
		m.Graph = c.fixed.cliques(names)
		if rapid.Bool().Draw(t, "named") {
			switch len(c.fixed.edges) {
			case 0:
				m.Graph = mc3.GraphIndependence
			case k * (k - 1) / 2:
				m.Graph = mc3.GraphSaturated
			}
		}
	case "occam":
		if rapid.Bool().Draw(t, "window") {
			m.Window = new(pick(t, "share", 0.05, 0.3, 0.001))
		}
		m.Directions = pick(t, "directions", "", "up", "both")
		m.Razor = rapid.IntRange(0, 2).Draw(t, "razor") == 0
	case "mc3":
		m.BurnIn, m.Iterations, m.Thinning = whole(200), whole(4000), whole(10)
		m.Moves = pick(t, "moves", "", "edge", "edges", "clique")
		m.Temperatures = whole(pick(t, "temperatures", 1, 3))
	}
	if m.Estimator == "montecarlo" {
		m.PosteriorDraws = whole(2000)
	}
}

// count makes the table of the rows.
func (c *mc3Case) count() {
	c.table = &mc3Table{}
	c.values = make([][]string, len(c.variables))
	var kept []int
	for i := range c.rows {
		keep := true
		for v := range c.variables {
			keep = keep && (c.variables[v].policy != schemas.MissingDrop || c.value(i, v) != nil)
		}
		if keep {
			kept = append(kept, i)
		}
	}
	for v, x := range c.variables {
		values, missing := slices.Clone(c.levels[v]), false
		for i := range c.rows { // a table knows no policy: the categories are those of all rows
			if y := c.value(i, v); y == nil {
				missing = missing || slices.Contains(kept, i)
			} else if c.levels[v] == nil && !slices.Contains(values, *y) {
				values = append(values, *y)
			}
		}
		slices.SortFunc(values, func(a, b string) int {
			if x.number {
				p, _ := strconv.Atoi(a)
				q, _ := strconv.Atoi(b)
				return cmp.Compare(p, q)
			}
			return cmp.Compare(a, b)
		})
		if missing && x.policy == schemas.MissingCategory {
			values = append(values, "\x00")
		}
		c.values[v] = values
		c.table.sizes = append(c.table.sizes, len(values))
	}
	c.class = make([]int, len(c.rows))
	for i := range c.rows {
		if c.class[i] = -1; !slices.Contains(kept, i) {
			continue
		}
		cell := make([]int, len(c.variables))
		for v := range c.variables {
			y := c.value(i, v)
			if y == nil {
				y = new("\x00")
			}
			cell[v] = slices.Index(c.values[v], *y)
		}
		c.table.records = append(c.table.records, cell)
		at := slices.IndexFunc(c.table.classes, func(x mc3Class) bool { return slices.Equal(x.cell, cell) })
		if at < 0 {
			at = len(c.table.classes)
			c.table.classes = append(c.table.classes, mc3Class{cell: cell})
		}
		c.table.classes[at].f++
		c.class[i] = at
	}
	n := float64(len(kept))
	switch {
	case len(kept) == 0:
		return
	case c.sampling.PopulationSize > 0:
		c.fraction = n / float64(c.sampling.PopulationSize)
	case c.weights != nil:
		sum := 0.0
		for _, i := range kept {
			sum += c.weights[i]
		}
		c.fraction = n / sum
	}
	c.table.u = n * (1 - c.fraction) / c.fraction
	c.table.people = n / c.fraction
}

// spec is what is run on some files.
func (c *mc3Case) spec(sink string, inputs ...string) *schemas.Spec {
	key := &schemas.Key{}
	types := map[string]string{"w": "double"}
	for v, x := range c.variables {
		key.Variables = append(key.Variables, schemas.KeyVariable{Name: x.name, Missing: x.policy, MissingCodes: x.codes, Levels: c.levels[v]})
		if types[x.name] = "string"; x.number {
			types[x.name] = "int64"
		}
	}
	if c.weights == nil {
		delete(types, "w")
	}
	asked := c.asked
	return &schemas.Spec{AllowEmpty: true, Source: schemas.Source{Path: inputs, Types: types}, Sampling: &c.sampling, Key: key,
		Operators: []schemas.Operator{{Config: &asked}}, Sink: schemas.Sink{Path: sink}}
}

// writeRows makes a CSV file of some rows, in that order.
func (c *mc3Case) writeRows(path string, rows []int) error {
	part := &microdata{variables: slices.Clone(c.variables)}
	if c.weights != nil {
		part.variables = append(part.variables, oracleVariable{name: "w"})
	}
	part.variables = append(part.variables, oracleVariable{name: "id"})
	for _, i := range rows {
		line := slices.Clone(c.rows[i])
		if c.weights != nil {
			line = append(line, new(strconv.FormatFloat(c.weights[i], 'f', -1, 64)))
		}
		part.rows = append(part.rows, append(line, new(strconv.Itoa(i))))
	}
	return part.write(path)
}

// A run's columns by the row's number in the case.
type mc3Rows map[int]map[string]*string

func (r mc3Rows) read(path string) error {
	names, rows, err := readOutput(path)
	if err != nil {
		return err
	}
	for _, row := range rows {
		byName := map[string]*string{}
		for i, name := range names {
			byName[name] = row[i]
		}
		id, err := strconv.Atoi(*byName["id"])
		if err != nil {
			return err
		}
		r[id] = byName
	}
	return nil
}

func TestMC3Oracle(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) { checkMC3(t, dir) })
}

// Cases that once were told wrongly.
func TestMC3OracleKept(t *testing.T) {
	one := func(n int, fraction float64) *mc3Case { // a table of one cell
		c := &mc3Case{levels: [][]string{{"Z"}}, fraction: fraction, sampling: schemas.Sampling{Fraction: fraction}, graphs: decomposable(1)}
		c.variables = []oracleVariable{{name: "A", policy: schemas.MissingCategory}}
		for range n {
			c.rows = append(c.rows, []*string{new("Z")})
		}
		c.asked = mc3.Config{Estimator: "montecarlo", PosteriorDraws: new(2000)}
		c.asked.PriorPrecision = []float64{0.02}
		return c
	}
	for name, c := range map[string]*mc3Case{
		"a third of a person": one(1, 0.75), "nobody else": one(1, 1), "one and a quarter": one(1, 0.45), "nine": one(1, 0.1), "two of three": one(2, 0.7),
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			rapid.Check(t, func(r *rapid.T) { c.check(r, dir) })
		})
	}
}

func checkMC3(t *rapid.T, dir string) { drawMC3(t).check(t, dir) }

// check runs the case and compares what it gets with the oracle.
func (c *mc3Case) check(t *rapid.T, dir string) {
	c.asked.Effects = mc3.EffectsNone // the oracle is one of models alone
	c.count()
	c.affordable()
	format := pick(t, "format", "csv", "parquet")
	input, output := filepath.Join(dir, "in.csv"), filepath.Join(dir, "out."+format)
	all := make([]int, len(c.rows))
	for i := range all {
		all[i] = i
	}
	if err := c.writeRows(input, all); err != nil {
		t.Fatal(err)
	}
	spec := c.spec(output, input)
	fail := func(format string, arguments ...any) {
		text, _ := os.ReadFile(input)
		t.Fatalf("%s\n%s\n%s", fmt.Sprintf(format, arguments...), spec.YAML(), text)
	}
	options := session.Options{Workers: rapid.IntRange(1, 3).Draw(t, "workers"), Batch: rapid.IntRange(0, 9).Draw(t, "batch")}
	outcome, err := pipeline.Run(context.Background(), spec, options)
	if err != nil {
		fail("run: %v", err)
	}
	got := mc3Rows{}
	if err := got.read(output); err != nil {
		fail("read: %v", err)
	}
	summary, ok := outcome.Summary.Operators["mc3"].(*mc3.Summary)
	if !ok {
		fail("the summary is a %T", outcome.Summary.Operators["mc3"])
	}
	compareMC3(c, fail, got, outcome.Summary, summary)

	if rapid.IntRange(0, 3).Draw(t, "again") == 0 {
		shuffled := rapid.Permutation(all).Draw(t, "order")
		cut := rapid.IntRange(0, len(all)).Draw(t, "cut")
		folder := filepath.Join(dir, "out")
		if err := os.MkdirAll(folder, 0o777); err != nil {
			t.Fatal(err)
		}
		ins := []string{filepath.Join(dir, "one.csv"), filepath.Join(dir, "two.csv")}
		for i, part := range [][]int{shuffled[:cut], shuffled[cut:]} {
			if err := c.writeRows(ins[i], part); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := pipeline.Run(context.Background(), c.spec(folder, ins...), session.Options{Workers: 2, Batch: 5}); err != nil {
			fail("run of two files: %v", err)
		}
		again := mc3Rows{}
		for _, name := range []string{"one.csv", "two.csv"} {
			if err := again.read(filepath.Join(folder, name)); err != nil {
				fail("read: %v", err)
			}
		}
		os.RemoveAll(folder)
		for i := range all {
			for name, x := range got[i] {
				if y := again[i][name]; name != "nr" && !same(x, y) {
					fail("row %d: %s is %s, and %s when the rows are shuffled and split", i, name, show(x), show(y))
				}
			}
		}
	}
}

// affordable keeps the oracle's series short.
func (c *mc3Case) affordable() {
	if (c.asked.Estimator == "exact" || c.asked.Estimator == "montecarlo") && (c.table.u > 150 || len(c.variables) > 3) {
		c.asked.Estimator, c.asked.PosteriorDraws = "gamma", nil
	}
	if _, part := math.Modf(c.table.u); c.asked.Estimator == "montecarlo" && math.Abs(part-0.5) < 1e-9 { // rounded up or down
		c.asked.Estimator, c.asked.PosteriorDraws = "gamma", nil
	}
	if c.table.u > 400 && len(c.variables) > 3 || c.asked.Estimator == "montecarlo" {
		c.asked.RelativeRisk, c.asked.Ordinal = false, nil
	}
	if len(c.variables) > 3 && c.asked.Search == "mc3" {
		c.asked.Search, c.asked.Moves = "exact", ""
		c.asked.BurnIn, c.asked.Iterations, c.asked.Thinning, c.asked.Temperatures = nil, nil, nil, nil
	}
}

// closeTo says whether two numbers are the same but for a relative or a small absolute error.
func closeTo(got, want, relative, absolute float64) bool {
	return got == want || math.Abs(got-want) <= max(absolute, relative*max(math.Abs(got), math.Abs(want)))
}

func edgesOf(names []string, edges [][2]string) string {
	var out []string
	for _, e := range edges {
		a, b := slices.Index(names, e[0]), slices.Index(names, e[1])
		out = append(out, fmt.Sprint([2]int{min(a, b), max(a, b)}))
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}

func (g *mc3Graph) String() string {
	var out []string
	for _, e := range g.edges {
		out = append(out, fmt.Sprint(e))
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}
