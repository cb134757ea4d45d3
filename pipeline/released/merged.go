package released

import (
	"fmt"
	"slices"
	"strings"

	"microrisk/pipeline/session"
)

// A MergedCategory is a published category that stands for several others of its variable.
type MergedCategory struct {
	Variable, Name string
	Members        []string
}

// members are the categories that a text of a variable's column stands for, itself unless it merges others.
func (t *Tables) members(v int, text string) []string {
	for _, m := range t.Merged {
		if m.Variable == t.Names[v] && m.Name == text {
			return m.Members
		}
	}
	return []string{text}
}

// CheckMerged refuses merged categories of variables that no table has, and those that merge themselves.
func (t *Tables) CheckMerged() error {
	for i, m := range t.Merged {
		if !slices.Contains(t.Names, m.Variable) {
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

// groups are the published categories of the k-th variable of a margin, and the numbers of the categories that each stands for; nil
// where none is merged. A category that is in no row, by itself or merged, is empty.
func (t *Tables) groups(m *releasedMargin, k int) (list []string, groups [][]int, err error) {
	v := m.Variables[k]
	all := t.Categories[v]
	var merged []string
	for name := range m.rows {
		text := strings.Split(name, "\x00")[k]
		if members := t.members(v, text); (len(members) > 1 || members[0] != text) && !slices.Contains(merged, text) {
			merged = append(merged, text)
		}
	}
	if merged == nil {
		return all, nil, nil
	}
	slices.Sort(merged)
	owner := make([]string, len(all))
	for _, name := range merged {
		group := []int{}
		for _, member := range t.members(v, name) {
			c := slices.Index(all, member)
			if owner[c] != "" {
				return nil, nil, session.Wrong(fmt.Errorf("%s: the categories %s and %s of %s both have %s, in one margin", m.File, owner[c], name, t.Names[v], member))
			}
			owner[c] = name
			group = append(group, c)
		}
		slices.Sort(group)
		list, groups = append(list, name), append(groups, group)
	}
	for name := range m.rows {
		text := strings.Split(name, "\x00")[k]
		if c := slices.Index(all, text); c >= 0 && owner[c] != "" {
			return nil, nil, session.Wrong(fmt.Errorf("%s: the category %s of %s is published by itself and in %s, in one margin", m.File, text, t.Names[v], owner[c]))
		}
	}
	for c, text := range all {
		if owner[c] == "" {
			list, groups = append(list, text), append(groups, []int{c})
		}
	}
	return list, groups, nil
}
