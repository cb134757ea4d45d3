package operators

import (
	"context"
	"fmt"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"

	"microrisk/engine/anonymity"
	"microrisk/engine/contingency"
	"microrisk/engine/uniques"
	"microrisk/schemas"
)

// LDiversity annotates each record with how diverse sensitive variables are among the records with its key.
type LDiversity struct {
	Config schemas.LDiversity
	Key    schemas.Key // the pipeline's key; Config.Key comes before it
	Shared bool        // the first operator to use Key: it writes sample_frequency
}

// Bind is an Operator's. Key and sensitive variables must exist and have equality; none is both.
func (l LDiversity) Bind(in *arrow.Schema) (*Plan, error) {
	b := &lDiversityBound{LDiversity: l, prefix: l.Config.ColumnPrefix(), key: l.Key}
	if l.Config.Key != nil {
		b.key = *l.Config.Key
	}
	var err error
	if b.drop, err = dropsOf(b.prefix, b.key, l.Config.Missing); err != nil {
		return nil, err
	}
	request, err := keyRequest(b.prefix, in, b.key)
	if err != nil {
		return nil, err
	}
	plan := &Plan{Name: b.prefix, Tables: []contingency.Request{request}, Fit: b.fit}
	for _, s := range l.Config.Sensitive {
		with := b.key
		s.Missing = ""
		if s.MissingCodes == nil {
			s.MissingCodes = b.key.MissingCodes
		}
		with.Variables = append(slices.Clone(b.key.Variables), s)
		request, err := keyRequest(b.prefix, in, with)
		if err != nil {
			return nil, err
		}
		plan.Tables = append(plan.Tables, request)
	}
	if len(plan.Tables) == 1 {
		return nil, fmt.Errorf("%s: nothing is said to be sensitive", b.prefix)
	}
	b.frequency = l.Shared || l.Config.Key != nil
	addColumns(plan, in, l.Config.Columns(l.Config.Key == nil && l.Shared, nil), l.Config.Replace)
	return plan, nil
}

// dropsOf tells for each key variable whether a record without a value is dropped; policies other than category and drop are errors.
func dropsOf(prefix string, key schemas.Key, own string) ([]bool, error) {
	chosen, err := policiesOf(prefix, key, own)
	if err != nil {
		return nil, err
	}
	drop := make([]bool, len(chosen))
	for v, policy := range chosen {
		if drop[v] = policy == uniques.Drop; !drop[v] && policy != uniques.Category {
			return nil, fmt.Errorf("%s: the missing-value policy of %s is %s, which %s does not know: give it a policy of its own, category or drop",
				prefix, key.Variables[v].Name, policyOf(key, v, own), prefix)
		}
	}
	return drop, nil
}

// lDiversityBound is ldiversity, bound to a schema.
type lDiversityBound struct {
	LDiversity
	prefix    string
	key       schemas.Key
	drop      []bool
	frequency bool // sample_frequency is written
}

// lDiversityFitted has the values of each class of the key.
type lDiversityFitted struct {
	ByClass
	bound   *lDiversityBound
	count   []int64                 // 0 for a class that is dropped
	values  [][]anonymity.Diversity // by sensitive variable and class
	summary *schemas.LDiversitySummary
}

// countsOf are the counts of the classes, 0 for those that are dropped, and what a summary says of them.
func countsOf(t *contingency.Table, drop []bool) (count []int64, records, uniques1, classes int64, doubles float64) {
	count = make([]int64, t.Classes())
	for i := range count {
		dropped := false
		for v, d := range drop {
			dropped = dropped || d && t.Code(i, v) == t.Variables[v].Missing()
		}
		if dropped {
			continue
		}
		count[i] = t.Count(i)
		records += count[i]
		classes++
		switch count[i] {
		case 1:
			uniques1++
		case 2:
			doubles++
		}
	}
	return count, records, uniques1, classes, doubles
}

func (b *lDiversityBound) fit(ctx context.Context, tables []*contingency.Table, env Env) (Fitted, error) {
	t := tables[0]
	if needs := int64(t.Classes()) * int64(8+24*len(tables)); t.OnDisk() || env.Memory > 0 && needs > env.Memory {
		return nil, fmt.Errorf("the diversity of %d classes needs about %s of memory, the limit is %s: allow more, or use fewer or coarser key variables",
			t.Classes(), mebibytes(needs), mebibytes(env.Memory))
	}
	f := &lDiversityFitted{bound: b}
	s := &schemas.LDiversitySummary{L: b.Config.Least(), C: b.Config.Factor()}
	var ones, classes int64
	var doubles float64
	f.count, s.Records, ones, classes, doubles = countsOf(t, b.drop)
	s.Dropped = t.Records() - s.Records
	s.KeySummary = keySummary(t, b.key, b.Config.Missing, classes, ones, doubles)
	f.summary = s
	for i, table := range tables[1:] {
		if err := f.measure(ctx, t, table, b.Config.Sensitive[i]); err != nil {
			return nil, err
		}
	}
	f.Columns, f.values = f.columns(), nil
	return f, t.Err()
}

// measure goes through a table of the key and a sensitive variable: each class of the key is a run of its classes.
func (f *lDiversityFitted) measure(ctx context.Context, t, with *contingency.Table, sensitive schemas.KeyVariable) error {
	last := len(t.Variables)
	missing := with.Variables[last].Missing()
	out := schemas.SensitiveSummary{Name: sensitive.Name, Policy: schemas.MissingIgnore}
	if sensitive.Missing == schemas.MissingCategory {
		out.Policy = schemas.MissingCategory
	}
	values := make([]anonymity.Diversity, t.Classes())
	var counts []int64
	at := 0
	for class := range values {
		if class%4096 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		counts = counts[:0]
		for left := t.Count(class); left > 0 && at < with.Classes(); at++ {
			n := with.Count(at)
			left -= n
			if with.Code(at, last) == missing {
				if f.count[class] > 0 {
					out.Missing += n
				}
				if out.Policy == schemas.MissingIgnore {
					continue
				}
			}
			counts = append(counts, n)
		}
		if f.count[class] == 0 {
			continue
		}
		d := anonymity.Diverse(counts, f.summary.C)
		values[class] = d
		f.tell(&out, d, f.count[class])
	}
	f.values = append(f.values, values)
	f.summary.Sensitive = append(f.summary.Sensitive, out)
	return with.Err()
}

// tell adds a class to the summary.
func (f *lDiversityFitted) tell(out *schemas.SensitiveSummary, d anonymity.Diversity, records int64) {
	if out.LeastDistinct == nil || d.Distinct < *out.LeastDistinct {
		out.LeastDistinct = &d.Distinct
	}
	if out.LeastEntropy == nil || d.Entropy < *out.LeastEntropy {
		out.LeastEntropy = &d.Entropy
	}
	if out.LeastRecursive == nil || d.Recursive < *out.LeastRecursive {
		out.LeastRecursive = &d.Recursive
	}
	l := f.summary.L
	if d.Distinct < l {
		out.BelowDistinct += records
	}
	if d.Entropy < float64(l)*(1-1e-12) { // exp and log do not give a whole number back exactly
		out.BelowEntropy += records
	}
	if d.Recursive < l {
		out.BelowRecursive += records
	}
}

func (f *lDiversityFitted) Summary() any { return f.summary }

// columns are the values of each class.
func (f *lDiversityFitted) columns() []ClassColumn {
	in := func(c int) bool { return f.count[c] > 0 }
	var list []ClassColumn
	if f.bound.frequency {
		list = append(list, ClassColumn{Values: Values(f.count, in)})
	}
	for _, values := range f.values {
		distinct, entropy, recursive := make([]int64, len(values)), make([]float64, len(values)), make([]int64, len(values))
		for c, d := range values {
			distinct[c], entropy[c], recursive[c] = d.Distinct, d.Entropy, d.Recursive
		}
		list = append(list, ClassColumn{Values: Values(distinct, in)}, ClassColumn{Values: Values(entropy, in)}, ClassColumn{Values: Values(recursive, in)})
	}
	return list
}
