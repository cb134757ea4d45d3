package repository

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"microrisk/schemas"
)

// amended is the text of a file with what a document says now, in which all comments that are still beside something stay; JSON has none.
func amended(path string, text []byte, says schemas.Document) ([]byte, error) {
	want := schemas.DocumentOrdered(says)
	if strings.HasSuffix(strings.ToLower(path), ".json") {
		return schemas.IndentedJSON(want)
	}
	doc, err := document(path, text)
	if err != nil {
		return nil, err
	}
	reconcile(doc.Content[0], want)
	var b bytes.Buffer
	e := yaml.NewEncoder(&b)
	e.SetIndent(2)
	if bytes.Contains(text, []byte("\n- ")) {
		e.CompactSeqIndent()
	}
	if err := e.Encode(doc); err != nil {
		return nil, fmt.Errorf("writing %s: %w", path, err)
	}
	return b.Bytes(), e.Close()
}

// reconcile changes a value to what is wanted, and leaves what is so already.
func reconcile(n *yaml.Node, want any) {
	switch want := want.(type) {
	case schemas.Ordered:
		if n.Kind != yaml.MappingNode {
			become(n, want)
			return
		}
		left := make(map[string]any, len(want))
		for _, m := range want {
			left[m.Key] = m.Value
		}
		rename(n, want)
		var content []*yaml.Node
		for i := 0; i+1 < len(n.Content); i += 2 {
			key, value := n.Content[i], n.Content[i+1]
			if x, ok := left[key.Value]; ok {
				reconcile(value, x)
				beside(key, value)
				content = append(content, key, value)
				delete(left, key.Value)
			}
		}
		for _, m := range want {
			if _, ok := left[m.Key]; ok {
				content = append(content, newNode(m.Key), newNode(m.Value))
			}
		}
		n.Content = content
		restyle(n)
	case []any:
		if n.Kind != yaml.SequenceNode {
			become(n, want)
			return
		}
		there := make(map[string][]*yaml.Node)
		for _, item := range n.Content {
			id := identity(item)
			there[id] = append(there[id], item)
		}
		var content []*yaml.Node
		for _, x := range want {
			item := newNode(x)
			if id := identity(item); len(there[id]) > 0 {
				item, there[id] = there[id][0], there[id][1:]
				reconcile(item, x)
			}
			if stands(item) {
				item.HeadComment, item.LineComment = lines(item.HeadComment, item.LineComment), ""
			}
			content = append(content, item)
		}
		n.Content = content
		restyle(n)
	default:
		if fresh := newNode(want); n.Kind != yaml.ScalarNode || n.Value != fresh.Value || n.Tag != fresh.Tag && (n.Tag == "!!null" || fresh.Tag == "!!bool") {
			become(n, want)
		}
	}
}

// stands tells whether a list or mapping stands on lines of its own, so that nothing is written beside it.
func stands(n *yaml.Node) bool {
	return n.Kind != yaml.ScalarNode && len(n.Content) > 0 && n.Style&yaml.FlowStyle == 0
}

// rename gives the only key that goes the name of the only one that comes, if the value is the same: its place and comments stay.
func rename(n *yaml.Node, want schemas.Ordered) {
	there := make(map[string]bool)
	var comes []schemas.Member
	gone := -1
	for i := 0; i+1 < len(n.Content); i += 2 {
		there[n.Content[i].Value] = true
		if !slices.ContainsFunc(want, func(m schemas.Member) bool { return m.Key == n.Content[i].Value }) {
			if gone >= 0 {
				return
			}
			gone = i
		}
	}
	for _, m := range want {
		if !there[m.Key] {
			comes = append(comes, m)
		}
	}
	if gone >= 0 && len(comes) == 1 && alike(n.Content[gone+1], newNode(comes[0].Value)) {
		become(n.Content[gone], comes[0].Key)
	}
}

// alike tells whether two values are the same but for comments, style and the order of keys.
func alike(a, b *yaml.Node) bool {
	if a.Kind != b.Kind || a.Value != b.Value || len(a.Content) != len(b.Content) {
		return false
	}
	for i := range a.Content {
		x, y := a.Content[i], b.Content[i]
		if a.Kind == yaml.MappingNode {
			at := 0 // of the key
			for at < len(b.Content) && b.Content[at].Value != a.Content[i&^1].Value {
				at += 2
			}
			if at == len(b.Content) {
				return false
			}
			y = b.Content[at+i%2]
		}
		if !alike(x, y) {
			return false
		}
	}
	return true
}

// restyle puts a mapping that grew too long for one line on lines of its own, and what is empty on one.
func restyle(n *yaml.Node) {
	switch {
	case len(n.Content) == 0:
		n.Style |= yaml.FlowStyle
	case n.Kind == yaml.MappingNode && width(n) > lineWidth:
		n.Style &^= yaml.FlowStyle
	}
}

// beside moves the comment beside a key and its value to where it can be written: the one of them that ends the line.
func beside(key, value *yaml.Node) {
	both := lines(key.LineComment, value.LineComment)
	key.LineComment, value.LineComment = "", ""
	switch {
	case strings.Contains(both, "\n"):
		key.HeadComment = lines(key.HeadComment, both)
	case stands(value):
		key.LineComment = both
	default:
		value.LineComment = both
	}
}

// lines are two comments, one below the other.
func lines(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "\n" + b
}

// become makes a node another one; comments stay.
func become(n *yaml.Node, want any) {
	fresh := newNode(want)
	fresh.HeadComment, fresh.LineComment, fresh.FootComment = n.HeadComment, n.LineComment, n.FootComment
	*n = *fresh
}

// identity is what items of a list are known by: the id or name of a mapping, or else all that is in them.
func identity(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			if key := n.Content[i].Value; key == "id" || key == "name" {
				return key + " " + n.Content[i+1].Value
			}
		}
	case yaml.ScalarNode:
		return n.Value
	}
	parts := make([]string, len(n.Content))
	for i, c := range n.Content {
		parts[i] = strconv.Quote(identity(c))
	}
	return strings.Join(parts, ",")
}

// newNode is a value without comments. Short lists and mappings stand on one line.
func newNode(value any) *yaml.Node {
	scalar := func(tag, text string) *yaml.Node { return &yaml.Node{Kind: yaml.ScalarNode, Tag: tag, Value: text} }
	switch v := value.(type) {
	case schemas.Ordered:
		n := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
		for _, m := range v {
			n.Content = append(n.Content, newNode(m.Key), newNode(m.Value))
		}
		return short(n)
	case []any:
		n := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq"}
		for _, x := range v {
			n.Content = append(n.Content, newNode(x))
		}
		return short(n)
	case bool:
		return scalar("!!bool", strconv.FormatBool(v))
	case int:
		return scalar("!!int", strconv.Itoa(v))
	case int64:
		return scalar("!!int", strconv.FormatInt(v, 10))
	case float64:
		if v == math.Trunc(v) && math.Abs(v) < 1e15 {
			return scalar("!!int", strconv.FormatFloat(v, 'f', -1, 64))
		}
		return scalar("!!float", strconv.FormatFloat(v, 'g', -1, 64))
	}
	n := scalar("!!str", fmt.Sprint(value))
	if !schemas.TextYAML(n.Value) {
		n.Style = yaml.DoubleQuotedStyle
	}
	return n
}

// lineWidth is how long a list or mapping may be that stands on one line.
const lineWidth = 90

func short(n *yaml.Node) *yaml.Node {
	if width(n) <= lineWidth {
		n.Style = yaml.FlowStyle
	}
	return n
}

// width is about how many characters a value takes on one line.
func width(n *yaml.Node) int {
	if n.Kind == yaml.ScalarNode {
		return len(n.Value) + 2
	}
	sum := 2
	for _, c := range n.Content {
		sum += width(c)
	}
	return sum
}
