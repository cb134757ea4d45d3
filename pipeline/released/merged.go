package released

import (
	"fmt"
	"slices"

	"microrisk/engine/tabular"
	"microrisk/pipeline/session"
)

// A MergedCategory is a published category that stands for several others of its variable.
type MergedCategory struct {
	Variable, Name string
	Members        []string
}

// CheckMerged refuses merged categories of variables that no table has, and those that merge themselves.
func (t *Tables) CheckMerged() error {
	for i, m := range t.Merged {
		if !slices.ContainsFunc(t.Variables, func(v tabular.Variable) bool { return v.Name == m.Variable }) {
			return session.Wrong(fmt.Errorf("merged categories are declared of %s, which no table has", m.Variable))
		}
		for _, other := range t.Merged {
			if other.Variable == m.Variable && slices.Contains(m.Members, other.Name) {
				return session.Wrong(fmt.Errorf("the merged category %s of %s has the merged category %s in it: name what that merges", m.Name, m.Variable, other.Name))
			}
		}
		if slices.ContainsFunc(t.Merged[:i], func(o MergedCategory) bool { return o.Variable == m.Variable && o.Name == m.Name }) {
			return session.Wrong(fmt.Errorf("the merged category %s of %s is declared twice", m.Name, m.Variable))
		}
	}
	return nil
}
