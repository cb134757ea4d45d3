package recode

import "microrisk/schemas"

// DecodeColumns reads recodes by themselves: a mapping such as stands under recode: in a spec. name is the file's, for messages. The error
// is a *schemas.SpecError with all that is wrong, each with its line and column.
func DecodeColumns(name string, root *schemas.Node) ([]Column, error) {
	var list Config
	err := schemas.DecodePart(name, func(d *schemas.Decoder) {
		d.Entries(root, "", "a file of recodes", func(column string, value *schemas.Node, at string) {
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
