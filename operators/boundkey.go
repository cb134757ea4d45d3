package operators

import (
	"slices"

	"github.com/apache/arrow/go/v17/arrow"

	"microrisk/engine/contingency"
	"microrisk/engine/uniques"
	"microrisk/schemas"
)

// A BoundKey is the key of a measure, bound to a schema.
type BoundKey struct {
	Prefix   string
	Counted  Key
	Policies []uniques.Policy // one a key variable
	// Plan has the table of the key and the columns of the measure, which adds its Fit, and more tables if it counts some.
	Plan *Plan

	by        []contingency.Key // what tells domains apart; nil for no domains
	beside    map[int]besides   // by the place of a table in the plan
	frequency bool              // the measure writes the sample frequency, of the chain's key or of its own
}

// BindKey is what the binding of a measure begins with: its config is judged and completed, and its key is bound. frequency: it writes the
// sample frequency of the chain's key. Errors are those of schemas.Settle, Key.Policies and Key.Request.
func BindKey(m schemas.Measure, chain schemas.Key, in *arrow.Schema, frequency bool) (*BoundKey, error) {
	b := &BoundKey{Prefix: m.ColumnPrefix(), Counted: KeyOf(m, chain)}
	if err := schemas.Settle(b.Prefix, m.Fields()); err != nil {
		return nil, err
	}
	var err error
	if b.Policies, err = b.Counted.Policies(); err != nil {
		return nil, err
	}
	request, err := b.Counted.Request(in)
	if err != nil {
		return nil, err
	}
	b.frequency = frequency || b.Counted.Own
	b.Plan = &Plan{Name: b.Prefix, Tables: []contingency.Request{request}}
	if d, ok := m.(schemas.Dividing); ok {
		if err := b.requestDomains(in, d); err != nil {
			return nil, err
		}
	}
	_, _, replace := m.Common()
	AddColumns(b.Plan, in, m.Columns(frequency && !b.Counted.Own, schemas.VariableNames(b.Counted.Variables)), *replace)
	return b, nil
}

// Columns are those of a measure by the classes of its key, in order: the sample frequency, if it is to write that, and its own. A class
// with a frequency of 0 is dropped.
func (b *BoundKey) Columns(frequency []int64, own ...arrow.Array) []ClassColumn {
	if b.frequency {
		own = append([]arrow.Array{Values(frequency, func(class int) bool { return frequency[class] > 0 })}, own...)
	}
	list := make([]ClassColumn, len(own))
	for i, values := range own {
		list[i].Values = values
	}
	return list
}

// RequestWith asks for the table of the key with another variable after its own, and tells its place in the plan. A missing value of the
// variable is a code of its own.
func (b *BoundKey) RequestWith(in *arrow.Schema, v schemas.KeyVariable) (int, error) {
	with := b.Counted
	v.Missing = ""
	if v.MissingCodes == nil {
		v.MissingCodes = b.Counted.MissingCodes
	}
	with.Variables = append(slices.Clone(b.Counted.Variables), v)
	request, err := with.Request(in)
	if err != nil {
		return 0, err
	}
	b.Plan.Tables = append(b.Plan.Tables, request)
	return len(b.Plan.Tables) - 1, nil
}
