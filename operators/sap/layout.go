package sap

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"microrisk/engine/contingency"
	"microrisk/engine/perturb"
	"microrisk/engine/tabular"
	"microrisk/operators"
	"microrisk/schemas"
	"microrisk/schemas/advice"
)

// A layout is the order of the cells of tables: all combinations of the variables' categories, first variable slowest.
type layout struct {
	table     *contingency.Table
	by        int
	variables []contingency.Variable
	sizes     tabular.Shape // categories of each variable, the missing one included where it is a category
	missing   []bool        // the missing value is a category of the variable
	cells     int
}

func newLayout(t *contingency.Table, by int, missing string) (*layout, error) {
	l := &layout{table: t, by: by, variables: t.Variables[by:]}
	for v, variable := range l.variables {
		size, some := len(variable.Categories), false
		if missing != schemas.MissingDrop {
			some = t.Observed(by + v)[variable.Missing()]
		}
		if some {
			size++
		}
		l.sizes, l.missing = append(l.sizes, size), append(l.missing, some)
		if size == 0 && t.Classes() > 0 {
			return nil, fmt.Errorf("no record has a value of %s", variable.Name)
		}
		if !l.sizes.Within(operators.MostCells) {
			return nil, fmt.Errorf("a table of all categories of cells has more than %d cells: take fewer or coarser variables", operators.MostCells)
		}
	}
	l.cells = l.sizes.Cells()
	return l, nil
}

// cell is the cell of a class, -1 if a value is missing and that is no category.
func (l *layout) cell(class int) int {
	var codes [64]int
	for v := range l.variables {
		if codes[v] = int(l.table.Code(class, l.by+v)); codes[v] >= l.sizes[v] {
			return -1
		}
	}
	return tabular.Cell(l.sizes, codes[:])
}

// codes are the categories of a cell.
func (l *layout) codes(cell int, to []int) []int {
	return tabular.Codes(l.sizes, cell, slices.Grow(to[:0], len(l.sizes))[:len(l.sizes)])
}

// category is that of a code.
func (l *layout) category(v, code int) tabular.Category {
	return tabular.CategoryOf(&l.variables[v], uint32(code))
}

// impossible marks the cells of combinations that cannot occur; nil for none.
func (l *layout) impossible(list []map[string]string) ([]bool, error) {
	if len(list) == 0 {
		return nil, nil
	}
	marked := make([]bool, l.cells)
	for _, m := range list {
		want := make([]int, len(l.variables))
		found := 0
		for v, variable := range l.variables {
			want[v] = -1
			category, ok := m[variable.Name]
			if !ok {
				continue
			}
			found++
			if want[v] = slices.Index(variable.Categories, category); want[v] < 0 {
				return nil, wronglySaid("the impossible combination %s has %q, which is no category of %s; the nearest are %s",
					l.combination(m), category, variable.Name, operators.NearestInWords(category, variable.Categories))
			}
		}
		if found < len(m) {
			return nil, wronglySaid("the impossible combination %s has a variable that is not among cells", l.combination(m))
		}
		var codes []int
		for cell := range marked {
			codes = l.codes(cell, codes)
			all := true
			for v, c := range codes {
				all = all && (want[v] < 0 || want[v] == c)
			}
			marked[cell] = marked[cell] || all
		}
	}
	return marked, nil
}

// wronglySaid is an error of the spec that only the data shows.
func wronglySaid(format string, args ...any) error {
	return &schemas.SpecError{Problems: []schemas.Problem{{Path: "operators", Message: advice.Textf(format, args...)}}}
}

// combination is a combination in words: the variables of cells in their order, then what is none of them.
func (l *layout) combination(m map[string]string) string {
	var parts []string
	known := map[string]bool{}
	for _, v := range l.variables {
		known[v.Name] = true
		if category, ok := m[v.Name]; ok {
			parts = append(parts, v.Name+"="+category)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(m)) {
		if !known[name] {
			parts = append(parts, name+"="+m[name])
		}
	}
	return "[" + strings.Join(parts, ", ") + "]"
}

// An identity names cells: in words, for published counts, and for the noise that a cell gets.
type identity struct {
	*fit
	*tabular.Identity
	named []tabular.Category // of all variables
	codes []int
}

func newIdentity(f *fit) *identity {
	return &identity{fit: f, Identity: tabular.NewIdentity(f.table.Variables), named: make([]tabular.Category, len(f.table.Variables))}
}

// name fills in named for a cell of an area; of cell -1, the total.
func (n *identity) name(a, cell int) {
	for v := range n.bound.by {
		n.named[v] = tabular.CategoryOf(&n.table.Variables[v], n.byCodes[v][a])
	}
	if cell < 0 {
		for v := range n.layout.variables {
			n.named[n.bound.by+v] = tabular.Total
		}
		return
	}
	n.codes = n.layout.codes(cell, n.codes)
	for v, c := range n.codes {
		n.named[n.bound.by+v] = n.layout.category(v, c)
	}
}

// published is the count that is published for a cell whose true count is c, and whether there is a row of it in the file of
// published counts, if there is one.
func (n *identity) published(a, cell int, k perturb.Kernel, c int64) (count int64, there bool) {
	b := n.bound
	if b.Published == nil && !b.Config.Release.Random() {
		return perturb.Draw(k, c, 0), true
	}
	n.name(a, cell)
	return n.publishedNamed(k, c)
}

// publishedMargin is the count that is published for the cell of a margin that a cell of the table is in.
func (n *identity) publishedMargin(a, cell int, m marginLayout, c int64) (count int64, there bool) {
	n.name(a, cell)
	for v := range n.layout.variables {
		if !slices.Contains(m.variables, v) {
			n.named[n.bound.by+v] = tabular.Total
		}
	}
	return n.publishedNamed(m.kernel, c)
}

// publishedNamed is the count that is published for the cell named.
func (n *identity) publishedNamed(k perturb.Kernel, c int64) (count int64, there bool) {
	b := n.bound
	switch {
	case b.Published != nil:
		f, there := b.Published.Find(n.named)
		return f.Low, there
	case !b.Config.Release.Random():
		return perturb.Draw(k, c, 0), true
	}
	return perturb.Draw(k, c, perturb.Uniform(n.key, n.Of(n.named))), true
}

// wrong is the error of a count, in words, that cannot have been published as j; there: the file of published counts has it. The cell
// is the one named.
func (n *identity) wrong(a int, what string, k perturb.Kernel, c, j int64, there bool) error {
	b := n.bound
	by := "by " + k.Name()
	if k == perturb.None() {
		by = "without perturbation"
	}
	switch {
	case b.Published == nil:
		return n.where(a, schemas.Contradiction("published", "", "%s is %d, which cannot be published as %d %s", what, c, j, by))
	case there:
		return n.where(
			a,
			schemas.Contradiction("published", "", "%s is %d, which cannot have been published as %d %s, as %s says", what, c, j, by, b.Published.Name),
		)
	}
	more := ""
	if slices.Contains(n.named[b.by:], tabular.Total) {
		more = "; write the margins to the file too"
	}
	return schemas.Contradiction(
		"published",
		"",
		"%s has no row for %s; absent rows are read as 0, and %s is %d%s",
		b.Published.Name,
		tabular.Words(n.named),
		what,
		c,
		more,
	)
}

// where tells an error with the name of the table.
func (n *identity) where(a int, err error) error {
	if n.bound.by == 0 {
		return err
	}
	n.name(a, -1)
	return advice.Errorf("table %s: %w", tabular.Words(n.named[:n.bound.by]), err)
}

// words is the name of a cell of the last area that was named.
func (n *identity) words(cell int) string {
	var parts []string
	for v, c := range n.layout.codes(cell, nil) {
		parts = append(parts, n.layout.variables[v].Name+"="+n.layout.category(v, c).String())
	}
	return "[" + strings.Join(parts, ", ") + "]"
}
