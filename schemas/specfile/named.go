package specfile

import "microrisk/schemas"

// A Named document has a field table, and checks of its own.
type Named interface {
	Fields() schemas.Table
	Check(c *schemas.Checker)
}

// DecodeNamed reads a document that is no spec, of at most so many bytes; what says what it is, in messages. The error has all that is wrong with it,
// with lines.
func DecodeNamed(name, what string, text []byte, most int64, to Named) error {
	root, err := ParseOther(name, what, text, most)
	if err != nil {
		return err
	}
	return schemas.DecodePart(name, func(d *schemas.Decoder) {
		d.Mapping(root, "", to.Fields())
		for _, field := range to.Fields().Required {
			if !d.Has(field) && !d.Failed("") {
				d.Problem("", what+" has no "+field)
			}
		}
	}, func(c *schemas.Checker, decoded bool) {
		if decoded {
			c.Table("", to.Fields())
			to.Check(c)
		}
	})
}
