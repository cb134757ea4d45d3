package figures

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"microrisk/engine/evaluate"
)

// A Curve is the ROC curve of a score.
type Curve struct {
	Name string
	ROC  *evaluate.ROC
}

// ROC draws the curves of scores, with the areas under them. A score without a curve (nil, or one class only) is left out.
func ROC(curves []Curve) *Figure {
	f := &Figure{Title: "ROC curves", Subtitle: "Number: area under the curve (1 is perfect, 0.5 is chance)",
		X: "Records not at risk that are flagged (share)", Y: "Records at risk that are flagged (share)",
		Diagonal: true, MinX: to(0), MaxX: to(1), MinY: to(0), MaxY: to(1), Legend: "bottom right"}
	for _, c := range curves {
		if c.ROC != nil && len(c.ROC.FalsePositive) > 0 {
			f.Lines = append(f.Lines, Line{Name: with(c.Name, "%.3f", c.ROC.Area), X: c.ROC.FalsePositive, Y: c.ROC.TruePositive})
		}
	}
	return f
}

// to is a place for an axis to end.
func to(v float64) *float64 { return &v }

// with adds a number to a name, if it is one.
func with(name, format string, number float64) string {
	if math.IsNaN(number) {
		return name
	}
	return fmt.Sprintf("%s  "+format, name, number)
}

// A Reliability is the calibration of a score.
type Reliability struct {
	Name string
	Bins []evaluate.Bin
}

// normal975 is the 0.975 quantile of the standard normal distribution.
const normal975 = 1.959963984540054

// Calibration draws reliability curves of estimates of a chance, what: the observed mean of each bin against the mean estimate, with
// 95 percent intervals.
func Calibration(what string, scores []Reliability) *Figure {
	f := &Figure{
		Title:    "Calibration of " + what,
		Subtitle: "Bins of equal count with 95% intervals; on the dashed line estimates are right on average, below it too high",
		X:        "Mean estimate of " + what,
		Y:        "Observed mean",
		Diagonal: true,
		MinX:     to(0),
		MinY:     to(0),
		Legend:   "top left",
	}
	most := 0.0
	for _, s := range scores {
		l := Line{Name: s.Name, Marked: true, Low: []float64{}, High: []float64{}}
		for _, b := range s.Bins {
			l.X, l.Y = append(l.X, b.Estimate), append(l.Y, b.Observed)
			l.Low, l.High = append(l.Low, max(b.Observed-normal975*b.SE, 0)), append(l.High, min(b.Observed+normal975*b.SE, 1))
			most = max(most, b.Estimate, b.Observed)
		}
		f.Lines = append(f.Lines, l)
	}
	// Both axes go equally far, so that the diagonal is one.
	if most = min(most*1.1, 1.02); most > 0 {
		f.MaxX, f.MaxY = to(most), to(most)
	}
	return f
}

// A RankCurve is the logit rank plot of a score.
type RankCurve struct {
	Name string
	Plot *evaluate.LogitRank
}

// LogitRank draws the logit rank plots of scores, with their global slopes. A score without a plot (nil) is left out.
func LogitRank(curves []RankCurve) *Figure {
	f := &Figure{Title: "Logit rank plot: the steeper, the better", Subtitle: "Number: slope over all records",
		X: "Share of records with a lower score (logit scale)", Y: "Pr(at risk), smoothed (logit scale)", LogitX: true, LogitY: true}
	for _, c := range curves {
		if c.Plot == nil {
			continue
		}
		l := Line{Name: with(c.Name, "%.2f", c.Plot.Slope)}
		for i, t := range c.Plot.T {
			l.X, l.Y = append(l.X, share(t)), append(l.Y, share(c.Plot.Fit[i]))
		}
		f.Lines = append(f.Lines, l)
	}
	return f
}

// share is the inverse of the logit.
func share(t float64) float64 { return 1 / (1 + math.Exp(-t)) }

// What Match draws.
const (
	mostPoints   = 5000
	smoothPlaces = 100
	smoothSpan   = 0.3
)

// Match draws the true 1/F against its estimate for each record, both logarithmic, with a smooth of the one against the other (all
// records count for it; at most 5,000 points are shown, evenly taken by estimate). Values that are not above 0 are left out. Even a
// perfect score has its smooth below the diagonal: the mean of a logarithm is not the logarithm of the mean. It is an error if
// the lengths differ.
func Match(name string, estimate, truth []float64) (*Figure, error) {
	if len(estimate) != len(truth) {
		return nil, fmt.Errorf("%d estimates, but the truth of %d records", len(estimate), len(truth))
	}
	f := &Figure{
		Title:    "True and estimated chance of a correct match",
		Subtitle: "Each point is a record. Even for perfect estimates the smooth lies below the dashed line: it is a mean of logarithms",
		X:        "Estimated Pr(correct match) = E[1/F] (log scale)",
		Y:        "True 1/F (log scale)",
		LogX:     true,
		LogY:     true,
		Diagonal: true,
	}
	type pair struct{ x, y float64 }
	var pairs []pair
	for i := range estimate {
		p := pair{math.Log10(estimate[i]), math.Log10(truth[i])}
		if !math.IsNaN(p.x+p.y) && !math.IsInf(p.x, 0) && !math.IsInf(p.y, 0) {
			pairs = append(pairs, p)
		}
	}
	slices.SortFunc(pairs, func(a, b pair) int { return cmp.Or(cmp.Compare(a.x, b.x), cmp.Compare(a.y, b.y)) })
	points := Line{Name: name, Points: true}
	shown := min(len(pairs), mostPoints)
	for k := range shown {
		p := pairs[(2*k+1)*len(pairs)/(2*shown)]
		points.X, points.Y = append(points.X, math.Pow(10, p.x)), append(points.Y, math.Pow(10, p.y))
	}
	f.Lines = append(f.Lines, points)
	if len(pairs) == 0 {
		return f, nil
	}
	x, y := make([]float64, len(pairs)), make([]float64, len(pairs))
	for i, p := range pairs {
		x[i], y[i] = p.x, p.y
	}
	smooth := Line{Name: "loess smooth"}
	var at []float64
	for k := range smoothPlaces + 1 {
		at = append(at, x[0]+(x[len(x)-1]-x[0])*float64(k)/smoothPlaces)
	}
	for i, fit := range evaluate.Loess(x, y, at, smoothSpan) {
		smooth.X, smooth.Y = append(smooth.X, math.Pow(10, at[i])), append(smooth.Y, math.Pow(10, fit))
	}
	f.Lines = append(f.Lines, smooth)
	return f, nil
}

// A Strategy is what an intruder achieves by one strategy at several sampling fractions.
type Strategy struct {
	Name      string
	Fraction  []float64 // in (0, 1]
	Correct   []float64 // Pr(correct match)
	Cost      []float64 // people looked at, or nil
	Low, High []float64 // an interval around it, or nil
}

// Strategies draws Pr(correct match) against the sampling fraction in percent, whose axis can be logarithmic.
func Strategies(strategies []Strategy, logarithmic bool) *Figure {
	f := &Figure{
		Title:  "Pr(correct match) of matching strategies",
		X:      "Sampling fraction (%)",
		Y:      "Pr(correct match)",
		LogX:   logarithmic,
		MinY:   to(0),
		Legend: "right",
	}
	if logarithmic {
		f.X = "Sampling fraction (%, log scale)"
	}
	for _, s := range strategies {
		l := Line{Name: s.Name, Y: s.Correct, Low: s.Low, High: s.High, Marked: true}
		for _, fraction := range s.Fraction {
			l.X = append(l.X, 100*fraction)
		}
		f.Lines = append(f.Lines, l)
	}
	return f
}
