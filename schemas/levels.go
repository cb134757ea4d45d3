package schemas

import (
	"fmt"
	"slices"
)

// variables calls f for each list of variables in the spec that may declare levels, with its path.
func (s *Spec) variables(f func(path string, list []KeyVariable)) {
	if s.Key != nil {
		f("key.variables", s.Key.Variables)
	}
	for i, o := range s.Operators {
		at := fmt.Sprintf("operators[%d].%s", i, o.Name())
		if m := o.Measure(); m != nil && m.OwnKey() != nil {
			f(at+".key.variables", m.OwnKey().Variables)
		}
		if l, ok := o.Config.(Listing); ok {
			l.Lists(func(path string, list *[]KeyVariable) { f(at+"."+path, *list) })
		}
	}
}

// WithLevels is the spec with one list of categories for a variable: levels declared anywhere hold wherever the variable is named.
func (s *Spec) WithLevels() *Spec {
	declared := map[string][]string{}
	s.variables(func(_ string, list []KeyVariable) {
		for _, v := range list {
			if v.Levels != nil && declared[v.Name] == nil {
				declared[v.Name] = v.Levels
			}
		}
	})
	if len(declared) == 0 {
		return s
	}
	filled := func(list []KeyVariable) []KeyVariable {
		list = slices.Clone(list)
		for i, v := range list {
			if v.Levels == nil {
				list[i].Levels = declared[v.Name]
			}
		}
		return list
	}
	ownKey := func(k *Key) *Key {
		if k == nil {
			return nil
		}
		with := *k
		with.Variables = filled(k.Variables)
		return &with
	}
	all := *s
	all.Key = ownKey(s.Key)
	all.Operators = slices.Clone(s.Operators)
	for i, o := range all.Operators {
		o = o.Clone()
		if m := o.Measure(); m != nil {
			m.SetKey(ownKey(m.OwnKey()))
		}
		if l, ok := o.Config.(Listing); ok {
			l.Lists(func(_ string, list *[]KeyVariable) { *list = filled(*list) })
		}
		all.Operators[i] = o
	}
	return &all
}

// levels finds variables with two different lists of categories. A variable that is recoded in place may have one before and one after.
func (c *Checker) levels(s *Spec) {
	remade := func(column string) bool {
		return slices.ContainsFunc(s.Operators, func(o Operator) bool {
			r, ok := o.Config.(Remaking)
			return ok && r.Remakes(column)
		})
	}
	type list struct {
		path   string
		levels []string
	}
	first := map[string]list{}
	s.variables(func(path string, variables []KeyVariable) {
		for i, x := range variables {
			at := fmt.Sprintf("%s[%d].levels", path, i)
			levels := slices.Sorted(slices.Values(x.Levels))
			switch before, ok := first[x.Name]; {
			case x.Levels == nil || remade(x.Name):
			case !ok:
				first[x.Name] = list{at, levels}
			case !slices.Equal(before.levels, levels):
				c.Add(at, "levels of %s differ from those at %s; a variable has one list of categories, which holds wherever it is named", x.Name, before.path)
			}
		}
	})
}
