package tabular

import (
	"fmt"
	"slices"
)

// A Tree is a variable of a table whose categories add up, level by level. Node 0 is the total over all; every other node has a parent,
// which stands before it.
type Tree struct {
	Name  string
	Nodes []Node
}

// A Node is a category of a tree.
type Node struct {
	Code     Category
	Parent   int   // -1 of the total
	Level    int   // 0 of the total, that of the parent and one otherwise
	Children []int // in the order in which they were added
}

// NewTree has the total alone.
func NewTree(name string) *Tree { return &Tree{name, []Node{{Code: Total, Parent: -1}}} }

// Flat is a tree without subtotals.
func Flat(name string, categories ...Category) *Tree {
	t := NewTree(name)
	for _, c := range categories {
		t.Add(c, 0)
	}
	return t
}

// Add puts a category below a node, and is its number.
func (t *Tree) Add(code Category, parent int) int {
	at := len(t.Nodes)
	t.Nodes = append(t.Nodes, Node{Code: code, Parent: parent, Level: t.Nodes[parent].Level + 1})
	t.Nodes[parent].Children = append(t.Nodes[parent].Children, at)
	return at
}

// Clone is a tree that can be added to by itself.
func (t *Tree) Clone() *Tree {
	c := &Tree{t.Name, slices.Clone(t.Nodes)}
	for i := range c.Nodes {
		c.Nodes[i].Children = slices.Clone(c.Nodes[i].Children)
	}
	return c
}

// Leaf tells whether a node has no parts.
func (t *Tree) Leaf(node int) bool { return len(t.Nodes[node].Children) == 0 }

// Depth is the number of levels below the total.
func (t *Tree) Depth() int {
	depth := 0
	for _, n := range t.Nodes {
		depth = max(depth, n.Level)
	}
	return depth
}

// Find is the node of a code; -1 if there is none, or if there are several.
func (t *Tree) Find(code Category) int {
	found := -1
	for i, n := range t.Nodes {
		if n.Code != code {
			continue
		}
		if found >= 0 {
			return -1
		}
		found = i
	}
	return found
}

// Places are the nodes of each code: several where codes are told apart by their paths.
func (t *Tree) Places() map[Category][]int {
	places := make(map[Category][]int, len(t.Nodes))
	for i, n := range t.Nodes {
		places[n.Code] = append(places[n.Code], i)
	}
	return places
}

// Path are the nodes from the one below the total to a node: what a category is, where codes are not unique.
func (t *Tree) Path(node int) []int {
	var path []int
	for ; node > 0; node = t.Nodes[node].Parent {
		path = append(path, node)
	}
	slices.Reverse(path)
	return path
}

// TreeOf is the tree of a variable: its categories below the groups of its hierarchy, a group before its members, in the variable's order.
// The error is that of the hierarchy.
func TreeOf(v *Variable) (*Tree, error) {
	if err := v.Hierarchy.Check(v.Categories); err != nil {
		return nil, fmt.Errorf("the variable %s: %w", v.Name, err)
	}
	owner := make(map[string]int) // the group of a member
	place := make(map[string]int) // of labels, for the order
	for i, c := range v.Categories {
		if c.Kind == Value {
			place[c.Label] = i
		}
	}
	for i, g := range v.Hierarchy {
		first := len(v.Categories)
		for _, m := range g.Members {
			owner[m] = i
			first = min(first, place[m])
		}
		place[g.Label] = first
	}
	t := NewTree(v.Name)
	node := make(map[string]int)
	var put func(label string) int
	put = func(label string) int {
		if at, is := node[label]; is {
			return at
		}
		parent := 0
		if g, below := owner[label]; below {
			parent = put(v.Hierarchy[g].Label)
		}
		node[label] = t.Add(Of(label), parent)
		return node[label]
	}
	for _, c := range v.Categories {
		if c.Kind == Value {
			put(c.Label)
		} else {
			t.Add(c, 0)
		}
	}
	return t, nil
}
