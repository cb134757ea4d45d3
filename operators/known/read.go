package known

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"

	"microrisk/engine/perturb"
	"microrisk/engine/tabular"
	"microrisk/operators"
	"microrisk/schemas"
)

// A file is what was read of one, as text: several operators may read it, each by what it says of it.
type file struct {
	columns []column
	rows    int
}

type column struct {
	name  string
	texts []string
	codes []int32 // of the rows; -1 for null
}

// readerOf reads a file.
func readerOf(path string) func(ctx context.Context, from operators.Source, memory int64) (any, error) {
	return func(ctx context.Context, from operators.Source, memory int64) (any, error) {
		f := &file{}
		var at []map[string]int32
		for _, field := range from.Schema().Fields() {
			if t := operators.ValueType(field.Type); !operators.HasEquality(t) && !operators.IsNumber(t) {
				return nil, fmt.Errorf("%s: the column %q is of type %s; a known table has columns of key variables and of counts", path, field.Name, t)
			}
			f.columns, at = append(f.columns, column{name: field.Name}), append(at, map[string]int32{})
		}
		held := int64(0)
		err := operators.EachRow(ctx, from, func(r arrow.Record, row int) error {
			for k := range f.columns {
				c, a := &f.columns[k], r.Column(k)
				code := int32(-1)
				if !a.IsNull(row) {
					text := operators.Text(a, row)
					var ok bool
					if code, ok = at[k][text]; !ok {
						text = strings.Clone(text)
						code = int32(len(c.texts))
						at[k][text], c.texts = code, append(c.texts, text)
						held += int64(len(text)) + 48
					}
				}
				c.codes = append(c.codes, code)
				held += 4
			}
			if f.rows++; memory > 0 && held > memory/2 {
				return fmt.Errorf("%s does not fit in the memory that is allowed (half of %d bytes); give a coarser table, or more memory", path, memory)
			}
			return nil
		})
		return f, err
	}
}

// text of a row; false for null.
func (c *column) text(row int) (string, bool) {
	if c.codes[row] < 0 {
		return "", false
	}
	return c.texts[c.codes[row]], true
}

// Tables are known tables, bound to a key: a margin for each set of variables that some file has.
type Tables struct {
	key     operators.Key
	margins []*tabular.Margin
	absent  []bool // by margin: nothing is known of combinations that it does not list
}

// Bind reads tables as what the key makes of them. documents has what was read of their files. nil: there are none.
func Bind(list []Table, documents map[string]any, key operators.Key) (*Tables, error) {
	if len(list) == 0 {
		return nil, nil
	}
	t := &Tables{key: key}
	for i := range list {
		if err := t.bind(&list[i], documents); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// bind takes a table.
func (t *Tables) bind(table *Table, documents map[string]any) error {
	kernel, err := operators.Kernel(&table.Scheme)
	if err != nil {
		return fmt.Errorf("%s: %w", table.name(), err)
	}
	by := map[string]*tabular.Margin{}
	for _, path := range table.Path {
		f, ok := documents[path].(*file)
		if !ok {
			return fmt.Errorf("%s: the known table was not read, or is read as something else too", path)
		}
		r := &rows{tables: t, table: table, kernel: kernel, path: path, file: f, margins: by}
		if err := r.read(); err != nil {
			return err
		}
	}
	if len(by) == 0 {
		return fmt.Errorf("%s has no rows; a known table has one for each cell", table.name())
	}
	return nil
}

// rows are those of a file that is taken.
type rows struct {
	tables     *Tables
	table      *Table
	kernel     perturb.Kernel
	path       string
	file       *file
	margins    map[string]*tabular.Margin
	variables  []int // key variable of each column; -1 for what is none
	count      int   // column; -1 for intervals
	low, high  int
	codes      [][]string // missing codes of the columns
	categories []tabular.Category
}

func (r *rows) read() error {
	if err := r.columns(); err != nil {
		return err
	}
	for row := range r.file.rows {
		cell := make([]tabular.Category, len(r.tables.key.Variables))
		for i := range cell {
			cell[i] = tabular.Total
		}
		for k, v := range r.variables {
			if v < 0 {
				continue
			}
			var err error
			if cell[v], err = r.category(k, row); err != nil {
				return err
			}
		}
		if err := r.take(cell, row); err != nil {
			return err
		}
	}
	return nil
}

// columns finds those of counts and of key variables.
func (r *rows) columns() error {
	find := func(name string) int {
		return slices.IndexFunc(r.file.columns, func(c column) bool { return c.name == name })
	}
	var keys []string
	for _, v := range r.tables.key.Variables {
		keys = append(keys, v.Name)
	}
	r.count, r.low, r.high = -1, find(schemas.LowerColumn), find(schemas.UpperColumn)
	names := schemas.CountColumns
	if r.table.Count != "" {
		names = []string{r.table.Count}
	}
	for _, name := range names {
		switch at := find(name); {
		case at < 0 || slices.Contains(keys, name):
		case r.count >= 0:
			return fmt.Errorf("%s has the columns %s and %s: say which has the counts (count)", r.path, r.file.columns[r.count].name, name)
		default:
			r.count = at
		}
	}
	intervals := r.count < 0 && r.low >= 0 && r.high >= 0 && r.table.Count == ""
	switch {
	case r.count < 0 && r.table.Count != "":
		return fmt.Errorf("%s has no column %s of counts%s", r.path, r.table.Count, meant(r.table.Count, r.names()))
	case r.count < 0 && !intervals:
		return operators.NoCounts(r.path)
	case intervals && r.table.Scheme.Scheme != "" && r.table.Scheme.Scheme != "none":
		return fmt.Errorf("%s has the least and the largest counts (lower, upper), which no scheme is of: leave scheme out", r.path)
	}
	r.variables, r.codes = make([]int, len(r.file.columns)), make([][]string, len(r.file.columns))
	for k, c := range r.file.columns {
		r.variables[k] = -1
		v := slices.Index(keys, c.name)
		switch {
		case k == r.count || intervals && (k == r.low || k == r.high || c.name == "exact"):
		case v < 0 && (k == r.low || k == r.high || c.name == "exact" || c.name == schemas.SymbolColumn):
			// what a table says of its counts besides
		case v < 0:
			return fmt.Errorf(
				"%s has the column %s, which is no variable of the key (%s)%s: add the counts up over it, or leave it out of the file",
				r.path,
				c.name,
				strings.Join(keys, ", "),
				meant(c.name, keys),
			)
		default:
			r.variables[k] = v
			variable := r.tables.key.Variables[v]
			if r.codes[k] = variable.MissingCodes; r.codes[k] == nil {
				r.codes[k] = r.tables.key.MissingCodes
			}
		}
	}
	return nil
}

// meant asks whether another name is.
func meant(name string, known []string) string {
	if other := schemas.Nearest(name, known); other != "" {
		return fmt.Sprintf("; did you mean %q?", other)
	}
	return ""
}

func (r *rows) names() (list []string) {
	for _, c := range r.file.columns {
		list = append(list, c.name)
	}
	return list
}

// category is that of a row in a column.
func (r *rows) category(k, row int) (tabular.Category, error) {
	c := &r.file.columns[k]
	text, ok := c.text(row)
	totals := r.table.Totals
	if totals == nil {
		totals = []string{tabular.TotalCode}
	}
	variable := r.tables.key.Variables[r.variables[k]]
	switch {
	case !ok || slices.Contains(r.codes[k], text):
		return tabular.Missing, nil
	case slices.Contains(totals, text):
		return tabular.Total, nil
	case variable.Levels != nil && !slices.Contains(variable.Levels, text):
		return tabular.Category{}, fmt.Errorf(
			"%s has %s = %q, which is not among its levels (%s)",
			r.path,
			variable.Name,
			text,
			strings.Join(variable.Levels, ", "),
		)
	case r.table.Totals == nil && strings.EqualFold(strings.TrimSpace(text), tabular.TotalCode):
		return tabular.Category{}, fmt.Errorf("%s has %s = %q: if that is all of them, say so (totals)", r.path, variable.Name, text)
	}
	return tabular.Of(text), nil
}

// take puts a row into the margin over its variables.
func (r *rows) take(whole []tabular.Category, row int) error {
	var variables []int
	cell := r.categories[:0]
	for v, c := range whole {
		if c != tabular.Total {
			variables, cell = append(variables, v), append(cell, c)
		}
	}
	r.categories = cell
	figure, err := r.figure(row)
	if err == nil {
		if _, _, ok := figure.Bounds(r.kernel); !ok {
			err = fmt.Errorf("is %d, which %s never publishes", figure.Low, r.kernel.Name())
		}
	}
	if err != nil {
		return fmt.Errorf("%s: the count of %s %w", r.path, r.tables.place(variables, cell), err)
	}
	id := fmt.Sprint(variables)
	m := r.margins[id]
	if m == nil {
		m = &tabular.Margin{Name: r.table.name(), Kernel: r.kernel, Variables: variables, Figures: tabular.NewFigures(len(variables))}
		r.margins[id] = m
		r.tables.margins = append(r.tables.margins, m)
		r.tables.absent = append(r.tables.absent, r.table.Absent == AbsentHidden)
	}
	if !m.Add(cell, figure) {
		return fmt.Errorf("%s has %s twice", r.table.name(), r.tables.place(variables, cell))
	}
	return nil
}

// figure is what a row says of its count.
func (r *rows) figure(row int) (tabular.Figure, error) {
	const wanted = "it must be a whole number of at least 0"
	if r.count < 0 {
		low, err := whole(&r.file.columns[r.low], row, "has a lower end that is")
		if err != nil {
			return tabular.Figure{}, err
		}
		if _, ok := r.file.columns[r.high].text(row); !ok {
			return tabular.Interval(low, tabular.NoLimit), nil
		}
		high, err := whole(&r.file.columns[r.high], row, "has an upper end that is")
		if err == nil && high < low {
			err = fmt.Errorf("has an upper end of %d, and a lower one of %d", high, low)
		}
		return tabular.Interval(low, high), err
	}
	c := &r.file.columns[r.count]
	text, ok := c.text(row)
	if text = strings.TrimSpace(text); !ok {
		return tabular.Hidden(), nil
	}
	if !slices.Contains(r.table.Suppressed, text) {
		n, err := whole(c, row, "is")
		if err != nil && strings.ContainsFunc(text, func(r rune) bool { return r >= '0' && r <= '9' }) && !strings.HasPrefix(text, "<") {
			return tabular.Figure{}, err
		}
		if err != nil {
			return tabular.Figure{}, fmt.Errorf("is %q; %s: if it was not published, say so (suppressed)", text, wanted)
		}
		return tabular.Exact(n), nil
	}
	if digits, below := strings.CutPrefix(text, "<"); below {
		if n, err := strconv.ParseInt(strings.TrimSpace(digits), 10, 64); err == nil && n >= 1 && n <= schemas.MaxCount {
			return tabular.Interval(0, n-1), nil
		}
	}
	return tabular.Hidden(), nil
}

// whole is the whole number of a row.
func whole(c *column, row int, is string) (int64, error) {
	text, ok := c.text(row)
	if !ok {
		return 0, fmt.Errorf("%s null; it must be a whole number of at least 0", is)
	}
	text = strings.TrimSpace(text)
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		var x float64
		if x, err = strconv.ParseFloat(text, 64); err == nil && x == float64(int64(x)) && x <= schemas.MaxCount {
			n = int64(x)
		} else {
			n = -1
		}
	}
	if n < 0 || n > schemas.MaxCount {
		return 0, fmt.Errorf("%s %s; it must be a whole number of at least 0", is, text)
	}
	return n, nil
}

// place names a cell.
func (t *Tables) place(variables []int, cell []tabular.Category) string {
	words := make([]string, len(variables))
	for k, v := range variables {
		words[k] = fmt.Sprintf("%s = %s", t.key.Variables[v].Name, cell[k])
	}
	if len(words) == 0 {
		return "the total"
	}
	return "[" + strings.Join(words, ", ") + "]"
}
