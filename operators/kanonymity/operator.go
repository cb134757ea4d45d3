package kanonymity

import (
	"context"
	_ "embed"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"

	"microrisk/engine/anonymity"
	"microrisk/engine/contingency"
	"microrisk/engine/uniques"
	"microrisk/operators"
	"microrisk/schemas"
	"microrisk/schemas/advice"
)

// document describes the operator's part of the summary.
//
//go:embed summary.schema.json
var document []byte

func init() {
	operators.Register(schemas.Kind{Name: Name, Document: document, Brief: "class sizes", Alone: true, New: func() schemas.Config { return &Config{} },
		Doc:    "Tells which records share their key, and combinations of fewer key variables, with fewer than k records.",
		Limits: []schemas.Figure{{Name: Limit, Doc: "Records whose key fewer than k have."}}})
}

// Operators is an operators.Config's.
func (c *Config) Operators(with operators.Setup) []operators.Operator {
	return []operators.Operator{Operator{Config: *c, Key: with.Key}}
}

// An Operator annotates each record with whether fewer than k records have its key, and on how many combinations of the key's
// variables that is so.
type Operator struct {
	Config Config
	Key    schemas.Key // the chain's; Config.Key comes before it
}

// Bind is an Operator's. The key variables must exist and have equality.
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
	if b.Config.Combinations > 0 && len(b.Counted.Variables) > anonymity.MostVariables {
		return nil, fmt.Errorf(
			"%s: combinations of %d key variables cannot be counted: at most %d can",
			b.Prefix,
			len(b.Counted.Variables),
			anonymity.MostVariables,
		)
	}
	b.Plan.Fit = b.fit
	return b.Plan, nil
}

// bound is kanonymity, bound to a schema.
type bound struct {
	Operator
	*operators.BoundKey
}

// fitted has the values of each class.
type fitted struct {
	operators.ByClass
	operators.Domains
	bound      *bound
	frequency  []int64 // 0 for one that is dropped
	violations []int64 // nil unless combinations are looked at
	minSize    []int32
	summary    *Summary
}

func (b *bound) fit(ctx context.Context, tables []*contingency.Table, env operators.Env) (operators.Fitted, error) {
	t := tables[0]
	if err := env.InMemory(t, fmt.Sprintf("the table of %d key combinations", t.Classes()), 0, operators.FewerVariables, operators.FrequenciesOnly); err != nil {
		return nil, err
	}
	r, err := uniques.Frequencies(ctx, t, b.Policies)
	if err != nil {
		return nil, err
	}
	operators.KeyNotes(env, t, nil)
	k := b.Config.K
	f := &fitted{bound: b, frequency: r.Frequency}
	s := &Summary{K: k, Combinations: 1}
	s.MeasuredKey, s.MeasuredRecords = b.Counted.Searched(t, r)
	f.summary = s
	for i, n := range r.Frequency {
		if n == 0 {
			continue
		}
		if s.Smallest == nil || n < *s.Smallest {
			s.Smallest = &n
		}
		if n < k {
			s.Violations += t.Count(i)
		}
	}
	s.ViolationPercent = operators.Percent(float64(s.Violations), float64(s.Records))
	if b.Config.Combinations > 0 {
		if err := b.combine(ctx, t, f, env); err != nil {
			return nil, err
		}
	}
	f.Columns = f.columns()
	if err := f.divide(ctx, tables, env); err != nil {
		return nil, err
	}
	return f, t.Err()
}

// divide tells of domains.
func (f *fitted) divide(ctx context.Context, tables []*contingency.Table, env operators.Env) (err error) {
	frequency := func(class int) int64 { return f.frequency[class] }
	f.Domains, err = f.bound.Divide(ctx, tables, env, &f.summary.MeasuredKey, frequency,
		operators.DomainFigure{Name: "violations", Told: "violations", Sum: func(class int) float64 { return float64(f.violates(int64(class))) }},
		operators.DomainFigure{Name: "violation_percent", Told: "% of records", From: func(d *operators.Division) float64 { return 100 * d.Per(0, d.Records) }},
		operators.DomainFigure{Name: "smallest_class", Told: "smallest class", Least: func(class int) float64 { return float64(frequency(class)) }})
	return err
}

// limitSize is what makes a search smaller.
func (b *bound) limitSize() advice.Advice {
	return b.Config.Fields().Advice("limit ", "combinations", "")
}

// combine finds the minimal combinations that fewer than k share, and counts those that contain one.
func (b *bound) combine(ctx context.Context, t *contingency.Table, f *fitted, env operators.Env) error {
	limit := int64(0)
	if env.Budget.Bytes > 0 {
		if limit = env.Budget.Bytes - t.Bytes() - 70*int64(t.Classes()); limit <= 0 {
			return env.SearchBeyond(t, env.Budget.Bytes-limit+uniques.Bytes(t.Classes(), len(t.Variables), b.Config.Combinations), b.limitSize())
		}
	}
	env.Progress("searching", 0, 1)
	found, err := uniques.Search(ctx, t, uniques.Options{Policies: b.Policies, MaxSize: b.Config.Combinations, Threshold: f.summary.K - 1, MSUs: true,
		Workers: env.Workers, Force: b.Config.Force, Memory: limit, Progress: func(done, total int64) { env.Progress("searching", done, total) }})
	if err != nil {
		return env.SearchError(t, err, env.Budget.Bytes-limit, b.limitSize())
	}
	c, err := anonymity.NewCombinations(len(t.Variables), b.Config.Combinations)
	if err != nil {
		return err
	}
	f.summary.Combinations = c.All()
	f.violations, f.minSize = make([]int64, t.Classes()), make([]int32, t.Classes())
	bySize := make([]int64, len(t.Variables)+1)
	var sets []uint64
	for i := range f.violations {
		if i%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if f.frequency[i] == 0 || found.Count[i] == 0 {
			continue
		}
		sets = found.MSUs(i, sets[:0])
		f.violations[i], f.minSize[i] = c.Violating(sets), max(found.MinSize[i], 1) // the empty set is in all of size 1
		bySize[f.minSize[i]] += t.Count(i)
	}
	for size := 1; size < len(bySize); size++ {
		if size <= b.Config.Combinations {
			f.summary.CombinationsSizes = append(f.summary.CombinationsSizes, CombinationsSize{Size: size, Records: bySize[size]})
		}
	}
	return t.Err()
}

func (f *fitted) Summary() any { return f.summary }

// RankedBy is a Ranked's.
func (f *fitted) RankedBy() string {
	name := ColumnViolation
	if f.violations != nil {
		name = ColumnViolations
	}
	return schemas.Column(f.bound.Prefix, name)
}

// Rank is a Ranked's.
func (f *fitted) Rank(class int64) (float64, int64) {
	if f.violations != nil {
		return float64(f.violations[class]), f.frequency[class]
	}
	return float64(f.violates(class)), f.frequency[class]
}

func (f *fitted) violates(class int64) int32 {
	if f.frequency[class] < f.summary.K {
		return 1
	}
	return 0
}

// columns are the values of each class.
func (f *fitted) columns() []operators.ClassColumn {
	in := func(c int) bool { return f.frequency[c] > 0 }
	violates := make([]int32, len(f.frequency))
	for c := range violates {
		violates[c] = f.violates(int64(c))
	}
	list := []arrow.Array{operators.Values(violates, in)}
	if f.violations != nil {
		list = append(list, operators.Values(f.violations, in), operators.Values(f.minSize, func(c int) bool { return in(c) && f.minSize[c] > 0 }))
	}
	return f.bound.Columns(f.frequency, list...)
}
