package tablefile

import (
	"fmt"

	"microrisk/engine/tabular"
	"microrisk/schemas"
)

// An outline is a hierarchy of nested mappings and lists that is being read.
type outline struct {
	name  string
	paths bool
	tree  *tabular.Tree
	met   map[string]met     // codes
	lines map[placedCode]int // of codes below one parent
}

// met is where a code stands last.
type met struct{ line, parent int }

// A placedCode is a code below a category.
type placedCode struct {
	code   string
	parent int
}

// treeOfOutline is a hierarchy of nested mappings, each code with what is below it, and lists of codes. Codes are taken as they are written.
// The total may stand above all of them.
func treeOfOutline(name string, root *schemas.Node, variable, total string, paths bool) (*tabular.Tree, error) {
	o := &outline{name, paths, tabular.NewTree(variable), make(map[string]met), make(map[placedCode]int)}
	if root.Kind == schemas.Mapping && len(root.Entries) == 1 && root.Entries[0].Key == total {
		root = root.Entries[0].Value
	}
	if err := o.below(0, root); err != nil {
		return nil, err
	}
	return o.tree, checkTree(name, o.tree)
}

// below puts what a node says below a category.
func (o *outline) below(parent int, n *schemas.Node) error {
	if n.IsNull() {
		return nil
	}
	switch n.Kind {
	case schemas.Scalar:
		_, err := o.put(parent, n.Text, n.At)
		return err
	case schemas.List:
		for _, item := range n.Items {
			if item.IsNull() || item.Kind == schemas.List {
				at := n.At
				if !item.IsNull() {
					at = item.At
				}
				return fmt.Errorf("%s:%d: there is no code where one should be; lists have codes, and mappings of a code to what is below it", o.name, at.Line)
			}
			if err := o.below(parent, item); err != nil {
				return err
			}
		}
		return nil
	case schemas.Mapping:
		for _, e := range n.Entries {
			if !e.Plain {
				return fmt.Errorf("%s:%d: %q is no code", o.name, e.At.Line, e.Key)
			}
			at, err := o.put(parent, e.Key, e.At)
			if err == nil {
				err = o.below(at, e.Value)
			}
			if err != nil {
				return err
			}
		}
		return nil
	}
	return fmt.Errorf("%s:%d: there is %s, and a hierarchy has codes, lists of them, and mappings of a code to what is below it", o.name, n.At.Line, n.Strange)
}

// put puts a code below a category.
func (o *outline) put(parent int, code string, at schemas.Place) (int, error) {
	if code == "" {
		return 0, fmt.Errorf("%s:%d: there is no code", o.name, at.Line)
	}
	for n := parent; n > 0; n = o.tree.Nodes[n].Parent {
		if o.tree.Nodes[n].Code.Label == code {
			return 0, fmt.Errorf("%s:%d: %q is below itself", o.name, at.Line, code)
		}
	}
	if line, twice := o.lines[placedCode{code, parent}]; twice {
		return 0, fmt.Errorf("%s:%d: the code %q stands in line %d too", o.name, at.Line, code, line)
	}
	if other, twice := o.met[code]; twice && !o.paths {
		return 0, fmt.Errorf("%s:%d: the code %q is below %s, and below %s too (line %d); give codes that differ, or tell them apart by their paths (paths)",
			o.name, at.Line, code, o.tree.Nodes[parent].Code, o.tree.Nodes[other.parent].Code, other.line)
	}
	o.lines[placedCode{code, parent}], o.met[code] = at.Line, met{at.Line, parent}
	return o.tree.Add(tabular.Of(code), parent), nil
}
