package pipeline_test

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"microrisk/operators/sap"
	"microrisk/operators/tabulate"
	"microrisk/schemas"
)

// A sapCase is a random file with a random release of its areas' tables. The variables of by come first.
type sapCase struct {
	tableCase
	by        int
	asked     sap.Config
	threshold float64
	counts    map[string]int // of every cell and margin of every area
	areas     [][]string
	cells     [][]string
	never     [][]string     // impossible combinations
	of        [][2]int       // area and cell of each record; -1 for none
	published map[string]int // of every cell and margin released, by area
	ends      int            // only so many people, or all but so many, are known
	estimates int            // SAPs that are estimates, and how many were outside their interval
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
	if c.by == 2 && (c.levels[0] == nil || c.levels[1] == nil) { // it is not said what levels of some do
		c.levels[0], c.levels[1] = nil, nil
	}
	rare, most := r.IntN(4), oneOf(r, 3, 6, 9, 12)
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
			s.Release.Margins = append(s.Release.Margins, sap.Margin{Variables: m})
			if r.IntN(3) == 0 {
				own := drawScheme(r)
				s.Release.Margins[len(s.Release.Margins)-1].Perturb = &own
			}
		}
	}
	if s.Release.BaseTable = oneOf(r, "", "", "", "same", "exact", "none"); s.Release.BaseTable == "none" && s.Release.Margins == nil &&
		s.Release.Total != "same" {
		s.Release.Total = "exact"
	}
	for range r.IntN(4) * r.IntN(2) { // combinations that nobody has
		m, pattern := map[string]string{}, slices.Repeat([]string{allOf}, len(names))
		for v, x := range oneOf(r, append(c.cells, nil)...) {
			if x != noValue && r.IntN(4) > 0 {
				m[names[v]], pattern[v] = x, x
			}
		}
		if len(m) > 0 && !slices.ContainsFunc(c.of, func(at [2]int) bool { return at[0] >= 0 && within(c.cells[at[1]], pattern) }) {
			s.Impossible, c.never = append(s.Impossible, m), append(c.never, pattern)
		}
	}
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
	list, margins := slices.Clone(c.cells), [][]string(nil)
	for _, m := range c.asked.Release.Margins {
		margins = append(margins, m.Variables)
	}
	if c.asked.Release.Total == "same" || c.asked.Release.Total == "exact" {
		margins = append(margins, nil)
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

// scheme is the one by which a cell of the table or of a margin is published.
func (c *sapCase) scheme(cell []string) *schemas.Perturbation {
	release, exactly := &c.asked.Release, &schemas.Perturbation{Scheme: "none"}
	var names []string
	for v, x := range cell {
		if x != allOf {
			names = append(names, c.variables[c.by+v].name)
		}
	}
	switch {
	case len(names) == len(cell) && release.BaseTable == "exact", len(names) == 0 && release.Total == "exact":
		return exactly
	}
	for _, m := range release.Margins {
		if slices.Equal(m.Variables, names) && m.Perturb != nil {
			return m.Perturb
		}
	}
	return &release.Perturbation
}

// interval has the least and the greatest true count that can be published as a number.
func interval(p *schemas.Perturbation, published int) (lo, hi int) {
	lo, hi = math.MaxInt, -1
	for n := range published + 40 {
		if kernel(p, n)[published] > 0 {
			lo, hi = min(lo, n), n
		}
	}
	return lo, hi
}

// publish draws the numbers of all areas, and gives them as a file. A row that is not there says 0.
func (c *sapCase) publish(r *rand.Rand) string {
	var lines [][]string
	c.published = map[string]int{}
	for area := range c.areas {
		for _, x := range c.released() {
			key := c.key(area, x)
			n := oneOf(r, sortedKeys(kernel(c.scheme(x), c.counts[key]))...)
			if c.published[key] = n; n > 0 || r.IntN(2) == 0 {
				lines = append(lines, append(strings.Split(strings.ReplaceAll(key, noValue, ""), cellJoin), strconv.Itoa(n)))
			}
		}
	}
	r.Shuffle(len(lines), func(i, j int) { lines[i], lines[j] = lines[j], lines[i] })
	return csvText(append(c.names(), oneOf(r, "published", "value", "count")), lines)
}

// TestSAPOracle lets some tables be estimated: all SAPs are near what is true, and most of them within their 95 % interval.
func TestSAPOracle(t *testing.T) {
	dir, estimates, misses := t.TempDir(), 0.0, 0.0
	for round := range tableRounds(t, 40) {
		r := generator(round)
		c := drawSAP(r)
		for len(c.areas)*len(c.cells) == 0 { // of such tables not all is said
			c = drawSAP(r)
		}
		if round%10 == 9 {
			c = drawLarge(r)
		}
		c.check(t, dir, round, r)
		estimates += float64(c.estimates)
		misses += float64(c.misses)
	}
	if misses > 3+0.1*estimates { // they are not independent
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
	spec := &schemas.Spec{AllowEmpty: true, Source: schemas.Source{Path: []string{in("in.csv")}, Types: c.types()}, Operators: []schemas.Operator{{Config: s}},
		Sink: schemas.Sink{Path: in("out." + oneOf(r, "csv", "parquet"))}}
	fail := failing(t, round, spec, in("in.csv"), in("published.csv"))
	os.Remove(in("published.csv"))
	own := s.Release.BaseTable != "" || slices.ContainsFunc(s.Release.Margins, func(m sap.Margin) bool { return m.Perturb != nil })
	switch {
	case scheme.Random() && !own && r.IntN(2) == 0: // what tabulate publishes with the same secret
		scheme.Secret = in("secret")
		writeFile(t, scheme.Secret, officeSecret(round))
		spec.Operators = append(spec.Operators, schemas.Operator{Config: &tabulate.Config{Cells: c.keyVariables(variables...), Missing: c.missing,
			Margins: true, Empty: true, Perturb: new(*scheme), Path: in("published.csv")}})
	case s.Release.Random() || r.IntN(3) == 0:
		s.Release.Published = in("published.csv")
		writeFile(t, s.Release.Published, c.publish(r))
	default: // nothing is left to chance
		c.publish(r)
	}
	summary := runTables(r, spec, fail)["sap"].(*sap.Summary)
	if scheme.Secret != "" {
		c.published, _ = readTable(t, in("published.csv"), c.names(), "value")
	}
	var laws []*sapLaw
	for area := range c.areas {
		laws = append(laws, c.enumerate(area))
	}
	if c.ends == 100 && (!summary.Exact || summary.LowerBound || summary.HalfWidth != 0) || summary.Exact && summary.HalfWidth > 0 {
		fail("%+v", summary)
	}
	compared := &sapComparison{c, laws, fail, summary}
	compared.tables()
	compared.records(spec.Sink.Path)
	compared.summary()
}

// at takes the last of a list for all that come after it.
func at(list []float64, n int64) float64 { return list[min(int(n), len(list)-1)] }

// A sapComparison compares what a run has written with the oracle.
type sapComparison struct {
	*sapCase
	laws []*sapLaw
	fail func(string, ...any)
	said *sap.Summary
}

// number compares one; spread is how far an estimate may be away, 0 for those that have an interval.
func (c *sapComparison) number(what string, got *string, want, spread float64) {
	x, err := strconv.ParseFloat(*cmp.Or(got, new("null")), 64)
	switch {
	case c.said.Exact:
		spread = 0
	case spread == 0:
		spread = 3 * c.said.HalfWidth
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
	if path == c.asked.Tables {
		columns = append(columns, "smallest_known")
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
			if x, _ := strconv.ParseFloat(*row[2+i], 64); !c.said.Exact && !closeTo(x, at(law.sap, n)/at(law.ways, n), 1e-9, 0) {
				if c.estimates++; math.Abs(x-at(law.sap, n)/at(law.ways, n)) > c.said.HalfWidth {
					c.misses++
				}
			}
			c.number(fmt.Sprintf("zeros(%d) of %q", n, area), row[2+len(known)+i], at(law.zeros, n)/at(law.ways, n), 0.03*float64(len(c.cells)))
		}
		if got := row[2+2*len(known)]; c.ends == 100 && !same(got, c.smallest(law)) { // of larger ones enumeration does not tell
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
	if c.asked.Release.Joint() {
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
	s, small, needs := c.said, int64(0), map[string]int64{}
	want := *s // with what is compared elsewhere
	want.Known, want.Threshold, want.Tables, want.Cells, want.Records, want.EmptyTables = c.asked.Known, c.threshold, int64(
		len(c.laws),
	), int64(
		len(c.cells),
	), 0, 0
	for _, law := range c.laws {
		want.Records += int64(law.people)
		if law.people == 0 {
			want.EmptyTables++
		}
		if int64(law.people) < slices.Max(c.asked.Known) {
			small++
		}
		needs[show(c.smallest(law))]++
	}
	if want.EmptyTables == 0 { // else it is not said whether these are among the small ones
		want.SmallTables = small
	}
	if c.ends == 100 {
		want.SmallestKnown, want.NotFound = nil, 0
		for n := range int64(13) {
			if tables := needs[strconv.FormatInt(n, 10)]; tables > 0 {
				want.SmallestKnown = append(want.SmallestKnown, sap.SmallestKnown{Known: &n, Tables: tables})
			}
		}
		if needs["null"] > 0 {
			want.SmallestKnown = append(want.SmallestKnown, sap.SmallestKnown{Tables: needs["null"]})
		}
	}
	want.Distribution = nil
	for i, n := range c.asked.Known {
		d := sap.Distribution{Known: n, Bands: make([]int64, 10)}
		for _, law := range c.laws {
			x, ways := at(law.sap, n), at(law.ways, n)
			switch x {
			case 0:
				d.Zero++
			case ways:
				d.One++
			default:
				d.Bands[int(math.Ceil(10*x/ways))-1]++
			}
			d.Mean += x / ways / float64(len(c.laws))
			d.Greatest = max(d.Greatest, x/ways)
		}
		if y := s.Distribution[i]; closeTo(d.Mean, y.Mean, 1e-9, 0) && closeTo(d.Greatest, y.Greatest, 1e-9, 0) {
			d.Mean, d.Greatest = y.Mean, y.Greatest
		}
		want.Distribution = append(want.Distribution, d)
	}
	if s.Exact && !reflect.DeepEqual(want, *s) {
		c.fail("the summary is %+v, want %+v", *s, want)
	}
}
