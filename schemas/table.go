package schemas

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"microrisk/schemas/advice"
)

// A Table is a field table: what a mapping of the spec may say, bound to where it goes. The decoder, the writer, the JSON Schema, the
// range checks, the defaults, the flags and the pages of reference are made from it.
type Table struct {
	What     string // what messages call the mapping, such as "a key variable"
	Doc      string // one sentence for the JSON Schema and the reference
	Fields   []Field
	Further  []Field  // flags of a command line that no field of the spec has by itself
	Required []string // fields that must be said
	Rules    string   // what else the JSON Schema asks for: the inside of a JSON object
}

// A Field is a row of a field table.
type Field struct {
	Name string
	// To is where the value goes: a *string, **string, *bool, **bool, *int, **int, *int64, *float64, **float64, *[]string, *[]int64,
	// *[]float64, *map[string]string, *[]KeyVariable, **Key, or a Form for what is none of these.
	To     any
	Doc    string   // one line for the JSON Schema and the reference
	What   string   // what messages call the value; "" for Name
	Words  []string // the values that it may have, or each value of a list, if they are words
	Word   string   // what messages call one of Words; "" for Name
	Unlike string   // what messages say of a text that is none of Words, which stands for %q; "" for what they say of all others
	Range  *Range   // of a number, or of each number of a list
	File   bool     // it names a file
	Single bool     // a list may be given as its only value
	Repeat bool     // a list may have a value twice, as far as the table is concerned
	Schema string   // what the JSON Schema says besides, or instead: the inside of a JSON object
	// Default is what is taken where nothing is said: see [Complete]. It is of the type that To points to.
	Default any
	Flag    *Flag // of the command line; nil for none
	part    bool  // it stands in the spec of a run too, and means the same
}

// A Range is where a number must be.
type Range struct {
	Least, Most float64
	Above       bool   // Least itself is outside
	Below       bool   // Most itself is outside
	Say         string // what would be right; "" for the end that is passed
}

// AtLeast is the range of numbers from least up.
func AtLeast(least float64) *Range { return &Range{Least: least, Most: math.MaxFloat64} }

// Within is the range from least to most.
func Within(least, most float64) *Range { return &Range{Least: least, Most: most} }

// Positive is the range of numbers above 0.
func Positive() *Range { return &Range{Most: math.MaxFloat64, Above: true} }

// Saying is the range with other words for what would be right.
func (r *Range) Saying(format string, args ...any) *Range {
	with := *r
	with.Say = fmt.Sprintf(format, args...)
	return &with
}

// outside says what is wrong with a value, "" if nothing is.
func (r *Range) outside(what string, v float64) string {
	if r == nil {
		return ""
	}
	low := !(v > r.Least || v == r.Least && !r.Above)
	high := !(v < r.Most || v == r.Most && !r.Below)
	if !low && !high {
		return ""
	}
	say := r.Say
	switch {
	case say != "":
	case (low || r.Most == math.MaxFloat64) && r.Above: // an infinite number is below no end
		say = "it must be above " + plainly(r.Least)
	case low || r.Most == math.MaxFloat64:
		say = "it must be at least " + plainly(r.Least)
	case r.Below:
		say = "it must be below " + plainly(r.Most)
	default:
		say = "it must be at most " + plainly(r.Most)
	}
	return fmt.Sprintf("%s is %s; %s", what, plainly(v), say)
}

// plainly writes a number as a spec would have it.
func plainly(v float64) string {
	if v == math.Trunc(v) && math.Abs(v) < 1<<62 {
		return strconv.FormatInt(int64(v), 10)
	}
	return fmt.Sprint(v)
}

// what messages call the value of a field.
func (f *Field) what() string {
	if f.What != "" {
		return f.What
	}
	return f.Name
}

// Field is a row of the table by its name; nil if there is none.
func (t *Table) Field(name string) *Field {
	for i := range t.Fields {
		if t.Fields[i].Name == name {
			return &t.Fields[i]
		}
	}
	return nil
}

// Without is the table without a field.
func (t Table) Without(name string) Table {
	t.Fields = slices.DeleteFunc(slices.Clone(t.Fields), func(f Field) bool { return f.Name == name })
	return t
}

// Only is the table with some of its fields.
func (t Table) Only(names ...string) Table {
	t.Fields = slices.DeleteFunc(slices.Clone(t.Fields), func(f Field) bool { return !slices.Contains(names, f.Name) })
	return t
}

// names of the fields.
func (t *Table) names() []string {
	list := make([]string, len(t.Fields))
	for i, f := range t.Fields {
		list[i] = f.Name
	}
	return list
}

// Settle judges the values of a table and puts the defaults in: what an operator does with its own copy of its config, once, when it is
// bound. The error is about the first value that is out of its range or no known word, after who.
func Settle(who string, t Table) error {
	c := &Checker{}
	c.Table("", t)
	if len(c.problems) > 0 {
		return advice.Errorf("%s: %s", who, c.problems[0].Message)
	}
	Complete(t)
	return nil
}

// Complete puts the defaults of a table in where nothing is said.
func Complete(t Table) {
	for _, f := range t.Fields {
		form := f.form()
		if nested, ok := form.(interface{ table() (Table, bool) }); ok {
			if inner, there := nested.table(); there {
				Complete(inner)
			}
		}
		if f.Default == nil {
			continue
		}
		if _, said := form.Write(&f); said {
			continue
		}
		switch to := f.To.(type) {
		case *string:
			*to = f.Default.(string)
		case *int:
			*to = f.Default.(int)
		case *int64:
			*to = f.Default.(int64)
		case *float64:
			*to = f.Default.(float64)
		case **float64:
			v := f.Default.(float64)
			*to = &v
		case **int:
			v := f.Default.(int)
			*to = &v
		case *[]string:
			*to = slices.Clone(f.Default.([]string))
		case *[]float64:
			*to = slices.Clone(f.Default.([]float64))
		case *[]int64:
			*to = slices.Clone(f.Default.([]int64))
		default:
			panic(fmt.Sprintf("the field %s has a default, which a %T cannot have", f.Name, f.To))
		}
	}
}
