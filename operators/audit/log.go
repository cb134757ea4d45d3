package audit

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"

	"microrisk/engine/tabular"
	"microrisk/operators"
	"microrisk/operators/protect"
	"microrisk/schemas"
	"microrisk/schemas/advice"
)

// A Log is what an internal log says of the table beside it.
type Log struct {
	Config   protect.Config
	Columns  protect.Columns
	Trees    []*tabular.Tree
	Response string // "" for counts
	Topic    string
	Weighted bool
	Recodes  []protect.LoggedRecode
	Answered bool // people without a value were left out
	Asked
}

// ReadLog reads the log of an internal folder.
func ReadLog(path string, text []byte) (*Log, error) {
	var from protect.Log
	if err := json.Unmarshal(text, &from); err != nil || from.Version != 1 || len(from.Variables) == 0 {
		return nil, fmt.Errorf("%s is no log of microrisk table protect", path)
	}
	l := &Log{Asked: Asked{Insider: from.Insider, Beforehand: cmp.Or(from.Beforehand, "occupied")}}
	for _, v := range from.Variables {
		t, err := v.Tree()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		l.Trees = append(l.Trees, t)
		l.Config.Table = append(l.Config.Table, schemas.KeyVariable{Name: v.Name})
	}
	l.Config.Linked, l.Response, l.Topic, l.Weighted, l.Recodes = from.Linked, from.Response, from.Topic, from.Weighted, from.Recodes
	l.Answered = from.Missing == schemas.MissingDrop
	l.Config.Total, l.Config.Decimals, l.Config.Absolute = from.Total, int64(from.Decimals), true
	if from.Sliding > 0 {
		l.Sliding = &from.Sliding
	}
	if from.Rounding != nil {
		l.Base = from.Rounding.Base
	}
	var err error
	if l.Way, err = from.Way(); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	l.Columns = CellColumns
	return l, nil
}

// CellColumns are the columns of internal tables, as audits read them.
var CellColumns = protect.Columns{
	Count: "count", Value: "value", Status: "status", Lower: "lower_required", Upper: "upper_required", Sole: "sole_contributor",
}

// Truth reads the true table that the log is of. What is asked besides goes before what the log says.
func (l *Log) Truth(ctx context.Context, name string, from operators.Source, memory int64, asked Asked) (*Truth, error) {
	over, err := l.Over(asked)
	if err != nil {
		return nil, err
	}
	table, err := protect.Ready{Name: name, Config: &l.Config, Columns: &l.Columns, Trees: l.Trees, Memory: memory}.Read(ctx, from)
	return &Truth{Table: table, Response: l.Response, Topic: l.Topic, Weighted: l.Weighted, Total: l.Config.Total, Recodes: l.Recodes, Answered: l.Answered,
		Logged: true, Asked: over}, err
}

// Over is what is asked, and for the rest what the log says. The error is that of a base of values that were not rounded.
func (l *Log) Over(asked Asked) (Asked, error) {
	if asked.Base > 0 && l.Way.Method != "rounding" {
		return asked, advice.Errorf("the log says that the table was made by the method %s, and a base is of rounding: leave it out (%s)", l.Way.Method,
			advice.Advice{Spec: "base", Flags: "--base"})
	}
	asked.Way = l.Way
	asked.Insider, asked.Base = cmp.Or(asked.Insider, l.Insider), cmp.Or(asked.Base, l.Base)
	asked.Sliding, asked.Beforehand = cmp.Or(asked.Sliding, l.Sliding), cmp.Or(asked.Beforehand, l.Beforehand)
	return asked, nil
}
