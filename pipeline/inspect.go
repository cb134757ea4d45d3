package pipeline

import (
	"context"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"

	"microrisk/engine/contingency"
	"microrisk/engine/uniques"
	"microrisk/operators"
	"microrisk/schemas"
)

// An Inspection tells what inputs have in them.
type Inspection struct {
	Inputs  []string
	Rows    int64 // of the inputs
	Counted int64 // rows chosen
	Columns []ColumnInspection
	Key     *KeyInspection // nil without a key
}

// A ColumnInspection is what a column looks like.
type ColumnInspection struct {
	Name       string
	Type       string
	Countable  bool  // has equality: the fields below say something
	Categories int64 // distinct values, missing not counted
	Missing    int64 // records
}

// A KeyInspection is how a key singles records out.
type KeyInspection struct {
	Whole   KeyCount
	Without []KeyCount // without each variable in turn, in key order
}

// A KeyCount is what the table of some key variables looks like.
type KeyCount struct {
	Without       string // the variable left out
	Classes       int64
	SampleUniques int64
}

// Inspect looks at the columns of a spec's source, or at its key if there is one. Of the operators only recode and select matter.
func Inspect(ctx context.Context, spec *schemas.Spec, options Options) (*Inspection, error) {
	j, err := openToLook(ctx, spec, schemas.Suda{}, options)
	if err != nil {
		return nil, err
	}
	defer j.source.Close()
	var columns []arrow.Field
	count := &counting{requests: func(in *arrow.Schema) ([]contingency.Request, error) {
		columns = in.Fields()
		return columnRequests(in), nil
	}}
	if spec.Key != nil {
		count.requests = keyRequest(*spec.Key)
	}
	if j.chain, err = j.bind(true, append(operatorsOf(spec), count)...); err != nil {
		return nil, err
	}
	report, err := j.chain.Run(ctx, j.source, nil, j.chainOptions())
	if err != nil {
		return nil, err
	}
	inspection := &Inspection{Inputs: j.source.Inputs(), Rows: report.Rows, Counted: count.tables[0].Records()}
	if spec.Key != nil {
		inspection.Key, err = inspectKey(ctx, *spec.Key, count.tables[0], j.options)
		return inspection, err
	}
	inspection.Columns = inspectColumns(columns, count.tables[1:])
	return inspection, nil
}

// Count counts the key of a spec, and does no more: the time it takes is that of a counting scan. It gives the number of distinct keys
// and of records.
func Count(ctx context.Context, spec *schemas.Spec, options Options) (classes, records int64, err error) {
	j, err := openToLook(ctx, spec, schemas.Suda{}, options)
	if err != nil {
		return 0, 0, err
	}
	defer j.source.Close()
	count := &counting{requests: keyRequest(*spec.Key)}
	if j.chain, err = j.bind(true, append(operatorsOf(spec), count)...); err != nil {
		return 0, 0, err
	}
	if _, err = j.chain.Run(ctx, j.source, nil, j.chainOptions()); err != nil {
		return 0, 0, err
	}
	return int64(count.tables[0].Classes()), count.tables[0].Records(), nil
}

// columnRequests asks for the number of records, and a table for each column that can be counted.
func columnRequests(in *arrow.Schema) []contingency.Request {
	requests := []contingency.Request{{}}
	for _, f := range in.Fields() {
		if countable(in, f) {
			requests = append(requests, contingency.Request{Keys: []contingency.Key{{Name: f.Name}}})
		}
	}
	return requests
}

// countable columns have equality, and a name of their own.
func countable(in *arrow.Schema, f arrow.Field) bool {
	return operators.HasEquality(f.Type) && len(in.FieldIndices(f.Name)) == 1
}

func inspectColumns(fields []arrow.Field, tables []*contingency.Table) []ColumnInspection {
	schema := arrow.NewSchema(fields, nil)
	columns := make([]ColumnInspection, len(fields))
	next := 0
	for i, f := range fields {
		columns[i] = ColumnInspection{Name: f.Name, Type: typeName(f.Type)}
		if !countable(schema, f) {
			continue
		}
		t := tables[next]
		next++
		columns[i].Countable = true
		for class := range t.Classes() {
			if t.Code(class, 0) == t.Variables[0].Missing() {
				columns[i].Missing += t.Count(class)
			} else {
				columns[i].Categories++
			}
		}
	}
	return columns
}

// typeName is a type as a person would write it.
func typeName(t arrow.DataType) string {
	if d, ok := t.(*arrow.DictionaryType); ok {
		return typeName(d.ValueType) + " (dictionary)"
	}
	switch t.ID() {
	case arrow.STRING, arrow.LARGE_STRING:
		return "string"
	case arrow.FLOAT64:
		return "double"
	case arrow.FLOAT32:
		return "float"
	case arrow.DATE32, arrow.DATE64:
		return "date"
	case arrow.MAP:
		m := t.(*arrow.MapType)
		return "map<" + typeName(m.KeyType()) + ", " + typeName(m.ItemType()) + ">"
	case arrow.STRUCT:
		return "struct"
	case arrow.LIST, arrow.LARGE_LIST:
		return "list<" + typeName(t.(arrow.ListLikeType).Elem()) + ">"
	}
	return t.String()
}

// inspectKey counts the sample uniques of a key, and of it without each variable.
func inspectKey(ctx context.Context, key schemas.Key, t *contingency.Table, o Options) (*KeyInspection, error) {
	policies := policiesOf(key)
	count := func(t *contingency.Table, policies []uniques.Policy) (KeyCount, error) {
		// Sets of one variable are enough: the frequencies of whole keys come with every search.
		r, err := uniques.Search(ctx, t, uniques.Options{Policies: policies, MaxSize: 1, Workers: o.Workers, Force: true})
		if err != nil {
			return KeyCount{}, err
		}
		return KeyCount{Classes: int64(t.Classes()), SampleUniques: r.Uniques}, nil
	}
	k := &KeyInspection{}
	var err error
	if k.Whole, err = count(t, policies); err != nil {
		return nil, err
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
		margin, err := t.Margin(rest...)
		if err != nil {
			return nil, err
		}
		one, err := count(margin, slices.Delete(slices.Clone(policies), left, left+1))
		if err != nil {
			return nil, err
		}
		one.Without = t.Variables[left].Name
		k.Without = append(k.Without, one)
		o.Progress("leaving out", int64(left+1), int64(len(t.Variables)))
	}
	return k, nil
}
