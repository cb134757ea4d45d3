package selection

import (
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"

	"microrisk/operators"
)

// Weighed leaves the records out whose sampling weight is 0 or missing: they stay in the output, with nulls in the columns of the
// operators that follow, and are in no table of theirs.
type Weighed struct{ Column string }

// Bind is an Operator's. The column must be a number.
func (w Weighed) Bind(in *arrow.Schema) (*operators.Plan, error) {
	f, err := operators.LookUp("sampling", in, w.Column)
	if err != nil {
		return nil, err
	}
	if !operators.IsNumber(operators.ValueType(f.Type)) {
		return nil, fmt.Errorf("sampling: the weight %q is of type %s: a weight must be a number", f.Name, f.Type)
	}
	holds := func(values arrow.Array, i int) bool {
		x, ok := operators.Number(values, i)
		return !ok || x != 0 // what is no weight is an error of who adds them up
	}
	return &operators.Plan{Reads: []string{w.Column}, Filters: true, KeepRows: true, Apply: &selected{conditions: []*rowCondition{{holds: holds}}}}, nil
}
