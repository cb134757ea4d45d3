package schemas

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

func (v *validator) sap(path string, s *SAP) {
	if s.Prefix != "" && !prefixes.MatchString(s.Prefix) {
		v.add(path+".prefix", "prefix %q is no name; it must be letters, digits and underscores, and not begin with a digit", s.Prefix)
	}
	v.tableVariables(path, "sap", s.By, s.Cells)
	v.twoPolicies(path+".missing", "sap", s.Missing)
	v.release(path+".release", s)
	names := variableNames(s.Cells)
	if s.Tables != "" {
		v.path(path+".tables", s.Tables)
		for i, k := range s.By {
			if slices.Contains(s.TableColumns(), k.Name) {
				v.add(fmt.Sprintf("%s.by[%d]", path, i), "%s is the name of a column of the file of tables; rename the variable, or leave tables out", k.Name)
			}
		}
	}
	if s.Release.Published != "" && s.Release.Secret != "" {
		v.add(path+".release.secret", "secret makes counts to publish anew, published has those that were; give one of them")
	}
	if len(s.Known) == 0 {
		v.add(path, "sap does not say how many people are known; add known: [1, 2, 5, 10]")
	}
	for i, n := range s.Known {
		at := fmt.Sprintf("%s.known[%d]", path, i)
		if n < 0 {
			v.add(at, "known is %d; it must be 0 or more people", n)
		}
		if slices.Contains(s.Known[:i], n) {
			v.add(at, "known %d is listed twice", n)
		}
	}
	for i, m := range s.Impossible {
		at := fmt.Sprintf("%s.impossible[%d]", path, i)
		if len(m) == 0 {
			v.add(at, "an impossible combination is empty; give categories of some of cells")
		}
		for name := range m {
			if !slices.Contains(names, name) {
				v.add(at+"."+name, "%s is not among cells", name)
			}
		}
	}
	if t := s.Threshold; t != nil && !(*t > 0 && *t <= 1) {
		v.add(path+".threshold", "threshold is %v; it must be above 0 and at most 1", *t)
	}
}

// release checks how counts are published.
func (v *validator) release(path string, s *SAP) {
	r, names := &s.Release, variableNames(s.Cells)
	table := r.Perturbation
	if r.Random() {
		table.Secret = "" // it may be that of a margin
	}
	v.perturbation(path, &table)
	v.oneOf(path+".total", "total", r.Total, Totals)
	v.oneOf(path+".base_table", "base_table", r.BaseTable, Totals)
	if r.BaseTable == "none" && len(r.Margins) == 0 && (r.Total == "" || r.Total == "none") {
		v.add(path+".base_table", "no table is published: neither the one over all of cells, nor a margin, nor the total")
	}
	for i, m := range r.Margins {
		at := fmt.Sprintf("%s.margins[%d]", path, i)
		v.twice(at, m.Variables)
		for _, name := range m.Variables {
			if !slices.Contains(names, name) {
				v.add(at, "%s is not among cells; a margin has some of the cells' variables", name)
			}
		}
		for _, before := range r.Margins[:i] {
			if slices.Equal(slices.Sorted(slices.Values(before.Variables)), slices.Sorted(slices.Values(m.Variables))) {
				v.add(at, "the margin of %s is listed twice", strings.Join(m.Variables, ", "))
			}
		}
		switch {
		case len(m.Variables) == 0:
			v.add(at, "a margin is empty; the grand total is released by total: same or total: exact")
		case len(m.Variables) >= len(names):
			v.add(at, "a margin has all of cells; that is the table itself")
		}
		if m.Perturb != nil {
			v.perturbation(at, m.Perturb)
		}
	}
}

// oneOfWords lists words: a, b or c.
func oneOfWords(list []string) string {
	if len(list) == 1 {
		return list[0]
	}
	return strings.Join(list[:len(list)-1], ", ") + " or " + list[len(list)-1]
}

func variableNames(list []KeyVariable) []string {
	var names []string
	for _, k := range list {
		names = append(names, k.Name)
	}
	return names
}

// tableVariables checks the variables of tables, and those that tell the tables apart.
func (v *validator) tableVariables(path, name string, by, cells []KeyVariable) {
	if len(cells) == 0 {
		v.add(path, "%s has no cells; list the variables of the tables: cells: [SEX, HEALTH]", name)
	}
	if n := len(by) + len(cells); n > MaxKeyVariables {
		v.add(path, "%s has %d variables in by and cells; at most %d can be counted", name, n, MaxKeyVariables)
	}
	apart := variableNames(by)
	v.twice(path+".by", apart)
	v.twice(path+".cells", variableNames(cells))
	for i, k := range by {
		if k.Missing != "" {
			v.add(fmt.Sprintf("%s.by[%d].missing", path, i), "a record without a value of %s is in no table; leave missing out", k.Name)
		}
	}
	for i, k := range cells {
		at := fmt.Sprintf("%s.cells[%d]", path, i)
		switch {
		case k.Name == "":
			v.add(at, "a variable of cells has no name")
		case slices.Contains(apart, k.Name):
			v.add(at, "%s is in by and among cells; it is one of them", k.Name)
		}
		if k.Missing != "" {
			v.add(at+".missing", "the missing-value policy is one for all of cells; write missing: for %s itself", name)
		}
		if k.Levels != nil && len(k.Levels) == 0 {
			v.add(at+".levels", "levels of %s is empty; list its categories, or leave it out for those observed", k.Name)
		}
	}
}

// twoPolicies checks a policy of an operator whose tables have a cell for every record.
func (v *validator) twoPolicies(path, name, missing string) {
	if missing != "" && missing != MissingCategory && missing != MissingDrop {
		v.add(path, "%s takes missing values as a category or drops them, not %q; write missing: category or missing: drop", name, missing)
	}
}

func (v *validator) perturbation(path string, p *Perturbation) {
	v.oneOf(path+".scheme", "scheme", p.Scheme, Schemes)
	v.oneOf(path+".tie", "tie", p.Tie, Ties)
	rounds := p.Scheme == "conventional" || p.Scheme == "random" || p.Scheme == "small"
	belongs := func(set bool, field string, to ...string) {
		if set && !slices.Contains(to, p.Scheme) && (p.Scheme == "" || slices.Contains(Schemes, p.Scheme)) {
			v.add(path+"."+field, "%s belongs to scheme %s", field, oneOfWords(to))
		}
	}
	belongs(p.Base != 0, "base", "conventional", "random", "small")
	belongs(p.Tie != "", "tie", "conventional", "small")
	belongs(p.Probability != nil, "probability", "random", "barnard")
	belongs(p.Last != 0, "last", "small")
	belongs(p.Value != 0, "value", "small")
	belongs(p.Matrix != nil, "matrix", "matrix")
	belongs(p.Secret != "", "secret", "random", "barnard", "matrix")
	least := int64(2)
	if p.Scheme == "small" {
		least = 1
	}
	switch {
	case rounds && p.Base < least:
		v.add(path+".base", "base is %d; %s rounding needs a base from %d, such as 3 or 5", p.Base, p.Scheme, least)
	case rounds && p.Scheme != "random" && p.Base%2 == 0 && p.Tie == "":
		v.add(path+".tie", "the base %d is even; say what a count in the middle of two multiples becomes: tie: up, down or even", p.Base)
	case rounds && p.Base%2 == 1 && p.Tie != "":
		v.add(path+".tie", "the base %d is odd, there is no tie; leave tie out", p.Base)
	}
	if p.Scheme == "small" && (p.Last < 1 || p.Value < 0) {
		v.add(path+".last", "small counts are those from 1 to last, which become value; last is %d, value is %d", p.Last, p.Value)
	}
	if p.Scheme == "barnard" && p.Probability == nil {
		v.add(path, "barnard has no probability; say with which one a count stays: probability: 0.6")
	}
	if q := p.Probability; q != nil && (!(*q >= 0 && *q <= 1) || p.Scheme == "random" && *q == 0) {
		v.add(path+".probability", "probability is %v; it must be from 0 to 1", *q)
	}
	if p.Scheme == "matrix" && len(p.Matrix) == 0 {
		v.add(path, "matrix has no rows; list one a true count, from 0, such as matrix: [{0: 1}, {0: 0.5, 2: 0.5}]")
	}
	for i, row := range p.Matrix {
		sum := 0.0
		for _, o := range row {
			if o.Count < 0 || o.Count > MaxCount {
				v.add(fmt.Sprintf("%s.matrix[%d]", path, i), "%d is published as %d; counts are from 0 to %d", i, o.Count, int64(MaxCount))
			}
			if !(o.Probability >= 0 && o.Probability <= 1) {
				v.add(fmt.Sprintf("%s.matrix[%d]", path, i), "the probability that %d is published as %d is %v; it must be from 0 to 1", i, o.Count, o.Probability)
			}
			sum += o.Probability
		}
		if math.Abs(sum-1) > 1e-9 {
			v.add(fmt.Sprintf("%s.matrix[%d]", path, i), "the probabilities of the true count %d sum to %v; they must sum to 1", i, sum)
		}
	}
}
