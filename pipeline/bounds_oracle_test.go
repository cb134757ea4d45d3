package pipeline_test

import (
	"context"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"microrisk/pipeline"
	"microrisk/schemas"
)

// drawScheme makes a scheme at random.
func drawScheme(r *rand.Rand) schemas.Perturbation {
	p := schemas.Perturbation{Scheme: oneOf(r, "none", "conventional", "conventional", "random", "random", "barnard", "small", "matrix")}
	switch p.Scheme {
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
			p.Matrix = append(p.Matrix, []schemas.Outcome{{Count: i + oneOf[int64](r, 0, 1), Probability: 0.25}, {Count: i + 2, Probability: 0.5}, {Count: i + 3, Probability: 0.25}})
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

// kernel is the probability of every count that a true one can be published as.
func kernel(p *schemas.Perturbation, n int) map[int]float64 {
	base := int(p.Base)
	law := map[int]float64{}
	switch p.Scheme {
	case "conventional":
		law[roundTo(n, base, p.Tie)] = 1
	case "random":
		rest := n % base
		up := float64(rest) / float64(base)
		if p.Probability != nil && 2*rest > base {
			up = *p.Probability
		} else if p.Probability != nil {
			up = 1 - *p.Probability
		}
		if rest == 0 {
			up = 0
		}
		law[n-rest], law[n-rest+base] = 1-up, up
	case "barnard":
		if law[n] = 1; n > 0 {
			law[n-1], law[n], law[n+1] = (1-*p.Probability)/2, *p.Probability, (1-*p.Probability)/2
		}
	case "small":
		if law[roundTo(n, base, p.Tie)] = 1; n >= 1 && n <= int(p.Last) {
			law = map[int]float64{int(p.Value): 1}
		}
	case "matrix":
		last := min(n, len(p.Matrix)-1)
		for _, o := range p.Matrix[last] {
			law[int(o.Count)+n-last] += o.Probability
		}
	default:
		law[n] = 1
	}
	maps.DeleteFunc(law, func(_ int, q float64) bool { return q == 0 })
	return law
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

// A rule says what the counts of some cells add up to.
type rule struct {
	cells  []int
	lo, hi int
}

// exists says whether there is a table of whole numbers from lo to hi that keeps all rules. It tries them all, but for those of
// which a sum has gone wrong already.
func exists(lo, hi []int, rules []rule) bool {
	least, most := make([]int, len(rules)), make([]int, len(rules)) // of each sum, given the cells that are filled
	of := make([][]int, len(lo))
	for k, x := range rules {
		for _, i := range x.cells {
			least[k] += lo[i]
			most[k] += hi[i]
			of[i] = append(of[i], k)
		}
		if least[k] > x.hi || most[k] < x.lo {
			return false
		}
	}
	var fill func(i int) bool
	fill = func(i int) bool {
		if i == len(lo) {
			return true
		}
		for v := lo[i]; v <= hi[i]; v++ {
			good := true
			for _, k := range of[i] {
				least[k] += v - lo[i]
				most[k] += v - hi[i]
				good = good && least[k] <= rules[k].hi && most[k] >= rules[k].lo
			}
			good = good && fill(i+1)
			for _, k := range of[i] {
				least[k] -= v - lo[i]
				most[k] -= v - hi[i]
			}
			if good {
				return true
			}
		}
		return false
	}
	return fill(0)
}

// A margin is released with a number for each of its cells.
type margin struct {
	variables []int
	published map[string]int // by cell, with Total for the other variables; what is not there is 0
}

// A boundsCase is a set of margins, in files.
type boundsCase struct {
	names       []string
	scheme      schemas.Perturbation
	files       [][]margin
	texts       []string
	listed      [][]string // categories in the files
	cells       [][]string
	rules       []rule
	lo, hi      []int // trivial bounds
	least, most []int // tightest bounds
	allowed     bool  // some table keeps all rules
}

func drawBounds(r *rand.Rand) *boundsCase {
	c := &boundsCase{scheme: drawScheme(r)}
	if r.IntN(2) == 0 {
		c.scheme = schemas.Perturbation{}
	}
	k := 1 + r.IntN(4)
	lists, size := [][]string{}, 1
	for v := range k {
		list := oneOf(r, []string{"Z", "a", "x,y"}, []string{"1", "2", "10"}, []string{"m", "é", "f"})[:1+r.IntN(3)]
		if size*len(list) > 12 {
			list = list[:1]
		}
		size *= len(list)
		lists = append(lists, list)
		c.names = append(c.names, []string{"A", "b.c", "Ü", "d e"}[v])
	}
	c.listed = make([][]string, k)
	counts, greatest := map[string]int{}, 1+r.IntN(3)
	for _, cell := range product(lists...) {
		counts[strings.Join(cell, cellJoin)] = max(0, r.IntN(2*greatest+1)-greatest)
	}
	for range 1 + r.IntN(3) {
		var file []margin
		for range 1 + r.IntN(3) {
			var m margin
			for v := range k {
				if r.IntN(2) == 0 {
					m.variables = append(m.variables, v)
				}
			}
			if !slices.ContainsFunc(file, func(x margin) bool { return slices.Equal(x.variables, m.variables) }) {
				file = append(file, m)
			}
		}
		if slices.ContainsFunc(file, func(m margin) bool { return len(m.variables) > 0 }) {
			c.files = append(c.files, file)
		}
	}
	if len(c.files) == 0 {
		c.files = [][]margin{{{variables: []int{0}}}}
	}
	wrong := r.IntN(5) == 0
	for _, file := range c.files {
		c.write(r, file, lists, counts, wrong)
	}
	return c
}

// write makes a file of margins; numbers of 0 may be left out.
func (c *boundsCase) write(r *rand.Rand, file []margin, lists [][]string, counts map[string]int, wrong bool) {
	var columns []int
	for v := range c.names {
		if slices.ContainsFunc(file, func(m margin) bool { return slices.Contains(m.variables, v) }) {
			columns = append(columns, v)
		}
	}
	r.Shuffle(len(columns), func(i, j int) { columns[i], columns[j] = columns[j], columns[i] })
	header := []string{}
	for _, v := range columns {
		header = append(header, c.names[v])
	}
	lines, sparse := [][]string{}, r.IntN(2) == 0
	for k := range file {
		m := &file[k]
		m.published = map[string]int{}
		levels := slices.Repeat([][]string{{allOf}}, len(lists))
		for _, v := range m.variables {
			levels[v] = lists[v]
		}
		for i, cell := range product(levels...) {
			n := 0
			for key, x := range counts {
				if within(strings.Split(key, cellJoin), cell) {
					n += x
				}
			}
			law := kernel(&c.scheme, n)
			j := oneOf(r, sortedKeys(law)...)
			if step := max(1, int(c.scheme.Base)); wrong && r.IntN(4) == 0 {
				if lo, _ := interval(&c.scheme, j+step); lo != math.MaxInt {
					j += step
				}
			}
			m.published[strings.Join(cell, cellJoin)] = j
			if j == 0 && sparse && i > 0 {
				continue
			}
			line := []string{}
			for _, v := range columns {
				x := cell[v]
				if x != allOf && !slices.Contains(c.listed[v], x) {
					c.listed[v] = append(c.listed[v], x)
				}
				line = append(line, x)
			}
			lines = append(lines, append(line, strconv.Itoa(j)))
		}
	}
	r.Shuffle(len(lines), func(i, j int) { lines[i], lines[j] = lines[j], lines[i] })
	c.texts = append(c.texts, csvText(append(header, oneOf(r, "published", "value", "count")), lines))
}

// solve finds the tightest bounds by trying every number of every cell.
func (c *boundsCase) solve() {
	var lists [][]string
	var names []string
	var at []int
	for v, list := range c.listed {
		if len(list) > 0 {
			lists, names, at = append(lists, list), append(names, c.names[v]), append(at, v)
		}
	}
	c.cells, c.names = product(lists...), names
	c.lo, c.hi = make([]int, len(c.cells)), slices.Repeat([]int{math.MaxInt}, len(c.cells))
	for _, file := range c.files {
		for _, m := range file {
			parts := map[string][]int{}
			for i, cell := range c.cells {
				key := slices.Repeat([]string{allOf}, len(c.listed))
				for j, v := range at {
					if slices.Contains(m.variables, v) {
						key[v] = cell[j]
					}
				}
				parts[strings.Join(key, cellJoin)] = append(parts[strings.Join(key, cellJoin)], i)
			}
			for key, cells := range parts {
				lo, hi := interval(&c.scheme, m.published[key])
				c.rules = append(c.rules, rule{cells, lo, hi})
				for _, i := range cells {
					if c.hi[i] = min(c.hi[i], hi); len(cells) == 1 {
						c.lo[i] = max(c.lo[i], lo)
					}
				}
			}
		}
	}
	c.least, c.most = slices.Clone(c.lo), slices.Clone(c.hi)
	if c.allowed = exists(c.lo, c.hi, c.rules); !c.allowed {
		return
	}
	for i := range c.cells {
		can := func(n int) bool {
			lo, hi := slices.Clone(c.lo), slices.Clone(c.hi)
			lo[i], hi[i] = n, n
			return exists(lo, hi, c.rules)
		}
		for !can(c.least[i]) {
			c.least[i]++
		}
		for !can(c.most[i]) {
			c.most[i]--
		}
	}
}

// decomposable says whether the greatest margins are the cliques of a decomposable graph, and whether there are no others:
// variables of one margin only, and margins inside others, are taken away until nothing is left.
func (c *boundsCase) decomposable() (greatest, all bool) {
	var sets [][]int
	all = true
	for _, file := range c.files {
		for _, m := range file {
			sets = append(sets, slices.Clone(m.variables))
		}
	}
	inside := func(i int) bool {
		return slices.ContainsFunc(slices.Delete(slices.Clone(sets), i, i+1), func(other []int) bool {
			return !slices.ContainsFunc(sets[i], func(v int) bool { return !slices.Contains(other, v) })
		})
	}
	for i := range sets {
		all = all && !inside(i)
	}
	for changed := true; changed; {
		changed = false
		for i := range sets {
			before := len(sets[i])
			sets[i] = slices.DeleteFunc(sets[i], func(v int) bool {
				return !slices.ContainsFunc(slices.Delete(slices.Clone(sets), i, i+1), func(other []int) bool { return slices.Contains(other, v) })
			})
			changed = changed || len(sets[i]) < before
		}
		for i := 0; i < len(sets); i++ {
			if inside(i) {
				sets, changed = slices.Delete(sets, i, i+1), true
				i--
			}
		}
	}
	greatest = len(sets) == 1 && len(sets[0]) == 0
	return greatest, greatest && all
}

func TestBoundsOracle(t *testing.T) {
	dir := t.TempDir()
	for round := range tableRounds(t, 150) {
		checkBounds(t, dir, round)
	}
}

func checkBounds(t *testing.T, dir string, round int) {
	r := generator(round)
	c := drawBounds(r)
	c.solve()
	var paths []string
	for i, text := range c.texts {
		paths = append(paths, filepath.Join(dir, fmt.Sprint(i, ".csv")))
		writeFile(t, paths[i], text)
	}
	for _, method := range []string{"", "sharp", "shuttle", "frechet"} {
		fail := func(format string, arguments ...any) {
			t.Fatalf("round %d: method %q: %s\n%+v\n%s", round, method, fmt.Sprintf(format, arguments...), c.scheme, strings.Join(c.texts, "\n"))
		}
		out := filepath.Join(dir, "bounds."+oneOf(r, "csv", "parquet"))
		o, err := pipeline.Bounds(context.Background(), pipeline.BoundsSpec{Tables: paths, Scheme: c.scheme, Method: method, Out: out}, pipeline.Options{Workers: 1 + r.IntN(2)})
		greatest, all := c.decomposable()
		switch {
		case method == "frechet" && !greatest && err == nil:
			fail("no error, though the release is not decomposable")
		case method == "frechet" && !all && err != nil:
			continue
		case err != nil && c.allowed:
			fail("error %v, though a table keeps all rules", err)
		case err == nil && !c.allowed && (method == "" || method == "sharp"):
			fail("no error, though no table keeps all rules")
		}
		if err != nil || !c.allowed {
			continue
		}
		exactly := method == "sharp" || o.Sharp || method == "frechet" && (c.scheme.Scheme == "" || c.scheme.Scheme == "none")
		if exactly != o.Sharp {
			fail("sharp is %v", o.Sharp)
		}
		c.compare(fail, out, method, exactly, o)
	}
}

// compare looks at the bounds in a file.
func (c *boundsCase) compare(fail func(string, ...any), path, method string, exactly bool, o *pipeline.BoundsOutcome) {
	names, rows, err := readOutput(path)
	if err != nil {
		fail("read: %v", err)
	}
	margins := 0
	for _, file := range c.files {
		margins += len(file)
	}
	at := []int{}
	for _, name := range c.names {
		at = append(at, slices.Index(names, name))
	}
	k := len(c.names)
	if slices.Contains(at, -1) || !slices.Equal(names[k:], []string{"lower", "upper", "exact"}) || len(rows) != len(c.cells) || o.Cells != len(rows) || o.Margins != margins {
		fail("columns %q, %d rows, %+v", names, len(rows), o)
	}
	known, zeros, left := 0, 0, slices.Clone(c.cells)
	for _, row := range rows {
		cell := []string{}
		for _, v := range at {
			cell = append(cell, *row[v])
		}
		i := indexOf(left, cell)
		if i < 0 || row[k] == nil || row[k+1] == nil {
			fail("cell %q is none, or has no bounds", cell)
		}
		lower, _ := strconv.Atoi(*row[k])
		upper, _ := strconv.Atoi(*row[k+1])
		if lower > c.least[i] || upper < c.most[i] || lower < c.lo[i] && method != "frechet" || upper > c.hi[i] || exactly && (lower != c.least[i] || upper != c.most[i]) {
			fail("cell %q is from %d to %d, the tightest bounds are %d and %d, the trivial ones %d and %d", cell, lower, upper, c.least[i], c.most[i], c.lo[i], c.hi[i])
		}
		if *row[k+2] != strconv.FormatBool(lower == upper) {
			fail("cell %q has exact %s", cell, *row[k+2])
		}
		if lower == upper {
			if known++; lower == 0 {
				zeros++
			}
		}
		left[i] = nil // each once
	}
	if o.Known != known || o.Zeros != zeros {
		fail("%d known, %d zeros: %+v", known, zeros, o)
	}
}
