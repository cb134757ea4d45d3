package schemas

import (
	"fmt"
	"math"
	"regexp"
)

// prefixes of columns are names that every reader and query language takes without quotes.
var prefixes = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

func (v *validator) operators(s *Spec) {
	if len(s.Operators) == 0 {
		v.add("operators", "there are no operators; say what to do, for example: operators: [suda]")
	}
	written := map[string]bool{} // prefixes
	for i, o := range s.Operators {
		path := fmt.Sprintf("operators[%d]", i)
		switch {
		case o.Recode != nil:
			v.recodes(path+".recode", o.Recode)
		case o.Select != nil:
			v.selection(path+".select", o.Select)
		case o.Suda != nil:
			v.suda(path+".suda", o.Suda, s)
			v.prefixOnce(path+".suda", o.Suda.ColumnPrefix(), written)
		case o.Frequency != nil:
			f := o.Frequency
			v.measure(path+".frequency", "frequency", f.Prefix, f.Key, f.Missing, s)
			v.prefixOnce(path+".frequency", f.ColumnPrefix(), written)
		case o.MC3 != nil:
			v.mc3(path+".mc3", o.MC3, s)
			v.prefixOnce(path+".mc3", o.MC3.ColumnPrefix(), written)
		case o.SAP != nil:
			v.sap(path+".sap", o.SAP)
			v.prefixOnce(path+".sap", o.SAP.ColumnPrefix(), written)
		case o.Tabulate != nil:
			v.tabulate(path+".tabulate", o.Tabulate)
			v.prefixOnce(path+".tabulate", o.Tabulate.ColumnPrefix(), written)
		case o.KAnonymity != nil:
			v.kAnonymity(path+".kanonymity", o.KAnonymity, s)
			v.prefixOnce(path+".kanonymity", o.KAnonymity.ColumnPrefix(), written)
		case o.LDiversity != nil:
			v.lDiversity(path+".ldiversity", o.LDiversity, s)
			v.prefixOnce(path+".ldiversity", o.LDiversity.ColumnPrefix(), written)
		case o.Individual != nil:
			v.individual(path+".individual", o.Individual, s)
			v.prefixOnce(path+".individual", o.Individual.ColumnPrefix(), written)
		default:
			v.add(path, "an operator is empty; name one of recode, select, suda, frequency, mc3, sap, tabulate, kanonymity, ldiversity, individual")
		}
	}
}

// prefixOnce finds a prefix that an operator before has.
func (v *validator) prefixOnce(path, prefix string, written map[string]bool) {
	if written[prefix] {
		v.add(path, "two operators write columns with the prefix %s; give one of them another prefix:", prefix)
	}
	written[prefix] = true
}

func (v *validator) recodes(path string, list []Recode) {
	if len(list) == 0 {
		v.add(path, "recode is empty; it maps new columns to what they are made from, as in AGE5: {from: AGE, width: 5}")
	}
	for i := range list {
		v.recode(path+"."+list[i].Name, &list[i])
	}
}

func (v *validator) recode(path string, r *Recode) {
	if r.Name == "" {
		v.add(path, "a recode has no name; name the new column")
	}
	switch {
	case r.From == "" && !r.Replace:
		v.add(path, "recode %s does not say what it is made from; add from: COLUMN, or replace: true to recode %s itself", r.Name, r.Name)
	case r.From == r.Name && !r.Replace:
		v.add(path+".from", "recode %s has the name of its own column; add replace: true, or give it a new name", r.Name)
	}
	bands := r.Width != 0 || r.Cuts != nil
	ways := 0
	for _, is := range []bool{r.Map != nil, r.Truncate != 0, bands || r.Bottom != nil || r.Top != nil} {
		if is {
			ways++
		}
	}
	if ways != 1 {
		v.add(path, "recode %s %s; give it one of map, truncate, width, cuts, or bottom and top", r.Name,
			map[bool]string{true: "does nothing", false: "does several things at once"}[ways == 0])
	}
	if r.Map != nil && len(r.Map) == 0 && r.Other == nil {
		v.add(path+".map", "map of %s is empty; list old values and what they become", r.Name)
	}
	if r.Other != nil && r.Map == nil {
		v.add(path+".other", "other of %s belongs to a map; it has none", r.Name)
	}
	if r.Truncate < 0 {
		v.add(path+".truncate", "truncate is %d; it must keep at least 1 character", r.Truncate)
	}
	v.bands(path, r)
}

func (v *validator) bands(path string, r *Recode) {
	finite := func(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }
	if r.Width != 0 && r.Cuts != nil {
		v.add(path+".cuts", "%s has a width and cuts; bands are made by one of them", r.Name)
	}
	if r.Width < 0 || !finite(r.Width) {
		v.add(path+".width", "width is %v; it must be above 0", r.Width)
	}
	if r.Origin != 0 && (r.Width == 0 || !finite(r.Origin)) {
		v.add(path+".origin", "origin of %s is the lower end of a band, a finite number; it needs a width", r.Name)
	}
	if r.Cuts != nil && len(r.Cuts) == 0 {
		v.add(path+".cuts", "cuts of %s is empty; list the lower ends of the bands", r.Name)
	}
	for i, c := range r.Cuts {
		if !finite(c) || i > 0 && !(c > r.Cuts[i-1]) {
			v.add(fmt.Sprintf("%s.cuts[%d]", path, i), "cut %v of %s is not above the one before; cuts are finite and ascend", c, r.Name)
		}
	}
	for _, end := range []struct {
		name  string
		value *float64
	}{{"bottom", r.Bottom}, {"top", r.Top}} {
		if end.value != nil && !finite(*end.value) {
			v.add(path+"."+end.name, "%s of %s is %v; it must be a finite number", end.name, r.Name, *end.value)
		}
	}
	if r.Bottom != nil && r.Top != nil && !(*r.Bottom < *r.Top) {
		v.add(path+".bottom", "bottom of %s is %v, top is %v; bottom must be below top", r.Name, *r.Bottom, *r.Top)
	}
}

func (v *validator) selection(path string, s *Select) {
	if len(s.Rows) == 0 && s.Columns == nil {
		v.add(path, "select chooses nothing; give it rows: or columns:")
	}
	if s.KeepRows && len(s.Rows) == 0 {
		v.add(path+".keep_rows", "keep_rows keeps the rows that rows: does not choose; there is no rows:")
	}
	v.twice(path+".columns", s.Columns)
	for _, c := range s.Rows {
		at := path + ".rows." + c.Column
		v.twice(at, c.Values)
		switch {
		case c.Values != nil && len(c.Values) == 0:
			v.add(at, "the list of %s is empty and no row would be chosen; list the values to keep", c.Column)
		case c.Values == nil && c.Min == nil && c.Max == nil:
			v.add(at, "the range of %s has no ends; give it min:, max: or both", c.Column)
		case c.Values != nil && (c.Min != nil || c.Max != nil):
			v.add(at, "%s has both values and a range; give it one of them", c.Column)
		}
	}
}

// measure checks what all operators with a table have, and gives the key that this one uses.
func (v *validator) measure(path, name, prefix string, own *Key, missing string, spec *Spec) *Key {
	if prefix != "" && !prefixes.MatchString(prefix) {
		v.add(path+".prefix", "prefix %q is no name; it must be letters, digits and underscores, and not begin with a digit", prefix)
	}
	key := spec.Key
	if own != nil {
		key = own
		v.key(path+".key", own)
	}
	if key == nil {
		v.add(path, "%s has no key; add a key: with its variables to the spec", name)
	}
	v.oneOf(path+".missing", "missing policy", missing, MissingPolicies)
	return key
}

func (v *validator) suda(path string, s *Suda, spec *Spec) {
	key := v.measure(path, "suda", s.Prefix, s.Key, s.Missing, spec)
	v.oneOf(path+".score", "score", s.Score, Scores)
	if s.MaxSize < 0 {
		v.add(path+".max_size", "max_size is %d; it must be 0 (full depth) or more", s.MaxSize)
	}
	switch {
	case s.Threshold < 0:
		v.add(path+".threshold", "threshold is %d; it must be at least 1", s.Threshold)
	case s.Threshold > MaxThreshold:
		v.add(path+".threshold", "threshold is %d; it must be at most %d", s.Threshold, MaxThreshold)
	}
	if key != nil && len(key.Variables) > MaxDISISVariables && len(key.Variables) <= MaxKeyVariables && spec.Sampling != nil && s.Threshold <= 1 {
		v.add(path, "DIS-IS is defined for up to %d key variables and the key has %d; take fewer, or leave sampling out", MaxDISISVariables, len(key.Variables))
	}
}
