package mc3

import (
	"context"

	"microrisk/engine/contingency"
	"microrisk/operators"
)

// divide tells of domains: one model of the file, its measures summed over the records of each.
func (f *fitted) divide(ctx context.Context, tables []*contingency.Table, env operators.Env) (err error) {
	match, unique := f.values[0], f.values[1]
	f.Domains, err = f.bound.Divide(
		ctx,
		tables,
		env,
		&f.summary.MeasuredKey,
		func(class int) int64 { return f.count[class] },
		operators.DomainFigure{Name: "expected_reidentifications", Told: "re-identifications", Sum: func(class int) float64 { return match[class] }},
		operators.DomainFigure{
			Name: "expected_reidentification_percent",
			Told: "% of records",
			From: func(d *operators.Division) float64 { return 100 * d.Per(0, d.Records) },
		},
		operators.DomainFigure{Name: "expected_population_uniques", Sum: func(class int) float64 { return unique[class] }}, // 0 if f > 1
		operators.DomainFigure{Name: "expected_correct_matches", Sum: func(class int) float64 {
			if f.count[class] > 1 {
				return 0
			}
			return match[class]
		}},
		operators.DomainFigure{Name: "pu_su", Told: "PU|SU", From: func(d *operators.Division) float64 { return d.Per(2, d.Uniques) }},
		operators.DomainFigure{Name: "cm_su", From: func(d *operators.Division) float64 { return d.Per(3, d.Uniques) }},
		operators.DomainFigure{Name: "max_correct_match", Greatest: func(class int) float64 { return match[class] }},
	)
	return err
}
