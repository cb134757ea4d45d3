package recode

import "microrisk/schemas"

// form is a mapping of new columns to how they are made.
type form struct{ c *Config }

// Read is a Form's.
func (f form) Read(d *schemas.Decoder, n *schemas.Node, path string, _ *schemas.Field) {
	*f.c = Config{}
	d.Entries(n, path, Name, func(name string, value *schemas.Node, at string) { *f.c = append(*f.c, read(d, name, value, at)) })
}

func read(d *schemas.Decoder, name string, n *schemas.Node, path string) Column {
	r := Column{Name: name}
	d.Mapping(n, path, r.Fields())
	return r
}

// Write is a Form's.
func (f form) Write(*schemas.Field) (any, bool) {
	out := schemas.Ordered{}
	for i := range *f.c {
		out = append(out, schemas.Member{Key: (*f.c)[i].Name, Value: (*f.c)[i].Fields().Write()})
	}
	return out, len(out) > 0
}

// Schema is a Form's.
func (f form) Schema(*schemas.Field) schemas.Ordered {
	return append(schemas.RawSchema(`"description": "Makes columns from others: new column to how it is made.", "type": "object", "minProperties": 1`),
		schemas.Member{Key: "additionalProperties", Value: new(Column).Fields().Schema()})
}

// Check is a Form's.
func (f form) Check(c *schemas.Checker, path string, _ *schemas.Field) {
	for i := range *f.c {
		c.Table(path+"."+(*f.c)[i].Name, (*f.c)[i].Fields())
	}
}

// categoriesForm is that of a map: null makes a value missing.
type categoriesForm struct{ to *map[string]string }

// Read is a Form's.
func (m categoriesForm) Read(d *schemas.Decoder, n *schemas.Node, path string, _ *schemas.Field) {
	*m.to = map[string]string{}
	d.Entries(n, path, "map", func(old string, value *schemas.Node, at string) {
		if value.IsNull() {
			(*m.to)[old] = ""
			return
		}
		(*m.to)[old], _ = d.Name(value, at, "a new value of map")
	})
}

// Write is a Form's.
func (m categoriesForm) Write(*schemas.Field) (any, bool) {
	return schemas.TextsOf(*m.to), *m.to != nil
}

// Schema is a Form's.
func (m categoriesForm) Schema(*schemas.Field) schemas.Ordered {
	return schemas.RawSchema(`"type": "object", "additionalProperties": {"type": ["string", "number", "boolean", "null"]}`)
}

// Check is a Form's.
func (m categoriesForm) Check(*schemas.Checker, string, *schemas.Field) {}

// otherForm is that of what all other values become: null makes them missing.
type otherForm struct{ to **string }

// Read is a Form's.
func (o otherForm) Read(d *schemas.Decoder, n *schemas.Node, path string, f *schemas.Field) {
	var v string
	*o.to = &v
	if !n.IsNull() {
		v, _ = d.Name(n, path, f.Name)
	}
}

// Write is a Form's.
func (o otherForm) Write(*schemas.Field) (any, bool) {
	if *o.to == nil {
		return nil, false
	}
	return **o.to, true
}

// Schema is a Form's.
func (o otherForm) Schema(*schemas.Field) schemas.Ordered {
	return schemas.RawSchema(`"type": ["string", "number", "boolean", "null"]`)
}

// Check is a Form's.
func (o otherForm) Check(*schemas.Checker, string, *schemas.Field) {}

// cutsForm is that of cut points.
type cutsForm struct{ to *[]float64 }

// Read is a Form's.
func (c cutsForm) Read(d *schemas.Decoder, n *schemas.Node, path string, f *schemas.Field) {
	*c.to = []float64{}
	d.Items(n, path, f.Name, func(_ int, item *schemas.Node, at string) { *c.to = append(*c.to, d.Number(item, at, "a cut point")) })
}

// Write is a Form's.
func (c cutsForm) Write(*schemas.Field) (any, bool) {
	list := []any{}
	for _, v := range *c.to {
		list = append(list, v)
	}
	return list, *c.to != nil
}

// Schema is a Form's.
func (c cutsForm) Schema(*schemas.Field) schemas.Ordered {
	return schemas.RawSchema(`"type": "array", "minItems": 1, "uniqueItems": true, "items": {"type": "number"}`)
}

// Check is a Form's.
func (c cutsForm) Check(*schemas.Checker, string, *schemas.Field) {}
