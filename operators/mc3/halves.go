package mc3

import (
	"context"
	"math"

	"microrisk/engine/bayes"
	"microrisk/engine/bayes/risk"
	"microrisk/engine/evaluate"
	"microrisk/operators"
)

// Halves say how the models do where the truth is known: random halves of the records are taken as samples, and all records as the population.
// What cells have in a half is foretold by the graphs that were found in all of them.
type Halves struct {
	Halves  int       `json:"halves"`
	Uniques int64     `json:"sample_uniques"` // of the halves
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

// missed is the standard deviation, on the logit scale, of what the models miss beyond chance.
func (f Foretold) missed() float64 {
	p, q := inside(f.Estimate), inside(f.Observed)
	by, se := math.Log(p/(1-p))-math.Log(q/(1-q)), f.SE/(q*(1-q))
	return math.Sqrt(max(0, by*by-se*se))
}

// inside keeps a share off the ends.
func inside(p float64) float64 { return min(max(p, 0.005), 0.995) }

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

// How many halves are drawn: small files have more, as one tells little of them.
const (
	mostHalves = 8
	halfCells  = 100_000 // cells of all halves, about
)

// halve tries the law on halves of the sample; nil where they have no sample unique.
func (b *bound) halve(ctx context.Context, l *fittedLaw, d *bayes.Data, o risk.Options, env operators.Env) (*Halves, error) {
	h := &Halves{}
	env.Warn = func(string, ...any) {} // what is wrong with a half is so with the whole, or chance
	o.Progress = nil
	for r := range uint64(min(mostHalves, max(1, halfCells/max(1, d.Cells())))) {
		half, whole := d.Half(o.Seed + r<<32)
		of := o
		of.Unsampled = float64(d.Records - half.Records)
		if half.Records == 0 || of.Unsampled == 0 {
			continue
		}
		law, err := risk.NewLaw(ctx, half, l.precision, l.law.Models, o.Workers)
		if err != nil {
			return nil, err
		}
		fit := &fittedLaw{precision: l.precision, law: law}
		if fit.cells, err = law.Cells(ctx, half, of); err != nil {
			return nil, err
		}
		if b.adjusts() {
			if _, err = b.adjust(ctx, fit, half, of, env); err != nil {
				return nil, err
			}
		}
		h.take(fit.cells, half.Counts, whole)
	}
	return h.finish()
}

// take adds the sample uniques of a half.
func (h *Halves) take(cells *risk.Cells, counts, whole []int64) {
	n := 0
	for i, f := range counts {
		if f != 1 {
			continue
		}
		n++
		p, match := min(cells.PopulationUnique[i], 1), min(cells.CorrectMatch[i], 1)
		h.PUSU.Estimate += p
		h.PUSU.SE += p * (1 - p)
		h.CMSU.SE += match * (1 - match) // at least the variance of 1/F
		if whole[i] == 1 {
			h.PUSU.Observed++
		}
		h.estimate, h.truth = append(h.estimate, match), append(h.truth, 1/float64(whole[i]))
	}
	if n > 0 {
		h.Halves++
		h.Uniques += int64(n)
	}
}

// finish takes means.
func (h *Halves) finish() (*Halves, error) {
	if h.Uniques == 0 {
		return nil, nil
	}
	n := float64(h.Uniques)
	// The halves are of one sample: they tell less than as many samples would, and more than one half.
	se := func(variance float64) float64 {
		return math.Sqrt(variance/n*float64(h.Halves)/n) * math.Sqrt((1+1/float64(h.Halves))/2)
	}
	h.PUSU = Foretold{h.PUSU.Estimate / n, h.PUSU.Observed / n, se(h.PUSU.SE)}
	h.CMSU.SE = se(h.CMSU.SE)
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
