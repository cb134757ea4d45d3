package audit

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"microrisk/engine/tabular"
	"microrisk/engine/tabular/overlap"
)

// agree finds the values of all unknowns, and tables that contradict each other.
func (t *Together) agree() error {
	t.values = make([]int64, t.system.System.Cells)
	from := make([]*overlap.Ref, len(t.values))
	for i, r := range t.Releases {
		if first := t.Releases[0]; r.Response != first.Response || r.Table.Decimals != first.Table.Decimals {
			return fmt.Errorf("%s is of %s with %d decimals, and %s of %s with %d: tables that are judged together are of the same thing", first.Name,
				cmp.Or(first.Response, "counts"), first.Table.Decimals, r.Name, cmp.Or(r.Response, "counts"), r.Table.Decimals)
		}
		for cell, n := range t.system.Cells[i] {
			v := r.Table.Values[cell]
			if from[n] != nil && t.values[n] != v {
				return t.differ(from[n], overlap.Ref{Table: i, Cell: cell})
			}
			if t.values[n] = v; from[n] == nil {
				from[n] = &overlap.Ref{Table: i, Cell: cell}
			}
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
				return &ContradictionError{What: t.subtraction(group[last[0]]) + ", which is less than nothing"}
			}
		}
	}
	for _, i := range t.system.Broken(t.values, 0) {
		e := t.system.Equations[i]
		return &ContradictionError{What: fmt.Sprintf("%s is not the sum of its parts in another table, which is %s", t.words(e.Total),
			t.Releases[0].Table.Text(t.values[e.Total]+e.Imbalance(t.values)))}
	}
	return nil
}

// differ says that two tables have other values in one cell.
func (t *Together) differ(one *overlap.Ref, other overlap.Ref) error {
	x, y := t.Releases[one.Table], t.Releases[other.Table]
	there := "there"
	if a, b := x.Cell(one.Cell), y.Cell(other.Cell); a != b {
		there = "in " + b
	}
	return &ContradictionError{What: fmt.Sprintf("%s has %s in the cell %s, and %s has %s %s", x.Name, x.Table.Text(x.Table.Values[one.Cell]),
		x.Cell(one.Cell), y.Name, y.Table.Text(y.Table.Values[other.Cell]), there)}
}

// Cell names a cell so that it can be found: by the codes of all variables.
func (a *Audit) Cell(cell int) string {
	var words []string
	for v, code := range a.Table.Grid.Codes(cell) {
		text := code.String()
		if code.Kind == tabular.KindTotal {
			text = cmp.Or(a.Total, text)
		}
		words = append(words, a.Table.Grid.Trees[v].Name+"="+text)
	}
	return "[" + strings.Join(words, ", ") + "]"
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
	return fmt.Sprintf("%s of %s (%s)", table.Cell(r.Cell), table.Name, table.Table.Text(table.Table.Values[r.Cell]))
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
