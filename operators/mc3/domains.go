package mc3

import (
	"context"

	"microrisk/engine/contingency"
	"microrisk/operators"
)

// divide tells of domains: the measures of one model of the file, or of their own, summed over the records of each. more are told besides.
func (f *fitted) divide(ctx context.Context, tables []*contingency.Table, env operators.Env, more ...operators.DomainFigure) (err error) {
	match, unique := f.values[0], f.values[1]
	figures := append([]operators.DomainFigure{
		{Name: "expected_reidentifications", Told: "re-identifications", Sum: func(class int) float64 { return match[class] }},
		{Name: "expected_reidentification_percent", Told: "% of records", From: func(d *operators.Division) float64 { return 100 * d.Per(0, d.Records) }},
		{Name: "expected_population_uniques", Sum: func(class int) float64 { return unique[class] }}, // 0 if f > 1
		{Name: "expected_correct_matches", Sum: func(class int) float64 {
			if f.count[class] > 1 {
				return 0
			}
			return match[class]
		}},
		{Name: "pu_su", Told: "PU|SU", From: func(d *operators.Division) float64 { return d.Per(2, d.Uniques) }},
		{Name: "cm_su", From: func(d *operators.Division) float64 { return d.Per(3, d.Uniques) }},
		{Name: "max_correct_match", Greatest: func(class int) float64 { return match[class] }},
	}, more...)
	table := f.bound.classTable()
	for k := range figures {
		figures[k].Table = table
	}
	f.Domains, err = f.bound.DivideTable(ctx, tables, env, &f.summary.MeasuredKey, table, func(class int) int64 { return f.count[class] }, figures...)
	return err
}
