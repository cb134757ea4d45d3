package schemas

import "fmt"

// A Node is a value of a spec's text, whatever language that is in. Package specfile makes nodes of YAML.
type Node struct {
	Kind    NodeKind
	Text    string // of a scalar, as it is written, without quotes
	Quoted  bool   // it stood in quotes, or in a block: text, and no number
	Bool    bool   // of a scalar that is true or false and not quoted
	IsBool  bool
	Items   []*Node // of a list
	Entries []Entry // of a mapping
	At      Place
	Strange string // what else it is, for messages
}

// A NodeKind tells what a node is.
type NodeKind int

// Kinds of nodes.
const (
	Null NodeKind = iota
	Scalar
	List
	Mapping
	Strange // nothing that a spec has
)

// An Entry is a field of a mapping.
type Entry struct {
	Key   string
	Plain bool // the key is a scalar
	At    Place
	Value *Node
}

// A Place is a position in a text, from 1.
type Place struct{ Line, Column int }

// IsNull tells whether nothing is said.
func (n *Node) IsNull() bool { return n == nil || n.Kind == Null }

// Scalar is a scalar as it is written; false for what is none.
func (n *Node) Scalar() (string, bool) {
	if n == nil || n.Kind != Scalar {
		return "", false
	}
	return n.Text, true
}

// number is a scalar that may be a number, as it is written; false for what is none, and for text in quotes.
func (n *Node) number() (string, bool) {
	text, ok := n.Scalar()
	return text, ok && !n.Quoted
}

// describe says what a node is, for messages.
func (n *Node) describe() string {
	if n == nil {
		return "nothing"
	}
	switch n.Kind {
	case Null:
		return "nothing"
	case Scalar:
		text := n.Text
		if len(text) > 40 {
			text = text[:40] + "..."
		}
		if n.Quoted {
			return fmt.Sprintf("the text %q", text)
		}
		return fmt.Sprintf("%q", text)
	case List:
		return "a list"
	case Mapping:
		return "a mapping"
	}
	return n.Strange
}
