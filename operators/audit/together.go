package audit

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"microrisk/engine/tabular"
	"microrisk/engine/tabular/detection"
	"microrisk/engine/tabular/overlap"
	"microrisk/engine/tabular/protection"
	"microrisk/operators/protect"
	"microrisk/operators/report"
	"microrisk/operators/tablefile"
)

// A Release is one of several tables that are published of the same people.
type Release struct {
	Name string
	*Audit
}

// Together is several tables, each with what all of them together leave of its cells.
type Together struct {
	Releases []Release
	Groups   []Difference // people whose number is found by subtraction, and is small
	Warnings []string
	system   *overlap.System
	names    []string // of all variables
	finest   [][]string
	values   []int64
}

// A Difference is a group of people of one cell who are in none of some cells of another table.
type Difference struct {
	protection.Finding
	Group overlap.Group
	Value int64
	Words string // the subtraction
}

// A ContradictionError says that tables that should be of the same people are not.
type ContradictionError struct{ What string }

func (e *ContradictionError) Error() string { return e.What }

// Combine tries all attackers on tables that are published of the same people: cells of the same people are one unknown. parts say what
// categories stand for where tables differ in them. A group of fewer than few people that subtractions give away needs what an unsafe cell does.
// Each release's report is then what is known of its cells from all. Errors: a *ContradictionError, tables of different things.
func Combine(ctx context.Context, releases []Release, parts []tablefile.Part, few int64) (*Together, error) {
	t := &Together{Releases: releases}
	tables, err := t.tables(parts)
	if err != nil {
		return nil, err
	}
	if t.system, err = overlap.Join(tables); err != nil {
		return nil, err
	}
	if err := t.agree(); err != nil {
		return nil, err
	}
	known, hidden := t.seen()
	needs, owner := t.needs(few)
	insider := protection.InsiderOff
	for _, r := range releases {
		switch i := protect.InsiderOf(r.Insider); {
		case i == protection.InsiderFull, i == protection.InsiderExact && insider == protection.InsiderOff:
			insider = i
		}
	}
	report, err := protection.Audit(ctx, known, hidden, needs, insider)
	if err != nil {
		return nil, err
	}
	t.tell(report, owner)
	return t, nil
}

// universe numbers the variables of all tables and their finest categories.
type universe struct {
	variables map[string]int
	finest    []map[string]int
	names     []string
	codes     [][]string
}

func (u *universe) variable(name string) int {
	v, is := u.variables[name]
	if !is {
		v = len(u.names)
		u.variables[name], u.names = v, append(u.names, name)
		u.finest, u.codes = append(u.finest, make(map[string]int)), append(u.codes, nil)
	}
	return v
}

func (u *universe) add(v int, code string) {
	if _, is := u.finest[v][code]; !is {
		u.finest[v][code] = len(u.codes[v])
		u.codes[v] = append(u.codes[v], code)
	}
}

// tables are the releases by what their cells stand for.
func (t *Together) tables(parts []tablefile.Part) ([]overlap.Table, error) {
	u := &universe{variables: make(map[string]int)}
	said := make(map[[3]string][]string) // finest codes, by table, variable and code
	for _, p := range parts {
		if !slices.ContainsFunc(t.Releases, func(r Release) bool { return r.Name == p.Table }) {
			return nil, fmt.Errorf("line %d of the parts names the table %q, which is none of %s", p.Line, p.Table, t.all())
		}
		key := [3]string{p.Table, p.Variable, p.Code}
		said[key] = append(said[key], p.Finest)
		u.add(u.variable(p.Variable), p.Finest)
	}
	for _, r := range t.Releases {
		for _, tree := range r.Table.Grid.Trees {
			v := u.variable(tree.Name)
			for n := range tree.Nodes {
				if code := nameOf(tree, n); tree.Leaf(n) && n > 0 && said[[3]string{r.Name, tree.Name, code}] == nil {
					u.add(v, code)
				}
			}
		}
	}
	t.names, t.finest = u.names, u.codes
	var list []overlap.Table
	for _, r := range t.Releases {
		x, err := u.table(r, said)
		if err != nil {
			return nil, err
		}
		list = append(list, x)
	}
	t.strangers(said)
	return list, nil
}

// all are the names of the tables.
func (t *Together) all() string {
	var names []string
	for _, r := range t.Releases {
		names = append(names, r.Name)
	}
	return strings.Join(names, ", ")
}

// nameOf is what a node is called in files.
func nameOf(t *tabular.Tree, node int) string {
	if t.Nodes[node].Code.Kind == tabular.KindMissing {
		return ""
	}
	return t.Nodes[node].Code.Label
}

// table is a release by what its cells stand for.
func (u *universe) table(r Release, said map[[3]string][]string) (overlap.Table, error) {
	x := overlap.Table{Grid: r.Table.Grid, Of: make([]int, len(u.names)), Sets: make([][]overlap.Set, len(u.names))}
	for v, name := range u.names {
		size := len(u.codes[v])
		of := func(codes []string) overlap.Set {
			var members []int
			for _, c := range codes {
				members = append(members, u.finest[v][c])
			}
			return overlap.SetOf(size, members...)
		}
		whole := overlap.All(size)
		if codes := said[[3]string{r.Name, name, r.Total}]; codes != nil {
			whole = of(codes)
		}
		x.Of[v] = slices.IndexFunc(r.Table.Grid.Trees, func(t *tabular.Tree) bool { return t.Name == name })
		if x.Of[v] < 0 {
			x.Sets[v] = []overlap.Set{whole}
			continue
		}
		tree := r.Table.Grid.Trees[x.Of[v]]
		sets := make([]overlap.Set, len(tree.Nodes))
		for n := len(sets) - 1; n >= 0; n-- { // children stand after their parents
			codes := said[[3]string{r.Name, name, nameOf(tree, n)}]
			switch {
			case n == 0:
				sets[n] = whole
			case codes != nil:
				sets[n] = of(codes)
			case tree.Leaf(n):
				sets[n] = of([]string{nameOf(tree, n)})
			default:
				sets[n] = overlap.SetOf(size)
				for _, c := range tree.Nodes[n].Children {
					if sets[n].Meets(sets[c]) {
						return x, fmt.Errorf("%s: categories of %s in %s have finest categories in common", r.Name, nameOf(tree, n), name)
					}
					sets[n] = sets[n].Union(sets[c])
				}
			}
			if n > 0 && !sets[n].Within(whole) {
				return x, fmt.Errorf("%s: the category %s of %s has finest categories that its total does not have", r.Name, nameOf(tree, n), name)
			}
		}
		x.Sets[v] = sets
	}
	return x, nil
}

// strangers warns of variables whose categories differ, where nothing says what they stand for.
func (t *Together) strangers(said map[[3]string][]string) {
	for _, name := range t.names {
		var first map[string]bool
		var of string
		for _, r := range t.Releases {
			at := slices.IndexFunc(r.Table.Grid.Trees, func(tree *tabular.Tree) bool { return tree.Name == name })
			if at < 0 {
				continue
			}
			codes, told := make(map[string]bool), false
			tree := r.Table.Grid.Trees[at]
			for n := 1; n < len(tree.Nodes); n++ {
				told = told || said[[3]string{r.Name, name, nameOf(tree, n)}] != nil
				codes[nameOf(tree, n)] = true
			}
			shared := 0
			for c := range codes {
				if first[c] {
					shared++
				}
			}
			switch {
			case told:
			case first == nil:
				first, of = codes, r.Name
			case shared < min(len(codes), len(first)):
				t.Warnings = append(t.Warnings, fmt.Sprintf("%s has other categories in %s than in %s: say what they stand for (--parts), or nothing is known of how "+
					"they hang together", name, r.Name, of))
			}
		}
	}
}

// agree finds the values of all unknowns, and tables that contradict each other.
func (t *Together) agree() error {
	t.values = make([]int64, t.system.System.Cells)
	from := make([]string, len(t.values))
	for i, r := range t.Releases {
		if first := t.Releases[0]; r.Response != first.Response || r.Table.Decimals != first.Table.Decimals {
			return fmt.Errorf("%s is of %s with %d decimals, and %s of %s with %d: tables that are judged together are of the same thing", first.Name,
				cmp.Or(first.Response, "counts"), first.Table.Decimals, r.Name, cmp.Or(r.Response, "counts"), r.Table.Decimals)
		}
		for cell, n := range t.system.Cells[i] {
			v := r.Table.Values[cell]
			if from[n] != "" && t.values[n] != v {
				return &ContradictionError{fmt.Sprintf("%s has %s in the cell %s, and %s has %s there: they are of different people, or one was rounded: name its "+
					"internal folder, or say which people it is of (--parts)", from[n], r.Table.Text(t.values[n]), tabular.Words(r.Table.Grid.Codes(cell)), r.Name,
					r.Table.Text(v))}
			}
			t.values[n], from[n] = v, r.Name
		}
	}
	group := make(map[int32]*overlap.Group, len(t.system.Groups))
	for i := range t.system.Groups {
		group[t.system.Groups[i].Cell] = &t.system.Groups[i]
	}
	met := make(map[int32]bool)
	for _, e := range t.system.Equations { // a group is the last part of its sums
		if last := e.Parts[max(len(e.Parts)-1, 0):]; len(last) == 1 && group[last[0]] != nil && !met[last[0]] {
			met[last[0]] = true
			if t.values[last[0]] = -e.Imbalance(t.values); t.values[last[0]] < 0 {
				return &ContradictionError{fmt.Sprintf("%s: it is less than nothing; they are of different people: say of which (--parts)",
					t.subtraction(group[last[0]]))}
			}
		}
	}
	for _, i := range t.system.Broken(t.values, 0) {
		e := t.system.Equations[i]
		return &ContradictionError{fmt.Sprintf("%s is not the sum of its parts in another table, which is %s: they are of different people: say of which (--parts)",
			t.words(e.Total), t.Releases[0].Table.Text(t.values[e.Total]+e.Imbalance(t.values)))}
	}
	return nil
}

// words are the table, the cell and the value of an unknown.
func (t *Together) words(n int32) string {
	for i, cells := range t.system.Cells {
		if c := slices.Index(cells, n); c >= 0 {
			return t.ref(overlap.Ref{Table: i, Cell: c})
		}
	}
	return "a group of people"
}

// ref is a cell in words.
func (t *Together) ref(r overlap.Ref) string {
	table := t.Releases[r.Table]
	return fmt.Sprintf("%s of %s (%s)", tabular.Words(table.Table.Grid.Codes(r.Cell)), table.Name, table.Table.Text(table.Table.Values[r.Cell]))
}

// shownParts is how many cells of a subtraction are named.
const shownParts = 4

// subtraction says how the people of a group are found.
func (t *Together) subtraction(g *overlap.Group) string {
	var less []string
	for _, r := range g.Less[:min(len(g.Less), shownParts)] {
		less = append(less, t.ref(r))
	}
	if n := len(g.Less) - len(less); n > 0 {
		less = append(less, fmt.Sprintf("%d more", n))
	}
	rest := ""
	if g.Variable >= 0 {
		var codes []string
		for _, m := range g.Rest.Members() {
			codes = append(codes, cmp.Or(t.finest[g.Variable][m], "missing"))
		}
		more := ""
		if len(codes) > shownParts {
			more, codes = fmt.Sprintf(" and %d more", len(codes)-shownParts), codes[:shownParts]
		}
		rest = fmt.Sprintf(", which are those of %s %s%s", t.names[g.Variable], strings.Join(codes, ", "), more)
	}
	return fmt.Sprintf("%s less %s is %s%s", t.ref(g.Of), strings.Join(less, " and "), t.Releases[0].Table.Text(t.values[g.Cell]), rest)
}

// seen is what everybody knows of the unknowns.
func (t *Together) seen() (*protection.Table, []bool) {
	n := len(t.values)
	known := &protection.Table{System: t.system.System, Values: t.values, Low: make([]int64, n), High: make([]int64, n), Sole: make([]int64, n)}
	hidden := make([]bool, n)
	for i := range hidden {
		hidden[i], known.High[i] = true, tabular.NoLimit
	}
	holders := make(map[[2]int64]int64) // of a table, as one of all
	for i, r := range t.Releases {
		low, high := r.bounds()
		for cell, n := range t.system.Cells[i] {
			known.Low[n], known.High[n] = max(known.Low[n], low[cell]), min(known.High[n], high[cell])
			if low[cell] == protection.NoLow {
				known.Low[n] = protection.NoLow
			}
			if low[cell] == high[cell] {
				hidden[n] = false
			}
			if s := r.Table.Sole; s != nil && s[cell] != 0 {
				who := [2]int64{int64(i), s[cell]}
				switch {
				case known.Sole[n] != 0:
					holders[who] = known.Sole[n]
				case holders[who] == 0:
					holders[who] = int64(len(holders)) + 1
				}
				known.Sole[n] = holders[who]
			}
		}
	}
	return known, hidden
}

// bounds are what the table by itself leaves to a cell before its sums are looked at; both are the value where it is published as it is.
func (a *Audit) bounds() (low, high []int64) {
	t := a.Table
	low, high = slices.Clone(t.Known(cmp.Or(a.Beforehand, "nothing")).Low), make([]int64, len(t.Values))
	for cell, v := range t.Values {
		if a.least != nil && a.least[cell] > low[cell] {
			low[cell] = a.least[cell]
		}
		switch {
		case a.told != nil && a.told[cell]:
			low[cell], high[cell] = v, v
		case a.hidden[cell]:
			if high[cell] = tabular.NoLimit; a.low != nil {
				low[cell], high[cell] = max(low[cell], a.low[cell]), a.high[cell]
			}
		case a.way.Changes():
			least, most := a.way.Bounds(t, cell, a.values[cell])
			low[cell], high[cell] = max(low[cell], least), most
		default:
			low[cell], high[cell] = v, v
		}
	}
	return low, high
}

// Learn takes over that records tell counts of some cells, -1 for none: those of all people, or of some of them. The error is of one that
// cannot be.
func (a *Audit) Learn(counts []int64, whole bool) error {
	if a.told == nil {
		a.told, a.least = make([]bool, len(counts)), make([]int64, len(counts))
	}
	for cell, n := range counts {
		v := a.Table.Values[cell]
		switch {
		case n < 0:
		case n > v, whole && n != v:
			return fmt.Errorf("%s has %s, and there are %d records", tabular.Words(a.Table.Grid.Codes(cell)), a.Table.Text(v), n)
		case whole:
			a.told[cell] = true
		default:
			a.least[cell] = max(a.least[cell], n)
		}
	}
	return nil
}

// Hides tells whether a cell is not published.
func (a *Audit) Hides(cell int) bool { return a.hidden[cell] }

// Unbalanced is how many published totals are not the sums of their published parts.
func (a *Audit) Unbalanced() int {
	n := 0
	for _, e := range a.Table.Grid.System().Equations {
		hidden := false
		e.Each(func(cell int32, _ int64) { hidden = hidden || a.hidden[cell] })
		if !hidden && e.Imbalance(a.values) != 0 {
			n++
		}
	}
	return n
}

// Same tells whether two of the tables have the same cells.
func (t *Together) Same(i, j int) bool {
	return slices.Equal(sorted(t.system.Cells[i]), sorted(t.system.Cells[j]))
}

func sorted(cells []int32) []int32 {
	list := slices.Clone(cells)
	slices.Sort(list)
	return list
}

// Differ is how many cells of two tables that have the same are published in other ways.
func (t *Together) Differ(i, j int) int {
	a, b := t.Releases[i], t.Releases[j]
	place := make(map[int32]int, len(t.system.Cells[j]))
	for cell, n := range t.system.Cells[j] {
		place[n] = cell
	}
	differ := 0
	for cell, n := range t.system.Cells[i] {
		other := place[n]
		if a.hidden[cell] != b.hidden[other] || !a.hidden[cell] && a.values[cell] != b.values[other] {
			differ++
		}
	}
	return differ
}

// an owner is who needs something: a table, or a group.
type owner struct{ table, group int }

// needs are those of all tables, and of small groups.
func (t *Together) needs(few int64) (list []protection.Need, of map[int32][]owner) {
	of = make(map[int32][]owner)
	at := make(map[int32]int)
	add := func(n protection.Need, who owner) {
		if of[n.Cell] == nil {
			at[n.Cell] = len(list)
			list = append(list, n)
		} else {
			x := &list[at[n.Cell]]
			x.Lower, x.Upper, x.Sliding = max(x.Lower, n.Lower), max(x.Upper, n.Upper), max(x.Sliding, n.Sliding)
		}
		of[n.Cell] = append(of[n.Cell], who)
	}
	for i, r := range t.Releases {
		for _, n := range r.Table.Needs(r.findings(), r.Sliding) {
			if r.Changed > 0 {
				n = protection.Need{Cell: n.Cell, Sliding: 1}
			}
			n.Cell = t.system.Cells[i][n.Cell]
			add(n, owner{i, -1})
		}
	}
	for i, g := range t.system.Groups {
		if v := t.values[g.Cell]; v > 0 && v < few && t.Releases[0].Response == "" {
			level := detection.ShareLevel(v, detection.DefaultRange)
			add(protection.Need{Cell: g.Cell, Lower: level, Upper: level}, owner{-1, i})
		}
	}
	return list, of
}

// tell gives each table what was found out of its cells, and the groups theirs.
func (t *Together) tell(report *protection.Report, of map[int32][]owner) {
	for i := range t.Releases {
		own := *report
		own.Findings = nil
		t.Releases[i].Report = &own
	}
	place := make([]map[int32]int32, len(t.Releases)) // cells of tables by unknown
	for i, cells := range t.system.Cells {
		place[i] = make(map[int32]int32, len(cells))
		for cell, n := range cells {
			place[i][n] = int32(cell)
		}
	}
	for _, f := range report.Findings {
		for _, who := range of[f.Need.Cell] {
			if who.group >= 0 {
				if f.Verdict != protection.Pass {
					g := t.system.Groups[who.group]
					t.Groups = append(t.Groups, Difference{f, g, t.values[g.Cell], t.subtraction(&g)})
				}
				continue
			}
			own := f
			own.Need.Cell = place[who.table][f.Need.Cell]
			r := t.Releases[who.table].Report
			r.Findings = append(r.Findings, own)
		}
	}
}

// Passed is a *FailedError of all cells and groups that did not pass.
func (t *Together) Passed() error {
	e := &FailedError{Many: true}
	add := func(words string) {
		if e.All++; len(e.Cells) < shownCells {
			e.Cells = append(e.Cells, words)
		}
	}
	for _, g := range t.Groups {
		add(g.Words)
	}
	for _, r := range t.Releases {
		for _, f := range r.Report.Failed() {
			add(r.Name + ": " + protect.Failure(r.Table, f))
		}
	}
	if e.All == 0 {
		return nil
	}
	return e
}

// Rows say what was found out of the tables together, for a terminal.
func (t *Together) Rows() [][]report.Cell {
	var rows [][]report.Cell
	for _, r := range t.Releases {
		failed := r.Report.Failed()
		exact := 0
		for _, f := range failed {
			if f.Verdict == protection.Exact {
				exact++
			}
		}
		rows = append(rows, []report.Cell{report.Left(r.Name), report.Right(report.Count(int64(len(r.Report.Findings)))), report.Left("unsafe cells"),
			report.Right(report.Count(int64(len(failed) - exact))), report.Left("known too well"), report.Right(report.Count(int64(exact))),
			report.Left("known exactly")})
	}
	return append(rows, []report.Cell{report.Left("by subtraction"), report.Right(report.Count(int64(len(t.Groups)))), report.Left("small groups of people")})
}
