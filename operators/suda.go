package operators

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"microrisk/engine/contingency"
	"microrisk/engine/uniques"
	"microrisk/schemas"
)

// Suda annotates each record with the score of its minimal sample uniques (package uniques says what they are). It is null
// for records that the missing-value policy drops.
type Suda struct {
	Config   schemas.Suda
	Key      schemas.Key       // the pipeline's key; Config.Key comes before it
	Shared   bool              // the first operator to use Key: it writes sample_frequency
	Sampling *schemas.Sampling // nil: nothing is known, no DIS
}

var scores = map[string]uniques.Score{
	"": uniques.Lattice, schemas.ScoreLattice: uniques.Lattice, schemas.ScoreLatticeLimited: uniques.LatticeLimited,
	schemas.ScoreFactorial: uniques.Factorial, schemas.ScoreElliotLimited: uniques.ElliotLimited,
}

var policies = map[string]uniques.Policy{
	"": uniques.Category, schemas.MissingCategory: uniques.Category, schemas.MissingWildcard: uniques.Wildcard,
	schemas.MissingIgnore: uniques.Ignore, schemas.MissingDrop: uniques.Drop,
}

// Bind is an Operator's. The key variables must exist and have equality, and the weight, if there is one, must be a number.
func (s Suda) Bind(in *arrow.Schema) (*Plan, error) {
	b := &sudaBound{Suda: s, prefix: s.Config.ColumnPrefix()}
	b.key = s.Key
	if s.Config.Key != nil {
		b.key = *s.Config.Key
	}
	var err error
	if b.score, b.policies, err = s.choices(b.prefix, b.key); err != nil {
		return nil, err
	}
	request, err := keyRequest(b.prefix, in, b.key)
	if err != nil {
		return nil, err
	}
	plan := &Plan{Name: b.prefix, Tables: []contingency.Request{request}, Fit: b.fit}
	if s.Sampling != nil && s.Sampling.Weight != "" {
		f, err := lookUp(b.prefix, in, s.Sampling.Weight)
		if err != nil {
			return nil, err
		}
		if !isNumber(valueType(f.Type)) {
			return nil, fmt.Errorf("%s: the weight %q is of type %s: a weight must be a number", b.prefix, f.Name, f.Type)
		}
		plan.Tables = append(plan.Tables, contingency.Request{Sums: []contingency.Sum{{Name: f.Name, Weight: true}}})
	}
	b.columns(plan, request)
	for i, a := range plan.Adds {
		if s.Config.Replace && in.HasField(a.Name) {
			plan.Adds[i].Replaces = a.Name
		}
	}
	return plan, nil
}

// choices are what the words of the spec mean to the search.
func (s Suda) choices(name string, key schemas.Key) (uniques.Score, []uniques.Policy, error) {
	score, ok := scores[s.Config.Score]
	if !ok {
		return 0, nil, fmt.Errorf("%s: there is no score %q: it is one of lattice, lattice-limited, factorial, elliot-limited", name, s.Config.Score)
	}
	chosen := make([]uniques.Policy, len(key.Variables))
	for v := range key.Variables {
		word := s.policy(key, v)
		if chosen[v], ok = policies[word]; !ok {
			return 0, nil, fmt.Errorf("%s: there is no missing-value policy %q: it is one of category, wildcard, ignore, drop", name, word)
		}
	}
	return score, chosen, nil
}

// policy is the missing-value policy of key variable v: the operator's, the variable's, the key's, category.
func (s Suda) policy(key schemas.Key, v int) string {
	for _, word := range []string{s.Config.Missing, key.Variables[v].Missing, key.Missing} {
		if word != "" {
			return word
		}
	}
	return schemas.MissingCategory
}

// keyRequest is the table of a key. It finds key variables that are not there, are named twice, or have no equality.
func keyRequest(operator string, in *arrow.Schema, key schemas.Key) (contingency.Request, error) {
	var r contingency.Request
	if len(key.Variables) == 0 {
		return r, fmt.Errorf("%s: the key has no variables", operator)
	}
	if len(key.Variables) > 64 {
		return r, fmt.Errorf("%s: the key has %d variables, at most 64 are possible", operator, len(key.Variables))
	}
	for v, k := range key.Variables {
		f, err := lookUp(operator, in, k.Name)
		if err != nil {
			return r, err
		}
		for _, other := range key.Variables[:v] {
			if other.Name == k.Name {
				return r, fmt.Errorf("%s: the key names %q twice", operator, k.Name)
			}
		}
		switch t := valueType(f.Type); {
		case arrow.IsFloating(t.ID()):
			return r, fmt.Errorf("%s: %q is of type %s: floating-point numbers are hardly ever equal, so they are no key variables: band them with recode (width or cuts)", operator, k.Name, t)
		case arrow.IsNested(t.ID()):
			return r, fmt.Errorf("%s: %q is nested (%s): a key variable has one value a record", operator, k.Name, t)
		case !HasEquality(t):
			return r, fmt.Errorf("%s: %q is of type %s, which cannot be a key variable", operator, k.Name, t)
		}
		codes := k.MissingCodes
		if codes == nil {
			codes = key.MissingCodes
		}
		codes = slices.Compact(slices.Sorted(slices.Values(codes)))
		levels := slices.Compact(slices.Sorted(slices.Values(k.Levels)))
		for _, m := range codes {
			if slices.Contains(levels, m) {
				return r, fmt.Errorf("%s: %q has %q both among its levels and its missing codes", operator, k.Name, m)
			}
		}
		if k.Levels == nil {
			levels = nil
		}
		r.Keys = append(r.Keys, contingency.Key{Name: k.Name, MissingCodes: codes, Levels: levels})
	}
	return r, nil
}

// sudaBound is suda, bound to a schema.
type sudaBound struct {
	Suda
	prefix      string
	key         schemas.Key
	score       uniques.Score
	policies    []uniques.Policy
	frequency   bool // sample_frequency is written
	stringLists arrow.DataType
}

func (b *sudaBound) columns(plan *Plan, request contingency.Request) {
	add := func(name string, t arrow.DataType) {
		plan.Adds = append(plan.Adds, Added{Field: arrow.Field{Name: name, Type: t, Nullable: true}})
	}
	b.stringLists = arrow.ListOf(arrow.ListOf(arrow.BinaryTypes.String))
	b.frequency = b.Shared || b.Config.Key != nil
	if b.Config.Key != nil {
		add(schemas.Column(b.prefix, schemas.Frequency), arrow.PrimitiveTypes.Int64)
	} else if b.Shared {
		add(schemas.Frequency, arrow.PrimitiveTypes.Int64)
	}
	for _, name := range []string{schemas.SudaScore, schemas.SudaIS, schemas.SudaDISIS} {
		add(schemas.Column(b.prefix, name), arrow.PrimitiveTypes.Float64)
	}
	for _, name := range []string{schemas.SudaMSUCount, schemas.SudaMSUMinSize} {
		add(schemas.Column(b.prefix, name), arrow.PrimitiveTypes.Int32)
	}
	if b.Config.MSUs {
		add(schemas.Column(b.prefix, schemas.SudaMSUs), b.stringLists)
	}
	if b.Config.Contributions {
		for _, k := range request.Keys {
			add(schemas.ShareColumn(b.prefix, k.Name), arrow.PrimitiveTypes.Float64)
		}
	}
}

// sudaFitted has the values of each class, in the table's order.
type sudaFitted struct {
	bound   *sudaBound
	result  *uniques.Result
	disis   []float64 // NaN for null; nil: all null
	summary *schemas.SudaSummary
}

func (f *sudaFitted) Summary() any { return f.summary }

// Rank is a Ranked's.
func (f *sudaFitted) Rank(class int64) (float64, int64) {
	return f.result.Score[class], f.result.Frequency[class]
}

func (f *sudaFitted) Apply(_ context.Context, mem memory.Allocator, rows Rows) ([]arrow.Array, *Bitmap, error) {
	class, r := rows.Class[0], f.result
	var out []arrow.Array
	in := func(c int64) bool { return r.Frequency[c] > 0 }
	if f.bound.frequency {
		out = append(out, int64s(mem, class, func(c int64) (int64, bool) { return r.Frequency[c], in(c) }))
	}
	out = append(out,
		float64s(mem, class, func(c int64) (float64, bool) { return r.Score[c], in(c) }),
		float64s(mem, class, func(c int64) (float64, bool) { return r.IS[c], in(c) }),
		float64s(mem, class, func(c int64) (float64, bool) {
			if f.disis == nil {
				return 0, false
			}
			return f.disis[c], in(c) && !math.IsNaN(f.disis[c])
		}),
		int32s(mem, class, func(c int64) (int32, bool) { return r.Count[c], in(c) }),
		int32s(mem, class, func(c int64) (int32, bool) { return r.MinSize[c], in(c) && r.Count[c] > 0 }),
	)
	if f.bound.Config.MSUs {
		out = append(out, f.sets(mem, class))
	}
	for _, share := range r.Share {
		out = append(out, float64s(mem, class, func(c int64) (float64, bool) { return share[c], in(c) && !math.IsNaN(share[c]) }))
	}
	return out, nil, nil
}

// sets gives the minimal sample uniques of each row as names of key variables.
func (f *sudaFitted) sets(mem memory.Allocator, class []int64) arrow.Array {
	b := array.NewListBuilder(mem, arrow.ListOf(arrow.BinaryTypes.String))
	defer b.Release()
	sets := b.ValueBuilder().(*array.ListBuilder)
	names := sets.ValueBuilder().(*array.StringBuilder)
	var masks []uint64
	for _, c := range class {
		if c < 0 || f.result.Frequency[c] == 0 {
			b.AppendNull()
			continue
		}
		b.Append(true)
		masks = f.result.MSUs(int(c), masks[:0])
		for _, mask := range masks {
			sets.Append(true)
			for v, k := range f.bound.key.Variables {
				if mask>>v&1 != 0 {
					names.Append(k.Name)
				}
			}
		}
	}
	return b.NewArray()
}
