package tables

import (
	"context"
	"fmt"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"microrisk/engine/bounds/margins"
	"microrisk/engine/graph"
	"microrisk/engine/tabular"
	"microrisk/engine/tabular/fitting"
	"microrisk/operators"
	"microrisk/operators/protect"
	"microrisk/pipeline/session"
	"microrisk/schemas"
)

// A MarginsSpec asks which margins of a table of counts may be published.
type MarginsSpec struct {
	Source  Source
	Table   []schemas.KeyVariable
	Missing string // category (default) or drop
	Total   string // what totals are called in a ready-made table
	Width   int64  // that the bounds of a small cell need
	From    int64  // counts that are small: 1, or 0 with empty cells
	To      int64
	Out     string // file with all sets, "" for none
}

// Fields is the field table.
func (s *MarginsSpec) Fields() schemas.Table {
	fields := (&protect.Config{}).Fields()
	table, missing, total := *fields.Field("table"), schemas.ClassesMissingField(&s.Missing), *fields.Field("total")
	table.To, missing.Flag, total.To = &s.Table, fields.Field("missing").Flag, &s.Total
	return schemas.Table{What: "the margins", Doc: "Which margins of a table may be published.", Fields: []schemas.Field{table, missing, total,
		{Name: "width", To: &s.Width, Range: schemas.AtLeast(1), Doc: "How far apart the bounds of a small cell must be.",
			Flag: &schemas.Flag{Name: "width", Usage: "how far apart the bounds of a small cell must be, at least",
				Needed: "say how far apart the bounds of a small cell must be: --width 4"}},
		{Name: "from", To: &s.From, Range: schemas.AtLeast(0), Doc: "Least count that is small; 0 protects empty cells too.",
			Flag: &schemas.Flag{Name: "from", Usage: "least count that is small; 0 protects empty cells too (default: 1)", Usual: []string{"1"}}},
		{Name: "to", To: &s.To, Range: schemas.AtLeast(0), Doc: "Largest count that is small.",
			Flag: &schemas.Flag{Name: "to", Usage: "largest count that is small (default: 2)", Usual: []string{"2"}}},
		{Name: "out", To: &s.Out, File: true, Doc: "File with all sets of margins.",
			Flag: &schemas.Flag{Name: "out", Short: "o", Usage: "write all sets to `FILE` (.parquet, .arrow or .csv), which must not be published"}},
	}}
}

// Check tells what the field table cannot.
func (s *MarginsSpec) Check(c *schemas.Checker) {
	c.TableVariables("", "margins", nil, s.Table)
	c.TwoPolicies("missing", "margins", s.Missing)
	if s.From > s.To {
		c.Add("from", "small counts go from %d to %d: the first must be no more than the second", s.From, s.To)
	}
}

// A FoundMargins is what may be published.
type FoundMargins struct {
	*margins.Frontier
	Names []string
	Rule  margins.Rule
}

// Margins finds which sets of margins may be published. Errors about what was asked are those for which session.IsSpec is true.
func Margins(ctx context.Context, s MarginsSpec, o session.Options) (*FoundMargins, error) {
	o = o.WithDefaults()
	if err := schemas.CheckDocument(&s); err != nil {
		return nil, err
	}
	config := &protect.Config{Table: s.Table, Missing: s.Missing, Total: s.Total, Rules: []protect.Rule{{Rule: protect.RuleFrequency}}}
	reads, err := s.Source.Readings(config)
	if err != nil {
		return nil, err
	}
	var outputs, inputs []string
	if s.Out != "" {
		if err := session.KnownKind(s.Out); err != nil {
			return nil, err
		}
		outputs = []string{s.Out}
	}
	if err := session.CheckPaths(append(reads, o.Reads...), outputs); err != nil {
		return nil, err
	}
	o.Sweep(outputs...)
	t, err := s.counts(ctx, config, o)
	if err != nil {
		return nil, err
	}
	f := &FoundMargins{Names: schemas.VariableNames(s.Table), Rule: margins.Rule{From: s.From, To: s.To, Width: s.Width}}
	o.Progress("searching margins", 0, 1)
	if f.Frontier, err = margins.Search(ctx, t, f.Rule, margins.Options{}); err != nil {
		if ctx.Err() != nil {
			return nil, err
		}
		return nil, session.Wrong(err)
	}
	o.Progress("searching margins", 1, 1)
	if s.Out == "" {
		return f, nil
	}
	for _, r := range reads {
		inputs = append(inputs, r.Path)
	}
	return f, session.WriteRecord(ctx, s.Out, f, o, inputs)
}

// counts are those of the combinations of all categories that somebody has.
func (s *MarginsSpec) counts(ctx context.Context, c *protect.Config, o session.Options) (*margins.Table, error) {
	if s.Source.Records == nil {
		table, _, err := s.Source.Read(ctx, c, o)
		if err != nil {
			return nil, err
		}
		return leaves(table), nil
	}
	spec := *s.Source.Records
	spec.Key = &schemas.Key{Variables: slices.Clone(s.Table), Missing: s.Missing}
	counted, err := session.CountKey(ctx, "table", &spec, o)
	if err != nil {
		return nil, err
	}
	t := &margins.Table{}
	codes := make([][]int, len(s.Table)) // of the table's codes, -1 for one that is dropped or that nobody has
	for v := range s.Table {
		n := 0
		for code, there := range counted.Observed(v) {
			if there && (s.Missing != "drop" || uint32(code) != counted.Variables[v].Missing()) {
				codes[v] = append(codes[v], n)
				n++
			} else {
				codes[v] = append(codes[v], -1)
			}
		}
		t.Levels = append(t.Levels, max(n, 1))
	}
	size := sizeOf(t.Levels)
	if size < 0 {
		return t, nil // which is refused
	}
	t.Counts = make([]int64, size)
	for class := range counted.Classes() {
		at := 0
		for v := range s.Table {
			code := codes[v][counted.Code(class, v)]
			if code < 0 {
				at = -1
				break
			}
			at = at*t.Levels[v] + code
		}
		if at >= 0 {
			t.Counts[at] += counted.Count(class)
		}
	}
	return t, nil
}

// sizeOf is the number of cells, -1 if there are more than there may be.
func sizeOf(levels []int) int {
	size := 1
	for _, l := range levels {
		if size *= l; size > margins.MostCells {
			return -1
		}
	}
	return size
}

// leaves are the finest cells of a table.
func leaves(table *protect.Table) *margins.Table {
	t := &margins.Table{}
	g := table.Grid
	at := make([][]int, len(g.Trees)) // of nodes
	for v, tree := range g.Trees {
		n := 0
		at[v] = make([]int, len(tree.Nodes))
		for node := range tree.Nodes {
			if tree.Leaf(node) {
				at[v][node] = n
				n++
			}
		}
		t.Levels = append(t.Levels, n)
	}
	size := sizeOf(t.Levels)
	if size < 0 {
		return t
	}
	t.Counts = make([]int64, size)
	for cell := range g.Cells() {
		if g.Leaf(cell) {
			place := 0
			for v, node := range g.Nodes(cell) {
				place = place*t.Levels[v] + at[v][node]
			}
			t.Counts[place] = table.Values[cell]
		}
	}
	return t
}

// Formula is a set as the model of its margins: AGE*SEX + AREA; 1 is the total alone.
func (f *FoundMargins) Formula(i int) string {
	var sets []graph.Set
	for _, variables := range f.Sets[i].Margins {
		sets = append(sets, graph.Of(variables...))
	}
	return fitting.NewModel(sets...).Formula(f.Names)
}

// Kept is the share of the association among the variables that is in a set: below 0 if it tells less than all one-way margins.
func (f *FoundMargins) Kept(i int) float64 {
	if f.Independence == 0 {
		return 1
	}
	return 1 - f.Sets[i].Deviance/f.Independence
}

// Tables is a Tabled's: margins, by their formula, how many they are, how many variables are in none, the deviance that is lost and its degrees
// of freedom, the share of the association that is kept, and what is lost in nats a person.
func (f *FoundMargins) Tables(mem memory.Allocator) arrow.Record {
	c := &operators.Columns{Mem: mem, Rows: len(f.Sets), Total: tabular.TotalCode}
	c.Texts("margins", f.Formula)
	c.Wholes("n_margins", func(row int) int64 { return int64(len(f.Sets[row].Margins)) })
	c.Wholes("n_left_out", func(row int) int64 {
		in := make(map[int]bool)
		for _, m := range f.Sets[row].Margins {
			for _, v := range m {
				in[v] = true
			}
		}
		return int64(len(f.Names) - len(in))
	})
	c.Numbers("deviance", func(row int) float64 { return f.Sets[row].Deviance })
	c.Wholes("df", func(row int) int64 { return int64(f.Sets[row].DF) })
	c.Numbers("association_kept", f.Kept)
	c.Numbers("nats_per_person", func(row int) float64 { return f.Sets[row].Deviance / (2 * float64(max(f.People, 1))) })
	return c.Record()
}

// Verified says what was verified of the sets.
func (f *FoundMargins) Verified() string {
	small := fmt.Sprintf("count of %d", f.Rule.From)
	if f.Rule.To > f.Rule.From {
		small = fmt.Sprintf("count from %d to %d", f.Rule.From, f.Rule.To)
	}
	if f.Small == 0 {
		return fmt.Sprintf("No cell has a %s, so that nothing was to be protected.", small)
	}
	cells := fmt.Sprintf("none of the %d cells", f.Small)
	if f.Small == 1 {
		cells = "not the only cell"
	}
	text := fmt.Sprintf(
		"Verified of each set by the exact bounds of decomposable models: whoever has its margins, as they are, and nothing else, knows %s with a %s "+
			"to within less than %d. Nothing can be added to a set that leaves it so and decomposable. Sets of other shapes, several of these sets together, tables "+
			"that were released before, and what people know of themselves were not looked at.",
		cells,
		small,
		f.Rule.Width,
	)
	if !f.Complete {
		text += " There are too many variables to go through all sets: these were found by climbing, and there may be better ones."
	}
	return text
}
