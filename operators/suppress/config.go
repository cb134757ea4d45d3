// Package suppress hides single cells of key variables: a table says which variables of which keys. It is made by microrisk protect, and can be
// written by hand.
//
//	operators:
//	  - suppress: {table: hidden.parquet}
//
// The table has a column for each key variable, hide_NAME for each variable that is hidden somewhere (true: its cell is hidden), and, if not all rows
// of a key are hidden alike, the column records: how many, the first ones in the order of the rows.
package suppress

import (
	"context"
	"fmt"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"microrisk/operators"
	"microrisk/schemas"
)

// Name of the operator.
const Name = "suppress"

// Columns of the table besides the key variables.
const (
	Hide    = "hide_" // before the name of a variable
	Records = "records"
)

// A Config is what a spec says of the operator.
type Config struct {
	Table string  // file of the cells
	Code  *string // that stands for a hidden cell; nil: it becomes missing
}

func init() {
	operators.Register(schemas.Kind{Name: Name, New: func() schemas.Config { return &Config{} },
		Doc: "Hides cells of key variables: a table says which variables of which keys."})
}

// Fields is the field table.
func (c *Config) Fields() schemas.Table {
	return schemas.Table{Required: []string{"table"}, Fields: []schemas.Field{
		{
			Name: "table",
			To:   &c.Table,
			File: true,
			Doc: "File with a column for each key variable, hide_NAME for each that is hidden somewhere (true: hidden), and perhaps records: " +
				"how many rows of the key, the first ones; the others are on further rows, or stay.",
		},
		{Name: "code", To: &c.Code, Doc: "What stands for a hidden cell, in columns of text; without it the cell becomes missing."},
	}}
}

// Check tells what the field table cannot.
func (c *Config) Check(k *schemas.Checker, path string, _ *schemas.Spec) {
	if c.Code != nil && *c.Code == "" {
		k.Add(path+".code", "the code is empty; leave it out for missing cells")
	}
}

// Files is a Filing config's.
func (c *Config) Files() []operators.SideFile {
	return []operators.SideFile{{Path: c.Table, What: "the table of hidden cells", Kind: operators.Opened,
		Open: func(ctx context.Context, from operators.Source, memory int64) (any, error) {
			return Read(ctx, c.Table, from, memory)
		}}}
}

// Operators is an operators.Config's.
func (c *Config) Operators(s operators.Setup) []operators.Operator {
	cells, _ := s.Files.Documents[c.Table].(*Cells)
	return []operators.Operator{Operator{Config: *c, Cells: cells}}
}

// Cells are the hidden cells, by key.
type Cells struct {
	Variables []string
	hidden    []bool // by variable: somewhere
	keys      map[string][]portion
	limited   bool // not all rows of a key are hidden alike
}

// A portion is some rows of a key.
type portion struct {
	records int64 // -1: all that are left
	hide    uint64
	row     int
}

// mostVariables is how many key variables a table may have.
const mostVariables = 64

// missing stands for a missing value in a key.
const missing = "\x00"

func keyOf(b *strings.Builder, texts []string) string {
	b.Reset()
	for _, t := range texts {
		b.WriteString(t)
		b.WriteByte(1)
	}
	return b.String()
}

// Read reads a table of hidden cells.
func Read(ctx context.Context, path string, from operators.Source, memory int64) (*Cells, error) {
	c := &Cells{keys: map[string][]portion{}}
	var keys, flags []int
	records := -1
	hide := map[string]int{}
	for i, f := range from.Schema().Fields() {
		switch {
		case strings.HasPrefix(f.Name, Hide):
			if f.Type.ID() != arrow.BOOL {
				return nil, fmt.Errorf("%s: the column %q is of type %s; it must be true or false", path, f.Name, f.Type)
			}
			hide[strings.TrimPrefix(f.Name, Hide)] = i
		case f.Name == Records:
			if !operators.IsInteger(operators.ValueType(f.Type)) {
				return nil, fmt.Errorf("%s: the column %q is of type %s; it must be a whole number of rows", path, f.Name, f.Type)
			}
			records = i
		default:
			c.Variables, keys = append(c.Variables, f.Name), append(keys, i)
		}
	}
	switch {
	case len(c.Variables) == 0 || len(c.Variables) > mostVariables:
		return nil, fmt.Errorf("%s has %d key variables, want 1 to %d", path, len(c.Variables), mostVariables)
	case len(hide) == 0:
		return nil, fmt.Errorf("%s has no column %sNAME, which says where the variable NAME is hidden", path, Hide)
	}
	for _, name := range c.Variables {
		at, is := hide[name]
		if delete(hide, name); !is {
			at = -1
		}
		flags = append(flags, at)
		c.hidden = append(c.hidden, is)
	}
	for name := range hide {
		return nil, fmt.Errorf("%s has the column %s%s, and no key variable %q", path, Hide, name, name)
	}
	texts := make([]string, len(keys))
	var b strings.Builder
	held, row := int64(0), 0
	err := operators.EachRow(ctx, from, func(batch arrow.Record, r int) error {
		row++
		for k, at := range keys {
			if texts[k] = missing; !batch.Column(at).IsNull(r) {
				texts[k] = operators.Text(batch.Column(at), r)
			}
		}
		p := portion{records: -1, row: row}
		for v, at := range flags {
			if at >= 0 && !batch.Column(at).IsNull(r) && batch.Column(at).(*array.Boolean).Value(r) {
				p.hide |= 1 << v
			}
		}
		if records >= 0 && !batch.Column(records).IsNull(r) {
			n, err := wholeOf(operators.Text(batch.Column(records), r))
			if err != nil {
				return fmt.Errorf("%s, row %d: %w", path, row, err)
			}
			p.records = n
			c.limited = true
		}
		key := keyOf(&b, texts)
		list := c.keys[key]
		if n := len(list); n > 0 && list[n-1].records < 0 {
			return fmt.Errorf("%s, row %d: row %d is of all rows of the same key; say how many (%s)", path, row, list[n-1].row, Records)
		}
		c.keys[key] = append(list, p)
		if held += int64(len(key)) + 96; memory > 0 && held > memory/2 {
			return fmt.Errorf("%s does not fit in half of the memory that is allowed; give more (--memory)", path)
		}
		return nil
	})
	return c, err
}

func wholeOf(text string) (n int64, err error) {
	if _, err := fmt.Sscan(text, &n); err != nil || n < 1 {
		return 0, fmt.Errorf("%s is %q; it must be a whole number of rows, at least 1", Records, text)
	}
	return n, nil
}
