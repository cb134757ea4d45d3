package schemas

import (
	"fmt"
	"slices"

	"microrisk/schemas/advice"
)

// categoryOrDrop tells how an operator takes the policies that it knows.
var categoryOrDrop = advice.Advice{Spec: "missing: category or missing: drop",
	Flags: "category or drop, by --NAME-missing (such as --mc3-missing) or by --missing"}

// CategoryOrDrop finds missing-value policies that an operator of equivalence classes does not know.
func (c *Checker) CategoryOrDrop(path, name, own string, key *Key) {
	takes := []string{"", MissingCategory, MissingDrop}
	if own != "" {
		if !slices.Contains(takes, own) && slices.Contains(MissingPolicies, own) {
			c.Add(path+".missing", "%s takes missing values as a category or drops them, not %q; write %s", name, own, categoryOrDrop)
		}
		return
	}
	if key == nil {
		return
	}
	for _, k := range key.Variables {
		if policy := policyOf(key, k); !slices.Contains(takes, policy) && slices.Contains(MissingPolicies, policy) {
			c.Add(
				path,
				"the missing-value policy of %s is %s, which %s does not know; give %s a policy of its own, %s",
				k.Name,
				policy,
				name,
				name,
				categoryOrDrop,
			)
			return
		}
	}
}

// policyOf is the missing-value policy that a key says for a variable, "" for none.
func policyOf(key *Key, k KeyVariable) string {
	if k.Missing != "" {
		return k.Missing
	}
	return key.Missing
}

// KeyOf is the key that a measure of the spec counts: its own or the spec's, nil if there is none.
func (s *Spec) KeyOf(m Measure) *Key {
	if own := m.OwnKey(); own != nil {
		return own
	}
	return s.Key
}

// Has tells whether a variable is in the key.
func (k *Key) Has(name string) bool {
	return k != nil && slices.ContainsFunc(k.Variables, func(v KeyVariable) bool { return v.Name == name })
}

// VariableNames are the names of variables, in order.
func VariableNames(list []KeyVariable) []string {
	var names []string
	for _, k := range list {
		names = append(names, k.Name)
	}
	return names
}

// domains checks what a measure says of domains.
func (c *Checker) domains(path string, o Operator, s *Spec) {
	d, ok := o.Config.(Dividing)
	if !ok {
		return
	}
	by, file := d.Divided()
	if len(by) == 0 {
		if by != nil {
			c.Add(path+".by", "by is an empty list; name the columns that tell domains apart, or leave it out")
		} else if *file != "" {
			c.Add(path+".domains", "%s has a file, and no columns are named that tell domains apart; add %s", advice.Advice{Spec: "domains", Flags: "--domains"},
				advice.Advice{Spec: "by: [REGION]", Flags: "--by-domain REGION"})
		}
		return
	}
	m := o.Measure()
	if m == nil {
		return
	}
	key, n := s.KeyOf(m), 0
	if key != nil {
		n = len(key.Variables)
	}
	for _, name := range by {
		if !key.Has(name) {
			n++
		}
	}
	if n > MaxKeyVariables {
		c.Add(path+".by", "the key and by have %d variables together; at most %d can be counted", n, MaxKeyVariables)
	}
}

// TableVariables checks the variables of tables, and those that tell the tables apart.
func (c *Checker) TableVariables(path, name string, by, cells []KeyVariable) {
	if len(cells) == 0 {
		c.Add(path, "%s has no cells; list the variables of the tables: cells: [SEX, HEALTH]", name)
	}
	if n := len(by) + len(cells); n > MaxKeyVariables {
		c.Add(path, "%s has %d variables in by and cells; at most %d can be counted", name, n, MaxKeyVariables)
	}
	apart := VariableNames(by)
	c.Twice(path+".by", apart)
	c.Twice(path+".cells", VariableNames(cells))
	for i, k := range by {
		if k.Missing != "" {
			c.Add(fmt.Sprintf("%s.by[%d].missing", path, i), "a record without a value of %s is in no table; leave missing out", k.Name)
		}
	}
	for i, k := range cells {
		at := fmt.Sprintf("%s.cells[%d]", path, i)
		switch {
		case k.Name == "":
			c.Add(at, "a variable of cells has no name")
		case slices.Contains(apart, k.Name):
			c.Add(at, "%s is in by and among cells; it is one of them", k.Name)
		}
		if k.Missing != "" {
			c.Add(at+".missing", "the missing-value policy is one for all of cells; write missing: for %s itself", name)
		}
		if k.Levels != nil && len(k.Levels) == 0 {
			c.Add(at+".levels", "levels of %s is empty; list its categories, or leave it out for those observed", k.Name)
		}
	}
}

// Sensitive checks the sensitive variables of a measure beside its key.
func (c *Checker) Sensitive(path, name string, key *Key, list []KeyVariable) {
	if len(list) == 0 {
		c.Add(path, "%s does not say what is sensitive; add sensitive: with its variables", name)
	}
	seen := map[string]bool{}
	for _, x := range list {
		switch {
		case x.Name == "":
			c.Add(path+".sensitive", "a sensitive variable has no name")
		case seen[x.Name]:
			c.Add(path+".sensitive", "sensitive names %s twice", x.Name)
		case x.Missing != "" && x.Missing != MissingIgnore && x.Missing != MissingCategory:
			c.Add(path+".sensitive", "a missing value of the sensitive variable %s is %q; it is ignore (no value) or category", x.Name, x.Missing)
		case key.Has(x.Name):
			c.Add(path+".sensitive", "%s is sensitive and in the key: all records of a class have the same value", x.Name)
		}
		seen[x.Name] = true
	}
}

// TwoPolicies checks a policy of an operator whose tables have a cell for every record.
func (c *Checker) TwoPolicies(path, name, missing string) {
	if missing != "" && missing != MissingCategory && missing != MissingDrop {
		c.Add(path, "%s takes missing values as a category or drops them, not %q; write %s", name, missing, categoryOrDrop)
	}
}
