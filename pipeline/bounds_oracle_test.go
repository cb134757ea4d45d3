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

	"microrisk/pipeline/bounds"
	"microrisk/pipeline/session"
	"microrisk/schemas"
)

// kernel is the probability of every count that a true one can be published as.
func kernel(p *schemas.Perturbation, n int) map[int]float64 {
	base, law := int(p.Base), map[int]float64{}
	switch p.Scheme {
	case "conventional":
		law[roundTo(n, base, p.Tie)] = 1
	case "random":
		rest := n % base
		up := float64(rest) / float64(base)
		if q := p.Probability; q != nil && 2*rest > base {
			up = *q
		} else if q != nil {
			up = 1 - *q
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
	case "noise":
		if law[n] = 1; n > 0 {
			law[n-1], law[n], law[n+1] = 1./3, 1./3, 1./3
		}
	case "normal":
		normalLaw(p, n, law)
	case "isd":
		c := 0.2
		if p.Change != nil {
			c = *p.Change
		}
		side := c / 2
		if p.Reading == "B" {
			side = c / (1 + c)
		}
		switch n {
		case 1, 4:
			law[n], law[map[int]int{1: 2, 4: 3}[n]] = 1-c, c
		case 2, 3:
			law[n-1], law[n], law[n+1] = side, 1-2*side, side
		default:
			law[n] = 1
		}
	case "census2000":
		if law[roundTo(n, 5, "")] = 1; n >= 1 && n <= 7 {
			law = map[int]float64{4: 1}
		}
	default:
		law[n] = 1
	}
	maps.DeleteFunc(law, func(_ int, q float64) bool { return q == 0 })
	return law
}

// normalLaw is that of whole numbers near those of a normal law, by integrating its density.
func normalLaw(p *schemas.Perturbation, n int, law map[int]float64) {
	sd, reach := *p.SD, 4.0
	if p.Proportional != nil {
		sd = min(sd, *p.Proportional*float64(n))
	}
	if p.Reach != nil {
		reach = *p.Reach
	}
	far := int(math.Floor(reach*sd + 0.5))
	if n == 0 || far == 0 {
		law[n] = 1
		return
	}
	mass, all := make([]float64, 2*far+1), 0.0
	for e := -far; e <= far; e++ {
		const steps = 2000
		for i := range steps {
			x := float64(e) - 0.5 + (float64(i)+0.5)/steps
			mass[e+far] += math.Exp(-x * x / sd / sd / 2)
		}
		all += mass[e+far]
	}
	for e := -far; e <= far; e++ {
		j := n + e
		switch {
		case j < 0 && p.Negative == "truncate":
			j = 0
		case j < 0:
			j = -j
		}
		law[j] += mass[e+far] / all
	}
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
			least[k], most[k], of[i] = least[k]+lo[i], most[k]+hi[i], append(of[i], k)
		}
		if least[k] > x.hi || most[k] < x.lo {
			return false
		}
	}
	put := func(i, low, high int) (good bool) {
		good = true
		for _, k := range of[i] {
			least[k] += low
			most[k] += high
			good = good && least[k] <= rules[k].hi && most[k] >= rules[k].lo
		}
		return good
	}
	var fill func(i int) bool
	fill = func(i int) bool {
		for v := 0; i < len(lo) && v <= hi[i]-lo[i]; v++ {
			good := put(i, v, v+lo[i]-hi[i]) && fill(i+1)
			if put(i, -v, hi[i]-lo[i]-v); good {
				return true
			}
		}
		return i == len(lo)
	}
	return fill(0)
}

// A sapLaw has what enumeration finds of one area, by the number of people known.
type sapLaw struct {
	people         int
	ways, otherWay []float64   // to draw n people, of all and of all but one
	sap, zeros     []float64   // ways in which a zero is recovered, and the sum of zeros over them
	cell, target   [][]float64 // by cell
}

// enumerate goes through everything that can be known of an area: the numbers of people known of each cell. A zero is recovered
// where all of a cell are known, and no table that the release allows, with at least those known, has more in it.
func (c *sapCase) enumerate(area int) *sapLaw {
	m := len(c.cells)
	counts, lo, hi, possible := make([]int, m), make([]int, m), make([]int, m), make([]bool, m)
	law, rules := &sapLaw{}, []rule(nil)
	for k, x := range c.released() {
		n := c.counts[c.key(area, x)]
		l, u := interval(c.scheme(x), c.published[c.key(area, x)])
		if k < m && c.asked.Release.BaseTable == "none" {
			l, u = 0, 99 // more than any margin has
		}
		if k < m {
			possible[k] = !slices.ContainsFunc(c.never, func(pattern []string) bool { return within(x, pattern) })
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
		if zeros == 0 {
			return
		}
		law.sap[n] += ways
		law.zeros[n] += ways * float64(zeros)
		for k, s := range known {
			if s < counts[k] { // one of those not known is the target
				law.target[k][n] += ways * float64(counts[k]-s) / float64(counts[k])
			}
		}
	}
	know(0, 0, law.people, 1)
	return law
}

// A margin is released with a number for each of its cells.
type margin struct {
	set       uint           // of variables
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
	c := &boundsCase{scheme: oneOf(r, drawScheme(r), schemas.Perturbation{})}
	k := oneOf(r, 1, 2, 3, 3, 3, 4)
	lists, size := [][]string{}, 1
	for v := range k {
		list := oneOf(r, []string{"Z", "a", "x,y"}, []string{"1", "2", "10"}, []string{"é", noValue, "missing"})[:1+r.IntN(3)]
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
		some := r.Perm(1<<k - r.IntN(2))[:1+r.IntN(min(3, 1<<k-1))]
		for _, set := range oneOf(r, some, some, []int{3, 5, 6}[:max(1, k/3*3)]) { // the latter are three pairs
			file = append(file, margin{set: uint(set) & (1<<k - 1)})
		}
		if len(file) == 1 {
			file[0].set = max(1, file[0].set)
		}
		c.files = append(c.files, file)
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
	var header []string
	for _, v := range r.Perm(len(c.names)) {
		if slices.ContainsFunc(file, func(m margin) bool { return m.set>>v&1 == 1 }) {
			columns, header = append(columns, v), append(header, c.names[v])
		}
	}
	lines, sparse := [][]string{}, r.IntN(2) == 0
	for k := range file {
		m := &file[k]
		m.published = map[string]int{}
		levels := slices.Clone(lists)
		for v := range levels {
			if m.set>>v&1 == 0 {
				levels[v] = []string{allOf}
			}
		}
		for i, cell := range product(levels...) {
			n := 0
			for key, x := range counts {
				if within(strings.Split(key, cellJoin), cell) {
					n += x
				}
			}
			j := oneOf(r, sortedKeys(kernel(&c.scheme, n))...)
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
				line = append(line, strings.TrimPrefix(x, noValue))
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
	var at []int
	for v, list := range c.listed {
		if len(list) > 0 {
			c.names[len(at)] = c.names[v]
			lists, at = append(lists, list), append(at, v)
		}
	}
	c.cells, c.names = product(lists...), c.names[:len(at)]
	c.lo, c.hi = make([]int, len(c.cells)), slices.Repeat([]int{math.MaxInt}, len(c.cells))
	for _, m := range slices.Concat(c.files...) {
		parts := map[string][]int{}
		for i, cell := range c.cells {
			key := slices.Repeat([]string{allOf}, len(c.listed))
			for j, v := range at {
				if m.set>>v&1 == 1 {
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
	var sets []uint
	for _, m := range slices.Concat(c.files...) {
		sets = append(sets, m.set)
	}
	all = true
	for again, first := true, true; again; first = false {
		again = false
		for i := len(sets) - 1; i >= 0; i-- {
			others, inside := uint(0), false
			for j, set := range sets {
				if j != i {
					others |= set
					inside = inside || sets[i]&^set == 0
				}
			}
			all = all && !(first && inside)
			if again = again || inside || sets[i]&^others != 0; inside {
				sets = slices.Delete(sets, i, i+1)
			} else if !first {
				sets[i] &= others
			}
		}
	}
	greatest = len(sets) == 1
	return greatest, greatest && all
}

func TestBoundsOracle(t *testing.T) {
	dir := t.TempDir()
	for round := range tableRounds(t, 60) {
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
		o, err := bounds.Run(
			context.Background(),
			bounds.Spec{Tables: paths, Scheme: c.scheme, Method: method, Out: out},
			session.Options{Workers: 1 + r.IntN(2)},
		)
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
		c.compare(fail, out, method, exactly, o)
	}
}

// compare looks at the bounds in a file.
func (c *boundsCase) compare(fail func(string, ...any), path, method string, exactly bool, o *bounds.Outcome) {
	names, rows, err := readOutput(path)
	at, k, margins := []int{}, len(c.names), len(slices.Concat(c.files...))
	for _, name := range c.names {
		at = append(at, slices.Index(names, name))
	}
	if err != nil || exactly != o.Sharp || slices.Contains(at, -1) || !slices.Equal(names[k:], []string{"lower", "upper", "exact"}) ||
		len(rows) != len(c.cells) ||
		o.Cells != len(rows) ||
		o.Margins != margins {
		fail("columns %q, %d rows, %+v, %v", names, len(rows), o, err)
	}
	known, zeros, left := 0, 0, slices.Clone(c.cells)
	for _, row := range rows {
		cell := []string{}
		for _, v := range at {
			cell = append(cell, category(row[v]))
		}
		i := indexOf(left, cell)
		if i < 0 || row[k] == nil || row[k+1] == nil {
			fail("cell %q is none, or has no bounds", cell)
		}
		lower, _ := strconv.Atoi(*row[k])
		upper, _ := strconv.Atoi(*row[k+1])
		if lower > c.least[i] || upper < c.most[i] || lower < c.lo[i] && method != "frechet" || upper > c.hi[i] ||
			exactly && (lower != c.least[i] || upper != c.most[i]) ||
			*row[k+2] != strconv.FormatBool(lower == upper) {
			fail(
				"cell %q is from %d to %d, the tightest bounds are %d and %d, the trivial ones %d and %d",
				cell,
				lower,
				upper,
				c.least[i],
				c.most[i],
				c.lo[i],
				c.hi[i],
			)
		}
		if left[i] = nil; lower == upper { // each once
			if known++; lower == 0 {
				zeros++
			}
		}
	}
	if o.Known != known || o.Zeros != zeros {
		fail("%d known, %d zeros: %+v", known, zeros, o)
	}
}
