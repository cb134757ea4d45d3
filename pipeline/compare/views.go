package compare

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"microrisk/operators/protect"
)

// A View is what came of some ways of protection over several tables: a row a class of tables, a column a way. Only tables of which each way
// has figures are in it, so that like is compared with like.
type View struct {
	Name    string     `json:"view"` // of the package's views, such as by_n
	Title   string     `json:"title"`
	Columns []string   `json:"columns"`
	Rows    []*ViewRow `json:"rows"`     // the last one is of all tables, each of the same weight
	LeftOut int        `json:"left_out"` // tables of which only some of the ways have figures
}

// A ViewRow is tables of a class of design.
type ViewRow struct {
	Design string     `json:"design_class"`
	Tables int        `json:"tables"`
	Cells  []ViewCell `json:"cells"` // by column
}

// A ViewCell is the mean over tables of a way's figures, which are means over its runs.
type ViewCell struct {
	Unity     *float64 `json:"loss_unity"`
	Omitted   *float64 `json:"loss_pct_omitted"`
	Zero      *float64 `json:"loss_pct_zero"`
	Imputed   *float64 `json:"loss_pct_imputed"`
	Low       *float64 `json:"loss_pct_least"` // of all tables, runs and treatments of hidden cells
	High      *float64 `json:"loss_pct_most"`
	SAPBefore *float64 `json:"sap_before"`
	SAPAfter  *float64 `json:"sap_after"`
	Unsafe    int      `json:"tables_not_safe"` // tables of which some run did not pass the audit
}

// All is the class of all tables.
const All = "All"

// Views of all that was compared.
const (
	ByN           = "by_n"           // design class and rule, one for each way that hides
	ByBase        = "by_base"        // design class and base
	Hierarchies   = "hierarchies"    // optimal, hypercube and modular of tables with a hierarchy
	RoundOrHide   = "round_or_hide"  // rounding to n, and hiding below n
	RoundOrChange = "round_or_alter" // rounding and Barnardisation
)

// hiding are methods whose views are by rule; the first three are compared with each other on hierarchies.
var hiding = []string{"optimal", "hypercube", "modular", "network"}

// barnards are schemes that change small counts by one.
var barnards = []string{"barnard", "isd"}

// A column of a view takes the groups that it is of.
type column struct {
	name string
	has  func(*Row) bool
}

// Views are those of several tables; none of one.
func (o *Outcome) Views() []*View {
	tables := make(map[int64][]*Group)
	var order []int64
	for _, g := range o.Groups() {
		id := g.Runs[0].ID
		if tables[id] == nil {
			order = append(order, id)
		}
		tables[id] = append(tables[id], g)
	}
	if len(order) < 2 {
		return nil
	}
	v := &viewer{rows: o.Rows}
	for _, id := range order {
		v.tables = append(v.tables, tables[id])
	}
	v.byN()
	v.byBase()
	v.hierarchies()
	v.roundOrHide()
	v.roundOrChange()
	return v.list
}

// A viewer makes views.
type viewer struct {
	rows   []*Row
	tables [][]*Group
	list   []*View
}

// distinct are the different values of rows, in order; of is false for rows that have none.
func distinct[T cmp.Ordered](rows []*Row, of func(*Row) (T, bool)) []T {
	var list []T
	for _, r := range rows {
		if v, is := of(r); is && !slices.Contains(list, v) {
			list = append(list, v)
		}
	}
	return list
}

// test is what a run takes for unsafe: "n 3", or its rules.
func test(r *Row) string {
	if r.N != nil && r.Rules == (&protect.Rule{Rule: protect.RuleFrequency, N: new(int(*r.N))}).String() {
		return fmt.Sprintf("n %d", *r.N)
	}
	return r.Rules
}

// tests are those of all runs, by n.
func (v *viewer) tests() []string {
	rows := slices.Clone(v.rows)
	slices.SortStableFunc(rows, func(a, b *Row) int { return cmp.Compare(least(a), least(b)) })
	return distinct(rows, func(r *Row) (string, bool) { return test(r), true })
}

func least(r *Row) int64 {
	if r.N == nil {
		return 0
	}
	return *r.N
}

// series are the ways that some runs are of.
func (v *viewer) series(has func(*Row) bool) []string {
	return distinct(v.rows, func(r *Row) (string, bool) { return r.Series, has(r) })
}

func hiders(r *Row) bool { return slices.Contains(hiding, r.Method) }

func rounders(r *Row) bool { return r.Base != nil }

// bases are those of runs, ascending.
func (v *viewer) bases() []int64 {
	list := distinct(v.rows, func(r *Row) (int64, bool) {
		if r.Base == nil {
			return 0, false
		}
		return *r.Base, true
	})
	slices.Sort(list)
	return list
}

func (v *viewer) byN() {
	for _, s := range v.series(hiders) {
		var columns []column
		for _, t := range v.tests() {
			columns = append(columns, column{t, func(r *Row) bool { return r.Series == s && test(r) == t }})
		}
		v.add(ByN, "Loss by design and rule: "+s, columns, nil, 1)
	}
}

func (v *viewer) byBase() {
	for _, s := range v.series(rounders) {
		for _, t := range v.tests() {
			var columns []column
			for _, b := range v.bases() {
				columns = append(columns, column{fmt.Sprintf("base %d", b), func(r *Row) bool { return r.Series == s && test(r) == t && *r.Base == b }})
			}
			v.add(ByBase, fmt.Sprintf("Loss by design and base: %s, %s", s, t), columns, nil, 1)
		}
	}
}

func (v *viewer) hierarchies() {
	hierarchical := func(r *Row) bool { return r.Hierarchical }
	for _, t := range v.tests() {
		var columns []column
		for _, s := range v.series(func(r *Row) bool { return slices.Contains(hiding[:3], r.Method) }) {
			columns = append(columns, column{s, func(r *Row) bool { return r.Series == s && test(r) == t }})
		}
		v.add(Hierarchies, "Ways to hide, of tables with a hierarchy: "+t, columns, hierarchical, 2)
	}
}

func (v *viewer) roundOrHide() {
	for _, b := range v.bases() {
		at := func(r *Row, s string) bool { return r.Series == s && r.N != nil && *r.N == b }
		var round, hide []column
		for _, s := range v.series(rounders) {
			round = append(round, column{s, func(r *Row) bool { return at(r, s) && *r.Base == b }})
		}
		for _, s := range v.series(hiders) {
			hide = append(hide, column{s, func(r *Row) bool { return at(r, s) }})
		}
		v.both(RoundOrHide, fmt.Sprintf("Rounding to %d, and hiding below %d", b, b), round, hide)
	}
}

func (v *viewer) roundOrChange() {
	for _, t := range v.tests() {
		var round, change []column
		for _, s := range v.series(rounders) {
			for _, b := range v.bases() {
				round = append(round, column{fmt.Sprintf("%s, base %d", s, b), func(r *Row) bool { return r.Series == s && test(r) == t && *r.Base == b }})
			}
		}
		for _, s := range v.series(func(r *Row) bool { return slices.Contains(barnards, r.Scheme) }) {
			change = append(change, column{s, func(r *Row) bool { return r.Series == s && test(r) == t }})
		}
		v.both(RoundOrChange, "Rounding, and changing small counts by one: "+t, round, change)
	}
}

// both adds a view of two kinds of columns, if there are some of each.
func (v *viewer) both(name, title string, one, other []column) {
	one, other = v.there(one), v.there(other)
	if len(one) > 0 && len(other) > 0 {
		v.add(name, title, append(one, other...), nil, 2)
	}
}

// there are the columns that some table has figures for.
func (v *viewer) there(columns []column) []column {
	return slices.DeleteFunc(slices.Clone(columns), func(c column) bool {
		return !slices.ContainsFunc(v.tables, func(groups []*Group) bool { return c.of(groups) != nil })
	})
}

// of is the column's group of a table, nil for none with figures.
func (c column) of(groups []*Group) *Group {
	for _, g := range groups {
		if g.Figures() && c.has(g.Runs[0]) && !g.Of(func(r *Row) *float64 { return r.LossImputed }).Missing() {
			return g
		}
	}
	return nil
}

// add adds a view, if it has so many columns, and tables that have them all.
func (v *viewer) add(name, title string, columns []column, tables func(*Row) bool, fewest int) {
	of := v.tables
	if tables != nil {
		of = slices.DeleteFunc(slices.Clone(of), func(groups []*Group) bool { return !tables(groups[0].Runs[0]) })
	}
	columns = (&viewer{tables: of}).there(columns)
	if len(columns) < fewest {
		return
	}
	view := &View{Name: name, Title: strings.TrimSuffix(title, ": ")}
	for _, c := range columns {
		view.Columns = append(view.Columns, c.name)
	}
	var all [][]*Group // by table and column
	classes := make(map[string][][]*Group)
	for _, groups := range of {
		var list []*Group
		for _, c := range columns {
			if g := c.of(groups); g != nil {
				list = append(list, g)
			}
		}
		if len(list) < len(columns) {
			if len(list) > 0 {
				view.LeftOut++
			}
			continue
		}
		all = append(all, list)
		design := list[0].Runs[0].Design
		classes[design] = append(classes[design], list)
	}
	if len(all) == 0 {
		return
	}
	for _, design := range slices.Sorted(maps.Keys(classes)) {
		view.Rows = append(view.Rows, viewRow(design, classes[design]))
	}
	view.Rows = append(view.Rows, viewRow(All, all))
	v.list = append(v.list, view)
}
