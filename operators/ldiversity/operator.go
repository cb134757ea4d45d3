package ldiversity

import (
	"context"
	_ "embed"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"

	"microrisk/engine/anonymity"
	"microrisk/engine/contingency"
	"microrisk/operators"
	"microrisk/schemas"
)

// document describes the operator's part of the summary.
//
//go:embed summary.schema.json
var document []byte

func init() {
	operators.Register(schemas.Kind{Name: Name, Document: document, Brief: "diversity of sensitive variables", New: func() schemas.Config { return &Config{} },
		Doc:    "Tells how diverse sensitive variables are among the records with the same key.",
		Limits: []schemas.Figure{{Name: Limit, Doc: "Records whose class has fewer than l values of a sensitive variable."}}})
}

// Operators is an operators.Config's.
func (c *Config) Operators(with operators.Setup) []operators.Operator {
	return []operators.Operator{Operator{Config: *c, Key: with.Key}}
}

// An Operator annotates each record with how diverse sensitive variables are among the records with its key.
type Operator struct {
	Config Config
	Key    schemas.Key // the chain's; Config.Key comes before it
}

// Bind is an Operator's. Key and sensitive variables must exist and have equality; none is both.
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
	b.Plan.Fit = b.fit
	for _, s := range b.Config.Sensitive {
		at, err := b.RequestWith(in, s)
		if err != nil {
			return nil, err
		}
		b.tables = append(b.tables, at)
	}
	if len(b.tables) == 0 {
		return nil, fmt.Errorf("%s: nothing is said to be sensitive", b.Prefix)
	}
	return b.Plan, nil
}

// bound is ldiversity, bound to a schema.
type bound struct {
	Operator
	*operators.BoundKey
	drop   []bool
	tables []int // places of those with each sensitive variable
}

// fitted has the values of each class of the key.
type fitted struct {
	operators.ByClass
	operators.Domains
	bound   *bound
	count   []int64                 // 0 for a class that is dropped
	values  [][]anonymity.Diversity // by sensitive variable and class
	summary *Summary
}

func (b *bound) fit(ctx context.Context, tables []*contingency.Table, env operators.Env) (operators.Fitted, error) {
	t := tables[0]
	if err := env.InMemory(t, fmt.Sprintf("the diversity of %d "+
		"classes", t.Classes()), int64(t.Classes())*int64(8+24*len(tables)), operators.FewerVariables); err != nil {
		return nil, err
	}
	f := &fitted{bound: b}
	s := &Summary{L: b.Config.L, C: b.Config.C}
	kept := t.Keep(b.drop)
	f.count = kept.Counts()
	s.MeasuredKey, s.MeasuredRecords = b.Counted.Kept(t, kept)
	f.summary = s
	for i, at := range b.tables {
		if err := f.measure(ctx, t, tables[at], b.Config.Sensitive[i]); err != nil {
			return nil, err
		}
	}
	f.Columns = f.columns()
	if err := f.divide(ctx, tables, env); err != nil {
		return nil, err
	}
	f.values = nil
	return f, t.Err()
}

// measure goes through a table of the key and a sensitive variable: each class of the key is a run of its classes.
func (f *fitted) measure(ctx context.Context, t, with *contingency.Table, sensitive schemas.KeyVariable) error {
	last := len(t.Variables)
	missing := with.Variables[last].Missing()
	out := SensitiveSummary{Name: sensitive.Name, Policy: schemas.MissingIgnore}
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
func (f *fitted) tell(out *SensitiveSummary, d anonymity.Diversity, records int64) {
	if out.LeastDistinct == nil || d.Distinct < *out.LeastDistinct {
		out.LeastDistinct = &d.Distinct
	}
	if out.LeastEntropy == nil || d.Entropy < *out.LeastEntropy {
		out.LeastEntropy = &d.Entropy
	}
	if out.LeastRecursive == nil || d.Recursive < *out.LeastRecursive {
		out.LeastRecursive = &d.Recursive
	}
	below := f.below(d)
	out.BelowDistinct += int64(below[0]) * records
	out.BelowEntropy += int64(below[1]) * records
	out.BelowRecursive += int64(below[2]) * records
}

// below tells, 1 or 0, whether a class is below l by number of values, entropy and recursive diversity.
func (f *fitted) below(d anonymity.Diversity) (list [3]float64) {
	l := f.summary.L
	for i, is := range []bool{d.Distinct < l, d.Entropy < float64(l)*(1-1e-12), d.Recursive < l} { // exp and log do not give a whole number back exactly
		if is {
			list[i] = 1
		}
	}
	return list
}

// divide tells of domains.
func (f *fitted) divide(ctx context.Context, tables []*contingency.Table, env operators.Env) (err error) {
	var figures []operators.DomainFigure
	for i, s := range f.bound.Config.Sensitive {
		values, told := f.values[i], "below l in "+s.Name // by distinct values
		for k, kind := range []string{ColumnDistinct, ColumnEntropy, ColumnRecursive} {
			if k > 0 {
				told = ""
			}
			figures = append(figures, operators.DomainFigure{Name: schemas.Column("below_"+kind, s.Name), Told: told,
				Sum: func(class int) float64 { return f.below(values[class])[k] }})
		}
		least := func(kind string, of func(d anonymity.Diversity) float64) {
			figures = append(
				figures,
				operators.DomainFigure{Name: schemas.Column("least_"+kind, s.Name), Least: func(class int) float64 { return of(values[class]) }},
			)
		}
		least(ColumnDistinct, func(d anonymity.Diversity) float64 { return float64(d.Distinct) })
		least(ColumnEntropy, func(d anonymity.Diversity) float64 { return d.Entropy })
		least(ColumnRecursive, func(d anonymity.Diversity) float64 { return float64(d.Recursive) })
	}
	f.Domains, err = f.bound.Divide(ctx, tables, env, &f.summary.MeasuredKey, func(class int) int64 { return f.count[class] }, figures...)
	return err
}

func (f *fitted) Summary() any { return f.summary }

// columns are the values of each class.
func (f *fitted) columns() []operators.ClassColumn {
	in := func(c int) bool { return f.count[c] > 0 }
	var list []arrow.Array
	for _, values := range f.values {
		distinct, entropy, recursive := make([]int64, len(values)), make([]float64, len(values)), make([]int64, len(values))
		for c, d := range values {
			distinct[c], entropy[c], recursive[c] = d.Distinct, d.Entropy, d.Recursive
		}
		list = append(list, operators.Values(distinct, in), operators.Values(entropy, in), operators.Values(recursive, in))
	}
	return f.bound.Columns(f.count, list...)
}
