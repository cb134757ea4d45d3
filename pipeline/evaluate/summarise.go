package evaluate

import (
	"math"

	"microrisk/engine/evaluate"
)

// biases compare measures of the file with the truth, each over the samples that have it.
func biases(all []*judged) []MeasureSummary {
	type name struct{ operator, measure string }
	var order []name
	values, truths, covers := map[name][]float64{}, map[name][]float64{}, map[name][]float64{}
	for _, j := range all {
		for _, x := range j.Estimates {
			n := name{x.Operator, x.Measure}
			if values[n] == nil {
				order = append(order, n)
			}
			truth := math.NaN()
			if x.Truth != nil {
				truth = *x.Truth
			}
			values[n], truths[n] = append(values[n], x.Value), append(truths[n], truth)
			covers[n] = append(covers[n], x.covers())
		}
	}
	list := []MeasureSummary{}
	for _, n := range order {
		list = append(
			list,
			MeasureSummary{
				n.operator,
				n.measure,
				meanOf(evaluate.Mean(values[n])),
				meanOf(evaluate.Mean(truths[n])),
				meanOf(evaluate.Paired(values[n], truths[n])),
				meanOf(evaluate.Mean(covers[n])),
			},
		)
	}
	return list
}

// means are those of the strategies, each over the samples where it is defined.
func (e *Evaluation) means(fraction float64, all []*judged) []StrategyMean {
	var order []string
	values, costs := map[string][]float64{}, map[string][]float64{}
	for _, j := range all {
		for _, x := range j.Strategies {
			if values[x.Name] == nil {
				order = append(order, x.Name)
			}
			values[x.Name], costs[x.Name] = append(values[x.Name], orNaN(x.Correct)), append(costs[x.Name], orNaN(x.Cost))
		}
	}
	var list []StrategyMean
	for _, name := range order {
		c := evaluate.Mean(values[name])
		cost := evaluate.Mean(costs[name])
		list = append(list, StrategyMean{name, meanOf(c), meanOf(cost)})
		e.strategies[name] = append(e.strategies[name], &curve{fraction, c, cost.Mean})
	}
	return list
}

// A curve has one point a fraction.
type curve struct {
	fraction float64
	evaluate.Comparison
	cost float64 // NaN for none
}

func meanOf(c evaluate.Comparison) MeanFigure { return MeanFigure{finite(c.Mean), finite(c.SE), c.N} }

// finite is a number, or nil if it is none.
func finite(x float64) *float64 {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return nil
	}
	return &x
}
