package pipeline_test

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"microrisk/pipeline"
	"microrisk/schemas"
)

// A sapCase is a random file with a random release of its areas' tables. The variables of by come first.
type sapCase struct {
	tableCase
	by        int
	asked     schemas.SAP
	threshold float64
	counts    map[string]int // of every cell and margin of every area
	areas     [][]string
	cells     [][]string
	of        [][2]int       // area and cell of each record; -1 for none
	published map[string]int // of every cell and margin released, by area
	ends      int            // only so many people, or all but so many, are known
	estimates int            // estimated SAPs compared, and how many were outside their interval
	misses    int
}

func drawSAP(r *rand.Rand) *sapCase {
	c := &sapCase{tableCase: tableCase{missing: oneOf(r, "", "category", "drop")}, ends: 100, by: oneOf(r, 0, 1, 1, 2)}
	var values [][]string
	size := 1
	for v := range c.by + 1 + r.IntN(3) {
		levels := 1 + r.IntN(3)
		if v >= c.by {
			levels = min(2+r.IntN(3), 16/size)
			size *= levels
		}
		values = append(values, c.newColumn(r, []string{"A", "b.c", "Ü", "d e", "f"}[v], levels))
	}
	declared := r.IntN(2) == 0 // of by: all or none, since it is not said what some of them do
	for v := range c.by {
		if !declared {
			c.levels[v] = nil
		} else if c.levels[v] == nil {
			c.levels[v] = slices.DeleteFunc(slices.Clone(values[v]), func(x string) bool { return slices.Contains(c.variables[v].codes, x) })
		}
	}
	rare, most := r.IntN(4), oneOf(r, 2, 5, 8, 12)
	for _, area := range product(values[:c.by]...) {
		spread := oneOf(r, 1, 3, 8)
		for range r.IntN(most + 1) {
			var row []*string
			for v := range c.variables {
				x := &values[v][min(r.IntN(len(values[v])), r.IntN(spread))]
				if v < c.by {
					x = &area[v]
				}
				if rare == 0 && r.IntN(12) == 0 {
					x = nil
				}
				row = append(row, x)
			}
			c.rows = append(c.rows, row)
		}
	}
	r.Shuffle(len(c.rows), func(i, j int) { c.rows[i], c.rows[j] = c.rows[j], c.rows[i] })
	c.place()
	c.asked.Known = []int64{0, 1, 2, 3, 4, 5, 6, 8, 11, 14}
	c.drawRelease(r, oneOf(r, false, false, true))
	return c
}

// drawLarge makes one table too large to go through all that can be known of it.
func drawLarge(r *rand.Rand) *sapCase {
	c := &sapCase{ends: 3}
	a, b := []string{"a", "b", "c"}, []string{"w", "x", "y", "z"}
	for _, cell := range product(a, b) {
		for range oneOf(r, 0, 1, 2, 4, 6, 7, 8) {
			c.rows = append(c.rows, []*string{&cell[0], &cell[1]})
		}
	}
	c.variables, c.levels = []oracleVariable{{name: "A"}, {name: "B"}}, [][]string{a, b}
	c.place()
	n := int64(len(c.rows))
	c.asked.Known = []int64{0, 1, 2, 3, n - 3, n - 2, n - 1, n}
	c.drawRelease(r, true)
	return c
}

func (c *sapCase) drawRelease(r *rand.Rand, margins bool) {
	s := &c.asked
	s.Missing = c.missing
	r.Shuffle(len(s.Known), func(i, j int) { s.Known[i], s.Known[j] = s.Known[j], s.Known[i] })
	s.Known = s.Known[:1+r.IntN(len(s.Known))]
	if c.threshold = 0.5; r.IntN(2) == 0 {
		c.threshold = oneOf(r, 0.1, 0.3, 0.75, 1)
		s.Threshold = &c.threshold
	}
	s.Release.Perturbation = drawScheme(r)
	s.Release.Total = oneOf(r, "", "none", "same", "same", "exact", "exact")
	names := c.names()[c.by:]
	for set := 1; margins && set < 1<<len(names)-1; set++ {
		var m []string
		for v, name := range names {
			if set>>v&1 == 1 {
				m = append(m, name)
			}
		}
		if r.IntN(2) == 0 || c.ends < 100 {
			s.Release.Margins = append(s.Release.Margins, m)
		}
	}
	for range r.IntN(4) * r.IntN(2) { // combinations that nobody has
		m := map[string]string{}
		for v, x := range oneOf(r, append(c.cells, nil)...) {
			if x != noValue && r.IntN(4) > 0 {
				m[names[v]] = x
			}
		}
		if !slices.ContainsFunc(c.of, func(at [2]int) bool { return at[0] >= 0 && c.matches(m, at[1]) }) && len(m) > 0 {
			s.Impossible = append(s.Impossible, m)
		}
	}
}

// matches says whether a combination of some variables has a cell in it.
func (c *sapCase) matches(m map[string]string, cell int) bool {
	for v, x := range c.cells[cell] {
		if y, said := m[c.variables[c.by+v].name]; said && x != y {
			return false
		}
	}
	return true
}

func (c *sapCase) names() (names []string) {
	for _, x := range c.variables {
		names = append(names, x.name)
	}
	return names
}

// place finds the areas, the cells of their tables, and where the records are.
func (c *sapCase) place() {
	var all []int
	var lists [][]string
	for v := range c.variables {
		if all = append(all, v); v >= c.by {
			lists = append(lists, c.categories(v))
		}
	}
	c.counts, c.cells = c.tableCase.count(all, true), product(lists...)
	if c.by == 0 || c.levels[0] != nil {
		c.areas = product(c.levels[:c.by]...)
	}
	for i := range c.rows {
		var record []string
		for v := range all {
			record = append(record, c.text(i, v))
		}
		place := [2]int{-1, indexOf(c.cells, record[c.by:])}
		if area := record[:c.by]; !slices.Contains(area, noValue) { // an area is in the file even if its records are dropped
			if indexOf(c.areas, area) < 0 {
				c.areas = append(c.areas, area)
			}
			if place[1] >= 0 {
				place[0] = indexOf(c.areas, area)
			}
		}
		c.of = append(c.of, place)
	}
}

func (c *sapCase) key(area int, margin []string) string {
	return strings.Join(slices.Concat(c.areas[area], margin), cellJoin)
}

// released lists what is published of each area: the cells of the table, those of the margins, and the total.
func (c *sapCase) released() [][]string {
	list, margins := slices.Clone(c.cells), c.asked.Release.Margins
	if c.asked.Release.Total == "same" || c.asked.Release.Total == "exact" {
		margins = append(slices.Clone(margins), nil)
	}
	for _, m := range margins {
		for _, cell := range c.cells {
			x := slices.Clone(cell)
			for v := range x {
				if !slices.Contains(m, c.variables[c.by+v].name) {
					x[v] = allOf
				}
			}
			if indexOf(list, x) < 0 {
				list = append(list, x)
			}
		}
	}
	return list
}

// A sapLaw has what enumeration finds of one area, by the number of people known.
type sapLaw struct {
	people         int
	ways, otherWay []float64   // to draw n people, of all and of all but one
	sap, zeros     []float64   // ways in which a zero is recovered, and the sum of zeros over them
	cell, target   [][]float64 // by cell
}

func at(list []float64, n int64) float64 { return list[min(int(n), len(list)-1)] }

// enumerate goes through everything that can be known of an area: the numbers of people known of each cell. A zero is recovered
// where all of a cell are known, and no table that the release allows, with at least those known, has more in it.
func (c *sapCase) enumerate(area int) *sapLaw {
	m := len(c.cells)
	counts, lo, hi, possible := make([]int, m), make([]int, m), make([]int, m), make([]bool, m)
	law, rules := &sapLaw{}, []rule(nil)
	for k, x := range c.released() {
		n := c.counts[c.key(area, x)]
		l, u := interval(&c.asked.Release.Perturbation, c.published[c.key(area, x)])
		if k < m {
			possible[k] = !slices.ContainsFunc(c.asked.Impossible, func(m map[string]string) bool { return c.matches(m, k) })
			if counts[k], lo[k], hi[k] = n, l, u; !possible[k] {
				hi[k] = 0
			}
			law.people += n
			continue
		}
		if c.asked.Release.Total == "exact" && strings.Join(x, "") == strings.Repeat(allOf, len(x)) {
			l, u = n, n
		}
		var parts []int
		for i, cell := range c.cells {
			if within(cell, x) {
				parts = append(parts, i)
			}
		}
		rules = append(rules, rule{parts, l, u})
	}
	law.sap, law.zeros = make([]float64, law.people+1), make([]float64, law.people+1)
	for range m {
		law.cell, law.target = append(law.cell, make([]float64, law.people+1)), append(law.target, make([]float64, max(1, law.people)))
	}
	for n := range law.people + 1 {
		law.ways = append(law.ways, binomial(law.people, n))
		law.otherWay = append(law.otherWay, binomial(law.people-1, n))
	}
	law.otherWay = law.otherWay[:max(1, law.people)]
	known := make([]int, m)
	var know func(i, n, rest int, ways float64)
	know = func(i, n, rest int, ways float64) {
		if n > c.ends && n+rest < law.people-c.ends {
			return
		}
		if i < m {
			for known[i] = 0; known[i] <= counts[i]; known[i]++ {
				know(i+1, n+known[i], rest-counts[i], ways*binomial(counts[i], known[i]))
			}
			known[i] = 0
			return
		}
		zeros := 0
		for k, s := range known {
			if !possible[k] || s < counts[k] {
				continue
			}
			more := slices.Clone(lo)
			for i := range more {
				more[i] = max(more[i], known[i])
			}
			if more[k] = max(more[k], s+1); more[k] > hi[k] || !exists(more, hi, rules) {
				zeros++
				law.cell[k][n] += ways
			}
		}
		law.zeros[n] += ways * float64(zeros)
		for k := range known {
			if zeros > 0 && known[k] < counts[k] { // one of those not known is the target
				law.target[k][n] += ways * float64(counts[k]-known[k]) / float64(counts[k])
			}
		}
		if zeros > 0 {
			law.sap[n] += ways
		}
	}
	know(0, 0, law.people, 1)
	return law
}

// affordable says whether enumeration ends soon.
func (c *sapCase) affordable() bool {
	for area := range c.areas {
		cost, people := len(c.cells)*len(c.released()), 0
		for _, cell := range c.cells {
			cost *= c.counts[c.key(area, cell)] + 1
			people += c.counts[c.key(area, cell)]
		}
		if cost > 400000 || people > 12 {
			return false
		}
	}
	return len(c.areas) > 0 && len(c.cells) > 0 // of a table without cells not all is said
}

// publish draws the numbers of all areas, and writes them to a file.
func (c *sapCase) publish(t *testing.T, r *rand.Rand, path string) {
	var lines [][]string
	c.published = map[string]int{}
	for area := range c.areas {
		for _, x := range c.released() {
			key := c.key(area, x)
			law := kernel(&c.asked.Release.Perturbation, c.counts[key])
			c.published[key] = oneOf(r, sortedKeys(law)...)
			if c.published[key] == 0 && r.IntN(2) == 0 {
				continue // a row that is not there says 0
			}
			line := strings.Split(strings.ReplaceAll(key, noValue, ""), cellJoin)
			lines = append(lines, append(line, strconv.Itoa(c.published[key])))
		}
	}
	r.Shuffle(len(lines), func(i, j int) { lines[i], lines[j] = lines[j], lines[i] })
	writeFile(t, path, csvText(append(c.names(), oneOf(r, "published", "value", "count")), lines))
}

func TestSAPOracle(t *testing.T) {
	dir := t.TempDir()
	for round := range tableRounds(t, 70) {
		r := generator(round)
		c := drawSAP(r)
		for !c.affordable() {
			c = drawSAP(r)
		}
		c.check(t, dir, round, r)
	}
}

// TestSAPEstimates lets tables be estimated: all SAPs are near what is true, and 95 % of them within their interval.
func TestSAPEstimates(t *testing.T) {
	dir := t.TempDir()
	estimates, misses := 0.0, 0.0
	for round := range (tableRounds(t, 60) + 9) / 10 {
		r := generator(round)
		c := drawLarge(r)
		c.check(t, dir, round, r)
		estimates += float64(c.estimates)
		misses += float64(c.misses)
	}
	if misses > 0.05*estimates+3*math.Sqrt(0.05*0.95*estimates) {
		t.Errorf("%v of %v estimates are outside their 95 %% interval", misses, estimates)
	}
}

func (c *sapCase) check(t *testing.T, dir string, round int, r *rand.Rand) {
	in := func(name string) string { return filepath.Join(dir, name) }
	all, s, scheme := []int{}, &c.asked, &c.asked.Release.Perturbation
	for i := range c.rows {
		all = append(all, i)
	}
	c.writePart(t, in("in.csv"), all)
	variables := []int{0, 1, 2, 3, 4}[:len(c.variables)]
	s.By, s.Cells = c.keyVariables(variables[:c.by]...), c.keyVariables(variables[c.by:]...)
	s.Tables = in("tables." + oneOf(r, "csv", "parquet"))
	spec := &schemas.Spec{Source: schemas.Source{Path: []string{in("in.csv")}, Types: c.types()}, Operators: []schemas.Operator{{SAP: s}},
		Sink: schemas.Sink{Path: in("out." + oneOf(r, "csv", "parquet"))}}
	fail := func(format string, arguments ...any) {
		text, _ := os.ReadFile(in("in.csv"))
		file, _ := os.ReadFile(in("published.csv"))
		t.Fatalf("round %d: %s\n%s\n%s\n%s", round, fmt.Sprintf(format, arguments...), spec.YAML(), text, file)
	}
	os.Remove(in("published.csv"))
	switch {
	case scheme.Random() && r.IntN(2) == 0: // what tabulate publishes with the same secret
		scheme.Secret = in("secret")
		writeFile(t, scheme.Secret, officeSecret(round))
		spec.Operators = append(spec.Operators, schemas.Operator{Tabulate: &schemas.Tabulate{Cells: c.keyVariables(variables...), Missing: c.missing,
			Margins: true, Empty: true, Perturb: new(*scheme), Path: in("published.csv")}})
	case scheme.Random() || r.IntN(3) == 0:
		s.Release.Published = in("published.csv")
		c.publish(t, r, s.Release.Published)
	default: // nothing is left to chance
		c.published = map[string]int{}
		for key, n := range c.counts {
			c.published[key] = sortedKeys(kernel(scheme, n))[0]
		}
	}
	o, err := pipeline.Run(context.Background(), spec, pipeline.Options{Workers: 1 + r.IntN(3), Batch: r.IntN(9), Seed: r.Uint64()})
	if err != nil {
		fail("run: %v", err)
	}
	if scheme.Secret != "" {
		c.published, _ = readTable(t, in("published.csv"), c.names(), "value")
	}
	var laws []*sapLaw
	for area := range c.areas {
		laws = append(laws, c.enumerate(area))
	}
	summary := o.Summary.Operators["sap"].(*schemas.SAPSummary)
	if c.ends == 100 && (!summary.Exact || summary.LowerBound || summary.HalfWidth != 0) || summary.Exact && summary.HalfWidth > 0 {
		fail("%+v", summary)
	}
	compared := &sapComparison{c, laws, fail, summary}
	compared.tables()
	compared.records(spec.Sink.Path)
	compared.summary()
}

// A sapComparison compares what a run has written with the oracle.
type sapComparison struct {
	*sapCase
	laws []*sapLaw
	fail func(string, ...any)
	said *schemas.SAPSummary
}

// number compares one; spread is how far an estimate may be away, 0 for those that have an interval.
func (c *sapComparison) number(what string, got *string, want, spread float64) {
	x, err := strconv.ParseFloat(*cmp.Or(got, new("null")), 64)
	switch {
	case c.said.Exact:
		spread = 0
	case spread == 0:
		if c.estimates++; math.Abs(x-want) > c.said.HalfWidth {
			c.misses++
		}
		spread = 2 * c.said.HalfWidth
	}
	if err != nil || !closeTo(x, want, 1e-9, spread) {
		c.fail("%s is %s, want %v", what, show(got), want)
	}
}

// read checks the names of a file's columns, and the number of its rows.
func (c *sapComparison) read(path string, count int, columns []string, kinds ...string) [][]*string {
	header, rows, err := readOutput(path)
	for _, kind := range kinds {
		for _, n := range c.asked.Known {
			columns = append(columns, fmt.Sprint(kind, n))
		}
	}
	if last := len(header) - 1; last >= 0 && header[last] == "smallest_known" && c.asked.Tables == path {
		header = header[:last]
	}
	if err != nil || !slices.Equal(header, columns) || len(rows) != count {
		c.fail("%d rows with columns %q, want %d with %q: %v", len(rows), header, count, columns, err)
	}
	return rows
}

func (c *sapComparison) tables() {
	known, left := c.asked.Known, slices.Clone(c.areas)
	for _, row := range c.read(c.asked.Tables, len(c.areas), append(c.names()[:c.by], "people", "cells"), "sap_", "expected_zeros_") {
		area := []string{}
		for _, x := range row[:c.by] {
			area = append(area, show(x))
		}
		k := indexOf(left, area)
		if k < 0 {
			c.fail("table %q is none, or there twice", area)
		}
		left[k] = []string{"gone"}
		law, row := c.laws[k], row[c.by:]
		if *row[0] != strconv.Itoa(law.people) || *row[1] != strconv.Itoa(len(c.cells)) {
			c.fail("table %q has %s people, %s cells, want %d, %d", area, *row[0], *row[1], law.people, len(c.cells))
		}
		for i, n := range known {
			c.number(fmt.Sprintf("SAP(%d) of %q", n, area), row[2+i], at(law.sap, n)/at(law.ways, n), 0)
			c.number(fmt.Sprintf("zeros(%d) of %q", n, area), row[2+len(known)+i], at(law.zeros, n)/at(law.ways, n), 0.03*float64(len(c.cells)))
		}
		if got := row[2+2*len(known)]; len(c.asked.Release.Margins) == 0 && !same(got, c.smallest(law)) { // with margins it is not found
			c.fail("the smallest n of %q is %s, want %s", area, show(got), show(c.smallest(law)))
		}
	}
}

// smallest is the least n whose SAP comes to the threshold.
func (c *sapComparison) smallest(law *sapLaw) *string {
	for n, x := range law.sap {
		if x/law.ways[n] >= c.threshold {
			return new(strconv.Itoa(n))
		}
	}
	return nil
}

func (c *sapComparison) records(path string) {
	kinds := []string{"sap_", "sap_cell_", "sap_target_"}
	if len(c.asked.Release.Margins) > 0 {
		kinds = kinds[:2]
	}
	for i, row := range c.read(path, len(c.rows), append([]string{"nr"}, c.names()...), kinds...) {
		if *row[0] != strconv.Itoa(i) || !slices.EqualFunc(row[1:1+len(c.variables)], c.rows[i], same) {
			c.fail("row %d is another", i)
		}
		area, cell := c.of[i][0], c.of[i][1]
		for j, x := range row[1+len(c.variables):] {
			kind, n := kinds[j/len(c.asked.Known)], c.asked.Known[j%len(c.asked.Known)]
			what := fmt.Sprintf("%s%d of row %d", kind, n, i)
			switch {
			case area < 0 && x != nil:
				c.fail("%s is %s, want null", what, *x)
			case area < 0:
			case kind == "sap_":
				c.number(what, x, at(c.laws[area].sap, n)/at(c.laws[area].ways, n), 0)
			case kind == "sap_cell_":
				c.number(what, x, at(c.laws[area].cell[cell], n)/at(c.laws[area].ways, n), 0.03)
			default:
				c.number(what, x, at(c.laws[area].target[cell], n)/at(c.laws[area].otherWay, n), 0)
			}
		}
	}
}

func (c *sapComparison) summary() {
	s, greatest := c.said, slices.Max(c.asked.Known)
	want := schemas.SAPSummary{Tables: int64(len(c.laws)), Cells: int64(len(c.cells))}
	smallest := map[string]int64{}
	for _, law := range c.laws {
		if want.Records += int64(law.people); int64(law.people) < greatest {
			want.SmallTables++
		}
		if law.people == 0 {
			want.EmptyTables++
		}
		smallest[show(c.smallest(law))]++
	}
	if want.EmptyTables > 0 {
		want.SmallTables = s.SmallTables // it is not said whether these are among them
	}
	if s.Tables != want.Tables || s.Records != want.Records || s.Cells != want.Cells || s.SmallTables != want.SmallTables || s.EmptyTables != want.EmptyTables ||
		!slices.Equal(s.Known, c.asked.Known) || s.Threshold != c.threshold || len(s.Distribution) != len(s.Known) {
		c.fail("the summary is %+v, want %+v", s, want)
	}
	if len(c.asked.Release.Margins) == 0 {
		for _, x := range s.SmallestKnown {
			n := "null"
			if x.Known != nil {
				n = strconv.FormatInt(*x.Known, 10)
			}
			if smallest[n] -= x.Tables; smallest[n] == 0 {
				delete(smallest, n)
			}
		}
		if len(smallest) > 0 {
			c.fail("the summary has %+v, other tables are %v", s.SmallestKnown, smallest)
		}
	}
	for i, d := range s.Distribution {
		want := schemas.SAPDistribution{Known: c.asked.Known[i], Bands: make([]int64, 10)}
		for _, law := range c.laws {
			x, ways := at(law.sap, d.Known), at(law.ways, d.Known)
			switch {
			case x == 0:
				want.Zero++
			case x == ways:
				want.One++
			default:
				want.Bands[int(math.Ceil(10*x/ways))-1]++
			}
			want.Mean += x / ways / float64(len(c.laws))
			want.Greatest = max(want.Greatest, x/ways)
		}
		if s.Exact && (d.Known != want.Known || d.Zero != want.Zero || d.One != want.One || !slices.Equal(d.Bands, want.Bands) ||
			!closeTo(d.Mean, want.Mean, 1e-9, 0) || !closeTo(d.Greatest, want.Greatest, 1e-9, 0)) {
			c.fail("the distribution is %+v, want %+v", d, want)
		}
	}
}
