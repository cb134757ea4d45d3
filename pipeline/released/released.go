// Package released reads the files of published tables that bounds and link stand on: margins, perturbed or not, intervals, merged
// categories, and the codes of variables that several of them share.
package released

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"

	"microrisk/engine/bounds"
	"microrisk/engine/perturb"
	"microrisk/engine/tabular"
	"microrisk/operators"
	"microrisk/pipeline/session"
	"microrisk/schemas"
)

// Tables are what was read: the variables in the order they were met, and rows of each margin.
type Tables struct {
	tabular.Table
	seen   []map[tabular.Category]bool // the categories of each variable, to find them
	Stated bool                        // how counts were perturbed, even if they were not

	Intervals  bool     // counts may be known within bounds, or not at all
	Suppressed []string // texts of counts that were not published, besides null
	Merged     []MergedCategory
	Totals     []string // texts of a margin in a variable's column; nil: tabular.TotalCode, and what looks like another is asked about
	Warnings   []string
}

// variable is the position of a variable.
func (t *Tables) variable(name string) int {
	if v := t.Find(name); v >= 0 {
		return v
	}
	v := tabular.Variable{Name: name}
	for _, m := range t.Merged {
		if m.Variable == name {
			v.Merged = append(v.Merged, tabular.Group{Label: m.Name, Members: m.Members})
		}
	}
	t.Variables, t.seen = append(t.Variables, v), append(t.seen, map[tabular.Category]bool{})
	return len(t.Variables) - 1
}

// Find is the position of a variable, -1 for one that no table has.
func (t *Tables) Find(name string) int {
	return slices.IndexFunc(t.Variables, func(v tabular.Variable) bool { return v.Name == name })
}

// see takes a category of a variable.
func (t *Tables) see(v int, c tabular.Category) {
	if !t.seen[v][c] {
		t.seen[v][c] = true
		t.Variables[v].Categories = append(t.Variables[v].Categories, c)
	}
}

// Read reads a file.
func (t *Tables) Read(ctx context.Context, path string, kernel perturb.Kernel, o session.Options) error {
	source, err := session.OpenPaths(ctx, []string{path}, o)
	if err != nil {
		return err
	}
	defer source.Close()
	var columns []int // of variables
	var of []int      // their positions among all variables
	count := -1
	limits := [2]int{-1, -1} // columns of lower and upper, of a table of intervals
	if t.Intervals {
		limits = intervalColumns(source.Schema())
	}
	named, err := operators.CountColumn(path, source.Schema(), nil)
	if err != nil {
		return session.Wrong(err)
	}
	if named != "" {
		count = source.Schema().FieldIndices(named)[0]
	}
	if named == "value" && !t.Stated && kernel.Name() == perturb.None().Name() {
		t.Warnings = append(
			t.Warnings,
			path+" has the column value, as of perturbed counts, and they were taken as exact: say how they were perturbed (scheme), or name the column count",
		)
	}
	if limits[0] >= 0 && count >= 0 {
		return session.Wrong(fmt.Errorf("%s has the columns lower and upper and the column %s: which has the counts? Leave one out", path, named))
	}
	if count < 0 && limits[0] < 0 {
		return session.Wrong(operators.NoCounts(path))
	}
	for i, f := range source.Schema().Fields() {
		if i == count || i == limits[0] || i == limits[1] || limits[0] >= 0 && f.Name == "exact" || named == "value" && f.Name == schemas.SymbolColumn {
			continue
		}
		if slices.Contains([]string{"lower", "upper", "exact"}, f.Name) {
			return session.Wrong(fmt.Errorf("%s: the variable %s has the name of a column of the output; rename it", path, f.Name))
		}
		if !operators.HasEquality(f.Type) {
			return session.Wrong(
				fmt.Errorf(
					"%s: the column %q is of type %s; the columns besides the counts are variables of the table",
					path,
					f.Name,
					session.TypeName(f.Type),
				),
			)
		}
		columns, of = append(columns, i), append(of, t.variable(f.Name))
	}
	byMargin := map[string]*tabular.Margin{}
	err = operators.EachCell(ctx, source, columns, t.isTotal, func(cell []tabular.Category, r arrow.Record, row int) error {
		known, err := t.countOf(r, row, count, limits)
		return t.add(path, kernel, cell, of, known, err, byMargin)
	})
	if err == nil && len(byMargin) == 0 {
		return session.Wrong(fmt.Errorf("%s has no rows", path))
	}
	return err
}

// add takes a row: the categories of some variables, and what was published of their cell, or what is wrong with it.
func (t *Tables) add(
	path string,
	kernel perturb.Kernel,
	row []tabular.Category,
	of []int,
	figure tabular.Figure,
	unknown error,
	byMargin map[string]*tabular.Margin,
) error {
	var variables []int
	categories := map[int]tabular.Category{}
	for k, c := range row {
		switch {
		case c.Kind == tabular.KindTotal:
			continue
		case t.Totals == nil && t.Intervals && c.Kind == tabular.Value && looksLikeTotal(c.Label):
			return session.Wrong(
				fmt.Errorf(
					"%s has %s = %q: is that a margin? Name what stands for one (total), be it %s",
					path,
					t.Variables[of[k]].Name,
					c.Label,
					tabular.TotalCode,
				),
			)
		}
		c.Label = strings.Clone(c.Label)
		categories[of[k]] = c
		variables = append(variables, of[k])
	}
	slices.Sort(variables)
	var cell []tabular.Category
	for _, v := range variables {
		cell = append(cell, categories[v])
		for _, c := range t.Variables[v].Members(categories[v]) {
			t.see(v, c)
		}
	}
	if unknown != nil {
		return session.Wrong(fmt.Errorf("%s: the count of %s %w", path, t.place(variables, cell), unknown))
	}
	id := fmt.Sprint(variables)
	m := byMargin[id]
	if m == nil {
		m = &tabular.Margin{Name: path, Kernel: kernel, Variables: variables, Figures: tabular.NewFigures(len(variables))}
		byMargin[id] = m
		t.Margins = append(t.Margins, m)
	}
	if !m.Add(cell, figure) {
		return session.Wrong(fmt.Errorf("%s has %s twice", path, t.place(variables, cell)))
	}
	return nil
}

// WholeFiles refuses tables of counted samples with margins beside them: those would count the sample twice.
func (t *Tables) WholeFiles() error {
	for i, m := range t.Margins {
		for _, other := range t.Margins[:i] {
			if other.Name == m.Name {
				return session.Wrong(
					fmt.Errorf("%s has margins (%s) beside its cells: of a table counted from a sample give the cells alone", m.Name, tabular.TotalCode),
				)
			}
		}
	}
	return nil
}

// place names a cell in messages.
func (t *Tables) place(variables []int, cell []tabular.Category) string {
	words := make([]string, len(variables))
	for k, v := range variables {
		words[k] = t.Variables[v].Name + " = " + cmp.Or(cell[k].String(), `""`)
	}
	if len(words) == 0 {
		return "the total"
	}
	return "[" + strings.Join(words, ", ") + "]"
}

// mostBounded is how many cells of the base table are bounded.
const mostBounded = 1 << 20

// Release is what was read as the engine wants it.
func (t *Tables) Release() (*bounds.Release, error) {
	r := &bounds.Release{}
	for v := range t.Variables {
		variable := &t.Variables[v]
		if len(variable.Categories) == 0 {
			return nil, session.Wrong(fmt.Errorf("no table has a category of %s besides %s", variable.Name, tabular.TotalCode))
		}
		sortCategories(variable.Categories)
		r.Names, r.Levels = append(r.Names, variable.Name), append(r.Levels, len(variable.Categories))
		if !tabular.Shape(r.Levels).Within(mostBounded) {
			return nil, session.Wrong(fmt.Errorf("the tables have more than %d combinations of categories; take fewer variables", mostBounded))
		}
	}
	if err := t.Check(); err != nil {
		return nil, err
	}
	for _, m := range t.Margins {
		out, err := t.margin(m)
		if err != nil {
			return nil, session.Wrong(err)
		}
		r.Margins = append(r.Margins, out)
	}
	return r, nil
}

// margin is one of them.
func (t *Tables) margin(m *tabular.Margin) (bounds.Margin, error) {
	out := bounds.Margin{Name: m.Name, Variables: m.Variables}
	if len(m.Variables) == 0 {
		out.Name += " [" + tabular.TotalCode + "]"
	}
	var published [][]tabular.Category
	for k, v := range m.Variables {
		out.Name += " [" + t.Variables[v].Name + "]"
		list, groups, err := t.Published(m, k)
		if err != nil {
			return out, err
		}
		if groups != nil && out.Groups == nil {
			out.Groups = make([][][]int, len(m.Variables))
		}
		if groups != nil {
			out.Groups[k] = groups
		}
		published = append(published, list)
	}
	var err error
	out.Low, out.High, err = m.Bounds(published)
	var never *tabular.NeverError
	if errors.As(err, &never) {
		return out, schemas.Contradiction(
			"published",
			"",
			"%s: %s never publishes a count of %d, as of %s",
			m.Name,
			m.Kernel.Name(),
			never.Count,
			t.place(m.Variables, never.Cell),
		)
	}
	return out, err
}

// InCodes makes a contradiction of tables a [schemas.ContradictionError], which names the cell that it is about by its categories, where
// the engine has their numbers.
func (t *Tables) InCodes(r *bounds.Release, err error) error {
	var bad *bounds.InfeasibleError
	if !errors.As(err, &bad) {
		return err
	}
	said := &schemas.ContradictionError{Said: "published", Err: err}
	if bad.Margin < 0 || len(bad.Cell) == 0 {
		return said
	}
	var numbers, codes []string
	for k, v := range bad.Variables {
		list := t.Variables[v].Categories
		if bad.Margin < len(t.Margins) {
			if at := slices.Index(t.Margins[bad.Margin].Variables, v); at >= 0 && r.Margins[bad.Margin].Groups != nil {
				if merged, _, err := t.Published(t.Margins[bad.Margin], at); err == nil {
					list = merged
				}
			}
		}
		numbers = append(numbers, fmt.Sprintf("%s = %d", t.Variables[v].Name, bad.Cell[k]))
		codes = append(codes, fmt.Sprintf("%s = %s", t.Variables[v].Name, list[bad.Cell[k]]))
	}
	text := strings.Replace(err.Error(), strings.Join(numbers, ", "), strings.Join(codes, ", "), 1)
	if t.absent(r) {
		text += " (a cell without a row was taken as 0: were the tables published in full?)"
	}
	said.Err = errors.New(text)
	return said
}

// sortCategories sorts whole numbers by value, before texts by their bytes.
func sortCategories(list []tabular.Category) {
	slices.SortFunc(list, func(a, b tabular.Category) int {
		x, errX := strconv.ParseInt(a.Label, 10, 64)
		y, errY := strconv.ParseInt(b.Label, 10, 64)
		switch {
		case errX == nil && errY == nil:
			return cmp.Or(cmp.Compare(x, y), a.Compare(b))
		case errX == nil:
			return -1
		case errY == nil:
			return 1
		}
		return a.Compare(b)
	})
}

// absent tells whether a margin has cells without a row.
func (t *Tables) absent(r *bounds.Release) bool {
	for i, m := range t.Margins {
		if m.Len() < len(r.Margins[i].Low) {
			return true
		}
	}
	return false
}
