package frequency

import (
	"context"
	_ "embed"
	"fmt"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"microrisk/engine/contingency"
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
		schemas.Kind{
			Name:     Name,
			Document: document,
			Brief:    "sample frequencies only, for files too large to search",
			Alone:    true,
			New:      func() schemas.Config { return &Config{} },
			Doc:      "Writes the sample frequency of each record's key, and nothing else; its table need not fit in memory.",
		},
	)
}

// Operators is an operators.Config's.
func (c *Config) Operators(with operators.Setup) []operators.Operator {
	return []operators.Operator{Operator{Config: *c, Key: with.Key}}
}

// An Operator annotates each record with the sample frequency of its key, and nothing else. Its table need not fit in memory, unless
// a missing value may be anything (wildcard).
type Operator struct {
	Config Config
	Key    schemas.Key // the chain's; Config.Key comes before it
}

// Bind is an Operator's.
func (o Operator) Bind(in *arrow.Schema) (*operators.Plan, error) { return o.BindAs(in, false) }

// Counts is a Keyed operator's.
func (o Operator) Counts() operators.Key { return operators.KeyOf(&o.Config, o.Key) }

// BindAs is a Keyed operator's.
func (o Operator) BindAs(in *arrow.Schema, frequency bool) (*operators.Plan, error) {
	key, err := operators.BindKey(&o.Config, o.Key, in, frequency)
	if err != nil {
		return nil, err
	}
	b := &bound{key}
	b.Plan.Fit, b.Plan.Counts = b.fit, true
	return b.Plan, nil
}

// bound is frequency, bound to a schema.
type bound struct{ *operators.BoundKey }

// fit counts sample uniques and pairs. Only under wildcard are frequencies others than the table's counts.
func (b *bound) fit(ctx context.Context, tables []*contingency.Table, env operators.Env) (operators.Fitted, error) {
	t := tables[0]
	f, s := &fitted{}, &Summary{}
	f.summary = s
	if slices.Contains(b.Policies, uniques.Wildcard) {
		if err := env.InMemory(t, fmt.Sprintf("comparing %d key combinations, as a missing value may be anything (wildcard),", t.Classes()), 0, "take another "+
			"policy"); err != nil {
			return nil, err
		}
		r, err := uniques.Frequencies(ctx, t, b.Policies)
		if err != nil {
			return nil, err
		}
		f.Columns = []operators.ClassColumn{{Values: operators.Values(r.Frequency, func(c int) bool { return r.Frequency[c] > 0 })}}
		s.MeasuredKey, s.MeasuredRecords = b.Counted.Searched(t, r)
	} else {
		f.kept = t.Keep(operators.Dropping(b.Policies))
		s.MeasuredKey, s.MeasuredRecords = b.Counted.Kept(t, f.kept)
	}
	return f, t.Err()
}

// fitted gives each record its class's count, or frequency under wildcard.
type fitted struct {
	operators.ByClass                   // under wildcard; else without columns, since the table's counts need not be in memory
	kept              *contingency.Kept // nil under wildcard
	summary           *Summary
}

func (f *fitted) Summary() any { return f.summary }

func (f *fitted) Apply(ctx context.Context, mem memory.Allocator, rows operators.Rows) ([]arrow.Array, *operators.Bitmap, error) {
	if f.Columns != nil {
		return f.ByClass.Apply(ctx, mem, rows)
	}
	class := rows.Class[0]
	if !f.kept.All() {
		class = slices.Clone(class)
		for r, c := range class {
			if c >= 0 && !f.kept.Has(int(c)) {
				class[r] = -1
			}
		}
	}
	return []arrow.Array{operators.Int64sByRow(mem, class, rows.Count[0])}, nil, nil
}
