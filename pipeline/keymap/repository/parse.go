package repository

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"microrisk/schemas"
	"microrisk/schemas/advice"
)

// maxDepth is how deeply values of a file are nested at most.
const maxDepth = 64

// parse gives the root of a YAML text as field tables read it. The error is a *schemas.SpecError.
func parse(name string, text []byte) (*schemas.Node, error) {
	doc, err := document(name, text)
	if err != nil {
		return nil, err
	}
	root := new(schemas.Node)
	if problem := fill(root, doc.Content[0], 0); problem != nil {
		return nil, &schemas.SpecError{Name: name, Problems: []schemas.Problem{*problem}}
	}
	return root, nil
}

// document is the only YAML document of a text, with its comments. The error is a *schemas.SpecError.
func document(name string, text []byte) (doc *yaml.Node, err error) {
	wrong := func(line int, format string, args ...any) error {
		return &schemas.SpecError{Name: name, Problems: []schemas.Problem{{Line: max(line, 1), Column: 1, Message: advice.Textf(format, args...)}}}
	}
	defer func() {
		if r := recover(); r != nil { // the library is made for trusted text
			doc, err = nil, wrong(1, "it cannot be parsed as YAML: %v", r)
		}
	}()
	text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))
	if !utf8.Valid(text) {
		line, says := notUTF8(text)
		return nil, wrong(line, "%s", says)
	}
	d := yaml.NewDecoder(bytes.NewReader(text))
	doc = new(yaml.Node)
	if err := d.Decode(doc); err != nil {
		if err == io.EOF {
			return nil, wrong(1, "it is empty")
		}
		line, says := syntaxError(err, text)
		return nil, wrong(line, "it is not YAML: %s", says)
	}
	var more yaml.Node
	if err := d.Decode(&more); err != io.EOF {
		return nil, wrong(more.Line, "a file is one YAML document; a second one starts here")
	}
	return doc, nil
}

// fill makes a node what field tables read of a value.
func fill(out *schemas.Node, n *yaml.Node, depth int) *schemas.Problem {
	out.At = schemas.Place{Line: n.Line, Column: n.Column}
	problem := func(at *yaml.Node, format string, args ...any) *schemas.Problem {
		return &schemas.Problem{Line: at.Line, Column: at.Column, Message: advice.Textf(format, args...)}
	}
	if depth > maxDepth {
		return problem(n, "values are nested too deeply")
	}
	switch n.Kind {
	case yaml.ScalarNode:
		switch n.Tag {
		case "!!null":
			return nil
		case "!!bool":
			out.IsBool, out.Bool = true, strings.EqualFold(n.Value, "true")
		case "!!str", "!!int", "!!float", "!!timestamp":
		default:
			out.Kind, out.Strange = schemas.Strange, "a tagged value (leave the tag out)"
			return nil
		}
		out.Kind, out.Text = schemas.Scalar, n.Value
	case yaml.SequenceNode:
		out.Kind = schemas.List
		items := make([]schemas.Node, len(n.Content))
		out.Items = make([]*schemas.Node, len(items))
		for i, item := range n.Content {
			if wrong := fill(&items[i], item, depth+1); wrong != nil {
				return wrong
			}
			out.Items[i] = &items[i]
		}
	case yaml.MappingNode:
		out.Kind = schemas.Mapping
		seen := make(map[string]int, len(n.Content)/2)
		values := make([]schemas.Node, len(n.Content)/2)
		out.Entries = make([]schemas.Entry, 0, len(values))
		for i := 0; i+1 < len(n.Content); i += 2 {
			key := n.Content[i]
			e := schemas.Entry{
				Key:   key.Value,
				Plain: key.Kind == yaml.ScalarNode && key.Tag != "!!merge",
				At:    schemas.Place{Line: key.Line, Column: key.Column},
			}
			if line, twice := seen[e.Key]; twice && e.Plain {
				return problem(key, "%q stands twice, also in line %d", e.Key, line)
			}
			seen[e.Key] = key.Line
			e.Value = &values[i/2]
			if wrong := fill(e.Value, n.Content[i+1], depth+1); wrong != nil {
				return wrong
			}
			out.Entries = append(out.Entries, e)
		}
	default:
		out.Kind, out.Strange = schemas.Strange, "an anchor or alias (write the value out)"
	}
	return nil
}

// Slug is an id made of a name: lower-case letters, digits and dashes.
func Slug(name string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(name) {
		switch {
		case r >= 'a' && r <= 'z' || r >= '0' && r <= '9':
			b.WriteRune(r)
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
	}
	s := strings.Trim(b.String(), "-")
	if s == "" {
		return "x"
	}
	return s
}

// Free is a slug that is not taken: a collision gets -2, -3 and so on.
func Free(name string, taken func(string) bool) string { return Slugs{}.Free(name, taken) }

// Slugs are the numbers of slugs that were given of each text, so that the next is found without trying them again.
type Slugs map[string]int

// Free is a slug that is not taken, as [Free] gives it.
func (s Slugs) Free(name string, taken func(string) bool) string {
	base := Slug(name)
	for {
		s[base]++
		slug := base
		if n := s[base]; n > 1 {
			slug = fmt.Sprintf("%s-%d", base, n)
		}
		if !taken(slug) {
			return slug
		}
	}
}
