// Package attribution tells how likely it is that the value of a sensitive variable would be learnt of a person from the person's key: by a
// correct match, or, where the match is wrong, because others with the key have the same value (package attribution of the engine).
package attribution

import (
	"context"
	_ "embed"
	"fmt"
	"math"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"microrisk/engine/contingency"
	"microrisk/operators"
	"microrisk/schemas"
)

// document describes the operator's part of the summary.
//
//go:embed summary.schema.json
var document []byte

func init() {
	operators.Register(
		schemas.Kind{Name: Name, Document: document, Brief: "what is learnt of sensitive variables", New: func() schemas.Config { return &Config{} },
			Doc: "Tells how likely it is that the value of a sensitive variable is learnt of a person: by a correct match, or as others with the key have it.",
			Limits: []schemas.Figure{
				{Name: LimitGreatest, Doc: "Greatest chance that a sensitive value of a record is learnt, 0 to 1."},
				{Name: LimitExpected, Doc: "Expected number of records of which the value of a sensitive variable is learnt."},
			}},
	)
}

// Operators is an operators.Config's.
func (c *Config) Operators(with operators.Setup) []operators.Operator {
	return []operators.Operator{Operator{Config: *c, Key: with.Key, Sampling: with.Sampling}}
}

// An Operator annotates each record with the chance that the values of its sensitive variables are learnt.
type Operator struct {
	Config   Config
	Key      schemas.Key       // the chain's; Config.Key comes before it
	Sampling *schemas.Sampling // nil: nothing is said; without Config.Match the file is taken as the population
}

// Bind is an Operator's. Key and sensitive variables must exist and have equality, and none is both; weight and match must be numbers.
func (o Operator) Bind(in *arrow.Schema) (*operators.Plan, error) { return o.BindAs(in, false) }

// Counts is a Keyed operator's.
func (o Operator) Counts() operators.Key { return operators.KeyOf(&o.Config, o.Key) }

// BindAs is a Keyed operator's.
func (o Operator) BindAs(in *arrow.Schema, frequency bool) (*operators.Plan, error) {
	b := &bound{Operator: o}
	var err error
	if b.BoundKey, err = operators.BindKey(&b.Config, o.Key, in, frequency); err != nil {
		return nil, err
	}
	if b.drop, err = b.Counted.Drops(); err != nil {
		return nil, err
	}
	if len(b.Config.Sensitive) == 0 {
		return nil, fmt.Errorf("%s: nothing is said to be sensitive", b.Prefix)
	}
	b.Plan.Fit = b.fit
	if err := operators.RequestWeight(b.Plan, in, o.Sampling); err != nil {
		return nil, err
	}
	weights := b.Plan.Tables[0].Sums
	for _, s := range b.Config.Sensitive {
		at, err := b.RequestWith(in, s)
		if err != nil {
			return nil, err
		}
		b.Plan.Tables[at].Sums = weights
		b.tables = append(b.tables, at)
		if err := b.DivideBeside(at); err != nil {
			return nil, err
		}
	}
	return b.Plan, b.requestMatch(in)
}

// requestMatch adds the chances of a correct match up, and reads them: they must be the same for all records with a key.
func (b *bound) requestMatch(in *arrow.Schema) error {
	name := b.Config.Match
	if name == "" {
		return nil
	}
	f, err := operators.LookUp(b.Prefix, in, name)
	if err != nil {
		return err
	}
	if !operators.IsNumber(operators.ValueType(f.Type)) {
		return fmt.Errorf("%s: the chance of a match %q is of type %s: it must be a number", b.Prefix, name, f.Type)
	}
	t := &b.Plan.Tables[0]
	b.matchSum = len(t.Sums)
	t.Sums = append(t.Sums[:b.matchSum:b.matchSum], contingency.Sum{Name: name})
	b.Plan.Reads = []string{name}
	return nil
}

// bound is attribution, bound to a schema.
type bound struct {
	Operator
	*operators.BoundKey
	drop     []bool
	tables   []int // places of those with each sensitive variable
	matchSum int   // place of the chances of a match among the sums of the key's table
}

func (b *bound) weighed() bool { return b.Sampling != nil && b.Sampling.Weight != "" }

// fitted has the chances of a correct match of each class of the key, and what is learnt in each class of it and a sensitive variable.
type fitted struct {
	operators.ByClass
	operators.Domains
	bound   *bound
	kept    *contingency.Kept
	match   []float64 // NaN for a class that is dropped, or has no match
	learnt  []reading // by sensitive variable
	summary *Summary
}

func (f *fitted) Summary() any { return f.summary }

// sameMatch is how much chances of one key may differ: sums are of multiples of 2^-32.
const sameMatch = 1e-9

// Apply is a Fitted's. The chance of a match that is read must be that of the record's key.
func (f *fitted) Apply(ctx context.Context, mem memory.Allocator, rows operators.Rows) ([]arrow.Array, *operators.Bitmap, error) {
	if name := f.bound.Config.Match; name != "" {
		a := rows.Batch.Column(0)
		for r, class := range rows.Class[0] {
			if class < 0 || !f.kept.Has(int(class)) {
				continue
			}
			p, there := operators.Number(a, r)
			var why error
			switch mean := f.match[class]; {
			case there && !(p > 0 && p <= 1):
				why = fmt.Errorf("the chance of a match %q is %v: it must be above 0 and at most 1", name, p)
			case !there && math.IsNaN(mean): // all of the key have none
			case !there:
				why = fmt.Errorf("the chance of a match %q is null, and that of other records with the same key is not", name)
			case !(math.Abs(p-mean) <= sameMatch):
				why = fmt.Errorf("the chance of a match %q is %v, and not so for all records with the same key: it must be one value a key", name, p)
			}
			if why != nil {
				return nil, nil, &operators.RowError{Row: r, Column: name, Err: why}
			}
		}
	}
	return f.ByClass.Apply(ctx, mem, rows)
}
