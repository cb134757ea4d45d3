package frequency

import (
	"context"
	"errors"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"microrisk/engine/contingency"
	"microrisk/engine/uniques"
	"microrisk/operators"
	"microrisk/schemas"
)

func init() {
	operators.Register(schemas.Kind{Name: Name, Alone: true, New: func() schemas.Config { return &Config{} },
		Doc: "Writes the sample frequency of each record's key, and nothing else; its table need not fit in memory."})
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
	b := &bound{key: o.Counts()}
	var err error
	if b.policies, err = b.key.Policies(); err != nil {
		return nil, err
	}
	request, err := b.key.Request(in)
	if err != nil {
		return nil, err
	}
	plan := &operators.Plan{Name: o.Config.ColumnPrefix(), Tables: []contingency.Request{request}, Counts: true, Fit: b.fit}
	operators.AddColumns(plan, in, o.Config.Columns(frequency && !b.key.Own, nil), o.Config.Replace)
	return plan, nil
}

// bound is frequency, bound to a schema.
type bound struct {
	key      operators.Key
	policies []uniques.Policy
}

// fit counts sample uniques and pairs. Only under wildcard are frequencies others than the table's counts.
func (b *bound) fit(ctx context.Context, tables []*contingency.Table, _ operators.Env) (operators.Fitted, error) {
	t := tables[0]
	f := &fitted{}
	var n1, n2, classes int64
	doubles := 0.0
	if slices.Contains(b.policies, uniques.Wildcard) {
		if t.OnDisk() {
			return nil, errors.New("a missing value that may be anything (wildcard) needs the table of key combinations in memory: allow more memory, or take another policy")
		}
		r, err := uniques.Frequencies(ctx, t, b.policies)
		if err != nil {
			return nil, err
		}
		f.Columns = []operators.ClassColumn{{Values: operators.Values(r.Frequency, func(c int) bool { return r.Frequency[c] > 0 })}}
		n1, doubles, classes = r.Uniques, r.Doubles, operators.KeptClasses(r.Frequency)
		f.summary = &Summary{Records: r.Records, Dropped: t.Records() - r.Records}
	} else {
		var records int64
		f.dropped, records, n1, n2 = b.counts(t)
		doubles, classes = float64(n2), int64(t.Classes())
		if f.dropped != nil {
			classes -= int64(f.dropped.Count())
		}
		f.summary = &Summary{Records: records, Dropped: t.Records() - records}
	}
	f.summary.KeySummary = b.key.Summary(t, classes, n1, doubles)
	return f, t.Err()
}

// counts goes through the classes: which are dropped (nil: none), the records of the others, those with frequency 1, pairs.
func (b *bound) counts(t *contingency.Table) (dropped *operators.Bitmap, records, uniques1, pairs int64) {
	if slices.Contains(b.policies, uniques.Drop) {
		dropped = operators.NewBitmap(t.Classes())
	}
	codes := make([]uint32, min(t.Classes(), 1<<14))
	for from := 0; from < t.Classes(); from += len(codes) {
		part := codes[:min(len(codes), t.Classes()-from)]
		for v, p := range b.policies {
			if p != uniques.Drop {
				continue
			}
			t.Codes(v, from, part)
			for i, c := range part {
				if c == t.Variables[v].Missing() {
					dropped.Set(from + i)
				}
			}
		}
		for i := from; i < from+len(part); i++ {
			if dropped != nil && dropped.Get(i) {
				continue
			}
			n := t.Count(i)
			records += n
			switch n {
			case 1:
				uniques1++
			case 2:
				pairs++
			}
		}
	}
	return dropped, records, uniques1, pairs
}

// fitted gives each record its class's count, or frequency under wildcard.
type fitted struct {
	operators.ByClass                   // under wildcard; else without columns, since the table's counts need not be in memory
	dropped           *operators.Bitmap // by class; nil: none
	summary           *Summary
}

func (f *fitted) Summary() any { return f.summary }

func (f *fitted) Apply(ctx context.Context, mem memory.Allocator, rows operators.Rows) ([]arrow.Array, *operators.Bitmap, error) {
	if f.Columns != nil {
		return f.ByClass.Apply(ctx, mem, rows)
	}
	class := rows.Class[0]
	if f.dropped != nil {
		class = slices.Clone(class)
		for r, c := range class {
			if c >= 0 && f.dropped.Get(int(c)) {
				class[r] = -1
			}
		}
	}
	return []arrow.Array{operators.Int64sByRow(mem, class, rows.Count[0])}, nil, nil
}
