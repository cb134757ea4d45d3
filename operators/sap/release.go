package sap

import (
	"fmt"
	"reflect"

	"microrisk/schemas"
)

// A Release says how counts are published.
type Release struct {
	schemas.Perturbation
	BaseTable string   // how the table over all of cells is published, one of Totals; "" means same
	Total     string   // one of Totals; "" means none
	Margins   []Margin // further tables released
	Published string   // file with the counts really published; "" means that they are made anew
}

// A Margin is a table over some of the cells' variables that is released too.
type Margin struct {
	Variables []string
	Perturb   *schemas.Perturbation // nil: perturbed as the table is; its secret is the release's
}

// Joint tells whether what is known comes of several tables together, or of a table that is not published as it is perturbed.
func (r *Release) Joint() bool {
	return len(r.Margins) > 0 || r.BaseTable != "" && r.BaseTable != "same"
}

// Random tells whether a count that is published is left to chance.
func (r *Release) Random() bool {
	random := r.Perturbation.Random()
	for _, m := range r.Margins {
		random = random || m.Perturb != nil && m.Perturb.Random()
	}
	return random
}

// Fields is the field table of a release.
func (r *Release) Fields() schemas.Table {
	t := r.Perturbation.Fields()
	t.Doc = "How counts are published."
	t.Fields = append(
		t.Fields,
		schemas.Field{
			Name:   "base_table",
			To:     &r.BaseTable,
			Words:  Totals,
			Schema: `"default": "same"`,
			Doc:    "How the table over all of cells is published: perturbed, exactly, or not.",
			Flag:   &schemas.Flag{Name: "base-table", Usage: "how the tables over all of --cells are published: same, exact or none (default: same)"},
		},
		schemas.Field{
			Name:   "total",
			To:     &r.Total,
			Words:  Totals,
			Schema: `"default": "none"`,
			Doc:    "How each table's total is published: perturbed alike, exactly, or not.",
			Flag:   &schemas.Flag{Name: "total", Usage: "how each table's total is published: same, exact or none (default: none)"},
		},
		schemas.Field{
			Name: "margins",
			To:   marginsForm{&r.Margins},
			Doc:  "Further tables that are released, over some of the cells' variables: perturbed as the table is, or in ways of their own.",
		},
		schemas.Field{Name: "published", To: &r.Published, Schema: `"minLength": 1`, Doc: "File with the counts that were really published.",
			Flag: &schemas.Flag{Name: "published", Usage: "`FILE` with the counts that were really published"}},
	)
	return t
}

// fields is the field table of a margin with a scheme of its own, which p is.
func (m *Margin) fields(p *schemas.Perturbation) schemas.Table {
	t := p.Fields().Without("secret")
	t.What, t.Doc, t.Required = "a margin", "A margin with a scheme of its own; none publishes it exactly.", []string{"variables"}
	t.Fields = append([]schemas.Field{{Name: "variables", To: &m.Variables, Doc: "Some of the cells' variables."}}, t.Fields...)
	return t
}

// marginsForm is that of a list of margins: names, or mappings with a scheme of their own.
type marginsForm struct{ to *[]Margin }

// Read is a Form's.
func (m marginsForm) Read(d *schemas.Decoder, n *schemas.Node, path string, f *schemas.Field) {
	*m.to = []Margin{}
	d.Items(n, path, f.Name, func(_ int, item *schemas.Node, at string) {
		var one Margin
		if item == nil || item.Kind != schemas.Mapping {
			one.Variables = d.Texts(item, at, "a margin")
		} else {
			p := &schemas.Perturbation{}
			if d.Mapping(item, at, one.fields(p)); !reflect.ValueOf(*p).IsZero() {
				one.Perturb = p
			}
		}
		*m.to = append(*m.to, one)
	})
}

// Write is a Form's.
func (m marginsForm) Write(*schemas.Field) (any, bool) {
	var list []any
	for i := range *m.to {
		one := &(*m.to)[i]
		p := one.Perturb
		if p == nil {
			p = &schemas.Perturbation{}
		}
		written := one.fields(p).Write()
		if one.Perturb == nil && len(written) == 1 {
			list = append(list, written[0].Value)
			continue
		}
		list = append(list, written)
	}
	return list, list != nil
}

// Schema is a Form's.
func (m marginsForm) Schema(*schemas.Field) schemas.Ordered {
	one := Margin{}
	return schemas.ListOf(schemas.AnyOf(schemas.Ref("texts"), one.fields(&schemas.Perturbation{}).Schema()))
}

// Check is a Form's.
func (m marginsForm) Check(c *schemas.Checker, path string, _ *schemas.Field) {
	for i := range *m.to {
		one := &(*m.to)[i]
		at := fmt.Sprintf("%s[%d]", path, i)
		if one.Perturb != nil {
			c.Table(at, one.fields(one.Perturb).Without("variables"))
		}
		c.Twice(at, one.Variables)
	}
}

// impossibleForm is that of combinations of categories.
type impossibleForm struct{ to *[]map[string]string }

// Read is a Form's.
func (x impossibleForm) Read(d *schemas.Decoder, n *schemas.Node, path string, f *schemas.Field) {
	*x.to = []map[string]string{}
	d.Items(n, path, f.Name, func(_ int, item *schemas.Node, at string) {
		m := map[string]string{}
		d.Entries(item, at, "an impossible combination", func(name string, value *schemas.Node, at string) {
			m[name], _ = d.Name(value, at, "a category of "+name)
		})
		*x.to = append(*x.to, m)
	})
}

// Write is a Form's.
func (x impossibleForm) Write(*schemas.Field) (any, bool) {
	var list []any
	for _, m := range *x.to {
		list = append(list, schemas.TextsOf(m))
	}
	return list, list != nil
}

// Schema is a Form's.
func (x impossibleForm) Schema(*schemas.Field) schemas.Ordered {
	return schemas.RawSchema(`"type": "array", "items": {"type": "object", "minProperties": 1, "additionalProperties": {"$ref": "#/$defs/text"}}`)
}

// Check is a Form's: see [Config.Check].
func (x impossibleForm) Check(*schemas.Checker, string, *schemas.Field) {}
