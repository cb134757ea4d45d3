package repository

import (
	"fmt"
	"math"
	"strconv"

	"microrisk/engine/keymap"
	"microrisk/schemas"
)

// pairs is the form of edges: a list of lists of two ids.
type pairs struct{ to *[][2]string }

// Read takes the pairs.
func (p pairs) Read(d *schemas.Decoder, n *schemas.Node, path string, _ *schemas.Field) {
	*p.to = [][2]string{}
	d.Items(n, path, "edges", func(_ int, item *schemas.Node, at string) {
		two := d.Texts(item, at, "an edge")
		if d.Failed(at) {
			return
		}
		if len(two) != 2 {
			d.Problem(at, fmt.Sprintf("an edge has %d ids; it is of two: a category and a part of it", len(two)))
			return
		}
		*p.to = append(*p.to, [2]string(two))
	})
}

// Write gives them.
func (p pairs) Write(*schemas.Field) (any, bool) {
	var list []any
	for _, e := range *p.to {
		list = append(list, []any{e[0], e[1]})
	}
	return list, list != nil
}

// Schema describes them.
func (pairs) Schema(*schemas.Field) schemas.Ordered {
	return schemas.ListOf(schemas.RawSchema(`"type": "array", "minItems": 2, "maxItems": 2, "items": {"type": "string"}`))
}

// Check has nothing to find: ids are judged where the graph is made.
func (pairs) Check(*schemas.Checker, string, *schemas.Field) {}

// boundForm is that of an end of a band: a number, or inf or -inf.
type boundForm struct{ to **float64 }

// Read takes a bound.
func (b boundForm) Read(d *schemas.Decoder, n *schemas.Node, path string, f *schemas.Field) {
	text, ok := n.Scalar()
	switch text {
	case "inf", ".inf", "+inf":
		*b.to = pointer(math.Inf(1))
		return
	case "-inf", "-.inf":
		*b.to = pointer(math.Inf(-1))
		return
	}
	if x, err := strconv.ParseFloat(text, 64); !ok || err != nil || math.IsNaN(x) || math.IsInf(x, 0) {
		said := ""
		if ok {
			said = fmt.Sprintf(", not %q", text)
		}
		d.Problem(path, f.Name+" must be a number, or inf or -inf"+said)
		return
	}
	if v := d.Number(n, path, f.Name); !d.Failed(path) {
		*b.to = &v
	}
}

func pointer[T any](v T) *T { return &v }

// Write gives it.
func (b boundForm) Write(*schemas.Field) (any, bool) {
	switch {
	case *b.to == nil:
		return nil, false
	case math.IsInf(**b.to, 1):
		return "inf", true
	case math.IsInf(**b.to, -1):
		return "-inf", true
	}
	return **b.to, true
}

// Schema describes it.
func (boundForm) Schema(*schemas.Field) schemas.Ordered {
	return schemas.RawSchema(`"anyOf": [{"type": "number"}, {"enum": ["inf", "-inf"]}]`)
}

// Check has nothing to find: bands are judged where the graph is made.
func (boundForm) Check(*schemas.Checker, string, *schemas.Field) {}

// prevalences is the form of shares as they are written: 0.1 stays 1/10.
type prevalences struct{ to *[]string }

// Read takes one, or a list.
func (p prevalences) Read(d *schemas.Decoder, n *schemas.Node, path string, f *schemas.Field) {
	if text, ok := n.Scalar(); ok {
		*p.to = []string{text}
		return
	}
	*p.to = d.Texts(n, path, f.Name)
}

// Write gives them.
func (p prevalences) Write(*schemas.Field) (any, bool) {
	var list []any
	for _, text := range *p.to {
		list = append(list, text)
	}
	return list, list != nil
}

// Schema describes them.
func (prevalences) Schema(*schemas.Field) schemas.Ordered {
	one := schemas.RawSchema(`"type": ["string", "number"]`)
	return schemas.AnyOf(one, schemas.ListOf(one))
}

// Check judges each.
func (p prevalences) Check(c *schemas.Checker, path string, _ *schemas.Field) {
	for i, text := range *p.to {
		if _, err := keymap.ParsePrevalence(text); err != nil {
			at := path
			if len(*p.to) > 1 {
				at = fmt.Sprintf("%s[%d]", path, i)
			}
			c.Add(at, "%s", err)
		}
	}
}
