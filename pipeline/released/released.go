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
	"microrisk/operators"
	"microrisk/pipeline/session"
	"microrisk/schemas"
)

// releasedTables are what was read: the variables in the order they were met, and rows of each margin.
type Tables struct {
	Names      []string
	Categories [][]string
	seen       []map[string]bool // the categories, to find them
	Margins    []*releasedMargin
	Stated     bool // how counts were perturbed, even if they were not

	Intervals  bool     // counts may be known within bounds, or not at all
	Suppressed []string // texts of counts that were not published, besides null
	Merged     []MergedCategory
	Totals     []string // texts of a margin in a variable's column; nil: operators.TotalCode, and what looks like another is asked about
	Warnings   []string
}

// A releasedMargin is a table over some variables.
type releasedMargin struct {
	File      string
	Variables []int // ascending
	rows      map[string]int64
	within    map[string]interval // cells known within bounds, in place of a count; nil for none
	Kernel    perturb.Kernel
}

// variable is the position of a variable.
func (t *Tables) variable(name string) int {
	if v := slices.Index(t.Names, name); v >= 0 {
		return v
	}
	t.Names, t.Categories, t.seen = append(t.Names, name), append(t.Categories, nil), append(t.seen, map[string]bool{})
	return len(t.Names) - 1
}

// Read reads a file.
func (t *Tables) Read(ctx context.Context, path string, kernel perturb.Kernel, o session.Options) error {
	from := schemas.Source{Path: []string{path}}
	in, err := session.Resolve(from)
	if err != nil {
		return err
	}
	source, err := session.Open(ctx, from, in, o)
	if err != nil {
		return err
	}
	defer source.Close()
	var columns []int // of variables
	var of []int      // their positions among all variables
	count, named := -1, ""
	limits := [2]int{-1, -1} // columns of lower and upper, of a table of intervals
	if t.Intervals {
		limits = intervalColumns(source.Schema())
	}
	for _, name := range operators.CountColumns {
		i := source.Schema().FieldIndices(name)
		switch {
		case len(i) > 0 && count >= 0:
			return session.Wrong(fmt.Errorf("%s has the columns %s and %s: which has the counts? Leave one out, or rename a variable", path, named, name))
		case len(i) > 0:
			count, named = i[0], name
		}
	}
	if named == "value" && !t.Stated && kernel.Name() == perturb.None().Name() {
		t.Warnings = append(t.Warnings, path+" has the column value, as of perturbed counts, and they were taken as exact: say how they were perturbed (scheme), or name the column count")
	}
	if limits[0] >= 0 && count >= 0 {
		return session.Wrong(fmt.Errorf("%s has the columns lower and upper and the column %s: which has the counts? Leave one out", path, named))
	}
	if count < 0 && limits[0] < 0 {
		return session.Wrong(fmt.Errorf("%s has no column of counts; name it %s", path, "published, value or count"))
	}
	for i, f := range source.Schema().Fields() {
		if i == count || i == limits[0] || i == limits[1] || limits[0] >= 0 && f.Name == "exact" {
			continue
		}
		if slices.Contains([]string{"lower", "upper", "exact"}, f.Name) {
			return session.Wrong(fmt.Errorf("%s: the variable %s has the name of a column of the output; rename it", path, f.Name))
		}
		if !operators.HasEquality(f.Type) {
			return session.Wrong(fmt.Errorf("%s: the column %q is of type %s; the columns besides the counts are variables of the table", path, f.Name, session.TypeName(f.Type)))
		}
		columns, of = append(columns, i), append(of, t.variable(f.Name))
	}
	chain, err := operators.NewChain(source.Schema())
	if err != nil {
		return err
	}
	byMargin := map[string]*releasedMargin{}
	_, err = chain.Run(ctx, source, &operators.Emit{To: func(_ int, r arrow.Record) error {
		for row := range int(r.NumRows()) {
			if err := t.add(path, kernel, r, row, columns, of, count, limits, byMargin); err != nil {
				return err
			}
		}
		return nil
	}}, operators.Options{Workers: 1})
	if err == nil && len(byMargin) == 0 {
		return session.Wrong(fmt.Errorf("%s has no rows", path))
	}
	return err
}

// add takes a row.
func (t *Tables) add(path string, kernel perturb.Kernel, r arrow.Record, row int, columns, of []int, count int, limits [2]int, byMargin map[string]*releasedMargin) error {
	texts := map[int]string{}
	var variables []int
	for k, c := range columns {
		text := MissingCategory
		if a := r.Column(c); !a.IsNull(row) {
			text = operators.Text(a, row)
		}
		if t.isTotal(text) {
			continue
		}
		if t.Totals == nil && t.Intervals && looksLikeTotal(text) {
			return session.Wrong(fmt.Errorf("%s has %s = %q: is that a margin? Name what stands for one (total), be it %s", path, t.Names[of[k]], text, operators.TotalCode))
		}
		texts[of[k]] = text
		variables = append(variables, of[k])
	}
	slices.Sort(variables)
	var key []string
	for _, v := range variables {
		key = append(key, texts[v])
		for _, text := range t.members(v, texts[v]) {
			if !t.seen[v][text] {
				t.seen[v][text] = true
				t.Categories[v] = append(t.Categories[v], text)
			}
		}
	}
	n, known, err := t.countOf(r, row, count, limits)
	if err != nil {
		return session.Wrong(fmt.Errorf("%s: the count of %s %w", path, t.place(variables, key), err))
	}
	id := fmt.Sprint(variables)
	m := byMargin[id]
	if m == nil {
		m = &releasedMargin{File: path, Kernel: kernel, Variables: variables, rows: map[string]int64{}}
		byMargin[id] = m
		t.Margins = append(t.Margins, m)
	}
	name := strings.Join(key, "\x00")
	if _, twice := m.rows[name]; twice {
		return session.Wrong(fmt.Errorf("%s has %s twice", path, t.place(variables, key)))
	}
	m.rows[name] = n
	if known != nil {
		if m.within == nil {
			m.within = map[string]interval{}
		}
		m.within[name] = *known
	}
	return nil
}

// WholeFiles refuses tables of counted samples with margins beside them: those would count the sample twice.
func (t *Tables) WholeFiles() error {
	for i, m := range t.Margins {
		for _, other := range t.Margins[:i] {
			if other.File == m.File {
				return session.Wrong(fmt.Errorf("%s has margins (%s) beside its cells: of a table counted from a sample give the cells alone", m.File, operators.TotalCode))
			}
		}
	}
	return nil
}

// place names a cell in messages.
func (t *Tables) place(variables []int, texts []string) string {
	words := make([]string, len(variables))
	for k, v := range variables {
		words[k] = t.Names[v] + " = " + cmp.Or(strings.ReplaceAll(texts[k], MissingCategory, "missing"), `""`)
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
	r := &bounds.Release{Names: t.Names}
	cells := 1
	for v, list := range t.Categories {
		if len(list) == 0 {
			return nil, session.Wrong(fmt.Errorf("no table has a category of %s besides %s", t.Names[v], operators.TotalCode))
		}
		sortCategories(list)
		r.Levels = append(r.Levels, len(list))
		if cells *= len(list); cells > mostBounded {
			return nil, session.Wrong(fmt.Errorf("the tables have more than %d combinations of categories; take fewer variables", mostBounded))
		}
	}
	for _, m := range t.Margins {
		out := bounds.Margin{Name: m.File, Variables: m.Variables}
		if len(m.Variables) == 0 {
			out.Name += " [" + operators.TotalCode + "]"
		}
		size := 1
		var published [][]string // categories of each variable, merged ones by their names
		for k, v := range m.Variables {
			out.Name += " [" + t.Names[v] + "]"
			list, groups, err := t.groups(m, k)
			if err != nil {
				return nil, err
			}
			if groups != nil && out.Groups == nil {
				out.Groups = make([][][]int, len(m.Variables))
			}
			if groups != nil {
				out.Groups[k] = groups
			}
			published = append(published, list)
			size *= len(list)
		}
		out.Low, out.High = make([]int64, size), make([]int64, size)
		key := make([]string, len(m.Variables))
		for cell := range size {
			rest := cell
			for j := len(m.Variables) - 1; j >= 0; j-- {
				list := published[j]
				key[j] = list[rest%len(list)]
				rest /= len(list)
			}
			name := strings.Join(key, "\x00")
			if known, ok := m.within[name]; ok {
				out.Low[cell], out.High[cell] = known.low, known.high
				continue
			}
			j := m.rows[name] // an absent row means empty
			low, high, ok := m.Kernel.Bounds(j)
			if !ok {
				return nil, session.Wrong(fmt.Errorf("%s: %s never publishes a count of %d, as of %s", m.File, m.Kernel.Name(), j, t.place(m.Variables, key)))
			}
			out.Low[cell], out.High[cell] = low, high
		}
		r.Margins = append(r.Margins, out)
	}
	return r, nil
}

// InCodes names the cell that an error is about by its categories, where the engine has their numbers.
func (t *Tables) InCodes(r *bounds.Release, err error) error {
	var bad *bounds.InfeasibleError
	if !errors.As(err, &bad) || bad.Margin < 0 || len(bad.Cell) == 0 {
		return err
	}
	var numbers, codes []string
	for k, v := range bad.Variables {
		list := t.Categories[v]
		if bad.Margin < len(t.Margins) {
			if at := slices.Index(t.Margins[bad.Margin].Variables, v); at >= 0 && r.Margins[bad.Margin].Groups != nil {
				if merged, _, err := t.groups(t.Margins[bad.Margin], at); err == nil {
					list = merged
				}
			}
		}
		numbers = append(numbers, fmt.Sprintf("%s = %d", t.Names[v], bad.Cell[k]))
		codes = append(codes, fmt.Sprintf("%s = %s", t.Names[v], strings.ReplaceAll(list[bad.Cell[k]], MissingCategory, "missing")))
	}
	text := strings.Replace(err.Error(), strings.Join(numbers, ", "), strings.Join(codes, ", "), 1)
	if t.absent(r) {
		text += " (a cell without a row was taken as 0: were the tables published in full?)"
	}
	return errors.New(text)
}

// sortCategories sorts whole numbers by value, before texts by their bytes.
func sortCategories(list []string) {
	slices.SortFunc(list, func(a, b string) int {
		x, errX := strconv.ParseInt(a, 10, 64)
		y, errY := strconv.ParseInt(b, 10, 64)
		switch {
		case errX == nil && errY == nil:
			return cmp.Or(cmp.Compare(x, y), strings.Compare(a, b))
		case errX == nil:
			return -1
		case errY == nil:
			return 1
		}
		return strings.Compare(a, b)
	})
}

// absent tells whether a margin has cells without a row.
func (t *Tables) absent(r *bounds.Release) bool {
	for i, m := range t.Margins {
		if len(m.rows) < len(r.Margins[i].Low) {
			return true
		}
	}
	return false
}

// InFull tells whether a margin lists all combinations of its categories, cells of 0 among them.
func (m *releasedMargin) InFull() bool {
	categories := make([]map[string]bool, len(m.Variables))
	for i := range categories {
		categories[i] = map[string]bool{}
	}
	zeros := false
	for name, n := range m.rows {
		zeros = zeros || n == 0
		for i, text := range strings.Split(name, "\x00") {
			categories[i][text] = true
		}
	}
	cells := 1.0
	for _, list := range categories {
		cells *= float64(len(list))
	}
	return zeros && cells == float64(len(m.rows))
}
