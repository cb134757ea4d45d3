package recode

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"microrisk/schemas"
)

// Name of the operator.
const Name = "recode"

// A Config is what a spec says of the operator: the columns of one recode entry, in order.
type Config []Column

// A Column says how a column is made from another: its values are mapped, cut off after a number of characters, or banded.
type Column struct {
	Name     string            // of the new column; may be the old name with Replace
	From     string            // the old column; "" means Name (with Replace)
	Map      map[string]string // old value to new one, as text; a new value of "" makes it missing
	Other    *string           // what values outside Map become; nil keeps them
	Missing  *string           // what missing values become; nil: they stay missing
	Truncate int               // keep this many characters; 0 for all
	Width    float64           // bands of this width; 0 for none
	Origin   float64           // a lower end of a band, with Width
	Cuts     []float64         // lower ends of bands, ascending; values below the first form a band too
	Bottom   *float64          // lower values become this one (or the band "<Bottom")
	Top      *float64          // values from here up form one category
	Replace  bool              // the new column takes the place of the old one
	Keep     *bool             // false: the new column only feeds the operators that follow; with Replace they see it under the old name
}

// Fields is the field table of a column.
func (c *Config) Fields() schemas.Table { return new(Column).Fields() }

// Fields is the field table of a column. Its name is the key of its mapping.
func (r *Column) Fields() schemas.Table {
	return schemas.Table{What: "a recode", Doc: "How a column is made from another, by its distinct values: by a map, by cutting texts off, or by bands.",
		Rules: `"dependentRequired": {"other": ["map"], "origin": ["width"]}, "allOf": [{"anyOf": [{"required": ["from"]}, {"required": ["replace"]}]}, {"oneOf": [{"required": ["map"]}, {"required": ["truncate"]}, {"anyOf": [{"required": ["width"]}, {"required": ["cuts"]}, {"required": ["bottom"]}, {"required": ["top"]}], "not": {"required": ["width", "cuts"]}}]}]`,
		Fields: []schemas.Field{
			{Name: "from", To: &r.From, Doc: "The old column; needed unless replace is true.", Schema: `"type": ["string", "number", "boolean"]`},
			{Name: "map", To: categoriesForm{&r.Map}, Doc: "Old value to new value; null makes it missing."},
			{Name: "other", To: otherForm{&r.Other}, Doc: "What values outside the map become; null makes them missing. Without it they stay."},
			{Name: "missing", To: &r.Missing, Doc: "What missing values become; without it they stay missing. Not with bottom or top alone."},
			{Name: "truncate", To: &r.Truncate, Range: schemas.AtLeast(1).Saying("it must keep at least 1 character"), Doc: "Keep this many characters."},
			{Name: "width", To: &r.Width, Range: schemas.Positive(), Doc: "Width of bands."},
			{Name: "origin", To: &r.Origin, Doc: "A lower end of a band, with width; 0 without it."},
			{Name: "cuts", To: cutsForm{&r.Cuts}, Doc: "Lower ends of bands, ascending; values below the first form a band too."},
			{Name: "bottom", To: &r.Bottom, Doc: "Lower values become this one."},
			{Name: "top", To: &r.Top, Doc: "Values from here up form one category."},
			{Name: "replace", To: &r.Replace, Doc: "The new column takes the place of the old one."},
			{
				Name: "keep",
				To:   &r.Keep,
				Doc: "false: the new column feeds the operators that follow and is not written; together with replace they see it under the old name, and the file " +
					"keeps the old column.",
			},
		}}
}

// Source is the name of the column that it is made from.
func (r *Column) Source() string { return cmp.Or(r.From, r.Name) }

// Check tells what the field tables cannot.
func (c *Config) Check(k *schemas.Checker, path string, _ *schemas.Spec) {
	if len(*c) == 0 {
		k.Add(path, "recode is empty; it maps new columns to what they are made from, as in AGE5: {from: AGE, width: 5}")
	}
	for i := range *c {
		(*c)[i].check(k, path+"."+(*c)[i].Name)
	}
}

// Names is a Naming operator's.
func (c *Config) Names(path string, s schemas.Scope) {
	for i := range *c {
		r := &(*c)[i]
		at := path + "." + r.Name
		if r.From != "" {
			at += ".from"
		}
		s.Want(at, "recode "+r.Name, r.Source())
		if r.Replace && r.Source() != r.Name {
			s.Take(r.Source())
		}
		s.Make(r.Name)
	}
}

// Remakes is a Remaking operator's.
func (c *Config) Remakes(column string) bool {
	return slices.ContainsFunc(*c, func(r Column) bool { return r.Name == column && r.Replace })
}

// Warnings is a Cautious config's.
func (c *Config) Warnings(measured map[string][]string) []string {
	var list []string
	for _, r := range *c {
		shown := r.Keep == nil || *r.Keep
		if who := measured[r.Source()]; shown && len(who) > 0 {
			list = append(
				list,
				fmt.Sprintf(
					"recode %s comes after %s, which saw %s as it was: the output has the recoded column beside a risk of the unrecoded one; put recode before",
					r.Name,
					strings.Join(who, " and "),
					r.Source(),
				),
			)
		}
		if r.Map != nil && r.Other == nil && slices.ContainsFunc(slices.Collect(maps.Values(r.Map)), func(to string) bool { return to != "" }) {
			list = append(
				list,
				fmt.Sprintf(
					"recode %s has a map without other: categories that it does not name stay as they are; say other: NAME, or other: \"\" to make them missing",
					r.Name,
				),
			)
		}
	}
	return list
}

// Form is a Shaped config's.
func (c *Config) Form() schemas.Form { return form{c} }
