package mc3

import (
	"context"
	"math"

	"microrisk/engine/bayes"
	"microrisk/engine/bayes/risk"
	"microrisk/engine/evaluate"
	"microrisk/operators"
)

// Halves say how the models do where the truth is known: a random half of the records is taken as the sample, and all records as the population.
// What cells have in the half is foretold by the graphs that were found in all of them.
type Halves struct {
	Uniques int64     `json:"sample_uniques"` // of the half
	PUSU    Foretold  `json:"pu_su"`
	CMSU    Foretold  `json:"cm_su"`
	Bins    []HalfBin `json:"bins"`

	estimate, truth []float64 // E[1/F] of each sample unique of the half, and 1/F
}

// Matches are E[1/F] of each sample unique of the half, and 1/F.
func (h *Halves) Matches() (estimate, truth []float64) { return h.estimate, h.truth }

// Foretold is a figure that models foretell, and what it is.
type Foretold struct {
	Estimate float64 `json:"estimate"`
	Observed float64 `json:"observed"`
	SE       float64 `json:"standard_error"` // of the difference, if the models are right
}

// Off is how far the figure is from what it should be: above 0 where it is overstated, 0 where the difference may be chance.
func (f Foretold) Off() float64 {
	if by := f.Estimate - f.Observed; math.Abs(by) > max(2*f.SE, 0.01) {
		return by
	}
	return 0
}

// A HalfBin holds sample uniques of the half with neighbouring estimates.
type HalfBin struct {
	Records  int64   `json:"records"`
	Estimate float64 `json:"mean_correct_match"`
	Observed float64 `json:"observed_correct_match"`
}

// halved tells whether the law is tried on half of the sample: laws that were read are of another sample, and draws would take as long again.
func (b *bound) halved() bool {
	c := &b.Config
	return b.Model == nil && c.Anchor == "" && !b.each && (c.Estimator == "" || c.Estimator == Estimators[0] || c.Estimator == string(risk.Exact))
}

// halve tries the law on half of the sample; nil where the half has no sample unique.
func (b *bound) halve(ctx context.Context, l *fittedLaw, d *bayes.Data, o risk.Options, env operators.Env) (*Halves, error) {
	half, whole := d.Half(o.Seed)
	o.Unsampled, o.Progress = float64(d.Records-half.Records), nil
	if half.Records == 0 || o.Unsampled == 0 {
		return nil, nil
	}
	law, err := risk.NewLaw(ctx, half, l.precision, l.law.Models, o.Workers)
	if err != nil {
		return nil, err
	}
	of := &fittedLaw{precision: l.precision, law: law}
	if of.cells, err = law.Cells(ctx, half, o); err != nil {
		return nil, err
	}
	if b.adjusts() {
		env.Warn = func(string, ...any) {} // what is wrong with the half is so with the whole, or chance
		if _, err = b.adjust(ctx, of, half, o, env); err != nil {
			return nil, err
		}
	}
	h := &Halves{}
	var alone, variance, spread float64
	for i, f := range half.Counts {
		if f != 1 {
			continue
		}
		h.Uniques++
		p, match := min(of.cells.PopulationUnique[i], 1), min(of.cells.CorrectMatch[i], 1)
		alone += p
		variance += p * (1 - p)
		spread += match * (1 - match) // at least the variance of 1/F
		if whole[i] == 1 {
			h.PUSU.Observed++
		}
		h.estimate, h.truth = append(h.estimate, match), append(h.truth, 1/float64(whole[i]))
	}
	if h.Uniques == 0 {
		return nil, nil
	}
	n := float64(h.Uniques)
	h.PUSU = Foretold{alone / n, h.PUSU.Observed / n, math.Sqrt(variance) / n}
	h.CMSU.SE = math.Sqrt(spread) / n
	bins, err := evaluate.Calibrate(h.estimate, h.truth, calibrationBins)
	if err != nil {
		return nil, err
	}
	for _, bin := range bins {
		h.CMSU.Estimate += bin.Estimate * float64(bin.Count) / n
		h.CMSU.Observed += bin.Observed * float64(bin.Count) / n
		h.Bins = append(h.Bins, HalfBin{int64(bin.Count), bin.Estimate, bin.Observed})
	}
	return h, nil
}
