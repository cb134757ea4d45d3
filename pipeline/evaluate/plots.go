package evaluate

import (
	"math"
	"slices"

	"microrisk/engine/evaluate"
	"microrisk/pipeline/figures"
)

// fractionPlots are what is drawn of the samples of one sampling fraction.
type fractionPlots struct {
	fraction float64
	scores   []*scorePlots
	halves   []*tried
	models   []picture // of the first sample
}

// gridPoints are the false-positive rates at which ROC curves of several samples are averaged, but for the first.
const gridPoints = 100

// mostPoints is how many records of all samples a scatter takes.
const mostPoints = 100_000

// scorePlots are the curves of a score over the samples of a fraction.
type scorePlots struct {
	scoreColumn
	samples            int // with both kinds of records
	truePositive       []float64
	points, fit        []float64 // of the logit rank plot
	fits               []int     // samples with a fit at each point
	slope, area        []float64
	estimate           []float64 // of all samples, with what it estimates
	truth              []float64
	bins               []evaluate.Bin
	meanSlope, meanAUC float64
	scatter            *figures.Figure // of an estimate of 1/F: records, and their smooth
}

// add takes the curves of a sample.
func (p *scorePlots) add(roc *evaluate.ROC, rank *evaluate.LogitRank, j *judged, score int) {
	if p.points == nil {
		p.points, p.fit, p.fits = rank.T, make([]float64, len(rank.T)), make([]int, len(rank.T))
		p.truePositive = make([]float64, gridPoints+1)
	}
	for i, y := range rank.Fit {
		if !math.IsNaN(y) {
			p.fit[i] += y
			p.fits[i]++
		}
	}
	p.slope, p.area = append(p.slope, rank.Slope), append(p.area, roc.Area)
	if len(roc.FalsePositive) > 0 {
		p.samples++
		for i := range p.truePositive {
			p.truePositive[i] += along(roc, float64(i)/gridPoints)
		}
	}
	if !p.match && !p.alone {
		return
	}
	p.estimate = append(p.estimate, j.scores[score]...)
	for _, f := range j.people {
		y := 1 / float64(f)
		if p.alone && f > 1 {
			y = 0
		}
		p.truth = append(p.truth, y)
	}
}

// along is the true-positive rate of a curve at a false-positive rate, the upper end of a step.
func along(roc *evaluate.ROC, x float64) float64 {
	i, _ := slices.BinarySearch(roc.FalsePositive, x)
	for i+1 < len(roc.FalsePositive) && roc.FalsePositive[i+1] == x {
		i++
	}
	switch {
	case i >= len(roc.FalsePositive):
		return 1
	case roc.FalsePositive[i] == x || i == 0:
		return roc.TruePositive[i]
	}
	from, to := roc.FalsePositive[i-1], roc.FalsePositive[i]
	return roc.TruePositive[i-1] + (roc.TruePositive[i]-roc.TruePositive[i-1])*(x-from)/(to-from)
}

// finish takes means, and calibrates.
func (p *scorePlots) finish(bins int) error {
	for i, n := range p.fits {
		if 2*n < len(p.slope) { // a mean of a few samples jumps where the others end
			p.fit[i] = math.NaN()
		} else {
			p.fit[i] /= float64(n)
		}
	}
	for i := range p.truePositive {
		p.truePositive[i] /= float64(p.samples) // NaN without samples
	}
	p.meanSlope, p.meanAUC = evaluate.Mean(p.slope).Mean, evaluate.Mean(p.area).Mean
	if !p.match && !p.alone {
		return nil
	}
	var err error
	if p.match {
		estimate, truth := p.estimate, p.truth
		if len(estimate) > mostPoints {
			estimate, truth = estimate[:mostPoints], truth[:mostPoints]
		}
		if p.scatter, err = figures.Match(p.name, estimate, truth); err != nil {
			return err
		}
	}
	p.bins, err = evaluate.Calibrate(p.estimate, p.truth, bins)
	return err
}

// roc is the mean curve.
func (p *scorePlots) roc() *evaluate.ROC {
	if p.samples == 0 {
		return nil
	}
	r := &evaluate.ROC{TruePositive: p.truePositive, Area: p.meanAUC}
	for i := range p.truePositive {
		r.FalsePositive = append(r.FalsePositive, float64(i)/gridPoints)
	}
	return r
}

// A picture is a figure with its name.
type picture struct {
	name    string
	figure  *figures.Figure
	network *figures.Network // in place of a figure
}

// pictures are the figures of a fraction, subtitled as those of all samples or of the first; those without anything to draw are left out.
func (p *fractionPlots) pictures(subtitle, first string) []picture {
	var list []picture
	add := func(name string, f *figures.Figure) {
		f.Subtitle = subtitle
		list = append(list, picture{name: name, figure: f})
	}
	var curves []figures.Curve
	var ranks []figures.RankCurve
	var match, alone []figures.Reliability
	for _, s := range p.scores {
		if roc := s.roc(); roc != nil {
			curves = append(curves, figures.Curve{Name: s.name, ROC: roc})
		}
		if !math.IsNaN(s.meanSlope) {
			ranks = append(ranks, figures.RankCurve{Name: s.name, Plot: &evaluate.LogitRank{T: s.points, Fit: s.fit, Slope: s.meanSlope}})
		}
		switch {
		case s.match:
			match = append(match, figures.Reliability{Name: s.name, Bins: s.bins})
		case s.alone:
			alone = append(alone, figures.Reliability{Name: s.name, Bins: s.bins})
		}
	}
	if match != nil {
		for _, t := range p.halves {
			match = append(match, figures.Reliability{Name: t.operator + ", half against half", Bins: t.bins})
		}
	}
	rank := figures.LogitRank(ranks)
	rank.Y = "Pr(population unique), smoothed (logit scale)"
	if ranks != nil {
		add("logit-rank", rank)
	}
	if curves != nil {
		add("roc", figures.ROC(curves))
	}
	if match != nil {
		add("calibration-match", figures.Calibration("correct match (1/F)", match))
	}
	if alone != nil {
		add("calibration-unique", figures.Calibration("population uniqueness (F = 1)", alone))
	}
	for _, s := range p.scores {
		if s.scatter != nil {
			list = append(list, picture{name: "match-" + s.name, figure: s.scatter})
		}
	}
	for _, m := range p.models {
		if m.figure != nil {
			m.figure.Subtitle = first
		} else {
			m.network.Title += " (" + first + ")"
		}
		list = append(list, m)
	}
	return list
}

// strategyPictures draw the strategies over the sampling fractions, and against what they cost.
func (e *Evaluation) strategyPictures(names []string) (strategies, costs *figures.Figure) {
	var list []figures.Strategy
	least, most := math.Inf(1), 0.0
	for _, name := range names {
		s := figures.Strategy{Name: name}
		points := slices.Clone(e.strategies[name])
		slices.SortFunc(points, func(a, b *curve) int {
			if a.fraction < b.fraction {
				return -1
			}
			return 1
		})
		for _, c := range points {
			s.Fraction = append(s.Fraction, c.fraction)
			s.Correct, s.Cost = append(s.Correct, c.Mean), append(s.Cost, c.cost)
			s.Low, s.High = append(s.Low, max(0, c.Mean-1.96*c.SE)), append(s.High, min(1, c.Mean+1.96*c.SE))
			least, most = min(least, c.fraction), max(most, c.fraction)
		}
		list = append(list, s)
	}
	strategies = figures.Strategies(list, most < 0.5 && most > 10*least)
	return strategies, figures.Costs(slices.DeleteFunc(list, func(s figures.Strategy) bool { return s.Name == dis }))
}
