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
	if err := schemas.Settle(r.config.ColumnPrefix(), r.config.Fields()); err != nil {
		return nil, err
	}
	key := r.Counts()
	drop, err := key.Drops()
	if err != nil {
		return nil, err
	}
	request, err := key.Request(in)
	if err != nil {
		return nil, err
	}
	plan := &operators.Plan{Name: r.config.ColumnPrefix(), Tables: []contingency.Request{request}}
	plan.Fit = func(_ context.Context, tables []*contingency.Table, _ operators.Env) (operators.Fitted, error) {
		return r.fit(key, drop, tables[0], frequency || key.Own)
	}
	operators.AddColumns(plan, in, r.config.Columns(frequency && !key.Own, nil), r.config.Replace)
	return plan, nil
}

// fit makes a value for each class of the key.
func (r rare) fit(key operators.Key, drop []bool, t *contingency.Table, frequency bool) (operators.Fitted, error) {
	kept := t.Keep(drop)
	count := kept.Counts()
	s := &Summary{Records: kept.Records, Dropped: t.Records() - kept.Records, KeySummary: key.Summary(t, kept.Classes, kept.Uniques, float64(kept.Doubles))}
	percent := make([]float64, len(count))
	for class, n := range count {
		if percent[class] = operators.Percent(float64(n), float64(kept.Records)); percent[class] < r.config.Below {
			s.Rare += n
		}
	}
	in := func(class int) bool { return count[class] > 0 }
	fitted := &operators.ByClass{Document: s}
	if frequency {
		fitted.Columns = append(fitted.Columns, operators.ClassColumn{Values: operators.Values(count, in)})
	}
	fitted.Columns = append(fitted.Columns, operators.ClassColumn{Values: operators.Values(percent, in)})
	return fitted, t.Err()
}
