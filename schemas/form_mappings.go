package schemas

import "fmt"

// Mappings is the form of a list of mappings, each with a field table; check judges one of them, nil: by its table. What the table calls
// required must be said.
func Mappings[T any](to *[]T, fields func(*T) Table, check func(c *Checker, path string, x *T)) Form {
	if check == nil {
		check = func(c *Checker, path string, x *T) { c.Table(path, fields(x)) }
	}
	return mappings[T]{to, fields, check}
}

type mappings[T any] struct {
	to     *[]T
	fields func(*T) Table
	check  func(c *Checker, path string, x *T)
}

func (m mappings[T]) Read(d *Decoder, n *Node, path string, f *Field) {
	*m.to = []T{}
	d.Items(n, path, f.what(), func(_ int, item *Node, at string) {
		var x T
		t := m.fields(&x)
		d.Mapping(item, at, t)
		for _, name := range t.Required {
			if !d.Has(at+"."+name) && !d.Failed(at) {
				d.Problem(at, fmt.Sprintf("%s has no %s", t.What, name))
			}
		}
		*m.to = append(*m.to, x)
	})
}

func (m mappings[T]) Write(*Field) (any, bool) {
	var list []any
	for i := range *m.to {
		list = append(list, m.fields(&(*m.to)[i]).Write())
	}
	return list, list != nil
}

func (m mappings[T]) Schema(*Field) Ordered {
	return ListOf(m.fields(new(T)).Schema())
}

func (m mappings[T]) Check(c *Checker, path string, _ *Field) {
	for i := range *m.to {
		m.check(c, fmt.Sprintf("%s[%d]", path, i), &(*m.to)[i])
	}
}
