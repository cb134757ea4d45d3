package mc3

import (
	"cmp"
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"

	"microrisk/engine/bayes"
	"microrisk/engine/bayes/effects"
	"microrisk/engine/bayes/risk"
	"microrisk/schemas"
)

// An Interval says how sure a figure is: its standard error, and between which values it lies with a probability of 95 %.
type Interval struct {
	Measure string  `json:"measure"`
	SE      float64 `json:"standard_error"`
	Lower   float64 `json:"lower"`
	Upper   float64 `json:"upper"`
}

// The sums whose uncertainty is asked for.
const (
	sumUniques = iota // population uniques among the sample uniques
	sumMatches        // 1/F over the sample uniques
	sumPeople         // F over the sample uniques
	sumAll            // f/F over all cells
	sumCount
)

// An uncertainty finds how sure the measures of the file are.
type uncertainty struct {
	counts   []int64
	people   []float64 // that cells should have
	fraction float64
	effects  *effects.Fit
	measures *effects.Measures
	alike    []alikeCells
}

// alikeCells are cells of as many records that should have about as many people.
type alikeCells struct {
	f             int64
	people, cells float64
}

// uncertain says how sure the measures of the file are; nothing of cells without effects, whose models overstate by far more than they know. The
// variance of each has six parts: that of F given the rate of its cell; that of the rates given the models; what models differ by; what the
// standard error of sigma makes; what another kind of effects would; and what the models missed, beyond chance, where they were tried on halves of the
// sample.
func (l *fittedLaw) uncertain(ctx context.Context, d *bayes.Data, o risk.Options) ([]Interval, error) {
	f := l.file
	if l.known != nil { // what known tables leave open of several cells hangs together
		return nil, nil
	}
	if l.effects == nil || l.effects.Unknown != "" || l.factor != 1 || o.Unsampled == 0 || f.SampleUniques == 0 {
		return nil, nil
	}
	n, n1 := float64(d.Records), float64(f.SampleUniques)
	u := &uncertainty{counts: d.Counts, people: l.people, fraction: n / (n + o.Unsampled), effects: l.effects, measures: l.measures}
	variances, slopes := u.within()
	between, err := l.law.Variances(ctx, d, slopes, o)
	if err != nil {
		return nil, err
	}
	u.gather()
	u.ofSigma(&variances)
	u.ofKind(&variances)
	for q := range variances {
		variances[q] += between[q]
	}
	alone, match := 0.0, 0.0 // how far the models were off on half of the sample, on the logit scale
	if h := l.halves; h != nil {
		alone, match = h.PUSU.missed(), h.CMSU.missed()
	}
	off := func(p, by float64) float64 { return p * (1 - p) * by }
	se := func(sum int) float64 { return math.Sqrt(variances[sum]) }
	drawn := f.PopulationUniques * (1 - u.fraction) // each population unique was drawn, or not
	return []Interval{
		IntervalOf(LimitPU, f.PU, math.Hypot(math.Hypot(se(sumUniques), math.Sqrt(drawn))/n, off(f.PU, alone)), 1),
		IntervalOf(LimitPUSU, f.PUSU, math.Hypot(se(sumUniques)/n1, off(f.PUSU, alone)), 1),
		IntervalOf(LimitCMUM, f.CMUM, math.Hypot(f.CMUM*f.CMUM*se(sumPeople)/n1, off(f.CMUM, match)), 1),
		IntervalOf(LimitCMSU, f.CMSU, math.Hypot(se(sumMatches)/n1, off(f.CMSU, match)), 1),
		IntervalOf(schemas.LimitReidentifications, f.Reidentifications, math.Hypot(se(sumAll), n*off(f.Reidentifications/n, match)), float64(d.Cells())),
	}, nil
}

// IntervalOf is that of a figure between 0 and most: of the beta law that has its mean and variance.
func IntervalOf(measure string, x, se, most float64) Interval {
	out := Interval{Measure: measure, SE: se, Lower: x, Upper: x}
	switch law := LawOf(x/most, se/most); {
	case se == 0:
	case law.Alpha > 0:
		out.Lower, out.Upper = most*law.Quantile(.025), most*law.Quantile(.975)
	default: // nothing is known
		out.Lower, out.Upper = 0, most
	}
	return out
}

// LawOf is the beta law of a mean and a standard deviation above 0; its parameters are not above 0 where there is none.
func LawOf(mean, sd float64) distuv.Beta {
	weight := mean*(1-mean)/(sd*sd) - 1
	return distuv.Beta{Alpha: mean * weight, Beta: (1 - mean) * weight}
}

// fewRecords is how many records the cells have whose F and effects are in doubt: of others f/F is nearly the sampling fraction.
const fewRecords = 20

// within are the variances of the sums given the rates, and what the sums change by with the rate of each cell.
func (u *uncertainty) within() (variances [sumCount]float64, slopes [][]float64) {
	slopes = make([][]float64, sumCount)
	for q := range slopes {
		slopes[q] = make([]float64, len(u.counts))
	}
	for i, f := range u.counts {
		people := u.people[i]
		alone, match, size := u.measures.Slopes(f, people)
		slopes[sumAll][i] = float64(f) * match
		if f > fewRecords {
			continue
		}
		ofMatch, ofSize := u.measures.Variances(f, people)
		variances[sumAll] += float64(f*f) * ofMatch
		if f == 1 {
			p, _, _ := u.measures.Of(1, people)
			variances[sumUniques] += p * (1 - p)
			variances[sumMatches] += ofMatch
			variances[sumPeople] += ofSize
			slopes[sumUniques][i], slopes[sumMatches][i], slopes[sumPeople][i] = alone, match, size
		}
	}
	return variances, slopes
}

// ofSigma adds what the standard error of sigma makes.
func (u *uncertainty) ofSigma(variances *[sumCount]float64) {
	e := u.effects
	if !(e.SE > 0) {
		return
	}
	low, high := max(0, e.Sigma-e.SE), e.Sigma+e.SE
	a, b := u.sums(effects.New(low, u.fraction).Of), u.sums(effects.New(high, u.fraction).Of)
	for q := range variances {
		by := (b[q] - a[q]) / (high - low) * e.SE
		variances[q] += by * by
	}
}

// ofKind adds what the kind of effects makes: the truth is taken to lie anywhere as near to a sum, on either side, as gamma effects move it.
func (u *uncertainty) ofKind(variances *[sumCount]float64) {
	e := u.effects
	if e.Sigma == 0 || math.IsInf(e.Shape, 1) {
		return
	}
	a := u.sums(u.measures.Of)
	b := u.sums(func(f int64, people float64) (alone, match, size float64) {
		return effects.Gamma(e.Shape, u.fraction, f, people)
	})
	for q := range variances {
		variances[q] += (b[q] - a[q]) * (b[q] - a[q]) / 3
	}
}

// sums are the sums by some measures of cells, over cells of few records.
func (u *uncertainty) sums(of func(f int64, people float64) (alone, match, size float64)) (sums [sumCount]float64) {
	for _, c := range u.alike {
		alone, match, size := of(c.f, c.people)
		sums[sumAll] += c.cells * float64(c.f) * match
		if c.f == 1 {
			sums[sumUniques] += c.cells * alone
			sums[sumMatches] += c.cells * match
			sums[sumPeople] += c.cells * size
		}
	}
	return sums
}

// alikePerUnit is how many cells of as many records are told apart in a unit of the logarithm of the people that they should have.
const alikePerUnit = 32

// gather puts cells together.
func (u *uncertainty) gather() {
	type place struct {
		f     int64
		point int
	}
	sums := map[place]float64{}
	for i, f := range u.counts {
		if f <= fewRecords {
			sums[place{f, int(math.Round(math.Log(u.people[i]) * alikePerUnit))}]++
		}
	}
	for at, cells := range sums {
		u.alike = append(u.alike, alikeCells{at.f, math.Exp(float64(at.point) / alikePerUnit), cells})
	}
	slices.SortFunc(u.alike, func(a, b alikeCells) int { return cmp.Or(cmp.Compare(a.f, b.f), cmp.Compare(a.people, b.people)) })
}
