package operators

import (
	"errors"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"

	"microrisk/schemas"
)

// check finds what is wrong with a plan in itself.
func (p *Plan) check() error {
	switch {
	case p == nil:
		return errors.New("an operator gave no plan, and no error")
	case p.Fit == nil && p.Apply == nil:
		return errors.New("the plan has neither Fit nor Apply")
	case p.Fit == nil && len(p.Tables) > 0:
		return errors.New("the plan asks for tables and has no Fit that takes them")
	}
	for i, a := range p.Adds {
		switch {
		case a.Name == "":
			return fmt.Errorf("column %d that the plan adds has no name", i)
		case a.Type == nil:
			return fmt.Errorf("column %q that the plan adds has no type", a.Name)
		}
	}
	return nil
}

// fits compares what Apply returned with what the plan promised.
func (p *Plan) fits(columns []arrow.Array, keep *Bitmap, rows int) error {
	if len(columns) != len(p.Adds) {
		return fmt.Errorf("Apply returned %d columns, the plan adds %d", len(columns), len(p.Adds))
	}
	for k, a := range columns {
		name, want := p.Adds[k].Name, p.Adds[k].Type
		switch {
		case a == nil:
			return fmt.Errorf("Apply returned nothing for column %q", name)
		case a.Len() != rows:
			return fmt.Errorf("Apply returned %d values of column %q for %d rows", a.Len(), name, rows)
		case !arrow.TypeEqual(a.DataType(), want) && !arrow.TypeEqual(a.DataType(), CodedType(want)):
			return fmt.Errorf("Apply returned column %q as %s, the plan says %s", name, a.DataType(), want)
		}
	}
	switch {
	case keep == nil:
	case !p.Filters:
		return errors.New("Apply chose rows, and the plan does not say that it filters")
	case keep.Len() != rows:
		return fmt.Errorf("Apply chose among %d rows of %d", keep.Len(), rows)
	}
	return nil
}

// AddColumns adds what an operator writes to its plan.
func AddColumns(plan *Plan, in *arrow.Schema, columns []schemas.ColumnInfo, replace bool) {
	types := map[schemas.ColumnType]arrow.DataType{
		schemas.Int64:      arrow.PrimitiveTypes.Int64,
		schemas.Int32:      arrow.PrimitiveTypes.Int32,
		schemas.Double:     arrow.PrimitiveTypes.Float64,
		schemas.StringSets: arrow.ListOf(arrow.ListOf(arrow.BinaryTypes.String)),
	}
	for _, c := range columns {
		added := Added{Field: arrow.Field{Name: c.Name, Type: types[c.Type], Nullable: true}}
		if replace && in.HasField(c.Name) {
			added.Replaces = c.Name
		}
		plan.Adds = append(plan.Adds, added)
	}
}
