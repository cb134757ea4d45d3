package schemas

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

//go:embed summary.document.json
var summaryDocument []byte

// SummarySchema is the JSON Schema (draft 2020-12) of the summary document, with the parts of all operators.
func SummarySchema() []byte {
	root := mustOrdered(summaryDocument)
	definitions := root.at("$defs").(Ordered)
	var parts []any
	for _, k := range kinds {
		if k.Document == nil {
			if _, named := k.New().(Named); named {
				parts = append(parts, RawSchema(`"type": "object"`))
			}
			continue
		}
		definitions = append(definitions, mustOrdered(k.Document)...)
		parts = append(parts, Ref(k.Name))
	}
	root.set("$defs", definitions)
	root.at("properties").(Ordered).at("operators").(Ordered).set("additionalProperties", AnyOf(parts...))
	return published(root)
}

// mustOrdered reads a JSON object of the program.
func mustOrdered(text []byte) Ordered {
	return RawSchema(strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(string(text)), "{"), "}"))
}

// at is the value of a key; nil if there is none.
func (o Ordered) at(key string) any {
	for _, m := range o {
		if m.Key == key {
			return m.Value
		}
	}
	return nil
}

// set changes the value of a key that is there.
func (o Ordered) set(key string, value any) {
	for i := range o {
		if o[i].Key == key {
			o[i].Value = value
		}
	}
}

// published is a JSON Schema as it is written to a file.
func published(root Ordered) []byte {
	var b bytes.Buffer
	writeJSON(&b, root, "")
	b.WriteByte('\n')
	return b.Bytes()
}

const runDoc = "Describes a run of microrisk: where the microdata comes from, what is done to it, where it goes."

// SpecSchema is the JSON Schema (draft 2020-12) of the spec, made from the field tables, for editors and for programs that write specs. It
// finds less than [Decode] does: nothing that compares two values, such as the order of cut points.
func SpecSchema() []byte {
	version := int64(0)
	root := append(Ordered{
		{"$schema", "https://json-schema.org/draft/2020-12/schema"},
		{"title", "microrisk spec"},
		{"description", runDoc},
	}, new(Spec).fields(&version).Schema()...)
	root = append(root, Member{"$defs", definitions()})
	return published(root)
}

// definitions are the parts that several fields have.
func definitions() Ordered {
	var alone []any
	properties := Ordered{}
	for _, k := range kinds {
		form := formOf(k.New(), k).Schema(&Field{Name: k.Name})
		if k.Alone {
			alone = append(alone, Ordered{{"description", k.Name + " with its defaults."}, {"const", k.Name}})
			form = AnyOf(RawSchema(`"type": "null"`), form)
		}
		properties = append(properties, Member{k.Name, form})
	}
	operator := AnyOf(
		append(alone, Ordered{{"type", "object"}, {"additionalProperties", false}, {"minProperties", 1}, {"maxProperties", 1}, {"properties", properties}})...)
	limits := Ordered{}
	for _, f := range Figures() {
		limits = append(limits, Member{f.Name, append(Ordered{{"description", f.Doc}}, Ref("limit")...)})
	}
	return Ordered{
		{"text", RawSchema(`"description": "A value as it is written: 01, NO and 1e3 stay text.", ` + anyScalar)},
		{"texts", RawSchema(`"type": "array", "uniqueItems": true, "items": {"$ref": "#/$defs/text"}`)},
		{"column", RawSchema(`"description": "Name of a column.", ` + anyScalar)},
		{"key", new(Key).Fields().Schema()},
		{"key_variable", new(KeyVariable).Fields().Schema()},
		{"limit", Ordered{{"description", "The largest value allowed; with of: modelled, of the records alone that missing values do not drop."},
			{"oneOf", []any{RawSchema(`"type": "number", "minimum": 0`), new(Limit).fields("").Schema()}}}},
		{
			"limits",
			Ordered{
				{
					"description",
					"A gate: when a figure is above its limit, is of no records, or of a part of them, the outputs are written and the exit status is 3.",
				},
				{"type", "object"},
				{"additionalProperties", false},
				{"properties", limits},
			},
		},
		{"operator", operator},
	}
}

// Schema describes a mapping by its field table.
func (t Table) Schema() Ordered {
	o := Ordered{}
	if t.Doc != "" {
		o = append(o, Member{"description", t.Doc})
	}
	o = append(o, Member{"type", "object"})
	if t.Required != nil {
		o = append(o, Member{"required", anyList(t.Required)})
	}
	o = append(o, Member{"additionalProperties", false})
	properties := Ordered{}
	for i := range t.Fields {
		properties = append(properties, Member{t.Fields[i].Name, t.Fields[i].schema()})
	}
	o = append(o, Member{"properties", properties})
	return append(o, RawSchema(t.Rules)...)
}

// schema describes the value of a field.
func (f *Field) schema() Ordered {
	o := Ordered{}
	if f.Doc != "" {
		o = append(o, Member{"description", f.Doc})
	}
	said := RawSchema(f.Schema)
	for _, m := range f.form().Schema(f) {
		other := slices.ContainsFunc(said, func(s Member) bool { return s.Key == m.Key })
		if described := m.Key == "description" && f.Doc != ""; !other && !described {
			o = append(o, m)
		}
	}
	o = append(o, said...)
	if f.Default != nil {
		var value any = f.Default
		if list, ok := value.([]float64); ok {
			value, _ = oneOrList(list)
		}
		o = append(o, Member{"default", value})
	}
	return o
}

// Ref is a reference to a definition of the spec's JSON Schema: text, texts, column, key, key_variable.
func Ref(definition string) Ordered { return Ordered{{"$ref", "#/$defs/" + definition}} }

// AnyOf is a choice of schemas.
func AnyOf(choices ...any) Ordered { return Ordered{{"anyOf", choices}} }

// ListOf is a list of what a schema describes.
func ListOf(item Ordered) Ordered { return Ordered{{"type", "array"}, {"items", item}} }

// RawSchema is the inside of a JSON object, in its order. What is no JSON is a panic: it is a text of the program.
func RawSchema(text string) Ordered {
	d := json.NewDecoder(bytes.NewReader([]byte("{" + text + "}")))
	d.UseNumber()
	value, err := orderedJSON(d)
	if err != nil {
		panic(fmt.Sprintf("a JSON Schema has %q: %v", text, err))
	}
	return value.(Ordered)
}

// orderedJSON reads a value and keeps the order of its mappings.
func orderedJSON(d *json.Decoder) (any, error) {
	token, err := d.Token()
	if err != nil {
		return nil, err
	}
	open, nested := token.(json.Delim)
	if !nested {
		return token, nil
	}
	object, list := Ordered{}, []any{}
	for d.More() {
		key := ""
		if open == '{' {
			token, err := d.Token()
			if err != nil {
				return nil, err
			}
			key = token.(string)
		}
		value, err := orderedJSON(d)
		if err != nil {
			return nil, err
		}
		object, list = append(object, Member{key, value}), append(list, value)
	}
	if _, err := d.Token(); err != nil {
		return nil, err
	}
	if open == '{' {
		return object, nil
	}
	return list, nil
}

// writeJSON writes a value; a mapping or a list that is short stands on one line.
func writeJSON(b *bytes.Buffer, value any, indent string) {
	const width = 150
	if line := lineJSON(value); len(line)+len(indent) <= width || !isNested(value) {
		b.WriteString(line)
		return
	}
	inner, open, end := indent+"  ", "[", "]"
	var keys []string
	var values []any
	switch v := value.(type) {
	case Ordered:
		open, end = "{", "}"
		for _, m := range v {
			keys, values = append(keys, fmt.Sprintf("%q: ", m.Key)), append(values, m.Value)
		}
	case []any:
		keys, values = make([]string, len(v)), v
	}
	b.WriteString(open)
	for i, x := range values {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString("\n" + inner + keys[i])
		writeJSON(b, x, inner)
	}
	b.WriteString("\n" + indent + end)
}

func isNested(value any) bool {
	switch value.(type) {
	case Ordered, []any:
		return true
	}
	return false
}

// lineJSON is a value on one line.
func lineJSON(value any) string {
	var parts []string
	switch v := value.(type) {
	case Ordered:
		for _, m := range v {
			parts = append(parts, fmt.Sprintf("%q: %s", m.Key, lineJSON(m.Value)))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	case []any:
		for _, x := range v {
			parts = append(parts, lineJSON(x))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	}
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(value); err != nil {
		panic(err) // a text of the program
	}
	return strings.TrimSuffix(b.String(), "\n")
}
