package schemas

import (
	"fmt"
	"maps"
	"slices"
)

func (s *Spec) fields(version *int64) Table {
	return Table{What: "the spec", Required: []string{"version", "source", "operators"}, Fields: []Field{
		versionField(version),
		{Name: "source", To: Nested(s.Source.Fields())},
		{Name: "sampling", To: Maybe(&s.Sampling, (*Sampling).Fields)},
		{Name: "key", To: &s.Key},
		{Name: "operators", To: operatorsForm{&s.Operators}, Doc: "What is done, in this order. An operator sees the columns that the ones before it made."},
		{Name: "sink", To: Nested(s.Sink.Fields())},
		{Name: "summary", To: &s.Summary, Doc: "Path of the summary document (JSON); - for standard output.", File: true},
		{Name: "limits", To: limitsForm{&s.Limits}, Doc: "The largest values allowed, by the names of figures; a breach is exit status 3."},
		{Name: "profile", To: &s.Profile, Doc: "Profile of limits, by its name (scientific-use, public-use) or a file such as office.yaml; limits of the spec go before its own."},
		{Name: "id", To: &s.ID, Doc: "Column that names the riskiest records in the table that people see; its values are in no summary and no metadata."},
		{Name: "allow_empty", To: &s.AllowEmpty, Doc: "Lets select, map and levels name values that no row has, and a selection choose no row."},
	}}
}

// Part are the fields of the spec that have these names, in the order of the spec: for verbs that read and recode as a run does.
func (s *Spec) Part(names ...string) []Field {
	list := slices.DeleteFunc(s.fields(new(int64)).Fields, func(f Field) bool { return !slices.Contains(names, f.Name) })
	for i := range list {
		list[i].part = true
	}
	return list
}

// Fields is the field table of the source.
func (s *Source) Fields() Table {
	return Table{What: "source", Doc: "What is read: files by path, or a contingency table with its column of counts.",
		Rules: `"oneOf": [{"required": ["path"], "not": {"anyOf": [{"required": ["table"]}, {"required": ["count"]}]}}, {"required": ["table", "count"]}]`,
		Fields: []Field{
			{
				Name:   "path",
				To:     &s.Path,
				What:   "source.path",
				Single: true,
				Repeat: true,
				File:   true,
				Doc:    "File, pattern or folder, or a list of them; - for an Arrow IPC stream on standard input.",
			},
			{
				Name:   "table",
				To:     &s.Table,
				What:   "source.table",
				Doc:    "File with a contingency table: one row for each combination of key variables.",
				Schema: `"minLength": 1`,
			},
			{Name: "count", To: &s.Count, What: "source.count", Doc: "Column of the table that says how many records a row stands for.", Schema: anyScalar},
			{Name: "format", To: &s.Format, What: "source.format", Words: Formats, Doc: "Kind of file; without it the ending of the name tells."},
			{Name: "types", To: typesForm{mapForm{&s.Types}}, What: "source.types", Doc: "Types of CSV columns, by name; the others are inferred."},
			{Name: "delimiter", To: &s.Delimiter, What: "source.delimiter", Schema: `"minLength": 1, "maxLength": 1`,
				Doc: "One character between the fields of CSV; without it comma, semicolon, tab or bar, as it is found."},
		}}
}

// anyScalar is what names a column in a JSON Schema: text, or what YAML takes for something else.
const anyScalar = `"type": ["string", "number", "boolean"]`

// typesForm names the types of columns in messages.
type typesForm struct{ mapForm }

func (t typesForm) Read(d *Decoder, n *Node, path string, f *Field) {
	*t.to = map[string]string{}
	d.Entries(n, path, f.what(), func(column string, value *Node, at string) {
		(*t.to)[column], _ = d.Name(value, at, "the type of "+column)
	})
}

// Fields is the field table of the sink.
func (s *Sink) Fields() Table {
	return Table{What: "sink", Doc: "Where the annotated rows go; without it nothing but the summary is made.", Fields: []Field{
		{Name: "path", To: &s.Path, What: "sink.path", File: true, Doc: "File, or folder for several inputs; - for an Arrow IPC stream on standard output."},
		{Name: "format", To: &s.Format, What: "sink.format", Words: Formats, Doc: "Kind of file; without it the ending of the name tells."},
		{
			Name:   "compression",
			To:     &s.Compression,
			What:   "sink.compression",
			Words:  Compressions,
			Doc:    "Of the columns added to Parquet.",
			Schema: `"default": "zstd"`,
		},
		{Name: "footer", To: &s.Footer, What: "sink.footer", Words: Footers, Schema: `"default": "release"`,
			Doc: "What of the summary goes into the metadata of Parquet outputs. release: what is true of their rows and columns alone. full: all of it, for files " +
				"that stay inside. none: nothing."},
	}}
}

// Fields is the field table of the sampling.
func (s *Sampling) Fields() Table {
	return Table{
		What:  "sampling",
		Doc:   "How the records were drawn from their population. Without it there is no DIS.",
		Rules: `"minProperties": 1, "maxProperties": 1`,
		Fields: []Field{
			{Name: "fraction", To: &s.Fraction, What: "the sampling fraction", Range: (&Range{Most: 1, Above: true}).Saying("it must be above 0 and at most 1"),
				Doc: "Records of the sample / size of the population."},
			{Name: "population_size", To: &s.PopulationSize, Range: AtLeast(1).Saying("it must be at least the number of records"),
				Doc: "Size of the population of the records asked about (those chosen and not dropped); at least their number."},
			{Name: "weight", To: weightForm{s}, What: "sampling.weight",
				Doc: "Column of sampling weights: the fraction is the number of records / the sum of weights. With zero: drop, records whose weight is 0 or null are " +
					"left out and get nulls."},
		},
	}
}

// weightForm is a column, or a mapping where more is said of it.
type weightForm struct{ s *Sampling }

func (w weightForm) fields() Table {
	return Table{What: "weight", Required: []string{"column"}, Fields: []Field{
		{Name: "column", To: &w.s.Weight, What: "the weight's column", Schema: anyScalar},
		{Name: "zero", To: &w.s.ZeroWeight, Schema: `"enum": ["drop"]`},
	}}
}

func (w weightForm) Read(d *Decoder, n *Node, path string, f *Field) {
	if n != nil && n.Kind == Mapping {
		d.Mapping(n, path, w.fields())
		return
	}
	w.s.Weight, _ = d.Name(n, path, f.what())
}

func (w weightForm) Write(*Field) (any, bool) {
	if w.s.ZeroWeight == "" {
		return w.s.Weight, w.s.Weight != ""
	}
	return w.fields().Write(), true
}

func (w weightForm) Schema(*Field) Ordered {
	return Ordered{{"anyOf", []any{Ordered{{"$ref", "#/$defs/column"}}, w.fields().Schema()}}}
}

func (w weightForm) Check(*Checker, string, *Field) {}

// missingDoc says what the policies are.
const missingDoc = "What a missing value means. category: a category of its own. wildcard: it could be any category. ignore: it is in no minimal sample " +
	"unique. drop: the record is left out and gets nulls."

// Fields is the field table of a key.
func (k *Key) Fields() Table {
	return Table{What: "key", Doc: "The key variables: columns by which a record could be recognised.", Required: []string{"variables"}, Fields: []Field{
		{Name: "variables", To: &k.Variables, What: "key.variables", Word: "a key variable", Schema: `"maxItems": 64`},
		{Name: "missing", To: &k.Missing, What: "key.missing", Words: MissingPolicies, Word: "missing policy", Doc: missingDoc},
		{Name: "missing_codes", To: &k.MissingCodes, Doc: "Values that count as missing besides null."},
	}}
}

// Fields is the field table of a key variable, or of a variable of tables.
func (k *KeyVariable) Fields() Table {
	return Table{What: "a key variable", Required: []string{"name"}, Fields: []Field{
		{Name: "name", To: &k.Name, What: "a key variable's name", Schema: anyScalar},
		{Name: "missing", To: &k.Missing, Words: MissingPolicies, Word: "missing policy", Doc: missingDoc},
		{Name: "missing_codes", To: &k.MissingCodes, Doc: "Values that count as missing besides null."},
		{Name: "levels", To: &k.Levels, Schema: `"minItems": 1`,
			Doc: "Categories that the variable can take; those that no record has count too, and any other value is an error."},
	}}
}

// keyForm is that of a key, which knows more of itself than its table.
type keyForm struct {
	Form
	to **Key
}

func (k keyForm) Schema(*Field) Ordered { return Ordered{{"$ref", "#/$defs/key"}} }

func (k keyForm) Check(c *Checker, path string, _ *Field) {
	if *k.to != nil {
		c.key(path, *k.to)
	}
}

func (k keyForm) Read(d *Decoder, n *Node, path string, f *Field) { k.Form.Read(d, n, path, f) }

// limitsForm is the mapping of figures to their limits.
type limitsForm struct{ to *map[string]Limit }

func (l limitsForm) Read(d *Decoder, n *Node, path string, _ *Field) {
	*l.to = map[string]Limit{}
	d.Entries(n, path, "limits", func(name string, value *Node, at string) { (*l.to)[name] = d.limit(name, value, at) })
}

func (l *Limit) fields(name string) Table {
	return Table{What: "the limit " + name, Required: []string{"max"}, Fields: []Field{
		{Name: "max", To: &l.Max, Schema: `"minimum": 0`}, {Name: "of", To: &l.Of, Schema: `"enum": ["modelled"]`}}}
}

// limit reads a number, or a mapping of max and of.
func (d *Decoder) limit(name string, n *Node, path string) (l Limit) {
	if n == nil || n.Kind != Mapping {
		l.Max = d.Number(n, path, "the limit "+name)
		return l
	}
	d.Mapping(n, path, l.fields(name))
	if !d.Has(path + ".max") {
		d.Problem(path, fmt.Sprintf("the limit %s has no max; write %s: {max: 10, of: modelled}, or a number", name, name))
	}
	return l
}

func (l limitsForm) Write(*Field) (any, bool) {
	limits := Ordered{}
	for _, name := range slices.Sorted(maps.Keys(*l.to)) {
		x := (*l.to)[name]
		if x.Of == "" {
			limits = append(limits, Member{name, x.Max})
			continue
		}
		limits = append(limits, Member{name, Ordered{{"max", x.Max}, {"of", x.Of}}})
	}
	return limits, len(limits) > 0
}

func (l limitsForm) Schema(*Field) Ordered { return Ordered{{"$ref", "#/$defs/limits"}} }

func (l limitsForm) Check(*Checker, string, *Field) {}
