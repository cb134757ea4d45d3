package schemas

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"
)

// Decode reads a spec from YAML (or JSON, which is YAML) and validates it. name is the file's, for messages. The error is a
// *SpecError with all that is wrong, each with its line and column.
func Decode(name string, text []byte) (*Spec, error) {
	s, _, err := DecodePlaces(name, text)
	return s, err
}

// DecodePlaces is Decode, and remembers where in the text everything is.
func DecodePlaces(name string, text []byte) (*Spec, *Places, error) {
	root, problem := parse(text)
	if problem != nil {
		return nil, nil, &SpecError{name, []Problem{*problem}}
	}
	d := &decoder{places: places{}}
	s := &Spec{}
	version := int64(-1)
	d.mapping(root, "", "the spec", specFields(s, &version))
	switch {
	case version == -1 && !d.has("version"):
		d.problemAt("", "the spec has no version; its first line should be: version: 1")
	case version != -1 && version != Version && !d.failed("version"):
		d.problemAt("version", fmt.Sprintf("version %d is unknown; this program reads version %d", version, Version))
	}
	d.problems = append(d.problems, d.places.locate(s.problems(d.failed))...)
	return s, &Places{name, d.places}, asError(name, d.problems)
}

// Places are where the values of a spec are in its text.
type Places struct {
	name   string // of the text
	places places
}

// Locate gives the problems of a *SpecError that has no places their lines and columns. Other errors stay as they are.
func (p *Places) Locate(err error) error {
	var wrong *SpecError
	if p == nil || !errors.As(err, &wrong) || wrong.Name != "" {
		return err
	}
	return asError(p.name, p.places.locate(slices.Clone(wrong.Problems)))
}

// A place is a position in the spec's text.
type place struct{ line, column int }

// places of values, by their paths.
type places map[string]place

// A decoder turns nodes into values; what does not fit is a problem and the decoding goes on.
type decoder struct {
	places   places   // of the values
	wrong    []string // paths that could not be decoded
	problems []Problem
}

// A field of a mapping.
type field struct {
	name string
	read func(d *decoder, n ast.Node, path string)
}

func (d *decoder) has(path string) bool { _, ok := d.places[path]; return ok }

// failed tells whether the value at path, something in it or something around it could not be decoded, so that it says nothing.
func (d *decoder) failed(path string) bool {
	for _, w := range d.wrong {
		if w == path || within(w, path) || w != "" && within(path, w) {
			return true
		}
	}
	return false
}

func within(path, outer string) bool {
	return strings.HasPrefix(path, outer+".") || strings.HasPrefix(path, outer+"[")
}

// problemAt notes what is wrong with a value that has been met.
func (d *decoder) problemAt(path, message string) {
	d.wrong = append(d.wrong, path)
	d.problems = append(d.problems, d.places.locate([]Problem{{Path: path, Message: message}})...)
}

// locate gives problems the place of their path, or of the nearest value around it.
func (l places) locate(problems []Problem) []Problem {
	for i, p := range problems {
		path := p.Path
		for {
			if at, ok := l[path]; ok {
				problems[i].Line, problems[i].Column = at.line, at.column
				break
			}
			if path == "" {
				problems[i].Line, problems[i].Column = 1, 1
				break
			}
			path = path[:max(strings.LastIndexAny(path, ".["), 0)]
		}
	}
	return problems
}

// mapping reads a mapping whose fields are known; what is other than a mapping and unknown fields are problems.
func (d *decoder) mapping(n ast.Node, path, what string, fields []field) {
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.name
	}
	d.entries(n, path, what, func(key string, value ast.Node, at string) {
		for _, f := range fields {
			if f.name == key {
				f.read(d, value, at)
				return
			}
		}
		if reason := Planned(key); reason != "" && what == "an operator" {
			d.problemAt(at, reason)
			return
		}
		if what == "an operator" {
			d.problemAt(at, fmt.Sprintf("there is no operator %q; %s", key, instead(key, names)))
			return
		}
		d.problemAt(at, fmt.Sprintf("%s has no field %q; %s", what, key, instead(key, names)))
	})
}

// entries calls read for each entry of a mapping, in order. The place of an entry is its key's.
func (d *decoder) entries(n ast.Node, path, what string, read func(key string, value ast.Node, path string)) {
	var values []*ast.MappingValueNode
	switch n := n.(type) {
	case *ast.MappingNode:
		values = n.Values
	case *ast.MappingValueNode:
		values = []*ast.MappingValueNode{n}
	default:
		d.problemAt(path, fmt.Sprintf("%s must be a mapping of fields, not %s", what, describe(n)))
		return
	}
	for _, v := range values {
		key, ok := keyText(v.Key)
		at := key
		if path != "" {
			at = path + "." + key
		}
		d.places[at] = position(v.Key)
		if !ok {
			d.problemAt(at, "a field's name must be plain text")
			continue
		}
		read(key, v.Value, at)
	}
}

// items calls read for each item of a sequence, in order.
func (d *decoder) items(n ast.Node, path, what string, read func(i int, item ast.Node, path string)) {
	seq, ok := n.(*ast.SequenceNode)
	if !ok {
		d.problemAt(path, fmt.Sprintf("%s must be a list, not %s", what, describe(n)))
		return
	}
	for i, item := range seq.Values {
		at := path + "[" + strconv.Itoa(i) + "]"
		d.places[at] = position(item)
		read(i, item, at)
	}
}

// name reads text that names something: a column, a file, a policy.
func (d *decoder) name(n ast.Node, path, what string) (string, bool) {
	text, ok := scalarText(n)
	if !ok {
		d.problemAt(path, fmt.Sprintf("%s must be text, not %s", what, describe(n)))
	}
	return text, ok
}

func (d *decoder) bool(n ast.Node, path, what string) bool {
	b, ok := n.(*ast.BoolNode)
	if !ok {
		d.problemAt(path, fmt.Sprintf("%s must be true or false, not %s", what, describe(n)))
		return false
	}
	return b.Value
}

func (d *decoder) integer(n ast.Node, path, what string) int64 {
	text, ok := scalarText(n)
	if ok {
		v, err := strconv.ParseInt(text, 10, 64)
		if err == nil {
			return v
		}
	}
	d.problemAt(path, fmt.Sprintf("%s must be a whole number, not %s", what, describe(n)))
	return 0
}

// count reads a whole number of at least 0 that is the name of a field.
func (d *decoder) count(text, path string) int64 {
	v, err := strconv.ParseInt(text, 10, 64)
	if err != nil || v < 0 {
		d.problemAt(path, fmt.Sprintf("%q is no count; it must be a whole number of at least 0", text))
	}
	return v
}

func (d *decoder) number(n ast.Node, path, what string) float64 {
	text, ok := scalarText(n)
	if ok {
		v, err := strconv.ParseFloat(text, 64)
		if err == nil && !math.IsNaN(v) && !math.IsInf(v, 0) {
			return v
		}
	}
	d.problemAt(path, fmt.Sprintf("%s must be a finite number, not %s", what, describe(n)))
	return 0
}

// texts reads a list of values as they are written: 01, NO and 1e3 stay text.
func (d *decoder) texts(n ast.Node, path, what string) []string {
	list := []string{}
	d.items(n, path, what, func(_ int, item ast.Node, at string) {
		text, ok := scalarText(item)
		if !ok {
			d.problemAt(at, fmt.Sprintf("a value of %s must be text or a number, not %s; quote it if it is meant as text", what, describe(item)))
			return
		}
		list = append(list, text)
	})
	return list
}
