// Package hierarchy says how the values of key variables can be made coarser, level by level, and writes a level as what the operator recode does.
//
// Hierarchies are tables as ARX has them (value;level;level, a line a value), lists of codes with their parents and the other files that hierarchies
// of tables are read from, bands of widths that divide each other, cut points of which those of a level are among those of the level below, top codes,
// and codes that are cut off after fewer and fewer characters.
package hierarchy

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"microrisk/schemas"
)

// A Config says how the values of one variable can be made coarser; the last level is always that of one group, under which the variable is left out.
type Config struct {
	Variable string
	File     string // of a table; "" for none
	Widths   []float64
	Origin   float64
	Top      []float64 // values from here up are one group, at each level
	Truncate []int64
	// What a search may do.
	Least  int64    // the lowest level
	Most   *int     // the highest; nil: all
	Weight *float64 // of the variable's loss; nil means 1
	Fixed  bool     // the variable stays as it is
	Cells  *int     // of it that may be suppressed at most; nil: any number
}

// Fields is the field table of a variable's hierarchy.
func (c *Config) Fields() schemas.Table {
	return schemas.Table{What: "a hierarchy", Doc: "How the values of a key variable can be made coarser, and what a search may do to it.",
		Rules: `"not": {"anyOf": [{"required": ["file", "widths"]}, {"required": ["file", "truncate"]}, {"required": ["widths", "truncate"]}, {"required": ["file", "top"]}]}, "dependentRequired": {"origin": ["widths"]}`,
		Fields: []schemas.Field{
			{
				Name: "file",
				To:   &c.File,
				File: true,
				Doc:  "A table of value;level;level (.csv without header, a line a value), a list with the columns code and parent, or .hrc.",
			},
			{Name: "widths", To: &c.Widths, Single: true, Range: schemas.Positive(), Doc: "Widths of bands, the narrowest first; each divides the next."},
			{Name: "origin", To: &c.Origin, Doc: "A lower end of a band; 0 without it."},
			{
				Name:   "top",
				To:     &c.Top,
				Single: true,
				Doc:    "Values from here up are one group, at each level; the last one stands for the levels after it. Without widths a level each.",
			},
			{Name: "truncate", To: &c.Truncate, Single: true, Range: schemas.AtLeast(1), Doc: "Characters that are kept, the most first."},
			{Name: "least", To: &c.Least, Range: schemas.AtLeast(0), Doc: "The lowest level that may be taken; 0 are the values as they are."},
			{Name: "most", To: &c.Most, Range: schemas.AtLeast(0), Doc: "The highest level that may be taken; without it the variable may be left out."},
			{Name: "weight", To: &c.Weight, Range: schemas.AtLeast(0), Doc: "How much its loss counts; 1 without it."},
			{Name: "cells", To: &c.Cells, Range: schemas.AtLeast(0), Doc: "How many of its cells may be suppressed at most."},
			{Name: "fixed", To: &c.Fixed, Doc: "The variable stays as it is: it is neither recoded nor suppressed, but in records that are hidden altogether."},
		}}
}

// Check tells what the field table cannot.
func (c *Config) Check(k *schemas.Checker, path string) {
	kinds := 0
	for _, is := range []bool{c.File != "", len(c.Widths) > 0, len(c.Truncate) > 0} {
		if is {
			kinds++
		}
	}
	switch {
	case kinds > 1:
		k.Add(path, "a hierarchy is a file, widths, or truncate; say one of them")
	case len(c.Top) > 0 && (c.File != "" || len(c.Truncate) > 0):
		k.Add(path+".top", "top goes with widths, or alone")
	case c.Origin != 0 && len(c.Widths) == 0:
		k.Add(path+".origin", "origin goes with widths")
	case c.Fixed && (kinds > 0 || len(c.Top) > 0 || c.Least > 0 || c.Most != nil):
		k.Add(path+".fixed", "a variable that stays as it is has no levels; leave one of them out")
	}
	if c.Most != nil && int64(*c.Most) < c.Least {
		k.Add(path+".most", "the highest level, %d, is below the lowest, %d", *c.Most, c.Least)
	}
	for i := 1; i < len(c.Widths); i++ {
		if r := c.Widths[i] / c.Widths[i-1]; !(r > 1) || math.Abs(r-math.Round(r)) > 1e-9*r {
			k.Add(path+".widths", "%s is no multiple of %s: bands of a level would lie in two of the next", figure(c.Widths[i]), figure(c.Widths[i-1]))
		}
	}
	for i := 1; i < len(c.Top); i++ {
		if c.Top[i] >= c.Top[i-1] {
			k.Add(path+".top", "%s comes after %s: each level's top is below the one before", figure(c.Top[i]), figure(c.Top[i-1]))
		}
	}
	for i := 1; i < len(c.Truncate); i++ {
		if c.Truncate[i] >= c.Truncate[i-1] {
			k.Add(path+".truncate", "%d comes after %d: each level keeps fewer characters", c.Truncate[i], c.Truncate[i-1])
		}
	}
}

func figure(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }

// ParseFlag reads VAR=FILE, VAR=5,10,20 (widths), VAR=top:90,80, VAR=truncate:3,2, VAR=fixed, VAR=weight:2, VAR=levels:0..2 (that may be
// taken) and VAR=cells:100 (that may be suppressed).
func ParseFlag(list *List, text string) error {
	name, value, ok := strings.Cut(text, "=")
	if name = strings.TrimSpace(name); !ok || name == "" || value == "" {
		return fmt.Errorf("is %q; write VARIABLE=FILE, VARIABLE=5,10,20 (widths of bands), VARIABLE=top:90,80, VARIABLE=truncate:3,2 or VARIABLE=fixed", text)
	}
	c := list.Of(name)
	if c == nil {
		*list = append(*list, Config{Variable: name})
		c = &(*list)[len(*list)-1]
	}
	numbers := func(text string) ([]float64, error) {
		var out []float64
		for _, part := range strings.Split(text, ",") {
			x, err := strconv.ParseFloat(strings.TrimSpace(part), 64)
			if err != nil || math.IsInf(x, 0) || math.IsNaN(x) {
				return nil, fmt.Errorf("%q is no number", part)
			}
			out = append(out, x)
		}
		return out, nil
	}
	kind, rest, _ := strings.Cut(value, ":")
	var err error
	switch {
	case value == "fixed":
		c.Fixed = true
	case kind == "top":
		c.Top, err = numbers(rest)
	case kind == "weight":
		var w []float64
		if w, err = numbers(rest); err == nil {
			c.Weight = &w[0]
		}
	case kind == "cells":
		n, err := strconv.Atoi(rest)
		if err != nil || n < 0 {
			return fmt.Errorf("%q is no number of cells; write %s=cells:100", rest, name)
		}
		c.Cells = &n
	case kind == "levels":
		low, high, ok := strings.Cut(rest, "..")
		a, errA := strconv.ParseInt(low, 10, 64)
		b, errB := strconv.ParseInt(high, 10, 64)
		if !ok || errA != nil || errB != nil || a < 0 || b < a {
			return fmt.Errorf("%q is no range of levels; write %s=levels:0..2", rest, name)
		}
		most := int(b)
		c.Least, c.Most = a, &most
	case kind == "truncate":
		var list []float64
		if list, err = numbers(rest); err == nil {
			for _, x := range list {
				c.Truncate = append(c.Truncate, int64(x))
			}
		}
	default:
		if c.Widths, err = numbers(value); err != nil {
			if c.Widths = nil; !strings.Contains(filepath.Base(value), ".") {
				return fmt.Errorf("%q of %s is neither a file nor a list of widths", value, name)
			}
			c.File, err = value, nil
		}
	}
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// A List has the hierarchies of several variables.
type List []Config

// Of is that of a variable, nil for none.
func (l List) Of(variable string) *Config {
	if i := slices.IndexFunc(l, func(c Config) bool { return c.Variable == variable }); i >= 0 {
		return &l[i]
	}
	return nil
}

// Files are those that hierarchies are read from.
func (l List) Files() []string {
	var files []string
	for i := range l {
		if l[i].File != "" {
			files = append(files, l[i].File)
		}
	}
	return files
}

// Form is that of a mapping of variables to their hierarchies.
func Form(list *List) schemas.Form { return form{list} }

type form struct{ list *List }

// Read is a Form's.
func (f form) Read(d *schemas.Decoder, n *schemas.Node, path string, _ *schemas.Field) {
	*f.list = List{}
	d.Entries(n, path, "hierarchies", func(name string, value *schemas.Node, at string) {
		c := Config{Variable: name}
		d.Mapping(value, at, c.Fields())
		*f.list = append(*f.list, c)
	})
}

// Write is a Form's.
func (f form) Write(*schemas.Field) (any, bool) {
	out := schemas.Ordered{}
	for i := range *f.list {
		out = append(out, schemas.Member{Key: (*f.list)[i].Variable, Value: (*f.list)[i].Fields().Write()})
	}
	return out, len(out) > 0
}

// Schema is a Form's.
func (f form) Schema(*schemas.Field) schemas.Ordered {
	return append(schemas.RawSchema(`"type": "object", "minProperties": 1`), schemas.Member{Key: "additionalProperties", Value: new(Config).Fields().Schema()})
}

// Check is a Form's.
func (f form) Check(c *schemas.Checker, path string, _ *schemas.Field) {
	for i := range *f.list {
		at := path + "." + (*f.list)[i].Variable
		c.Table(at, (*f.list)[i].Fields())
		(*f.list)[i].Check(c, at)
	}
}
