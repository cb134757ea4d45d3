package recode

import (
	"fmt"

	"microrisk/schemas"
)

// DecodeColumns reads recodes by themselves: a mapping such as stands under recode: in a spec. name is the file's, for messages. The error
// is a *schemas.SpecError with all that is wrong, each with its line and column.
func DecodeColumns(name string, root *schemas.Node) ([]Column, error) {
	var list Config
	err := schemas.DecodePart(name, func(d *schemas.Decoder) {
		d.Entries(root, "", "a file of recodes", func(column string, value *schemas.Node, at string) {
			if fields := new(Column).Fields(); fields.Field(column) != nil && !recodes(value) {
				d.Problem(at, fmt.Sprintf(
					"%s is what a recode says, and not of which column; write it below the column's name, as in SEX: {replace: true, map: {m: M}}", column))
				return
			}
			list = append(list, read(d, column, value, at))
		})
	}, func(c *schemas.Checker, decoded bool) {
		if len(list) == 0 && decoded {
			c.Add("", "the file has no recodes; it maps columns to what they are made from, as in SEX: {replace: true, map: {m: M}}")
		}
		for i := range list {
			c.Table(list[i].Name, list[i].Fields())
			list[i].check(c, list[i].Name)
		}
	})
	return list, err
}

// ColumnsYAML is the file that [DecodeColumns] reads.
func ColumnsYAML(list []Column) []byte {
	t := schemas.Table{}
	for i := range list {
		t.Fields = append(t.Fields, schemas.Field{Name: list[i].Name, To: schemas.Nested(list[i].Fields())})
	}
	return schemas.TableYAML(t)
}

// recodes tells whether a value looks like a recode: a mapping with one of its fields, so that it can be of a column that is named like one.
func recodes(n *schemas.Node) bool {
	fields := new(Column).Fields()
	if n == nil {
		return false
	}
	for _, e := range n.Entries {
		if fields.Field(e.Key) != nil {
			return true
		}
	}
	return false
}
