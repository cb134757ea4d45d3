package selection

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"microrisk/engine/contingency"
	"microrisk/operators"
	"microrisk/schemas"
)

func init() {
	operators.Register(schemas.Kind{Name: Name, New: func() schemas.Config { return &Config{} }, Doc: "Chooses rows and columns."})
}

// Operators is an operators.Config's.
func (s *Config) Operators(operators.Setup) []operators.Operator {
	return []operators.Operator{Operator{*s}}
}

// An Operator chooses rows by lists and ranges of values, all of which must hold, and the columns that stay. A null, and in a range
// a text that is no number, never holds.
type Operator struct{ Config Config }

// Bind is an Operator's.
func (s Operator) Bind(in *arrow.Schema) (*operators.Plan, error) {
	plan := &operators.Plan{}
	if s.Config.Rows == nil && s.Config.Columns == nil {
		return nil, errors.New("select: say rows, columns, or both")
	}
	for _, name := range s.Config.Columns {
		if _, err := operators.LookUp("select", in, name); err != nil {
			return nil, err
		}
	}
	if s.Config.Columns != nil {
		for _, f := range in.Fields() {
			if !slices.Contains(s.Config.Columns, f.Name) {
				plan.Drops = append(plan.Drops, f.Name)
			}
		}
	}
	apply := &selected{}
	for _, c := range s.Config.Rows {
		f, err := operators.LookUp("select", in, c.Column)
		if err != nil {
			return nil, err
		}
		holds, err := condition(c, operators.ValueType(f.Type))
		if err != nil {
			return nil, fmt.Errorf("select: %q: %w", c.Column, err)
		}
		plan.Reads = append(plan.Reads, c.Column)
		condition := &rowCondition{holds: holds}
		if c.Values != nil {
			condition.sought = operators.NewSought("select "+c.Column, c.Values)
		}
		apply.conditions = append(apply.conditions, condition)
	}
	plan.Filters, plan.KeepRows = len(s.Config.Rows) > 0, s.Config.KeepRows
	plan.Apply = apply
	return plan, nil
}

// condition turns the words of a condition into a function on values of the type.
func condition(c Condition, t arrow.DataType) (func(values arrow.Array, i int) bool, error) {
	if arrow.IsNested(t.ID()) {
		return nil, fmt.Errorf("a column of type %s is nested, rows cannot be chosen by it", t)
	}
	if c.Values != nil {
		if c.Min != nil || c.Max != nil {
			return nil, errors.New("say a list or a range, not both")
		}
		return func(values arrow.Array, i int) bool { return slices.Contains(c.Values, operators.Text(values, i)) }, nil
	}
	if c.Min == nil && c.Max == nil {
		return nil, errors.New("a range needs min, max, or both")
	}
	if operators.IsNumber(t) || operators.IsText(t) {
		return numberRange(c, t)
	}
	if t.ID() == arrow.BOOL || arrow.IsBaseBinary(t.ID()) || t.ID() == arrow.FIXED_SIZE_BINARY {
		return nil, fmt.Errorf("a column of type %s has no ranges: give a list of values", t)
	}
	return textRange(c, t)
}

// numberRange compares exactly where both sides are decimal numerals, so that no large integer is rounded.
func numberRange(c Condition, t arrow.DataType) (func(values arrow.Array, i int) bool, error) {
	type end struct {
		text  string
		exact bool
		x     float64
	}
	parse := func(s *string) (*end, error) {
		if s == nil {
			return nil, nil
		}
		x, err := strconv.ParseFloat(*s, 64)
		if err != nil || x != x {
			return nil, fmt.Errorf("%q is no number", *s)
		}
		return &end{*s, operators.PlainDecimal(*s), x}, nil
	}
	low, err1 := parse(c.Min)
	high, err2 := parse(c.Max)
	if err := errors.Join(err1, err2); err != nil {
		return nil, err
	}
	exact := operators.IsInteger(t) || arrow.IsDecimal(t.ID())
	compare := func(values arrow.Array, i int, x float64, e *end) int {
		switch {
		case exact && e.exact:
			return contingency.CompareNumerals(operators.Text(values, i), strings.TrimPrefix(e.text, "+"))
		case x < e.x:
			return -1
		case x > e.x:
			return 1
		}
		return 0
	}
	return func(values arrow.Array, i int) bool {
		x, ok := operators.DecimalNumber(values, i)
		if !ok && !exact || x != x {
			return false
		}
		return (low == nil || compare(values, i, x, low) >= 0) && (high == nil || compare(values, i, x, high) <= 0)
	}, nil
}

// textRange compares dates and times in their ISO form; an end may be cut short (2020, 2020-05): max then includes all that it
// begins.
func textRange(c Condition, t arrow.DataType) (func(values arrow.Array, i int) bool, error) {
	for _, s := range []*string{c.Min, c.Max} {
		if s != nil && (*s == "" || strings.Trim(*s, "0123456789-:.TZ") != "") {
			return nil, fmt.Errorf("%q is no %s in ISO form, such as 2024-01-31 or 2024-01-31T23:59:59", *s, t)
		}
	}
	return func(values arrow.Array, i int) bool {
		text := operators.Text(values, i)
		return (c.Min == nil || text >= *c.Min) && (c.Max == nil || text <= *c.Max || strings.HasPrefix(text, *c.Max))
	}, nil
}

// selected chooses the rows of batches.
type selected struct{ conditions []*rowCondition }

// A rowCondition keeps what it found for the dictionaries it met last.
type rowCondition struct {
	sought *operators.Sought // of a list
	holds  func(values arrow.Array, i int) bool
	mu     sync.Mutex
	memo   [4]struct {
		dictionary arrow.ArrayData
		holds      []bool
	}
	next int
}

func (s *selected) Summary() any { return nil }

func (s *selected) Apply(_ context.Context, _ memory.Allocator, rows operators.Rows) ([]arrow.Array, *operators.Bitmap, error) {
	if len(s.conditions) == 0 {
		return nil, nil, nil
	}
	keep := operators.NewBitmap(int(rows.Batch.NumRows()))
	for r := range keep.Len() {
		keep.Set(r)
	}
	for k, c := range s.conditions {
		if err := c.apply(rows.Batch.Column(k), keep); err != nil {
			return nil, nil, err
		}
	}
	return nil, keep, nil
}

// Unfound is a Seeker's.
func (s *selected) Unfound() error {
	for _, c := range s.conditions {
		if err := c.sought.Unfound(); err != nil {
			return err
		}
	}
	return nil
}

// Noticed is a Noticing's.
func (s *selected) Noticed() ([]byte, error) {
	list := make([]*operators.Found, len(s.conditions))
	for i, c := range s.conditions {
		list[i] = c.sought.Noticed()
	}
	return json.Marshal(list)
}

// Notice is a Noticing's.
func (s *selected) Notice(noticed []byte) error {
	var list []*operators.Found
	if err := json.Unmarshal(noticed, &list); err != nil {
		return err
	}
	for i, c := range s.conditions[:min(len(list), len(s.conditions))] {
		if err := c.sought.Notice(list[i]); err != nil {
			return err
		}
	}
	return nil
}

func (c *rowCondition) apply(column arrow.Array, keep *operators.Bitmap) error {
	c.sought.Look(column)
	d, ok := column.(*array.Dictionary)
	if !ok {
		for r := range keep.Len() {
			if keep.Get(r) && (column.IsNull(r) || !c.holds(column, r)) {
				keep.Clear(r)
			}
		}
		return nil
	}
	holds := c.dictionary(d)
	for r := range keep.Len() {
		if !keep.Get(r) {
			continue
		}
		if d.IsNull(r) {
			keep.Clear(r)
			continue
		}
		k := d.GetValueIndex(r)
		if k < 0 || k >= len(holds) {
			return fmt.Errorf("dictionary index %d is beyond the dictionary of %d values", k, len(holds))
		}
		if !holds[k] {
			keep.Clear(r)
		}
	}
	return nil
}

// dictionary tells for which values of a dictionary the condition holds.
func (c *rowCondition) dictionary(d *array.Dictionary) []bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	data := d.Data().Dictionary()
	for _, m := range c.memo {
		if m.dictionary == data {
			return m.holds
		}
	}
	values := d.Dictionary()
	holds := make([]bool, values.Len())
	for i := range holds {
		holds[i] = values.IsValid(i) && c.holds(values, i)
	}
	c.memo[c.next].dictionary, c.memo[c.next].holds = data, holds
	c.next = (c.next + 1) % len(c.memo)
	return holds
}
