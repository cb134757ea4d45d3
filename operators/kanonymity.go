package operators

import (
	"context"
	"errors"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"

	"microrisk/engine/anonymity"
	"microrisk/engine/contingency"
	"microrisk/engine/uniques"
	"microrisk/schemas"
)

// KAnonymity annotates each record with whether fewer than k records have its key, and on how many combinations of the key's
// variables that is so.
type KAnonymity struct {
	Config schemas.KAnonymity
	Key    schemas.Key // the pipeline's key; Config.Key comes before it
	Shared bool        // the first operator to use Key: it writes sample_frequency
}

// Bind is an Operator's. The key variables must exist and have equality.
func (k KAnonymity) Bind(in *arrow.Schema) (*Plan, error) {
	b := &kAnonymityBound{KAnonymity: k, prefix: k.Config.ColumnPrefix(), key: k.Key}
	if k.Config.Key != nil {
		b.key = *k.Config.Key
	}
	var err error
	if b.policies, err = policiesOf(b.prefix, b.key, k.Config.Missing); err != nil {
		return nil, err
	}
	request, err := keyRequest(b.prefix, in, b.key)
	if err != nil {
		return nil, err
	}
	if b.Config.Least() < 2 {
		return nil, fmt.Errorf("%s: k is %d: it must be at least 2", b.prefix, b.Config.Least())
	}
	if b.Config.Combinations > 0 && len(request.Keys) > anonymity.MostVariables {
		return nil, fmt.Errorf("%s: combinations of %d key variables cannot be counted: at most %d can", b.prefix, len(request.Keys), anonymity.MostVariables)
	}
	plan := &Plan{Name: b.prefix, Tables: []contingency.Request{request}, Fit: b.fit}
	b.frequency = k.Shared || k.Config.Key != nil
	addColumns(plan, in, k.Config.Columns(k.Config.Key == nil && k.Shared, nil), k.Config.Replace)
	return plan, nil
}

// addColumns adds what an operator writes to its plan.
func addColumns(plan *Plan, in *arrow.Schema, columns []schemas.ColumnInfo, replace bool) {
	types := map[schemas.ColumnType]arrow.DataType{schemas.Int64: arrow.PrimitiveTypes.Int64, schemas.Int32: arrow.PrimitiveTypes.Int32, schemas.Double: arrow.PrimitiveTypes.Float64}
	for _, c := range columns {
		added := Added{Field: arrow.Field{Name: c.Name, Type: types[c.Type], Nullable: true}}
		if replace && in.HasField(c.Name) {
			added.Replaces = c.Name
		}
		plan.Adds = append(plan.Adds, added)
	}
}

// kAnonymityBound is kanonymity, bound to a schema.
type kAnonymityBound struct {
	KAnonymity
	prefix    string
	key       schemas.Key
	policies  []uniques.Policy
	frequency bool // sample_frequency is written
}

// kAnonymityFitted has the values of each class.
type kAnonymityFitted struct {
	ByClass
	bound      *kAnonymityBound
	frequency  []int64 // 0 for one that is dropped
	violations []int64 // nil unless combinations are looked at
	minSize    []int32
	summary    *schemas.KAnonymitySummary
}

func (b *kAnonymityBound) fit(ctx context.Context, tables []*contingency.Table, env Env) (Fitted, error) {
	t := tables[0]
	if t.OnDisk() {
		return nil, fmt.Errorf("%s: %d key combinations do not fit in the %s of memory allowed: allow more, use fewer or coarser key variables, or write frequencies only (frequency)",
			b.prefix, t.Classes(), mebibytes(env.Memory))
	}
	r, err := uniques.Frequencies(ctx, t, b.policies)
	if err != nil {
		return nil, err
	}
	keyNotes(env, t, nil)
	k := b.Config.Least()
	f := &kAnonymityFitted{bound: b, frequency: r.Frequency}
	s := &schemas.KAnonymitySummary{Records: r.Records, Dropped: t.Records() - r.Records, K: k, Combinations: 1, KeySummary: keySummary(t, b.key, b.Config.Missing, kept(r.Frequency), r.Uniques, r.Doubles)}
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
	s.ViolationPercent = percent(float64(s.Violations), float64(s.Records))
	if b.Config.Combinations > 0 {
		if err := b.combine(ctx, t, f, env); err != nil {
			return nil, err
		}
	}
	f.Columns = f.columns()
	return f, t.Err()
}

// combine finds the minimal combinations that fewer than k share, and counts those that contain one.
func (b *kAnonymityBound) combine(ctx context.Context, t *contingency.Table, f *kAnonymityFitted, env Env) error {
	limit := int64(0)
	if env.Memory > 0 {
		if limit = env.Memory - t.Bytes() - 70*int64(t.Classes()); limit <= 0 {
			return tooLarge(int64(t.Classes()), env.Memory-limit+uniques.Bytes(t.Classes(), len(t.Variables), b.Config.Combinations), env.Memory)
		}
	}
	env.Progress("searching", 0, 1)
	found, err := uniques.Search(ctx, t, uniques.Options{Policies: b.policies, MaxSize: b.Config.Combinations, Threshold: f.summary.K - 1, MSUs: true,
		Workers: env.Workers, Force: b.Config.Force, Memory: limit, Progress: func(done, total int64) { env.Progress("searching", done, total) }})
	var short *uniques.MemoryError
	if errors.As(err, &short) {
		return tooLarge(int64(t.Classes()), env.Memory-limit+short.Needs, env.Memory)
	}
	if err != nil {
		return err
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
			f.summary.CombinationsSizes = append(f.summary.CombinationsSizes, schemas.CombinationsSize{Size: size, Records: bySize[size]})
		}
	}
	return t.Err()
}

func (f *kAnonymityFitted) Summary() any { return f.summary }

// RankedBy is a Ranked's.
func (f *kAnonymityFitted) RankedBy() string {
	name := schemas.KAnonymityViolation
	if f.violations != nil {
		name = schemas.KAnonymityViolations
	}
	return schemas.Column(f.bound.prefix, name)
}

// Rank is a Ranked's.
func (f *kAnonymityFitted) Rank(class int64) (float64, int64) {
	if f.violations != nil {
		return float64(f.violations[class]), f.frequency[class]
	}
	return float64(f.violates(class)), f.frequency[class]
}

func (f *kAnonymityFitted) violates(class int64) int32 {
	if f.frequency[class] < f.summary.K {
		return 1
	}
	return 0
}

// columns are the values of each class.
func (f *kAnonymityFitted) columns() []ClassColumn {
	in := func(c int) bool { return f.frequency[c] > 0 }
	var list []ClassColumn
	if f.bound.frequency {
		list = append(list, ClassColumn{Values: Values(f.frequency, in)})
	}
	violates := make([]int32, len(f.frequency))
	for c := range violates {
		violates[c] = f.violates(int64(c))
	}
	list = append(list, ClassColumn{Values: Values(violates, in)})
	if f.violations != nil {
		list = append(list, ClassColumn{Values: Values(f.violations, in)},
			ClassColumn{Values: Values(f.minSize, func(c int) bool { return in(c) && f.minSize[c] > 0 })})
	}
	return list
}
