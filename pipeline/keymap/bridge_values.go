package keymap

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"

	"microrisk/engine/contingency"
	"microrisk/operators"
	"microrisk/operators/report"
	"microrisk/pipeline/session"
	"microrisk/schemas"
)

// shownValues is how many values in no category an error lists.
const shownValues = 10

// An OutsideError says that data have values that are in no category of a variable.
type OutsideError struct {
	Variable, Column, Form, File string
	Values                       []OutsideValue // the most frequent first, then in their order
}

// An OutsideValue is such a value with its records.
type OutsideValue struct {
	Value   string
	Records int64
}

func (e *OutsideError) Error() string {
	var rows int64
	var list []string
	for i, v := range e.Values {
		if rows += v.Records; i < shownValues {
			list = append(list, fmt.Sprintf("%q (%s)", v.Value, report.Plural(v.Records, "row", "rows")))
		}
	}
	if more := len(e.Values) - shownValues; more > 0 {
		list = append(list, fmt.Sprintf("and %d more", more))
	}
	return fmt.Sprintf("variable %q: in %s the column %q has a value in no category: %s; say in %s what they are, below values or missing_codes",
		e.Variable, report.Plural(rows, "row", "rows"), e.Column, strings.Join(list, ", "), e.File)
}

// checkValues counts the columns beside what they are recoded to, and refuses values in no category.
func (b *bridging) checkValues(ctx context.Context, o session.Options) error {
	var counted []Version
	for _, v := range b.Versions {
		if v.Key.Levels != nil {
			counted = append(counted, v)
		}
	}
	if len(counted) == 0 {
		return nil
	}
	spec := &schemas.Spec{Source: schemas.Source{Path: []string{b.data}}, Operators: b.operators(), AllowEmpty: true}
	requests := func(*arrow.Schema) ([]contingency.Request, error) {
		list := make([]contingency.Request, len(counted))
		for i, v := range counted {
			list[i].Keys = []contingency.Key{{Name: v.Key.Name}}
			if v.raw {
				list[i].Keys = append(list[i].Keys, contingency.Key{Name: v.Column})
			}
		}
		return list, nil
	}
	var wrong []error
	err := countTables(ctx, spec, requests, o, func(tables []*contingency.Table) {
		for i, t := range tables {
			if err := b.outside(counted[i], t); err != nil {
				wrong = append(wrong, err)
			}
		}
	})
	if err != nil {
		return err
	}
	return errors.Join(wrong...)
}

// countTables counts tables over the rows of a spec, and looks at them.
func countTables(ctx context.Context, spec *schemas.Spec, requests func(*arrow.Schema) ([]contingency.Request, error), o session.Options,
	look func(tables []*contingency.Table)) error {
	j, err := session.OpenToLook(ctx, spec, o)
	if err != nil {
		return err
	}
	defer j.Source.Close()
	count := &session.Counting{Requests: requests}
	if j.Chain, err = j.Bind(true, append(session.OperatorsOf(spec, &session.Companions{}), count)...); err != nil {
		return err
	}
	count.Look = func(_ context.Context, tables []*contingency.Table, _ *operators.Report) error {
		look(tables)
		return nil
	}
	_, err = j.Count(ctx, count, nil)
	return err
}

// outside finds values that are in no category, in a table of the recoded column and of the column.
func (b *bridging) outside(v Version, t *contingency.Table) error {
	records := make(map[string]int64)
	levels := make(map[string]bool, len(v.Key.Levels))
	for _, level := range v.Key.Levels {
		levels[level] = true
	}
	var values []string
	for class := range t.Classes() {
		made := session.Category(t.Variables[0], t.Code(class, 0))
		if made == nil || levels[*made] {
			continue
		}
		value := session.Category(t.Variables[len(t.Variables)-1], t.Code(class, len(t.Variables)-1))
		if _, known := records[*value]; !known {
			values = append(values, *value)
		}
		records[*value] += t.Count(class)
	}
	if values == nil {
		return nil
	}
	e := &OutsideError{Variable: v.Answer.Name, Column: v.Column, Form: b.form.Name, File: b.file}
	for _, value := range values {
		e.Values = append(e.Values, OutsideValue{value, records[value]})
	}
	slices.SortStableFunc(e.Values, func(x, y OutsideValue) int { return cmp.Compare(y.Records, x.Records) })
	return e
}
