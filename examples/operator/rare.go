package main

import (
	"context"

	"github.com/apache/arrow/go/v17/arrow"

	"microrisk/engine/contingency"
	"microrisk/operators"
	"microrisk/schemas"
)

// rare annotates each record with how many percent of the records have its key.
type rare struct {
	config Config
	key    schemas.Key
}

// Counts is an operators.Keyed's.
func (r rare) Counts() operators.Key { return operators.KeyOf(&r.config, r.key) }

// Bind is an operators.Operator's.
func (r rare) Bind(in *arrow.Schema) (*operators.Plan, error) { return r.BindAs(in, false) }

// BindAs is an operators.Keyed's.
func (r rare) BindAs(in *arrow.Schema, frequency bool) (*operators.Plan, error) {
	key, err := operators.BindKey(&r.config, r.key, in, frequency)
	if err != nil {
		return nil, err
	}
	drop, err := key.Counted.Drops()
	if err != nil {
		return nil, err
	}
	key.Plan.Fit = func(_ context.Context, tables []*contingency.Table, _ operators.Env) (operators.Fitted, error) {
		return r.fit(key, drop, tables[0])
	}
	return key.Plan, nil
}

// fit makes a value for each class of the key.
func (r rare) fit(key *operators.BoundKey, drop []bool, t *contingency.Table) (operators.Fitted, error) {
	kept := t.Keep(drop)
	count := kept.Counts()
	s := &Summary{}
	s.MeasuredKey, s.MeasuredRecords = key.Counted.Kept(t, kept)
	percent := make([]float64, len(count))
	for class, n := range count {
		if percent[class] = operators.Percent(float64(n), float64(kept.Records)); percent[class] < r.config.Below {
			s.Rare += n
		}
	}
	values := operators.Values(percent, func(class int) bool { return count[class] > 0 })
	return &operators.ByClass{Document: s, Columns: key.Columns(count, values)}, t.Err()
}
