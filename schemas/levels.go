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
		switch {
		case o.SAP != nil:
			f(at+".by", o.SAP.By)
			f(at+".cells", o.SAP.Cells)
		case o.Tabulate != nil:
			f(at+".cells", o.Tabulate.Cells)
		case o.LDiversity != nil:
			f(at+".sensitive", o.LDiversity.Sensitive)
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
	for i := range all.Operators {
		all.Operators[i].fill(filled, ownKey)
	}
	return &all
}

// fill replaces the lists of variables of an operator.
func (o *Operator) fill(list func([]KeyVariable) []KeyVariable, key func(*Key) *Key) {
	switch {
	case o.Suda != nil:
		with := *o.Suda
		with.Key = key(with.Key)
		o.Suda = &with
	case o.Frequency != nil:
		with := *o.Frequency
		with.Key = key(with.Key)
		o.Frequency = &with
	case o.MC3 != nil:
		with := *o.MC3
		with.Key = key(with.Key)
		o.MC3 = &with
	case o.KAnonymity != nil:
		with := *o.KAnonymity
		with.Key = key(with.Key)
		o.KAnonymity = &with
	case o.LDiversity != nil:
		with := *o.LDiversity
		with.Key = key(with.Key)
		o.LDiversity = &with
	case o.Individual != nil:
		with := *o.Individual
		with.Key = key(with.Key)
		o.Individual = &with
	case o.SAP != nil:
		with := *o.SAP
		with.By, with.Cells = list(with.By), list(with.Cells)
		o.SAP = &with
	case o.Tabulate != nil:
		with := *o.Tabulate
		with.Cells = list(with.Cells)
		o.Tabulate = &with
	}
}

// levels finds variables with two different lists of categories. A variable that is recoded in place may have one before and one after.
func (v *validator) levels(s *Spec) {
	remade := map[string]bool{}
	for _, o := range s.Operators {
		for _, r := range o.Recode {
			remade[r.Name] = remade[r.Name] || r.Replace
		}
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
			case x.Levels == nil || remade[x.Name]:
			case !ok:
				first[x.Name] = list{at, levels}
			case !slices.Equal(before.levels, levels):
				v.add(at, "levels of %s differ from those at %s; a variable has one list of categories, which holds wherever it is named", x.Name, before.path)
			}
		}
	})
}
