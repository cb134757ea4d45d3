package schemas

import (
	"fmt"
	"reflect"
	"slices"

	"github.com/goccy/go-yaml/ast"
)

func sapFields(s *SAP) []field {
	return []field{
		{"prefix", text("prefix", &s.Prefix)},
		{"by", variableList("by", &s.By)},
		{"cells", variableList("cells", &s.Cells)},
		{"missing", text("missing", &s.Missing)},
		{"release", func(d *decoder, n ast.Node, path string) { d.mapping(n, path, "release", releaseFields(&s.Release)) }},
		{"known", integers("known", &s.Known)},
		{"impossible", func(d *decoder, n ast.Node, path string) {
			s.Impossible = []map[string]string{}
			d.items(n, path, "impossible", func(_ int, item ast.Node, at string) {
				m := map[string]string{}
				d.entries(item, at, "an impossible combination", func(name string, value ast.Node, at string) {
					m[name], _ = d.name(value, at, "a category of "+name)
				})
				s.Impossible = append(s.Impossible, m)
			})
		}},
		{"threshold", optionalNumber("threshold", &s.Threshold)},
		{"tables", text("tables", &s.Tables)},
		{"replace", boolean("replace", &s.Replace)},
	}
}

func releaseFields(r *Release) []field {
	return append(perturbationFields(&r.Perturbation),
		field{"total", text("total", &r.Total)},
		field{"base_table", text("base_table", &r.BaseTable)},
		field{"margins", func(d *decoder, n ast.Node, path string) {
			r.Margins = []Margin{}
			d.items(n, path, "margins", func(_ int, item ast.Node, at string) {
				r.Margins = append(r.Margins, d.margin(item, at))
			})
		}},
		field{"published", text("published", &r.Published)},
	)
}

// margin reads a list of names, or a mapping with a scheme of the margin's own.
func (d *decoder) margin(n ast.Node, path string) (m Margin) {
	switch n.(type) {
	case *ast.MappingNode, *ast.MappingValueNode:
	default:
		m.Variables = d.texts(n, path, "a margin")
		return m
	}
	m.Perturb = &Perturbation{}
	d.mapping(n, path, "a margin", marginFields(&m))
	if reflect.ValueOf(*m.Perturb).IsZero() {
		m.Perturb = nil
	}
	return m
}

func marginFields(m *Margin) []field {
	return append([]field{{"variables", func(d *decoder, n ast.Node, path string) { m.Variables = d.texts(n, path, "variables") }}},
		slices.DeleteFunc(perturbationFields(m.Perturb), func(f field) bool { return f.name == "secret" })...)
}

func perturbationFields(p *Perturbation) []field {
	return []field{
		{"scheme", text("scheme", &p.Scheme)},
		{"base", func(d *decoder, n ast.Node, path string) {
			p.Base = d.integer(n, path, "base")
			if !d.failed(path) && p.Base < 1 {
				d.problemAt(path, fmt.Sprintf("base is %d; rounding needs a base from 2, such as 3 or 5", p.Base))
			}
		}},
		{"tie", text("tie", &p.Tie)},
		{"probability", optionalNumber("probability", &p.Probability)},
		{"last", func(d *decoder, n ast.Node, path string) { p.Last = d.integer(n, path, "last") }},
		{"value", func(d *decoder, n ast.Node, path string) { p.Value = d.integer(n, path, "value") }},
		{"matrix", func(d *decoder, n ast.Node, path string) {
			p.Matrix = [][]Outcome{}
			d.items(n, path, "matrix", func(_ int, item ast.Node, at string) {
				row := []Outcome{}
				d.entries(item, at, "a row of the matrix", func(count string, value ast.Node, at string) {
					row = append(row, Outcome{d.count(count, at), d.number(value, at, "the probability of "+count)})
				})
				p.Matrix = append(p.Matrix, row)
			})
		}},
		{"secret", text("secret", &p.Secret)},
	}
}

// variableList reads a list of names, or of variables with their levels.
func variableList(what string, to *[]KeyVariable) func(*decoder, ast.Node, string) {
	return func(d *decoder, n ast.Node, path string) {
		if name, ok := scalarText(n); ok {
			*to = []KeyVariable{{Name: name}}
			return
		}
		*to = []KeyVariable{}
		d.items(n, path, what, func(_ int, item ast.Node, at string) {
			v := KeyVariable{}
			if name, ok := scalarText(item); ok {
				v.Name = name
			} else {
				d.mapping(item, at, "a variable of "+what, keyVariableFields(&v))
			}
			*to = append(*to, v)
		})
	}
}

func integers(what string, to *[]int64) func(*decoder, ast.Node, string) {
	return func(d *decoder, n ast.Node, path string) {
		if _, ok := scalarText(n); ok {
			*to = []int64{d.integer(n, path, what)}
			return
		}
		*to = []int64{}
		d.items(n, path, what, func(_ int, item ast.Node, at string) {
			*to = append(*to, d.integer(item, at, "a number of "+what))
		})
	}
}
