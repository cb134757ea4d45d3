package operators

import (
	"fmt"
	"slices"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"

	"microrisk/engine/contingency"
	"microrisk/schemas/advice"
)

// A Chain is a list of operators bound to a schema, in stages: all operators of a stage are counted in one scan.
type Chain struct {
	steps   []step
	columns []column
	output  []int // columns of the output, in order
	stages  int
	filters bool
}

// A column of the chain: one of the input's, or one that an operator makes. A name may stand for several columns, one after the
// other, when an operator replaces what it reads.
type column struct {
	field arrow.Field
	step  int // the operator that makes it, -1 for the input
	nth   int // position among that operator's columns
	ready int // the stage after which it is there; 0 for what needs no fitted operator
}

// A step is a bound operator.
type step struct {
	plan   *Plan
	reads  []int // columns of Plan.Reads
	adds   []int // columns it makes
	tables []tableRef
	stage  int // fitted: the scan that counts its tables; stateless: the stage after which it can be applied
}

// A tableRef is a request with its names resolved to columns.
type tableRef struct {
	request contingency.Request
	keys    []int
	sums    []int
	id      string // equal for requests that one table serves
}

func (s *step) fitted() bool { return s.plan.Fit != nil }

// A Stage is a scan that counts tables.
type Stage struct {
	Operators []string // what is fitted from its tables
	Tables    []string // the key variables of each table, as text
}

// NewChain binds the operators one after the other, each to the schema that the ones before it leave.
func NewChain(in *arrow.Schema, operators ...Operator) (*Chain, error) {
	b := binder{chain: &Chain{}, visible: map[string]int{}}
	for _, f := range in.Fields() {
		b.order = append(b.order, len(b.chain.columns))
		b.chain.output = append(b.chain.output, len(b.chain.columns))
		if _, twice := b.visible[f.Name]; twice {
			b.visible[f.Name] = -1
		} else {
			b.visible[f.Name] = len(b.chain.columns)
		}
		b.chain.columns = append(b.chain.columns, column{field: f, step: -1})
	}
	names := map[string]bool{}
	writer := frequencyWriter(operators)
	for i, op := range operators {
		bind := op.Bind
		if k, ok := op.(Keyed); ok {
			bind = func(in *arrow.Schema) (*Plan, error) { return k.BindAs(in, i == writer) }
		}
		plan, err := bind(b.schema())
		if err != nil {
			return nil, err
		}
		if plan.Name != "" {
			if names[plan.Name] {
				return nil, fmt.Errorf("two operators are named %s: give one of them another prefix", plan.Name)
			}
			names[plan.Name] = true
		}
		if err := b.add(plan); err != nil {
			return nil, err
		}
	}
	if err := b.chain.checkOutput(); err != nil {
		return nil, err
	}
	return b.chain, nil
}

// checkOutput finds a made column with the name of another column of the output. (An input may have a name twice.)
func (c *Chain) checkOutput() error {
	count, made := map[string]int{}, map[string]bool{}
	for _, id := range c.output {
		name := c.columns[id].field.Name
		count[name]++
		made[name] = made[name] || c.columns[id].step >= 0
		if made[name] && count[name] > 1 {
			return fmt.Errorf("the output would have two columns %q: give the new one another name", name)
		}
	}
	return nil
}

// A binder keeps the schema that the next operator sees.
type binder struct {
	chain   *Chain
	order   []int          // columns that can be seen, in order
	visible map[string]int // by name; -1 for a name that the input has twice
	filter  int            // stage after which all filters so far can be applied
	filters int            // number of filters so far
}

func (b *binder) schema() *arrow.Schema {
	fields := make([]arrow.Field, 0, len(b.order))
	for _, c := range b.order {
		fields = append(fields, b.chain.columns[c].field)
	}
	return arrow.NewSchema(fields, nil)
}

func (b *binder) resolve(name string) (int, error) {
	c, ok := b.visible[name]
	if !ok {
		return 0, fmt.Errorf("there is no column %q", name)
	}
	if c < 0 {
		return 0, fmt.Errorf("the input has more than one column %q: rename one of them first", name)
	}
	return c, nil
}

func (b *binder) add(plan *Plan) error {
	if err := plan.check(); err != nil {
		return plan.named(err)
	}
	if err := b.bind(plan); err != nil {
		return plan.named(err)
	}
	return nil
}

func (b *binder) bind(plan *Plan) error {
	s := step{plan: plan}
	ready := b.filter
	if plan.Fit == nil && !plan.Filters {
		ready = 0 // a recode needs not wait for a filter
	}
	use := func(name string) (int, error) {
		c, err := b.resolve(name)
		if err == nil {
			ready = max(ready, b.chain.columns[c].ready)
		}
		return c, err
	}
	for _, name := range plan.Reads {
		c, err := use(name)
		if err != nil {
			return err
		}
		s.reads = append(s.reads, c)
	}
	for _, request := range plan.Tables {
		t := tableRef{request: request}
		for _, key := range request.Keys {
			c, err := use(key.Name)
			if err != nil {
				return err
			}
			if t := b.chain.columns[c].field.Type; !HasEquality(t) {
				return fmt.Errorf("%q is of type %s, which cannot be a key variable of a table", key.Name, t)
			}
			t.keys = append(t.keys, c)
		}
		for _, sum := range request.Sums {
			c, err := use(sum.Name)
			if err != nil {
				return err
			}
			if t := b.chain.columns[c].field.Type; !IsNumber(ValueType(t)) {
				return fmt.Errorf("%q is of type %s: only numbers can be added up", sum.Name, t)
			}
			t.sums = append(t.sums, c)
		}
		t.id = fmt.Sprintf("%d %v %v %s", b.filters, t.keys, t.sums, request.ID())
		s.tables = append(s.tables, t)
	}
	s.stage = ready
	if s.fitted() {
		s.stage++
		b.chain.stages = max(b.chain.stages, s.stage)
	}
	if plan.Filters {
		b.filter, b.filters = max(b.filter, s.stage), b.filters+1
		b.chain.filters = b.chain.filters || !plan.KeepRows
	}
	for _, name := range plan.Drops {
		if !slices.ContainsFunc(b.chain.columns, func(c column) bool { return c.field.Name == name }) {
			return fmt.Errorf("there is no column %q to leave out", name)
		}
		b.chain.output = slices.DeleteFunc(b.chain.output, func(id int) bool { return b.chain.columns[id].field.Name == name })
	}
	for nth, a := range plan.Adds {
		if err := b.make(&s, nth, a); err != nil {
			return err
		}
	}
	b.chain.steps = append(b.chain.steps, s)
	return nil
}

// make adds a column to what can be seen and to the output.
func (b *binder) make(s *step, nth int, a Added) error {
	id := len(b.chain.columns)
	b.chain.columns = append(b.chain.columns, column{a.Field, len(b.chain.steps), nth, s.stage})
	s.adds = append(s.adds, id)
	old := -1
	if a.Replaces != "" {
		c, err := b.resolve(a.Replaces)
		if err != nil {
			return err
		}
		old = c
		delete(b.visible, a.Replaces)
	}
	if _, exists := b.visible[a.Name]; exists {
		who := s.plan.Name
		if who == "" {
			who = "recode"
		}
		return advice.Errorf("%s: the column %q exists already: choose %s", who, a.Name,
			advice.Advice{Spec: "another prefix or name, or say replace: true", Flags: "another prefix, or say --replace"})
	}
	b.visible[a.Name] = id
	b.order = place(b.order, old, id)
	if !a.Hidden {
		b.chain.output = place(b.chain.output, old, id)
	}
	return nil
}

// place puts id where old is, or at the end.
func place(list []int, old, id int) []int {
	for i, c := range list {
		if c == old {
			list[i] = id
			return list
		}
	}
	return append(list, id)
}

// Stages are the counting scans; after them comes the scan that writes.
func (c *Chain) Stages() []Stage {
	stages := make([]Stage, c.stages)
	for n := range stages {
		seen := map[string]bool{}
		for _, s := range c.steps {
			if !s.fitted() || s.stage != n+1 {
				continue
			}
			stages[n].Operators = append(stages[n].Operators, s.plan.Name)
			for _, t := range s.tables {
				if seen[t.id] {
					continue
				}
				seen[t.id] = true
				stages[n].Tables = append(stages[n].Tables, t.String())
			}
		}
	}
	return stages
}

func (t tableRef) String() string {
	var names []string
	for _, k := range t.request.Keys {
		names = append(names, k.Name)
	}
	text := strings.Join(names, " x ")
	for _, s := range t.request.Sums {
		if text != "" {
			text += ", "
		}
		text += "sum of " + s.Name
	}
	if text == "" {
		text = "number of records"
	}
	return text
}

// Output has the columns of the output, in order.
func (c *Chain) Output() []Output {
	out := make([]Output, len(c.output))
	for i, id := range c.output {
		out[i] = Output{Field: c.columns[id].field, Input: c.columns[id].step < 0, Filtered: c.filters}
	}
	return out
}

// Shown tells for each operator with tables whether all key variables that it counts can be read in the output: columns of it, or made
// from such columns alone.
func (c *Chain) Shown() map[string]bool {
	seen := map[int]bool{}
	for _, id := range c.output {
		seen[id] = true
	}
	for _, s := range c.steps { // a column is made from earlier ones
		if s.fitted() || len(s.reads) == 0 {
			continue
		}
		from := true
		for _, id := range s.reads {
			from = from && seen[id]
		}
		for _, id := range s.adds {
			seen[id] = seen[id] || from
		}
	}
	shown := map[string]bool{}
	for _, s := range c.steps {
		if s.plan.Name == "" || len(s.tables) == 0 {
			continue
		}
		all := true
		for _, t := range s.tables {
			for _, id := range t.keys {
				all = all && seen[id]
			}
		}
		shown[s.plan.Name] = all
	}
	return shown
}

// Filters reports whether rows leave the output.
func (c *Chain) Filters() bool { return c.filters }
