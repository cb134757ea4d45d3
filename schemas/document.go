package schemas

import (
	"fmt"
	"slices"
	"strings"

	"microrisk/schemas/pattern"
)

// A Document is a spec of another kind than that of a run, such as what bounds or link is asked: a pointer to a struct with a field table.
type Document interface {
	Fields() Table    // bound to the struct
	Check(c *Checker) // tells what the table cannot
}

// A Verb of the command line has a spec of its own.
type Verb struct {
	Name string
	New  func() Document // with nothing said
}

// File is the name of the published JSON Schema.
func (v Verb) File() string { return v.Name + ".schema.json" }

// An Identified document begins with the name and version of its schema, such as microrisk/keymap/form@1, in place of a version.
type Identified interface {
	Document
	SchemaID() string
}

// DecodeDocument reads a document from the root of its text into doc and judges it. amend, if it is not nil, changes what was read before it
// is judged. name is the file's, for messages. The error is that of amend, or a *SpecError with all that is wrong, each with its place.
func DecodeDocument(name string, root *Node, doc Document, amend func() error) (*Places, error) {
	d := &Decoder{places: places{}}
	h := head{version: -1}
	d.Mapping(root, "", h.of(doc))
	h.judge(d, doc)
	if amend != nil {
		if err := amend(); err != nil && len(d.problems) == 0 {
			return nil, err
		}
	}
	c := &Checker{skip: d.Failed}
	c.document(doc)
	d.problems = append(d.problems, d.places.locate(c.problems)...)
	return &Places{name, d.places}, AsError(name, d.problems)
}

// CheckDocument finds what is wrong with a document without reading data. The error is a *SpecError with all that is wrong.
func CheckDocument(doc Document) error {
	c := &Checker{}
	c.document(doc)
	return AsError("", c.problems)
}

func (c *Checker) document(doc Document) {
	c.Table("", doc.Fields())
	doc.Check(c)
}

// DocumentYAML is a document as a person would write it.
func DocumentYAML(doc Document) []byte {
	var b strings.Builder
	writeBlock(&b, DocumentOrdered(doc), 0)
	return []byte(b.String())
}

// TableYAML is what a field table says as a person would write it.
func TableYAML(t Table) []byte {
	var b strings.Builder
	writeBlock(&b, t.Write(), 0)
	return []byte(b.String())
}

// DocumentOrdered is what a document says, with its first line.
func DocumentOrdered(doc Document) Ordered {
	h := head{version: Version}
	return h.of(doc).Write()
}

// Schema is the JSON Schema (draft 2020-12) of the spec, made from its field table.
func (v Verb) Schema() []byte { return DocumentSchema("microrisk "+v.Name, v.New()) }

// DocumentSchema is the JSON Schema (draft 2020-12) of a document, made from its field table; title is of a few words.
func DocumentSchema(title string, doc Document) []byte {
	root := append(Ordered{{"$schema", "https://json-schema.org/draft/2020-12/schema"}, {"title", title}}, new(head).of(doc).Schema()...)
	if used := usedDefinitions(root); len(used) > 0 {
		root = append(root, Member{"$defs", used})
	}
	return published(root)
}

// A head is the first line of a document.
type head struct {
	version int64
	schema  string
}

// of is the field table of a document with its first line. A document that has a version of its own begins with that.
func (h *head) of(doc Document) Table {
	t := doc.Fields()
	if slices.ContainsFunc(t.Fields, func(f Field) bool { return f.Name == "version" }) {
		return t
	}
	first := versionField(&h.version)
	if named, ok := doc.(Identified); ok {
		if h.version == Version {
			h.schema = named.SchemaID()
		}
		first = Field{Name: "schema", To: &h.schema, Doc: "What the file is.", Schema: fmt.Sprintf(`"const": %q`, named.SchemaID())}
	}
	t.Required = append([]string{first.Name}, t.Required...)
	t.Fields = append([]Field{first}, t.Fields...)
	return t
}

// judge finds what is wrong with the first line that was read.
func (h *head) judge(d *Decoder, doc Document) {
	named, ok := doc.(Identified)
	switch {
	case !ok && slices.ContainsFunc(doc.Fields().Fields, func(f Field) bool { return f.Name == "version" }): // it is judged with the rest
	case !ok:
		d.version(h.version)
	case !d.Has("schema"):
		d.Problem("", "the file does not say what it is; its first line should be: schema: "+named.SchemaID())
	case h.schema != named.SchemaID() && !d.Failed("schema"):
		d.Problem("schema", fmt.Sprintf("schema is %q; this file must have %s", h.schema, named.SchemaID()))
	}
}

func versionField(version *int64) Field {
	return Field{Name: "version", To: version, Doc: "Version of the spec's language.", Schema: `"const": 1`}
}

// version judges the version that was read; -1 for none.
func (d *Decoder) version(version int64) {
	switch {
	case version == -1 && !d.Has("version"):
		d.Problem("", "the spec has no version; its first line should be: version: 1")
	case version != -1 && version != Version && !d.Failed("version"):
		d.Problem("version", fmt.Sprintf("version %d is unknown; this program reads version %d", version, Version))
	}
}

var reference = pattern.New(`"\$ref": "#/\$defs/(\w+)"`)

// usedDefinitions are the definitions that a schema refers to, and those that these refer to, in their order.
func usedDefinitions(root Ordered) Ordered {
	all := definitions()
	used := map[string]bool{}
	var follow func(o Ordered)
	follow = func(o Ordered) {
		for _, m := range reference().FindAllStringSubmatch(lineJSON(o), -1) {
			if !used[m[1]] {
				used[m[1]] = true
				follow(all.at(m[1]).(Ordered))
			}
		}
	}
	follow(root)
	var list Ordered
	for _, m := range all {
		if used[m.Key] {
			list = append(list, m)
		}
	}
	return list
}
