package suda

import (
	"context"
	"math"

	"microrisk/engine/contingency"
	"microrisk/engine/uniques"
	"microrisk/operators"
	"microrisk/schemas"
	"microrisk/schemas/advice"
)

// fit searches the table, and spreads DIS over the records.
func (b *bound) fit(ctx context.Context, tables []*contingency.Table, env operators.Env) (operators.Fitted, error) {
	t := tables[0]
	memory, err := b.left(t, env)
	if err != nil {
		return nil, err
	}
	sample, err := operators.SampleOf(b.Sampling, t, operators.Dropping(b.Policies)) // what is wrong with the sampling is told before the search
	if err != nil {
		return nil, err
	}
	fraction := sample.Fraction
	env.Progress("searching", 0, 1) // the search first estimates how much it has to do
	r, err := uniques.Search(ctx, t, uniques.Options{
		Policies: b.Policies, MaxSize: b.Config.MaxSize, Threshold: b.Config.Threshold, Score: b.score,
		Contributions: b.Config.Contributions, MSUs: b.Config.MSUs, Workers: env.Workers, Force: b.Config.Force, Memory: memory,
		Progress: func(done, total int64) { env.Progress("searching", done, total) },
	})
	if err != nil {
		return nil, env.SearchError(t, err, env.Budget.Bytes-memory, b.limitSize())
	}
	operators.KeyNotes(env, t, b.Sampling)
	f := &fitted{bound: b, result: r}
	f.summary = b.summarise(t, r)
	if fraction > 0 {
		f.summary.PopulationSize = &sample.Population
	}
	if r.Records == 0 {
		env.Warn("%s: no record was counted: the input has none, none was chosen, or all were dropped", b.Prefix)
	}
	switch {
	case b.Sampling != nil && r.Records == 0 && b.Config.Threshold <= 1:
		if fraction > 0 {
			f.summary.Fraction = &fraction
		}
	case b.Config.Threshold > 1:
		env.Warn("%s: DIS is not defined with a threshold above 1: %s is null", b.Prefix, schemas.Column(b.Prefix, ColumnDISIS))
	case fraction == 0:
		env.Warn(
			"%s: nothing is said of the sampling, so there is no DIS and %s is null: give %s",
			b.Prefix,
			schemas.Column(b.Prefix, ColumnDISIS),
			operators.Sampling,
		)
	default:
		dis := uniques.DIS(fraction, r.Uniques, r.Doubles)
		f.summary.DIS, f.summary.Fraction = &dis, &fraction
		if f.disis, err = uniques.DISIS(ctx, r, t.Count, len(t.Variables), dis); err != nil {
			return nil, err
		}
	}
	f.Columns = f.columns(env.Workers)
	if err := f.divide(ctx, tables, env, fraction); err != nil {
		return nil, err
	}
	return f, nil
}

// divide tells of domains: DIS is of their sample uniques and pairs, DIS-IS that of the records, which is made of the DIS of the file.
func (f *fitted) divide(ctx context.Context, tables []*contingency.Table, env operators.Env, fraction float64) (err error) {
	r, k := f.result, int32(len(tables[0].Variables))
	one := func(is bool) float64 {
		if is {
			return 1
		}
		return 0
	}
	spread := func(class int) float64 { // NaN where the record has none
		if f.disis == nil {
			return math.NaN()
		}
		return f.disis[class]
	}
	f.Domains, err = f.bound.Divide(ctx, tables, env, &f.summary.MeasuredKey, func(class int) int64 { return r.Frequency[class] },
		operators.DomainFigure{Name: "file_score", Told: "file score", Sum: func(class int) float64 { return r.Score[class] }},
		operators.DomainFigure{Name: "file_is", Sum: func(class int) float64 { return r.IS[class] }},
		operators.DomainFigure{Name: "msus", Sum: func(class int) float64 { return float64(r.Count[class]) }},
		operators.DomainFigure{Name: "records_with_msus", Sum: func(class int) float64 { return one(r.Count[class] > 0) }},
		operators.DomainFigure{Name: "special_uniques", Told: "special", Sum: func(class int) float64 {
			return one(r.Count[class] > 0 && r.MinSize[class] < k)
		}},
		operators.DomainFigure{Name: "dis", Told: "DIS", From: func(d *operators.Division) float64 {
			if fraction == 0 || f.bound.Config.Threshold > 1 || d.Records == 0 {
				return math.NaN()
			}
			return uniques.DIS(fraction, d.Uniques, float64(d.Pairs)/2)
		}},
		operators.DomainFigure{Name: "mean_dis_is", Mean: spread},
		operators.DomainFigure{Name: "greatest_dis_is", Greatest: spread})
	return err
}

// limitSize is what makes a search smaller.
func (b *bound) limitSize() advice.Advice { return b.Config.Fields().Advice("limit ", "max_size", "") }

// left is the memory that a search may hold besides its table and its result; 0 for no limit.
func (b *bound) left(t *contingency.Table, env operators.Env) (int64, error) {
	limit := env.Budget.Bytes
	if limit <= 0 {
		return 0, nil
	}
	classes, variables := int64(t.Classes()), int64(len(t.Variables))
	held := 50 * classes // the result
	if b.Config.Contributions {
		held += 8 * classes * variables
	}
	if t.OnDisk() {
		needs := max(limit, held+classes*20) + uniques.Bytes(t.Classes(), len(t.Variables), b.Config.MaxSize)
		return 0, env.SearchBeyond(t, needs, b.limitSize())
	}
	held += t.Bytes()
	if held >= limit {
		return 0, env.SearchBeyond(t, held+uniques.Bytes(t.Classes(), len(t.Variables), b.Config.MaxSize), b.limitSize())
	}
	return limit - held, nil
}

// summarise makes the summary, DIS left out.
func (b *bound) summarise(t *contingency.Table, r *uniques.Result) *Summary {
	k := len(t.Variables)
	s := &Summary{
		Score: b.Config.Score, MaxSize: k, Complete: true, Threshold: b.Config.Threshold,
		FileScore: r.FileScore, FileIS: r.FileIS, MSUsBySize: r.BySize,
		Variables: []Blame{}, Categories: []CategoryBlame{},
	}
	if b.Config.MaxSize > 0 && b.Config.MaxSize < k {
		s.MaxSize, s.Complete = b.Config.MaxSize, false
	}
	for i := range t.Classes() {
		if r.Count[i] == 0 {
			continue
		}
		n := t.Count(i)
		s.MSUs += int64(r.Count[i]) * n
		if int(r.MinSize[i]) < k {
			s.SpecialUniques += n
		}
	}
	for v, variable := range t.Variables {
		s.Variables = append(s.Variables, Blame{Name: variable.Name, Score: r.Variables[v], Share: operators.Percent(r.Variables[v], r.FileScore)})
		for c, score := range r.Categories[v] {
			if score == 0 {
				continue
			}
			blame := CategoryBlame{
				Variable:    variable.Name,
				Score:       score,
				Share:       operators.Percent(score, r.FileScore),
				ShareWithin: operators.Percent(score, r.Variables[v]),
			}
			if c < len(variable.Categories) {
				blame.Category = &variable.Categories[c]
			}
			s.Categories = append(s.Categories, blame)
		}
	}
	s.MeasuredKey, s.MeasuredRecords = b.Counted.Searched(t, r)
	return s
}
