package schemas

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"microrisk/schemas/advice"
)

// Decode makes a spec of the root of its text and validates it. name is the file's, for messages. The error is a *SpecError with all that
// is wrong, each with its line and column. Package specfile has the same for YAML and JSON.
func Decode(name string, root *Node) (*Spec, *Places, error) {
	d := &Decoder{places: places{}}
	s := &Spec{}
	version := int64(-1)
	d.Mapping(root, "", s.fields(&version))
	d.version(version)
	d.problems = append(d.problems, d.places.locate(s.problems(d.Failed))...)
	return s, &Places{name, d.places}, AsError(name, d.problems)
}

// DecodePart reads what is part of a spec by itself, and judges it; decoded tells that all could be read. The error is as that of [Decode].
func DecodePart(name string, read func(d *Decoder), check func(c *Checker, decoded bool)) error {
	d := &Decoder{places: places{}}
	read(d)
	c := &Checker{skip: d.Failed}
	check(c, len(d.problems) == 0)
	d.problems = append(d.problems, d.places.locate(c.problems)...)
	return AsError(name, d.problems)
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
	return AsError(p.name, p.places.locate(slices.Clone(wrong.Problems)))
}

// Of is the line and column of the value at a path, or of the nearest around it; 0 if the text is not known.
func (p *Places) Of(path string) (line, column int) {
	if p == nil {
		return 0, 0
	}
	at := p.places.locate([]Problem{{Path: path}})[0]
	return at.Line, at.Column
}

// places of values, by their paths.
type places map[string]spot

// A spot is a value's place, with the items of a list of texts, which have no spots of their own.
type spot struct {
	Place
	items []*Node
}

// find is the place of the value at a path.
func (l places) find(path string) (Place, bool) {
	if at, ok := l[path]; ok {
		return at.Place, true
	}
	if open := strings.LastIndexByte(path, '['); open >= 0 && strings.HasSuffix(path, "]") {
		items := l[path[:open]].items
		if i, err := strconv.Atoi(path[open+1 : len(path)-1]); err == nil && i >= 0 && i < len(items) {
			return items[i].At, true
		}
	}
	return Place{}, false
}

// A Decoder turns nodes into values; what does not fit is a problem and the decoding goes on.
type Decoder struct {
	places   places   // of the values
	wrong    []string // paths that could not be decoded
	problems []Problem
}

// Has tells whether there is a value at the path.
func (d *Decoder) Has(path string) bool { _, ok := d.places.find(path); return ok }

// Failed tells whether the value at path, something in it or something around it could not be decoded, so that it says nothing.
func (d *Decoder) Failed(path string) bool {
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

// Problem notes what is wrong with a value that has been met.
func (d *Decoder) Problem(path, message string) {
	d.wrong = append(d.wrong, path)
	d.problems = append(d.problems, d.places.locate([]Problem{{Path: path, Message: advice.Textf("%s", message)}})...)
}

// locate gives problems the place of their path, or of the nearest value around it.
func (l places) locate(problems []Problem) []Problem {
	for i, p := range problems {
		path := p.Path
		for {
			if at, ok := l.find(path); ok {
				problems[i].Line, problems[i].Column = at.Line, at.Column
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

// Mapping reads a mapping by its field table; what is other than a mapping and unknown fields are problems.
func (d *Decoder) Mapping(n *Node, path string, t Table) {
	d.Entries(n, path, t.What, func(key string, value *Node, at string) {
		f := t.Field(key)
		if f == nil {
			d.Problem(at, fmt.Sprintf("%s has no field %q; %s", t.What, key, instead(key, t.names())))
			return
		}
		f.form().Read(d, value, at, f)
	})
}

// Entries calls read for each entry of a mapping, in order. The place of an entry is its key's.
func (d *Decoder) Entries(n *Node, path, what string, read func(key string, value *Node, path string)) {
	if n == nil || n.Kind != Mapping {
		d.Problem(path, fmt.Sprintf("%s must be a mapping of fields, not %s", what, n.describe()))
		return
	}
	for _, e := range n.Entries {
		at := e.Key
		if path != "" {
			at = path + "." + e.Key
		}
		d.places[at] = spot{Place: e.At}
		if !e.Plain {
			d.Problem(at, "a field's name must be plain text")
			continue
		}
		read(e.Key, e.Value, at)
	}
}

// Items calls read for each item of a list, in order.
func (d *Decoder) Items(n *Node, path, what string, read func(i int, item *Node, path string)) {
	if n == nil || n.Kind != List {
		d.Problem(path, fmt.Sprintf("%s must be a list, not %s", what, n.describe()))
		return
	}
	for i, item := range n.Items {
		at := path + "[" + strconv.Itoa(i) + "]"
		d.places[at] = spot{Place: item.At}
		read(i, item, at)
	}
}

// Name reads text that names something: a column, a file, a policy.
func (d *Decoder) Name(n *Node, path, what string) (string, bool) {
	text, ok := n.Scalar()
	if !ok {
		d.Problem(path, fmt.Sprintf("%s must be text, not %s", what, n.describe()))
	}
	return text, ok
}

// Bool reads true or false.
func (d *Decoder) Bool(n *Node, path, what string) bool {
	if n == nil || !n.IsBool {
		d.Problem(path, fmt.Sprintf("%s must be true or false, not %s", what, n.describe()))
		return false
	}
	return n.Bool
}

// Integer reads a whole number.
func (d *Decoder) Integer(n *Node, path, what string) int64 {
	if text, ok := n.number(); ok {
		if v, err := strconv.ParseInt(text, 10, 64); err == nil {
			return v
		}
	}
	d.Problem(path, fmt.Sprintf("%s must be a whole number, not %s", what, n.describe()))
	return 0
}

// Count reads a whole number of at least 0 that is the name of a field.
func (d *Decoder) Count(text, path string) int64 {
	v, err := strconv.ParseInt(text, 10, 64)
	if err != nil || v < 0 {
		d.Problem(path, fmt.Sprintf("%q is no count; it must be a whole number of at least 0", text))
	}
	return v
}

// Number reads a finite number.
func (d *Decoder) Number(n *Node, path, what string) float64 {
	if text, ok := n.number(); ok {
		if v, err := strconv.ParseFloat(text, 64); err == nil && !math.IsNaN(v) && !math.IsInf(v, 0) {
			return v
		}
	}
	d.Problem(path, fmt.Sprintf("%s must be a finite number, not %s", what, n.describe()))
	return 0
}

// Texts reads a list of values as they are written: 01, NO and 1e3 stay text.
func (d *Decoder) Texts(n *Node, path, what string) []string {
	if n == nil || n.Kind != List {
		d.Problem(path, fmt.Sprintf("%s must be a list, not %s", what, n.describe()))
		return []string{}
	}
	at, met := d.places[path]
	if !met {
		at.Place = n.At
	}
	d.places[path] = spot{at.Place, n.Items}
	list := make([]string, 0, len(n.Items))
	for i, item := range n.Items {
		text, ok := item.Scalar()
		if !ok {
			d.Problem(fmt.Sprintf("%s[%d]", path, i),
				fmt.Sprintf("a value of %s must be text or a number, not %s; quote it if it is meant as text", what, item.describe()))
			continue
		}
		list = append(list, text)
	}
	return list
}
