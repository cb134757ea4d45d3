package protect

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"

	"microrisk/engine/budget"
	"microrisk/engine/tabular"
	"microrisk/engine/tabular/detection"
	"microrisk/operators"
	"microrisk/operators/tablefile"
	"microrisk/schemas"
)

// A raw row of a ready-made table.
type raw struct {
	nodes  []int32 // until all rows are read, numbers of codes
	cell   detection.Cell
	value  int64
	status string
	lower  int64
	upper  int64
	sole   int64
}

// A Ready table is a file of one: a row a cell, totals among them, with the variables as text, and other columns.
type Ready struct {
	Name    string // of the file, for messages
	Config  *Config
	Columns *Columns
	Trees   []*tabular.Tree // of the variables; those of the total alone grow with the codes that are met, others have all codes
	Recodes map[string]tablefile.Recodes
	Warn    func(format string, args ...any)
	Memory  int64 // that the table may take; 0: as much as it needs
	Keep    bool  // the table can be made again
}

// A reader reads a ready-made table.
type reader struct {
	Ready
	at    map[string]int // of columns
	given []bool         // trees that have all codes
	codes []codes        // of the variables
	nodes [][]int32      // of codes, by variable
	rows  []raw
	made  []Recoded
	below [][]fold // by variable
}

// codes are those of a variable, in the order in which they are met.
type codes struct {
	list  []tabular.Category
	at    map[tabular.Category]int32
	first []int // the row that has one first
}

// of is the number of a code that a row has.
func (c *codes) of(code tabular.Category, row int) int32 {
	at, met := c.at[code]
	if !met {
		code.Label = strings.Clone(code.Label)
		at = int32(len(c.list))
		c.list, c.first, c.at[code] = append(c.list, code), append(c.first, row), at
	}
	return at
}

// Read reads the table. Totals that are not there are added up, as if nobody contributed to several of their parts; those that are must be the
// sums of their parts, to the tolerance. Errors name the cell, or what a rule needs and the table does not have.
func (table Ready) Read(ctx context.Context, from operators.Source) (*Table, error) {
	r := &reader{Ready: table, at: make(map[string]int)}
	for _, t := range r.Trees {
		r.given = append(r.given, len(t.Nodes) > 1)
		r.codes = append(r.codes, codes{at: make(map[tabular.Category]int32)})
	}
	if err := r.find(from.Schema()); err != nil {
		return nil, err
	}
	if err := r.read(ctx, from); err != nil {
		return nil, err
	}
	if !table.Keep {
		return r.make()
	}
	t, err := r.clone().make()
	if err == nil {
		t.Again = func(_ context.Context, recodes map[string]tablefile.Recodes) (*Table, error) {
			other := r.clone()
			other.Recodes, other.Warn = recodes, nil
			return other.make()
		}
	}
	return t, err
}

// clone is a reader that can make its table by itself.
func (r *reader) clone() *reader {
	other := *r
	other.Trees, other.rows = nil, slices.Clone(r.rows)
	for _, t := range r.Trees {
		other.Trees = append(other.Trees, t.Clone())
	}
	for i := range other.rows {
		other.rows[i].nodes = slices.Clone(r.rows[i].nodes)
	}
	return &other
}

// make makes the table of the rows that were read.
func (r *reader) make() (*Table, error) {
	if err := r.place(); err != nil {
		return nil, err
	}
	return r.table()
}

// find finds the columns, and refuses rules that need others.
func (r *reader) find(schema *arrow.Schema) error {
	names := schemas.VariableNames(r.Config.Table)
	for _, m := range r.Columns.Fields().Write() {
		if name, is := m.Value.(string); is {
			names = append(names, name)
		}
	}
	for _, name := range []string{r.Columns.Sole, r.Columns.Records} {
		if name != "" {
			names = append(names, name)
		}
	}
	for _, name := range names {
		if _, err := operators.LookUp(r.Name, schema, name); err != nil {
			return err
		}
		r.at[name] = schema.FieldIndices(name)[0]
	}
	switch c := r.Columns; {
	case c.Second != "" && c.Max == "":
		return errors.New("the second largest contributions (--second) stand beside the largest, which are not named: name their column (--max)")
	case (c.Lower == "") != (c.Upper == ""):
		return errors.New("levels are of both sides: name the columns of both (--lower and --upper)")
	}
	if r.Config.Method == "abs" && r.Columns.Count == "" {
		return errors.New("the method abs hides cells of 3 records or fewer, and needs the number of records of each cell: name its column (--count)")
	}
	for i := range r.Config.Rules {
		rule := &r.Config.Rules[i]
		needs := rule.Needs()
		switch {
		case rule.Rule == RuleFrequency && r.Columns.Count == "":
			return fmt.Errorf("the rule min needs the number of contributors of each cell: name its column (--count)")
		case needs > 2:
			return fmt.Errorf(
				"the rule %s needs the %d largest contributions to a cell, and a ready-made table has two at most: make it of records",
				rule.Rule,
				needs,
			)
		case needs > 0 && r.Columns.Max == "":
			return fmt.Errorf("the rule %s needs the largest contribution to each cell: name its column (--max)", rule.Rule)
		case needs > 1 && r.Columns.Second == "":
			return fmt.Errorf("the rule %s needs the second largest contribution to each cell: name its column (--second)", rule.Rule)
		}
	}
	return nil
}

func (r *reader) read(ctx context.Context, source operators.Source) error {
	var at []int
	for _, v := range r.Config.Table {
		at = append(at, r.at[v.Name])
	}
	total := func(text string) bool { return text == r.Config.Total }
	return operators.EachCell(ctx, source, at, total, func(cell []tabular.Category, batch arrow.Record, row int) error {
		x := raw{nodes: make([]int32, len(cell))}
		for v, code := range cell {
			x.nodes[v] = r.codes[v].of(code, len(r.rows))
		}
		if err := r.figures(&x, batch, row); err != nil {
			return fmt.Errorf("%s: the cell %s: %w", r.Name, tabular.Words(cell), err)
		}
		r.rows = append(r.rows, x)
		return nil
	})
}

// place finds the nodes of all codes, as they are recoded.
func (r *reader) place() error {
	if err := r.twice(); err != nil {
		return err
	}
	words := func(row int) string {
		cell := make([]tabular.Category, len(r.codes))
		for v, code := range r.rows[row].nodes {
			cell[v] = r.codes[v].list[code]
		}
		return tabular.Words(cell)
	}
	r.nodes, r.below = make([][]int32, len(r.codes)), make([][]fold, len(r.codes))
	for v, tree := range r.Trees {
		list, err := r.recoded(v)
		if err != nil {
			return err
		}
		places := tree.Places()
		for i, code := range list {
			at := places[code]
			switch {
			case at == nil && r.given[v] && code.Kind == tabular.Value:
				return fmt.Errorf("%s: the hierarchy of %s does not have the code %q of the cell %s", r.Name, tree.Name, code.Label, words(r.codes[v].first[i]))
			case at == nil:
				at = []int{tree.Add(code, 0)}
				places[code] = at
			case len(at) > 1:
				return fmt.Errorf("%s: the hierarchy of %s has the code %q of the cell %s several times: give codes that differ", r.Name, tree.Name,
					code.Label, words(r.codes[v].first[i]))
			}
			r.nodes[v] = append(r.nodes[v], int32(at[0]))
		}
	}
	for _, x := range r.rows {
		for v, code := range x.nodes {
			x.nodes[v] = r.nodes[v][code]
		}
	}
	return nil
}

// figures reads those of a row.
func (r *reader) figures(x *raw, batch arrow.Record, row int) error {
	units := func(column string) (int64, error) {
		if column == "" || batch.Column(r.at[column]).IsNull(row) {
			return 0, nil
		}
		v, err := Units(batch.Column(r.at[column]), row, int(r.Config.Decimals))
		if err != nil {
			return 0, fmt.Errorf("%s: %w", column, err)
		}
		return v, nil
	}
	if c := r.Columns.Count; c != "" {
		// Weighted tables have fractions of contributors: what is not whole is no contributor.
		n, ok := operators.Number(batch.Column(r.at[c]), row)
		if !ok || n < 0 || n != n || n > MaxUnits {
			return fmt.Errorf("%s is %s; it must be a number of at least 0", c, operators.Shown(batch.Column(r.at[c]), row))
		}
		x.cell.Contributors = int64(math.Floor(n))
		x.cell.Records = int64(math.Ceil(n))
	}
	if c := r.Columns.Records; c != "" {
		n, ok := operators.Integer(batch.Column(r.at[c]), row)
		if !ok || n < x.cell.Contributors {
			return fmt.Errorf("%s is %s; it must be at least the %d of %s", c, operators.Shown(batch.Column(r.at[c]), row), x.cell.Contributors, r.Columns.Count)
		}
		x.cell.Records = n
	}
	var err error
	if x.value = x.cell.Records; r.Columns.Value != "" {
		if x.value, err = units(r.Columns.Value); err != nil {
			return err
		}
		none := r.Columns.Count != "" && x.cell.Records == 0
		switch {
		case !none && batch.Column(r.at[r.Columns.Value]).IsNull(row):
			return fmt.Errorf("it has no %s: a table to be protected, or to be taken as true, has all its values", r.Columns.Value)
		case none && x.value != 0:
			return fmt.Errorf("%s is 0, and %s is not", r.Columns.Count, r.Columns.Value)
		}
	} else if float64(x.cell.Records) != float64(x.cell.Contributors) {
		return fmt.Errorf("%s is no whole number", r.Columns.Count)
	}
	if x.value < 0 && !r.Config.Absolute {
		return fmt.Errorf(
			"its value is %s, and rules are for contributions of at least 0: say --absolute if they are to count by their absolute value",
			operators.Shown(batch.Column(r.at[r.Columns.Value]), row),
		)
	}
	x.cell.Total = max(x.value, -x.value)
	if r.Columns.Count == "" && x.value != 0 {
		x.cell.Records, x.cell.Contributors = 1, 1 // somebody
	}
	for _, c := range []string{r.Columns.Max, r.Columns.Second} {
		if c == "" {
			break
		}
		v, err := units(c)
		if err != nil {
			return err
		}
		x.cell.Top = append(x.cell.Top, max(v, -v))
	}
	if err := r.checkLargest(x); err != nil {
		return err
	}
	if x.lower, err = units(r.Columns.Lower); err != nil {
		return err
	}
	if x.upper, err = units(r.Columns.Upper); err != nil {
		return err
	}
	if c := r.Columns.Sole; c != "" && !batch.Column(r.at[c]).IsNull(row) {
		x.sole, _ = operators.Integer(batch.Column(r.at[c]), row)
	}
	if c := r.Columns.Status; c != "" && !batch.Column(r.at[c]).IsNull(row) {
		x.status, err = statusOf(operators.Text(batch.Column(r.at[c]), row))
	}
	return err
}

// checkLargest refuses largest contributions that cannot be.
func (r *reader) checkLargest(x *raw) error {
	sum := int64(0)
	for i, v := range x.cell.Top {
		if sum += v; sum > x.cell.Total+int64(i)+1 && !r.Config.Absolute {
			return fmt.Errorf("the largest contributions are more than its value (%s)", strings.Trim(r.Columns.Max+", "+r.Columns.Second, ", "))
		}
	}
	if len(x.cell.Top) == 2 && x.cell.Top[1] > x.cell.Top[0] {
		return fmt.Errorf("%s is more than %s", r.Columns.Second, r.Columns.Max)
	}
	return nil
}

// statusOf is the word for what a table says of a cell.
func statusOf(text string) (string, error) {
	switch strings.ToLower(text) {
	case "", "s", "safe":
		return "", nil
	case "u", "unsafe":
		return detection.UnsafeManual.String(), nil
	case "p", "protected":
		return detection.Protected.String(), nil
	}
	if s := detection.StatusOf(text); s != 0 {
		return text, nil
	}
	return "", fmt.Errorf("its status is %q; it must be safe, unsafe or protected, or S, U or P", text)
}

// table puts the rows into a grid.
func (r *reader) table() (*Table, error) {
	for v, t := range r.Trees {
		if len(t.Nodes) == 1 {
			return nil, fmt.Errorf("%s has totals of %s alone", r.Name, r.Config.Table[v].Name)
		}
	}
	var cells []int32
	for _, x := range r.rows {
		if x.cell.Records > 0 || x.value != 0 {
			cells = append(cells, x.nodes...)
		}
	}
	grid, err := NewGrid(r.Trees, cells, budget.Budget{Bytes: r.Memory})
	if err != nil {
		return nil, err
	}
	if grid.Tables = r.Config.linked(); grid.Tables != nil {
		for cell := range grid.Cells() {
			if !grid.In(grid.Nodes(cell)) {
				return nil, fmt.Errorf("%s has the cell %s, which none of the linked tables has: leave it out, or link a table of its variables", r.Name,
					tabular.Words(grid.Codes(cell)))
			}
		}
	}
	n := grid.Cells()
	t := &Table{
		Grid:     grid,
		Response: r.Columns.Value,
		Decimals: int(r.Config.Decimals),
		Values:   make([]int64, n),
		Cells:    make([]detection.Cell, n),
		Sole:     make([]int64, n),
		Recodes:  r.made,
	}
	if r.Columns.Status != "" {
		t.Status = make([]string, n)
	}
	if r.Columns.Lower != "" && r.Columns.Upper != "" {
		t.Lower, t.Upper = make([]int64, n), make([]int64, n)
	}
	there, merged := make([]bool, n), r.merging(n)
	for _, x := range r.rows {
		cell := grid.Find(x.nodes)
		if cell < 0 {
			continue // it is empty
		}
		if there[cell] {
			if len(r.Recodes) == 0 {
				return nil, fmt.Errorf("%s has the cell %s twice", r.Name, tabular.Words(grid.Codes(cell)))
			}
			merged.add(cell)
			if err := r.merge(t, cell, x); err != nil {
				return nil, err
			}
			continue
		}
		there[cell] = true
		t.Values[cell], t.Cells[cell], t.Sole[cell] = x.value, x.cell, x.sole
		if t.Status != nil {
			t.Status[cell] = x.status
		}
		if t.Lower != nil {
			t.Lower[cell], t.Upper[cell] = x.lower, x.upper
		}
	}
	if merged.any && r.Warn != nil {
		r.Warn("%s has cells that became one by recodes: a contributor who is in several of them counts several times; a table of records counts each once",
			r.Name)
	}
	if err := r.balance(t, there, merged); err != nil {
		return nil, err
	}
	return t.without(r.below)
}
