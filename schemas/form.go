package schemas

import (
	"cmp"
	"fmt"
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
	c.word(path, f, *t.to)
}

// word notes a text that is none of the words of its field, if that has words.
func (c *Checker) word(path string, f *Field, text string) {
	switch {
	case f.Words == nil:
	case f.Unlike == "":
		c.OneOf(path, cmp.Or(f.Word, f.Name), text, f.Words)
	case text != "" && !slices.Contains(f.Words, text):
		c.Add(path, f.Unlike, text)
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
