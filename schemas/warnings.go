package schemas

import (
	"fmt"
	"slices"
)

// Warnings are what a spec says that is often not meant.
func (s *Spec) Warnings() []string {
	var list []string
	measured := map[string][]string{} // variables, and the operators that looked at them so far
	for i, o := range s.Operators {
		if c, ok := o.Config.(Cautious); ok {
			list = append(list, c.Warnings(measured)...)
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
	writer := FrequencyWriter(policies)
	for i, p := range policies {
		if p != policies[writer] {
			return []string{
				fmt.Sprintf(
					"sample_frequency is counted as %s counts it; %s has another missing-value policy: give it a key of its own to have its frequencies too",
					names[writer],
					names[i],
				),
			}
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

// Variables are those that the operators look at: of keys, and of the lists of tables.
func (s *Spec) Variables() []string {
	var names []string
	for i := range s.Operators {
		names = append(names, s.looksAt(i)...)
	}
	return names
}

// FrequencyWriter is the measure that writes the sample frequency of the spec's key, of those that count it with these missing-value
// policies of their own: the first that takes the key as it is, or else the first; -1 for none.
func FrequencyWriter(policies []string) int {
	if len(policies) == 0 {
		return -1
	}
	return max(slices.Index(policies, ""), 0)
}

// FrequencyWriter is the operator that writes the sample frequency of the spec's key; -1 for none.
func (s *Spec) FrequencyWriter() int {
	var policies []string
	var at []int
	for i, o := range s.Operators {
		if m := o.Measure(); m != nil && m.OwnKey() == nil {
			policies, at = append(policies, m.MissingPolicy()), append(at, i)
		}
	}
	if w := FrequencyWriter(policies); w >= 0 {
		return at[w]
	}
	return -1
}
