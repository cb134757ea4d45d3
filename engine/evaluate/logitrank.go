package evaluate

import (
	"context"
	"fmt"
	"math"
)

// What NewLogitRank takes unless told otherwise.
const (
	DefaultPoints    = 99
	DefaultBandwidth = 0.5
)

// leastWeight is how much of the weight the true records, and the false ones, must have at a plotting point.
const leastWeight = 2

// A LogitRank is Copas' logit rank plot of a score: the logit of the chance that a record is risky against the logit of its rank. The
// steeper, the better the score; a score without any worth is flat.
type LogitRank struct {
	T   []float64 // plotting points, ascending: logits of rank shares
	Fit []float64 // local estimate of the logit of Pr(true) at each; NaN where it was skipped
	// Skipped is at how many points there is no fit: the true or the false records near it weigh less than 2, or the records that
	// have any weight are separated, so that the local regression has no finite solution.
	Skipped int
	// Of the logistic regression of the truth on the logit of the rank, without weights. NaN if all records are true or all false,
	// and if they are separated: no false record ranks above a true one, or no true one above a false one.
	Slope, Intercept float64
}

// NewLogitRank draws the plot of a score, where higher is riskier, for records that are risky in truth or not.
//
// Of n records in ascending order of score, record i has t_i = logit(midrank_i/(n+1)); tied ones share a midrank. The plotting points
// are t = logit(j/(points+1)), j = 1, ..., points. At each, the truth y is regressed on t_i with weights
// w_i = exp(-(t - t_i)^2 / (2 h_t^2)), h_t = h / (4 psi(t)), psi the logistic density: a and b solve
// sum w_i (y_i - Psi(a + b t_i)) t_i^l = 0 for l = 0 and 1, and a + b t is what is plotted. A point is skipped if sum w_i y_i or
// sum w_i (1 - y_i) is below 2, where the weights are scaled so that the largest is 1.
//
// Points is DefaultPoints and h DefaultBandwidth if 0. Only the order of the scores matters. It is an error if the lengths differ, a
// score is NaN, or points or h is below 0 or h not finite, or if the context ends. Time is points times the number of distinct scores. (Copas 1999; Smith
// 2011, chapter 8.)
func NewLogitRank(ctx context.Context, score []float64, truth []bool, points int, h float64) (*LogitRank, error) {
	if points == 0 {
		points = DefaultPoints
	}
	if h == 0 {
		h = DefaultBandwidth
	}
	if points < 0 {
		return nil, fmt.Errorf("%d plotting points", points)
	}
	if !(h > 0) || math.IsInf(h, 0) {
		return nil, fmt.Errorf("bandwidth %v is not a finite number above 0", h)
	}
	ties, err := rank(score, truth)
	if err != nil {
		return nil, err
	}
	r := &LogitRank{T: make([]float64, points), Fit: make([]float64, points), Skipped: points, Slope: math.NaN(), Intercept: math.NaN()}
	for j := range points {
		r.T[j] = logit(float64(j+1), float64(points-j))
		r.Fit[j] = math.NaN()
	}
	all := newRegression(ties)
	if all.separated() {
		return r, nil
	}
	all.weigh(0, math.Inf(1))
	global, ok := all.solve(line{})
	if !ok {
		return r, nil
	}
	r.Intercept, r.Slope = global.intercept, global.slope
	for j, t := range r.T {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		chance := logistic(t)
		if !all.weigh(t, h/(4*chance*(1-chance))) {
			continue
		}
		if local, ok := all.solve(line{global.at(t), global.slope}); ok {
			r.Fit[j] = local.intercept // distances are from t
			r.Skipped--
		}
	}
	return r, nil
}
