package schemas

import (
	"fmt"
	"slices"
	"strings"
)

// Warnings are what a spec says that is often not meant.
func (s *Spec) Warnings() []string {
	var list []string
	measured := map[string][]string{} // variables, and the operators that looked at them so far
	for i, o := range s.Operators {
		for _, r := range o.Recode {
			from := r.From
			if from == "" {
				from = r.Name
			}
			shown := r.Keep == nil || *r.Keep
			if who := measured[from]; shown && len(who) > 0 {
				list = append(list, fmt.Sprintf("recode %s comes after %s, which saw %s as it was: the output has the recoded column beside a risk of the unrecoded one; put recode before",
					r.Name, strings.Join(who, " and "), from))
			}
			if r.Map != nil && r.Other == nil {
				list = append(list, fmt.Sprintf("recode %s has a map without other: categories that it does not name stay as they are; say other: NAME, or other: \"\" to make them missing", r.Name))
			}
		}
		for _, name := range s.looksAt(i) {
			if who := o.Name(); !slices.Contains(measured[name], who) {
				measured[name] = append(measured[name], who)
			}
		}
	}
	return append(list, s.frequencies()...)
}

// frequencies warns of operators that share sample_frequency and not its missing-value policy.
func (s *Spec) frequencies() []string {
	var names, policies []string
	for _, o := range s.Operators {
		if m := o.Measure(); m != nil && m.OwnKey() == nil {
			names, policies = append(names, m.ColumnPrefix()), append(policies, m.MissingPolicy())
		}
	}
	writer := slices.Index(policies, "") // the first that takes the key as it is, else the first
	writer = max(writer, 0)
	for i, p := range policies {
		if p != policies[writer] {
			return []string{fmt.Sprintf("sample_frequency is counted as %s counts it; %s has another missing-value policy: give it a key of its own to have its frequencies too", names[writer], names[i])}
		}
	}
	return nil
}

// looksAt are the variables of operator i.
func (s *Spec) looksAt(i int) []string {
	o := s.Operators[i]
	alone := &Spec{Operators: []Operator{o}}
	if m := o.Measure(); m != nil && m.OwnKey() == nil {
		alone.Key = s.Key
	}
	var names []string
	alone.variables(func(_ string, list []KeyVariable) {
		for _, v := range list {
			names = append(names, v.Name)
		}
	})
	return names
}
