package tabular

import "fmt"

// A Hierarchy groups the categories of a variable, those of a group into further ones: each group has categories, or groups that stand
// before it.
type Hierarchy []Group

// A Group is a category that stands for several others.
type Group struct {
	Label   string
	Members []string
}

// Check finds what is wrong with a hierarchy over some categories: a label twice, a group of nothing, a member that is none, a member of
// two groups.
func (h Hierarchy) Check(categories []Category) error {
	known := map[string]bool{}
	for _, c := range categories {
		if c.Kind == Value {
			known[c.Label] = true
		}
	}
	owner := map[string]string{}
	for _, g := range h {
		switch {
		case known[g.Label]:
			return fmt.Errorf("the group %q has the label of a category or of another group", g.Label)
		case len(g.Members) == 0:
			return fmt.Errorf("the group %q has no members", g.Label)
		}
		for _, m := range g.Members {
			if !known[m] {
				return fmt.Errorf("the group %q has %q, which is no category and no group before it", g.Label, m)
			}
			if other, taken := owner[m]; taken {
				return fmt.Errorf("the groups %q and %q both have %q", other, g.Label, m)
			}
			owner[m] = g.Label
		}
		known[g.Label] = true
	}
	return nil
}
