package graph

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Parse reads a decomposable graph from its cliques, each a list of variables in brackets:
//
//	[AGE SEX][SEX MSTATUS]
//
// The vertices are numbered as in names; those that no bracket has are joined to nothing. Names go apart by white space; one that
// has white space, brackets or quotes, or that is empty, stands in double quotes, a quote within it twice. The brackets need not be
// maximal cliques. Errors: a name that is unknown, or that names has twice; a bracket or quote without its end; a bracket that is
// empty, within another, or has a name twice; text outside of brackets; a graph that is not decomposable; more than 64 names.
func Parse(text string, names []string) (*Graph, error) {
	if len(names) > MaxVertices {
		return nil, fmt.Errorf("a model has at most %d variables, not %d", MaxVertices, len(names))
	}
	p := parser{text: text, names: names}
	g := New(len(names))
	for {
		p.space()
		if p.at == len(text) {
			break
		}
		c, err := p.clique()
		if err != nil {
			return nil, err
		}
		for v := range c.Vertices() {
			g.adj[v] |= c.Without(v)
		}
	}
	if !g.Decomposable() {
		return nil, fmt.Errorf("the model %s is not decomposable: it has a cycle of four or more variables without a chord", text)
	}
	return g, nil
}

// A parser reads the text of a model.
type parser struct {
	text  string
	at    int
	names []string
}

func (p *parser) space() {
	p.at = len(p.text) - len(strings.TrimLeftFunc(p.text[p.at:], unicode.IsSpace))
}

// clique reads from a bracket to its end.
func (p *parser) clique() (Set, error) {
	if p.text[p.at] != '[' {
		return 0, fmt.Errorf("the model has %q outside of brackets: write it as in [AGE SEX][SEX MSTATUS]", p.excerpt())
	}
	start := p.at
	p.at++
	var c Set
	for {
		p.space()
		if p.at == len(p.text) || p.text[p.at] == '[' {
			return 0, fmt.Errorf("the bracket %q of the model has no end", p.text[start:p.at])
		}
		if p.text[p.at] == ']' {
			p.at++
			if c == 0 {
				return 0, fmt.Errorf("the model has a bracket without variables: %q", p.text[start:p.at])
			}
			return c, nil
		}
		name, err := p.name()
		if err != nil {
			return 0, err
		}
		v, err := p.vertex(name)
		if err != nil {
			return 0, err
		}
		if c.Has(v) {
			return 0, fmt.Errorf("the model has the variable %q twice in one bracket", name)
		}
		c = c.With(v)
	}
}

// name reads one name, quoted or not.
func (p *parser) name() (string, error) {
	rest := p.text[p.at:]
	if rest[0] != '"' {
		end := strings.IndexFunc(rest, special)
		if end < 0 {
			end = len(rest)
		}
		p.at += end
		if end < len(rest) && rest[end] == '"' {
			return "", fmt.Errorf("the model has a quote within the name %q: quote all of it", rest[:end])
		}
		return rest[:end], nil
	}
	var name strings.Builder
	for i := 1; i < len(rest); i++ {
		if rest[i] != '"' {
			name.WriteByte(rest[i])
			continue
		}
		if i+1 < len(rest) && rest[i+1] == '"' {
			name.WriteByte('"')
			i++
			continue
		}
		p.at += i + 1
		return name.String(), nil
	}
	return "", fmt.Errorf("the quote before %q in the model has no end", p.excerpt())
}

func (p *parser) vertex(name string) (int, error) {
	v := slices.Index(p.names, name)
	if v < 0 {
		return 0, fmt.Errorf("the model has the variable %q, which is none of %s", name, strings.Join(p.names, ", "))
	}
	if slices.Contains(p.names[v+1:], name) {
		return 0, fmt.Errorf("the model has the variable %q, which two variables are called", name)
	}
	return v, nil
}

// excerpt is a piece of the text that is left, for an error.
func (p *parser) excerpt() string {
	rest := p.text[p.at:]
	if len(rest) <= 20 {
		return rest
	}
	end := 20
	for end > 16 && !utf8.RuneStart(rest[end]) {
		end--
	}
	return rest[:end] + "..."
}

// special tells whether a name with this character needs quotes.
func special(r rune) bool { return r == '[' || r == ']' || r == '"' || unicode.IsSpace(r) }

// Format writes a decomposable graph as Parse reads it: all maximal cliques, isolated vertices too, in the order of their first
// vertices. names has the name of each vertex.
func (g *Graph) Format(names []string) string {
	cliques := g.Cliques()
	slices.SortFunc(cliques, func(a, b Set) int {
		only := a ^ b
		return cmp.Compare((b & only & -only), (a & only & -only))
	})
	var text strings.Builder
	for _, c := range cliques {
		separator := byte('[')
		for v := range c.Vertices() {
			text.WriteByte(separator)
			separator = ' '
			name := names[v]
			if name == "" || strings.ContainsFunc(name, special) {
				name = `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
			}
			text.WriteString(name)
		}
		text.WriteByte(']')
	}
	return text.String()
}
