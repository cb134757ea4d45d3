package keymap

import (
	"fmt"
	"slices"
	"strings"
)

// An InvalidError says why categories are no categorization: sinks that none of them reaches, or that several do.
type InvalidError struct {
	Unknown   []string // categories that the graph has not
	Unreached []string // sinks: the categories do not cover the variable
	Repeated  []Repeat // sinks: the categories overlap
}

// A Repeat is a sink that several categories reach.
type Repeat struct {
	Sink string
	By   []string
}

func (e *InvalidError) Error() string {
	var says []string
	if len(e.Unknown) > 0 {
		says = append(says, "there is no category "+some(e.Unknown))
	}
	if len(e.Unreached) > 0 {
		says = append(says, "the categories do not cover "+some(e.Unreached))
	}
	if len(e.Repeated) > 0 {
		var each []string
		for _, r := range e.Repeated {
			each = append(each, fmt.Sprintf("%s (in %s)", r.Sink, strings.Join(r.By, " and ")))
		}
		says = append(says, "the categories overlap in "+some(each))
	}
	return strings.Join(says, "; ")
}

// some are the first of a list in words.
func some(list []string) string {
	if len(list) > 5 {
		return fmt.Sprintf("%s and %d more", strings.Join(list[:5], ", "), len(list)-5)
	}
	return strings.Join(list, ", ")
}

// Check is nil if every sink is reached from exactly one of the categories.
func (g *Graph) Check(categories []string) *InvalidError {
	var wrong InvalidError
	by := make([][]string, len(g.sinks))
	for _, id := range categories {
		if !g.Has(id) {
			wrong.Unknown = append(wrong.Unknown, id)
		}
		for _, s := range g.Reach(id) {
			by[s] = append(by[s], id)
		}
	}
	for s, ids := range by {
		switch sink := g.nodes[g.sinks[s]]; {
		case len(ids) == 0:
			wrong.Unreached = append(wrong.Unreached, sink)
		case len(ids) > 1:
			wrong.Repeated = append(wrong.Repeated, Repeat{sink, ids})
		}
	}
	if wrong.Unknown == nil && wrong.Unreached == nil && wrong.Repeated == nil {
		return nil
	}
	return &wrong
}

// Partition is that of the sinks by a valid categorization; no categories are arbitrary precision.
func (g *Graph) Partition(categories []string) (Partition, error) {
	if len(categories) == 0 {
		return Any, nil
	}
	if wrong := g.Check(categories); wrong != nil {
		return "", wrong
	}
	return g.Lenient(categories), nil
}

// Lenient is the partition by categories that may overlap or leave sinks out: those that overlap are one block, and a sink that none
// reaches is a block of its own. Categories that the graph has not are passed over.
func (g *Graph) Lenient(categories []string) Partition {
	if len(categories) == 0 {
		return Any
	}
	up := make([]int, len(g.sinks))
	for i := range up {
		up[i] = i
	}
	root := func(x int) int {
		for up[x] != x {
			up[x] = up[up[x]]
			x = up[x]
		}
		return x
	}
	for _, id := range categories {
		reach := g.Reach(id)
		for _, s := range reach {
			a, b := root(int(reach[0])), root(int(s))
			up[max(a, b)] = min(a, b)
		}
	}
	for i := range up {
		up[i] = root(i)
	}
	p, _ := NewPartition(up) // as many sinks as the graph has
	return p
}

// An Inconsistency is why the categorizations of two forms cannot both be right.
type Inconsistency struct {
	Forms   [2]string // the same one twice if its own categories overlap
	Overlap bool      // a sink is in two categories of the form; else the forms cover different sinks
	Sinks   []string
}

func (i Inconsistency) String() string {
	if i.Overlap {
		return fmt.Sprintf("categories of %s overlap at %s", i.Forms[0], some(i.Sinks))
	}
	return fmt.Sprintf("%s and %s differ in what they cover: %s", i.Forms[0], i.Forms[1], some(i.Sinks))
}

// An Instance is a variable as a form has it.
type Instance struct {
	Form       string
	Categories []string // none for arbitrary precision
}

// Inconsistencies of forms: those that overlap within a form, then pairs that cover different sinks, by name; the first one only, or all.
func (g *Graph) Inconsistencies(instances []Instance, all bool) []Inconsistency {
	instances = slices.Clone(instances)
	slices.SortFunc(instances, func(a, b Instance) int { return strings.Compare(a.Form, b.Form) })
	covers := make([][]int32, len(instances))
	var found []Inconsistency
	for i, x := range instances {
		count := make([]int, len(g.sinks))
		for _, id := range x.Categories {
			for _, s := range g.Reach(id) {
				count[s]++
			}
		}
		var twice []string
		for s, n := range count {
			if n > 0 {
				covers[i] = append(covers[i], int32(s))
			}
			if n > 1 {
				twice = append(twice, g.nodes[g.sinks[s]])
			}
		}
		if twice != nil {
			found = append(found, Inconsistency{[2]string{x.Form, x.Form}, true, twice})
			if !all {
				return found
			}
		}
	}
	for i, x := range instances {
		for j := i + 1; j < len(instances); j++ {
			if len(x.Categories) == 0 || len(instances[j].Categories) == 0 || slices.Equal(covers[i], covers[j]) {
				continue
			}
			found = append(found, Inconsistency{[2]string{x.Form, instances[j].Form}, false, g.apart(covers[i], covers[j])})
			if !all {
				return found
			}
		}
	}
	return found
}

// apart are the sinks that one of two covers has and the other has not.
func (g *Graph) apart(a, b []int32) []string {
	both := common(a, b)
	var nodes []int32
	for s := range int32(len(g.sinks)) {
		if slices.Contains(a, s) != slices.Contains(b, s) && !slices.Contains(both, s) {
			nodes = append(nodes, g.sinks[s])
		}
	}
	return g.names(nodes)
}
