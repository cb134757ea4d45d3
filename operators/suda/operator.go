package suda

import (
	"context"
	_ "embed"
	"math"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"golang.org/x/sync/errgroup"

	"microrisk/engine/uniques"
	"microrisk/operators"
	"microrisk/schemas"
)

// document describes the operator's part of the summary.
//
//go:embed summary.schema.json
var document []byte

func init() {
	operators.Register(
		schemas.Kind{Name: Name, Document: document, Brief: "minimal sample uniques", Alone: true, New: func() schemas.Config { return &Config{} },
			Doc: "Finds each record's minimal sample uniques and scores it by them.",
			Limits: []schemas.Figure{
				{Name: LimitSpecialUniques, Doc: "Sample uniques with a minimal sample unique smaller than the key."},
				{Name: LimitMSUs, Doc: "Minimal sample uniques of all records."},
				{Name: LimitDIS, Doc: "Pr(correct match given unique match), 0 to 1."},
				{Name: LimitMaxScore, Doc: "Highest score of a record.", Ranked: true},
				{Name: LimitFileScore, Doc: "Sum of the scores of all records."},
			}},
	)
}

// Operators is an operators.Config's.
func (c *Config) Operators(with operators.Setup) []operators.Operator {
	return []operators.Operator{Operator{Config: *c, Key: with.Key, Sampling: with.Sampling}}
}

// An Operator annotates each record with the score of its minimal sample uniques (package uniques says what they are). It is null
// for records that the missing-value policy drops.
type Operator struct {
	Config   Config
	Key      schemas.Key       // the chain's; Config.Key comes before it
	Sampling *schemas.Sampling // nil: nothing is known, no DIS
}

var scores = map[string]uniques.Score{
	ScoreLattice: uniques.Lattice, ScoreLatticeLimited: uniques.LatticeLimited,
	ScoreFactorial: uniques.Factorial, ScoreElliotLimited: uniques.ElliotLimited,
}

// ScoreOf is a definition of the score as package uniques has it; "" is the default.
func ScoreOf(name string) uniques.Score { return scores[name] }

// Bind is an Operator's. The key variables must exist and have equality, and the weight, if there is one, must be a number.
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
	b.score = scores[b.Config.Score]
	b.Plan.Fit = b.fit
	if err := operators.RequestWeight(b.Plan, in, b.Sampling); err != nil {
		return nil, err
	}
	return b.Plan, nil
}

// bound is suda, bound to a schema.
type bound struct {
	Operator
	*operators.BoundKey
	score uniques.Score
}

// fitted has the values of each class, in the table's order.
type fitted struct {
	operators.ByClass // all columns but the sets, which stand at place msus
	operators.Domains
	bound   *bound
	result  *uniques.Result
	disis   []float64 // NaN for null; nil: all null
	msus    int       // place of the sets among the columns
	summary *Summary
}

func (f *fitted) Summary() any { return f.summary }

// RankedBy is a Ranked's.
func (f *fitted) RankedBy() string { return schemas.Column(f.bound.Prefix, ColumnScore) }

// Rank is a Ranked's.
func (f *fitted) Rank(class int64) (float64, int64) {
	return f.result.Score[class], f.result.Frequency[class]
}

// columns are the values of each class.
func (f *fitted) columns(workers int) []operators.ClassColumn {
	r := f.result
	in := func(c int) bool { return r.Frequency[c] > 0 }
	var score, is, disis, count, smallest arrow.Array
	shares := make([]operators.ClassColumn, len(r.Share))
	var group errgroup.Group
	group.SetLimit(max(1, workers))
	all := func(to *arrow.Array, column func() arrow.Array) {
		group.Go(func() error {
			*to = column()
			return nil
		})
	}
	all(&score, func() arrow.Array { return operators.Values(r.Score, in) })
	all(&is, func() arrow.Array { return operators.Values(r.IS, in) })
	all(&disis, func() arrow.Array {
		if f.disis == nil {
			return operators.Values(make([]float64, len(r.Score)), func(int) bool { return false })
		}
		return operators.Values(f.disis, func(c int) bool { return in(c) && !math.IsNaN(f.disis[c]) })
	})
	all(&count, func() arrow.Array { return operators.Values(r.Count, in) })
	all(&smallest, func() arrow.Array {
		return operators.Values(r.MinSize, func(c int) bool { return in(c) && r.Count[c] > 0 })
	})
	for v, share := range r.Share {
		all(&shares[v].Values, func() arrow.Array {
			return operators.Values(share, func(c int) bool { return in(c) && !math.IsNaN(share[c]) })
		})
	}
	_ = group.Wait()
	list := f.bound.Columns(r.Frequency, score, is, disis, count, smallest)
	f.msus = len(list)
	return append(list, shares...)
}

// Apply is a Fitted's.
func (f *fitted) Apply(ctx context.Context, mem memory.Allocator, rows operators.Rows) ([]arrow.Array, *operators.Bitmap, error) {
	out, _, err := f.ByClass.Apply(ctx, mem, rows)
	if err == nil && f.bound.Config.MSUs {
		out = slices.Insert(out, f.msus, f.sets(mem, rows.Class[0]))
	}
	return out, nil, err
}

// sets gives the minimal sample uniques of each row as names of key variables.
func (f *fitted) sets(mem memory.Allocator, class []int64) arrow.Array {
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
			for v, k := range f.bound.Counted.Variables {
				if mask>>v&1 != 0 {
					names.Append(k.Name)
				}
			}
		}
	}
	return b.NewArray()
}
