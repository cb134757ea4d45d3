// Package divergence has what specs say of data divergence: with which probability the values that an intruder has of a person differ from
// those of the file, though the person is the same (Smith 2011, chapter 2).
package divergence

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"microrisk/schemas"
)

// A Rate is the probability that the two values of a variable differ.
type Rate struct {
	Name string
	Rate *float64 // from 0, below 1
}

// Field is the field of error rates; usage is that of its flag.
func Field(to *[]Rate, usage string) schemas.Field {
	return schemas.Field{Name: "errors", To: schemas.Mappings(to, rateOf, nil),
		Doc:  "Probabilities that the intruder's value of a key variable differs from the file's though the person is the same, each with its name and its rate.",
		Flag: &schemas.Flag{Name: "error", Many: true, Usage: usage, Set: func(texts []string) error { return say(to, texts) }}}
}

func rateOf(r *Rate) schemas.Table {
	return schemas.Table{What: "an error rate", Required: []string{"name", "rate"}, Fields: []schemas.Field{
		{Name: "name", To: &r.Name, Doc: "Name of the key variable.", Schema: `"type": ["string", "number", "boolean"]`},
		{Name: "rate", To: &r.Rate, Range: (&schemas.Range{Least: 0, Most: 1, Below: true}).Saying("it must be at least 0 and below 1, such as 0.05"),
			Doc: "Probability that the two values differ."},
	}}
}

// say reads rates, VARIABLE=RATE.
func say(to *[]Rate, texts []string) error {
	*to = nil
	for _, text := range texts {
		at := strings.LastIndex(text, "=")
		if at <= 0 {
			return fmt.Errorf("is %q; it is VARIABLE=RATE, such as AGE=0.05", text)
		}
		rate, err := strconv.ParseFloat(text[at+1:], 64)
		if err != nil || !(rate >= 0 && rate < 1) {
			return fmt.Errorf("is %q; the rate must be at least 0 and below 1, such as AGE=0.05", text)
		}
		*to = append(*to, Rate{text[:at], &rate})
	}
	return nil
}

// Check refuses rates of what is no key variable, and of one twice; names are those of the key, nil where they are not known yet.
func Check(c *schemas.Checker, rates []Rate, names []string) {
	for i, r := range rates {
		at := fmt.Sprintf("errors[%d]", i)
		switch {
		case slices.ContainsFunc(rates[:i], func(o Rate) bool { return o.Name == r.Name }):
			c.Add(at, "the error rate of %s is said twice", r.Name)
		case names != nil && !slices.Contains(names, r.Name):
			near := schemas.Nearest(r.Name, names)
			switch {
			case near != "":
				near = "; did you mean " + near + "?"
			case strings.ContainsAny(r.Name, ",;"):
				near = "; each rate is said by itself"
			}
			c.Add(at, "an error rate is of a key variable, and there is no key variable %q%s", r.Name, near)
		}
	}
}

// Agree is the probability that all values of a person agree.
func Agree(rates []Rate) float64 {
	agree := 1.0
	for _, r := range rates {
		agree *= 1 - *r.Rate
	}
	return agree
}

// Text says the rates in words.
func Text(rates []Rate) string {
	var list []string
	for _, r := range rates {
		list = append(list, fmt.Sprintf("%s %.4g", r.Name, *r.Rate))
	}
	return strings.Join(list, ", ")
}
