package sap

import (
	"fmt"
	"slices"
	"strings"

	"microrisk/schemas"
)

// Check tells what the field table cannot.
func (s *Config) Check(c *schemas.Checker, path string, _ *schemas.Spec) {
	c.TableVariables(path, Name, s.By, s.Cells)
	c.TwoPolicies(path+".missing", Name, s.Missing)
	s.checkRelease(c, path+".release")
	names := schemas.VariableNames(s.Cells)
	if s.Tables != "" {
		for i, k := range s.By {
			if slices.Contains(s.TableColumns(), k.Name) {
				c.Add(fmt.Sprintf("%s.by[%d]", path, i), "%s is the name of a column of the file of tables; rename the variable, or leave tables out", k.Name)
			}
		}
	}
	if s.Release.Published != "" && s.Release.Secret != "" {
		c.Add(path+".release.secret", "secret makes counts to publish anew, published has those that were; give one of them")
	}
	if len(s.Known) == 0 {
		c.Add(path, "sap does not say how many people are known; add known: [1, 2, 5, 10]")
	}
	for i, m := range s.Impossible {
		at := fmt.Sprintf("%s.impossible[%d]", path, i)
		if len(m) == 0 {
			c.Add(at, "an impossible combination is empty; give categories of some of cells")
		}
		for name := range m {
			if !slices.Contains(names, name) {
				c.Add(at+"."+name, "%s is not among cells", name)
			}
		}
	}
}

// checkRelease checks how counts are published.
func (s *Config) checkRelease(c *schemas.Checker, path string) {
	r, names := &s.Release, schemas.VariableNames(s.Cells)
	table := r.Perturbation
	if r.Random() {
		table.Secret = "" // it may be that of a margin
	}
	c.Perturbation(path, &table)
	if r.BaseTable == "none" && len(r.Margins) == 0 && (r.Total == "" || r.Total == "none") {
		c.Add(path+".base_table", "no table is published: neither the one over all of cells, nor a margin, nor the total")
	}
	for i, m := range r.Margins {
		at := fmt.Sprintf("%s.margins[%d]", path, i)
		for _, name := range m.Variables {
			if !slices.Contains(names, name) {
				c.Add(at, "%s is not among cells; a margin has some of the cells' variables", name)
			}
		}
		for _, before := range r.Margins[:i] {
			if slices.Equal(slices.Sorted(slices.Values(before.Variables)), slices.Sorted(slices.Values(m.Variables))) {
				c.Add(at, "the margin of %s is listed twice", strings.Join(m.Variables, ", "))
			}
		}
		switch {
		case len(m.Variables) == 0:
			c.Add(at, "a margin is empty; the grand total is released by total: same or total: exact")
		case len(m.Variables) >= len(names):
			c.Add(at, "a margin has all of cells; that is the table itself")
		}
		if m.Perturb != nil {
			c.Perturbation(at, m.Perturb)
		}
	}
}
