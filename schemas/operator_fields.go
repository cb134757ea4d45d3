package schemas

// MeasureOptions is what all measures can be told: a part of their configs.
type MeasureOptions struct {
	Prefix  string // of the columns and of the part of the summary; "" means the operator's name
	Key     *Key   // nil means the spec's
	Missing string // policy for all variables of the key; "" for what the key says
	Replace bool   // existing columns of the same names are replaced
	// By are the columns whose values tell the domains apart that figures are summed over, where the measure offers that; Domains is the
	// file with one row a domain, "" for none.
	By      []string
	Domains string
}

// Common is a Writer's.
func (o *MeasureOptions) Common() (prefix, missing *string, replace *bool) {
	return &o.Prefix, &o.Missing, &o.Replace
}

// OwnKey is a Measure's.
func (o *MeasureOptions) OwnKey() *Key { return o.Key }

// SetKey is a Measure's.
func (o *MeasureOptions) SetKey(key *Key) { o.Key = key }

// MissingPolicy is a Measure's.
func (o *MeasureOptions) MissingPolicy() string { return o.Missing }

// With are the fields of a measure of this name: these, and its own among them.
func (o *MeasureOptions) With(name string, own []Field) []Field {
	fields := append([]Field{PrefixField(&o.Prefix, name), KeyField(&o.Key), MissingField(&o.Missing)}, own...)
	return append(fields, ReplaceField(&o.Replace))
}

// WithDomains are the fields of a measure that also tells of domains.
func (o *MeasureOptions) WithDomains(name string, own []Field) []Field {
	return o.With(name, append(own, o.DomainFields()...))
}

// DomainFields are those of a measure that tells of domains.
func (o *MeasureOptions) DomainFields() []Field {
	return []Field{
		{Name: "by", To: &o.By, Single: true,
			Doc: "Columns whose values tell domains apart: the figures of the file for the records of each, in the summary and in domains.",
			Flag: &Flag{Name: "by-domain", Aside: true,
				Usage: "`COLUMNS` whose values tell domains apart, separated by commas: tell the figures of each"}},
		{Name: "domains", To: &o.Domains, File: true, Schema: `"minLength": 1`, Doc: "File with one row a domain (.parquet, .arrow or .csv).",
			Flag: &Flag{Name: "domains", Aside: true,
				Usage: "write one row a domain to `FILE`; several measures write one each, such as domains.suda.csv for domains.csv"}},
	}
}

// Divided is a Dividing measure's.
func (o *MeasureOptions) Divided() (by []string, file *string) { return o.By, &o.Domains }

// PrefixField is the field of a writer's prefix, which without it is the operator's name.
func PrefixField(to *string, usual string) Field {
	return Field{Name: "prefix", To: prefixForm{textForm{to}, usual}, Doc: "What the names of its columns start with; " + usual + " without it.",
		Schema: `"pattern": "^[A-Za-z_][A-Za-z0-9_]*$"`}
}

// prefixForm does not write the prefix that is taken anyway.
type prefixForm struct {
	textForm
	usual string
}

func (p prefixForm) Write(*Field) (any, bool) { return *p.to, *p.to != "" && *p.to != p.usual }

func (p prefixForm) Check(c *Checker, path string, _ *Field) {
	if *p.to != "" && !prefixes().MatchString(*p.to) {
		c.Add(path, "prefix %q is no name; it must be letters, digits and underscores, and not begin with a digit", *p.to)
	}
}

// KeyField is the field of a measure's own key.
func KeyField(to **Key) Field { return Field{Name: "key", To: to} }

// MissingField is the field of a policy for all variables of a key.
func MissingField(to *string) Field {
	return Field{Name: "missing", To: to, Words: MissingPolicies, Word: "missing policy", Doc: missingDoc}
}

// ClassesMissingField is that of an operator of equivalence classes, which takes a missing value as a category or drops the record.
func ClassesMissingField(to *string) Field {
	return Field{Name: "missing", To: to, Schema: `"enum": ["category", "drop"]`,
		Doc: "category: a missing value is a category of its own. drop: the record is left out and gets nulls."}
}

// ReplaceField is the field of a writer whose columns may take the place of others.
func ReplaceField(to *bool) Field {
	return Field{Name: "replace", To: to, Doc: "Replace columns of the same names that the input has."}
}

// SensitiveField is the field of the sensitive variables of a measure; what says what they are.
func SensitiveField(to *[]KeyVariable, what string) Field {
	return Field{Name: "sensitive", To: to, Single: true, Doc: what + " missing of each: ignore (no value, the default) or category.",
		Flag: &Flag{
			Name:   "sensitive",
			Usage:  "ldiversity and attribution: `VARIABLES` that are sensitive, separated by commas",
			Needed: "name the sensitive variables: --sensitive HEALTH,...",
		}}
}
