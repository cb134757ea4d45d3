package tabulate

import (
	"cmp"
	"context"
	_ "embed"
	"fmt"
	"math"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"microrisk/engine/budget"
	"microrisk/engine/contingency"
	"microrisk/engine/perturb"
	"microrisk/engine/tabular"
	"microrisk/operators"
	"microrisk/schemas"
)

// document describes the operator's part of the summary.
//
//go:embed summary.schema.json
var document []byte

func init() {
	operators.Register(schemas.Kind{Name: Name, Document: document, New: func() schemas.Config { return &Config{} },
		Doc: "Writes a contingency table to a file of its own, as it is or perturbed."})
}

// Operators is an operators.Config's.
func (c *Config) Operators(with operators.Setup) []operators.Operator {
	o := Operator{Config: *c}
	if c.Perturb != nil && c.Perturb.Random() {
		o.Chance, o.wrong = operators.NewChance(c.Perturb.People, with.Files.Secrets[c.Perturb.Secret])
	}
	if keys := o.Chance.Keys(c.ColumnPrefix()); keys != nil {
		return []operators.Operator{keys, o}
	}
	return []operators.Operator{o}
}

// Files is a Filing config's.
func (c *Config) Files() []operators.SideFile {
	var list []operators.SideFile
	if c.Perturb != nil && c.Perturb.Secret != "" {
		list = append(list, operators.SideFile{Path: c.Perturb.Secret, What: "the secret", Kind: operators.Secret})
	}
	return append(list, operators.SideFile{Path: c.Path, What: "the table", Kind: operators.MadeTable})
}

// An Operator makes a contingency table, as it is or perturbed cell by cell, for a file of its own. It adds no columns.
type Operator struct {
	Config Config
	Chance *operators.Chance // by which cells are perturbed; nil: it is made, of a secret that is not kept
	wrong  error             // of making it
}

// Bind is an Operator's.
func (o Operator) Bind(in *arrow.Schema) (*operators.Plan, error) {
	b := &bound{Operator: o, prefix: o.Config.ColumnPrefix(), kernel: perturb.None()}
	var err error
	if o.Config.Perturb != nil {
		if b.kernel, err = operators.Kernel(o.Config.Perturb); err != nil {
			return nil, fmt.Errorf("%s: %w", b.prefix, err)
		}
	}
	if p := o.Config.Perturb; p != nil && p.Random() && o.Chance == nil && o.wrong == nil {
		b.Chance, b.wrong = operators.NewChance(p.People, nil)
	}
	if b.wrong != nil {
		return nil, b.wrong
	}
	for _, v := range o.Config.Cells {
		if slices.Contains(schemas.CountColumns, v.Name) {
			return nil, fmt.Errorf("%s: %s is a name of the column of counts in files of tables: rename the variable", b.prefix, v.Name)
		}
	}
	b.key = operators.Key{Who: b.prefix, Policy: cmp.Or(o.Config.Missing, schemas.MissingCategory), Key: schemas.Key{Variables: o.Config.Cells}}
	request, err := b.key.Request(in)
	if err != nil {
		return nil, err
	}
	request.Sums = b.Chance.Sums(b.prefix)
	return &operators.Plan{Name: b.prefix, Tables: []contingency.Request{request}, Fit: b.fit}, nil
}

// bound is tabulate, bound to a schema.
type bound struct {
	Operator
	prefix string
	key    operators.Key // the variables of the table
	kernel perturb.Kernel
}

// total is the code of a variable in a margin that leaves it out: before all categories.
const total = -1

// A tabulated table is the rows of the file.
type tabulated struct {
	bound    *bound
	table    *contingency.Table
	identity *tabular.Identity
	cell     []tabular.Category // to be named
	codes    [][]int32          // by variable, then row
	values   []int64
	runs     []int // where the rows of each margin begin; they are in order
	budget   budget.Budget
	summary  *Summary
}

// Summary is a Fitted's.
func (f *tabulated) Summary() any { return f.summary }

// Apply is a Fitted's: there are no columns.
func (f *tabulated) Apply(context.Context, memory.Allocator, operators.Rows) ([]arrow.Array, *operators.Bitmap, error) {
	return nil, nil, nil
}

func (b *bound) fit(ctx context.Context, tables []*contingency.Table, env operators.Env) (operators.Fitted, error) {
	f := &tabulated{
		bound:    b,
		table:    tables[0],
		cell:     make([]tabular.Category, len(tables[0].Variables)),
		identity: tabular.NewIdentity(tables[0].Variables),
		codes:    make([][]int32, len(b.Config.Cells)),
		budget:   env.Budget,
	}
	t := f.table
	needs := int64(t.Classes())*int64(4*len(t.Variables)+8) + t.Bytes()
	if err := env.InMemory(t, fmt.Sprintf("a table of %d cells that are not empty", t.Classes()), needs, "take coarser variables"); err != nil {
		return nil, err
	}
	if err := operators.NoTotals(t); err != nil {
		return nil, err
	}
	counts, err := f.kept()
	if err != nil {
		return nil, err
	}
	if b.Chance != nil && b.Chance.Made != nil {
		env.Warn(
			"%s: a secret was made for this table and is not kept: another run publishes the same cells otherwise; give secret: FILE for tables that agree",
			b.prefix,
		)
	}
	subsets := 1
	if b.Config.Margins {
		subsets = 1 << len(t.Variables)
	}
	for s := range subsets {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		env.Progress("tabulating", int64(s), int64(subsets))
		if err := f.margin(ctx, counts, s); err != nil {
			return nil, err
		}
	}
	env.Progress("tabulating", int64(subsets), int64(subsets))
	if err := f.sort(ctx); err != nil {
		return nil, err
	}
	f.summarise(counts)
	return f, t.Err()
}

// kept is the table without the records that are dropped.
func (f *tabulated) kept() (*contingency.Table, error) {
	t := f.table
	if f.bound.Config.Missing != schemas.MissingDrop {
		return t, nil
	}
	drop := make([]bool, len(t.Variables))
	for v := range drop {
		drop[v] = true
	}
	return t.Keep(drop).Table()
}

// margin adds the rows of the margin that leaves out the variables of a set.
func (f *tabulated) margin(ctx context.Context, t *contingency.Table, out int) error {
	f.runs = append(f.runs, len(f.values))
	var in []int
	for v := range t.Variables {
		if out>>v&1 == 0 {
			in = append(in, v)
		}
	}
	m, err := t.Margin(ctx, in...)
	if err != nil {
		return err
	}
	if zero := f.bound.kernel.Outcomes(0); f.bound.Config.Empty || len(zero) > 1 || zero[0].Count != 0 {
		return f.allCells(ctx, m, in)
	}
	if err := f.roomFor(m.Classes()); err != nil {
		return err
	}
	row := make([]uint32, len(in))
	for i := range m.Classes() {
		if i%rowsAtOnce == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		for j := range in {
			row[j] = m.Code(i, j)
		}
		if err := f.add(m, i, in, row, m.Count(i)); err != nil {
			return err
		}
	}
	return nil
}

// allCells adds a row for every combination of categories, missing ones where somebody misses a value.
func (f *tabulated) allCells(ctx context.Context, m *contingency.Table, in []int) error {
	shape := make(tabular.Shape, len(in))
	for j := range in {
		shape[j] = len(m.Variables[j].Categories)
		if m.Observed(j)[m.Variables[j].Missing()] {
			shape[j]++
		}
		if !shape[:j+1].Within(operators.MostCells * 64) {
			return fmt.Errorf("a table with its empty cells has more than %d: leave empty out, or take coarser variables", operators.MostCells*64)
		}
	}
	cells := shape.Cells()
	if err := f.roomFor(cells); err != nil {
		return err
	}
	next := 0
	row := make([]uint32, len(in))
	for cell := range cells {
		if cell%rowsAtOnce == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		tabular.Codes(shape, cell, row)
		class, count := -1, int64(0)
		if next < m.Classes() {
			same := true
			for j := range row {
				same = same && m.Code(next, j) == row[j]
			}
			if same {
				class, count = next, m.Count(next)
				next++
			}
		}
		if err := f.add(m, class, in, row, count); err != nil {
			return err
		}
	}
	return nil
}

// rowsAtOnce is after how many rows the context is looked at.
const rowsAtOnce = 1 << 14

// roomFor refuses more rows than fit in the memory that is allowed: their codes and counts, their order, and their text as it is written.
func (f *tabulated) roomFor(more int) error {
	rows := int64(len(f.values)) + int64(more)
	each := 16.0
	for _, v := range f.table.Variables {
		length := 0
		for _, c := range v.Categories {
			length += len(c)
		}
		each += 10 + float64(length)/float64(max(1, len(v.Categories)))
	}
	if rows > math.MaxInt32 {
		return fmt.Errorf("the table has more than %d rows: leave margins or empty cells out, or take coarser variables", math.MaxInt32)
	}
	return f.budget.Memory(fmt.Sprintf("a table of %d rows or more", rows), int64(each*float64(rows))+f.table.Bytes(),
		"leave margins or empty cells out", "take coarser variables")
}

// add adds the row of a cell, a class of a margin or -1 for an empty one, unless nothing would be published in it and empty cells are left out.
func (f *tabulated) add(m *contingency.Table, class int, in []int, row []uint32, count int64) error {
	value := count
	if p := f.bound.Config.Perturb; p != nil {
		u, err := f.draw(m, class, in, row)
		if err != nil {
			return err
		}
		value = perturb.Draw(f.bound.kernel, count, u)
	}
	if value == 0 && !f.bound.Config.Empty {
		return nil
	}
	j := 0
	for v := range f.codes {
		if j < len(in) && in[j] == v {
			f.codes[v] = append(f.codes[v], int32(row[j]))
			j++
		} else {
			f.codes[v] = append(f.codes[v], total)
		}
	}
	f.values = append(f.values, value)
	return nil
}

// draw is the number that decides about a cell: of its people, or of its categories; of an empty one of these, as nobody is in it.
func (f *tabulated) draw(m *contingency.Table, class int, in []int, row []uint32) (float64, error) {
	chance := f.bound.Chance
	switch {
	case chance == nil:
		return 0, nil
	case !chance.ByPeople() || class < 0:
		return perturb.Uniform(chance.Key, f.identityOf(in, row)), nil
	}
	sum, exact := m.SumModulo(class, 0)
	if !exact {
		return 0, fmt.Errorf("the keys of the records of a cell do not add up to a whole number")
	}
	return perturb.UniformOf(chance.Key, sum), nil
}

// identityOf is what the noise of a cell depends on.
func (f *tabulated) identityOf(in []int, row []uint32) []byte {
	for v := range f.cell {
		f.cell[v] = tabular.Total
	}
	for j, v := range in {
		f.cell[v] = tabular.CategoryOf(&f.table.Variables[v], row[j])
	}
	return f.identity.Of(f.cell)
}

func (f *tabulated) summarise(kept *contingency.Table) {
	f.summary = &Summary{
		Records:   kept.Records(),
		Rows:      int64(len(f.values)),
		Margins:   f.bound.Config.Margins,
		Scheme:    f.bound.kernel.Name(),
		Variables: f.bound.key.Describe(f.table),
	}
}
