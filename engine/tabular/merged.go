package tabular

import (
	"fmt"
	"slices"
)

// Members are the categories that a published category of the variable stands for, itself unless it merges others.
func (v *Variable) Members(c Category) []Category {
	if c.Kind == Value {
		for _, g := range v.Merged {
			if g.Label == c.Label {
				return categoriesOf(g.Members)
			}
		}
	}
	return []Category{c}
}

func categoriesOf(labels []string) []Category {
	list := make([]Category, len(labels))
	for i, l := range labels {
		list[i] = Of(l)
	}
	return list
}

// Published are the categories by which the k-th variable of a margin was published, merged ones first, and the numbers of the
// categories that each stands for; nil where none is merged. A category that no figure has, by itself or merged, is empty in the margin.
// Errors: categories that share a member.
func (t *Table) Published(m *Margin, k int) (list []Category, groups [][]int, err error) {
	v := &t.Variables[m.Variables[k]]
	var merged []Category
	for _, c := range m.Categories(k) {
		if members := v.Members(c); len(members) != 1 || members[0] != c {
			merged = append(merged, c)
		}
	}
	if merged == nil {
		return v.Categories, nil, nil
	}
	slices.SortFunc(merged, Category.Compare)
	owner := make([]*Category, len(v.Categories))
	for i, c := range merged {
		group := []int{}
		for _, member := range v.Members(c) {
			at := slices.Index(v.Categories, member)
			if at < 0 {
				return nil, nil, fmt.Errorf("%s: the category %s of %s has %s, which is no category of it", m.Name, c, v.Name, member)
			}
			if owner[at] != nil {
				return nil, nil, fmt.Errorf("%s: the categories %s and %s of %s both have %s, in one margin", m.Name, *owner[at], c, v.Name, member)
			}
			owner[at] = &merged[i]
			group = append(group, at)
		}
		slices.Sort(group)
		list, groups = append(list, c), append(groups, group)
	}
	for _, c := range m.Categories(k) {
		if at := slices.Index(v.Categories, c); at >= 0 && owner[at] != nil {
			return nil, nil, fmt.Errorf("%s: the category %s of %s is published by itself and in %s, in one margin", m.Name, c, v.Name, *owner[at])
		}
	}
	for at, c := range v.Categories {
		if owner[at] == nil {
			list, groups = append(list, c), append(groups, []int{at})
		}
	}
	return list, groups, nil
}
