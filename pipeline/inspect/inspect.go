// Package inspect looks at a file before anything is computed: its columns and categories, or the sample uniques of a key.
package inspect

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"

	"microrisk/engine/contingency"
	"microrisk/engine/uniques"
	"microrisk/operators"
	"microrisk/operators/recode"
	"microrisk/pipeline/session"
	"microrisk/schemas"
)

// An Inspection tells what inputs have in them.
type Inspection struct {
	Inputs  []string
	Rows    int64 // of the inputs
	Counted int64 // rows chosen
	Columns []ColumnInspection
	Values  []ColumnValues // of the columns that were asked for; then there are no Columns
	Key     *KeyInspection // nil without a key
}

// A Look says what is looked at in inputs without a key.
type Look struct {
	MissingCodes []string // values that count as missing besides null, in all columns
	Values       []string // columns whose categories are listed; none: all columns are described
}

// A ColumnInspection is what a column looks like.
type ColumnInspection struct {
	Name       string
	Type       string
	Reason     string // why it has no categories, "" if it has
	Categories int64  // distinct values, missing not counted
	Missing    int64  // records; -1 if they were not counted
}

// ColumnValues are the categories of a column.
type ColumnValues struct {
	Name     string
	Values   []ValueCount // the most frequent ones first, equally frequent ones in the order of values, missing last
	More     int64        // categories that are not in Values
	MoreRows int64        // records in them
}

// A ValueCount is a category, nil for missing, and its records.
type ValueCount struct {
	Value *string
	Count int64
}

// mostValues is how many categories of a column are listed.
const mostValues = 50

// A KeyInspection is how a key singles records out.
type KeyInspection struct {
	Whole   KeyCount
	Without []KeyCount // without each variable in turn, in key order
}

// A KeyCount is what the table of some key variables looks like.
type KeyCount struct {
	Without       string // the variable left out
	Records       int64  // that no missing value drops
	Classes       int64  // of these
	SampleUniques int64
}

// inspecting is a source that is being inspected.
type inspecting struct{ *session.Job }

// Run looks at the columns of a spec's source, or at its key if there is one. Of the operators only recode and select matter.
func Run(ctx context.Context, spec *schemas.Spec, look Look, options session.Options) (*Inspection, error) {
	opened, err := session.OpenToLook(ctx, spec, options)
	if err != nil {
		return nil, err
	}
	j := &inspecting{opened}
	defer j.Source.Close()
	list := session.OperatorsOf(spec, &session.Companions{})
	columns := &columnTables{look: look}
	inspection := &Inspection{Inputs: j.Source.Inputs()}
	count := &session.Counting{Requests: columns.requests}
	if spec.Key != nil {
		count.Requests = session.KeyRequest(*spec.Key)
	} else {
		if err := j.checkValues(look.Values); err != nil {
			return nil, err
		}
		list = append(list, columns.presence(j.Source.Schema())...)
	}
	if j.Chain, err = j.Bind(true, append(list, count)...); err != nil {
		return nil, err
	}
	count.Look = func(ctx context.Context, tables []*contingency.Table, report *operators.Report) (err error) {
		inspection.Rows, inspection.Counted = report.Rows, tables[0].Records()
		switch {
		case spec.Key != nil:
			inspection.Key, err = inspectKey(ctx, *spec.Key, count, j.Options)
		case len(look.Values) > 0:
			for _, t := range tables[1:] {
				inspection.Values = append(inspection.Values, valuesOf(t))
			}
		default:
			inspection.Columns = columns.describe(tables[1:])
		}
		return err
	}
	if _, err = j.Count(ctx, count, nil); err != nil {
		return nil, err
	}
	if k := inspection.Key; k != nil && k.Without == nil && len(spec.Key.Variables) > 1 {
		err = j.inspectWithout(ctx, spec, k)
	}
	return inspection, err
}

// checkValues finds columns whose categories cannot be listed.
func (j *inspecting) checkValues(names []string) error {
	schema := j.Source.Schema()
	var known []string
	for _, f := range schema.Fields() {
		known = append(known, f.Name)
	}
	var problems []error
	for _, name := range names {
		if slices.ContainsFunc(j.Spec.Operators, func(o schemas.Operator) bool {
			recodes, ok := o.Config.(*recode.Config)
			return ok && slices.ContainsFunc(*recodes, func(r recode.Column) bool { return r.Name == name })
		}) {
			continue // recoded: always categories
		}
		fields, ok := schema.FieldsByName(name)
		if !ok {
			problems = append(problems, errors.New(j.WhyUnknown("values", name, known)))
		} else if why := session.Reason(schema, fields[0]); why != "" {
			problems = append(problems, fmt.Errorf("values: the column %q of type %s has no categories: %s", name, session.TypeName(fields[0].Type), why))
		}
	}
	return session.Wrong(errors.Join(problems...))
}

// Count counts the key of a spec, and does no more: the time it takes is that of a counting scan. It gives the number of distinct keys
// and of records.
func Count(ctx context.Context, spec *schemas.Spec, options session.Options) (classes, records int64, err error) {
	j, err := session.OpenToLook(ctx, spec, options)
	if err != nil {
		return 0, 0, err
	}
	defer j.Source.Close()
	count := &session.Counting{Requests: session.KeyRequest(*spec.Key)}
	if j.Chain, err = j.Bind(true, append(session.OperatorsOf(spec, &session.Companions{}), count)...); err != nil {
		return 0, 0, err
	}
	count.Look = func(_ context.Context, tables []*contingency.Table, _ *operators.Report) error {
		classes, records = int64(tables[0].Classes()), tables[0].Records()
		return nil
	}
	_, err = j.Count(ctx, count, nil)
	return classes, records, err
}

// columnTables are the tables that describe columns: the number of records, then a table of each column that can be counted. Of a
// floating-point column it is counted whether there is a value.
type columnTables struct {
	look   Look
	schema *arrow.Schema
	fields []arrow.Field
}

// present starts the name of a column that says whether another has a value; no spec that is made of flags has such a name.
const present = "\x00present "

// presence makes columns that say whether the floating-point columns have values.
func (c *columnTables) presence(in *arrow.Schema) []operators.Operator {
	var list []operators.Operator
	hide, yes := false, "yes"
	codes := map[string]string{}
	for _, code := range c.look.MissingCodes {
		codes[code] = ""
	}
	for _, f := range in.Fields() {
		if len(c.look.Values) == 0 && session.Reason(in, f) == session.ReasonFloating {
			list = append(
				list,
				recode.Operator{Config: recode.Column{Name: present + f.Name, From: f.Name, Map: codes, Other: &yes, Keep: &hide}, Unasked: true},
			)
		}
	}
	return list
}

func (c *columnTables) requests(in *arrow.Schema) ([]contingency.Request, error) {
	codes := slices.Compact(slices.Sorted(slices.Values(c.look.MissingCodes)))
	requests := []contingency.Request{{}}
	ask := func(name string) {
		requests = append(requests, contingency.Request{Keys: []contingency.Key{{Name: name, MissingCodes: codes}}})
	}
	c.schema = in
	for _, name := range c.look.Values {
		ask(name)
	}
	if len(c.look.Values) > 0 {
		return requests, nil
	}
	for _, f := range in.Fields() {
		if strings.HasPrefix(f.Name, present) {
			continue
		}
		c.fields = append(c.fields, f)
		switch session.Reason(in, f) {
		case "":
			ask(f.Name)
		case session.ReasonFloating:
			ask(present + f.Name)
		}
	}
	return requests, nil
}

func (c *columnTables) describe(tables []*contingency.Table) []ColumnInspection {
	columns := make([]ColumnInspection, len(c.fields))
	next := 0
	for i, f := range c.fields {
		columns[i] = ColumnInspection{Name: f.Name, Type: session.TypeName(f.Type), Reason: session.Reason(c.schema, f), Missing: -1}
		if why := columns[i].Reason; why != "" && why != session.ReasonFloating {
			continue
		}
		t := tables[next]
		next++
		columns[i].Missing = t.MissingRecords(0)
		if columns[i].Reason == "" {
			columns[i].Categories = t.Keep([]bool{true}).Classes
		}
	}
	return columns
}

// valuesOf lists the categories of a table of one column.
func valuesOf(t *contingency.Table) ColumnValues {
	v := ColumnValues{Name: t.Variables[0].Name}
	var missing []ValueCount
	for class := range t.Classes() {
		if one := (ValueCount{session.Category(t.Variables[0], t.Code(class, 0)), t.Count(class)}); one.Value == nil {
			missing = append(missing, one)
		} else {
			v.Values = append(v.Values, one)
		}
	}
	slices.SortStableFunc(v.Values, func(a, b ValueCount) int { return cmp.Compare(b.Count, a.Count) })
	for _, one := range v.Values[min(mostValues, len(v.Values)):] {
		v.More++
		v.MoreRows += one.Count
	}
	v.Values = append(v.Values[:min(mostValues, len(v.Values))], missing...)
	return v
}

// inspectKey counts the sample uniques of a key, and of it without each variable; those of a table on disk are left out.
func inspectKey(ctx context.Context, key schemas.Key, count *session.Counting, o session.Options) (*KeyInspection, error) {
	t := count.Tables[0]
	policies := session.PoliciesOf(key)
	k := &KeyInspection{}
	var err error
	if k.Whole, err = countClasses(ctx, count, t, policies); err != nil || t.OnDisk() {
		return k, err
	}
	for left := range t.Variables {
		if len(t.Variables) == 1 {
			break
		}
		var rest []int
		for v := range t.Variables {
			if v != left {
				rest = append(rest, v)
			}
		}
		margin, err := t.Margin(ctx, rest...)
		if err != nil {
			return nil, err
		}
		one, err := countClasses(ctx, count, margin, slices.Delete(slices.Clone(policies), left, left+1))
		if err != nil {
			return nil, err
		}
		one.Without = t.Variables[left].Name
		k.Without = append(k.Without, one)
		o.Progress("leaving out", int64(left+1), int64(len(t.Variables)))
	}
	return k, nil
}

// inspectWithout counts the key without each of its variables from the file, since its table is too large to be summed over in memory.
func (j *inspecting) inspectWithout(ctx context.Context, spec *schemas.Spec, k *KeyInspection) error {
	policies := session.PoliciesOf(*spec.Key)
	count := &session.Counting{Requests: func(in *arrow.Schema) ([]contingency.Request, error) {
		whole, err := session.KeyRequest(*spec.Key)(in)
		if err != nil {
			return nil, err
		}
		var list []contingency.Request
		for v := range whole[0].Keys {
			list = append(list, contingency.Request{Keys: slices.Delete(slices.Clone(whole[0].Keys), v, v+1)})
		}
		return list, nil
	}}
	count.Look = func(ctx context.Context, tables []*contingency.Table, _ *operators.Report) error {
		for v, t := range tables {
			one, err := countClasses(ctx, count, t, slices.Delete(slices.Clone(policies), v, v+1))
			if err != nil {
				return err
			}
			one.Without = spec.Key.Variables[v].Name
			k.Without = append(k.Without, one)
		}
		return nil
	}
	var err error
	if j.Chain, err = j.Bind(true, append(session.OperatorsOf(spec, &session.Companions{}), count)...); err != nil {
		return err
	}
	_, err = j.Count(ctx, count, nil)
	return err
}

// countClasses counts the records, classes and sample uniques of a table, those left out that a missing value drops. Only wildcards
// need a table in memory.
func countClasses(ctx context.Context, count *session.Counting, t *contingency.Table, policies []uniques.Policy) (c KeyCount, err error) {
	if !slices.Contains(policies, uniques.Wildcard) {
		kept := t.Keep(operators.Dropping(policies))
		c.Records, c.Classes, c.SampleUniques = kept.Records, kept.Classes, kept.Uniques
		return c, t.Err()
	}
	if err := count.InMemory(t); err != nil {
		return c, err
	}
	r, err := uniques.Frequencies(ctx, t, policies)
	if err != nil {
		return c, err
	}
	c.Records, c.SampleUniques = r.Records, r.Uniques
	for _, f := range r.Frequency {
		if f > 0 {
			c.Classes++
		}
	}
	return c, nil
}
