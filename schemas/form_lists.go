package schemas

import (
	"fmt"
	"maps"
	"slices"
)

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
	switch {
	case f.Words != nil:
		item = Ordered{{"enum", anyList(f.Words)}}
	case f.File:
		item = Ordered{{"type", "string"}, {"minLength", 1}}
	}
	return listSchema(f, item)
}

func (t textsForm) Check(c *Checker, path string, f *Field) {
	if !f.Repeat {
		c.Twice(path, *t.to)
	}
	if f.Words == nil {
		return
	}
	for i, text := range *t.to {
		c.word(fmt.Sprintf("%s[%d]", path, i), f, text)
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

// NumbersOr is the form of one number or several, or of a word in their place.
func NumbersOr(word string, said *bool, to *[]float64) Form {
	return numbersOr{numbersForm{to}, word, said}
}

type numbersOr struct {
	numbersForm
	word string
	said *bool
}

func (x numbersOr) Read(d *Decoder, n *Node, path string, f *Field) {
	if v, ok := n.Scalar(); ok && v == x.word {
		*x.said = true
		return
	}
	x.numbersForm.Read(d, n, path, f)
}

func (x numbersOr) Write(f *Field) (any, bool) {
	if *x.said {
		return x.word, true
	}
	return x.numbersForm.Write(f)
}

func (x numbersOr) Schema(f *Field) Ordered {
	return Ordered{{"anyOf", []any{Ordered{{"const", x.word}}, x.numbersForm.Schema(f)}}}
}

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
