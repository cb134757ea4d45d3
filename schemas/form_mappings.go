package schemas

import (
	"fmt"
	"maps"
	"slices"
)

// Mappings is the form of a list of mappings, each with a field table; check judges one of them, nil: by its table. What the table calls
// required must be said. One table serves all mappings in turn, so it must not depend on what they say.
func Mappings[T any](to *[]T, fields func(*T) Table, check func(c *Checker, path string, x *T)) Form {
	return mappings[T]{to, fields, check}
}

type mappings[T any] struct {
	to     *[]T
	fields func(*T) Table
	check  func(c *Checker, path string, x *T)
}

func (m mappings[T]) Read(d *Decoder, n *Node, path string, f *Field) {
	*m.to = []T{}
	var x, none T
	t := m.fields(&x)
	d.Items(n, path, f.what(), func(_ int, item *Node, at string) {
		x = none
		d.Mapping(item, at, t)
		d.required(at, t)
		*m.to = append(*m.to, x)
	})
}

// required tells which fields that must be said of a mapping are not.
func (d *Decoder) required(path string, t Table) {
	for _, name := range t.Required {
		if !d.Has(path+"."+name) && !d.Failed(path) {
			d.Problem(path, fmt.Sprintf("%s has no %s", t.What, name))
		}
	}
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

func (m mappings[T]) shape() Table   { return m.fields(new(T)) }
func (m mappings[T]) within() string { return "[]" }
func (m mappings[T]) Check(c *Checker, path string, _ *Field) {
	var x T
	t := m.fields(&x)
	for i := range *m.to {
		at := fmt.Sprintf("%s[%d]", path, i)
		if m.check != nil {
			m.check(c, at, &(*m.to)[i])
			continue
		}
		x = (*m.to)[i]
		c.Table(at, t)
	}
}

// Keyed is the form of a mapping from names to mappings, each with a field table. key is where the name of one goes, and is no field of
// the table, which must not depend on what the mappings say: one serves all of them in turn. The order of the text is kept.
func Keyed[T any](to *[]T, fields func(*T) Table, key func(*T) *string) Form {
	return keyed[T]{to, fields, key}
}

type keyed[T any] struct {
	to     *[]T
	fields func(*T) Table
	key    func(*T) *string
}

func (k keyed[T]) Read(d *Decoder, n *Node, path string, f *Field) {
	*k.to = []T{}
	var x, none T
	t := k.fields(&x)
	d.Entries(n, path, f.what(), func(key string, value *Node, at string) {
		x = none
		*k.key(&x) = key
		if !value.IsNull() {
			d.Mapping(value, at, t)
		}
		d.required(at, t)
		*k.to = append(*k.to, x)
	})
}

func (k keyed[T]) Write(*Field) (any, bool) {
	o := Ordered{}
	for i := range *k.to {
		x := &(*k.to)[i]
		o = append(o, Member{*k.key(x), k.fields(x).Write()})
	}
	return o, *k.to != nil
}

func (k keyed[T]) Schema(*Field) Ordered {
	return Ordered{{"type", "object"}, {"additionalProperties", k.fields(new(T)).Schema()}}
}

func (k keyed[T]) shape() Table   { return k.fields(new(T)) }
func (k keyed[T]) within() string { return ".NAME" }
func (k keyed[T]) Check(c *Checker, path string, _ *Field) {
	var x T
	t := k.fields(&x)
	for _, x = range *k.to {
		c.Table(path+"."+*k.key(&x), t)
	}
}

// TextLists is the form of a mapping from names to lists of texts.
func TextLists(to *map[string][]string) Form { return textLists{to} }

type textLists struct{ to *map[string][]string }

func (l textLists) Read(d *Decoder, n *Node, path string, f *Field) {
	*l.to = map[string][]string{}
	d.Entries(n, path, f.what(), func(key string, value *Node, at string) {
		(*l.to)[key] = d.Texts(value, at, at)
	})
}

func (l textLists) Write(*Field) (any, bool) {
	o := Ordered{}
	for _, key := range slices.Sorted(maps.Keys(*l.to)) {
		o = append(o, Member{key, anyList((*l.to)[key])})
	}
	return o, *l.to != nil
}

func (l textLists) Schema(*Field) Ordered {
	return Ordered{{"type", "object"}, {"additionalProperties", Ref("texts")}}
}

func (l textLists) Check(c *Checker, path string, _ *Field) {
	for _, key := range slices.Sorted(maps.Keys(*l.to)) {
		c.Twice(path+"."+key, (*l.to)[key])
	}
}
