package individual

import (
	"context"
	_ "embed"
	"fmt"
	"math"

	"github.com/apache/arrow/go/v17/arrow"

	"microrisk/engine/bayes/baseline"
	"microrisk/engine/contingency"
	"microrisk/operators"
	"microrisk/operators/known"
	"microrisk/schemas"
	"microrisk/schemas/advice"
)

// document describes the operator's part of the summary.
//
//go:embed summary.schema.json
var document []byte

func init() {
	operators.Register(schemas.Kind{Name: Name, Document: document, Brief: "risk by weights", Alone: true, New: func() schemas.Config { return &Config{} },
		Doc:    "Estimates the individual risk of Benedetti and Franconi from sampling weights, and that of households. It needs sampling.",
		Limits: []schemas.Figure{{Name: schemas.LimitReidentifications, Doc: "Expected number of correct matches among all records."}}})
}

// Operators is an operators.Config's.
func (c *Config) Operators(with operators.Setup) []operators.Operator {
	return []operators.Operator{Operator{Config: *c, Key: with.Key, Sampling: with.Sampling, Documents: with.Files.Documents}}
}

// Files is a Filing config's.
func (c *Config) Files() []operators.SideFile { return known.Files(c.Known) }

// An Operator annotates each record with the individual risk of Benedetti & Franconi 1998, from its class's frequency and the sum of
// its sampling weights, and with the risk of its household.
type Operator struct {
	Config   Config
	Key      schemas.Key       // the chain's; Config.Key comes before it
	Sampling *schemas.Sampling // must be known

	Documents map[string]any // what was read of known tables
}

// Bind is an Operator's. The key variables and the household must exist and have equality, and the weight must be a number.
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
	if o.Sampling == nil {
		return nil, advice.Errorf("%s: nothing is said of the sampling: give %s", b.Prefix,
			advice.Advice{Spec: "sampling (weight, fraction or population_size)", Flags: "--weight, --fraction or --population-size"})
	}
	if b.drop, err = b.Counted.Drops(); err != nil {
		return nil, err
	}
	if b.tables, err = known.Bind(b.Config.Known, o.Documents, b.Counted); err != nil {
		return nil, advice.Errorf("%s: %w", b.Prefix, err)
	}
	b.Plan.Fit = b.fit
	if err := operators.RequestWeight(b.Plan, in, o.Sampling); err != nil {
		return nil, err
	}
	b.weighed = o.Sampling.Weight != ""
	if o.Config.Household != "" {
		with := b.Counted
		with.Variables = append([]schemas.KeyVariable{{Name: o.Config.Household}}, b.Counted.Variables...)
		request, err := with.Request(in)
		if err != nil {
			return nil, err
		}
		b.household = len(b.Plan.Tables)
		b.Plan.Tables = append(b.Plan.Tables, request)
		if err := b.DivideBeside(b.household); err != nil {
			return nil, err
		}
	}
	return b.Plan, nil
}

// bound is individual, bound to a schema.
type bound struct {
	Operator
	*operators.BoundKey
	drop      []bool
	weighed   bool
	household int // position of its table, 0 for none
	tables    *known.Tables
}

// fitted has the values of each class of the key, and of each household's part of it.
type fitted struct {
	operators.ByClass
	operators.Domains
	bound      *bound
	count      []int64 // 0 for a class that is dropped
	risk       []float64
	households []float64 // by class of household and key; nil for none
	of         []int64   // class of the key, by class of household and key
	summary    *Summary
}

func (b *bound) fit(ctx context.Context, tables []*contingency.Table, env operators.Env) (operators.Fitted, error) {
	t := tables[0]
	needs := 16 * int64(t.Classes())
	if b.household > 0 {
		needs += 8 * int64(tables[b.household].Classes())
	}
	if err := env.InMemory(t, fmt.Sprintf("the individual risk of %d classes", t.Classes()), needs, operators.FewerVariables); err != nil {
		return nil, err
	}
	sample, err := operators.SampleOf(b.Sampling, t, b.drop)
	if err != nil {
		return nil, err
	}
	fraction := sample.Fraction
	f := &fitted{bound: b, risk: make([]float64, t.Classes())}
	s := &Summary{Estimator: b.Config.Estimator}
	f.summary = s
	operators.KeyNotes(env, t, b.Sampling)
	kept := t.Keep(b.drop)
	f.count = kept.Counts()
	s.MeasuredKey, s.MeasuredRecords = b.Counted.Kept(t, kept)
	if fraction > 0 {
		s.Fraction, s.PopulationSize = &fraction, &sample.Population
	}
	var weights []float64
	for i := range f.count {
		w := float64(t.Count(i)) / fraction
		if b.weighed {
			w = t.Sum(i, 0)
		}
		if !(w > 0) {
			return nil, fmt.Errorf("the weights of a key combination with %d records add up to %g: weights below 2^-32 count as 0", t.Count(i), w)
		}
		weights = append(weights, w)
	}
	if err := b.measure(ctx, env, f, t, weights); err != nil {
		return nil, err
	}
	if b.household > 0 {
		if err := f.together(ctx, t, tables[b.household], env); err != nil {
			return nil, err
		}
	}
	f.Columns = f.columns()
	if err := f.divide(ctx, tables, env); err != nil {
		return nil, err
	}
	f.of = nil
	return f, t.Err()
}

// measure fills in the risk of each class.
func (b *bound) measure(ctx context.Context, env operators.Env, f *fitted, t *contingency.Table, weights []float64) error {
	if f.summary.Estimator == Estimators[0] && len(weights) > 0 {
		counts := make([]int64, t.Classes())
		for i := range counts {
			counts[i] = t.Count(i)
		}
		r, err := baseline.BenedettiFranconiWeighted(ctx, counts, weights, env.Workers)
		if err != nil {
			return err
		}
		f.risk = r.Match
	} else {
		for i, w := range weights {
			n := t.Count(i)
			f.risk[i] = baseline.Approximate(n, min(1, float64(n)/w))
		}
	}
	if b.tables != nil {
		if err := b.narrow(ctx, env, f, t, weights); err != nil {
			return err
		}
	}
	s := f.summary
	for i, n := range f.count {
		if n == 0 {
			continue
		}
		s.Reidentified += float64(n) * f.risk[i]
		if s.Greatest == nil || f.risk[i] > *s.Greatest {
			s.Greatest = &f.risk[i]
		}
	}
	s.ReidentifiedPercent = operators.Percent(s.Reidentified, float64(s.Records))
	return nil
}

// divide tells of domains.
func (f *fitted) divide(ctx context.Context, tables []*contingency.Table, env operators.Env) (err error) {
	risk := func(class int) float64 { return f.risk[class] }
	percent := func(of int) func(d *operators.Division) float64 {
		return func(d *operators.Division) float64 { return 100 * d.Per(of, d.Records) }
	}
	figures := []operators.DomainFigure{
		{Name: "expected_reidentifications", Told: "re-identifications", Sum: risk},
		{Name: "expected_reidentification_percent", Told: "% of records", From: percent(0)},
		{Name: "greatest_risk", Told: "greatest", Greatest: risk},
	}
	if f.households != nil {
		figures = append(figures,
			operators.DomainFigure{Name: "household_reidentifications", Told: "by household", Table: f.bound.household, Sum: func(class int) float64 {
				if f.count[f.of[class]] == 0 {
					return math.NaN()
				}
				return f.households[class]
			}},
			operators.DomainFigure{Name: "household_reidentification_percent", From: percent(3)})
	}
	f.Domains, err = f.bound.Divide(ctx, tables, env, &f.summary.MeasuredKey, func(class int) int64 { return f.count[class] }, figures...)
	return err
}

// together fills in the risk of each household: the classes of its table begin with the household, so that each is a run.
func (f *fitted) together(ctx context.Context, t, with *contingency.Table, env operators.Env) error {
	places := make([]int, len(t.Variables))
	for v := range places {
		places[v] = v + 1
	}
	class, err := operators.Projected(ctx, with, places, t) // of the key
	if err != nil {
		return err
	}
	f.households, f.of = make([]float64, with.Classes()), class
	h := &HouseholdSummary{}
	f.summary.Household = h
	none := with.Variables[0].Missing()
	var members []float64
	for from := 0; from < with.Classes(); {
		household := with.Code(from, 0)
		to, people := from, int64(0)
		members = members[:0]
		for ; to < with.Classes() && with.Code(to, 0) == household; to++ {
			if f.count[class[to]] == 0 {
				continue
			}
			n := with.Count(to)
			people += n
			for range n {
				members = append(members, f.risk[class[to]])
			}
			if household == none {
				f.households[to] = f.risk[class[to]]
				h.Households += n
				h.Missing += n
				h.Reidentified += float64(n) * f.risk[class[to]]
			}
		}
		if household != none {
			risk := baseline.Household(members)
			for i := from; i < to; i++ {
				f.households[i] = risk
			}
			if people > 0 {
				h.Households++
			}
			h.Reidentified += float64(people) * risk
		}
		from = to
	}
	if h.Missing > 0 {
		env.Warn("%s: %d records have no %s: each is a household of its own", f.bound.Prefix, h.Missing, f.bound.Config.Household)
	}
	h.Percent = operators.Percent(h.Reidentified, float64(f.summary.Records))
	return with.Err()
}

func (f *fitted) Summary() any { return f.summary }

// RankedBy is a Ranked's.
func (f *fitted) RankedBy() string {
	return schemas.Column(f.bound.Prefix, ColumnRisk)
}

// Rank is a Ranked's.
func (f *fitted) Rank(class int64) (float64, int64) { return f.risk[class], f.count[class] }

// columns are the values of each class.
func (f *fitted) columns() []operators.ClassColumn {
	in := func(c int) bool { return f.count[c] > 0 }
	list := f.bound.Columns(f.count, operators.Values(f.risk, in))
	if f.households != nil {
		list = append(
			list,
			operators.ClassColumn{Values: operators.Values(f.households, func(c int) bool { return in(int(f.of[c])) }), Table: f.bound.household},
		)
	}
	return list
}
