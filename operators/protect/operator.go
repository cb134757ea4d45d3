package protect

import (
	"cmp"
	"context"
	_ "embed"
	"fmt"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"microrisk/engine/contingency"
	"microrisk/engine/program"
	"microrisk/engine/tabular"
	"microrisk/engine/tabular/detection"
	"microrisk/operators"
	"microrisk/operators/tablefile"
	"microrisk/schemas"
)

// document describes the operator's part of the summary.
//
//go:embed summary.schema.json
var document []byte

func init() {
	operators.Register(schemas.Kind{Name: Name, Document: document, New: func() schemas.Config { return &Config{} },
		Doc: "Makes a table that can be published, as microrisk table protect does: unsafe cells are found, hidden or rounded, and the result is audited. " +
			"Files of records are made safe by microrisk protect."})
}

// rowsAtOnce is after how many classes the context is looked at.
const rowsAtOnce = 1 << 14

// unitsColumn is the name of a response in units, which no file has.
func unitsColumn(response string) string { return response + " in units of its last decimal" }

// Operators is an operators.Config's.
func (c *Config) Operators(with operators.Setup) []operators.Operator {
	o := Operator{Config: *c, Solver: with.Solver}
	schemas.Complete(o.Config.Fields())
	o.Config = o.Config.For(o.Config.Method) // no defaults that it does not look at
	for name, path := range c.Hierarchies {
		if t, ok := with.Files.Documents[path].(tablefile.Hierarchy); ok {
			o.Hierarchies = append(o.Hierarchies, namedHierarchy{name, t})
		}
	}
	for name, path := range c.Recodes {
		if r, ok := with.Files.Documents[path].(tablefile.Recodes); ok {
			if o.Recodes == nil {
				o.Recodes = make(map[string]tablefile.Recodes)
			}
			o.Recodes[name] = r
		}
	}
	slices.SortFunc(o.Hierarchies, func(a, b namedHierarchy) int { return cmp.Compare(a.variable, b.variable) })
	if s, ok := with.Files.Documents[c.Overrides].(tablefile.Settings); ok {
		o.Settings = s
	}
	if o.Config.byChance() {
		o.Chance, o.wrong = operators.NewChance(o.Config.people(), with.Files.Secrets[c.Secret])
	}
	list := []operators.Operator{o}
	if keys := o.Chance.Keys(c.ColumnPrefix()); keys != nil {
		list = append([]operators.Operator{keys}, list...)
	}
	if c.Response != "" {
		u := InUnits{What: "the response", From: c.Response, To: unitsColumn(c.Response), Decimals: int(c.Decimals), Absolute: c.Absolute}
		list = append([]operators.Operator{u}, list...)
	}
	return list
}

type namedHierarchy struct {
	variable string
	of       tablefile.Hierarchy
}

// An Operator makes a table that can be published, in files of its own. It adds no columns.
type Operator struct {
	Config      Config
	Hierarchies []namedHierarchy // by variable
	Recodes     map[string]tablefile.Recodes
	Settings    tablefile.Settings
	Solver      func(asked string) (program.Solver, string, error) // nil: the embedded one
	// Take is handed the table, and what it is to be protected with, in place of that. nil: the table is protected.
	Take   func(*Table, With)
	Chance *operators.Chance // nil: made, if the method leaves something to chance
	wrong  error             // of making it
}

// Bind is an Operator's.
func (o Operator) Bind(in *arrow.Schema) (*operators.Plan, error) {
	b := &bound{Operator: o, prefix: o.Config.ColumnPrefix()}
	var err error
	if b.trees, err = o.Trees(); err != nil {
		return nil, err
	}
	if b.with, err = o.With(); err != nil {
		return nil, err
	}
	key := schemas.Key{}
	if c := o.Config.Contributor; c != "" {
		key.Variables = append(key.Variables, schemas.KeyVariable{Name: c})
	}
	key.Variables = append(key.Variables, o.Config.Table...)
	if o.Config.Response != "" {
		key.Variables = append(key.Variables, schemas.KeyVariable{Name: unitsColumn(o.Config.Response)})
	}
	b.key = operators.Key{Who: b.prefix, Policy: schemas.MissingCategory, Key: key}
	request, err := b.key.Request(in)
	if err != nil {
		return nil, err
	}
	if w := o.Config.Weight; w != "" {
		if _, err := operators.LookUp(b.prefix, in, w); err != nil {
			return nil, err
		}
		request.Sums = append(request.Sums, contingency.Sum{Name: w, Weight: true})
	}
	request.Sums = append(request.Sums, b.with.Chance.Sums(b.prefix)...)
	return &operators.Plan{Name: b.prefix, Tables: []contingency.Request{request}, Fit: b.fit}, nil
}

// Trees are those of the hierarchies, by variable.
func (o Operator) Trees() (map[string]*tabular.Tree, error) {
	trees := make(map[string]*tabular.Tree)
	for _, h := range o.Hierarchies {
		t, err := h.of.Tree(h.variable, o.Config.Total)
		if err != nil {
			return nil, err
		}
		trees[h.variable] = t
	}
	return trees, nil
}

// With is what tables are protected with, but for settings; the error is that of a solver that is not there, or of a secret.
func (o Operator) With() (with With, err error) {
	if with.Chance = o.Chance; o.wrong != nil {
		return with, o.wrong
	}
	if with.Chance == nil && o.Config.byChance() {
		if with.Chance, err = operators.NewChance(o.Config.people(), nil); err != nil {
			return with, err
		}
	}
	if o.Solver != nil && Looks(o.Config.Method, "solver") && o.Config.Nodes == nil { // nodes are those of the embedded one
		with.Solver, with.SolverName, err = o.Solver(o.Config.Solver)
	}
	return with, err
}

// bound is the operator, bound to a schema.
type bound struct {
	Operator
	prefix string
	key    operators.Key
	trees  map[string]*tabular.Tree
	with   With
}

func (b *bound) fit(ctx context.Context, tables []*contingency.Table, env operators.Env) (operators.Fitted, error) {
	t := tables[0]
	held := int64(t.Classes())*64 + t.Bytes()
	if err := env.InMemory(t, fmt.Sprintf("a table of %d contributions", t.Classes()), held, "take coarser variables"); err != nil {
		return nil, err
	}
	table, err := b.collect(ctx, t, env.Budget.Less(held))
	if err != nil {
		return nil, err
	}
	with := b.with
	with.Warn = env.Warn
	if with.Settings, err = Place(table, b.Settings); err != nil {
		return nil, err
	}
	if b.Take != nil {
		table.Again = func(ctx context.Context, recodes map[string]tablefile.Recodes) (*Table, error) {
			other := *b
			other.Recodes = recodes
			return other.collect(ctx, t, env.Budget.Less(held))
		}
		b.Take(table, with)
		return &fitted{}, nil
	}
	with.Progress = env.Progress
	env.Progress("protecting cells", 0, int64(len(table.Cells)))
	p, err := Protect(ctx, table, &b.Config, with)
	if err != nil {
		return nil, err
	}
	return &fitted{p, p.Summary(table.Cells[0].Records)}, nil
}

// Place finds the cells that settings are of.
func Place(t *Table, settings tablefile.Settings) ([]Setting, error) {
	var list []Setting
	nodes := make([]int32, len(t.Grid.Trees))
	for _, s := range settings.List {
		if len(s.Codes) != len(nodes) {
			return nil, fmt.Errorf("%s:%d: a cell has %d codes, and %d are given", settings.Name, s.Line, len(nodes), len(s.Codes))
		}
		for v, code := range s.Codes {
			tree := t.Grid.Trees[v]
			n := 0
			switch {
			case code == "" && settings.Blank:
				if n = tree.Find(tabular.Missing); n < 0 {
					return nil, fmt.Errorf("%s:%d: there is no code of %s, and it is never missing; totals are called %q", settings.Name, s.Line, tree.Name,
						settings.Total)
				}
			case code != "" && code != settings.Total:
				if n = tree.Find(tabular.Of(code)); n < 0 {
					return nil, fmt.Errorf("%s:%d: %s has no category %q, or has it several times", settings.Name, s.Line, tree.Name, code)
				}
			}
			nodes[v] = int32(n)
		}
		cell := t.Grid.Find(nodes)
		if cell < 0 {
			continue // it is empty
		}
		list = append(list, Setting{cell, s})
	}
	return list, nil
}

// fitted is a protected table.
type fitted struct {
	*Protected
	summary *Summary
}

// Summary is a Fitted's.
func (f *fitted) Summary() any { return f.summary }

// Apply is a Fitted's: there are no columns.
func (f *fitted) Apply(context.Context, memory.Allocator, operators.Rows) ([]arrow.Array, *operators.Bitmap, error) {
	return nil, nil, nil
}

// A Summary is the operator's part of the summary. It has nothing that must not be published: no parameters of rules, no hidden value.
type Summary struct {
	Records int64   `json:"records"`
	Cells   int     `json:"cells"` // not empty, totals among them
	Unsafe  int     `json:"unsafe"`
	Hidden  int     `json:"hidden"` // unsafe ones among them
	Method  string  `json:"method"`
	Cost    int64   `json:"-"` // of the secondary cells: their sum, of values, which nobody may know who reads a summary
	Bound   int64   `json:"-"` // no safe pattern of the method optimal costs less
	Proven  bool    `json:"proven"`
	Gap     float64 `json:"gap"`
	Stopped bool    `json:"stopped,omitempty"` // a limit ended the search
	Rounded int     `json:"rounded"`           // cells whose value was changed
	Widened int     `json:"widened"`           // cells that are not next to their values

	Intervals bool   `json:"intervals"`           // that stand beside hidden cells
	Scheme    string `json:"scheme,omitempty"`    // by which values were perturbed
	Imbalance string `json:"imbalance,omitempty"` // by how much a total is at most off the sum of its parts, where it may be

	Audit  string `json:"audit"`
	Public string `json:"public"`

	Area string      `json:"-"` // of SAP
	SAP  []SAPFigure `json:"-"` // which is of true counts
}

// Summary says what came of a table of so many records.
func (p *Protected) Summary(records int64) *Summary {
	s := &Summary{Records: records, Method: p.Config.Method, Audit: "pass", Public: p.Config.Out}
	for cell, f := range p.Findings {
		if f.Status != detection.Empty {
			s.Cells++
		}
		if f.Status.Primary() {
			s.Unsafe++
		}
		if p.Hidden[cell] {
			s.Hidden++
		}
		if p.Published[cell] != p.Table.Values[cell] {
			s.Rounded++
		}
	}
	if p.Pattern != nil {
		s.Cost, s.Bound = p.Pattern.Cost, p.Pattern.Bound
		if p.Config.Method == "optimal" {
			s.Proven, s.Gap = p.Pattern.Proven(), p.Pattern.Gap()
		}
	}
	if p.Rounding != nil {
		s.Cost, s.Widened, s.Proven = p.Rounding.Cost, len(p.Rounding.Widened), p.Rounding.Optimal
	}
	s.Intervals = p.Low != nil
	if x := p.Changed; x != nil {
		s.Cost, s.Bound, s.Proven, s.Gap = x.Cost, int64(x.Bound), x.Best, x.Gap
		if p.Config.Method == "perturbation" {
			s.Scheme, s.Imbalance = p.Way.name(), p.Table.Text(x.Imbalance)
		}
	}
	s.Stopped = p.Stopped()
	if p.Areas != nil {
		s.Area, s.SAP = p.Config.SAP.Area, p.Config.SAP.Attributed(p.Table.Grid, p.Areas)
	}
	return s
}
