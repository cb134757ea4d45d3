package repository

import (
	"bytes"
	"fmt"
	"math"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"microrisk/schemas"
)

// amended is a text with what a document says now, in which all comments that are still beside something stay.
func amended(path string, text []byte, want schemas.Ordered) ([]byte, error) {
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
		var content []*yaml.Node
		for i := 0; i+1 < len(n.Content); i += 2 {
			key, value := n.Content[i], n.Content[i+1]
			if x, ok := left[key.Value]; ok {
				reconcile(value, x)
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
		if n.Style&yaml.FlowStyle != 0 && width(n) > lineWidth {
			n.Style &^= yaml.FlowStyle
		}
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
			content = append(content, item)
		}
		n.Content = content
	default:
		if fresh := newNode(want); n.Kind != yaml.ScalarNode || n.Value != fresh.Value || n.Tag != fresh.Tag && (n.Tag == "!!null" || fresh.Tag == "!!bool") {
			become(n, want)
		}
	}
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
	return scalar("!!str", fmt.Sprint(value))
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
