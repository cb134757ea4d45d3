package schemas

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"microrisk/schemas/pattern"
)

// A Kind is a kind of operator, as the spec knows it. All that lists operators goes through [Kinds].
type Kind struct {
	Name     string
	Doc      string        // one sentence for the JSON Schema and the reference
	Brief    string        // a few words for lists of operators
	New      func() Config // with nothing said
	Alone    bool          // its name alone is enough
	Document []byte        // JSON Schema of its part of the summary: an object of definitions, the first of which has the kind's name
	Limits   []Figure      // figures of its summary that limits can be set for, in order
}

// A Figure is one that a limit can be set for.
type Figure struct {
	Name   string
	Doc    string
	Ranked bool // it is the greatest score of the operator's ranking, which is known when records have been written
}

// A Config is what a spec says of an operator: a pointer to a struct. An operator that measures, writes or names something has more
// methods: see [Named], [Writer], [Measure] and the others of this file.
type Config interface {
	Fields() Table                          // bound to the struct
	Check(c *Checker, path string, s *Spec) // tells what the table cannot
}

// A Shaped config has another form than a mapping of its fields; Fields is that of one of its parts.
type Shaped interface{ Form() Form }

// A Named operator has a part of the summary, and perhaps columns, under its prefix.
type Named interface {
	Config
	ColumnPrefix() string
}

// A Writer makes columns of risk.
type Writer interface {
	Named
	// Common is what all writers can be told: their prefix, their own policy for missing values, and whether their columns take the
	// place of others of the same names.
	Common() (prefix, missing *string, replace *bool)
	// Columns are those that it writes, in order. frequency: it writes the sample frequency of the spec's key; variables are those of
	// its key.
	Columns(frequency bool, variables []string) []ColumnInfo
}

// A Measure is an operator with a contingency table of a key: it measures records by their classes. Its config has [MeasureOptions] in it.
type Measure interface {
	Writer
	OwnKey() *Key          // nil: it takes the spec's
	SetKey(*Key)           // gives it one of its own
	MissingPolicy() string // for all variables of the key; "" for what the key says
}

// A Dividing measure may tell of domains: the columns that tell them apart, none for no domains, and the file with one row each.
type Dividing interface {
	Divided() (by []string, file *string)
}

// A Weighing operator looks at the sampling weights.
type Weighing interface{ Weighs() bool }

// A Listing config has lists of variables besides its key, which may declare levels.
type Listing interface {
	Lists(f func(path string, list *[]KeyVariable))
}

// A Naming operator names columns besides those of its key. It tells the scope which, and which columns it makes.
type Naming interface{ Names(path string, s Scope) }

// A Scope is what columns an operator finds.
type Scope interface {
	Want(path, who, name string) // the operator reads a column
	Make(name string)            // it makes one
	Take(name string)            // a column is not seen by what follows
}

// A Choosing operator may list the columns of the output.
type Choosing interface{ ChoosesColumns() bool }

// A Cautious config warns of what is often not meant; measured has the operators so far by the variables that they looked at.
type Cautious interface {
	Warnings(measured map[string][]string) []string
}

// A Remaking operator gives columns other values in their place.
type Remaking interface{ Remakes(column string) bool }

// A Private config has what those who get the output do not get: Public is the rest, nil for nothing.
type Private interface{ Public() Config }

// A Lacking operator does not always have all figures that its kind offers.
type Lacking interface {
	Lacks(figure string, s *Spec) error // why it has none of that name; nil if it has
}

// A Scoring operator has scores of records that a population could confirm.
type Scoring interface{ Scores() []Score }

// A Reticent scorer has no scores unless it is asked for them: AskScores asks, where nothing is said.
type Reticent interface {
	Scoring
	AskScores()
}

// A Score is a column with a score of each record.
type Score struct {
	Column string
	Match  bool // it estimates 1/F
	Alone  bool // it estimates whether F is 1
}

// prefixes of columns are names that every reader and query language takes without quotes.
var prefixes = pattern.New(`^[A-Za-z_][A-Za-z0-9_]*$`)

var kinds []*Kind

// Register makes a kind of operator known. It is called before any spec is read, as by init; a name that is taken is a panic.
func Register(k Kind) {
	if k.Name == "" || k.New == nil {
		panic("an operator has no name, or cannot be made")
	}
	at, taken := slices.BinarySearchFunc(kinds, k.Name, func(k *Kind, name string) int { return strings.Compare(k.Name, name) })
	if taken {
		panic(fmt.Sprintf("two operators are named %s", k.Name))
	}
	kinds = slices.Insert(kinds, at, &k)
}

// Kinds are the kinds of operators that are known, by name.
func Kinds() []*Kind { return slices.Clone(kinds) }

// KindNamed is a kind by its name; nil if there is none.
func KindNamed(name string) *Kind {
	for _, k := range kinds {
		if k.Name == name {
			return k
		}
	}
	return nil
}

// kindNames are those that there are.
func kindNames() []string {
	names := make([]string, len(kinds))
	for i, k := range kinds {
		names[i] = k.Name
	}
	return names
}

// kindOf is the kind of a config; nil if it is not registered.
func kindOf(c Config) *Kind {
	t := reflect.TypeOf(c)
	for _, k := range kinds {
		if reflect.TypeOf(k.New()) == t {
			return k
		}
	}
	return nil
}

// Name is what the spec calls the operator; "" for none that is known.
func (o Operator) Name() string {
	if k := kindOf(o.Config); k != nil {
		return k.Name
	}
	return ""
}

// Measure is the operator as a measure; nil for one that has no table of a key.
func (o Operator) Measure() Measure {
	m, _ := o.Config.(Measure)
	return m
}

// Writer is the operator as one that makes columns of risk; nil for one that makes none.
func (o Operator) Writer() Writer {
	w, _ := o.Config.(Writer)
	return w
}

// Clone is a copy of the operator that can be told something else.
func (o Operator) Clone() Operator {
	if o.Config == nil {
		return o
	}
	return Operator{clone(o.Config)}
}

// clone is a shallow copy of what a pointer in an interface points to.
func clone[T any](pointer T) T {
	to := reflect.New(reflect.TypeOf(pointer).Elem())
	to.Elem().Set(reflect.ValueOf(pointer).Elem())
	return to.Interface().(T)
}

// WithPrefix is the operator with another prefix of its columns.
func (o Operator) WithPrefix(prefix string) Operator {
	o = o.Clone()
	if w := o.Writer(); w != nil {
		p, _, _ := w.Common()
		*p = prefix
	}
	return o
}

// WithoutDomainFile is the operator without a file of domains.
func (o Operator) WithoutDomainFile() Operator {
	d, ok := o.Config.(Dividing)
	if !ok {
		return o
	}
	if _, file := d.Divided(); *file == "" {
		return o
	}
	o = o.Clone()
	_, file := o.Config.(Dividing).Divided()
	*file = ""
	return o
}

// WithKey is a measure with a key of its own.
func (o Operator) WithKey(key *Key) Operator {
	o = o.Clone()
	if m := o.Measure(); m != nil {
		m.SetKey(key)
	}
	return o
}

// planned are operators that the spec's language has and this version does not run.
var planned = []string{"tau", "pram"}

// Planned tells that an operator is known by name and not run by this version; "" for all others.
func Planned(operator string) string {
	if !slices.Contains(planned, operator) || KindNamed(operator) != nil {
		return ""
	}
	names := kindNames()
	return fmt.Sprintf(
		"the operator %s is not part of this version; it runs %s and %s",
		operator,
		strings.Join(names[:len(names)-1], ", "),
		names[len(names)-1],
	)
}

// operatorsForm is the list of operators.
type operatorsForm struct{ to *[]Operator }

func (o operatorsForm) Read(d *Decoder, n *Node, path string, f *Field) {
	d.Items(n, path, f.what(), func(_ int, item *Node, at string) { *o.to = append(*o.to, d.operator(item, at)) })
}

// operator reads an item of operators: a name, or a mapping of one name to the operator's fields.
func (d *Decoder) operator(n *Node, path string) (o Operator) {
	if name, isText := n.Scalar(); isText {
		if k := KindNamed(name); k != nil && k.Alone {
			return Operator{k.New()}
		}
		reason := Planned(name)
		if reason == "" {
			reason = fmt.Sprintf("%q is no operator that can stand alone; write %s, or a mapping such as recode: {...}", name, oneOfWords(aloneNames()))
		}
		d.Problem(path, reason)
		return o
	}
	set := 0
	d.Entries(n, path, "an operator", func(name string, value *Node, at string) {
		k := KindNamed(name)
		if k == nil {
			reason := Planned(name)
			if reason == "" {
				reason = fmt.Sprintf("there is no operator %q; %s", name, instead(name, kindNames()))
			}
			d.Problem(at, reason)
			return
		}
		set++
		if o.Config = k.New(); value.IsNull() && k.Alone {
			return
		}
		formOf(o.Config, k).Read(d, value, at, &Field{Name: name})
	})
	if set > 1 {
		d.Problem(path, "an item of operators has one operator; begin each with a dash of its own")
	}
	return o
}

// formOf is how a config stands in a spec.
func formOf(c Config, k *Kind) Form {
	if s, ok := c.(Shaped); ok {
		return s.Form()
	}
	t := c.Fields()
	t.What, t.Doc = k.Name, k.Doc
	return Nested(t)
}

func aloneNames() []string {
	var names []string
	for _, k := range kinds {
		if k.Alone {
			names = append(names, k.Name)
		}
	}
	return names
}

func (o operatorsForm) Write(*Field) (any, bool) {
	var list []any
	for _, x := range *o.to {
		k := kindOf(x.Config)
		if k == nil {
			list = append(list, Ordered{})
			continue
		}
		fields, said := formOf(x.Config, k).Write(&Field{Name: k.Name})
		if !said && k.Alone {
			list = append(list, k.Name)
			continue
		}
		list = append(list, Ordered{{k.Name, fields}})
	}
	return list, list != nil
}

func (o operatorsForm) Schema(*Field) Ordered {
	return Ordered{{"type", "array"}, {"minItems", 1}, {"items", Ordered{{"$ref", "#/$defs/operator"}}}}
}

func (o operatorsForm) Check(c *Checker, path string, _ *Field) {}
