package schemas

import (
	"encoding/csv"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"microrisk/schemas/advice"
)

// A Flag is how a command line says a field. It takes a text, or for a list several: words between commas.
type Flag struct {
	Name   string
	Short  string                     // a letter that says the same; "" for none
	Usage  string                     // one sentence, with the value's name in backquotes
	Usual  []string                   // what is said where neither the flag nor a spec is
	Needed string                     // why it cannot be left out; "" if it can
	Aside  bool                       // it is of what else is told, read or saved, and not of how records are measured
	Many   bool                       // it is repeated for several values, each a text by itself
	When   func() bool                // it says something only then; nil for always
	Set    func(texts []string) error // takes the texts, where the type of the field does not tell how
}

// List tells whether the flag of a field takes several texts.
func (f *Field) List() bool {
	switch f.To.(type) {
	case *[]string, *[]float64, *[]int64, *[]KeyVariable, **Key:
		return true
	}
	return f.Flag.Many
}

// Said tells whether the field has a value.
func (f *Field) Said() bool {
	if f.To == nil {
		return false
	}
	_, said := f.form().Write(f)
	return said
}

// Switch tells whether the flag of a field takes no value.
func (f *Field) Switch() bool { _, is := f.To.(*bool); return is }

// Advice is what a message calls a field: by its name, and by its flag if it has one; before and after are the words around it.
func (t Table) Advice(before, name, after string) advice.Advice {
	a := advice.Advice{Spec: before + name + after, Flags: before + name + after}
	if f := t.Field(name); f != nil && f.Flag != nil {
		a.Flags = before + "--" + f.Flag.Name + after
	}
	return a
}

// Saying is a field with its value, as its reader says it: name: value, or --flag value.
func (t Table) Saying(name, value string) advice.Advice {
	a := advice.Advice{Spec: name + ": " + value, Flags: name + ": " + value}
	if f := t.Field(name); f != nil && f.Flag != nil {
		if a.Flags = "--" + f.Flag.Name; value != "true" {
			a.Flags += " " + value
		}
	}
	return a
}

// Flags are the fields of the table, and of those within it, that a command line can say.
func (t Table) Flags() []Field {
	var list []Field
	for _, f := range append(t.Fields[:len(t.Fields):len(t.Fields)], t.Further...) {
		if f.Flag != nil {
			list = append(list, f)
			continue
		}
		if f.To == nil {
			continue
		}
		if n, ok := f.form().(nested); ok {
			list = append(list, n.t.Flags()...)
		}
	}
	return list
}

// Say puts the texts of a flag into the field, in place of what was there. The error says what is wrong with them, after the flag's name.
func (f *Field) Say(texts []string) error {
	if f.Flag.Set != nil {
		return f.Flag.Set(texts)
	}
	switch to := f.To.(type) {
	case *string:
		*to = texts[0]
	case *bool:
		*to = true
	case *int:
		return f.sayWhole(texts[0], math.MaxInt32, func(v int64) { *to = int(v) })
	case **int:
		return f.sayWhole(texts[0], math.MaxInt32, func(v int64) { i := int(v); *to = &i })
	case *int64:
		return f.sayWhole(texts[0], math.MaxInt64, func(v int64) { *to = v })
	case *float64:
		return f.sayNumber(texts[0], func(v float64) { *to = v })
	case **float64:
		return f.sayNumber(texts[0], func(v float64) { *to = &v })
	case *[]string:
		*to = texts
	case *[]KeyVariable:
		*to = nil
		for _, name := range texts {
			*to = append(*to, KeyVariable{Name: name})
		}
	case **Key:
		if *to == nil {
			*to = &Key{}
		}
		variables := Field{To: &(*to).Variables, Flag: &Flag{}}
		return variables.Say(texts)
	case *[]float64:
		*to = nil
		return each(texts, func(text string) error { return f.sayNumber(text, func(v float64) { *to = append(*to, v) }) })
	case *[]int64:
		*to = nil
		return each(texts, func(text string) error {
			return f.sayWhole(text, math.MaxInt64, func(v int64) { *to = append(*to, v) })
		})
	default:
		panic(fmt.Sprintf("the flag %s sets a %T, and does not say how", f.Flag.Name, f.To))
	}
	return nil
}

func each(texts []string, say func(text string) error) error {
	for _, text := range texts {
		if err := say(text); err != nil {
			return err
		}
	}
	return nil
}

func (f *Field) sayWhole(text string, most int64, set func(v int64)) error {
	v, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
	if err != nil || v > most {
		return fmt.Errorf("is %q; it must be a whole number", text)
	}
	set(v)
	return f.said(float64(v))
}

func (f *Field) sayNumber(text string, set func(v float64)) error {
	v, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err != nil {
		return fmt.Errorf("is %q; it must be a number%s", text, Unpercent(text))
	}
	set(v)
	return f.said(v)
}

// Unpercent says how a text in percent is written as a number, ", such as 0.0002" of 0.02%; "" for what is no percentage.
func Unpercent(text string) string {
	part, percent := strings.CutSuffix(strings.TrimSpace(text), "%")
	v, err := strconv.ParseFloat(strings.TrimSpace(part), 64)
	if !percent || err != nil {
		return ""
	}
	return ", such as " + strconv.FormatFloat(v/100, 'g', -1, 64)
}

func (f *Field) said(v float64) error {
	if text := f.Range.outside("", v); text != "" {
		return errors.New(strings.TrimSpace(text))
	}
	return nil
}

// Words splits a list at its commas; what stands in double quotes is one word. No text has no words.
func Words(list string) ([]string, error) {
	fields, err := csv.NewReader(strings.NewReader(list)).Read()
	if err != nil || len(fields) == 0 {
		return nil, fmt.Errorf("%q is no list of names separated by commas", list)
	}
	return fields, nil
}

// Word is a text as one of Words: in double quotes where it must be.
func Word(text string) string {
	if strings.ContainsAny(text, ",\"\r\n") {
		return `"` + strings.ReplaceAll(text, `"`, `""`) + `"`
	}
	return text
}
