package recode

import (
	"fmt"
	"math"

	"microrisk/schemas"
)

// check tells what the field table cannot.
func (r *Column) check(v *schemas.Checker, path string) {
	if r.Name == "" {
		v.Add(path, "a recode has no name; name the new column")
	}
	switch {
	case r.From == "" && !r.Replace:
		v.Add(path, "recode %s does not say what it is made from; add from: COLUMN, or replace: true to recode %s itself", r.Name, r.Name)
	case r.From == r.Name && !r.Replace:
		v.Add(path+".from", "recode %s has the name of its own column; add replace: true, or give it a new name", r.Name)
	}
	bands := r.Width != 0 || r.Cuts != nil
	ways := 0
	for _, is := range []bool{r.Map != nil, r.Truncate != 0, bands || r.Bottom != nil || r.Top != nil} {
		if is {
			ways++
		}
	}
	if ways != 1 {
		v.Add(path, "recode %s %s; give it one of map, truncate, width, cuts, or bottom and top", r.Name,
			map[bool]string{true: "does nothing", false: "does several things at once"}[ways == 0])
	}
	if r.Map != nil && len(r.Map) == 0 && r.Other == nil {
		v.Add(path+".map", "map of %s is empty; list old values and what they become", r.Name)
	}
	if r.Other != nil && r.Map == nil {
		v.Add(path+".other", "other of %s belongs to a map; it has none", r.Name)
	}
	if r.Missing != nil && (*r.Missing == "" || r.Map == nil && r.Truncate == 0 && !bands) {
		v.Add(path+".missing", "missing of %s is a text that missing values become, with map, truncate, width or cuts", r.Name)
	}
	r.checkBands(v, path)
}

func (r *Column) checkBands(v *schemas.Checker, path string) {
	finite := func(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }
	if r.Width != 0 && r.Cuts != nil {
		v.Add(path+".cuts", "%s has a width and cuts; bands are made by one of them", r.Name)
	}
	if r.Origin != 0 && (r.Width == 0 || !finite(r.Origin)) {
		v.Add(path+".origin", "origin of %s is the lower end of a band, a finite number; it needs a width", r.Name)
	}
	if r.Cuts != nil && len(r.Cuts) == 0 {
		v.Add(path+".cuts", "cuts of %s is empty; list the lower ends of the bands", r.Name)
	}
	for i, c := range r.Cuts {
		if !finite(c) || i > 0 && !(c > r.Cuts[i-1]) {
			v.Add(fmt.Sprintf("%s.cuts[%d]", path, i), "cut %v of %s is not above the one before; cuts are finite and ascend", c, r.Name)
		}
	}
	for _, end := range []struct {
		name  string
		value *float64
	}{{"bottom", r.Bottom}, {"top", r.Top}} {
		if end.value != nil && !finite(*end.value) {
			v.Add(path+"."+end.name, "%s of %s is %v; it must be a finite number", end.name, r.Name, *end.value)
		}
	}
	if r.Bottom != nil && r.Top != nil && !(*r.Bottom < *r.Top) {
		v.Add(path+".bottom", "bottom of %s is %v, top is %v; bottom must be below top", r.Name, *r.Bottom, *r.Top)
	}
}
