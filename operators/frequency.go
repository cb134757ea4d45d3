package operators

import (
	"context"
	"errors"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"microrisk/engine/contingency"
	"microrisk/engine/uniques"
	"microrisk/schemas"
)

// Frequency annotates each record with the sample frequency of its key, and nothing else. Its table need not fit in memory, unless
// a missing value may be anything (wildcard).
type Frequency struct {
	Config schemas.FrequencyOperator
	Key    schemas.Key // the pipeline's key; Config.Key comes before it
	Shared bool        // the first operator to use Key: it writes sample_frequency
}

// Bind is an Operator's.
func (f Frequency) Bind(in *arrow.Schema) (*Plan, error) {
	b := &frequencyBound{Frequency: f, key: f.Key}
	if f.Config.Key != nil {
		b.key = *f.Config.Key
	}
	prefix := f.Config.ColumnPrefix()
	var err error
	if b.policies, err = policiesOf(prefix, b.key, f.Config.Missing); err != nil {
		return nil, err
	}
	request, err := keyRequest(prefix, in, b.key)
	if err != nil {
		return nil, err
	}
	added := Added{Field: arrow.Field{Name: schemas.Column(prefix, schemas.Frequency), Type: arrow.PrimitiveTypes.Int64, Nullable: true}}
	if f.Config.Key == nil && f.Shared {
		added.Name = schemas.Frequency
	}
	if f.Config.Replace && in.HasField(added.Name) {
		added.Replaces = added.Name
	}
	return &Plan{Name: prefix, Tables: []contingency.Request{request}, Adds: []Added{added}, Counts: true, Fit: b.fit}, nil
}

// frequencyBound is frequency, bound to a schema.
type frequencyBound struct {
	Frequency
	key      schemas.Key
	policies []uniques.Policy
}

// fit counts sample uniques and pairs. Only under wildcard are frequencies others than the table's counts.
func (b *frequencyBound) fit(ctx context.Context, tables []*contingency.Table, _ Env) (Fitted, error) {
	t := tables[0]
	f := &frequencyFitted{}
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
		f.Columns = []ClassColumn{{Values: Values(r.Frequency, func(c int) bool { return r.Frequency[c] > 0 })}}
		n1, doubles, classes = r.Uniques, r.Doubles, kept(r.Frequency)
		f.summary = &schemas.FrequencySummary{Records: r.Records, Dropped: t.Records() - r.Records}
	} else {
		var records int64
		f.dropped, records, n1, n2 = b.counts(t)
		doubles, classes = float64(n2), int64(t.Classes())
		if f.dropped != nil {
			classes -= int64(f.dropped.Count())
		}
		f.summary = &schemas.FrequencySummary{Records: records, Dropped: t.Records() - records}
	}
	f.summary.KeySummary = keySummary(t, b.key, b.Config.Missing, classes, n1, doubles)
	return f, t.Err()
}

// counts goes through the classes: which are dropped (nil: none), the records of the others, those with frequency 1, pairs.
func (b *frequencyBound) counts(t *contingency.Table) (dropped *Bitmap, records, uniques1, pairs int64) {
	if slices.Contains(b.policies, uniques.Drop) {
		dropped = NewBitmap(t.Classes())
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

// frequencyFitted gives each record its class's count, or frequency under wildcard.
type frequencyFitted struct {
	ByClass         // under wildcard; else without columns, since the table's counts need not be in memory
	dropped *Bitmap // by class; nil: none
	summary *schemas.FrequencySummary
}

func (f *frequencyFitted) Summary() any { return f.summary }

func (f *frequencyFitted) Apply(ctx context.Context, mem memory.Allocator, rows Rows) ([]arrow.Array, *Bitmap, error) {
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
	return []arrow.Array{int64sByRow(mem, class, rows.Count[0])}, nil, nil
}
