package keymap

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/apache/arrow/go/v17/arrow"

	"microrisk/engine/contingency"
	"microrisk/engine/keymap"
	"microrisk/operators"
	"microrisk/operators/recode"
	"microrisk/operators/report"
	"microrisk/pipeline/keymap/repository"
	"microrisk/pipeline/session"
	"microrisk/schemas"
)

// A column is what was found in one.
type column struct {
	name, variable string
	field          arrow.Field
	named          bool
	codes          bool      // its numbers are codes
	bands          []float64 // bounds of those that its numbers are put into
	width          float64   // of bands that its own numbers bound
	values         []string  // distinct ones in their order; nil of floating-point ones
	missing        []string  // missing codes that it has
	step           *float64  // between numbers, where its values are labels of bands
	writtenIn      bool      // its values are numbers, and no categories
	why            string    // it is left out
	many           int       // values, if they are too many
}

// counted is the name of what is counted of a column: the column, or the bands of floating-point numbers.
func (c *column) counted() string {
	if c.floating() {
		return "\x00bands " + c.name // no column is called so
	}
	return c.name
}

func (c *column) floating() bool { return arrow.IsFloating(operators.ValueType(c.field.Type).ID()) }

// numbers are its values if all are numbers; else nil.
func (c *column) numbers() []float64 {
	list := make([]float64, len(c.values))
	for i, value := range c.values {
		x, err := strconv.ParseFloat(value, 64)
		if err != nil || math.IsNaN(x) || math.IsInf(x, 0) {
			return nil
		}
		list[i] = x
	}
	return list
}

// DraftForm makes a form of the columns of data. A variable that the repository has is the column's only if each of its values is in a category;
// else the error is an [UnmappedError].
func DraftForm(ctx context.Context, r *repository.Repository, how Drafting, o session.Options) (*Draft, error) {
	spec := &schemas.Spec{Source: how.Source}
	j, err := session.OpenToLook(ctx, spec, o)
	if err != nil {
		return nil, err
	}
	defer j.Source.Close()
	d := &drafter{Draft: &Draft{}, how: how, r: r, from: how.Source.Path[0], of: make(map[string]string)}
	columns, err := d.choose(j)
	if err != nil {
		return nil, err
	}
	if err := d.look(ctx, j, columns); err != nil {
		return nil, err
	}
	return d.Draft, d.draft(columns)
}

// choose finds the columns that are looked at, and what is wrong with what is said of them.
func (d *drafter) choose(j *session.Job) ([]*column, error) {
	schema := j.Source.Schema()
	var known []string
	for _, f := range schema.Fields() {
		known = append(known, f.Name)
	}
	var columns []*column
	var wrong []error
	add := func(name, variable string, named bool) {
		fields, ok := schema.FieldsByName(name)
		if !ok {
			wrong = append(wrong, errors.New(j.WhyUnknown("columns", name, known)))
			return
		}
		if slices.ContainsFunc(columns, func(c *column) bool { return c.name == name }) {
			if named {
				wrong = append(wrong, fmt.Errorf("columns: %q stands twice", name))
			}
			return
		}
		if variable == "" {
			variable = name
		}
		columns = append(columns, &column{name: name, variable: variable, field: fields[0], named: named})
	}
	for _, c := range d.how.Columns {
		if _, ok := schema.FieldsByName(c.Column); !ok && c.Variable != "" {
			if whole := c.Variable + "=" + c.Column; slices.Contains(known, whole) {
				c = DraftColumn{Column: whole}
			}
		}
		add(c.Column, c.Variable, true)
	}
	if d.how.Columns == nil {
		for _, name := range known {
			add(name, "", false)
		}
	}
	find := func(what, name string) *column {
		i := slices.IndexFunc(columns, func(c *column) bool { return c.name == name })
		switch {
		case i >= 0:
			return columns[i]
		case slices.Contains(known, name):
			wrong = append(wrong, fmt.Errorf("%s: the column %q is not among the columns that are named", what, name))
		default:
			wrong = append(wrong, errors.New(j.WhyUnknown(what, name, known)))
		}
		return nil
	}
	for _, name := range d.how.Codes {
		if c := find("codes", name); c != nil {
			c.codes, c.named = true, true
		}
	}
	for _, b := range d.how.Bands {
		c := find("bands", b.Column)
		switch {
		case c == nil:
		case c.codes:
			wrong = append(wrong, fmt.Errorf("the column %q has codes, bands or steps, one of them", c.name))
		case c.bands != nil || c.width != 0:
			wrong = append(wrong, fmt.Errorf("bands: %q stands twice", c.name))
		default:
			c.bands, c.width, c.named = b.Bounds, b.Width, true
		}
	}
	for _, s := range d.how.Steps {
		c := find("step", s.Column)
		switch {
		case c == nil:
		case c.codes || c.bands != nil || c.width != 0:
			wrong = append(wrong, fmt.Errorf("the column %q has codes, bands or steps, one of them", c.name))
		case c.step != nil:
			wrong = append(wrong, fmt.Errorf("step: %q stands twice", c.name))
		default:
			c.step, c.named = &s.Step, true
		}
	}
	for _, c := range columns {
		c.why = c.unfit(schema)
	}
	return columns, session.Wrong(errors.Join(wrong...))
}

// unfit tells why a column cannot be a variable, by its type; "" if it can.
func (c *column) unfit(schema *arrow.Schema) string {
	t := operators.ValueType(c.field.Type)
	banded := c.bands != nil || c.width != 0
	reason := session.Reason(schema, c.field)
	switch {
	case c.name == "":
		return "it has no name"
	case strings.ContainsFunc(c.variable, unicode.IsControl) || !utf8.ValidString(c.name):
		return "its name is not one line of text; name the variable, as in --columns NAME=COLUMN"
	case reason == session.ReasonFloating && c.codes:
		return "floating point: numbers that are codes are whole"
	case reason == session.ReasonFloating && c.width != 0:
		return "floating point: say the bounds of its bands, as in --bands " + c.name + "=0,10,100,inf, not their width"
	case reason == session.ReasonFloating && !banded:
		return "floating point: measured, and hardly the same anywhere else; give it bands, as in --bands " + c.name + "=0,10,100,inf"
	case reason != "" && reason != session.ReasonFloating:
		return reason
	case c.step != nil && !operators.IsText(t):
		return "steps are of labels of bands, such as 16-20, which are text; values of type " + session.TypeName(c.field.Type) + " are none"
	case banded && !operators.IsNumber(t) && !operators.IsText(t):
		return "values of type " + session.TypeName(c.field.Type) + " are no numbers, which bands are of"
	}
	c.writtenIn = operators.IsNumber(t) && !banded && !c.codes
	return ""
}

// look reads the values of columns.
func (d *drafter) look(ctx context.Context, j *session.Job, columns []*column) error {
	var read []*column
	var list []operators.Operator
	hide := false
	for _, c := range columns {
		if c.why != "" {
			continue
		}
		read = append(read, c)
		if c.floating() {
			codes := make(map[string]string)
			for _, code := range d.how.MissingCodes {
				codes[code] = ""
			}
			from := c.name
			if len(codes) > 0 {
				from = "\x00values " + c.name
				list = append(list, recode.Operator{Config: recode.Column{Name: from, From: c.name, Map: codes, Keep: &hide}, Unasked: true})
			}
			list = append(list, recode.Operator{Config: recode.Column{Name: c.counted(), From: from, Cuts: finite(c.bands), Keep: &hide}})
		}
	}
	count := &session.Counting{Requests: func(*arrow.Schema) ([]contingency.Request, error) {
		requests := []contingency.Request{{}}
		for _, c := range read {
			requests = append(requests, contingency.Request{Keys: []contingency.Key{{Name: c.counted()}}})
		}
		return requests, nil
	}}
	var err error
	if j.Chain, err = j.Bind(true, append(list, count)...); err != nil {
		return err
	}
	count.Look = func(_ context.Context, tables []*contingency.Table, r *operators.Report) error {
		if r.Rows == 0 {
			return fmt.Errorf("%s has no rows: there is nothing to draft a form from", d.from)
		}
		for i, c := range read {
			d.found(c, tables[i+1].Variables[0].Categories)
		}
		return nil
	}
	_, err = j.Count(ctx, count, nil)
	return err
}

// found takes the values of a column.
func (d *drafter) found(c *column, values []string) {
	if c.floating() {
		c.missing = d.how.MissingCodes
		c.why = c.outside(values)
		return
	}
	for _, value := range values {
		if slices.Contains(d.how.MissingCodes, value) {
			c.missing = append(c.missing, value)
		} else {
			c.values = append(c.values, value)
		}
	}
	if numbers := c.numbers(); numbers != nil && operators.IsText(operators.ValueType(c.field.Type)) {
		slices.SortStableFunc(c.values, func(a, b string) int {
			x, _ := strconv.ParseFloat(a, 64)
			y, _ := strconv.ParseFloat(b, 64)
			return cmp.Compare(x, y)
		})
	}
	odd := slices.IndexFunc(c.values, func(value string) bool { return !utf8.ValidString(value) })
	switch {
	case len(c.values) == 0:
		c.why = "no values"
	case odd >= 0:
		c.why = fmt.Sprintf("the value %s is not UTF-8", report.Printable(c.values[odd]))
	case !c.named && len(c.values) > MostValues:
		c.many = len(c.values)
		c.why = fmt.Sprintf("more than %s values; if it could be a key variable, name it in --columns", report.Count(MostValues))
	case c.bands != nil || c.width != 0:
		c.why = c.band()
	case !c.writtenIn && len(c.values) > keymap.MaxSinks:
		c.why = fmt.Sprintf("%s values, more than the %s categories that a variable has at most", report.Count(int64(len(c.values))),
			report.Count(keymap.MaxSinks))
	}
}

// Put adds what was drafted to a repository.
func (d *Draft) Put(ch *repository.Change) error {
	for _, v := range d.Variables {
		if err := ch.Put(v, ""); err != nil {
			return err
		}
	}
	return ch.Put(d.Form, "")
}
