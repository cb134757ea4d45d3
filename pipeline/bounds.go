package pipeline

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"microrisk/engine/bounds"
	"microrisk/operators"
	"microrisk/schemas"
)

// Methods of Bounds.
var BoundsMethods = []string{"auto", "shuttle", "sharp", "frechet"}

// A BoundsSpec asks for the bounds on cells that released tables imply.
type BoundsSpec struct {
	Tables   []string             // files: variables, and a column of counts named published, value or count; Total is a margin
	Scheme   schemas.Perturbation // by which the counts were perturbed
	Method   string               // one of BoundsMethods; "" means auto
	Deadline time.Duration        // for methods that can be stopped; 0 for none
	Solver   string               // one of Solvers, for what the own one does not finish; "" means auto
	Out      string               // file with one row a cell (.parquet, .arrow or .csv)
}

// A BoundsOutcome is what released tables imply.
type BoundsOutcome struct {
	Margins   int // tables, each margin for itself
	Variables []string
	Cells     int
	Method    string
	Sharp     bool // the tightest bounds in whole numbers
	Known     int  // cells whose lower bound is their upper bound
	Zeros     int  // those of 0
	Width     float64
	Unbounded int // cells without an upper bound
}

// Bounds reads released tables, and writes for every combination of their categories the least and the largest count that it can
// have. Errors about what was asked are those for which IsSpec is true; tables that contradict each other are an error.
func Bounds(ctx context.Context, s BoundsSpec, o Options) (*BoundsOutcome, error) {
	o = o.withDefaults()
	if err := s.check(); err != nil {
		return nil, err
	}
	kernel, err := operators.Kernel(&s.Scheme)
	if err != nil {
		return nil, wrong(err)
	}
	tables := &releasedTables{}
	for _, path := range s.Tables {
		if err := tables.read(ctx, path, o); err != nil {
			return nil, err
		}
	}
	r, err := tables.release(kernel.Bounds, kernel.Name())
	if err != nil {
		return nil, err
	}
	solver, _, err := solverOf(s.Solver, o.TempDir)
	if err != nil {
		return nil, err
	}
	options := bounds.Options{Solver: solver}
	if s.Deadline > 0 {
		options.Deadline = time.Now().Add(s.Deadline)
	}
	b, err := s.find(ctx, r, options)
	if err != nil {
		return nil, tables.inCodes(r, err)
	}
	out := &BoundsOutcome{Margins: len(r.Margins), Variables: r.Names, Cells: len(b.Low), Method: string(b.Method), Sharp: b.Sharp}
	for i, low := range b.Low {
		switch {
		case b.High[i] == bounds.NoLimit:
			out.Unbounded++
			continue
		case low == b.High[i]:
			out.Known++
			if low == 0 {
				out.Zeros++
			}
		}
		out.Width += float64(b.High[i]-low) / float64(len(b.Low))
	}
	return out, writeRecord(ctx, s.Out, &boundedCells{tables, r, b}, o)
}

// check finds what is wrong before anything is read.
func (s *BoundsSpec) check() error {
	spec := &schemas.Spec{Source: schemas.Source{Path: s.Tables}, Operators: []schemas.Operator{{Tabulate: &schemas.Tabulate{
		Cells: []schemas.KeyVariable{{Name: "any"}}, Perturb: &s.Scheme, Path: s.Out}}}}
	if err := spec.Validate(); err != nil {
		return err
	}
	if s.Method != "" && !slices.Contains(BoundsMethods, s.Method) {
		return wrong(fmt.Errorf("there is no method %q; it is one of %s", s.Method, strings.Join(BoundsMethods, ", ")))
	}
	if kindOf(s.Out) == "" {
		return wrong(fmt.Errorf("cannot tell the format of the output %s by its name; endings are .parquet, .arrow and .csv", s.Out))
	}
	all := &inputs{} // each file may be of a kind of its own
	for _, path := range s.Tables {
		in, err := resolve(schemas.Source{Path: []string{path}})
		if err != nil {
			return err
		}
		if !in.stdin {
			all.paths = append(all.paths, in.paths...)
		}
	}
	if err := all.check("any"); err != nil {
		return err
	}
	return writable([]string{s.Out}, all, nil)
}

func (s *BoundsSpec) find(ctx context.Context, r *bounds.Release, o bounds.Options) (*bounds.Bounds, error) {
	switch s.Method {
	case "shuttle":
		return bounds.Shuttle(ctx, r, o)
	case "sharp":
		return bounds.Sharp(ctx, r, o)
	case "frechet":
		if err := r.Check(); err != nil {
			return nil, err
		}
		low, high, ok := bounds.Frechet(r)
		if !ok {
			return nil, wrong(fmt.Errorf("the tables are not the cliques of a decomposable graph, for which there are formulas: take another method"))
		}
		exact := !slices.ContainsFunc(r.Margins, func(m bounds.Margin) bool { return !slices.Equal(m.Low, m.High) })
		if !exact {
			// The formulas do not see all contradictions of margins that are known within bounds.
			if _, err := bounds.Shuttle(ctx, r, o); err != nil {
				return nil, err
			}
		}
		return &bounds.Bounds{Low: low, High: high, Sharp: exact, Method: bounds.MethodFrechet}, nil
	}
	return bounds.Of(ctx, r, o)
}

// releasedTables are what was read: the variables in the order they were met, and rows of each margin.
type releasedTables struct {
	names      []string
	categories [][]string
	seen       []map[string]bool // the categories, to find them
	margins    []*releasedMargin
}

// A releasedMargin is a table over some variables.
type releasedMargin struct {
	file      string
	variables []int // ascending
	rows      map[string]int64
}

// variable is the position of a variable.
func (t *releasedTables) variable(name string) int {
	if v := slices.Index(t.names, name); v >= 0 {
		return v
	}
	t.names, t.categories, t.seen = append(t.names, name), append(t.categories, nil), append(t.seen, map[string]bool{})
	return len(t.names) - 1
}

// read reads a file.
func (t *releasedTables) read(ctx context.Context, path string, o Options) error {
	from := schemas.Source{Path: []string{path}}
	in, err := resolve(from)
	if err != nil {
		return err
	}
	source, err := open(ctx, from, in, o)
	if err != nil {
		return err
	}
	defer source.Close()
	var columns []int // of variables
	var of []int      // their positions among all variables
	count := -1
	for _, name := range operators.CountColumns {
		if i := source.Schema().FieldIndices(name); count < 0 && len(i) > 0 {
			count = i[0]
		}
	}
	if count < 0 {
		return wrong(fmt.Errorf("%s has no column of counts; name it %s", path, strings.Join(operators.CountColumns, ", ")))
	}
	for i, f := range source.Schema().Fields() {
		if i == count || slices.Contains(operators.CountColumns, f.Name) {
			continue
		}
		if slices.Contains([]string{"lower", "upper", "exact"}, f.Name) {
			return wrong(fmt.Errorf("%s: the variable %s has the name of a column of the output; rename it", path, f.Name))
		}
		if !operators.HasEquality(f.Type) {
			return wrong(fmt.Errorf("%s: the column %q is of type %s; the columns besides the counts are variables of the table", path, f.Name, typeName(f.Type)))
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
			if err := t.add(path, r, row, columns, of, count, byMargin); err != nil {
				return err
			}
		}
		return nil
	}}, operators.Options{Workers: 1})
	if err == nil && len(byMargin) == 0 {
		return wrong(fmt.Errorf("%s has no rows", path))
	}
	return err
}

// add takes a row.
func (t *releasedTables) add(path string, r arrow.Record, row int, columns, of []int, count int, byMargin map[string]*releasedMargin) error {
	texts := map[int]string{}
	var variables []int
	for k, c := range columns {
		text := "missing"
		if a := r.Column(c); !a.IsNull(row) {
			text = operators.Text(a, row)
		}
		if text == operators.TotalCode {
			continue
		}
		texts[of[k]] = text
		variables = append(variables, of[k])
	}
	slices.Sort(variables)
	var key []string
	for _, v := range variables {
		key = append(key, texts[v])
		if !t.seen[v][texts[v]] {
			t.seen[v][texts[v]] = true
			t.categories[v] = append(t.categories[v], texts[v])
		}
	}
	n, ok := operators.Integer(r.Column(count), row)
	if !ok || n < 0 {
		return wrong(fmt.Errorf("%s: the count of [%s] is no whole number of at least 0", path, strings.Join(key, ", ")))
	}
	id := fmt.Sprint(variables)
	m := byMargin[id]
	if m == nil {
		m = &releasedMargin{file: path, variables: variables, rows: map[string]int64{}}
		byMargin[id] = m
		t.margins = append(t.margins, m)
	}
	name := strings.Join(key, "\x00")
	if _, twice := m.rows[name]; twice {
		return wrong(fmt.Errorf("%s has the cell [%s] twice", path, strings.Join(key, ", ")))
	}
	m.rows[name] = n
	return nil
}

// mostBounded is how many cells of the base table are bounded.
const mostBounded = 1 << 20

// release is what was read as the engine wants it.
func (t *releasedTables) release(of func(j int64) (low, high int64, ok bool), scheme string) (*bounds.Release, error) {
	r := &bounds.Release{Names: t.names}
	cells := 1
	for v, list := range t.categories {
		if len(list) == 0 {
			return nil, wrong(fmt.Errorf("no table has a category of %s besides %s", t.names[v], operators.TotalCode))
		}
		sortCategories(list)
		r.Levels = append(r.Levels, len(list))
		if cells *= len(list); cells > mostBounded {
			return nil, wrong(fmt.Errorf("the tables have more than %d combinations of categories; take fewer variables", mostBounded))
		}
	}
	for _, m := range t.margins {
		out := bounds.Margin{Name: m.file, Variables: m.variables}
		size := 1
		for _, v := range m.variables {
			out.Name += " [" + t.names[v] + "]"
			size *= len(t.categories[v])
		}
		out.Low, out.High = make([]int64, size), make([]int64, size)
		key := make([]string, len(m.variables))
		for cell := range size {
			rest := cell
			for j := len(m.variables) - 1; j >= 0; j-- {
				list := t.categories[m.variables[j]]
				key[j] = list[rest%len(list)]
				rest /= len(list)
			}
			j := m.rows[strings.Join(key, "\x00")] // an absent row means empty
			low, high, ok := of(j)
			if !ok {
				return nil, wrong(fmt.Errorf("%s: %s never publishes a count of %d, as of [%s]", m.file, scheme, j, strings.Join(key, ", ")))
			}
			out.Low[cell], out.High[cell] = low, high
		}
		r.Margins = append(r.Margins, out)
	}
	return r, nil
}

// inCodes names the cell that an error is about by its categories, where the engine has their numbers.
func (t *releasedTables) inCodes(r *bounds.Release, err error) error {
	var bad *bounds.InfeasibleError
	if !errors.As(err, &bad) || bad.Margin < 0 || len(bad.Cell) == 0 {
		return err
	}
	var numbers, codes []string
	for k, v := range r.Margins[bad.Margin].Variables {
		numbers = append(numbers, fmt.Sprintf("%s = %d", t.names[v], bad.Cell[k]))
		codes = append(codes, fmt.Sprintf("%s = %s", t.names[v], t.categories[v][bad.Cell[k]]))
	}
	return errors.New(strings.Replace(err.Error(), strings.Join(numbers, ", "), strings.Join(codes, ", "), 1))
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

// boundedCells makes the record of the cells.
type boundedCells struct {
	tables *releasedTables
	r      *bounds.Release
	b      *bounds.Bounds
}

// Tables is a Tabled's: the variables, lower, upper (null without one), exact.
func (c *boundedCells) Tables(mem memory.Allocator) arrow.Record {
	var fields []arrow.Field
	var columns []arrow.Array
	add := func(name string, b array.Builder, nullable bool) {
		a := b.NewArray()
		fields = append(fields, arrow.Field{Name: name, Type: a.DataType(), Nullable: nullable})
		columns = append(columns, a)
		b.Release()
	}
	stride := len(c.b.Low)
	for v, name := range c.tables.names {
		stride /= len(c.tables.categories[v])
		b := array.NewStringBuilder(mem)
		for i := range c.b.Low {
			b.Append(c.tables.categories[v][i/stride%len(c.tables.categories[v])])
		}
		add(name, b, false)
	}
	low, high, exact := array.NewInt64Builder(mem), array.NewInt64Builder(mem), array.NewBooleanBuilder(mem)
	for i, l := range c.b.Low {
		low.Append(l)
		if c.b.High[i] == bounds.NoLimit {
			high.AppendNull()
		} else {
			high.Append(c.b.High[i])
		}
		exact.Append(l == c.b.High[i])
	}
	add("lower", low, false)
	add("upper", high, true)
	add("exact", exact, false)
	r := array.NewRecord(arrow.NewSchema(fields, nil), columns, int64(len(c.b.Low)))
	for _, a := range columns {
		a.Release()
	}
	return r
}
