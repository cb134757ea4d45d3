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

// Bind is an Operator's. The key variables must exist and have equality, and the weight, if there is one, must be a number.
func (s Suda) Bind(in *arrow.Schema) (*Plan, error) {
	b := &sudaBound{Suda: s, prefix: s.Config.ColumnPrefix()}
	b.key = s.Key
	if s.Config.Key != nil {
		b.key = *s.Config.Key
	}
	var err error
	var ok bool
	if b.score, ok = scores[s.Config.Score]; !ok {
		return nil, fmt.Errorf("%s: there is no score %q: it is one of lattice, lattice-limited, factorial, elliot-limited", b.prefix, s.Config.Score)
	}
	if b.policies, err = policiesOf(b.prefix, b.key, s.Config.Missing); err != nil {
		return nil, err
	}
	request, err := keyRequest(b.prefix, in, b.key)
	if err != nil {
		return nil, err
	}
	plan := &Plan{Name: b.prefix, Tables: []contingency.Request{request}, Fit: b.fit}
	if err := requestWeight(plan, in, s.Sampling); err != nil {
		return nil, err
	}
	b.columns(plan, request)
	for i, a := range plan.Adds {
		if s.Config.Replace && in.HasField(a.Name) {
			plan.Adds[i].Replaces = a.Name
		}
	}
	return plan, nil
}

// sudaBound is suda, bound to a schema.
type sudaBound struct {
	Suda
	prefix    string
	key       schemas.Key
	score     uniques.Score
	policies  []uniques.Policy
	frequency bool // sample_frequency is written
}

func (b *sudaBound) columns(plan *Plan, request contingency.Request) {
	add := func(name string, t arrow.DataType) {
		plan.Adds = append(plan.Adds, Added{Field: arrow.Field{Name: name, Type: t, Nullable: true}})
	}
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
		add(schemas.Column(b.prefix, schemas.SudaMSUs), arrow.ListOf(arrow.ListOf(arrow.BinaryTypes.String)))
	}
	if b.Config.Contributions {
		for _, k := range request.Keys {
			add(schemas.ShareColumn(b.prefix, k.Name), arrow.PrimitiveTypes.Float64)
		}
	}
}

// sudaFitted has the values of each class, in the table's order.
type sudaFitted struct {
	ByClass // all columns but the sets, which stand at place msus
	bound   *sudaBound
	result  *uniques.Result
	disis   []float64 // NaN for null; nil: all null
	msus    int       // place of the sets among the columns
	summary *schemas.SudaSummary
}

func (f *sudaFitted) Summary() any { return f.summary }

// RankedBy is a Ranked's.
func (f *sudaFitted) RankedBy() string { return schemas.Column(f.bound.prefix, schemas.SudaScore) }

// Rank is a Ranked's.
func (f *sudaFitted) Rank(class int64) (float64, int64) {
	return f.result.Score[class], f.result.Frequency[class]
}

// columns are the values of each class.
func (f *sudaFitted) columns() []ClassColumn {
	r := f.result
	in := func(c int) bool { return r.Frequency[c] > 0 }
	var list []ClassColumn
	add := func(values arrow.Array) { list = append(list, ClassColumn{Values: values}) }
	if f.bound.frequency {
		add(Values(r.Frequency, in))
	}
	add(Values(r.Score, in))
	add(Values(r.IS, in))
	if f.disis == nil {
		add(Values(make([]float64, len(r.Score)), func(int) bool { return false }))
	} else {
		add(Values(f.disis, func(c int) bool { return in(c) && !math.IsNaN(f.disis[c]) }))
	}
	add(Values(r.Count, in))
	add(Values(r.MinSize, func(c int) bool { return in(c) && r.Count[c] > 0 }))
	f.msus = len(list)
	for _, share := range r.Share {
		add(Values(share, func(c int) bool { return in(c) && !math.IsNaN(share[c]) }))
	}
	return list
}

// Apply is a Fitted's.
func (f *sudaFitted) Apply(ctx context.Context, mem memory.Allocator, rows Rows) ([]arrow.Array, *Bitmap, error) {
	out, _, err := f.ByClass.Apply(ctx, mem, rows)
	if err == nil && f.bound.Config.MSUs {
		out = slices.Insert(out, f.msus, f.sets(mem, rows.Class[0]))
	}
	return out, nil, err
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
