package schemas

import (
	"fmt"
	"maps"
	"slices"
)

// A Form reads, writes and describes the value of a field. Field tables have forms for the types that [Field] lists; others are made
// where they are wanted.
type Form interface {
	// Read takes the value; what is wrong with it is told to the decoder.
	Read(d *Decoder, n *Node, path string, f *Field)
	// Write gives the value as a spec would have it (Ordered, []any, string, bool, int, int64 or float64); false if nothing is said.
	Write(f *Field) (value any, said bool)
	// Schema describes the value to a JSON Schema.
	Schema(f *Field) Ordered
	// Check tells what is wrong with the value.
	Check(c *Checker, path string, f *Field)
}

// form of a field, by the type of To.
func (f *Field) form() Form {
	switch to := f.To.(type) {
	case Form:
		return to
	case *string:
		return textForm{to}
	case **string:
		return optional[string]{to, func(v *string) Form { return textForm{v} }}
	case *bool:
		return boolForm{to}
	case **bool:
		return optional[bool]{to, func(v *bool) Form { return boolForm{v} }}
	case *int:
		return wholeForm[int]{to, false}
	case *int64:
		return wholeForm[int64]{to, false}
	case *float64:
		return numberForm{to, false}
	case **int:
		return optional[int]{to, func(v *int) Form { return wholeForm[int]{v, true} }}
	case **float64:
		return optional[float64]{to, func(v *float64) Form { return numberForm{v, true} }}
	case *[]string:
		return textsForm{to}
	case *[]float64:
		return numbersForm{to}
	case *[]int64:
		return wholesForm{to}
	case *map[string]string:
		return mapForm{to}
	case *[]KeyVariable:
		return variablesForm{to}
	case **Key:
		return keyForm{Maybe(to, (*Key).Fields), to}
	}
	panic(fmt.Sprintf("the field %s goes to a %T, for which there is no form", f.Name, f.To))
}

// An optional value is one that may be left unsaid: nil.
type optional[T any] struct {
	to **T
	of func(*T) Form
}

func (o optional[T]) Read(d *Decoder, n *Node, path string, f *Field) {
	v := new(T)
	before := len(d.problems)
	o.of(v).Read(d, n, path, f)
	if len(d.problems) == before {
		*o.to = v
	}
}

func (o optional[T]) Write(*Field) (any, bool) {
	if *o.to == nil {
		return nil, false
	}
	return any(**o.to), true
}

func (o optional[T]) Schema(f *Field) Ordered { return o.of(new(T)).Schema(f) }

func (o optional[T]) Check(c *Checker, path string, f *Field) {
	if *o.to != nil {
		o.of(*o.to).Check(c, path, f)
	}
}

type textForm struct{ to *string }

func (t textForm) Read(d *Decoder, n *Node, path string, f *Field) {
	*t.to, _ = d.Name(n, path, f.what())
}

func (t textForm) Write(*Field) (any, bool) { return *t.to, *t.to != "" }

func (t textForm) Schema(f *Field) Ordered {
	switch {
	case f.Words != nil:
		return Ordered{{"enum", anyList(f.Words)}}
	case f.File:
		return Ordered{{"type", "string"}, {"minLength", 1}}
	}
	return Ordered{{"type", "string"}}
}

func (t textForm) Check(c *Checker, path string, f *Field) {
	if f.File {
		c.Path(path, *t.to)
	}
	if f.Words != nil {
		word := f.Word
		if word == "" {
			word = f.Name
		}
		c.OneOf(path, word, *t.to, f.Words)
	}
}

type boolForm struct{ to *bool }

func (b boolForm) Read(d *Decoder, n *Node, path string, f *Field) { *b.to = d.Bool(n, path, f.what()) }
func (b boolForm) Write(*Field) (any, bool)                        { return *b.to, *b.to }
func (b boolForm) Schema(*Field) Ordered                           { return Ordered{{"type", "boolean"}} }
func (b boolForm) Check(*Checker, string, *Field)                  {}

// notZero refuses a 0 that is said and out of range. Where a number is not optional nothing else tells it from one that is not said; all
// other numbers are judged by Check.
func notZero(d *Decoder, path string, f *Field, v float64) {
	if v != 0 || d.Failed(path) {
		return
	}
	if text := f.Range.outside(f.what(), v); text != "" {
		d.Problem(path, text)
	}
}

// rangeSchema describes a range to a JSON Schema.
func rangeSchema(o Ordered, r *Range) Ordered {
	if r == nil {
		return o
	}
	least, most := "minimum", "maximum"
	if r.Above {
		least = "exclusiveMinimum"
	}
	if r.Below {
		most = "exclusiveMaximum"
	}
	o = append(o, Member{least, r.Least})
	if r.Most < 1e300 {
		o = append(o, Member{most, r.Most})
	}
	return o
}

// wholeForm is that of a whole number; of one that is not optional 0 says nothing.
type wholeForm[T int | int64] struct {
	to   *T
	zero bool
}

func (w wholeForm[T]) Read(d *Decoder, n *Node, path string, f *Field) {
	v := d.Integer(n, path, f.what())
	if w.zero && int64(int32(v)) != v {
		d.Problem(path, fmt.Sprintf("%s is %d; that is more than can be done", f.what(), v))
		v = 1
	}
	*w.to = T(v)
	if !w.zero {
		notZero(d, path, f, float64(v))
	}
}

func (w wholeForm[T]) Write(*Field) (any, bool) { return *w.to, *w.to != 0 }
func (w wholeForm[T]) Schema(f *Field) Ordered {
	return rangeSchema(Ordered{{"type", "integer"}}, f.Range)
}
func (w wholeForm[T]) Check(c *Checker, path string, f *Field) {
	if *w.to != 0 || w.zero {
		c.inRange(path, f, float64(*w.to))
	}
}

// numberForm is that of a number; of one that is not optional 0 says nothing.
type numberForm struct {
	to   *float64
	zero bool
}

func (x numberForm) Read(d *Decoder, n *Node, path string, f *Field) {
	*x.to = d.Number(n, path, f.what())
	if !x.zero {
		notZero(d, path, f, *x.to)
	}
}

func (x numberForm) Write(*Field) (any, bool) { return *x.to, *x.to != 0 }
func (x numberForm) Schema(f *Field) Ordered {
	return rangeSchema(Ordered{{"type", "number"}}, f.Range)
}
func (x numberForm) Check(c *Checker, path string, f *Field) {
	if *x.to != 0 || x.zero {
		c.inRange(path, f, *x.to)
	}
}

type textsForm struct{ to *[]string }

func (t textsForm) Read(d *Decoder, n *Node, path string, f *Field) {
	if v, ok := n.Scalar(); ok && f.Single {
		*t.to = []string{v}
		return
	}
	*t.to = d.Texts(n, path, f.what())
}

func (t textsForm) Write(f *Field) (any, bool) {
	if f.Single {
		return oneOrList(*t.to)
	}
	return anyList(*t.to), *t.to != nil
}

func (t textsForm) Schema(f *Field) Ordered {
	item := Ordered{{"$ref", "#/$defs/text"}}
	if f.File {
		item = Ordered{{"type", "string"}, {"minLength", 1}}
	}
	return listSchema(f, item)
}

func (t textsForm) Check(c *Checker, path string, f *Field) {
	if !f.Repeat {
		c.Twice(path, *t.to)
	}
}

// listSchema describes a list, or the only value of one.
func listSchema(f *Field, item Ordered) Ordered {
	list := Ordered{{"type", "array"}}
	if f.Single {
		list = append(list, Member{"minItems", 1})
	}
	list = append(list, Member{"uniqueItems", true}, Member{"items", item})
	if !f.Single {
		return list
	}
	return Ordered{{"anyOf", []any{item, list}}}
}

type numbersForm struct{ to *[]float64 }

func (x numbersForm) Read(d *Decoder, n *Node, path string, f *Field) {
	if _, ok := n.Scalar(); ok && f.Single {
		*x.to = []float64{d.Number(n, path, f.what())}
		return
	}
	*x.to = []float64{}
	d.Items(n, path, f.what(), func(_ int, item *Node, at string) { *x.to = append(*x.to, d.Number(item, at, "a value of "+f.what())) })
}

func (x numbersForm) Write(*Field) (any, bool) { return oneOrList(*x.to) }
func (x numbersForm) Schema(f *Field) Ordered {
	return listSchema(f, rangeSchema(Ordered{{"type", "number"}}, f.Range))
}
func (x numbersForm) Check(c *Checker, path string, f *Field) { checkNumbers(c, path, f, *x.to) }

type wholesForm struct{ to *[]int64 }

func (x wholesForm) Read(d *Decoder, n *Node, path string, f *Field) {
	if _, ok := n.Scalar(); ok && f.Single {
		*x.to = []int64{d.Integer(n, path, f.what())}
		return
	}
	*x.to = []int64{}
	d.Items(n, path, f.what(), func(_ int, item *Node, at string) {
		*x.to = append(*x.to, d.Integer(item, at, "a number of "+f.what()))
	})
}

func (x wholesForm) Write(*Field) (any, bool) { return anyList(*x.to), *x.to != nil }
func (x wholesForm) Schema(f *Field) Ordered {
	return listSchema(f, rangeSchema(Ordered{{"type", "integer"}}, f.Range))
}
func (x wholesForm) Check(c *Checker, path string, f *Field) { checkNumbers(c, path, f, *x.to) }

// checkNumbers judges each number of a list.
func checkNumbers[T int64 | float64](c *Checker, path string, f *Field, list []T) {
	for i, v := range list {
		at := fmt.Sprintf("%s[%d]", path, i)
		switch {
		case c.inRange(at, f, float64(v)):
		case !f.Repeat && slices.Contains(list[:i], v):
			c.Add(at, "%s %v is listed twice", f.Name, v)
		}
	}
}

// oneOrList is the only value of a list, or the list.
func oneOrList[T any](list []T) (any, bool) {
	if len(list) == 1 {
		return list[0], true
	}
	return anyList(list), list != nil
}

// mapForm is that of a mapping of texts to texts.
type mapForm struct{ to *map[string]string }

func (m mapForm) Read(d *Decoder, n *Node, path string, f *Field) {
	*m.to = map[string]string{}
	d.Entries(n, path, f.what(), func(name string, value *Node, at string) {
		(*m.to)[name], _ = d.Name(value, at, "the value of "+name)
	})
}

func (m mapForm) Write(*Field) (any, bool) { return TextsOf(*m.to), len(*m.to) > 0 }
func (m mapForm) Schema(*Field) Ordered {
	return Ordered{{"type", "object"}, {"additionalProperties", Ordered{{"type", "string"}}}}
}
func (m mapForm) Check(*Checker, string, *Field) {}

// TextsOf is a mapping of texts, sorted by key.
func TextsOf(m map[string]string) Ordered {
	o := Ordered{}
	for _, k := range slices.Sorted(maps.Keys(m)) {
		o = append(o, Member{k, m[k]})
	}
	return o
}

// variablesForm is that of a list of names, or of variables with their levels.
type variablesForm struct{ to *[]KeyVariable }

func (v variablesForm) Read(d *Decoder, n *Node, path string, f *Field) {
	if name, ok := n.Scalar(); ok && f.Single {
		*v.to = []KeyVariable{{Name: name}}
		return
	}
	*v.to = []KeyVariable{}
	d.Items(n, path, f.what(), func(_ int, item *Node, at string) {
		x := KeyVariable{}
		if name, ok := item.Scalar(); ok {
			x.Name = name
		} else {
			t := x.Fields()
			if t.What = "a variable of " + f.what(); f.Word != "" {
				t.What = f.Word
			}
			d.Mapping(item, at, t)
			if !d.Has(at+".name") && !d.Failed(at) {
				d.Problem(at, t.What+" has no name; name the column")
			}
		}
		*v.to = append(*v.to, x)
	})
}

func (v variablesForm) Write(*Field) (any, bool) {
	return anyList(variablesWritten(*v.to)), len(*v.to) > 0
}

func variablesWritten(list []KeyVariable) []any {
	var out []any
	for i := range list {
		x := &list[i]
		if x.Missing == "" && x.MissingCodes == nil && x.Levels == nil {
			out = append(out, x.Name)
			continue
		}
		fields := x.Fields().Write()
		if x.Name == "" { // a column may have the empty name
			fields = append(Ordered{{"name", ""}}, fields...)
		}
		out = append(out, fields)
	}
	return out
}

func (v variablesForm) Schema(f *Field) Ordered {
	item := Ordered{{"anyOf", []any{Ordered{{"$ref", "#/$defs/column"}}, Ordered{{"$ref", "#/$defs/key_variable"}}}}}
	list := Ordered{{"type", "array"}, {"minItems", 1}, {"uniqueItems", true}, {"items", item}}
	if f.Single {
		return Ordered{{"anyOf", []any{Ordered{{"$ref", "#/$defs/column"}}, list}}}
	}
	return list
}

func (v variablesForm) Check(*Checker, string, *Field) {}

// anyList is nil for a nil slice.
func anyList[T any](values []T) []any {
	if values == nil {
		return nil
	}
	out := make([]any, len(values))
	for i, v := range values {
		out[i] = v
	}
	return out
}

// Nested is the form of a mapping with a field table of its own.
func Nested(t Table) Form { return nested{t} }

type nested struct{ t Table }

func (x nested) Read(d *Decoder, n *Node, path string, f *Field) {
	if x.t.What == "" {
		x.t.What = f.what()
	}
	d.Mapping(n, path, x.t)
}

func (x nested) Write(*Field) (any, bool) {
	o := x.t.Write()
	return o, len(o) > 0
}

func (x nested) Schema(*Field) Ordered                   { return x.t.Schema() }
func (x nested) Check(c *Checker, path string, _ *Field) { c.Table(path, x.t) }
func (x nested) shape() Table                            { return x.t }
func (x nested) table() (t Table, there bool)            { return x.t, true }

// Maybe is the form of a mapping that may be left unsaid: *to is nil then.
func Maybe[T any](to **T, fields func(*T) Table) Form { return maybe[T]{to, fields} }

type maybe[T any] struct {
	to     **T
	fields func(*T) Table
}

func (x maybe[T]) Read(d *Decoder, n *Node, path string, f *Field) {
	*x.to = new(T)
	nested{x.fields(*x.to)}.Read(d, n, path, f)
}

func (x maybe[T]) Write(f *Field) (any, bool) {
	if *x.to == nil {
		return nil, false
	}
	return nested{x.fields(*x.to)}.Write(f)
}

func (x maybe[T]) Schema(f *Field) Ordered { return nested{x.fields(new(T))}.Schema(f) }

func (x maybe[T]) Check(c *Checker, path string, f *Field) {
	if *x.to != nil {
		nested{x.fields(*x.to)}.Check(c, path, f)
	}
}

func (x maybe[T]) shape() Table { return x.fields(new(T)) }

func (x maybe[T]) table() (Table, bool) {
	if *x.to == nil {
		return Table{}, false
	}
	return x.fields(*x.to), true
}
