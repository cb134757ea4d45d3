// Package specfile reads specs from YAML (or JSON, which is YAML). It is apart from package schemas so that a program that makes its specs
// itself, or none, links no YAML.
package specfile

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

	"microrisk/schemas"
	"microrisk/schemas/advice"
)

// MaxSpecSize is the largest text of a spec, in bytes: a spec is a page of text, larger ones are mistakes.
const MaxSpecSize = 1 << 20

// maxSpecDepth ends the parser's recursion.
const maxSpecDepth = 64

// Decode reads a spec and validates it. name is the file's, for messages. The error is a *schemas.SpecError with all that is wrong, each
// with its line and column.
func Decode(name string, text []byte) (*schemas.Spec, error) {
	s, _, err := DecodePlaces(name, text)
	return s, err
}

// DecodePlaces is Decode, and remembers where in the text everything is.
func DecodePlaces(name string, text []byte) (*schemas.Spec, *schemas.Places, error) {
	root, err := Parse(name, text)
	if err != nil {
		return nil, nil, err
	}
	return schemas.Decode(name, root)
}

// Parse gives the root of the only document of a YAML text.
func Parse(name string, text []byte) (*schemas.Node, error) {
	return ParseOther(name, "the spec", text, MaxSpecSize)
}

// ParseOther is Parse for a text that is no spec: what it is, for messages, and how many bytes it may have.
func ParseOther(name, what string, text []byte, most int64) (*schemas.Node, error) {
	root, problem := kind{what, most}.parse(text)
	if problem != nil {
		return nil, &schemas.SpecError{Name: name, Problems: []schemas.Problem{*problem}}
	}
	return nodeOf(root), nil
}

// nodeOf is a node of a spec as package schemas reads it.
func nodeOf(n ast.Node) *schemas.Node {
	if n == nil {
		return nil
	}
	out := &schemas.Node{At: position(n)}
	if text, ok := scalarText(n); ok {
		out.Kind, out.Text, out.Quoted = schemas.Scalar, text, quoted(n)
		if b, is := n.(*ast.BoolNode); is {
			out.Bool, out.IsBool = b.Value, true
		}
		return out
	}
	switch n := n.(type) {
	case *ast.NullNode:
	case *ast.SequenceNode:
		out.Kind = schemas.List
		for _, item := range n.Values {
			out.Items = append(out.Items, nodeOf(item))
		}
	case *ast.MappingNode:
		out.Kind, out.Entries = schemas.Mapping, entriesOf(n.Values)
	case *ast.MappingValueNode:
		out.Kind, out.Entries = schemas.Mapping, entriesOf([]*ast.MappingValueNode{n})
	case *ast.AnchorNode, *ast.AliasNode:
		out.Kind, out.Strange = schemas.Strange, "an anchor or alias (write the value out)"
	case *ast.TagNode:
		out.Kind, out.Strange = schemas.Strange, "a tagged value (leave the tag out)"
	default:
		out.Kind, out.Strange = schemas.Strange, "this"
	}
	return out
}

func entriesOf(values []*ast.MappingValueNode) []schemas.Entry {
	var list []schemas.Entry
	for _, v := range values {
		key, plain := keyText(v.Key)
		list = append(list, schemas.Entry{Key: key, Plain: plain, At: position(v.Key), Value: nodeOf(v.Value)})
	}
	return list
}

// A kind of text is what it is called, and how many bytes it may have.
type kind struct {
	what string
	most int64
}

// parse gives the root of the only document of a YAML text, and recovers from what the library stumbles on.
func (k kind) parse(text []byte) (root ast.Node, problem *schemas.Problem) {
	defer func() {
		// The library is made for trusted text.
		if r := recover(); r != nil {
			root, problem = nil, &schemas.Problem{Line: 1, Column: 1, Message: advice.Textf("%s cannot be parsed as YAML: %v", k.what, r)}
		}
	}()
	if int64(len(text)) > k.most {
		return nil, &schemas.Problem{Line: 1, Column: 1, Message: advice.Textf("%s has more than the %d bytes that are read", k.what, k.most)}
	}
	text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf")) // the byte order mark that some editors write
	if problem := k.notText(text); problem != nil {
		return nil, problem
	}
	tokens := lexer.Tokenize(string(text))
	if problem := k.depth(tokens); problem != nil {
		return nil, problem
	}
	file, err := parser.Parse(tokens, 0)
	if err != nil {
		return nil, k.syntax(err)
	}
	var docs []ast.Node
	for _, doc := range file.Docs {
		if doc.Body != nil && doc.Body.Type() != ast.CommentType {
			docs = append(docs, doc.Body)
		}
	}
	switch len(docs) {
	case 0:
		if k.what != "the spec" {
			return nil, &schemas.Problem{Line: 1, Column: 1, Message: advice.Textf("%s is empty", k.what)}
		}
		return nil, &schemas.Problem{Line: 1, Column: 1, Message: advice.Textf("the spec is empty; it needs at least version, source, key and operators")}
	case 1:
		return docs[0], nil
	}
	at := position(docs[1])
	return nil, &schemas.Problem{Line: at.Line, Column: at.Column, Message: advice.Textf("%s is one YAML document; a second one starts here", k.what)}
}

// depth finds nesting that no spec has before the parser recurses into it.
func (k kind) depth(tokens token.Tokens) *schemas.Problem {
	flow, entries, line := 0, 0, 0
	for _, t := range tokens {
		if t.Position.Line != line {
			entries, line = 0, t.Position.Line
		}
		switch t.Type {
		case token.SequenceStartType, token.MappingStartType:
			flow++
		case token.SequenceEndType, token.MappingEndType:
			flow--
		case token.SequenceEntryType, token.MappingKeyType, token.AnchorType, token.TagType:
			entries++
		case token.MappingValueType:
			if flow == 0 {
				entries++
			}
		}
		if flow > maxSpecDepth || entries > maxSpecDepth || t.Position.IndentNum > 16*maxSpecDepth {
			return &schemas.Problem{Line: t.Position.Line, Column: t.Position.Column, Message: advice.Textf("values are nested too deeply for %s", k.what)}
		}
	}
	return nil
}

// syntax tells in one line what the parser did not understand.
func (k kind) syntax(err error) *schemas.Problem {
	p := &schemas.Problem{Line: 1, Column: 1, Message: advice.Textf("%s is not YAML: %s", k.what, firstLine(err.Error()))}
	var at yaml.Error
	if errors.As(err, &at) {
		p.Message = advice.Textf("%s is not YAML: %s", k.what, firstLine(at.GetMessage()))
		if t := at.GetToken(); t != nil && t.Position != nil {
			p.Line, p.Column = t.Position.Line, t.Position.Column
		}
	}
	return p
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}

// position is where a node starts.
func position(n ast.Node) schemas.Place {
	switch m := n.(type) {
	case nil:
		return schemas.Place{Line: 1, Column: 1}
	case *ast.MappingNode:
		if !m.IsFlowStyle && len(m.Values) > 0 {
			return position(m.Values[0].Key)
		}
	case *ast.MappingValueNode:
		return position(m.Key)
	}
	if t := n.GetToken(); t != nil && t.Position != nil {
		return schemas.Place{Line: t.Position.Line, Column: t.Position.Column}
	}
	return schemas.Place{Line: 1, Column: 1}
}

// scalarText is a scalar as it is written, without quotes; false for null and for what is no scalar.
func scalarText(n ast.Node) (string, bool) {
	switch n := n.(type) {
	case *ast.StringNode:
		return n.Value, true
	case *ast.LiteralNode:
		return n.Value.Value, true
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.InfinityNode, *ast.NanNode:
		return n.GetToken().Value, true
	}
	return "", false
}

// quoted tells whether a scalar is text whatever it looks like.
func quoted(n ast.Node) bool {
	if _, block := n.(*ast.LiteralNode); block {
		return true
	}
	return slices.Contains([]token.Type{token.SingleQuoteType, token.DoubleQuoteType}, n.GetToken().Type)
}

// keyText is the text of a mapping's key.
func keyText(n ast.MapKeyNode) (string, bool) {
	if k, ok := n.(*ast.MappingKeyNode); ok {
		return scalarText(k.Value)
	}
	if n.IsMergeKey() {
		return "<<", false
	}
	if _, ok := n.(*ast.NullNode); ok {
		return "null", false
	}
	return scalarText(n)
}

// notText finds bytes that are no UTF-8, which YAML is: they would be read as other characters than were meant.
func (k kind) notText(text []byte) *schemas.Problem {
	line, column := 1, 1
	for len(text) > 0 {
		r, size := utf8.DecodeRune(text)
		switch {
		case r == utf8.RuneError && size == 1:
			return &schemas.Problem{
				Line:    line,
				Column:  column,
				Message: advice.Textf("%s is not UTF-8 here; convert it first, as from Latin-1 or Windows-1252: iconv -f WINDOWS-1252 -t UTF-8", k.what),
			}
		case r == '\n':
			line, column = line+1, 1
		default:
			column++
		}
		text = text[size:]
	}
	return nil
}
