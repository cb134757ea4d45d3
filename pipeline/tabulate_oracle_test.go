package pipeline_test

import (
	"cmp"
	"context"
	"encoding/csv"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"microrisk/operators/tabulate"
	"microrisk/pipeline"
	"microrisk/pipeline/session"
	"microrisk/schemas"
)

// The oracles of tables are written from the definitions alone: people are counted one by one, schemes are lists of
// probabilities. Each round is one random case; MICRORISK_ROUNDS asks for more of them than a run of all tests has.

func tableRounds(t *testing.T, few int) int {
	n, err := strconv.Atoi(cmp.Or(os.Getenv("MICRORISK_ROUNDS"), strconv.Itoa(few)))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// generator is that of one round, the same in every run.
func generator(round int) *rand.Rand { return rand.New(rand.NewPCG(20110301, uint64(round))) }

func oneOf[T any](r *rand.Rand, of ...T) T { return of[r.IntN(len(of))] }

func sortedKeys[T any](m map[int]T) []int { return slices.Sorted(maps.Keys(m)) }

func indexOf(list [][]string, x []string) int {
	return slices.IndexFunc(list, func(y []string) bool { return slices.Equal(x, y) })
}

func writeFile(t *testing.T, path, text string) {
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func csvText(header []string, lines [][]string) string {
	var text strings.Builder
	csv.NewWriter(&text).WriteAll(append([][]string{header}, lines...))
	return text.String()
}

func officeSecret(round int) string { return fmt.Sprintf("secret %d of the office", round) }

// failing ends a test, and says of which spec and files.
func failing(t *testing.T, round int, spec *schemas.Spec, paths ...string) func(string, ...any) {
	return func(format string, arguments ...any) {
		text := fmt.Sprintf(format, arguments...) + "\n" + string(spec.YAML())
		for _, path := range paths {
			file, _ := os.ReadFile(path)
			text += "\n" + string(file)
		}
		t.Fatalf("round %d: %s", round, text)
	}
}

func runTables(r *rand.Rand, spec *schemas.Spec, fail func(string, ...any)) map[string]any {
	o, err := pipeline.Run(context.Background(), spec, session.Options{Workers: 1 + r.IntN(3), Batch: r.IntN(9), Seed: r.Uint64()})
	if err != nil {
		fail("run: %v", err)
	}
	return o.Summary.Operators
}

const (
	noValue  = "\x00"  // missing, where it is a category
	allOf    = "Total" // of a variable that a margin leaves out
	cellJoin = "\x1f"
)

// A tableCase is a random file with columns by which people are counted. The policies of its variables are not looked at.
type tableCase struct {
	microdata
	levels  [][]string // declared, nil for those observed
	missing string     // category or drop
}

// newColumn draws a variable and the values that it may have.
func (c *tableCase) newColumn(r *rand.Rand, name string, size int) (values []string) {
	pools := [][]string{{"Z", "a", "x,y", "é"}, {"-7", "0", "3", "10"}}
	number := r.IntN(2)
	values = pools[number][:size]
	x := oracleVariable{name: name, number: number == 1}
	var levels []string
	if r.IntN(3) == 0 {
		levels = slices.Clone(pools[number][:size+r.IntN(5-size)])
		r.Shuffle(len(levels), func(i, j int) { levels[i], levels[j] = levels[j], levels[i] })
	}
	if r.IntN(6) == 0 && size > 1 {
		x.codes = []string{values[size-1], "99"}
		levels = slices.DeleteFunc(levels, func(s string) bool { return s == values[size-1] })
	}
	c.variables, c.levels = append(c.variables, x), append(c.levels, levels)
	return values
}

func drawTable(r *rand.Rand) *tableCase {
	c := &tableCase{missing: oneOf(r, "", "category", "drop")}
	c.rows = make([][]*string, r.IntN(41))
	for v := range 1 + r.IntN(4) {
		values, rare := c.newColumn(r, []string{"A", "b.c", "Ü", "d e"}[v], 1+r.IntN(4)), r.IntN(4)
		for i := range c.rows {
			x := &values[min(r.IntN(len(values)), r.IntN(len(values)))]
			if rare == 0 && r.IntN(5) == 0 {
				x = nil
			}
			c.rows[i] = append(c.rows[i], x)
		}
	}
	return c
}

func category(x *string) string { return *cmp.Or(x, new(noValue)) }

func (c *tableCase) text(row, v int) string { return category(c.value(row, v)) }

// dropped says whether a record has no value in some of the variables.
func (c *tableCase) dropped(row int, variables []int) bool {
	return c.missing == "drop" && slices.ContainsFunc(variables, func(v int) bool { return c.value(row, v) == nil })
}

// categories of a variable are those declared, or observed anywhere in the file; missing is one of them if it is observed.
func (c *tableCase) categories(v int) (list []string) {
	list = slices.Clone(c.levels[v])
	for i := range c.rows {
		x := c.text(i, v)
		if (x == noValue && c.missing != "drop" || x != noValue && c.levels[v] == nil) && !slices.Contains(list, x) {
			list = append(list, x)
		}
	}
	return list
}

// product lists every combination of an element of each list.
func product(lists ...[]string) (all [][]string) {
	all = [][]string{{}}
	for _, list := range lists {
		var longer [][]string
		for _, cell := range all {
			for _, x := range list {
				longer = append(longer, append(slices.Clone(cell), x))
			}
		}
		all = longer
	}
	return all
}

// within says whether a record, or a cell, is part of a margin.
func within(cell, margin []string) bool {
	for i, x := range margin {
		if x != allOf && x != cell[i] {
			return false
		}
	}
	return true
}

// count finds the true count of every cell of the table over some variables, and of all margins if they are asked for.
func (c *tableCase) count(variables []int, margins bool) map[string]int {
	lists := [][]string{}
	for _, v := range variables {
		list := c.categories(v)
		if margins {
			list = append([]string{allOf}, list...)
		}
		lists = append(lists, list)
	}
	counts := map[string]int{}
	for _, cell := range product(lists...) {
		n := 0
		for i := range c.rows {
			record := []string{}
			for _, v := range variables {
				record = append(record, c.text(i, v))
			}
			if !c.dropped(i, variables) && within(record, cell) {
				n++
			}
		}
		counts[strings.Join(cell, cellJoin)] = n
	}
	return counts
}

func (c *tableCase) keyVariables(variables ...int) (list []schemas.KeyVariable) {
	for _, v := range variables {
		list = append(list, schemas.KeyVariable{Name: c.variables[v].name, MissingCodes: c.variables[v].codes, Levels: c.levels[v]})
	}
	return list
}

func (c *tableCase) types() map[string]string {
	types := map[string]string{}
	for _, v := range c.variables {
		if types[v.name] = "string"; v.number {
			types[v.name] = "int64"
		}
	}
	return types
}

// writePart makes a CSV file of some rows.
func (c *tableCase) writePart(t *testing.T, path string, rows []int) {
	part := &microdata{variables: c.variables}
	for _, i := range rows {
		part.rows = append(part.rows, c.rows[i])
	}
	if err := part.write(path); err != nil {
		t.Fatal(err)
	}
}

// drawScheme makes a scheme at random.
func drawScheme(r *rand.Rand) schemas.Perturbation {
	p := schemas.Perturbation{Scheme: oneOf(r, "none", "conventional", "conventional", "random", "random", "barnard", "small", "matrix", "noise", "normal",
		"isd", "census2000")}
	switch p.Scheme {
	case "normal":
		p.SD, p.Negative = new(oneOf(r, 0.8, 1, 2.5)), oneOf(r, "truncate", "reflect")
		p.Reach = new(oneOf(r, 1.5, 2))
		if r.IntN(3) == 0 {
			p.Proportional = new(oneOf(r, 0.2, 0.5))
		}
	case "isd":
		p.Change, p.Reading = new(oneOf(r, 0.2, 0.5)), oneOf(r, "", "A", "B")
	case "conventional", "random":
		p.Base = oneOf[int64](r, 2, 3, 3, 4, 5)
	case "small":
		p.Base, p.Last, p.Value = oneOf[int64](r, 1, 2, 3, 4), 1+r.Int64N(3), r.Int64N(5)
	case "matrix":
		p.Matrix = [][]schemas.Outcome{{{Count: 0, Probability: 1}}, {{Count: 0, Probability: 0.5}, {Count: 1, Probability: 0}, {Count: 2, Probability: 0.5}}}
		if r.IntN(2) == 0 {
			p.Matrix[0] = []schemas.Outcome{{Count: 0, Probability: 0.75}, {Count: 1, Probability: 0.25}}
		}
		for i := range int64(r.IntN(3)) {
			p.Matrix = append(
				p.Matrix,
				[]schemas.Outcome{{Count: i + oneOf[int64](r, 0, 1), Probability: 0.25}, {Count: i + 2, Probability: 0.5}, {Count: i + 3, Probability: 0.25}},
			)
		}
	}
	if p.Base%2 == 0 && (p.Scheme == "conventional" || p.Scheme == "small") {
		p.Tie = oneOf(r, "up", "down", "even")
	}
	if p.Scheme == "barnard" || p.Scheme == "random" && r.IntN(2) == 0 {
		p.Probability = new(oneOf(r, 0.75, 0.6, 0.25))
	}
	return p
}

// roundTo rounds to the nearest multiple of a base.
func roundTo(n, base int, tie string) int {
	below, rest := n-n%base, n%base
	switch {
	case 2*rest > base, 2*rest == base && (tie == "up" || tie == "even" && below/base%2 == 1):
		return below + base
	}
	return below
}

// readTable gives the numbers of a table by cell, and the cells in order.
func readTable(t *testing.T, path string, variables []string, column string) (numbers map[string]int, order []string) {
	names, rows, err := readOutput(path)
	if err != nil {
		t.Fatalf("read %s: %v", filepath.Base(path), err)
	}
	if want := append(slices.Clone(variables), column); !slices.Equal(names, want) {
		t.Fatalf("columns %q, want %q", names, want)
	}
	numbers = map[string]int{}
	for _, row := range rows {
		var cell []string
		for _, x := range row[:len(variables)] {
			cell = append(cell, category(x))
		}
		key := strings.Join(cell, cellJoin)
		n, err := strconv.Atoi(*row[len(variables)])
		if _, twice := numbers[key]; twice || err != nil {
			t.Fatalf("row %q of the table: twice, or no number", key)
		}
		numbers[key] = n
		order = append(order, key)
	}
	return numbers, order
}

func TestTabulateOracle(t *testing.T) {
	dir := t.TempDir()
	for round := range tableRounds(t, 25) {
		checkTabulate(t, dir, round)
	}
}

func checkTabulate(t *testing.T, dir string, round int) {
	r := generator(round)
	c := drawTable(r)
	all, variables, names := make([]int, len(c.rows)), []int{}, []string{}
	for i := range all {
		all[i] = i
	}
	for v, x := range c.variables {
		variables, names = append(variables, v), append(names, x.name)
	}
	in := func(name string) string { return filepath.Join(dir, name) }
	c.writePart(t, in("in.csv"), all)
	asked := tabulate.Config{Cells: c.keyVariables(variables...), Missing: c.missing, Margins: r.IntN(2) == 0, Empty: r.IntN(2) == 0,
		Path: in("table." + oneOf(r, "csv", "parquet"))}
	scheme, column := drawScheme(r), "count"
	if scheme.Scheme != "none" {
		asked.Perturb, column = &scheme, "value"
	}
	asked.Empty = asked.Empty || kernel(&scheme, 0)[0] < 1 // else it is not said whether cells are left out by their true counts
	if scheme.Random() && r.IntN(5) > 0 {
		scheme.Secret = in("secret")
		writeFile(t, scheme.Secret, officeSecret(round))
	}
	spec := &schemas.Spec{
		AllowEmpty: true,
		Source:     schemas.Source{Path: []string{in("in.csv")}, Types: c.types()},
		Operators:  []schemas.Operator{{Config: &asked}},
	}
	fail := failing(t, round, spec, in("in.csv"))
	spec.Sink.Path = in("whole.parquet")
	summary := runTables(r, spec, fail)["tabulate"].(*tabulate.Summary)
	got, order := readTable(t, asked.Path, names, column)
	want := c.count(variables, asked.Margins)
	for key, n := range want {
		number, there := got[key]
		if kernel(&scheme, n)[number] == 0 {
			fail("%q is published as %d, its count is %d", key, number, n)
		}
		if there != (asked.Empty || number != 0) {
			fail("%q of %d: in the file is %v", key, number, there)
		}
	}
	people := 0
	for i := range c.rows {
		if !c.dropped(i, variables) {
			people++
		}
	}
	if len(summary.Variables) != len(names) || summary.Records != int64(people) || summary.Rows != int64(len(got)) || summary.Margins != asked.Margins {
		fail("the summary has %d records, %d rows", summary.Records, summary.Rows)
	}
	for v, x := range summary.Variables {
		without := 0
		for i := range c.rows {
			if c.value(i, v) == nil {
				without++
			}
		}
		categories := slices.DeleteFunc(c.categories(v), func(s string) bool { return s == noValue })
		if x.Name != names[v] || x.Missing != int64(without) || x.Categories != int64(len(categories)) {
			fail("the summary has %+v", x)
		}
	}
	for i, key := range order {
		if _, known := want[key]; !known {
			fail("%q is no cell", key)
		}
		for _, part := range order[:i] {
			if within(strings.Split(part, cellJoin), strings.Split(key, cellJoin)) {
				fail("%q comes before %q", part, key)
			}
		}
	}

	if scheme.Random() && scheme.Secret == "" {
		return // drawn anew each time
	}
	r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	cut := r.IntN(len(all) + 1)
	c.writePart(t, in("one.csv"), all[:cut])
	c.writePart(t, in("two.csv"), all[cut:])
	spec.Source.Path, spec.Sink.Path = []string{in("one.csv"), in("two.csv")}, ""
	runTables(r, spec, fail)
	if again, same := readTable(t, asked.Path, names, column); !maps.Equal(got, again) || !slices.Equal(order, same) {
		fail("the table is %v, and %v when the rows are shuffled and split", got, again)
	}
	// the same cells in another table, over fewer variables in another order, of another kind of file
	r.Shuffle(len(variables), func(i, j int) { variables[i], variables[j] = variables[j], variables[i] })
	fewer := variables[:1+r.IntN(len(variables))]
	some, part := asked, []string{}
	for _, v := range fewer {
		part = append(part, names[v])
	}
	some.Cells, some.Path, some.Empty, some.Margins = c.keyVariables(fewer...), in("part.csv"), true, true
	runTables(
		r,
		&schemas.Spec{AllowEmpty: true, Source: schemas.Source{Path: []string{in("whole.parquet")}}, Operators: []schemas.Operator{{Config: &some}}},
		fail,
	)
	numbers, _ := readTable(t, some.Path, part, column)
	for key, n := range c.count(fewer, true) {
		cell := slices.Repeat([]string{allOf}, len(names))
		for i, x := range strings.Split(key, cellJoin) {
			cell[fewer[i]] = x
		}
		at := strings.Join(cell, cellJoin)
		if whole, in := want[at]; in && whole == n && got[at] != numbers[key] {
			fail("%q is %d, and %d in the table of %q", at, got[at], numbers[key], part)
		}
	}
}

// TestTabulateFrequencies compares how often counts become others with the kernel. The secret is fixed.
func TestTabulateFrequencies(t *testing.T) {
	t.Chdir(t.TempDir())
	const cells, counts = 4000, 4
	text := "id\n"
	for i := range cells {
		text += strings.Repeat(fmt.Sprintln(i), 1+i%counts)
	}
	writeFile(t, "in.csv", text)
	writeFile(t, "secret", officeSecret(0))
	for _, p := range []schemas.Perturbation{
		{Scheme: "random", Base: 5}, {Scheme: "random", Base: 3, Probability: new(0.75)}, {Scheme: "barnard", Probability: new(0.6)},
		{Scheme: "noise"}, {Scheme: "isd"}, {Scheme: "isd", Reading: "B", Change: new(0.3)}, {Scheme: "normal", SD: new(1.5), Negative: "reflect"},
		{Scheme: "normal", SD: new(2.), Proportional: new(0.25)},
		{
			Scheme: "matrix",
			Matrix: [][]schemas.Outcome{{{Count: 0, Probability: 1}}, {{Count: 0, Probability: 0.3}, {Count: 1, Probability: 0.5}, {Count: 3, Probability: 0.2}}},
		},
	} {
		p.Secret = "secret"
		tab := tabulate.Config{Cells: []schemas.KeyVariable{{Name: "id"}}, Empty: true, Perturb: &p, Path: "table.csv"}
		spec := &schemas.Spec{Source: schemas.Source{Path: []string{"in.csv"}}, Operators: []schemas.Operator{{Config: &tab}}}
		runTables(generator(0), spec, t.Fatalf)
		drawn, _ := readTable(t, "table.csv", []string{"id"}, "value")
		for n := 1; n <= counts; n++ {
			seen := map[int]float64{}
			for i := n - 1; i < cells; i += counts {
				seen[drawn[strconv.Itoa(i)]]++
			}
			for j, q := range kernel(&p, n) {
				if expected := q * cells / counts; math.Abs(seen[j]-expected) > 4*math.Sqrt(expected*(1-q)) {
					t.Errorf("%s: of %d cells of %d, %v are published as %d, %v expected", p.Scheme, cells/counts, n, seen[j], j, expected)
				}
			}
		}
	}
}
