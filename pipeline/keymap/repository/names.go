package repository

import (
	"cmp"
	"slices"
	"strings"
)

// Folded is a text without what people write in different ways: upper case, and what stands between words.
func Folded(text string) string {
	words := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return r == ' ' || r == '_' || r == '\t' })
	text = strings.NewReplacer("–", "-", "—", "-").Replace(strings.Join(words, "-"))
	for strings.Contains(text, "--") {
		text = strings.ReplaceAll(text, "--", "-")
	}
	return text
}

// name is what people read.
func (n Node) name() string { return cmp.Or(n.Label, n.ID) }

// A NodeIndex finds categories by what they are called.
type NodeIndex struct{ exact, former, alike map[string][]string }

// NewNodeIndex is that of a variable.
func NewNodeIndex(v *Variable) NodeIndex {
	x := NodeIndex{make(map[string][]string), make(map[string][]string), make(map[string][]string)}
	add := func(to map[string][]string, name, id string) {
		if !slices.Contains(to[name], id) {
			to[name] = append(to[name], id)
		}
	}
	for _, n := range v.Nodes {
		label := n.name()
		names := []string{label}
		if Slug(label) != n.ID || Folded(label) == n.ID { // else "<5" is called 5
			names = append(names, n.ID)
		}
		for _, name := range names {
			add(x.exact, name, n.ID)
			add(x.alike, Folded(name), n.ID)
		}
		for _, name := range n.FormerLabels {
			add(x.former, name, n.ID)
			add(x.alike, Folded(name), n.ID)
		}
	}
	return x
}

// Of is the only category that a value is called; "" if there is none, or several.
func (x NodeIndex) Of(value string) string {
	for _, list := range [][]string{x.exact[value], x.former[value], x.alike[Folded(value)]} {
		if len(list) == 1 {
			return list[0]
		}
		if len(list) > 1 {
			return ""
		}
	}
	return ""
}
