package protect

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"

	"microrisk/engine/contingency"
	"microrisk/operators"
	"microrisk/operators/mc3"
	"microrisk/pipeline/session"
	"microrisk/schemas"
)

// A counted file has its key's table, with a sensitive column as the last variable if there is one, and a model where a target needs it.
type counted struct {
	table    *contingency.Table
	types    []arrow.DataType // of the key's columns
	schema   *arrow.Schema    // all columns that the release could have
	model    *mc3.Expectation
	summary  *mc3.Summary
	warnings []string
}

// count reads the file.
func (s *Spec) count(ctx context.Context, o session.Options) (*counted, error) {
	c := &counted{}
	key := *s.Spec.Key
	all := key
	if s.Target.Sensitive != "" {
		if slices.ContainsFunc(key.Variables, func(v schemas.KeyVariable) bool { return v.Name == s.Target.Sensitive }) {
			return nil, session.Wrong(fmt.Errorf("%s is a key variable; what is sensitive is not known to an intruder", s.Target.Sensitive))
		}
		all.Variables = append(slices.Clone(key.Variables), schemas.KeyVariable{Name: s.Target.Sensitive})
	}
	request := session.KeyRequest(all)
	count := &session.Counting{Requests: func(in *arrow.Schema) ([]contingency.Request, error) {
		c.schema = in
		if err := s.checkColumns(in); err != nil {
			return nil, err
		}
		list, err := request(in)
		if err != nil {
			return nil, err
		}
		for _, v := range key.Variables {
			f, err := operators.LookUp("key", in, v.Name)
			if err != nil {
				return nil, err
			}
			c.types = append(c.types, f.Type)
		}
		return list, nil
	}}
	spec := *s.Spec
	chosen := &spec
	if s.Target.Modelled() {
		model := s.Model
		model.Replace = true
		fitted := spec
		fitted.Operators = append(slices.Clone(spec.Operators), schemas.Operator{Config: &model})
		if err := fitted.Validate(); err != nil {
			return nil, err
		}
		chosen = &fitted
	}
	j, err := session.OpenToLook(ctx, &spec, o)
	if err != nil {
		return nil, err
	}
	defer j.Source.Close()
	list := session.OperatorsOf(chosen, &session.Companions{})
	at := len(list)
	if s.Target.Modelled() {
		at--
	}
	if j.Chain, err = j.Bind(true, slices.Insert(list, at, operators.Operator(count))...); err != nil {
		return nil, err
	}
	report, err := j.Chain.Run(ctx, j.Source, nil, j.ChainOptions())
	if err != nil {
		return nil, err
	}
	c.table, c.warnings = count.Tables[0], report.Warnings
	if s.Target.Modelled() {
		last := report.Operators[len(report.Operators)-1]
		c.model, c.summary = last.Fitted.(mc3.Expecting).Expectation(), last.Summary.(*mc3.Summary)
	}
	if c.table.Records() == 0 {
		return nil, errors.New("no record was counted: there is nothing to protect")
	}
	return c, nil
}

// checkColumns finds columns that cannot be left out, or have no means.
func (s *Spec) checkColumns(in *arrow.Schema) error {
	isKey := func(name string) bool {
		return slices.ContainsFunc(s.Spec.Key.Variables, func(v schemas.KeyVariable) bool { return v.Name == name })
	}
	for _, name := range s.Drop {
		if _, err := operators.LookUp("drop", in, name); err != nil {
			return err
		}
		switch {
		case isKey(name):
			return session.Wrong(fmt.Errorf("drop: %s is a key variable; leave it out of the key too", name))
		case name == s.Target.Sensitive || s.Spec.Sampling != nil && name == s.Spec.Sampling.Weight:
			return session.Wrong(fmt.Errorf("drop: the release is judged by %s; leave it out of the release afterwards", name))
		}
	}
	for _, name := range s.Means {
		f, err := operators.LookUp("means", in, name)
		switch {
		case err != nil:
			return err
		case isKey(name) || slices.Contains(s.Drop, name):
			return session.Wrong(fmt.Errorf("means: %s is a key variable, or left out; means are of other columns that stay", name))
		case !operators.IsNumber(operators.ValueType(f.Type)):
			return session.Wrong(fmt.Errorf("means: %s is of type %s, which is no number", name, f.Type))
		}
	}
	return nil
}
