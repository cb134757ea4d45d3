package schemas

import (
	"fmt"
	"slices"
	"strings"

	"microrisk/schemas/advice"
)

// MaxKeyVariables is the most key variables a key can have.
const MaxKeyVariables = 64

// MaxThreshold is the highest threshold that can be searched for.
const MaxThreshold = 1<<31 - 2

// Known words of the spec.
var (
	Formats         = []string{"parquet", "arrow", "csv"}
	Compressions    = []string{"zstd", "snappy", "gzip", "none"}
	MissingPolicies = []string{MissingCategory, MissingWildcard, MissingIgnore, MissingDrop}
	Footers         = []string{FooterRelease, FooterFull, FooterNone}
)

// Validate finds what is wrong with a spec without reading data. The error is a *SpecError with all that is wrong.
func (s *Spec) Validate() error {
	return AsError("", s.problems(nil))
}

// A Checker collects problems; values that could not be decoded are not judged.
type Checker struct {
	problems []Problem
	skip     func(path string) bool // what could not be decoded; nil for nothing
}

// Add notes a problem, in words that may be of package advice.
func (c *Checker) Add(path, format string, args ...any) {
	if c.skip == nil || !c.skip(path) {
		c.problems = append(c.problems, Problem{Path: path, Message: advice.Textf(format, args...)})
	}
}

// OneOf is a problem unless the value is unset or known.
func (c *Checker) OneOf(path, what, value string, known []string) {
	if value != "" && !slices.Contains(known, value) {
		c.Add(path, "%s %q is unknown; %s", what, value, oneOfAdvice(value, known))
	}
}

func oneOfAdvice(value string, known []string) string {
	list := "it is one of " + strings.Join(known, ", ")
	if n := Nearest(value, known); n != "" {
		return fmt.Sprintf("did you mean %s? (%s)", n, list)
	}
	return list
}

// Table judges the values of a field table one by one.
func (c *Checker) Table(path string, t Table) {
	for i := range t.Fields {
		f := &t.Fields[i]
		at := f.Name
		if path != "" {
			at = path + "." + f.Name
		}
		f.form().Check(c, at, f)
	}
}

// inRange notes a number that is outside of its field's range, and tells whether it is.
func (c *Checker) inRange(path string, f *Field, v float64) (outside bool) {
	text := f.Range.outside(f.what(), v)
	if text != "" {
		c.Add(path, "%s", text)
	}
	return text != ""
}

// ValidateRows finds what is wrong with what a spec says of the rows that are read, for verbs that look at them and annotate nothing.
func (s *Spec) ValidateRows() error {
	c := &Checker{}
	version := int64(Version)
	c.Table("", s.fields(&version))
	c.Rows(s)
	return AsError("", c.problems)
}

// Preparing are the operators before the first measure that choose and recode rows: what a verb sees that measures by itself.
func (s *Spec) Preparing() []Operator {
	var list []Operator
	for _, o := range s.Operators {
		if o.Measure() != nil {
			break
		}
		if _, named := o.Config.(Named); !named {
			list = append(list, o)
		}
	}
	return list
}

func (s *Spec) problems(failed func(path string) bool) []Problem {
	c := &Checker{skip: failed}
	version := int64(Version)
	c.Table("", s.fields(&version))
	c.source(&s.Source)
	if s.Sampling != nil {
		c.sampling(s.Sampling)
	}
	c.operators(s)
	c.levels(s)
	c.sink(s)
	c.limits(s)
	return c.problems
}

// Rows judges what a spec says of the rows that are read: its source, its sampling, its operators if there are any, and the levels. Its fields
// are judged apart.
func (c *Checker) Rows(s *Spec) {
	c.source(&s.Source)
	if s.Sampling != nil {
		c.sampling(s.Sampling)
	}
	if len(s.Operators) > 0 {
		c.operators(s)
	}
	c.levels(s)
}

func (c *Checker) operators(s *Spec) {
	if len(s.Operators) == 0 {
		c.Add("operators", "there are no operators; say what to do, for example: operators: [suda]")
	}
	written := map[string]bool{} // prefixes
	for i, o := range s.Operators {
		path := fmt.Sprintf("operators[%d]", i)
		k := kindOf(o.Config)
		if k == nil {
			c.Add(path, "an operator is empty; name one of %s", strings.Join(kindNames(), ", "))
			continue
		}
		path += "." + k.Name
		formOf(o.Config, k).Check(c, path, &Field{Name: k.Name})
		if m := o.Measure(); m != nil && m.OwnKey() == nil && s.Key == nil {
			c.Add(path, "%s has no key; add a key: with its variables to the spec", k.Name)
		}
		c.domains(path, o, s)
		o.Config.Check(c, path, s)
		n, named := o.Config.(Named)
		if !named {
			continue
		}
		if written[n.ColumnPrefix()] {
			c.Add(path, "two operators write columns with the prefix %s; give one of them another, such as prefix: %s2", n.ColumnPrefix(), n.ColumnPrefix())
		}
		written[n.ColumnPrefix()] = true
	}
}

func (c *Checker) source(s *Source) {
	switch {
	case len(s.Path) == 0 && s.Table == "":
		c.Add("source", "there is no source; say what to read: source: {path: FILE}")
	case len(s.Path) > 0 && s.Table != "":
		c.Add("source.table", "source has a path and a table; it is read from one of them")
	case s.Table != "" && s.Count == "":
		c.Add("source.table", "source.table has no count; name the column that says how many records a row stands for: count: N")
	case s.Table == "" && s.Count != "":
		c.Add("source.count", "source.count belongs to a contingency table; name the file with table: instead of path:")
	}
	if s.Table != "" && len(s.Path) == 0 {
		c.Path("source.table", s.Table)
	}
	seen := map[string]bool{}
	for i, p := range s.Path {
		at := fmt.Sprintf("source.path[%d]", i)
		switch {
		case p == "":
			c.Add(at, "a path is empty; name a file, a folder or a pattern")
		case p == "-" && len(s.Path) > 1:
			c.Add(at, "standard input cannot be read together with files; read it alone")
		case seen[p]:
			c.Add(at, "%s is named twice; each input is read once", p)
		default:
			c.Path(at, p)
		}
		seen[p] = true
	}
	if len([]rune(s.Delimiter)) > 1 {
		c.Add("source.delimiter", "the delimiter %q has more than one character; it must be one, such as \";\"", s.Delimiter)
	}
}

// Path refuses what looks like a path and is read and written by nothing here.
func (c *Checker) Path(at, p string) {
	if err := Reachable(p); err != nil {
		c.Add(at, "%s", err)
	}
}

func (c *Checker) sampling(s *Sampling) {
	set := 0
	for _, said := range []bool{s.Fraction != 0, s.PopulationSize != 0, s.Weight != ""} {
		if said {
			set++
		}
	}
	switch {
	case s.ZeroWeight != "" && s.Weight == "":
		c.Add("sampling.weight", "the weight has no column")
	case s.ZeroWeight != "" && s.ZeroWeight != ZeroDrop:
		c.Add("sampling.weight.zero", "zero is %q; it is drop, or left out", s.ZeroWeight)
	}
	if set != 1 {
		c.Add("sampling", "sampling says %s; give one of fraction, population_size and weight", [...]string{"nothing", "", "two things", "three things"}[set])
	}
}

func (c *Checker) key(path string, k *Key) {
	if len(k.Variables) == 0 {
		c.Add(path, "the key has no variables; name the columns by which a record could be recognised")
	}
	if len(k.Variables) > MaxKeyVariables {
		c.Add(path+".variables", "the key has %d variables; at most %d can be counted", len(k.Variables), MaxKeyVariables)
	}
	seen := map[string]bool{}
	for i, x := range k.Variables {
		at := fmt.Sprintf("%s.variables[%d]", path, i)
		if seen[x.Name] { // a column may have the empty name
			c.Add(at, "key variable %s is named twice; each counts once", x.Name)
		}
		seen[x.Name] = true
		c.Table(at, x.Fields())
		if x.Levels != nil && len(x.Levels) == 0 {
			c.Add(at+".levels", "levels of %s is empty; list its categories, or leave levels out to take those observed", x.Name)
		}
		codes := x.MissingCodes
		if codes == nil {
			codes = k.MissingCodes
		}
		for j, l := range x.Levels {
			if slices.Contains(codes, l) {
				c.Add(fmt.Sprintf("%s.levels[%d]", at, j), "level %q of %s is also a missing code; it is one or the other", l, x.Name)
			}
		}
	}
	c.Table(path, k.Fields())
}

// Twice is a problem if a list has a value twice.
func (c *Checker) Twice(path string, list []string) {
	seen := make(map[string]bool, len(list))
	for i, x := range list {
		if seen[x] {
			c.Add(fmt.Sprintf("%s[%d]", path, i), "%q is listed twice", x)
		}
		seen[x] = true
	}
}

func (c *Checker) sink(s *Spec) {
	if s.Sink.Path == "-" && s.Summary == "-" {
		c.Add("summary", "the output and the summary cannot both go to standard output; write one of them to a file")
	}
	if s.Sink.Path != "" && s.Sink.Path == s.Summary && s.Summary != "-" {
		c.Add("summary", "the summary has the output's path %s; give it another name", s.Summary)
	}
	path := strings.TrimSuffix(strings.ToLower(s.Sink.Path), ".gz")
	if s.Sink.Footer != "" && (path == "-" || s.Sink.Format == "" && (strings.HasSuffix(path, ".csv") || strings.HasSuffix(path, ".arrow")) ||
		s.Sink.Format != "" && s.Sink.Format != "parquet") {
		c.Add("sink.footer", "the footer is that of Parquet outputs, and %s is none: leave it out", s.Sink.Path)
	}
}
