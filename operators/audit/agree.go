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
