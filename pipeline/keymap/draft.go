package keymap

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"microrisk/operators/report"
	"microrisk/pipeline/keymap/repository"
	"microrisk/pipeline/session"
	"microrisk/schemas"
)

// MostValues is how many values a column has at most that becomes a variable without being asked for.
const MostValues = 1000

// A Drafting says how a form is drafted from the columns of data.
type Drafting struct {
	Source       schemas.Source
	Form         string        // its name; "" for that of the file
	Columns      []DraftColumn // nil for all that have at most MostValues values
	Codes        []string      // columns of numbers that are codes of categories
	Bands        []DraftBands
	Steps        []DraftStep
	MissingCodes []string // values that say that there is none, in any column
}

// A DraftColumn is a column, and the variable that it has; "" for the one of its name.
type DraftColumn struct{ Column, Variable string }

// DraftBands are those that the numbers of a column lie in: of a width, or between bounds.
type DraftBands struct {
	Column string
	Width  float64
	Bounds []float64 // the first and the last may be infinite
}

// A DraftStep is how far the numbers are apart of which the values of a column are bands: those of 16-20 end below 20 + Step.
type DraftStep struct {
	Column string
	Step   float64
}

// A Draft is a form that was made from the columns of data, and the variables that it needs beside those of the repository.
type Draft struct {
	Form      *repository.Form
	Variables []*repository.Variable
	Columns   []Drafted
	LeftOut   []LeftOut
}

// Drafted is a column that became a variable of the form.
type Drafted struct {
	Column, Variable string
	Values           int      // distinct ones; of a floating-point column -1
	Categories       int      // 0: the value is written in
	Bands            bool     // the categories are bands
	New              bool     // the repository did not have the variable
	Without          []string // labels of categories that no value is of
	Numbers          bool     // the categories are texts that are all numbers
	Like             []string // categories that look like bands
	Taken            []string // what values were taken for bands of the repository
}

// LeftOut is a column that did not.
type LeftOut struct {
	Column, Why string
	Values      int // where they are too many; else 0
}

// An UnmappedError says which values of columns are in no category of variables that the repository has.
type UnmappedError struct{ Variables []UnmappedVariable }

// An UnmappedVariable has no category for some values.
type UnmappedVariable struct {
	Variable, Column string
	File             string // of the variable, below the repository
	Values           []string
	Numbers          bool   // they lie outside its bands
	Step             bool   // they could be labels of bands
	Range            string // of its bands, where they lie beyond it
}

func (e *UnmappedError) Error() string {
	var lines, ways []string
	for _, v := range e.Variables {
		list := quotedSome(v.Values)
		what := "category"
		if v.Numbers {
			what = "band"
		}
		if v.Step && !v.Numbers {
			list += fmt.Sprintf("; if they are bands of whole numbers, say --step %s=1", v.Column)
		}
		way := "add categories (microrisk keymap add node) or call them so (rename node)"
		if v.Range != "" {
			list += fmt.Sprintf("; its bands cover %s, and a variable in use gets no wider", v.Range)
			way = "begin anew with --bands of all numbers that somebody could ask for (remove its forms, and then the variable)"
		}
		if !slices.Contains(ways, way) {
			ways = append(ways, way)
		}
		lines = append(lines, fmt.Sprintf("variable %q, in %s, has no %s for %s of the column %q: %s", v.Variable, v.File, what,
			report.Plural(int64(len(v.Values)), "value", "values"), v.Column, list))
	}
	first := e.Variables[0]
	return strings.Join(lines, "\n") + fmt.Sprintf("\n%s, say which values are missing ones (--missing-codes), "+
		"name another variable (--columns NAME=%s), or leave the column out; in a form that is written by hand, values: says which each category has",
		strings.Join(ways, ", "), first.Column)
}

// quotedSome are some values in quotes, and how many more there are.
func quotedSome(values []string) string {
	var list []string
	for _, v := range values[:min(shownValues, len(values))] {
		list = append(list, fmt.Sprintf("%q", v))
	}
	if more := len(values) - shownValues; more > 0 {
		list = append(list, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(list, ", ")
}

// A drafter makes a draft.
type drafter struct {
	*Draft
	how     Drafting
	r       *repository.Repository
	from    string            // the data, for messages
	of      map[string]string // columns, by variable
	wrong   []error
	missing UnmappedError
}

// draft makes the form of what was found in columns.
func (d *drafter) draft(columns []*column) error {
	d.Form = &repository.Form{Name: d.name(), Note: "Drafted from the columns of " + filepath.Base(d.from) + "."}
	for _, c := range columns {
		if c.why != "" {
			if c.named {
				d.wrong = append(d.wrong, fmt.Errorf("column %q: %s", c.name, c.why))
			}
			d.LeftOut = append(d.LeftOut, LeftOut{c.name, c.why, c.many})
			continue
		}
		if err := d.column(c); err != nil {
			d.wrong = append(d.wrong, fmt.Errorf("column %q: %w", c.name, err))
		}
	}
	switch {
	case d.wrong != nil:
		return session.Wrong(errors.Join(d.wrong...))
	case d.missing.Variables != nil:
		return &d.missing
	case len(d.Columns) == 0:
		var lines []string
		for _, l := range d.LeftOut {
			name := report.Printable(l.Column)
			if l.Values > 0 {
				name += fmt.Sprintf(" (%s)", report.Count(int64(l.Values)))
			}
			lines = append(lines, fmt.Sprintf("  %s: %s", name, l.Why))
		}
		return fmt.Errorf("no column of %s can be a variable of a form as it is:\n%s", d.from, strings.Join(lines, "\n"))
	}
	return nil
}

// column makes a column a variable of the form.
func (d *drafter) column(c *column) error {
	name := c.variable
	known := d.r.Variable(name)
	if known == nil && c.variable == c.name {
		for _, v := range d.r.Variables {
			if repository.Folded(v.Name) != repository.Folded(name) {
				continue
			}
			if known != nil {
				return fmt.Errorf("the repository has variables %q and %q: say which it is, --columns %q", known.Name, v.Name, v.Name+"="+c.name)
			}
			known = v
		}
	}
	if known != nil {
		name = known.Name
	}
	if other, twice := d.of[name]; twice {
		return fmt.Errorf("it would be the variable %q, and so would %q: leave one of them out with --columns", name, other)
	}
	d.of[name] = c.name
	x := repository.Instance{Variable: name, Categories: []string{}, Column: c.name, MissingCodes: c.missing}
	made := Drafted{Column: c.name, Variable: name, Values: len(c.values), New: known == nil}
	if c.values == nil {
		made.Values = -1
	}
	var err error
	switch {
	case known != nil:
		err = d.reuse(c, known, &x, &made)
	case c.bands != nil:
		v := &repository.Variable{Name: name, Scale: repository.Interval, Nodes: bandNodes(c.bands), Note: d.noteOf(c)}
		x.Categories = idsOf(v.Nodes)
		d.Variables = append(d.Variables, v)
	case c.step != nil:
		v := &repository.Variable{Name: name, Scale: repository.Interval}
		if v.Nodes, made.Without, err = c.labelled(&x); err != nil {
			return err
		}
		x.Categories = idsOf(v.Nodes)
		d.Variables = append(d.Variables, v)
	case c.writtenIn:
		v := &repository.Variable{Name: name, Scale: repository.Interval, AssumedLevels: new(int), Nodes: bandNodes(c.space()), Note: d.noteOf(c)}
		*v.AssumedLevels = len(c.values)
		d.Variables = append(d.Variables, v)
	default:
		v := &repository.Variable{Name: name}
		v.Nodes, x.Values = nodesOf(c.values)
		x.Categories = idsOf(v.Nodes)
		made.Numbers, made.Like = len(c.values) > 2 && c.numbers() != nil && !c.codes, v.BandLike()
		d.Variables = append(d.Variables, v)
	}
	made.Categories, made.Bands = len(x.Categories), c.bands != nil || c.step != nil
	d.Form.Variables = append(d.Form.Variables, x)
	d.Columns = append(d.Columns, made)
	return err
}

// name is that of the form.
func (d *drafter) name() string {
	if d.how.Form != "" {
		return d.how.Form
	}
	return FormName(d.from)
}

// FormName is the name of a form that is drafted from a file, unless another is said.
func FormName(path string) string {
	base := filepath.Base(path)
	if session.KindOf(path) == "" { // a folder
		return base
	}
	base = strings.TrimSuffix(base, ".gz")
	return strings.TrimSuffix(base, filepath.Ext(base))
}

// noteOf says what numbers a variable was made for.
func (d *drafter) noteOf(c *column) string {
	if c.values == nil {
		return fmt.Sprintf("Numbers of the column %s of %s.", c.name, filepath.Base(d.from))
	}
	least, most := ends(c.numbers())
	return fmt.Sprintf("Numbers from %s to %s in the column %s of %s.", bandNumber(least), bandNumber(most), c.name, filepath.Base(d.from))
}

func idsOf(nodes []repository.Node) []string {
	list := make([]string, len(nodes))
	for i, n := range nodes {
		list[i] = n.ID
	}
	return list
}

// longestID is about how long an id becomes that is made of a value.
const longestID = 60

// nodesOf are the categories of values, a value each. What is an id already keeps it.
func nodesOf(values []string) (nodes []repository.Node, stored map[string][]string) {
	taken := make(map[string]bool)
	for _, value := range values {
		if repository.Slug(value) == value && len(value) <= longestID {
			taken[value] = true
		}
	}
	slugs := make(repository.Slugs)
	stored = make(map[string][]string)
	for _, value := range values {
		id, label := value, value
		if value == "" {
			label = "(empty)"
		}
		if !taken[id] {
			id = slugs.Free(head(label, longestID), func(id string) bool { return taken[id] })
			taken[id] = true
		}
		n := repository.Node{ID: id}
		if label != id {
			n.Label = label
		}
		nodes = append(nodes, n)
		stored[id] = []string{value}
	}
	return nodes, stored
}

// head is the beginning of a text.
func head(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return string([]rune(text[:min(len(text), 4*most)])[:min(most, len([]rune(text)))])
}
