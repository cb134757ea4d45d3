package selection

import (
	"fmt"
	"strings"

	"microrisk/schemas"
)

// Name of the operator.
const Name = "select"

// A Config is what a spec says of the operator: which rows and columns it chooses.
type Config struct {
	Rows     []Condition // all must hold
	Columns  []string    // columns so far that stay in the output, in their own order; nil means all; those that leave can still be read by what follows
	KeepRows bool        // rows that are not chosen stay in the output, with nulls in the columns of the operators that follow
}

// A Condition on the values of a column: in a list, or in a range.
type Condition struct {
	Column string
	Values []string // as text; nil for a range
	Min    *string  // least value, as text
	Max    *string  // largest value, as text
}

// Fields is the field table.
func (s *Config) Fields() schemas.Table {
	return schemas.Table{
		Rules: `"anyOf": [{"required": ["rows"]}, {"required": ["columns"]}], "dependentRequired": {"keep_rows": ["rows"]}`,
		Fields: []schemas.Field{
			{
				Name: "rows",
				To:   rowsForm{&s.Rows},
				Doc:  "Column to the values it must have: one, a list, or a range. All must hold; a missing value never does.",
			},
			{Name: "columns", To: &s.Columns, What: "select.columns", Doc: "Columns so far that stay in the output, in their own order."},
			{Name: "keep_rows", To: &s.KeepRows, Doc: "Rows that are not chosen stay in the output, with nulls in the columns of the operators that follow."},
		},
	}
}

func (c *Condition) fields() schemas.Table {
	return schemas.Table{What: "a range of select.rows", Rules: `"minProperties": 1`, Fields: []schemas.Field{
		{Name: "min", To: &c.Min, Doc: "Least value.", Schema: `"type": ["string", "number", "boolean"]`},
		{Name: "max", To: &c.Max, Doc: "Largest value.", Schema: `"type": ["string", "number", "boolean"]`},
	}}
}

// Args are the conditions as flags: a Sayable config's.
func (s *Config) Args() []string {
	var args []string
	for _, c := range s.Rows {
		var value string
		if c.Values != nil {
			list := make([]string, len(c.Values))
			for i, v := range c.Values {
				list[i] = schemas.Word(v)
			}
			value = strings.Join(list, ",")
		} else {
			if c.Min != nil {
				value = *c.Min
			}
			if value += ".."; c.Max != nil {
				value += *c.Max
			}
		}
		args = append(args, "--select", c.Column+"="+value)
	}
	return args
}

// ChoosesColumns is a Choosing operator's.
func (s *Config) ChoosesColumns() bool { return s.Columns != nil }

// Names is a Naming operator's.
func (s *Config) Names(path string, scope schemas.Scope) {
	for i, name := range s.Columns {
		scope.Want(fmt.Sprintf("%s.columns[%d]", path, i), Name, name)
	}
	for _, row := range s.Rows {
		scope.Want(path+".rows."+row.Column, Name, row.Column)
	}
}

// Check tells what the field table cannot.
func (s *Config) Check(v *schemas.Checker, path string, _ *schemas.Spec) {
	if len(s.Rows) == 0 && s.Columns == nil {
		v.Add(path, "select chooses nothing; give it rows: or columns:")
	}
	if s.KeepRows && len(s.Rows) == 0 {
		v.Add(path+".keep_rows", "keep_rows keeps the rows that rows: does not choose; there is no rows:")
	}
	for _, c := range s.Rows {
		at := path + ".rows." + c.Column
		v.Twice(at, c.Values)
		switch {
		case c.Values != nil && len(c.Values) == 0:
			v.Add(at, "the list of %s is empty and no row would be chosen; list the values to keep", c.Column)
		case c.Values == nil && c.Min == nil && c.Max == nil:
			v.Add(at, "the range of %s has no ends; give it min:, max: or both", c.Column)
		case c.Values != nil && (c.Min != nil || c.Max != nil):
			v.Add(at, "%s has both values and a range; give it one of them", c.Column)
		}
	}
}

// rowsForm is that of conditions: a value, a list or a range for each column.
type rowsForm struct{ to *[]Condition }

// Read is a Form's.
func (r rowsForm) Read(d *schemas.Decoder, n *schemas.Node, path string, _ *schemas.Field) {
	d.Entries(n, path, "select.rows", func(column string, value *schemas.Node, at string) {
		c := Condition{Column: column}
		if v, ok := value.Scalar(); ok {
			c.Values = []string{v}
		} else if value != nil && value.Kind == schemas.List {
			c.Values = d.Texts(value, at, "select.rows."+column)
		} else {
			d.Mapping(value, at, c.fields())
		}
		*r.to = append(*r.to, c)
	})
}

// Write is a Form's.
func (r rowsForm) Write(*schemas.Field) (any, bool) {
	rows := schemas.Ordered{}
	for i := range *r.to {
		c := &(*r.to)[i]
		var value any = c.fields().Write()
		if c.Values != nil {
			list := []any{}
			for _, v := range c.Values {
				list = append(list, v)
			}
			value = list
		}
		rows = append(rows, schemas.Member{Key: c.Column, Value: value})
	}
	return rows, len(rows) > 0
}

// Schema is a Form's.
func (r rowsForm) Schema(*schemas.Field) schemas.Ordered {
	many := append(schemas.RawSchema(`"minItems": 1`), schemas.Ref("texts")...)
	return append(schemas.RawSchema(`"type": "object", "minProperties": 1`),
		schemas.Member{Key: "additionalProperties", Value: schemas.AnyOf(schemas.Ref("text"), many, new(Condition).fields().Schema())})
}

// Check is a Form's: see [Config.Check].
func (r rowsForm) Check(*schemas.Checker, string, *schemas.Field) {}
