package session

import (
	"fmt"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"

	"microrisk/schemas"
	"microrisk/schemas/advice"
)

// A columnCheck goes through a spec as its operators see the columns, and finds those that are not there: all of them, which binding
// the operators one after the other would not.
type columnCheck struct {
	job      *Job
	visible  []string // names of columns, in order
	seen     map[string]bool
	problems []schemas.Problem
}

// checkColumns compares the names in a spec with the source's columns. The error is a *schemas.SpecError with all names that are unknown.
// With look the key counts although no operator of the spec measures it.
func (j *Job) checkColumns(look bool) error {
	c := &columnCheck{job: j, seen: map[string]bool{}}
	for _, f := range j.Source.Schema().Fields() {
		c.add(f.Name)
	}
	s := j.Spec
	if s.Source.Table != "" {
		c.count(s.Source.Count)
	}
	if s.ID != "" {
		c.check("id", "id", s.ID)
	}
	shared := s.FrequencyWriter()
	for i, o := range s.Operators {
		path := fmt.Sprintf("operators[%d]", i)
		if n, ok := o.Config.(schemas.Naming); ok {
			n.Names(path+"."+o.Name(), columnScope{c})
		}
		if w := o.Writer(); w != nil && o.Measure() == nil {
			for _, made := range w.Columns(false, nil) {
				c.add(made.Name)
			}
		}
		m := o.Measure()
		if m == nil {
			continue
		}
		name := m.ColumnPrefix()
		own := c.measure(path+"."+o.Name()+".key", name, m.OwnKey())
		if w, ok := o.Config.(schemas.Weighing); ok && w.Weighs() && s.Sampling != nil && s.Sampling.Weight != "" {
			c.check("sampling.weight", "the weight", s.Sampling.Weight)
		}
		if d, ok := o.Config.(schemas.Dividing); ok {
			by, _ := d.Divided()
			for k, column := range by {
				c.check(fmt.Sprintf("%s.%s.by[%d]", path, o.Name(), k), name, column)
			}
		}
		for _, made := range m.Columns(i == shared, own) {
			c.add(made.Name)
		}
	}
	if look && s.Key != nil {
		c.measure("", "key", nil)
	}
	if len(c.problems) == 0 {
		return nil
	}
	return &schemas.SpecError{Problems: c.problems}
}

func (c *columnCheck) add(name string) {
	if !c.seen[name] {
		c.seen[name] = true
		c.visible = append(c.visible, name)
	}
}

// check notes a problem if there is no column of this name.
func (c *columnCheck) check(path, who, name string) {
	if c.seen[name] {
		return
	}
	for _, p := range c.problems {
		if p.Path == path { // a key that several operators share
			return
		}
	}
	c.problems = append(c.problems, schemas.Problem{Path: path, Message: advice.Textf("%s", c.job.WhyUnknown(who, name, c.visible))})
}

// A columnScope is what operators tell of their columns.
type columnScope struct{ c *columnCheck }

// Want is a Scope's.
func (s columnScope) Want(path, who, name string) { s.c.check(path, who, name) }

// Make is a Scope's.
func (s columnScope) Make(name string) { s.c.add(name) }

// Take is a Scope's.
func (s columnScope) Take(name string) {
	delete(s.c.seen, name)
	s.c.visible = slices.DeleteFunc(s.c.visible, func(other string) bool { return other == name })
}

// measure checks the key variables of an operator and gives their names.
func (c *columnCheck) measure(path, who string, own *schemas.Key) []string {
	key := own
	if own == nil {
		key, path = c.job.Spec.Key, "key"
	}
	var names []string
	for k, v := range key.Variables {
		c.check(fmt.Sprintf("%s.variables[%d].name", path, k), who, v.Name)
		names = append(names, v.Name)
	}
	return names
}

// count checks the column that says how many records a row of a table stands for.
func (c *columnCheck) count(name string) {
	const path = "source.count"
	c.check(path, "the table's count", name)
	fields, ok := c.job.Source.Schema().FieldsByName(name)
	if !ok {
		return
	}
	t := fields[0].Type
	if d, coded := t.(*arrow.DictionaryType); coded {
		t = d.ValueType
	}
	if !arrow.IsInteger(t.ID()) {
		c.problems = append(
			c.problems,
			schemas.Problem{
				Path:    path,
				Message: advice.Textf("the table's count %q is of type %s; it must be a column of whole numbers", name, TypeName(fields[0].Type)),
			},
		)
	}
}

// WhyUnknown says that a column is not there, and why or what was meant.
func (j *Job) WhyUnknown(who, column string, visible []string) string {
	if r, ok := j.Source.(reasoner); ok {
		if why := r.WhyNot(column); why != nil {
			return fmt.Sprintf("%s: the column %q cannot be used: %v", who, column, why)
		}
	}
	text := fmt.Sprintf("%s: there is no column %q", who, column)
	if n := schemas.Nearest(column, visible); n != "" {
		return text + fmt.Sprintf("; did you mean %q?", n)
	}
	for _, k := range schemas.Kinds() {
		w, ok := k.New().(schemas.Writer)
		if ok && k.Name != who && slices.ContainsFunc(w.Columns(false, nil), func(c schemas.ColumnInfo) bool { return c.Name == column }) {
			return text + fmt.Sprintf("; the measure %s writes it: add that", k.Name)
		}
	}
	return text
}
